package gateway

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// event of payload format 2.0. Written out here, not taken from the library
// that the function reads it with, so that the two check each other.
type event struct {
	Version        string            `json:"version"`
	RouteKey       string            `json:"routeKey"`
	RawPath        string            `json:"rawPath"`
	RawQueryString string            `json:"rawQueryString"`
	Cookies        []string          `json:"cookies,omitempty"`
	Headers        map[string]string `json:"headers"`
	Query          map[string]string `json:"queryStringParameters,omitempty"`
	Context        requestContext    `json:"requestContext"`
	Body           string            `json:"body,omitempty"`
	Base64         bool              `json:"isBase64Encoded"`
}

type requestContext struct {
	AccountID    string      `json:"accountId"`
	APIID        string      `json:"apiId"`
	DomainName   string      `json:"domainName"`
	DomainPrefix string      `json:"domainPrefix"`
	HTTP         httpContext `json:"http"`
	RequestID    string      `json:"requestId"`
	RouteKey     string      `json:"routeKey"`
	Stage        string      `json:"stage"`
	Time         string      `json:"time"`
	TimeEpoch    int64       `json:"timeEpoch"`
}

type httpContext struct {
	Method    string `json:"method"`
	Path      string `json:"path"`
	Protocol  string `json:"protocol"`
	SourceIP  string `json:"sourceIp"`
	UserAgent string `json:"userAgent"`
}

// event builds the function's input as JSON.
func (g *Gateway) event(r *http.Request, body []byte, requestID string) ([]byte, error) {
	now := g.config.Now().UTC()
	source := host(r.RemoteAddr)
	path := r.URL.EscapedPath()
	if path == "" { // "*", of OPTIONS *, has none
		path = "/"
	}
	domain := host(r.Host)
	prefix, _, _ := strings.Cut(domain, ".")
	e := event{
		Version: "2.0", RouteKey: "$default", RawPath: path, RawQueryString: r.URL.RawQuery,
		Cookies: cookies(r.Header),
		Headers: headers(r, source, len(body), now),
		Query:   query(r.URL.RawQuery),
		Context: requestContext{
			AccountID: g.config.AccountID, APIID: g.config.APIID,
			DomainName: domain, DomainPrefix: prefix,
			HTTP:      httpContext{r.Method, path, r.Proto, source, r.UserAgent()},
			RequestID: requestID, RouteKey: "$default", Stage: "$default",
			Time: now.Format("02/Jan/2006:15:04:05 -0700"), TimeEpoch: now.UnixMilli(),
		},
		Body: string(body),
	}
	if len(body) > 0 && binary(r.Header.Get("Content-Type"), body) {
		e.Body, e.Base64 = base64.StdEncoding.EncodeToString(body), true
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("gateway: write the event: %w", err)
	}
	return raw, nil
}

// binary tells whether the gateway base64-encodes a body. Observed: text is
// text/* and the three application types below; all else, even forms, types
// with a +json suffix and a missing type, is binary. Assumed: bytes that are
// no UTF-8 are kept as they are, whatever their type says.
func binary(contentType string, body []byte) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, _, _ = strings.Cut(strings.ToLower(contentType), ";")
	}
	switch {
	case !utf8.Valid(body):
		return true
	case strings.HasPrefix(kind, "text/"):
		return false
	}
	return kind != "application/json" && kind != "application/javascript" && kind != "application/xml"
}

// hopByHop headers end at the gateway; cookies travel in a field of their own.
var hopByHop = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Connection": true, "Te": true,
	"Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Cookie": true,
}

// headers are lower-cased, duplicates joined with a comma, and the gateway's
// own added.
func headers(r *http.Request, source string, size int, now time.Time) map[string]string {
	out := make(map[string]string, len(r.Header)+6)
	for name, values := range r.Header {
		if !hopByHop[textproto.CanonicalMIMEHeaderKey(name)] {
			out[strings.ToLower(name)] = strings.Join(values, ",")
		}
	}
	out["host"] = r.Host
	out["content-length"] = strconv.Itoa(size)
	if before := out["x-forwarded-for"]; before != "" {
		source = before + ", " + source
	}
	out["x-forwarded-for"] = source
	out["x-forwarded-proto"], out["x-forwarded-port"] = "http", "80"
	if r.TLS != nil {
		out["x-forwarded-proto"], out["x-forwarded-port"] = "https", "443"
	}
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		out["x-forwarded-port"] = port
	}
	if out["x-amzn-trace-id"] == "" {
		out["x-amzn-trace-id"] = fmt.Sprintf("Root=1-%08x-%x", now.Unix(), random(12))
	}
	return out
}

// cookies are the single cookies of all Cookie headers.
func cookies(h http.Header) []string {
	var out []string
	for _, line := range h.Values("Cookie") {
		for cookie := range strings.SplitSeq(line, ";") {
			if cookie = strings.TrimSpace(cookie); cookie != "" {
				out = append(out, cookie)
			}
		}
	}
	return out
}

// query decodes the parameters and joins repeated ones with a comma, in order.
func query(raw string) map[string]string {
	var out map[string]string
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, value = unescape(name), unescape(value)
		if out == nil {
			out = map[string]string{}
		}
		if before, ok := out[name]; ok {
			value = before + "," + value
		}
		out[name] = value
	}
	return out
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// host strips the port of an address, if it has one.
func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return strings.Trim(address, "[]")
}

// newRequestID has the look of the gateway's: eleven random bytes in base64.
func newRequestID() string { return base64.StdEncoding.EncodeToString(random(11)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: it crashes the program instead
	return b
}
