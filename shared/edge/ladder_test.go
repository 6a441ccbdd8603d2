package edge_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
)

// breach is one way to fall off the ladder.
type breach struct {
	rung    string
	break_  func(*world, *message)
	status  int
	code    int    // of JSON-RPC; 0 where the body is none
	name    string // data.code
	id      bool   // the reply carries the request's id
	tracked bool   // the refusal leaves an event
}

// ladder is every condition in its order, as a request of the legacy era meets
// it.
var ladder = []breach{
	{"1 OPTIONS", func(_ *world, m *message) { m.method = "OPTIONS" }, 204, 0, "", false, false},
	{"2 GET", func(_ *world, m *message) { m.method = "GET" }, 405, -32600, "method_not_allowed", false, false},
	{"3 origin", func(_ *world, m *message) { m.with("origin", "https://evil.example.com") }, 403, -32600, "origin_not_allowed", false, false},
	{"4 content type", func(_ *world, m *message) { m.with("content-type", "text/plain") }, 415, -32600, "unsupported_media_type", false, false},
	{"5 accept", func(_ *world, m *message) { m.with("accept", "text/html") }, 406, -32600, "not_acceptable", false, false},
	{"6 over 4 MiB", func(_ *world, m *message) { m.body = big(4<<20+1, "tools/call", "raw.contribute") }, 413, -32600, "body_too_large", false, false},
	{"6 over 1 MiB", func(_ *world, m *message) { m.body = big(1<<20+1, "ping", "") }, 413, -32600, "body_too_large", true, false},
	{"7 two credentials", func(_ *world, m *message) { m.with("x-agent-api-key", "bak_good") }, 400, -32600, "auth_multiple_credentials", true, false},
	{"7 expired", func(w *world, m *message) { m.with("authorization", "Bearer "+w.token(expired)) }, 401, -32001, "auth_token_expired", true, false},
	{"8 rate", func(w *world, _ *message) { w.counter.limit = 0 }, 429, -32029, "rate_limited", true, false},
	{"8a revoked token", func(w *world, _ *message) { w.table.put(key.Revoked(key.AgentPartition("agt_1"), "jti-1"), 1) }, 401, -32001, "auth_token_invalid", true, true},
	{"8a agent not active", func(w *world, _ *message) { w.agent(identity.Quarantined) }, 403, -32003, "agent_not_registered", true, true},
	{"8a chain away", func(w *world, _ *message) { w.registry.away = chainAway }, 503, -32603, "onchain_unavailable", true, true},
	{"10 no request", func(_ *world, m *message) { m.body = `{"jsonrpc":"1.0","id":7,"method":"ping"}` }, 400, -32600, "invalid_request", true, true},
	{"15 unknown method", func(_ *world, m *message) { m.body = `{"jsonrpc":"2.0","id":7,"method":"nope"}` }, 200, -32601, "method_not_found", true, true},
}

func TestLadderInOrder(t *testing.T) {
	for i, first := range ladder {
		for _, second := range ladder[i:] {
			t.Run(first.rung+"/"+second.rung, func(t *testing.T) {
				w := newWorld(t)
				m := w.post(ping)
				second.break_(w, m)
				first.break_(w, m)
				got := w.send(t, m)
				if got.status != first.status {
					t.Fatalf("status %d, want %d: %.200s", got.status, first.status, got.body)
				}
				if first.code == 0 {
					return
				}
				e := got.failure(t)
				if e.Error == nil || e.Error.Code != first.code || e.Error.Data.Code != first.name || e.Error.Data.RequestID != "req-1" {
					t.Errorf("error %.200s, want %d %s", got.body, first.code, first.name)
				}
				if (string(e.ID) == "7") != first.id {
					t.Errorf("id %s, wanted: %v", e.ID, first.id)
				}
				if (len(w.trail.calls) == 1) != first.tracked || len(w.trail.calls) > 1 {
					t.Errorf("%d events, wanted one: %v", len(w.trail.calls), first.tracked)
				}
			})
		}
	}
}

func TestUnbroken(t *testing.T) {
	w := newWorld(t)
	got := w.send(t, w.post(ping))
	if got.status != 200 || got.body != `{"jsonrpc":"2.0","id":7,"result":{}}` || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	if got := w.send(t, w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); got.status != 202 || got.body != "" {
		t.Errorf("a notification is answered %d %q", got.status, got.body)
	}
	// A session of somewhere else is nobody's concern.
	if got := w.send(t, w.post(ping).with("mcp-session-id", "old").with("last-event-id", "9")); got.status != 200 {
		t.Errorf("with a session id: %d", got.status)
	}
}

