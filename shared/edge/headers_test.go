package edge_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/edge"
)

func TestPreflight(t *testing.T) {
	for _, path := range []string{"/v1/agents/mcp", "/", "/.well-known/oauth-protected-resource", "/elsewhere"} {
		for origin, allowed := range map[string]string{"": "", friend: friend, public: public, "https://evil.example.com": ""} {
			w := newWorld(t)
			m := &message{method: "OPTIONS", path: path, header: map[string]string{"access-control-request-method": "POST", "access-control-request-headers": "authorization"}}
			m.with("origin", origin)
			got := w.send(t, m)
			if got.status != 204 || got.body != "" || got.header.Get("Access-Control-Allow-Origin") != allowed {
				t.Errorf("%s from %q: %d %v", path, origin, got.status, got.header)
			}
			if got.header.Get("Access-Control-Allow-Methods") != "POST, OPTIONS" || got.header.Get("WWW-Authenticate") != "" {
				t.Errorf("%s: %v", path, got.header)
			}
			headers := strings.Split(got.header.Get("Access-Control-Allow-Headers"), ", ")
			for _, name := range []string{"authorization", "content-type", "accept", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "last-event-id", "traceparent", "x-agent-api-key"} {
				if !contains(headers, name) {
					t.Errorf("%s may not be sent", name)
				}
			}
		}
	}
}

func contains(list []string, one string) bool {
	for _, s := range list {
		if s == one {
			return true
		}
	}
	return false
}

func TestWellKnownDocuments(t *testing.T) {
	const root = "/.well-known/oauth-protected-resource"
	for path, resource := range map[string]string{root: public, root + "/v1/agents/mcp": endpoint} {
		w := newWorld(t)
		// The event says it was sent elsewhere; the document does not care.
		m := &message{method: "GET", path: path, header: map[string]string{"host": "evil.example.com", "x-forwarded-host": "evil.example.com"}}
		got := w.send(t, m)
		var document struct {
			Resource             string
			AuthorizationServers []string `json:"authorization_servers"`
			ScopesSupported      []string `json:"scopes_supported"`
			BearerMethods        []string `json:"bearer_methods_supported"`
		}
		must(t, json.Unmarshal([]byte(got.body), &document))
		if got.status != 200 || got.header.Get("Content-Type") != "application/json" || document.Resource != resource {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		if len(document.AuthorizationServers) != 1 || document.AuthorizationServers[0] != issuer || len(document.ScopesSupported) != 9 || len(document.BearerMethods) != 1 || document.BearerMethods[0] != "header" {
			t.Errorf("%s: %s", path, got.body)
		}
		m.method = "HEAD"
		if got := w.send(t, m); got.status != 200 {
			t.Errorf("HEAD %s: %d", path, got.status)
		}
		m.method = "POST"
		if got := w.send(t, m); got.status != 405 || got.header.Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("POST %s: %d %v", path, got.status, got.header)
		}
	}
}

func TestOtherPaths(t *testing.T) {
	for path, want := range map[string]int{
		"/healthz": 200, "/elsewhere": 404, "/v1/agents/mcp/": 404, "/v1/agents": 404, "/V1/agents/mcp": 404, "//": 404, "/v1/agents/mcp/x": 404,
		"/.well-known/oauth-protected-resource/": 404, "/.well-known/oauth-authorization-server": 404, "/.well-known/oauth-protected-resource/elsewhere": 404,
		"/%2e%2e": 404, "/\"><script>": 404,
	} {
		w := newWorld(t)
		got := w.send(t, &message{method: "GET", path: path, header: map[string]string{}})
		if got.status != want || !json.Valid([]byte(got.body)) || got.header.Get("WWW-Authenticate") != "" {
			t.Errorf("GET %s: %d %s", path, got.status, got.body)
		}
		m := w.post(ping)
		m.path = path
		if got := w.send(t, m); want == 404 && got.status != 404 {
			t.Errorf("POST %s: %d %s", path, got.status, got.body)
		}
	}
}

func TestStreams(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"demo.do"}}`
	for accept, kind := range map[string]string{
		"application/json, text/event-stream": "text/event-stream", "*/*": "text/event-stream", "application/json": "application/json",
		"application/json, text/event-stream;q=0": "application/json", "": "application/json",
	} {
		w := newWorld(t)
		got := w.send(t, w.post(call).with("accept", accept))
		if got.status != 200 || got.header.Get("Content-Type") != kind || strings.HasPrefix(got.body, "event: message\n") != (kind == "text/event-stream") {
			t.Errorf("%q: %d %s %s", accept, got.status, got.header.Get("Content-Type"), got.body)
		}
	}
}

func TestToolNames(t *testing.T) {
	const list = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
	for query, underscored := range map[string]bool{"": false, "tool_names=underscore": true, "a=1&tool_names=underscore": true, "tool_names=dotted": false, "%zz": false} {
		w := newWorld(t)
		m := w.post(list)
		m.query = query
		if got := w.send(t, m); strings.Contains(got.body, `"demo_do"`) != underscored {
			t.Errorf("%q: %s", query, got.body)
		}
	}
}

func TestHeadersReachTheSurfaceTrimmed(t *testing.T) {
	const list = `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	w := newWorld(t)
	m := w.post(list).with("mcp-protocol-version", " 2026-07-28 ").with("mcp-method", "\ttools/list ")
	if got := w.send(t, m); got.status != 200 {
		t.Errorf("outer blanks: %d %s", got.status, got.body)
	}
	if got := w.send(t, m.with("mcp-method", "Tools/List")); got.status != 400 || got.failure(t).Error.Code != -32020 {
		t.Errorf("another case: %d %s", got.status, got.body)
	}
	if got := w.send(t, m.with("mcp-method", "tools/list,tools/list")); got.status != 400 {
		t.Errorf("twice: %d %s", got.status, got.body)
	}
}

func TestNewRefusesAnEndpointThatIsNone(t *testing.T) {
	for _, url := range []string{"", "/v1/agents/mcp", "https://mcp.example.com", "https://mcp.example.com/", endpoint + "/", endpoint + "?a=1", "https://", "%zz"} {
		if _, err := edge.New(edge.Config{EndpointURL: url}, nil, nil, time.Now, slog.New(slog.NewTextHandler(io.Discard, nil))); err == nil {
			t.Errorf("%q is an endpoint", url)
		}
	}
}

func TestRequestIDWithoutAnInvocation(t *testing.T) {
	w := newWorld(t)
	first, second := w.invokeIn(context.Background(), t, w.post(ping).event()), w.invokeIn(context.Background(), t, w.post(ping).event())
	if a, b := first.header.Get("X-Request-Id"), second.header.Get("X-Request-Id"); len(a) != 32 || a == b {
		t.Errorf("request ids %q and %q", a, b)
	}
}

// What goes into the log is enough to find a request by, and no secret.
func TestLog(t *testing.T) {
	w := newWorld(t)
	m := w.post(ping)
	w.send(t, m)
	token := strings.TrimPrefix(m.header["authorization"], "Bearer ")
	log := w.log.String()
	for _, want := range []string{"req-1", "acme", "agt_1", "ping", "200"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s: %s", want, log)
		}
	}
	if strings.Contains(log, token[strings.LastIndexByte(token, '.')+1:]) {
		t.Error("the log holds the token's signature")
	}
}
