package gateway_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/robotmoney/mcp/infra/local/gateway"
	"github.com/robotmoney/mcp/infra/local/lambda"
)

// function is an Invoker that keeps the last event and answers as told.
type function struct {
	event  []byte
	result lambda.Result
	err    error
	hang   bool
}

func (f *function) Invoke(ctx context.Context, payload []byte) (lambda.Result, error) {
	f.event = payload
	if f.hang {
		<-ctx.Done()
		return lambda.Result{}, ctx.Err()
	}
	return f.result, f.err
}

func answering(payload string) *function {
	return &function{result: lambda.Result{Payload: []byte(payload)}}
}

var challenge = map[int]map[string]string{
	401: {"overwrite:header.WWW-Authenticate": "$response.header.X-RM-Challenge"},
	403: {"overwrite:header.WWW-Authenticate": "$response.header.X-RM-Challenge"},
}

var noon = time.Date(2025, time.September, 30, 12, 0, 0, 5_000_000, time.UTC)

func handler(t *testing.T, f gateway.Invoker, change func(*gateway.Config)) http.Handler {
	t.Helper()
	c := gateway.Config{Function: f, ResponseMapping: challenge, Now: func() time.Time { return noon }}
	if change != nil {
		change(&c)
	}
	g, err := gateway.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func serve(t *testing.T, f gateway.Invoker, r *http.Request) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	handler(t, f, nil).ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, res *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestEvent(t *testing.T) {
	f := answering(`{"statusCode":202}`)
	r := httptest.NewRequest("POST", "/v1/agents/a%2Fb/mcp?a=1&b=x%20y&a=2&flag&c=d%26e", strings.NewReader(`{"id":1}`))
	r.Host = "mcp.example.com:8443"
	r.RemoteAddr = "192.0.2.7:55555"
	r.Header = http.Header{
		"Content-Type": {"application/json; charset=utf-8"}, "User-Agent": {"curl/8.7.1"}, "Mcp-Method": {"tools/list"},
		"Accept": {"application/json", "text/event-stream"}, "Cookie": {"a=1; b=2", "c=3"}, "Connection": {"keep-alive"},
		"X-Forwarded-For": {"203.0.113.9"}, "X-Amzn-Trace-Id": {"Root=1-68dbc540-0123456789abcdef01234567"},
	}
	if res := serve(t, f, r); res.StatusCode != 202 {
		t.Fatalf("status %d", res.StatusCode)
	}
	var got events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(f.event, &got); err != nil {
		t.Fatal(err)
	}
	if got.RequestContext.RequestID == "" {
		t.Error("no request id")
	}
	want := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: "$default", RawPath: "/v1/agents/a%2Fb/mcp", RawQueryString: "a=1&b=x%20y&a=2&flag&c=d%26e",
		Cookies: []string{"a=1", "b=2", "c=3"},
		Headers: map[string]string{
			"content-type": "application/json; charset=utf-8", "user-agent": "curl/8.7.1", "mcp-method": "tools/list",
			"accept": "application/json,text/event-stream", "host": "mcp.example.com:8443", "content-length": "8",
			"x-forwarded-for": "203.0.113.9, 192.0.2.7", "x-forwarded-proto": "http", "x-forwarded-port": "8443",
			"x-amzn-trace-id": "Root=1-68dbc540-0123456789abcdef01234567",
		},
		QueryStringParameters: map[string]string{"a": "1,2", "b": "x y", "flag": "", "c": "d&e"},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RouteKey: "$default", AccountID: "000000000000", Stage: "$default", RequestID: got.RequestContext.RequestID,
			APIID: "local", DomainName: "mcp.example.com", DomainPrefix: "mcp",
			Time: "30/Sep/2025:12:00:00 +0000", TimeEpoch: 1759233600005,
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method: "POST", Path: "/v1/agents/a%2Fb/mcp", Protocol: "HTTP/1.1", SourceIP: "192.0.2.7", UserAgent: "curl/8.7.1",
			},
		},
		Body: `{"id":1}`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("event\n got %+v\nwant %+v", got, want)
	}
}

// What is not there is left out, as in a captured event of a plain GET.
func TestSmallestEvent(t *testing.T) {
	f := answering(`{"statusCode":200}`)
	serve(t, f, httptest.NewRequest("GET", "/", nil))
	var got map[string]any
	if err := json.Unmarshal(f.event, &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cookies", "queryStringParameters", "body", "pathParameters", "stageVariables"} {
		if v, ok := got[name]; ok {
			t.Errorf("%s is there: %v", name, v)
		}
	}
	if got["rawQueryString"] != "" || got["isBase64Encoded"] != false || got["rawPath"] != "/" {
		t.Errorf("event %s", f.event)
	}
}

func TestEveryMethodReachesTheFunction(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		f := answering(`{"statusCode":405}`)
		if res := serve(t, f, httptest.NewRequest(method, "/nowhere/at/all", nil)); res.StatusCode != 405 || f.event == nil {
			t.Errorf("%s: status %d", method, res.StatusCode)
		}
	}
}

