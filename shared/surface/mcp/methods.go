package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

// method is one entry of the table of methods.
type method struct {
	legacy, modern bool
	open           bool                                          // a capability token may use it
	find           func(*Dispatcher, *exchange) []identity.Scope // looks up what is named; the scopes it needs
	check          func(*Dispatcher, *exchange) error            // what is named exists and is well formed
	run            func(*Dispatcher, context.Context, *exchange) (result, error)
}

func (m method) serves(era rpc.Era) bool {
	if era == rpc.Modern {
		return m.modern
	}
	return m.legacy
}

// methodTable is every method there is. What is not here is unknown, the removed
// ones of the modern era included.
func methodTable() map[string]method {
	return map[string]method{
		"initialize":               {legacy: true, open: true, run: (*Dispatcher).initialize},
		"ping":                     {legacy: true, open: true, run: (*Dispatcher).ping},
		"server/discover":          {modern: true, open: true, run: (*Dispatcher).discover},
		"subscriptions/listen":     {modern: true, check: (*Dispatcher).checkListen, run: (*Dispatcher).listen},
		"tools/list":               {legacy: true, modern: true, open: true, check: (*Dispatcher).checkCursor, run: (*Dispatcher).listTools},
		"tools/call":               {legacy: true, modern: true, find: (*Dispatcher).findTool, check: (*Dispatcher).checkTool, run: (*Dispatcher).callTool},
		"resources/list":           {legacy: true, modern: true, open: true, check: (*Dispatcher).checkCursor, run: (*Dispatcher).listResources},
		"resources/templates/list": {legacy: true, modern: true, open: true, check: (*Dispatcher).checkCursor, run: (*Dispatcher).listTemplates},
		"resources/read":           {legacy: true, modern: true, open: true, find: (*Dispatcher).findResource, check: (*Dispatcher).checkResource, run: (*Dispatcher).readResource},
		"prompts/list":             {legacy: true, modern: true, open: true, check: (*Dispatcher).checkCursor, run: (*Dispatcher).listPrompts},
		"prompts/get":              {legacy: true, modern: true, find: (*Dispatcher).findPrompt, check: (*Dispatcher).checkPrompt, run: (*Dispatcher).getPrompt},
		"completion/complete":      {legacy: true, modern: true, find: (*Dispatcher).findCompletion, check: (*Dispatcher).checkCompletion, run: (*Dispatcher).complete},
	}
}

func (d *Dispatcher) initialize(_ context.Context, x *exchange) (result, error) {
	version, _ := x.msg.Params.Text("protocolVersion")
	if !slices.Contains(Versions[1:], version) {
		version = legacyLatest
	}
	return object(struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"capabilities"`
		ServerInfo      json.RawMessage `json:"serverInfo"`
		Instructions    string          `json:"instructions"`
	}{version, capabilities, serverInfo, instructions}, nil)
}

func (d *Dispatcher) ping(context.Context, *exchange) (result, error) {
	return result{body: []byte("{}")}, nil
}

func (d *Dispatcher) discover(context.Context, *exchange) (result, error) {
	return object(struct {
		SupportedVersions []string        `json:"supportedVersions"`
		Capabilities      json.RawMessage `json:"capabilities"`
		Instructions      string          `json:"instructions"`
	}{Versions, capabilities, instructions}, hintDiscover)
}

func (d *Dispatcher) checkListen(x *exchange) error {
	if _, object, err := rpc.ParseObject(x.msg.Params.Get("notifications")); !object || err != nil {
		return fault.New(rpc.InvalidParams, "params.notifications is missing or no object.")
	}
	return nil
}

// listen acknowledges a subscription to nothing and completes it at once: a
// function that held the stream open would be paid for by the second, and there
// is nothing to push.
func (d *Dispatcher) listen(_ context.Context, x *exchange) (result, error) {
	meta := append([]byte(`"`+metaSubscription+`":`), x.msg.ID...)
	note := append([]byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{`), meta...)
	x.notes = append(x.notes, append(note, `},"notifications":{}}}`...))
	return result{body: []byte("{}"), meta: append([]byte(","), meta...)}, nil
}

// checkCursor refuses every cursor: the lists fit one page and hand out none.
func (d *Dispatcher) checkCursor(x *exchange) error {
	if raw := x.msg.Params.Get("cursor"); raw != nil {
		return fault.New(rpc.CursorInvalid, "The cursor is not one of this list's. Leave it out to begin at the start.")
	}
	return nil
}

