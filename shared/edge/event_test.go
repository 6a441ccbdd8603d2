package edge_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// shapes are the events a Lambda function is invoked with over HTTP. All of them
// bring the same request.
var shapes = []string{"http-api", "function-url", "rest-api", "load-balancer", "load-balancer-multi"}

// captured reads an event and puts a token into it.
func (w *world) captured(t testing.TB, shape string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", shape+".json"))
	must(t, err)
	var event map[string]any
	must(t, json.Unmarshal([]byte(strings.ReplaceAll(string(raw), "TOKEN", w.token())), &event))
	return event
}

func encode(t testing.TB, event any) []byte {
	t.Helper()
	raw, err := json.Marshal(event)
	must(t, err)
	return raw
}

func TestEventShapes(t *testing.T) {
	w := newWorld(t)
	direct := w.post(`{"jsonrpc":"2.0","id":"é-1","method":"tools/list","params":{}}`)
	direct.query = "tool_names=underscore"
	want := w.send(t, direct)
	if want.status != 200 || !strings.Contains(want.body, `"demo_do"`) || !strings.Contains(want.body, `"é-1"`) {
		t.Fatalf("%d %s", want.status, want.body)
	}
	for _, shape := range shapes {
		t.Run(shape, func(t *testing.T) {
			w := newWorld(t)
			got := w.invoke(t, encode(t, w.captured(t, shape)))
			got.checkEvery(t, "")
			if got.status != want.status || got.body != want.body || got.base64 || !reflect.DeepEqual(got.header, want.header) {
				t.Errorf("%d %s %v\nwant %d %s %v", got.status, got.body, got.header, want.status, want.body, want.header)
			}
			checkShape(t, shape, got)

			// The same for a refusal, whose headers matter most.
			event := w.captured(t, shape)
			for _, headers := range []string{"headers", "multiValueHeaders"} {
				if h, ok := event[headers].(map[string]any); ok {
					delete(h, "authorization")
					delete(h, "Authorization")
				}
			}
			got = w.invoke(t, encode(t, event))
			got.checkEvery(t, "")
			if got.status != 401 || got.header.Get("WWW-Authenticate") != login || string(got.failure(t).ID) != `"é-1"` {
				t.Errorf("without a token: %d %v %s", got.status, got.header, got.body)
			}
			checkShape(t, shape, got)
		})
	}
}

// checkShape holds what only one shape's answer has.
func checkShape(t *testing.T, shape string, got reply) {
	t.Helper()
	description := ""
	if strings.HasPrefix(shape, "load-balancer") {
		description = map[int]string{200: "200 OK", 401: "401 Unauthorized", 400: "400 Bad Request"}[got.status]
	}
	if got.description != description {
		t.Errorf("status description %q, want %q", got.description, description)
	}
	multi := shape == "rest-api" || shape == "load-balancer-multi"
	if (len(got.multi) > 0) != multi || (len(got.single) > 0) == multi {
		t.Errorf("headers in the wrong member: %v %v", got.single, got.multi)
	}
}

func TestBase64Bodies(t *testing.T) {
	for _, shape := range shapes {
		for body, want := range map[string]int{
			base64.StdEncoding.EncodeToString([]byte(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)): 200,
			base64.StdEncoding.EncodeToString([]byte("{\"jsonrpc\":\"2.0\xff\"}")):                400,
			"":     400,
			"!!!!": 400,
			"e30":  400,
			base64.URLEncoding.EncodeToString([]byte(`{"jsonrpc":"2.0","id":"???>>>","method":"ping"}`)): 400,
		} {
			w := newWorld(t)
			event := w.captured(t, shape)
			event["body"], event["isBase64Encoded"] = body, true
			got := w.invoke(t, encode(t, event))
			if got.status != want {
				t.Errorf("%s: %q: %d %s", shape, body, got.status, got.body)
			}
			if e := got.failure(t); want == 400 && (e.Error.Code != -32700 || e.ID != nil) {
				t.Errorf("%s: %q: %s", shape, body, got.body)
			}
			checkShape(t, shape, got)
		}
		// A body that only looks like base64 is taken as it stands.
		w := newWorld(t)
		event := w.captured(t, shape)
		event["body"], event["isBase64Encoded"] = "e30=", false
		if got := w.invoke(t, encode(t, event)); got.status != 400 || got.failure(t).Error.Code != -32700 {
			t.Errorf("%s: %d %s", shape, got.status, got.body)
		}
	}
}

