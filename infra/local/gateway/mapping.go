package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// parameter is one entry of a response parameter mapping.
type parameter struct {
	action string // append, overwrite, remove or status
	header string // canonical; empty for a status
	source string // a response header's canonical name; empty for a literal
	text   string // the literal
}

// parseMapping reads the mappings of all statuses, in a fixed order so that the
// result does not depend on a map's.
func parseMapping(byStatus map[int]map[string]string) (map[int][]parameter, error) {
	out := map[int][]parameter{}
	for status, entries := range byStatus {
		if status < 200 || status > 599 {
			return nil, fmt.Errorf("gateway: response mapping for status %d, want 200 to 599", status)
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			p, err := parseParameter(key, entries[key])
			if err != nil {
				return nil, fmt.Errorf("gateway: response mapping for status %d: %w", status, err)
			}
			out[status] = append(out[status], p)
		}
	}
	return out, nil
}

func parseParameter(key, value string) (parameter, error) {
	if key == "overwrite:statuscode" {
		if n, err := strconv.Atoi(value); err != nil || n < 200 || n > 599 {
			return parameter{}, fmt.Errorf("%s to %q: want 200 to 599", key, value)
		}
		return parameter{action: "status", text: value}, nil
	}
	action, target, _ := strings.Cut(key, ":")
	name, isHeader := strings.CutPrefix(target, "header.")
	if !isHeader || name == "" || !slices.Contains([]string{"append", "overwrite", "remove"}, action) {
		return parameter{}, fmt.Errorf("key %q is not append|overwrite|remove:header.NAME or overwrite:statuscode", key)
	}
	if reservedHeader(name) {
		return parameter{}, fmt.Errorf("header %s is reserved by the gateway", name)
	}
	p := parameter{action: action, header: http.CanonicalHeaderKey(name), text: value}
	if action == "remove" {
		return p, nil
	}
	selector := value
	if inner, ok := strings.CutPrefix(value, "${"); ok {
		selector = "$" + strings.TrimSuffix(inner, "}")
	}
	if source, ok := strings.CutPrefix(selector, "$response.header."); ok && validHeader(source, "") {
		p.source = http.CanonicalHeaderKey(source)
		return p, nil
	}
	if strings.Contains(value, "$") {
		return parameter{}, fmt.Errorf("value %q of %s: only $response.header.NAME and plain text are known here", value, key)
	}
	return p, nil
}

// reservedHeader tells the headers that AWS refuses to map.
func reservedHeader(name string) bool {
	name = strings.ToLower(name)
	for _, prefix := range []string{"access-control-", "apigw-", "x-amz-", "x-amzn-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		"authorization", "connection", "content-encoding", "content-length", "content-location",
		"forwarded", "keep-alive", "origin", "proxy-authenticate", "proxy-authorization", "te",
		"trailers", "transfer-encoding", "upgrade", "x-forwarded-for", "x-forwarded-host",
		"x-forwarded-proto", "via",
	}, name)
}

// apply changes the outgoing headers and returns the status to send. Assumed: a
// source that the function did not set changes nothing.
func (p parameter) apply(out, from http.Header, status int) int {
	value := p.text
	if p.source != "" {
		value = strings.Join(from.Values(p.source), ",")
		if value == "" {
			return status
		}
	}
	switch p.action {
	case "status":
		n, err := strconv.Atoi(value)
		if err != nil {
			return status // parseParameter let only numbers through
		}
		return cmp.Or(n, status)
	case "remove":
		out.Del(p.header)
	case "append":
		out.Add(p.header, value)
	case "overwrite":
		out.Set(p.header, value)
	}
	return status
}
