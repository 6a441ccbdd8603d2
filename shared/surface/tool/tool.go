// Package tool makes tools out of one declaration each: what the client sees,
// how its arguments are read, and how the answer is written.
package tool

import (
	"context"
	"encoding/json"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/schema"
)

// Spec is a tool's declaration.
type Spec struct {
	Name        string // dotted, at most 40 characters
	Title       string
	Description string // written for a model that must choose among tools
	Scopes      []identity.Scope
	AnyScope    bool // one of Scopes is enough
	PeopleOnly  bool // no agent may call it
	Kind        Kind
	In, Out     []schema.Field
	Run         func(ctx context.Context, call catalog.Call, args schema.Values) (Answer, error)
}

// Kind is what calling a tool does to the world, as its annotations say.
type Kind struct{ Writes, Destructive, Idempotent bool }

// The kinds of tools.
var (
	Reads  = Kind{Idempotent: true}
	Adds   = Kind{Writes: true, Idempotent: true}  // what is sent twice is stored once
	Decide = Kind{Writes: true, Destructive: true} // cannot simply be taken back
)

// Answer is what a tool gives: a summary a person can read, and the structured
// content that validates against Out.
type Answer struct {
	Text       string
	Structured any
}

const (
	// Budget is the most structured content one answer carries, in bytes. A larger
	// one is of no use to a model, so lists cut their pages to it and say so.
	Budget = 60_000
	// inline is how large structured content may be to be repeated as text, for
	// clients that know nothing of structured content.
	inline = 4_000
)

// Tool makes the catalogue's tool. A refusal of arguments, like one of the
// tool's own, comes back as an error with a code; the dispatcher makes a result
// of it that the model can act on.
func (s Spec) Tool() catalog.Tool {
	return catalog.Tool{
		Name: s.Name, Title: s.Title, Description: s.Description, Scopes: s.Scopes, AnyScope: s.AnyScope, PeopleOnly: s.PeopleOnly,
		Schemas:     func() (in, out json.RawMessage) { return schema.Of(s.In...), schema.Of(s.Out...) },
		Annotations: annotations(s.Title, s.Kind),
		Call: func(ctx context.Context, call catalog.Call, arguments json.RawMessage) (catalog.Output, error) {
			args, err := schema.Decode(s.In, arguments, s.Kind.Writes)
			if err != nil {
				return catalog.Output{}, err
			}
			answer, err := s.Run(ctx, call, args)
			if err != nil {
				return catalog.Output{}, err
			}
			return answer.output()
		},
	}
}

// output writes the summary and the structured content, the latter as text too
// where it is small.
func (a Answer) output() (catalog.Output, error) {
	structured, err := json.Marshal(a.Structured)
	if err != nil {
		return catalog.Output{}, fault.Because(err, fault.Internal, "The answer could not be written.")
	}
	out := catalog.Output{Content: []catalog.Block{catalog.TextBlock(a.Text)}, Structured: json.RawMessage(structured)}
	if len(structured) <= inline {
		out.Content = append(out.Content, catalog.TextBlock(string(structured)))
	}
	return out, nil
}

func annotations(title string, k Kind) json.RawMessage {
	raw, err := json.Marshal(struct {
		Title       string `json:"title"`
		ReadOnly    bool   `json:"readOnlyHint"`
		Destructive bool   `json:"destructiveHint"`
		Idempotent  bool   `json:"idempotentHint"`
		OpenWorld   bool   `json:"openWorldHint"`
	}{title, !k.Writes, k.Destructive, k.Idempotent, false})
	if err != nil { // cannot be: booleans and a string
		return nil
	}
	return raw
}
