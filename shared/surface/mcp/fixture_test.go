package mcp_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/mcp"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

const modernVersion = "2026-07-28"

// trail is the audit trail in memory. While refuse is set it keeps nothing.
type trail struct {
	mu     sync.Mutex
	calls  []audit.Call
	refuse error
}

func (t *trail) Called(_ context.Context, call audit.Call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refuse != nil {
		return t.refuse
	}
	t.calls = append(t.calls, call)
	return nil
}

// server is a dispatcher over the fixture catalogue and what it leaves behind.
type server struct {
	*mcp.Dispatcher
	catalog *catalog.Catalog
	trail   *trail
	log     *bytes.Buffer
}

func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{catalog: &catalog.Catalog{}, trail: &trail{}, log: &bytes.Buffer{}}
	must(t, s.catalog.Mount(fixture()))
	var err error
	s.Dispatcher, err = mcp.New(s.catalog, s.trail, slog.New(slog.NewTextHandler(s.log, nil)))
	must(t, err)
	return s
}

// fixture offers one of everything.
func fixture() catalog.Provider {
	read := []identity.Scope{identity.LedgerRead}
	return catalog.Provider{
		Name:      "demo",
		Resources: fixtureResources(),
		Templates: fixtureTemplates(),
		Prompts: []catalog.Prompt{{
			Name: "ask", Title: "Ask", Scopes: read,
			Arguments: []catalog.Argument{
				{Name: "topic", Required: true, Complete: func(_ context.Context, _ catalog.Call, prefix string, limit int) ([]string, error) {
					return numbered(prefix, limit), nil
				}},
				{Name: "depth"},
			},
			Get: func(_ context.Context, _ catalog.Call, arguments map[string]string) (catalog.Messages, error) {
				return catalog.Messages{Messages: []catalog.Message{{Role: "user", Content: catalog.TextBlock(fmt.Sprint(arguments))}}}, nil
			},
		}},
		Tools: []catalog.Tool{{
			Name: "demo.do", Title: "Do", Description: "Does what it is told.", InputSchema: json.RawMessage(`{"type":"object"}`),
			OutputSchema: json.RawMessage(`{"type":"object"}`), Scopes: read, Call: do,
		}, {
			Name: "demo.sample", InputSchema: json.RawMessage(`{"type":"object"}`), Scopes: read, Requires: []string{"sampling", "roots"}, Call: do,
		}},
	}
}

func fixtureResources() []catalog.Resource {
	text := func(context.Context, catalog.Call) (catalog.Contents, error) { return catalog.Text("hello"), nil }
	return []catalog.Resource{
		{URI: "demo://text", Name: "Text", Read: text},
		{URI: "demo://bytes", Name: "Bytes", MIMEType: "image/png", Read: func(context.Context, catalog.Call) (catalog.Contents, error) {
			return catalog.Bytes([]byte{0xff}), nil
		}},
		{URI: "demo://secret", Name: "Secret", Scopes: []identity.Scope{identity.AuditRead, identity.WikiRead}, Read: text},
		{URI: "demo://bücher", Name: "Books", Read: text},
		{URI: "demo://panic", Name: "Panic", Read: func(context.Context, catalog.Call) (catalog.Contents, error) { panic("the secret cause") }},
		{URI: "demo://broken", Name: "Broken", Read: func(context.Context, catalog.Call) (catalog.Contents, error) {
			return catalog.Contents{}, errors.New("the secret cause")
		}},
	}
}

func fixtureTemplates() []catalog.Template {
	row := func(_ context.Context, _ catalog.Call, vars catalog.Vars) (catalog.Contents, error) {
		if vars["id"] != "1" {
			return catalog.Contents{}, fault.New(fault.LedgerRowNotFound, "no such row")
		}
		return catalog.JSON(vars)
	}
	return []catalog.Template{{
		URITemplate: "demo://rows/{id}", Name: "Row", MIMEType: "application/json", Scopes: []identity.Scope{identity.LedgerRead}, Read: row,
		List: func(context.Context, catalog.Call) ([]catalog.Resource, error) {
			return []catalog.Resource{{URI: "demo://rows/1", Name: "Row 1"}}, nil
		},
		Complete: func(_ context.Context, _ catalog.Call, variable, prefix string, limit int) ([]string, error) {
			return numbered(variable+prefix, limit), nil
		},
	}, {
		URITemplate: "demo://audit/{id}", Name: "Audit", Scopes: []identity.Scope{identity.AuditRead}, Read: row,
	}}
}