// Headers that come twice are seen whichever way the shape writes them.
func TestHeadersThatComeTwice(t *testing.T) {
	for _, c := range []struct {
		name    string
		headers map[string][]string
		status  int
	}{
		{"two tokens", map[string][]string{"Authorization": {"Bearer x", "Bearer y"}}, 400},
		{"two tokens under two spellings", map[string][]string{"Authorization": {"Bearer x"}, "authorization": {"Bearer y"}}, 400},
		{"two kinds", map[string][]string{"X-Agent-Api-Key": {"bak_good"}}, 400},
		{"two types", map[string][]string{"Content-Type": {"application/json", "text/plain"}}, 415},
		{"two origins", map[string][]string{"Origin": {friend, "https://evil.example.com"}}, 403},
		{"an accept in two lines", map[string][]string{"Accept": {"text/html", "application/json"}}, 200},
	} {
		for range 10 { // the order of a map must not matter
			w := newWorld(t)
			event := w.captured(t, "rest-api")
			headers := event["multiValueHeaders"].(map[string]any)
			for name, values := range c.headers {
				headers[name] = values
			}
			if got := w.invoke(t, encode(t, event)); got.status != c.status {
				t.Fatalf("%s: %d %s", c.name, got.status, got.body)
			}
		}
	}
	// A REST API that sends single headers alone.
	w := newWorld(t)
	event := w.captured(t, "rest-api")
	delete(event, "multiValueHeaders")
	delete(event, "multiValueQueryStringParameters")
	if got := w.invoke(t, encode(t, event)); got.status != 200 || !strings.Contains(got.body, "demo_do") {
		t.Errorf("single headers alone: %d %s", got.status, got.body)
	}
	event["headers"].(map[string]any)["authorization"] = "Bearer y"
	if got := w.invoke(t, encode(t, event)); got.status != 400 {
		t.Errorf("single headers under two spellings: %d %s", got.status, got.body)
	}
}

func TestStages(t *testing.T) {
	for _, c := range []struct {
		stage, path string
		status      int
	}{
		{"prod", "/prod/v1/agents/mcp", 200}, {"prod", "/prod", 200}, {"prod", "/prod/", 200}, {"prod", "/v1/agents/mcp", 200},
		{"$default", "/v1/agents/mcp", 200}, {"", "/v1/agents/mcp", 200}, {"$default", "/prod/v1/agents/mcp", 404}, {"prod", "/test/v1/agents/mcp", 404},
		{"v1", "/v1/v1/agents/mcp", 200},
	} {
		w := newWorld(t)
		event := w.captured(t, "http-api")
		event["rawPath"] = c.path
		event["requestContext"].(map[string]any)["stage"] = c.stage
		if got := w.invoke(t, encode(t, event)); got.status != c.status {
			t.Errorf("stage %q, path %q: %d", c.stage, c.path, got.status)
		}
	}
}

func TestEventsThatAreNone(t *testing.T) {
	w := newWorld(t)
	for _, event := range []string{
		``, `null`, `{}`, `[]`, `5`, `"x"`, `{`, `{"version":"2.0"}`, `{"requestContext":null}`, `{"requestContext":{"http":5}}`,
		`{"Records":[{"eventSource":"aws:sqs"}]}`, `{"requestContext":{"http":{"method":"POST"}},"headers":5}`, `{"requestContext":{"elb":{}},"headers":5}`, `{"httpMethod":"GET","headers":5}`,
	} {
		if out, err := w.Invoke(t.Context(), []byte(event)); err == nil {
			t.Errorf("%s is answered %s", event, out)
		}
	}
}

func FuzzInvoke(f *testing.F) {
	w := newWorld(f)
	for _, shape := range shapes {
		f.Add(encode(f, w.captured(f, shape)), "POST", "/v1/agents/mcp", "a=1", "authorization", "Bearer x", ping, false)
	}
	f.Add([]byte(`{}`), "GET", "/.well-known/oauth-protected-resource", "%zz", "origin", "null", "", true)
	f.Add([]byte(`{"requestContext":{"elb":null,"http":null},"httpMethod":"POST"}`), "OPTIONS", "", "", "host", "[::1", "e30=", true)
	f.Add([]byte(`null`), "POST", "/", "tool_names=underscore", "accept", "*/*;q=0", "[]", false)
	f.Add([]byte(`{"httpMethod":"POST","multiValueHeaders":{"a":null,"A":[]}}`), "POST", "/", "", "content-type", "application/json;", "\xff", false)
	f.Fuzz(func(t *testing.T, raw []byte, method, path, query, name, value, body string, encoded bool) {
		w.log.Reset()
		w.trail.calls = nil
		w.counter.used = 0
		if out, err := w.Invoke(t.Context(), raw); err == nil && !json.Valid(out) {
			t.Errorf("%s is answered %q", raw, out)
		}
		m := w.post(body)
		m.method, m.path, m.query, m.base64 = method, path, query, encoded
		m.header[name] = value
		got := w.invoke(t, m.event())
		if got.status < 200 || got.status > 599 || http.StatusText(got.status) == "" {
			t.Errorf("status %d", got.status)
		}
		if got.body != "" && got.header.Get("Content-Type") == "application/json" && !json.Valid([]byte(got.body)) {
			t.Errorf("the body is no JSON: %q", got.body)
		}
		for header, value := range got.single {
			if strings.ContainsAny(header+value, "\r\n") {
				t.Errorf("header %q: %q", header, value)
			}
		}
		got.checkEvery(t, got.header.Get("Access-Control-Allow-Origin"))
	})
}
