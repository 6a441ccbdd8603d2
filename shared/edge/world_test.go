package edge_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/edge"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/mcp"
)

const (
	public   = "https://mcp.example.com"
	endpoint = public + "/v1/agents/mcp"
	issuer   = "https://login.example.com"
	friend   = "https://app.example.com" // an origin that may call
)

// noon is when every test takes place.
var noon = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

// table is a record.Store in memory: what the door asks of it and no more.
type table struct {
	mu    sync.Mutex
	items map[key.Key]record.Item
	away  error
}

func (s *table) Get(_ context.Context, k key.Key) (record.Item, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item, found := s.items[k]
	return item, found, s.away
}

func (s *table) GetMany(ctx context.Context, keys []key.Key) (map[key.Key]record.Item, error) {
	found := map[key.Key]record.Item{}
	for _, k := range keys {
		if item, ok, _ := s.Get(ctx, k); ok {
			found[k] = item
		}
	}
	return found, s.away
}

func (s *table) Query(_ context.Context, q record.Query) (record.Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var page record.Page
	for k, item := range s.items {
		if k.PK == q.PK {
			page.Items = append(page.Items, item)
		}
	}
	slices.SortFunc(page.Items, func(a, b record.Item) int { return strings.Compare(a.Key.SK, b.Key.SK) })
	return page, s.away
}

func (s *table) Commit(_ context.Context, c record.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, put := range c.Puts {
		s.items[put.Item.Key] = put.Item
	}
	return s.away
}

func (s *table) put(k key.Key, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	s.items[k] = record.Item{Key: k, Version: 1, Body: body}
}

// registry is the chain: one registration and how often it was asked.
type registry struct {
	mu    sync.Mutex
	asked int
	holds identity.Registration
	away  error
}

func (r *registry) Registration(context.Context, identity.Hash) (identity.Registration, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	return r.holds, r.away
}

// counter is the rate counter of a tenant's minute.
type counter struct {
	mu    sync.Mutex
	used  int
	limit int
	wait  bool // never answers before the request's time is over
}

func (c *counter) Lease(ctx context.Context, _ identity.Tenant, _ time.Time, n int) (int, int, error) {
	if c.wait {
		<-ctx.Done()
		return 0, 0, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used += n
	return c.used, c.limit, nil
}

func (c *counter) FirstRefusal(context.Context, identity.Tenant, time.Time) (bool, error) {
	return false, nil
}

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

// keys are the issuer's: one ES256 key under the id "k1".
type keys struct{ public *ecdsa.PublicKey }

func (k keys) Key(_ context.Context, kid string) (identity.Key, bool, error) {
	return identity.Key{Algorithm: "ES256", Public: k.public}, kid == "k1", nil
}

// world is a server with everything around it.
type world struct {
	*edge.Server
	table    *table
	registry *registry
	counter  *counter
	trail    *trail
	log      *strings.Builder
	observed []edge.Operation
	signer   *ecdsa.PrivateKey
}

var granted = identity.Scopes{identity.LedgerRead, identity.WikiRead}

func newWorld(t testing.TB) *world { return newWorldAt(t, endpoint) }

func newWorldAt(t testing.TB, url string) *world { return newWorldOf(t, url, fixture()) }

// newWorldOf is a server at a URL that offers what these providers do.
func newWorldOf(t testing.TB, url string, providers ...catalog.Provider) *world {
	t.Helper()
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	w := &world{
		table: &table{items: map[key.Key]record.Item{}}, counter: &counter{limit: 600}, trail: &trail{}, log: &strings.Builder{}, signer: signer,
		registry: &registry{holds: identity.Registration{TenantID: identity.TenantHash("acme"), ScopeHash: granted.Hash(), RegisteredAt: 1}},
	}
	w.agent(identity.Active)
	w.table.put(key.APIKey("bak_good"), identity.KeyRecord{AgentID: "agt_1", TenantID: "acme", Scopes: granted})
	now := func() time.Time { return noon }
	log := slog.New(slog.NewTextHandler(io.MultiWriter(w.log), nil))
	tokens := &identity.Verifier{Issuer: issuer, Audience: []string{url}, Keys: keys{&signer.PublicKey}, Now: now}
	door := access.New(tokens, w.table, w.registry, &access.Limiter{Counter: w.counter, Now: now}, log, now)
	offered := &catalog.Catalog{}
	for _, p := range providers {
		must(t, offered.Mount(p))
	}
	surface, err := mcp.New(offered, w.trail, log)
	must(t, err)
	w.Server, err = edge.New(edge.Config{EndpointURL: url, Issuer: issuer, Origins: []string{friend}, Observe: func(op edge.Operation) { w.observed = append(w.observed, op) }}, door, surface, now, log)
	must(t, err)
	return w
}

// agent writes the record of the one agent there is.
func (w *world) agent(status identity.Status) {
	w.table.put(key.AgentRecord("agt_1"), identity.AgentRecord{ID: "agt_1", TenantID: "acme", Status: status, Scopes: granted})
}

// fixture offers what the edge treats differently.
func fixture() catalog.Provider {
	do := func(_ context.Context, call catalog.Call, arguments json.RawMessage) (catalog.Output, error) {
		if call.Notify != nil {
			call.Notify("notifications/progress", map[string]any{"progress": 1})
		}
		if strings.Contains(string(arguments), "panic") {
			panic("the secret cause")
		}
		return catalog.Output{Content: []catalog.Block{catalog.TextBlock("done")}}, nil
	}
	schema := json.RawMessage(`{"type":"object"}`)
	return catalog.Provider{Name: "demo", Tools: []catalog.Tool{
		{Name: "raw.contribute", InputSchema: schema, Call: do},
		{Name: "demo.do", InputSchema: schema, Call: do},
		{Name: "demo.audit", InputSchema: schema, Scopes: []identity.Scope{identity.AuditRead, identity.LedgerRead}, Call: do},
	}}
}

// claims are those of a good token.
func claims() jwt.MapClaims {
	return jwt.MapClaims{
		"iss": issuer, "sub": "agt_1", "aud": endpoint, "iat": noon.Unix() - 60, "exp": noon.Unix() + 600, "jti": "jti-1",
		"tenant_id": "acme", "principal_type": "agent", "scopes": granted.Strings(), "scope_hash": granted.Hash().String(),
	}
}

// token signs the claims of a good token after a change to them.
func (w *world) token(change ...func(jwt.MapClaims)) string {
	c := claims()
	for _, f := range change {
		f(c)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, c)
	token.Header["kid"] = "k1"
	signed, err := token.SignedString(w.signer)
	if err != nil {
		panic(err)
	}
	return signed
}

func expired(c jwt.MapClaims) { c["iat"], c["exp"] = noon.Unix()-1200, noon.Unix()-600 }

func foreign(c jwt.MapClaims) { c["aud"] = "https://other.example.com" }

// chainAway is what the chain says when no endpoint answers.
var chainAway = fault.New(fault.OnchainUnavailable, "no endpoint answers")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
