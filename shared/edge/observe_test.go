package edge_test

import (
	"fmt"
	"strings"
	"testing"
)

// Each request to the endpoint is counted once, by what it asked for and what came
// of it, and its log line says the same under OpenTelemetry's names. No text of a
// caller becomes a name: whoever has no token could fill the logs with them.
func TestEveryRequestIsObserved(t *testing.T) {
	const of = "4bf92f3577b34da6a3ce929d0e0e4736"
	rpc := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	}
	for name, c := range map[string]struct {
		send     func(w *world) *message
		observed string
		line     string
	}{
		"a tool": {
			func(w *world) *message { return w.post(rpc("tools/call", `{"name":"demo_do"}`)) }, "[{tools/call answered}]",
			`mcp.method.name=tools/call gen_ai.tool.name=demo.do gen_ai.prompt.name="" outcome=answered error.type=""`,
		},
		"a scope that is missing": {
			func(w *world) *message { return w.post(rpc("tools/call", `{"name":"demo.audit"}`)) }, "[{tools/call refused}]",
			`mcp.method.name=tools/call gen_ai.tool.name=demo.audit gen_ai.prompt.name="" outcome=refused error.type=auth_scope_insufficient`,
		},
		"a tool there is not": {
			func(w *world) *message { return w.post(rpc("tools/call", `{"name":"demo.evil"}`)) }, "[{tools/call refused}]",
			`mcp.method.name=tools/call gen_ai.tool.name="" gen_ai.prompt.name="" outcome=refused error.type=tool_not_found`,
		},
		"a crash": {
			func(w *world) *message {
				return w.post(rpc("tools/call", `{"name":"demo.do","arguments":{"do":"panic"}}`))
			}, "[{tools/call failed}]",
			`outcome=failed error.type=internal`,
		},
		"no token": {
			func(w *world) *message { return w.post(rpc("tools/evil", `{}`)).with("authorization", "") }, "[{_OTHER refused}]",
			`mcp.method.name=_OTHER gen_ai.tool.name="" gen_ai.prompt.name="" outcome=refused error.type=auth_token_missing`,
		},
		"a version": {
			func(w *world) *message {
				return w.post(rpc("tools/list", `{}`)).with("mcp-protocol-version", "2025-06-18")
			}, "[{tools/list answered}]",
			`mcp.protocol.version=2025-06-18 mcp.method.name=tools/list`,
		},
		"no version of ours": {
			func(w *world) *message { return w.post(rpc("tools/list", `{}`)).with("mcp-protocol-version", "evil") }, "[{tools/list refused}]",
			`mcp.protocol.version="" mcp.method.name=tools/list`,
		},
		"no JSON": {
			func(w *world) *message { return w.post("evil") }, "[{ refused}]", `mcp.method.name="" gen_ai.tool.name=""`,
		},
		"a notification": {
			func(w *world) *message { return w.post(`{"jsonrpc":"2.0","method":"notifications/evil"}`) }, "[{_OTHER answered}]", `http.response.status_code=202`,
		},
		"another path": {
			func(w *world) *message { m := w.post(""); m.method, m.path = "GET", "/healthz"; return m }, "[]", `http.response.status_code=200`,
		},
		"a trace of the request": {
			func(w *world) *message {
				return w.post(rpc("ping", `{}`)).with("traceparent", "00-"+of+"-00f067aa0ba902b7-01")
			}, "[{ping answered}]", "trace_id=" + of,
		},
		"the message's own trace is nearer": {
			func(w *world) *message {
				return w.post(rpc("ping", `{"_meta":{"traceparent":"00-`+of+`-00f067aa0ba902b7-01"}}`)).with("traceparent", "00-11111111111111111111111111111111-00f067aa0ba902b7-01")
			}, "[{ping answered}]", "trace_id=" + of,
		},
		"what is no trace is none": {
			func(w *world) *message { return w.post(rpc("ping", `{"_meta":{"traceparent":"evil"}}`)) }, "[{ping answered}]", `trace_id=""`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.send(t, c.send(w))
			observed := []string{}
			for _, op := range w.observed {
				observed = append(observed, fmt.Sprintf("{%s %s}", op.Method, op.Outcome))
			}
			if fmt.Sprint(observed) != c.observed {
				t.Errorf("observed %v, want %s", observed, c.observed)
			}
			lines := strings.Split(w.log.String(), "\n")
			if line := lines[len(lines)-2]; !strings.Contains(line, "msg=request") || !strings.Contains(line, c.line) {
				t.Errorf("the line is %s\nwant %s", line, c.line)
			}
			if strings.Contains(w.log.String(), "evil") {
				t.Errorf("the log repeats a caller's text: %s", w.log)
			}
		})
	}
}
