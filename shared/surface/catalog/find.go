package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/identity"
)

// Underscore spells a tool's name without dots, for hosts that refuse them. It
// is the one place that knows the second spelling.
func Underscore(name string) string { return strings.ReplaceAll(name, ".", "_") }

// Tools lists every tool. Which of them a caller may use its scopes decide at
// the call, where a refusal can name the scope to ask for.
func (c *Catalog) Tools() []Tool {
	var tools []Tool
	for _, p := range c.providers {
		tools = append(tools, p.Tools...)
	}
	return tools
}

// Tool finds a tool under either spelling of its name.
func (c *Catalog) Tool(name string) (*Tool, bool) {
	for _, p := range c.providers {
		for i := range p.Tools {
			if p.Tools[i].Name == name || Underscore(p.Tools[i].Name) == name {
				return &p.Tools[i], true
			}
		}
	}
	return nil, false
}

// Prompts lists every prompt.
func (c *Catalog) Prompts() []Prompt {
	var prompts []Prompt
	for _, p := range c.providers {
		prompts = append(prompts, p.Prompts...)
	}
	return prompts
}

// Prompt finds a prompt.
func (c *Catalog) Prompt(name string) (*Prompt, bool) {
	for _, p := range c.providers {
		for i := range p.Prompts {
			if p.Prompts[i].Name == name {
				return &p.Prompts[i], true
			}
		}
	}
	return nil, false
}

// Resources lists what a caller sees: the fixed resources and what templates
// name, each URI that the filter lets through.
func (c *Catalog) Resources(ctx context.Context, call Call) ([]Resource, error) {
	var seen []Resource
	for _, p := range c.providers {
		for _, r := range p.Resources {
			if named(call.Principal, r.URI) && p.shows("resource", r.Name, r.URI, r.Scopes, call.Principal) {
				seen = append(seen, r)
			}
		}
		for _, t := range p.Templates {
			listed, err := p.list(ctx, t, call)
			if err != nil {
				return nil, err
			}
			seen = append(seen, listed...)
		}
	}
	return seen, nil
}

// list returns what a template names and the caller could read. The filter is
// asked what a read asks it, so that nothing is listed that then reads as not
// found, or the other way round.
func (p Provider) list(ctx context.Context, t Template, call Call) ([]Resource, error) {
	who := call.Principal
	if t.List == nil || len(who.Scopes.Missing(needed(who, t.Scopes))) > 0 || !p.shows("template", t.Name, t.URITemplate, t.Scopes, who) {
		return nil, nil
	}
	listed, err := t.List(ctx, call)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(listed), func(r Resource) bool {
		return !named(who, r.URI) || !p.shows("resource", t.Name, r.URI, t.Scopes, who)
	}), nil
}

// Templates lists the templates a caller sees. A capability token names URIs
// and no families of them.
func (c *Catalog) Templates(who identity.Principal) []Template {
	var seen []Template
	for _, p := range c.providers {
		for _, t := range p.Templates {
			if p.shows("template", t.Name, t.URITemplate, t.Scopes, who) && !who.Capability() {
				seen = append(seen, t)
			}
		}
	}
	return seen
}

// Target is a URI's reader and the scopes it needs.
type Target struct {
	Scopes []identity.Scope
	Read   func(ctx context.Context, call Call) (Contents, error)
}

// Resource finds who reads a URI, for a caller that sees it: a fixed resource
// before a template, templates in the order they were mounted. Nothing is read.
func (c *Catalog) Resource(uri string, who identity.Principal) (Target, bool) {
	if !named(who, uri) {
		return Target{}, false
	}
	for _, p := range c.providers {
		for _, r := range p.Resources {
			if r.URI == uri && p.shows("resource", r.Name, uri, r.Scopes, who) {
				return Target{needed(who, r.Scopes), withMIME(r.MIMEType, r.Read)}, true
			}
		}
	}
	for _, p := range c.providers {
		for _, t := range p.Templates {
			vars, ok := t.pattern.match(uri)
			if !ok || !p.shows("template", t.Name, t.URITemplate, t.Scopes, who) || !p.shows("resource", t.Name, uri, t.Scopes, who) {
				continue
			}
			read := func(ctx context.Context, call Call) (Contents, error) { return t.Read(ctx, call, vars) }
			return Target{needed(who, t.Scopes), withMIME(t.MIMEType, read)}, true
		}
	}
	return Target{}, false
}

// Template finds a template by the text it is printed with.
func (c *Catalog) Template(uriTemplate string, who identity.Principal) (*Template, bool) {
	for _, p := range c.providers {
		for i := range p.Templates {
			t := &p.Templates[i]
			if t.URITemplate == uriTemplate && p.shows("template", t.Name, t.URITemplate, t.Scopes, who) && !who.Capability() {
				return t, true
			}
		}
	}
	return nil, false
}

// named says whether a caller may know of a URI: everybody but the holder of a
// capability token, who knows the URIs it names.
func named(who identity.Principal, uri string) bool {
	return !who.Capability() || slices.Contains(who.URIs, uri)
}

// needed returns the scopes a caller needs: a capability token is its own
// permission for the URIs it names.
func needed(who identity.Principal, scopes []identity.Scope) []identity.Scope {
	if who.Capability() {
		return nil
	}
	return scopes
}

// withMIME fills in the declared type where the contents have none of their own.
func withMIME(mime string, read func(context.Context, Call) (Contents, error)) func(context.Context, Call) (Contents, error) {
	return func(ctx context.Context, call Call) (Contents, error) {
		contents, err := read(ctx, call)
		if err == nil && mime != "" && contents.fallback {
			contents.mime = mime
		}
		return contents, err
	}
}