// A stranger costs no call of the chain, and a tenant over its rate neither.
func TestChainIsAskedLast(t *testing.T) {
	for _, b := range ladder {
		w := newWorld(t)
		m := w.post(ping)
		b.break_(w, m)
		w.send(t, m)
		if b.rung == "8a chain away" {
			if w.registry.asked != 1 {
				t.Errorf("%s: the chain was asked %d times", b.rung, w.registry.asked)
			}
			return
		}
		if w.registry.asked > 0 {
			t.Errorf("%s: the chain was asked %d times", b.rung, w.registry.asked)
		}
	}
}

func TestMethodsOtherThanPOST(t *testing.T) {
	for _, path := range []string{"/v1/agents/mcp", "/", ""} {
		for _, method := range []string{"GET", "DELETE", "PUT", "PATCH", "HEAD", "post", "TRACE", ""} {
			for _, token := range []bool{true, false} {
				w := newWorld(t)
				m := w.post(ping)
				m.method, m.path = method, path
				if !token {
					m.with("authorization", "")
				}
				got := w.send(t, m)
				if got.status != 405 || got.header.Get("Allow") != "POST, OPTIONS" || got.header.Get("WWW-Authenticate") != "" || got.code(t) != "method_not_allowed" {
					t.Errorf("%s %s: %d %v", method, path, got.status, got.header)
				}
			}
		}
		w := newWorld(t)
		m := w.post(ping)
		m.path = path
		if got := w.send(t, m); got.status != 200 {
			t.Errorf("POST %s: %d", path, got.status)
		}
	}
}

func TestContentTypes(t *testing.T) {
	for value, want := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "application/json;charset=latin1": 200, "Application/JSON": 200,
		" application/json ": 200, "application/json ; x=y": 200, "application/json;": 200,
		"": 415, "text/plain": 415, "application/jsonp": 415, "application/json-rpc": 415, "application/vnd.api+json": 415, "text/json": 415,
		"application/x-www-form-urlencoded": 415, "multipart/form-data; boundary=application/json": 415, "application/json, text/plain": 415, "*/*": 415,
	} {
		w := newWorld(t)
		if got := w.send(t, w.post(ping).with("content-type", value)); got.status != want {
			t.Errorf("%q: %d, want %d", value, got.status, want)
		}
	}
}

