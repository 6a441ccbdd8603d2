package mcp_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/surface/mcp"
)

func newDispatcher(s *server) (*mcp.Dispatcher, error) {
	return mcp.New(s.catalog, s.trail, slog.New(slog.NewTextHandler(s.log, nil)))
}

func TestToolCalls(t *testing.T) {
	for _, c := range []struct {
		arguments      string // empty is none
		status         [2]int // legacy, modern
		code           [2]int
		name           string
		isError        bool
		recorded       string // the code in the event
		text           string
		structured     string
		withoutContent bool
	}{
		{arguments: ``, status: [2]int{200, 200}, text: "done", structured: `{"got":{}}`},
		{arguments: `{"x":1}`, status: [2]int{200, 200}, text: "done", structured: `{"got":{"x":1}}`},
		{arguments: `{"how":"empty"}`, status: [2]int{200, 200}, structured: `{}`, withoutContent: true},
		{arguments: `{"how":"refuse"}`, status: [2]int{200, 200}, isError: true, recorded: "invalid_argument", text: "done"},
		{arguments: `{"how":"argument"}`, status: [2]int{200, 200}, isError: true, recorded: "invalid_argument", text: "want something else"},
		{arguments: `{"how":"missing"}`, status: [2]int{200, 200}, isError: true, recorded: "ledger_row_not_found", text: "no such row"},
		{arguments: `{"how":"conflict"}`, status: [2]int{200, 200}, isError: true, recorded: "conflict", text: "somebody was faster"},
		{arguments: `{"how":"actor"}`, status: [2]int{403, 403}, code: [2]int{-32002, -31002}, name: "actor_unresolved", recorded: "actor_unresolved"},
		{arguments: `{"how":"away"}`, status: [2]int{503, 503}, code: [2]int{-32603, -32603}, name: "dependency_unavailable", recorded: "dependency_unavailable"},
		{arguments: `{"how":"broken"}`, status: [2]int{200, 200}, code: [2]int{-32603, -32603}, name: "internal_error", recorded: "internal_error"},
		{arguments: `{"how":"panic"}`, status: [2]int{200, 200}, code: [2]int{-32603, -32603}, name: "internal_error", recorded: "internal_error"},
		{arguments: `null`, status: [2]int{200, 400}, code: [2]int{-32602, -32602}, name: "invalid_params", recorded: "invalid_params"},
		{arguments: `[]`, status: [2]int{200, 400}, code: [2]int{-32602, -32602}, name: "invalid_params", recorded: "invalid_params"},
		{arguments: `"{}"`, status: [2]int{200, 400}, code: [2]int{-32602, -32602}, name: "invalid_params", recorded: "invalid_params"},
		{arguments: `{"a":1,"a":2}`, status: [2]int{200, 400}, code: [2]int{-32602, -32602}, name: "invalid_params", recorded: "invalid_params"},
	} {
		for i, era := range []func(string, map[string]any) *draft{legacy, modern} {
			t.Run([]string{"legacy ", "modern "}[i]+c.arguments, func(t *testing.T) {
				params := map[string]any{"name": "demo.do"}
				if c.arguments != "" {
					params["arguments"] = json.RawMessage(c.arguments)
				}
				s := newServer(t)
				got := s.send(era("tools/call", params))
				if got.Status != c.status[i] || got.code() != c.code[i] || got.name() != c.name || got.isError() != c.isError {
					t.Fatalf("%d %s", got.Status, got.Body)
				}
				if string(got.Result["structuredContent"]) != c.structured {
					t.Errorf("structured content %s, want %s", got.Result["structuredContent"], c.structured)
				}
				if c.withoutContent && string(got.Result["content"]) != "[]" {
					t.Errorf("content %s, want an empty array", got.Result["content"])
				}
				if !strings.Contains(string(got.Result["content"]), c.text) {
					t.Errorf("content %s, want it to say %q", got.Result["content"], c.text)
				}
				if len(s.trail.calls) != 1 || s.trail.calls[0].Code != c.recorded {
					t.Errorf("recorded %+v, want one event with code %q", s.trail.calls, c.recorded)
				}
				if strings.Contains(string(got.Body), "secret cause") {
					t.Errorf("the cause is told: %s", got.Body)
				}
			})
		}
	}
	if got := newServer(t).send(modern("tools/call", map[string]any{"name": "demo.nope"})); got.Status != 400 || got.name() != "tool_not_found" {
		t.Errorf("an unknown tool: %d %s", got.Status, got.Body)
	}
	if got := newServer(t).send(legacy("tools/call", nil)); got.Status != 200 || got.name() != "tool_not_found" {
		t.Errorf("no tool: %d %s", got.Status, got.Body)
	}
}

