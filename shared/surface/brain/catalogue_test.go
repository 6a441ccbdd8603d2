package brain_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// node is a part of a JSON schema, for looking at.
type node = map[string]any

// names are the tools there are, in the order they are listed in.
var names = []string{
	"ledger.account.get", "ledger.accounts.list", "ledger.transactions.list", "ledger.obligations.list", "ledger.counterparties.list",
	"wiki.question", "wiki.page.get", "raw.contribute", "raw.artifact.get",
	"payment_intent.propose", "payment_intent.cancel", "payment_intent.list",
	"authorizations.create", "authorizations.get", "authorizations.approve", "authorizations.reject",
	"proposals.list", "proposals.get", "proposals.decide", "agent.action.propose", "evidence.resolve",
}

// offered are the tools of the whole provider, with their schemas made.
func offered(t *testing.T) []catalog.Tool {
	t.Helper()
	tools := mounted(t).Tools()
	var listed []string
	for _, tool := range tools {
		listed = append(listed, tool.Name)
	}
	if !slices.Equal(listed, names) {
		t.Fatalf("the tools are %v, want %v", listed, names)
	}
	for i := range tools {
		if tools[i].Schemas != nil {
			tools[i].InputSchema, tools[i].OutputSchema = tools[i].Schemas()
		}
	}
	return tools
}

// Hosts refuse or silently drop a whole list over one tool: over a name, over a
// schema that is not plain, over a description that is not there.
func TestToolsAreTakenByEveryHost(t *testing.T) {
	spelled, titles := map[string]bool{}, map[string]bool{}
	for _, tool := range offered(t) {
		t.Run(tool.Name, func(t *testing.T) {
			if !regexp.MustCompile(`^[a-z]+(_[a-z]+)?(\.[a-z_]+)+$`).MatchString(tool.Name) || len(tool.Name) > 40 {
				t.Error("the name is not dotted lower case of at most 40 characters")
			}
			if underscore := catalog.Underscore(tool.Name); spelled[underscore] {
				t.Errorf("another tool is %s too", underscore)
			} else {
				spelled[underscore] = true
			}
			if tool.Title == "" || titles[tool.Title] {
				t.Errorf("the title %q is empty or another tool's", tool.Title)
			}
			titles[tool.Title] = true
			if len(tool.Description) <= 40 || len(tool.Description) > 1024 || !strings.HasSuffix(tool.Description, ".") {
				t.Errorf("a description of %d bytes: %s", len(tool.Description), tool.Description)
			}
			if len(tool.Scopes) == 0 {
				t.Error("it needs no scope")
			}
			plain(t, "inputSchema", tool.InputSchema, true)
			plain(t, "outputSchema", tool.OutputSchema, false)
		})
	}
}

