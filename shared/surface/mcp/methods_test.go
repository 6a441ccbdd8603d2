package mcp_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

var (
	doIt     = map[string]any{"name": "demo.do"}
	askIt    = map[string]any{"name": "ask", "arguments": map[string]any{"topic": "x"}}
	readIt   = map[string]any{"uri": "demo://text"}
	finishIt = map[string]any{"ref": map[string]any{"type": "ref/prompt", "name": "ask"}, "argument": map[string]any{"name": "topic", "value": "a"}}
	listenTo = map[string]any{"notifications": map[string]any{}}
)

// methods is every method there is, with good params, the eras that have it and
// the cache hint of its modern result.
var methods = []struct {
	name           string
	params         map[string]any
	legacy, modern bool
	ttl, scope     string
}{
	{"initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}}, true, false, "", ""},
	{"ping", nil, true, false, "", ""},
	{"logging/setLevel", map[string]any{"level": "info"}, false, false, "", ""},
	{"resources/subscribe", readIt, false, false, "", ""},
	{"resources/unsubscribe", readIt, false, false, "", ""},
	{"server/discover", nil, false, true, "3600000", `"public"`},
	{"subscriptions/listen", listenTo, false, true, "", ""},
	{"tools/list", nil, true, true, "60000", `"private"`},
	{"tools/call", doIt, true, true, "", ""},
	{"resources/list", nil, true, true, "60000", `"private"`},
	{"resources/templates/list", nil, true, true, "60000", `"private"`},
	{"resources/read", readIt, true, true, "0", `"private"`},
	{"prompts/list", nil, true, true, "60000", `"private"`},
	{"prompts/get", askIt, true, true, "", ""},
	{"completion/complete", finishIt, true, true, "", ""},
	{"tools/List", nil, false, false, "", ""},
	{"", nil, false, false, "", ""},
}

func TestMethodsOfAnEra(t *testing.T) {
	for _, m := range methods {
		if m.name == "" {
			continue
		}
		for _, era := range []struct {
			name   string
			draft  func(string, map[string]any) *draft
			served bool
			status int // when it is not
		}{{"legacy", legacy, m.legacy, 200}, {"modern", modern, m.modern, 404}} {
			got := newServer(t).send(era.draft(m.name, m.params))
			if era.served && (got.Status != 200 || (got.Result == nil && !got.Stream)) {
				t.Errorf("%s %s is answered %d %s", era.name, m.name, got.Status, got.Body)
			}
			if !era.served && (got.Status != era.status || got.code() != -32601 || got.name() != "method_not_found") {
				t.Errorf("%s %s is answered %d %s", era.name, m.name, got.Status, got.Body)
			}
		}
	}
}

func TestDecorationOfResults(t *testing.T) {
	for _, m := range methods {
		if m.modern && m.name != "subscriptions/listen" {
			got := newServer(t).send(modern(m.name, m.params)).Result
			var meta map[string]json.RawMessage
			must(t, json.Unmarshal(got["_meta"], &meta))
			if string(got["resultType"]) != `"complete"` || !strings.Contains(string(meta["io.modelcontextprotocol/serverInfo"]), `"robotmoney-mcp"`) {
				t.Errorf("modern %s: %s", m.name, got)
			}
			if string(got["ttlMs"]) != m.ttl || string(got["cacheScope"]) != m.scope {
				t.Errorf("modern %s may be kept %s ms, %s; want %s, %s", m.name, got["ttlMs"], got["cacheScope"], m.ttl, m.scope)
			}
		}
		if m.legacy {
			got := newServer(t).send(legacy(m.name, m.params)).Result
			for _, member := range []string{"resultType", "_meta", "ttlMs", "cacheScope"} {
				if _, there := got[member]; there {
					t.Errorf("legacy %s carries %s", m.name, member)
				}
			}
		}
	}
}

func TestInitialize(t *testing.T) {
	for version, want := range map[string]string{
		`"2025-11-25"`: "2025-11-25", `"2025-06-18"`: "2025-06-18", `"2025-03-26"`: "2025-03-26", `"2024-11-05"`: "2024-11-05",
		`"2026-07-28"`: "2025-11-25", `"1.0"`: "2025-11-25", `5`: "2025-11-25", `null`: "2025-11-25",
	} {
		for _, header := range []string{"", modernVersion, "2024-11-05"} {
			d := legacy("initialize", map[string]any{"protocolVersion": json.RawMessage(version)})
			d.req.Version = header
			got := newServer(t).send(d)
			var result struct {
				ProtocolVersion, Instructions string
				Capabilities                  map[string]map[string]any
				ServerInfo                    struct{ Name, Title, Version, WebsiteURL string }
			}
			must(t, json.Unmarshal(got.Body[strings.Index(string(got.Body), `"result":`)+9:len(got.Body)-1], &result))
			if result.ProtocolVersion != want {
				t.Errorf("%s with header %q negotiates %s, want %s", version, header, result.ProtocolVersion, want)
			}
			if s := result.ServerInfo; s.Name != "robotmoney-mcp" || s.Title == "" || s.Version == "" || s.WebsiteURL == "" || result.Instructions == "" {
				t.Errorf("the server says of itself %+v", result)
			}
			checkCapabilities(t, result.Capabilities)
		}
	}
}

func checkCapabilities(t *testing.T, got map[string]map[string]any) {
	t.Helper()
	if !same(slices.Collect(maps.Keys(got)), []string{"tools", "resources", "prompts", "completions"}) {
		t.Errorf("capabilities %v", got)
	}
	for name, inner := range got {
		if len(inner) > 0 {
			t.Errorf("capability %s promises %v", name, inner)
		}
	}
}

func TestDiscoverAndPing(t *testing.T) {
	got := newServer(t).send(modern("server/discover", nil)).Result
	var versions []string
	must(t, json.Unmarshal(got["supportedVersions"], &versions))
	if !slices.Equal(versions, []string{modernVersion, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
		t.Errorf("versions %v", versions)
	}
	var capabilities map[string]map[string]any
	must(t, json.Unmarshal(got["capabilities"], &capabilities))
	checkCapabilities(t, capabilities)
	if !strings.Contains(string(got["instructions"]), "propose") {
		t.Errorf("instructions %s", got["instructions"])
	}
	if got := newServer(t).send(legacy("ping", nil)); string(got.Body) != `{"jsonrpc":"2.0","id":7,"result":{}}` {
		t.Errorf("ping is answered %s", got.Body)
	}
}

var lists = map[string]string{"tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts"}

func TestLists(t *testing.T) {
	names := map[string][]string{
		"tools/list": {"demo.do", "demo.sample"}, "prompts/list": {"ask"}, "resources/templates/list": {"Row", "Audit"},
		"resources/list": {"Text", "Bytes", "Secret", "Books", "Panic", "Broken", "Row 1"},
	}
	for _, era := range []func(string, map[string]any) *draft{legacy, modern} {
		for method, member := range lists {
			s := newServer(t)
			first, second := s.send(era(method, nil)), s.send(era(method, nil))
			if string(first.Body) != string(second.Body) {
				t.Errorf("%s differs:\n%s\n%s", method, first.Body, second.Body)
			}
			var items []struct{ Name string }
			must(t, json.Unmarshal(first.Result[member], &items))
			var got []string
			for _, item := range items {
				got = append(got, item.Name)
			}
			if !slices.Equal(got, names[method]) {
				t.Errorf("%s lists %v, want %v", method, got, names[method])
			}
			if _, there := first.Result["nextCursor"]; there {
				t.Errorf("%s has a nextCursor on its last page", method)
			}
			for _, cursor := range []string{`"x"`, `""`, `null`, `5`, `{}`} {
				got := s.send(era(method, map[string]any{"cursor": json.RawMessage(cursor)}))
				if got.code() != -32602 || got.name() != "cursor_invalid" {
					t.Errorf("%s with cursor %s is answered %s", method, cursor, got.Body)
				}
			}
		}
	}
}

func TestUnderscoredNames(t *testing.T) {
	d := modern("tools/list", nil)
	d.req.Underscore = true
	s := newServer(t)
	if got := string(s.send(d).Result["tools"]); !strings.Contains(got, `"demo_do"`) || strings.Contains(got, `"demo.do"`) {
		t.Errorf("lists %s", got)
	}
	if got := string(s.send(modern("tools/list", nil)).Result["tools"]); !strings.Contains(got, `"demo.do"`) {
		t.Errorf("lists %s after somebody asked for the other form", got)
	}
	if got := s.send(modern("tools/call", map[string]any{"name": "demo_do"})); got.Result == nil || got.isError() {
		t.Errorf("called by its other name: %s", got.Body)
	}
}

func TestNothingMounted(t *testing.T) {
	s := newServer(t)
	*s.catalog = catalog.Catalog{}
	d, err := newDispatcher(s)
	must(t, err)
	s.Dispatcher = d
	for method, member := range lists {
		for _, underscore := range []bool{false, true} {
			d := legacy(method, nil)
			d.req.Underscore = underscore
			if got := s.send(d).Result[member]; string(got) != "[]" {
				t.Errorf("%s is %s, want an empty array", method, got)
			}
		}
	}
}

func TestReads(t *testing.T) {
	for _, c := range []struct {
		uri    string
		params string // in place of {"uri":...}
		status [2]int // legacy, modern
		code   int
		name   string
		want   string // of the contents
	}{
		{"demo://text", "", [2]int{200, 200}, 0, "", `[{"uri":"demo://text","mimeType":"text/plain","text":"hello"}]`},
		{"demo://bytes", "", [2]int{200, 200}, 0, "", `[{"uri":"demo://bytes","mimeType":"image/png","blob":"/w=="}]`},
		{"demo://rows/1", "", [2]int{200, 200}, 0, "", `[{"uri":"demo://rows/1","mimeType":"application/json","text":"{\"id\":\"1\"}"}]`},
		{"demo://rows/2", "", [2]int{200, 400}, -32602, "ledger_row_not_found", ""},
		{"demo://rows/{id}", "", [2]int{200, 400}, -32602, "ledger_row_not_found", ""},
		{"demo://rows/", "", [2]int{200, 400}, -32602, "resource_not_found", ""},
		{"demo://nothing", "", [2]int{200, 400}, -32602, "resource_not_found", ""},
		{"", "", [2]int{200, 400}, -32602, "resource_not_found", ""},
		{"demo://secret", "", [2]int{403, 403}, -32002, "auth_scope_insufficient", ""},
		{"demo://audit/1", "", [2]int{403, 403}, -32002, "auth_scope_insufficient", ""},
		{"demo://audit/nothing", "", [2]int{403, 403}, -32002, "auth_scope_insufficient", ""}, // says nothing of what is there
		{"demo://broken", "", [2]int{200, 200}, -32603, "internal_error", ""},
		{"demo://panic", "", [2]int{200, 200}, -32603, "internal_error", ""},
	} {
		for i, era := range []func(string, map[string]any) *draft{legacy, modern} {
			s := newServer(t)
			got := s.send(era("resources/read", map[string]any{"uri": c.uri}))
			code := c.code
			if i == 1 && code == -32002 {
				code = -31002
			}
			if c.uri == "" && i == 1 {
				continue // a header cannot name nothing
			}
			if got.Status != c.status[i] || got.code() != code || got.name() != c.name || string(got.Result["contents"]) != c.want {
				t.Errorf("%q: %d %s", c.uri, got.Status, got.Body)
			}
			if code == -32602 && got.Error.Data["uri"] != c.uri {
				t.Errorf("%q: data is %v, want the uri", c.uri, got.Error.Data)
			}
			if strings.Contains(string(got.Body), "secret cause") {
				t.Errorf("%q: the cause is told: %s", c.uri, got.Body)
			}
		}
	}
	if got := newServer(t).send(legacy("resources/read", nil)); got.code() != -32602 || got.name() != "invalid_params" {
		t.Errorf("no uri: %s", got.Body)
	}
	if got := newServer(t).send(legacy("resources/read", map[string]any{"uri": 5})); got.code() != -32602 {
		t.Errorf("a uri that is no string: %s", got.Body)
	}
}

func TestMissingScopeNamesTheScopes(t *testing.T) {
	got := newServer(t).send(modern("resources/read", map[string]any{"uri": "demo://secret"}))
	details, _ := got.Error.Data["details"].(map[string]any)
	required, _ := json.Marshal(details["required"])
	held, _ := json.Marshal(details["held"])
	if string(required) != `["audit:read","wiki:read"]` || string(held) != `["ledger:read"]` {
		t.Errorf("details %v", details)
	}
	if got.Err == nil || !slices.Equal(got.Err.Details["required"].([]string), []string{"audit:read", "wiki:read"}) {
		t.Errorf("the edge is told %v", got.Err)
	}
	for _, scope := range []string{"audit:read", "wiki:read"} {
		if !strings.Contains(got.Error.Message, scope) {
			t.Errorf("the message does not name %s: %s", scope, got.Error.Message)
		}
	}
	// Only what is missing is asked for in words; all of it in the challenge.
	d := modern("resources/read", map[string]any{"uri": "demo://secret"})
	d.req.Principal = caller(identity.WikiRead)
	if got := newServer(t).send(d); strings.Contains(got.Error.Message, "wiki:read") || len(got.Err.Details["required"].([]string)) != 2 {
		t.Errorf("holding one of two: %s", got.Body)
	}
}

func TestCapabilityPrincipal(t *testing.T) {
	for _, m := range methods {
		if !m.modern {
			continue
		}
		d := modern(m.name, m.params)
		d.req.Principal = caller()
		d.req.Principal.URIs = []string{"demo://text", "demo://secret"}
		got := newServer(t).send(d)
		switch m.name {
		case "server/discover", "resources/read":
			if got.Result == nil {
				t.Errorf("%s: %s", m.name, got.Body)
			}
		case "tools/list", "prompts/list", "resources/templates/list":
			if string(got.Result[lists[m.name]]) != "[]" {
				t.Errorf("%s: %s", m.name, got.Body)
			}
		case "resources/list":
			if list := string(got.Result["resources"]); !strings.Contains(list, "demo://secret") || strings.Contains(list, "demo://bytes") {
				t.Errorf("%s: %s", m.name, got.Body)
			}
		default:
			if got.Status != 403 || got.code() != -31002 || len(got.Err.Details["required"].([]string)) > 0 {
				t.Errorf("%s: %d %s", m.name, got.Status, got.Body)
			}
		}
	}
}
