package mcp

import (
	"context"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

// maxValues is how many values one completion may carry.
const maxValues = 100

// maxPrefix bounds the text a completion is asked for; no id or name is longer.
const maxPrefix = 256

// reference is what a completion is asked for.
type reference struct{ kind, name, argument, prefix string }

func (x *exchange) reference() (reference, error) {
	ref, _, err := rpc.ParseObject(x.msg.Params.Get("ref"))
	argument, _, err2 := rpc.ParseObject(x.msg.Params.Get("argument"))
	var r reference
	var kind, name, prefix bool
	r.kind, kind = ref.Text("type")
	r.argument, name = argument.Text("name")
	r.prefix, prefix = argument.Text("value")
	if err != nil || err2 != nil || !kind || !name || !prefix || len(r.prefix) > maxPrefix {
		return r, fault.New(rpc.InvalidParams, "Want ref {type, name or uri} and argument {name, value} with a value of at most %d bytes.", maxPrefix)
	}
	member, known := map[string]string{"ref/prompt": "name", "ref/resource": "uri"}[r.kind]
	if r.name, name = ref.Text(member); !known || !name {
		return r, fault.New(rpc.InvalidParams, "ref is neither {type: ref/prompt, name} nor {type: ref/resource, uri}.")
	}
	return r, nil
}

// findCompletion looks up what is completed: it needs the scopes of the read it
// completes.
func (d *Dispatcher) findCompletion(x *exchange) []identity.Scope {
	ref, err := x.reference()
	if err != nil {
		return nil
	}
	if ref.kind == "ref/prompt" {
		if prompt, found := d.catalog.Prompt(ref.name); found {
			x.prompt = prompt
			return prompt.Scopes
		}
		return nil
	}
	if template, found := d.catalog.Template(ref.name, x.Principal); found {
		x.template = template
		return template.Scopes
	}
	return nil
}

func (d *Dispatcher) checkCompletion(x *exchange) error {
	ref, err := x.reference()
	switch {
	case err != nil:
		return err
	case x.prompt != nil && slices.ContainsFunc(x.prompt.Arguments, func(a catalog.Argument) bool { return a.Name == ref.argument }):
		return nil
	case x.template != nil && x.template.Has(ref.argument):
		return nil
	}
	return fault.New(rpc.InvalidParams, "There is nothing of that name to complete. See prompts/list and resources/templates/list.")
}

func (d *Dispatcher) complete(ctx context.Context, x *exchange) (result, error) {
	ref, err := x.reference()
	if err != nil {
		return result{}, err
	}
	var values []string
	switch {
	case x.template != nil && x.template.Complete != nil:
		values, err = x.template.Complete(ctx, x.caller(), ref.argument, ref.prefix, maxValues)
	case x.prompt != nil:
		at := slices.IndexFunc(x.prompt.Arguments, func(a catalog.Argument) bool { return a.Name == ref.argument })
		if complete := x.prompt.Arguments[at].Complete; complete != nil {
			values, err = complete(ctx, x.caller(), ref.prefix, maxValues)
		}
	}
	if err != nil {
		return result{}, err
	}
	more := len(values) > maxValues
	type completion struct {
		Values  []string `json:"values"`
		HasMore bool     `json:"hasMore"`
	}
	return object(map[string]completion{"completion": {nonNil(values[:min(len(values), maxValues)]), more}}, nil)
}
