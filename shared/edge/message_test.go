package edge_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// message is an HTTP request in the making: a good one, until a test breaks it.
type message struct {
	method, path, query string
	header              map[string]string // names in lower case, as an HTTP API sends them
	body                string
	base64              bool
}

const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`

func (w *world) post(body string) *message {
	return &message{method: "POST", path: "/v1/agents/mcp", body: body, header: map[string]string{
		"host": "mcp.example.com", "content-type": "application/json", "accept": "application/json", "authorization": "Bearer " + w.token(),
	}}
}

// with sets a header; an empty value removes it.
func (m *message) with(name, value string) *message {
	m.header[name] = value
	if value == "" {
		delete(m.header, name)
	}
	return m
}

// event is the message as an HTTP API sends it.
func (m *message) event() []byte {
	ev := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RawPath: m.path, RawQueryString: m.query, Headers: m.header, Body: m.body, IsBase64Encoded: m.base64,
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			Stage: "$default", DomainName: "fallback.example.com",
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: m.method, Path: m.path},
		},
	}
	raw, err := json.Marshal(ev)
	if err != nil {
		panic(err)
	}
	return raw
}

// reply is an HTTP response, out of whatever shape the event's answer has.
type reply struct {
	status      int
	description string
	header      http.Header
	single      map[string]string
	multi       map[string][]string
	body        string
	base64      bool
}

func (w *world) invoke(t testing.TB, event []byte) reply {
	t.Helper()
	ctx := lambdacontext.NewContext(context.Background(), &lambdacontext.LambdaContext{AwsRequestID: "req-1"})
	return w.invokeIn(ctx, t, event)
}

func (w *world) invokeIn(ctx context.Context, t testing.TB, event []byte) reply {
	t.Helper()
	raw, err := w.Invoke(ctx, event)
	must(t, err)
	var out struct {
		StatusCode        int
		StatusDescription string
		Headers           map[string]string
		MultiValueHeaders map[string][]string
		Body              string
		IsBase64Encoded   bool
	}
	must(t, json.Unmarshal(raw, &out))
	r := reply{out.StatusCode, out.StatusDescription, http.Header{}, out.Headers, out.MultiValueHeaders, out.Body, out.IsBase64Encoded}
	for name, value := range out.Headers {
		r.header.Set(name, value)
	}
	for name, values := range out.MultiValueHeaders {
		r.header[http.CanonicalHeaderKey(name)] = values
	}
	return r
}

func (w *world) send(t testing.TB, m *message) reply {
	t.Helper()
	r := w.invoke(t, m.event())
	r.checkEvery(t, m.header["origin"])
	return r
}

// checkEvery holds what every reply of the server has.
func (r reply) checkEvery(t testing.TB, origin string) {
	t.Helper()
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "X-Request-Id": "req-1", "Vary": "Origin",
		"Access-Control-Expose-Headers": "WWW-Authenticate, Retry-After, X-Request-Id", "Access-Control-Allow-Credentials": "", "Mcp-Session-Id": "",
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("%d: %s is %q, want %q", r.status, name, got, want)
		}
	}
	if allowed := r.header.Get("Access-Control-Allow-Origin"); allowed != "" && (allowed != origin || allowed == "*") {
		t.Errorf("%d: the origin %q is told that %q may read it", r.status, origin, allowed)
	}
	if r.header.Get("WWW-Authenticate") != r.header.Get("X-RM-Challenge") {
		t.Errorf("%d: the challenge has no twin: %v", r.status, r.header)
	}
	if r.header.Get("WWW-Authenticate") != "" && r.status != 401 && r.status != 403 {
		t.Errorf("%d carries a challenge", r.status)
	}
	if (r.body == "") != (r.header.Get("Content-Type") == "") {
		t.Errorf("%d: a body of %d bytes of type %q", r.status, len(r.body), r.header.Get("Content-Type"))
	}
}

// rpcError is the JSON-RPC error in a body.
type rpcError struct {
	ID    json.RawMessage
	Error *struct {
		Code    int
		Message string
		Data    struct {
			Code      string
			RequestID string `json:"request_id"`
		}
	}
}

func (r reply) failure(t testing.TB) rpcError {
	t.Helper()
	var e rpcError
	if err := json.Unmarshal([]byte(r.body), &e); err != nil {
		t.Fatalf("%d: the body is no JSON: %v: %q", r.status, err, r.body)
	}
	return e
}

// code is the stable code of the error, and empty without one.
func (r reply) code(t testing.TB) string {
	t.Helper()
	if e := r.failure(t); e.Error != nil {
		return e.Error.Data.Code
	}
	return ""
}

// big is a good message of exactly n bytes that calls a method or a tool.
func big(n int, method, name string) string {
	head := `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{"name":"` + name + `","arguments":{"payload":"`
	const tail = `"}}}`
	return head + strings.Repeat("a", n-len(head)-len(tail)) + tail
}