// numbered returns as many values as a completion may: one more than the limit
// for a prefix that ends in +, a hundred for *, none for -, else two.
func numbered(prefix string, limit int) []string {
	n := 2
	switch {
	case strings.HasSuffix(prefix, "+"):
		n = limit + 1
	case strings.HasSuffix(prefix, "*"):
		n = limit
	case strings.HasSuffix(prefix, "-"):
		n = 0
	}
	var values []string
	for i := range n {
		values = append(values, fmt.Sprintf("%s%03d", prefix, i))
	}
	return values
}

// do is a tool that ends in every way a tool can end.
func do(_ context.Context, call catalog.Call, arguments json.RawMessage) (catalog.Output, error) {
	var args struct{ How string }
	if err := json.Unmarshal(arguments, &args); err != nil {
		return catalog.Output{}, fault.Because(err, fault.InvalidArgument, "arguments: want an object")
	}
	out := catalog.Output{Content: []catalog.Block{catalog.TextBlock("done")}, Structured: map[string]any{"got": arguments}}
	switch args.How {
	case "empty":
		return catalog.Output{Structured: map[string]any{}}, nil
	case "refuse":
		out.IsError = true
	case "argument":
		return out, fault.New(fault.InvalidArgument, "how: want something else than %q", args.How)
	case "missing":
		return out, fault.New(fault.LedgerRowNotFound, "no such row")
	case "conflict":
		return out, fault.New(fault.Conflict, "somebody was faster")
	case "actor":
		return out, fault.New(fault.ActorUnresolved, "an agent decides nothing")
	case "away":
		return out, fault.New(fault.DependencyUnavailable, "table away")
	case "broken":
		return out, errors.New("the secret cause")
	case "panic":
		panic("the secret cause")
	case "note":
		if call.Notify != nil {
			call.Notify("notifications/progress", map[string]any{"progress": 1, "progressToken": call.ProgressToken})
		}
	}
	return out, nil
}

// draft is a request in the making: a good one, until a test breaks it.
type draft struct {
	members map[string]any // of the message
	params  map[string]any
	meta    map[string]any
	raw     string // when set, the body as it stands
	req     mcp.Request
}

func caller(scopes ...identity.Scope) identity.Principal {
	tenant, err := identity.OperatorTenant("acme")
	if err != nil {
		panic(err)
	}
	return identity.Principal{Kind: identity.Agent, ID: "agt_1", Tenant: tenant, Scopes: scopes}
}

func draftOf(method string, params map[string]any) *draft {
	d := &draft{
		members: map[string]any{"jsonrpc": "2.0", "id": 7, "method": method}, params: map[string]any{}, meta: map[string]any{},
		req: mcp.Request{Principal: caller(identity.LedgerRead), RequestID: "req-1"},
	}
	for name, value := range params {
		d.params[name] = value
	}
	return d
}

// legacy is a good request of the legacy era.
func legacy(method string, params map[string]any) *draft { return draftOf(method, params) }

// modern is a good request of the modern era: all in _meta and headers alike.
func modern(method string, params map[string]any) *draft {
	d := draftOf(method, params)
	d.meta["io.modelcontextprotocol/protocolVersion"] = modernVersion
	d.meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
	d.req.Version, d.req.Method = modernVersion, method
	for _, member := range map[string][]string{"tools/call": {"name"}, "prompts/get": {"name"}, "resources/read": {"uri"}}[method] {
		d.req.Name, _ = params[member].(string)
	}
	return d
}

func (d *draft) body() []byte {
	if d.raw != "" {
		return []byte(d.raw)
	}
	if len(d.meta) > 0 {
		d.params["_meta"] = d.meta
	}
	if _, own := d.members["params"]; !own && len(d.params) > 0 {
		d.members["params"] = d.params
	}
	body, err := json.Marshal(d.members)
	if err != nil {
		panic(err)
	}
	return body
}

// send serves the draft and reads the answer.
func (s *server) send(d *draft) answer {
	d.req.Envelope = rpc.Parse(d.body())
	return read(s.Serve(context.Background(), d.req))
}

// answer is a reply as a client sees it.
type answer struct {
	mcp.Reply
	ID     json.RawMessage
	Result map[string]json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

func read(reply mcp.Reply) answer {
	a := answer{Reply: reply}
	_ = json.Unmarshal(reply.Body, &a)
	return a
}

// code is the number of the error; 0 when there is none.
func (a answer) code() int {
	if a.Error == nil {
		return 0
	}
	return a.Error.Code
}

func (a answer) name() string {
	if a.Error == nil {
		return ""
	}
	name, _ := a.Error.Data["code"].(string)
	return name
}

func (a answer) isError() bool { return string(a.Result["isError"]) == "true" }

// sentinel writes a name as a header carries what is not plain ASCII.
func sentinel(text string) string {
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// same compares two lists of names without regard to their order.
func same(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