func TestToolThatNeedsCapabilities(t *testing.T) {
	for declared, missing := range map[string]string{
		`{}`: `{"roots":{},"sampling":{}}`, `{"sampling":{}}`: `{"roots":{}}`, `{"Sampling":{},"roots":{}}`: `{"sampling":{}}`, `{"sampling":{},"roots":{}}`: ``,
	} {
		d := modern("tools/call", map[string]any{"name": "demo.sample"})
		d.meta[metaCapabilities] = json.RawMessage(declared)
		got := newServer(t).send(d)
		if missing == "" {
			if got.Result == nil {
				t.Errorf("%s: %d %s", declared, got.Status, got.Body)
			}
			continue
		}
		named, _ := json.Marshal(got.Error.Data["requiredCapabilities"])
		if got.Status != 400 || got.code() != -32021 || string(named) != missing {
			t.Errorf("%s: %d %s", declared, got.Status, got.Body)
		}
	}
	// The scope is judged before.
	d := modern("tools/call", map[string]any{"name": "demo.sample"})
	d.req.Principal = caller()
	if got := newServer(t).send(d); got.Status != 403 {
		t.Errorf("without the scope: %d %s", got.Status, got.Body)
	}
}

func TestPanicIsOneCallersAlone(t *testing.T) {
	s := newServer(t)
	got := s.send(modern("tools/call", map[string]any{"name": "demo.do", "arguments": map[string]any{"how": "panic"}}))
	if got.Status != 200 || got.code() != -32603 || got.Error.Data["request_id"] != "req-1" || string(got.ID) != "7" {
		t.Errorf("a panic is answered %d %s", got.Status, got.Body)
	}
	if log := s.log.String(); !strings.Contains(log, "the secret cause") || !strings.Contains(log, "req-1") {
		t.Errorf("the log does not lead from the request id to the panic: %s", log)
	}
	if got := s.send(call(modern)); got.Result == nil || got.isError() {
		t.Errorf("the next call is answered %d %s", got.Status, got.Body)
	}
}