func TestBodyEncoding(t *testing.T) {
	for _, c := range []struct {
		kind, body string
		base64     bool
	}{
		{"application/json", `{}`, false},
		{"Application/JSON ; Charset=UTF-8", `{}`, false},
		{"application/json;", `{}`, false},
		{"text/plain", `x`, false},
		{"text/event-stream", `x`, false},
		{"application/xml", `<x/>`, false},
		{"application/javascript", `x`, false},
		{"application/vnd.api+json", `{}`, true},
		{"application/x-www-form-urlencoded", `a=1`, true},
		{"application/octet-stream", "\x00", true},
		{"", `{}`, true},
		{"garbage", `{}`, true},
		{"application/json", "\xff", true},
		{"application/octet-stream", "", false},
	} {
		f := answering(`{"statusCode":200}`)
		r := httptest.NewRequest("POST", "/", strings.NewReader(c.body))
		if c.kind != "" {
			r.Header.Set("Content-Type", c.kind)
		}
		serve(t, f, r)
		var got events.APIGatewayV2HTTPRequest
		if err := json.Unmarshal(f.event, &got); err != nil {
			t.Fatal(err)
		}
		plain := got.Body
		if got.IsBase64Encoded {
			raw, err := base64.StdEncoding.DecodeString(got.Body)
			if err != nil {
				t.Errorf("%q: %v", c.kind, err)
			}
			plain = string(raw)
		}
		if got.IsBase64Encoded != c.base64 || plain != c.body {
			t.Errorf("%q with %q: base64 %v, body %q", c.kind, c.body, got.IsBase64Encoded, plain)
		}
	}
}

