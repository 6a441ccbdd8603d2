// Package catalog is the registry of what the surface offers: providers mount
// resources, templates, prompts and tools on it, and it answers what is there,
// in a fixed order, to whom.
package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/identity"
)

// Call is one caller's request as a provider sees it.
type Call struct {
	Principal identity.Principal
	RequestID string
	// Notify adds a notification that is sent before the result, in the same
	// reply. It is nil where the client takes no event stream.
	Notify func(method string, params any)
	// ProgressToken is what notifications of progress repeat, JSON as it came. It
	// is nil when the caller asked for none.
	ProgressToken json.RawMessage
}

// Resource is a fixed URI that can be read as it stands.
type Resource struct {
	URI         string           `json:"uri"`
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	MIMEType    string           `json:"mimeType,omitempty"`
	Scopes      []identity.Scope `json:"-"` // all of them are needed to read

	Read func(ctx context.Context, call Call) (Contents, error) `json:"-"`
}

// Template is a family of URIs with variables, RFC 6570 {x} and {+x}.
type Template struct {
	URITemplate string           `json:"uriTemplate"`
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	MIMEType    string           `json:"mimeType,omitempty"`
	Scopes      []identity.Scope `json:"-"`
	// Match, when set, is the template URIs are matched against in place of the
	// printed one: the same variables, {+x} where a value may hold slashes.
	Match string `json:"-"`

	// Read gets the variables of the URI, decoded once.
	Read func(ctx context.Context, call Call, vars Vars) (Contents, error) `json:"-"`
	// List, when set, names concrete resources, which then appear in
	// resources/list.
	List func(ctx context.Context, call Call) ([]Resource, error) `json:"-"`
	// Complete, when set, returns values of a variable that start with a prefix,
	// one more than limit when there are more.
	Complete func(ctx context.Context, call Call, variable, prefix string, limit int) ([]string, error) `json:"-"`

	pattern pattern
}

// Vars are a template's variables and their values.
type Vars map[string]string

// Argument is one argument of a prompt.
type Argument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required"`

	// Complete, when set, returns values that start with a prefix, one more than
	// limit when there are more.
	Complete func(ctx context.Context, call Call, prefix string, limit int) ([]string, error) `json:"-"`
}

// Prompt is a message pattern a client shows to its user.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []Argument       `json:"arguments,omitempty"`
	Scopes      []identity.Scope `json:"-"`

	Get func(ctx context.Context, call Call, arguments map[string]string) (Messages, error) `json:"-"`
}

// Messages is what a prompt renders to.
type Messages struct {
	Description string    `json:"description,omitempty"`
	Messages    []Message `json:"messages"`
}

// Message is one message of a prompt; Content is any content block.
type Message struct {
	Role    string `json:"role"` // user or assistant
	Content Block  `json:"content"`
}

// Tool is a verb an agent may call.
type Tool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Schemas      func() (input, output json.RawMessage) // in place of the two above, made when they are first listed
	Annotations  json.RawMessage
	Scopes       []identity.Scope
	AnyScope     bool // one of Scopes is enough
	PeopleOnly   bool // an agent is refused before its scopes are looked at: none could help
	// Requires names the capabilities a client must have declared in the request,
	// such as sampling. A legacy request declares none, so it is refused.
	Requires []string

	// Call gets the arguments as they came, always an object.
	Call func(ctx context.Context, call Call, arguments json.RawMessage) (Output, error)
}

// Output is what a tool answers: content blocks, and structured content where
// the tool declares an output schema. IsError marks a refusal the model can act
// on; it carries no structured content.
type Output struct {
	Content    []Block `json:"content"`
	Structured any     `json:"structuredContent,omitempty"`
	IsError    bool    `json:"isError,omitempty"`
}

// Provider is a named set of what is offered.
type Provider struct {
	Name      string
	Resources []Resource
	Templates []Template
	Prompts   []Prompt
	Tools     []Tool
	Filter    Filter // of the resources and templates; nil shows everything
}

// Summary tells a filter what it decides about.
type Summary struct {
	Provider string
	Kind     string // resource or template
	Name     string
	URI      string // or the template
	Scopes   []identity.Scope
}

// Filter decides whether a caller sees a resource of its provider. What it hides
// is absent from the lists and reads as not found. One function may serve
// several providers: the summary names the one it is asked for.
type Filter func(Summary, identity.Principal) bool

// Catalog is everything that is mounted. It is built at start and then only
// read.
type Catalog struct{ providers []Provider }

// Mount adds a provider; under a used name it replaces that one. A URI, a
// template, a prompt or a tool another provider holds is an error, as is a
// template that cannot be matched.
func (c *Catalog) Mount(p Provider) error {
	p.Templates = slices.Clone(p.Templates)
	for i := range p.Templates {
		t := &p.Templates[i]
		source := t.Match
		if source == "" {
			source = t.URITemplate
		}
		var err error
		if t.pattern, err = parsePattern(source); err != nil {
			return fmt.Errorf("mount %s: template %s: %w", p.Name, t.URITemplate, err)
		}
	}
	others := slices.DeleteFunc(slices.Clone(c.providers), func(o Provider) bool { return o.Name == p.Name })
	held := map[string]string{}
	for _, other := range others {
		for _, name := range other.names() {
			held[name] = other.Name
		}
	}
	for _, name := range p.names() {
		if owner, taken := held[name]; taken {
			return fmt.Errorf("mount %s: %s is already held by %s", p.Name, name, owner)
		}
		held[name] = p.Name
	}
	if at := slices.IndexFunc(c.providers, func(o Provider) bool { return o.Name == p.Name }); at >= 0 {
		c.providers[at] = p
		return nil
	}
	c.providers = append(others, p)
	return nil
}

// names lists what must be unique over all providers.
func (p Provider) names() []string {
	var names []string
	for _, r := range p.Resources {
		names = append(names, "resource "+r.URI)
	}
	for _, t := range p.Templates {
		names = append(names, "resource "+t.URITemplate)
	}
	for _, prompt := range p.Prompts {
		names = append(names, "prompt "+prompt.Name)
	}
	for _, tool := range p.Tools {
		names = append(names, "tool "+Underscore(tool.Name))
	}
	return names
}

// shows says whether a caller sees a resource or template of the provider.
func (p Provider) shows(kind, name, uri string, scopes []identity.Scope, who identity.Principal) bool {
	return p.Filter == nil || p.Filter(Summary{p.Name, kind, name, uri, scopes}, who)
}