func TestPrompts(t *testing.T) {
	for _, c := range []struct {
		name      string
		params    string
		code      int
		errorName string
		text      string // of the message
	}{
		{"all arguments", `{"name":"ask","arguments":{"topic":"x","depth":"deep"}}`, 0, "", "map[depth:deep topic:x]"},
		{"the required one", `{"name":"ask","arguments":{"topic":""}}`, 0, "", "map[topic:]"},
		{"a foreign argument", `{"name":"ask","arguments":{"topic":"x","other":1}}`, 0, "", "map[topic:x]"},
		{"a required one missing", `{"name":"ask","arguments":{"depth":"deep"}}`, -32602, "invalid_params", ""},
		{"no arguments", `{"name":"ask"}`, -32602, "invalid_params", ""},
		{"one that is no string", `{"name":"ask","arguments":{"topic":5}}`, -32602, "invalid_params", ""},
		{"null", `{"name":"ask","arguments":{"topic":null}}`, -32602, "invalid_params", ""},
		{"an optional one that is no string", `{"name":"ask","arguments":{"topic":"x","depth":5}}`, -32602, "invalid_params", ""},
		{"arguments an array", `{"name":"ask","arguments":[]}`, -32602, "invalid_params", ""},
		{"a name twice", `{"name":"ask","arguments":{"topic":"x","topic":"y"}}`, -32602, "invalid_params", ""},
		{"unknown", `{"name":"nope"}`, -32602, "prompt_not_found", ""},
		{"none", `{}`, -32602, "prompt_not_found", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := legacy("prompts/get", nil)
			d.members["params"] = json.RawMessage(c.params)
			got := newServer(t).send(d)
			if got.Status != 200 || got.code() != c.code || got.name() != c.errorName || !strings.Contains(string(got.Result["messages"]), c.text) {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	}
}

func TestCompletion(t *testing.T) {
	const (
		prompt   = `{"type":"ref/prompt","name":"ask"}`
		template = `{"type":"ref/resource","uri":"demo://rows/{id}"}`
	)
	for _, c := range []struct {
		name, ref, argument string
		code                int
		values              int
		more                bool
		first               string
	}{
		{"a prompt's argument", prompt, `{"name":"topic","value":"a"}`, 0, 2, false, "a000"},
		{"no prefix", prompt, `{"name":"topic","value":""}`, 0, 2, false, "000"},
		{"a hundred", prompt, `{"name":"topic","value":"*"}`, 0, 100, false, "*000"},
		{"more", prompt, `{"name":"topic","value":"+"}`, 0, 100, true, "+000"},
		{"none", prompt, `{"name":"topic","value":"-"}`, 0, 0, false, ""},
		{"an argument that completes nothing", prompt, `{"name":"depth","value":"a"}`, 0, 0, false, ""},
		{"a template's variable", template, `{"name":"id","value":"a"}`, 0, 2, false, "ida000"},
		{"more of a variable", template, `{"name":"id","value":"+"}`, 0, 100, true, "id+000"},
		{"an unknown argument", prompt, `{"name":"nope","value":""}`, -32602, 0, false, ""},
		{"an unknown variable", template, `{"name":"nope","value":""}`, -32602, 0, false, ""},
		{"an unknown prompt", `{"type":"ref/prompt","name":"nope"}`, `{"name":"topic","value":""}`, -32602, 0, false, ""},
		{"a URI of the family", `{"type":"ref/resource","uri":"demo://rows/1"}`, `{"name":"id","value":""}`, -32602, 0, false, ""},
		{"an unknown kind", `{"type":"ref/tool","name":"ask"}`, `{"name":"topic","value":""}`, -32602, 0, false, ""},
		{"an unknown kind with a nameless name", `{"type":"ref/tool","":"demo://rows/{id}"}`, `{"name":"id","value":""}`, -32602, 0, false, ""},
		{"no kind", `{"name":"ask"}`, `{"name":"topic","value":""}`, -32602, 0, false, ""},
		{"a prompt by its uri", `{"type":"ref/prompt","uri":"ask"}`, `{"name":"topic","value":""}`, -32602, 0, false, ""},
		{"a ref that is no object", `"ask"`, `{"name":"topic","value":""}`, -32602, 0, false, ""},
		{"no value", prompt, `{"name":"topic"}`, -32602, 0, false, ""},
		{"a value that is no string", prompt, `{"name":"topic","value":5}`, -32602, 0, false, ""},
		{"an argument that is no object", prompt, `[]`, -32602, 0, false, ""},
		{"a name twice", prompt, `{"name":"topic","name":"topic","value":""}`, -32602, 0, false, ""},
		{"256 bytes", prompt, `{"name":"topic","value":"` + strings.Repeat("a", 256) + `"}`, 0, 2, false, strings.Repeat("a", 256) + "000"},
		{"257 bytes", prompt, `{"name":"topic","value":"` + strings.Repeat("a", 257) + `"}`, -32602, 0, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := legacy("completion/complete", map[string]any{"ref": json.RawMessage(c.ref), "argument": json.RawMessage(c.argument)})
			got := newServer(t).send(d)
			var result struct {
				Values  []string
				HasMore bool
			}
			if got.code() != c.code {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
			if c.code != 0 {
				return
			}
			must(t, json.Unmarshal(got.Result["completion"], &result))
			if len(result.Values) != c.values || result.HasMore != c.more || result.Values == nil {
				t.Errorf("%d values, more: %v", len(result.Values), result.HasMore)
			}
			if c.values > 0 && result.Values[0] != c.first {
				t.Errorf("the first is %q, want %q", result.Values[0], c.first)
			}
		})
	}
	for _, ref := range []string{prompt, template, `{"type":"ref/resource","uri":"demo://audit/{id}"}`} {
		d := legacy("completion/complete", map[string]any{"ref": json.RawMessage(ref), "argument": json.RawMessage(`{"name":"nope","value":""}`)})
		d.req.Principal = caller()
		if got := newServer(t).send(d); got.Status != 403 || got.name() != "auth_scope_insufficient" {
			t.Errorf("%s without its scope: %d %s", ref, got.Status, got.Body)
		}
	}
}

func TestListen(t *testing.T) {
	const meta = `"io.modelcontextprotocol/subscriptionId":"sub<1>"`
	d := modern("subscriptions/listen", map[string]any{"notifications": map[string]any{"toolsListChanged": true}})
	d.members["id"] = json.RawMessage(`"sub<1>"`)
	body := strings.ReplaceAll(string(d.body()), `\u003c`, "<")
	d.raw = strings.ReplaceAll(body, `\u003e`, ">")
	s := newServer(t)
	got := s.send(d)
	if !got.Stream || got.Status != 200 {
		t.Fatalf("status %d, a stream: %v", got.Status, got.Stream)
	}
	events := strings.Split(string(got.Body), "\n\n")
	if len(events) != 3 || events[2] != "" {
		t.Fatalf("want two events, each with its empty line, got %q", got.Body)
	}
	want := "event: message\n" + `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{` + meta + `},"notifications":{}}}`
	if events[0] != want {
		t.Errorf("first  %s\nwant   %s", events[0], want)
	}
	result := strings.TrimPrefix(events[1], "event: message\ndata: ")
	if !strings.HasPrefix(result, `{"jsonrpc":"2.0","id":"sub<1>","result":{"resultType":"complete","_meta":{`) || !strings.HasSuffix(result, meta+`}}}`) || !json.Valid([]byte(result)) {
		t.Errorf("second %s", result)
	}
	if len(s.trail.calls) != 1 {
		t.Errorf("%d events", len(s.trail.calls))
	}
	for _, params := range []map[string]any{nil, {"notifications": []int{}}, {"notifications": "all"}} {
		if got := s.send(modern("subscriptions/listen", params)); got.Status != 400 || got.code() != -32602 {
			t.Errorf("with %v: %d %s", params, got.Status, got.Body)
		}
	}
}

func TestNotesGoBeforeTheResult(t *testing.T) {
	note := map[string]any{"name": "demo.do", "arguments": map[string]any{"how": "note"}}
	for _, era := range []func(string, map[string]any) *draft{legacy, modern} {
		d := era("tools/call", note)
		if got := newServer(t).send(d); got.Stream || got.Result == nil {
			t.Errorf("without a stream: %s", got.Body)
		}
		d = era("tools/call", note)
		d.req.Stream = true
		d.meta["progressToken"] = "p<1>"
		got := newServer(t).send(d)
		events := strings.Split(string(got.Body), "\n\n")
		if !got.Stream || len(events) != 3 || !strings.Contains(events[0], `"method":"notifications/progress"`) || !strings.Contains(events[0], `"progressToken":"p\u003c1\u003e"`) || !strings.Contains(events[1], `"result"`) {
			t.Errorf("with a stream: %q", got.Body)
		}
	}
}
