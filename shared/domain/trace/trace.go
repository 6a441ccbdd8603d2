// Package trace carries the caller's place in a trace, as the W3C recommendation
// Trace Context writes it, from a request to the events that tell of it and on to
// what is done about them, so that one id finds all of it in the logs.
package trace

import (
	"context"
	"slices"
	"strings"
)

// Parent is a traceparent header that is well formed; empty for none.
type Parent string

// The lengths of a traceparent's parts: version, trace id, parent id, flags.
var lengths = [4]int{2, 32, 16, 2}

// Parse reads a traceparent header. What is malformed is no parent: a trace is
// then not continued, and nothing is refused for it. A version that is not known
// is read by its first four parts, as the recommendation wants.
func Parse(text string) Parent {
	parts := strings.Split(text, "-")
	if len(parts) < len(lengths) || parts[0] == "ff" || parts[0] == "00" && len(parts) > len(lengths) {
		return ""
	}
	for i, n := range lengths {
		if len(parts[i]) != n || strings.Trim(parts[i], "0123456789abcdef") != "" {
			return ""
		}
	}
	if zero(parts[1]) || zero(parts[2]) {
		return ""
	}
	return Parent(strings.Join(parts[:len(lengths)], "-"))
}

func zero(digits string) bool { return strings.Trim(digits, "0") == "" }

// ID is the trace's id, 32 hex digits, empty for none.
func (p Parent) ID() string {
	if p == "" {
		return ""
	}
	return strings.Split(string(p), "-")[1]
}

// IDs are those of several traces, each once, in their order.
func IDs(parents ...Parent) []string {
	ids := []string{}
	for _, p := range parents {
		if id := p.ID(); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

type key struct{}

// With keeps a parent for what is done in a context.
func With(ctx context.Context, p Parent) context.Context {
	if p == "" {
		return ctx
	}
	return context.WithValue(ctx, key{}, p)
}

// From is the parent of a context, empty for none.
func From(ctx context.Context) Parent {
	p, _ := ctx.Value(key{}).(Parent)
	return p
}
