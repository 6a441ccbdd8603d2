package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// answer is what the function said, before the gateway touches it.
type answer struct {
	status  int
	headers http.Header
	cookies []string
	body    []byte
}

// parseAnswer reads a response of format 2.0. Without a statusCode the gateway
// infers one: 200, application/json, and the whole value as the body, a string
// without its quotes.
func parseAnswer(payload []byte) (answer, error) {
	fields := map[string]json.RawMessage{}
	if len(payload) == 0 || !json.Valid(payload) {
		return answer{}, errors.New("gateway: the function's response is no JSON")
	}
	object := json.Unmarshal(payload, &fields) == nil
	if _, explicit := fields["statusCode"]; !object || !explicit {
		return inferred(payload)
	}
	var explicit struct {
		StatusCode json.Number       `json:"statusCode"` // observed: "200" passes too
		Headers    map[string]string `json:"headers"`
		Cookies    []string          `json:"cookies"`
		Body       *string           `json:"body"`
		Base64     bool              `json:"isBase64Encoded"`
	}
	if err := json.Unmarshal(payload, &explicit); err != nil {
		return answer{}, fmt.Errorf("gateway: read the function's response: %w", err)
	}
	status, err := strconv.Atoi(explicit.StatusCode.String())
	if err != nil || status < 200 || status > 599 {
		return answer{}, fmt.Errorf("gateway: the function answered status %q", explicit.StatusCode)
	}
	a := answer{status: status, headers: http.Header{}, cookies: explicit.Cookies}
	for name, value := range explicit.Headers {
		if !validHeader(name, value) {
			return answer{}, fmt.Errorf("gateway: the function answered a malformed header %q", name)
		}
		a.headers.Add(name, value)
	}
	for _, cookie := range explicit.Cookies {
		if !validHeader("Set-Cookie", cookie) {
			return answer{}, errors.New("gateway: the function answered a malformed cookie")
		}
	}
	if explicit.Body != nil {
		a.body = []byte(*explicit.Body)
	}
	if explicit.Base64 {
		if a.body, err = base64.StdEncoding.DecodeString(string(a.body)); err != nil {
			return answer{}, fmt.Errorf("gateway: decode the function's body: %w", err)
		}
	}
	return a, nil
}

// validHeader keeps a header from breaking out of its line: net/http drops or
// rewrites such a header in silence, which would hide the mistake.
func validHeader(name, value string) bool {
	const token = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	control := func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
	return name != "" && strings.Trim(name, token) == "" && !strings.ContainsFunc(value, control)
}

func inferred(payload []byte) (answer, error) {
	a := answer{status: http.StatusOK, headers: http.Header{"Content-Type": {"application/json"}}}
	a.body = bytes.TrimSpace(payload)
	if a.body[0] == '"' {
		var text string
		if err := json.Unmarshal(a.body, &text); err != nil {
			return answer{}, fmt.Errorf("gateway: read the function's response: %w", err)
		}
		a.body = []byte(text)
	}
	return a, nil
}

// remapped headers belong to the gateway: it sets its own, if any, and hands
// the function's out under another name. WWW-Authenticate is the painful one,
// since clients find the authorization server by it.
var remapped = map[string]bool{
	"Authorization": true, "Connection": true, "Content-Length": true, "Content-Md5": true,
	"Date": true, "Expect": true, "Host": true, "Max-Forwards": true, "Proxy-Authenticate": true,
	"Server": true, "User-Agent": true, "Www-Authenticate": true,
}

// dropped headers describe the hop between function and gateway.
var dropped = map[string]bool{
	"Keep-Alive": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// write sends the answer: renames what the gateway renames, then applies the
// mapping, whose sources are the function's headers under their own names.
func (g *Gateway) write(w http.ResponseWriter, a answer) {
	out, status := w.Header(), a.status
	for name, values := range a.headers {
		switch {
		case dropped[name]:
		case remapped[name]:
			out["X-Amzn-Remapped-"+name] = values
		default:
			out[name] = values
		}
	}
	for _, p := range g.mapping[a.status] {
		status = p.apply(out, a.headers, status)
	}
	for _, cookie := range a.cookies {
		out.Add("Set-Cookie", cookie)
	}
	if out.Get("Content-Type") == "" {
		out["Content-Type"] = nil // keeps net/http from guessing one
		if len(a.body) > 0 {
			out.Set("Content-Type", "text/plain; charset=utf-8")
		}
	}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		out.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(status)
	_, _ = w.Write(a.body) // a client that went away needs no answer
}
