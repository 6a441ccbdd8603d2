package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/mcp"
	"github.com/robotmoney/mcp/shared/surface/rpc"
	"github.com/robotmoney/mcp/shared/surface/schema"
)

// parts are the fields of the tool's arguments and, all of them, of its answer.
func parts(required bool) []schema.Field {
	return []schema.Field{
		{Name: "text", Type: schema.String, Required: true, Max: 200, Description: "What is repeated."},
		{Name: "count", Type: schema.Integer, Required: required, Min: 1, Max: 100, Description: "How often it was meant."},
		{Name: "tags", Type: schema.Array, Required: required, Max: 10, Description: "Words that go with it.", Items: &schema.Field{Type: schema.String, Max: 50}},
	}
}

// echoed is the tool's answer.
type echoed struct {
	Text  string `json:"text"`
	Count int    `json:"count"`
	Tags  []any  `json:"tags"`
}

func echo(_ context.Context, _ catalog.Call, arguments json.RawMessage) (catalog.Output, error) {
	values, err := schema.Decode(parts(false), arguments, true)
	if err != nil {
		return catalog.Output{}, err
	}
	out := echoed{values.Text("text"), values.Int("count", 1), values.List("tags")}
	text, err := json.Marshal(out)
	if err != nil {
		return catalog.Output{}, fmt.Errorf("encode the answer: %w", err)
	}
	return catalog.Output{Content: []catalog.Block{catalog.TextBlock(string(text))}, Structured: json.RawMessage(text)}, nil
}

// Provider offers the catalogue both servers have: Tools tools, all alike.
func Provider() catalog.Provider {
	p := catalog.Provider{Name: "bench"}
	in, out := schema.Of(parts(false)...), schema.Of(parts(true)...)
	for n := range Tools {
		p.Tools = append(p.Tools, catalog.Tool{
			Name: ToolName(n), Description: description, InputSchema: in, OutputSchema: out,
			Scopes: []identity.Scope{identity.LedgerRead}, Call: echo,
		})
	}
	return p
}

// NoTrail keeps nothing: the peers have no audit trail to set against it.
type NoTrail struct{}

// Called keeps nothing.
func (NoTrail) Called(context.Context, audit.Call) error { return nil }

// Ours is our dispatcher over the catalogue, from the body of an HTTP request
// to the body of the reply.
type Ours struct {
	dispatcher *mcp.Dispatcher
	principal  identity.Principal
}

// NewOurs makes our side.
func NewOurs() (*Ours, error) {
	var offered catalog.Catalog
	if err := offered.Mount(Provider()); err != nil {
		return nil, err
	}
	dispatcher, err := mcp.New(&offered, NoTrail{}, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	tenant, err := identity.OperatorTenant("acme")
	if err != nil {
		return nil, err
	}
	return &Ours{dispatcher, identity.Principal{Kind: identity.Agent, ID: "agt_bench", Tenant: tenant, Scopes: identity.Scopes{identity.LedgerRead}}}, nil
}

// Serve answers one request.
func (o *Ours) Serve(r Request) ([]byte, error) {
	reply := o.dispatcher.Serve(context.Background(), mcp.Request{
		Envelope: rpc.Parse([]byte(r.Body)), Principal: o.principal, RequestID: "bench",
		Version: mcp.ModernVersion, Method: r.Method, Name: r.Name,
	})
	if reply.Status != 200 || reply.Err != nil {
		return nil, fmt.Errorf("status %d: %s", reply.Status, reply.Body)
	}
	return reply.Body, nil
}
