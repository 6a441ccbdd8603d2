package template_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// statement is what the tests look at of a role's policy. Lists and single
// values are both allowed there.
type statement struct {
	Action, Resource yaml.Node
	Condition        map[string]map[string]yaml.Node
}

// statements are those of each role, read without the rest of the template.
func statements(t *testing.T) map[string][]statement {
	t.Helper()
	raw, err := os.ReadFile(real)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Resources map[string]struct {
			Type       string    `yaml:"Type"`
			Properties yaml.Node `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	found := map[string][]statement{}
	for id, resource := range file.Resources {
		if resource.Type != "AWS::IAM::Role" {
			continue
		}
		var role struct {
			Policies []struct {
				PolicyDocument struct {
					Statement []struct {
						Action    yaml.Node                       `yaml:"Action"`
						Resource  yaml.Node                       `yaml:"Resource"`
						Condition map[string]map[string]yaml.Node `yaml:"Condition"`
					} `yaml:"Statement"`
				} `yaml:"PolicyDocument"`
			} `yaml:"Policies"`
		}
		if err := resource.Properties.Decode(&role); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		for _, policy := range role.Policies {
			for _, s := range policy.PolicyDocument.Statement {
				found[id] = append(found[id], statement(s))
			}
		}
	}
	return found
}

// texts are the values of a node that is a text or a list of them.
func texts(n yaml.Node) (values []string) {
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}
	}
	for _, child := range n.Content {
		values = append(values, child.Value)
	}
	return values
}

// mayPut are the events each role may put on the bus, as source and type.
func mayPut(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for role, all := range statements(t) {
		for _, s := range all {
			if !slices.Contains(texts(s.Action), "events:PutEvents") {
				continue
			}
			only := s.Condition["StringEquals"]
			sources, types := texts(only["events:source"]), texts(only["events:detail-type"])
			if len(sources) == 0 || len(types) == 0 {
				t.Errorf("%s may put events of any source or type", role)
			}
			for _, source := range sources {
				for _, kind := range types {
					found[role] = append(found[role], source+" "+kind)
				}
			}
		}
	}
	return found
}

// An event that its maker may put and the sweep may not would stay in the
// outbox for ever, once the bus was away.
func TestTheSweepMayPutWhatOthersMay(t *testing.T) {
	may := mayPut(t)
	sweep := may["OutboxRole"]
	if len(sweep) == 0 || len(may["McpRole"]) == 0 {
		t.Fatalf("found %v: the test looks in the wrong place", may)
	}
	for role, events := range may {
		for _, event := range events {
			// What has another source goes another way: the outbox speaks for one.
			if strings.HasPrefix(event, "robotmoney.mcp ") && !slices.Contains(sweep, event) {
				t.Errorf("%s may put %s, OutboxRole may not", role, event)
			}
		}
	}
}

// Nothing is scanned, and no action is a pattern.
func TestRolesAreExact(t *testing.T) {
	for role, all := range statements(t) {
		for _, s := range all {
			for _, action := range texts(s.Action) {
				if action == "dynamodb:Scan" || action[len(action)-1] == '*' {
					t.Errorf("%s may do %s", role, action)
				}
			}
			for _, resource := range texts(s.Resource) {
				if resource == "*" && texts(s.Action)[0] != "xray:PutTelemetryRecords" {
					t.Errorf("%s may do %v with everything", role, texts(s.Action))
				}
			}
		}
	}
}