func (d *Dispatcher) findResource(x *exchange) []identity.Scope {
	uri, _ := x.msg.Params.Text("uri")
	target, found := d.catalog.Resource(uri, x.Principal)
	if !found {
		return nil
	}
	x.resource = &target
	return target.Scopes
}

func (d *Dispatcher) checkResource(x *exchange) error {
	uri, ok := x.msg.Params.Text("uri")
	if !ok {
		return fault.New(rpc.InvalidParams, "params.uri is missing or no string.")
	}
	if x.resource == nil {
		return fault.New(fault.ResourceNotFound, "There is no resource under this URI. See resources/list and resources/templates/list.").Naming("uri", shown(uri))
	}
	return nil
}

// shown is a URI as an error repeats it; nothing that exists has a longer one.
func shown(uri string) string { return strings.ToValidUTF8(uri[:min(len(uri), 2<<10)], "") }

func (d *Dispatcher) readResource(ctx context.Context, x *exchange) (result, error) {
	uri, _ := x.msg.Params.Text("uri")
	contents, err := x.resource.Read(ctx, x.caller())
	if err != nil {
		return result{}, fault.Of(err).Naming("uri", shown(uri))
	}
	encoded, err := contents.Encode(uri)
	if err != nil {
		return result{}, err
	}
	return object(struct {
		Contents json.RawMessage `json:"contents"`
	}{encoded}, hintRead)
}

func (d *Dispatcher) findPrompt(x *exchange) []identity.Scope {
	name, _ := x.msg.Params.Text("name")
	prompt, found := d.catalog.Prompt(name)
	if !found {
		return nil
	}
	x.prompt = prompt
	return prompt.Scopes
}

func (d *Dispatcher) checkPrompt(x *exchange) error {
	if x.prompt == nil {
		return fault.New(rpc.PromptNotFound, "There is no such prompt. See prompts/list.")
	}
	arguments, err := x.arguments()
	if err != nil {
		return err
	}
	for _, argument := range x.prompt.Arguments {
		raw := arguments.Get(argument.Name)
		if _, text := rpc.Text(raw); raw != nil && !text {
			return fault.New(rpc.InvalidParams, "The argument %s is no string.", argument.Name)
		}
		if raw == nil && argument.Required {
			return fault.New(rpc.InvalidParams, "The argument %s is required.", argument.Name)
		}
	}
	return nil
}

func (d *Dispatcher) getPrompt(ctx context.Context, x *exchange) (result, error) {
	arguments, err := x.arguments()
	if err != nil {
		return result{}, err
	}
	values := map[string]string{}
	for _, argument := range x.prompt.Arguments {
		if value, ok := arguments.Text(argument.Name); ok {
			values[argument.Name] = value
		}
	}
	messages, err := x.prompt.Get(ctx, x.caller(), values)
	if err != nil {
		return result{}, err
	}
	return object(messages, nil)
}

// arguments reads params.arguments; absent ones are none.
func (x *exchange) arguments() (rpc.Object, error) {
	raw := x.msg.Params.Get("arguments")
	if raw == nil {
		return nil, nil
	}
	arguments, object, err := rpc.ParseObject(raw)
	if err != nil || !object {
		return nil, fault.Because(err, rpc.InvalidParams, "params.arguments is no JSON object, or names something twice.")
	}
	return arguments, nil
}

func (d *Dispatcher) listResources(ctx context.Context, x *exchange) (result, error) {
	resources, err := d.catalog.Resources(ctx, x.caller())
	if err != nil {
		return result{}, err
	}
	return list("resources", resources)
}

func (d *Dispatcher) listTemplates(_ context.Context, x *exchange) (result, error) {
	return list("resourceTemplates", d.catalog.Templates(x.Principal))
}

func (d *Dispatcher) listPrompts(_ context.Context, x *exchange) (result, error) {
	if x.Principal.Capability() {
		return list("prompts", []catalog.Prompt{})
	}
	return d.lists.prompts()
}

func (d *Dispatcher) listTools(_ context.Context, x *exchange) (result, error) {
	switch {
	case x.Principal.Capability():
		return list("tools", []catalog.Tool{})
	case x.Underscore:
		return d.lists.underscored()
	}
	return d.lists.tools()
}