// plain wants a schema to be an object of plain fields, each argument with a
// description.
func plain(t *testing.T, name string, raw json.RawMessage, input bool) {
	t.Helper()
	var root node
	must(t, json.Unmarshal(raw, &root))
	if root["type"] != "object" || root["properties"] == nil {
		t.Errorf("%s: the root is no object with properties: %.80s", name, raw)
	}
	visit(root, name, func(at string, schema node) {
		for _, word := range []string{"$ref", "$defs", "definitions", "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "patternProperties", "dependentSchemas"} {
			if _, there := schema[word]; there {
				t.Errorf("%s has %s", at, word)
			}
		}
		properties, _ := schema["properties"].(node)
		for name, property := range properties {
			if !regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`).MatchString(name) {
				t.Errorf("%s has a property %q", at, name)
			}
			if text, _ := property.(node)["description"].(string); input && len(text) < 5 {
				t.Errorf("%s.%s has no description", at, name)
			}
		}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if properties[name.(string)] == nil {
				t.Errorf("%s requires %v, which it does not have", at, name)
			}
		}
		if schema["type"] == "array" && schema["items"] == nil {
			t.Errorf("%s is an array of nothing", at)
		}
		if absent, there := schema["default"]; there {
			defaulted(t, at, schema, absent)
		}
	})
}

// visit calls see for a schema and every schema inside it.
func visit(schema node, at string, see func(at string, schema node)) {
	see(at, schema)
	if items, there := schema["items"].(node); there {
		visit(items, at+"[]", see)
	}
	properties, _ := schema["properties"].(node)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		visit(properties[name].(node), at+"."+name, see)
	}
}

// defaulted wants a default to be a value that may be sent.
func defaulted(t *testing.T, at string, schema node, absent any) {
	t.Helper()
	if enum, there := schema["enum"].([]any); there && !slices.Contains(enum, absent) {
		t.Errorf("%s: the default %v is none of %v", at, absent, enum)
	}
	n, isNumber := absent.(float64)
	low, bounded := schema["minimum"].(float64)
	if high, _ := schema["maximum"].(float64); bounded && (!isNumber || n < low || n > high) {
		t.Errorf("%s: the default %v is not from %v to %v", at, absent, low, high)
	}
}

// A tool that needs nothing but scopes to read says that it only reads, and no
// other does.
func TestAnnotationsAreHonest(t *testing.T) {
	for _, tool := range offered(t) {
		var said struct {
			Title                                                        string
			ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool
		}
		must(t, json.Unmarshal(tool.Annotations, &said))
		if said.ReadOnlyHint == nil || said.DestructiveHint == nil || said.IdempotentHint == nil || said.OpenWorldHint == nil {
			t.Errorf("%s leaves out a hint: %s", tool.Name, tool.Annotations)
			continue
		}
		reads := true
		for _, scope := range tool.Scopes {
			reads = reads && strings.HasSuffix(string(scope), ":read")
		}
		reads = reads || tool.Name == "authorizations.get" // read by who may ask for one, or approve it
		reads = reads && tool.Name != "proposals.decide"   // what a member may read opens its door, not its decision
		if *said.ReadOnlyHint != reads || reads && (*said.DestructiveHint || !*said.IdempotentHint) || *said.OpenWorldHint || said.Title != tool.Title {
			t.Errorf("%s with the scopes %v says %s", tool.Name, tool.Scopes, tool.Annotations)
		}
	}
}

// The tools that are for people say so, and no others: who decides must be
// somebody a company can hold to it.
func TestPeopleDecide(t *testing.T) {
	for _, tool := range offered(t) {
		decides := slices.Contains([]string{"authorizations.approve", "authorizations.reject", "proposals.decide"}, tool.Name)
		if tool.PeopleOnly != decides {
			t.Errorf("%s is for people alone: %v", tool.Name, tool.PeopleOnly)
		}
		if decides && !slices.Contains(tool.Scopes, identity.IntentApprove) {
			t.Errorf("%s needs %v", tool.Name, tool.Scopes)
		}
	}
}

// No tool, argument or answer offers to execute anything: agents propose. The
// one word that speaks of it is the state an intent comes into later, and not by
// what is asked here.
func TestNothingOffersToExecute(t *testing.T) {
	offers := regexp.MustCompile(`(?i)\b(execute|executes|dispatch|dispatches|settle|settles|transfer|transfers|send|sends|pay|pays)\b`)
	denied := regexp.MustCompile(`(?i)^(execute|dispatch|settle|pay|send|transfer|release|pause|resume|force|override|status|state|skip|bypass|auto_?approve|approved?|approvals)$`)
	for _, tool := range offered(t) {
		for _, text := range append(strings.Split(tool.Name, "."), tool.Title) {
			if offers.MatchString(text) {
				t.Errorf("%s, %q: it offers to move money", tool.Name, tool.Title)
			}
		}
		if tool.Scopes[0] == identity.IntentPropose && !tool.PeopleOnly && strings.Contains(tool.Name, "propose") && !strings.Contains(tool.Description, "never moves money") {
			t.Errorf("%s does not say that it moves no money: %s", tool.Name, tool.Description)
		}
		if readOnly(t, tool) {
			continue
		}
		var root node
		must(t, json.Unmarshal(tool.InputSchema, &root))
		visit(root, "", func(at string, schema node) {
			properties, _ := schema["properties"].(node)
			for name := range properties {
				if denied.MatchString(name) {
					t.Errorf("%s takes %s%s", tool.Name, at, name)
				}
			}
		})
	}
}

func readOnly(t *testing.T, tool catalog.Tool) bool {
	t.Helper()
	var said struct{ ReadOnlyHint bool }
	must(t, json.Unmarshal(tool.Annotations, &said))
	return said.ReadOnlyHint
}

// Two identical lists are the same bytes.
func TestSchemasAreSteady(t *testing.T) {
	first, second := offered(t), offered(t)
	for i, tool := range first {
		if string(tool.InputSchema) != string(second[i].InputSchema) || string(tool.OutputSchema) != string(second[i].OutputSchema) {
			t.Errorf("a schema of %s differs from call to call", tool.Name)
		}
	}
}