func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		name, payload string
		status        int
		headers       map[string]string // "" means: must be absent
		body          string
	}{
		{
			"full", `{"statusCode":201,"headers":{"content-type":"application/json","x-a":"1"},"cookies":["a=1; Secure","b=2"],"body":"{}"}`,
			201, map[string]string{"Content-Type": "application/json", "X-A": "1", "Set-Cookie": "a=1; Secure|b=2", "Content-Length": "2"}, "{}",
		},
		{"base64", `{"statusCode":200,"body":"AAEC","isBase64Encoded":true}`, 200, nil, "\x00\x01\x02"},
		{"no type", `{"statusCode":200,"body":"<html>"}`, 200, map[string]string{"Content-Type": "text/plain; charset=utf-8"}, "<html>"},
		{"no body", `{"statusCode":204,"headers":{},"body":null}`, 204, map[string]string{"Content-Type": ""}, ""},
		{"status as text", `{"statusCode":"404","body":"no"}`, 404, nil, "no"},
		{"inferred object", `{"hello":"you"}`, 200, map[string]string{"Content-Type": "application/json"}, `{"hello":"you"}`},
		{"inferred text", `"hello"`, 200, map[string]string{"Content-Type": "application/json"}, `hello`},
		{"inferred null", `null`, 200, map[string]string{"Content-Type": "application/json"}, `null`},
		{
			"renamed", `{"statusCode":401,"headers":{"WWW-Authenticate":"Bearer","server":"x","DATE":"d","connection":"close","content-length":"9","transfer-encoding":"chunked"},"body":"x"}`,
			401, map[string]string{
				"X-Amzn-Remapped-Www-Authenticate": "Bearer", "Www-Authenticate": "", "X-Amzn-Remapped-Server": "x", "Server": "",
				"X-Amzn-Remapped-Date": "d", "X-Amzn-Remapped-Connection": "close", "X-Amzn-Remapped-Content-Length": "9", "Transfer-Encoding": "",
			}, "x",
		},
		{
			"challenge 401", `{"statusCode":401,"headers":{"x-rm-challenge":"Bearer scope=\"a\"","WWW-Authenticate":"Basic"}}`,
			401, map[string]string{"Www-Authenticate": `Bearer scope="a"`, "X-Amzn-Remapped-Www-Authenticate": "Basic"}, "",
		},
		{"challenge 403", `{"statusCode":403,"headers":{"X-RM-Challenge":"Bearer"}}`, 403, map[string]string{"Www-Authenticate": "Bearer"}, ""},
		{"no challenge on 400", `{"statusCode":400,"headers":{"X-RM-Challenge":"Bearer"}}`, 400, map[string]string{"Www-Authenticate": ""}, ""},
		{"nothing to map", `{"statusCode":401}`, 401, map[string]string{"Www-Authenticate": ""}, ""},
		{"no JSON", `{`, 500, nil, `{"message":"Internal Server Error"}`},
		{"empty", ``, 500, nil, `{"message":"Internal Server Error"}`},
		{"status out of range", `{"statusCode":99}`, 500, nil, `{"message":"Internal Server Error"}`},
		{"status no number", `{"statusCode":"ok"}`, 500, nil, `{"message":"Internal Server Error"}`},
		{"body no text", `{"statusCode":200,"body":{}}`, 500, nil, `{"message":"Internal Server Error"}`},
		{"bad base64", `{"statusCode":200,"body":"*","isBase64Encoded":true}`, 500, nil, `{"message":"Internal Server Error"}`},
		{"header breaks its line", `{"statusCode":200,"headers":{"x":"a\r\nset-cookie: b"}}`, 500, nil, `{"message":"Internal Server Error"}`},
		{"header name with a blank", `{"statusCode":200,"headers":{"x y":"a"}}`, 500, nil, `{"message":"Internal Server Error"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := serve(t, answering(c.payload), httptest.NewRequest("GET", "/", nil))
			if got := body(t, res); res.StatusCode != c.status || got != c.body {
				t.Errorf("%d %q, want %d %q", res.StatusCode, got, c.status, c.body)
			}
			for name, want := range c.headers {
				if got := strings.Join(res.Header.Values(name), "|"); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if res.Header.Get("Apigw-Requestid") == "" {
				t.Error("no request id")
			}
		})
	}
}

func TestGatewayErrors(t *testing.T) {
	refused := func(status int, code string) error { return &lambda.ServiceError{Status: status, Code: code} }
	for _, c := range []struct {
		name    string
		f       *function
		status  int
		message string
	}{
		{"function error", &function{result: lambda.Result{Payload: []byte(`{"statusCode":200}`), FunctionError: lambda.Unhandled}}, 500, "Internal Server Error"},
		{"throttled", &function{err: refused(429, "TooManyRequestsException")}, 503, "Service Unavailable"},
		{"event over Lambda's limit", &function{err: refused(413, "RequestTooLargeException")}, 413, "Request Entity Too Large"},
		{"shut down", &function{err: lambda.ErrClosed}, 503, "Service Unavailable"},
		{"no binary", &function{err: errors.New("start fn: no such file")}, 500, "Internal Server Error"},
		{"slower than the gateway", &function{hang: true}, 503, "Service Unavailable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			h := handler(t, c.f, func(c *gateway.Config) { c.Timeout = 60 * time.Millisecond })
			h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
			if w.Code != c.status || w.Body.String() != `{"message":"`+c.message+`"}` || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

func TestBodyLimit(t *testing.T) {
	f := answering(`{"statusCode":200}`)
	r := httptest.NewRequest("POST", "/", bytes.NewReader(make([]byte, gateway.MaxBodyBytes+1)))
	if res := serve(t, f, r); res.StatusCode != 413 || body(t, res) != `{"message":"Request Entity Too Large"}` || f.event != nil {
		t.Errorf("status %d", res.StatusCode)
	}
	r = httptest.NewRequest("POST", "/", bytes.NewReader(make([]byte, gateway.MaxBodyBytes)))
	if res := serve(t, f, r); res.StatusCode != 200 {
		t.Errorf("at the limit: status %d", res.StatusCode)
	}
}

func TestConfiguration(t *testing.T) {
	f := answering(`null`)
	mapped := func(key, value string) gateway.Config {
		return gateway.Config{Function: f, ResponseMapping: map[int]map[string]string{401: {key: value}}}
	}
	for _, c := range []gateway.Config{
		{},
		{Function: f, Timeout: 31 * time.Second},
		{Function: f, ResponseMapping: map[int]map[string]string{99: {"remove:header.X-A": "''"}}},
		mapped("overwrite:header.", "x"),
		mapped("replace:header.X-A", "x"),
		mapped("overwrite:path", "x"),
		mapped("overwrite:header.Content-Length", "1"),
		mapped("overwrite:header.X-Amzn-Foo", "1"),
		mapped("overwrite:statuscode", "teapot"),
		mapped("overwrite:header.X-A", "$response.body.a"),
		mapped("overwrite:header.X-A", "${response.header.A} and more $x"),
	} {
		if _, err := gateway.New(c); err == nil {
			t.Errorf("accepted %+v", c)
		}
	}
}

func TestMappingActions(t *testing.T) {
	mapping := map[int]map[string]string{403: {
		"overwrite:header.WWW-Authenticate": "${response.header.X-RM-Challenge}",
		"remove:header.X-RM-Challenge":      "''",
		"append:header.Vary":                "Origin",
		"overwrite:statuscode":              "401",
	}}
	f := answering(`{"statusCode":403,"headers":{"X-RM-Challenge":"Bearer","Vary":"Accept"}}`)
	w := httptest.NewRecorder()
	handler(t, f, func(c *gateway.Config) { c.ResponseMapping = mapping }).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	h := w.Header()
	if w.Code != 401 || h.Get("Www-Authenticate") != "Bearer" || h.Get("X-Rm-Challenge") != "" || strings.Join(h.Values("Vary"), ",") != "Accept,Origin" {
		t.Errorf("%d %v", w.Code, h)
	}
}

// FuzzAnswer: whatever the function says, the gateway answers something whole.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"statusCode":200}`, `"x"`, `{`, `null`, `{"statusCode":401,"headers":{"X-RM-Challenge":"a"},"cookies":["\n"]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		w := httptest.NewRecorder()
		handler(t, answering(string(payload)), nil).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if w.Code < 200 || w.Code > 599 {
			t.Errorf("status %d for %q", w.Code, payload)
		}
		for name, values := range w.Header() {
			if strings.ContainsAny(name+strings.Join(values, ""), "\r\n") {
				t.Errorf("header %q: %q", name, values)
			}
		}
	})
}