func TestAccept(t *testing.T) {
	for value, want := range map[string]int{
		"": 200, "*/*": 200, "application/*": 200, "application/json": 200, "application/json, text/event-stream": 200, "text/event-stream, application/json": 200,
		"APPLICATION/JSON": 200, "application/json;q=0.1": 200, "application/json; charset=utf-8": 200, "text/html, */*;q=0.8": 200, "text/html, *; q=.2, */*; q=.2": 200,
		"application/json;q=1, */*;q=0": 200, "*/*;q=0, application/*": 200, ",application/json,": 200, "  */*  ": 200,
		"text/event-stream": 406, "text/html": 406, "text/*": 406, "application/xml": 406, "application/json;q=0": 406, "application/json;q=0.000": 406,
		"*/*, application/json;q=0": 406, "*/*;q=1, application/*;q=0": 406, "*/*;q=0": 406, "application/jsonp": 406, "nonsense": 406, "application/json;q=x": 406, ",": 406,
	} {
		w := newWorld(t)
		if got := w.send(t, w.post(ping).with("accept", value)); got.status != want {
			t.Errorf("%q: %d, want %d", value, got.status, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       int
	}{
		{"1 MiB", big(1<<20, "tools/call", "demo.do"), 200},
		{"1 MiB and a byte", big(1<<20+1, "tools/call", "demo.do"), 413},
		{"an artifact of 1 MiB and a byte", big(1<<20+1, "tools/call", "raw.contribute"), 200},
		{"an artifact by its other name", big(1<<20+1, "tools/call", "raw_contribute"), 200},
		{"an artifact of 4 MiB", big(4<<20, "tools/call", "raw.contribute"), 200},
		{"an artifact of 4 MiB and a byte", big(4<<20+1, "tools/call", "raw.contribute"), 413},
		{"another method of that name", big(1<<20+1, "prompts/get", "raw.contribute"), 413},
		{"another name", big(1<<20+1, "tools/call", "raw-contribute"), 413},
		{"an artifact in a batch", "[" + big(1<<20+1, "tools/call", "raw.contribute") + "]", 413},
		{"large and unreadable", strings.Repeat("a", 1<<20+1), 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if got := w.send(t, w.post(c.body)); got.status != c.want {
				t.Errorf("%d, want %d: %.200s", got.status, c.want, got.body)
			}
		})
	}
}

func TestPublicOrigins(t *testing.T) {
	for origin, want := range map[string]int{
		"": 200, friend: 200, public: 200,
		"https://evil.example.com": 403, "https://app.example.com:8443": 403, "http://app.example.com": 403, "https://app.example.com.evil.com": 403,
		"https://app.example.com/": 403, "null": 403, "*": 403, "http://localhost:3000": 403, "http://127.0.0.1": 403, friend + ", " + friend: 403, "HTTPS://APP.EXAMPLE.COM": 403,
	} {
		w := newWorld(t)
		got := w.send(t, w.post(ping).with("origin", origin))
		if got.status != want {
			t.Errorf("origin %q: %d, want %d", origin, got.status, want)
		}
		if allowed := got.header.Get("Access-Control-Allow-Origin"); (want == 403 && allowed != "") || (want == 200 && allowed != origin) {
			t.Errorf("origin %q: allowed is %q", origin, allowed)
		}
		if want == 403 && (got.failure(t).ID != nil || got.header.Get("WWW-Authenticate") != "") {
			t.Errorf("origin %q: %s %v", origin, got.body, got.header)
		}
	}
	// Whoever the host says it is, the endpoint is where it is configured to be.
	w := newWorld(t)
	if got := w.send(t, w.post(ping).with("host", "a1b2c3d4e5.execute-api.example.com")); got.status != 200 {
		t.Errorf("by another host: %d", got.status)
	}
}

func TestLoopback(t *testing.T) {
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"127.0.0.1:3000", "", 200}, {"localhost:3000", "", 200}, {"LOCALHOST", "", 200}, {"[::1]:3000", "", 200}, {"127.0.0.2", "", 200},
		{"localhost", "http://localhost:6274", 200}, {"localhost", "http://127.0.0.1", 200}, {"localhost", "http://[::1]:5", 200}, {"localhost", friend, 200},
		{"evil.example.com", "", 403}, {"localhost.evil.example.com", "", 403}, {"127.0.0.1.evil.example.com:3000", "", 403}, {"0.0.0.0:3000", "", 403}, {"192.168.0.1", "", 403},
		{"evil.example.com", "http://localhost:6274", 403}, {"", "", 403}, // the event's domain stands in
		{"localhost", "http://evil.example.com", 403}, {"localhost", "null", 403}, {"localhost", "http://localhost.evil.example.com", 403},
		{"localhost", "http://localhost@evil.example.com", 403}, {"localhost", "http://evil.example.com#localhost", 403}, {"localhost", "localhost", 403},
	} {
		w := newWorldAt(t, "http://127.0.0.1:3000/v1/agents/mcp")
		m := w.post(ping).with("host", c.host).with("origin", c.origin)
		m.with("authorization", "Bearer "+w.token(func(claims jwt.MapClaims) { claims["aud"] = "http://127.0.0.1:3000/v1/agents/mcp" }))
		if got := w.send(t, m); got.status != c.want {
			t.Errorf("host %q, origin %q: %d, want %d: %s", c.host, c.origin, got.status, c.want, got.body)
		}
	}
}

func TestDeadline(t *testing.T) {
	w := newWorld(t)
	w.counter.wait = true
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	got := w.invokeIn(ctx, t, w.post(ping).event())
	if got.status != 503 || got.code(t) != "dependency_unavailable" || got.header.Get("Retry-After") != "1" {
		t.Errorf("answered %d %s", got.status, got.body)
	}
}

func TestRefusalsThatCannotBeRecorded(t *testing.T) {
	for name, b := range map[string]func(*world){"refused": func(w *world) { w.agent(identity.Quarantined) }, "served": func(*world) {}} {
		w := newWorld(t)
		b(w)
		w.trail.refuse = fault.New(fault.DependencyUnavailable, "neither took it")
		got := w.send(t, w.post(ping))
		if got.status != 503 || got.code(t) != "dependency_unavailable" || got.header.Get("Retry-After") != "1" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

func TestWhatARefusalLeaves(t *testing.T) {
	w := newWorld(t)
	w.agent(identity.Quarantined)
	w.send(t, w.post(big(500, "tools/call", "demo.do")))
	if len(w.trail.calls) != 1 {
		t.Fatalf("%d events", len(w.trail.calls))
	}
	call := w.trail.calls[0]
	if call.Tenant.String() != "acme" || call.Actor != (identity.Actor{Type: "agent", ID: "agt_1"}) || call.Method != "tools/call" || call.Name != "demo.do" ||
		call.Code != "agent_not_registered" || call.RequestID != "req-1" || call.Arguments == nil {
		t.Errorf("%+v", call)
	}
}

func TestPanicInAHandler(t *testing.T) {
	w := newWorld(t)
	got := w.send(t, w.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"demo.do","arguments":{"how":"panic"}}}`))
	if e := got.failure(t); got.status != 200 || e.Error.Code != -32603 || e.Error.Data.RequestID != "req-1" || strings.Contains(got.body, "secret cause") {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	if got := w.send(t, w.post(ping)); got.status != 200 {
		t.Errorf("the next call is answered %d", got.status)
	}
}
