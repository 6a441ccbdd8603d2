package access_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// database is the table in the engine of this package's tests. They keep apart
// by their tenants' and principals' names.
var database *table.Table

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { database = e.Table() }))
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// fails reports an error that has not the wanted code; none is wanted for "".
func fails(t *testing.T, what string, err error, code fault.Code) {
	t.Helper()
	var f *fault.Error
	switch {
	case code == "" && err != nil:
		t.Errorf("%s: error = %v", what, err)
	case code != "" && (!errors.As(err, &f) || f.Code != code):
		t.Errorf("%s: error = %v, want the code %s", what, err, code)
	}
}

// clock is set by hand.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// store is the table, watched: it counts what is read and can be away.
type store struct {
	record.Store
	queries, gets, commits atomic.Int32
	away                   atomic.Bool // nothing is read nor written
	readOnly               atomic.Bool
	slow                   func() // called while a partition is read
}

var errAway = fault.New(fault.DependencyUnavailable, "The data store cannot be reached.")

func (s *store) Get(ctx context.Context, k key.Key) (record.Item, bool, error) {
	s.gets.Add(1)
	if s.away.Load() {
		return record.Item{}, false, errAway
	}
	return s.Store.Get(ctx, k)
}

func (s *store) Query(ctx context.Context, q record.Query) (record.Page, error) {
	s.queries.Add(1)
	if s.slow != nil {
		defer s.slow()
	}
	if s.away.Load() {
		return record.Page{}, errAway
	}
	return s.Store.Query(ctx, q)
}

func (s *store) Commit(ctx context.Context, c record.Change) error {
	s.commits.Add(1)
	if s.away.Load() || s.readOnly.Load() {
		return errAway
	}
	return s.Store.Commit(ctx, c)
}

// chain is the registry contract: what it holds, and how often it was asked.
type chain struct {
	mu    sync.Mutex
	holds map[identity.Hash]identity.Registration
	asked int
	err   error
	slow  func() // called while it is asked
}

func (c *chain) Registration(_ context.Context, agent identity.Hash) (identity.Registration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	if c.slow != nil {
		c.slow()
	}
	return c.holds[agent], c.err
}

func (c *chain) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

func (c *chain) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// world is a tenant with an agent and a member, registered everywhere, and
// everything an endpoint needs to let them in.
type world struct {
	*clock
	store  *store
	chain  *chain
	tenant identity.Tenant
	agent  identity.AgentRecord
	member identity.MemberRecord
	door   *access.Control // of the first process
}

var worlds atomic.Int32

var grant = identity.Scopes{identity.ExecutionPropose, identity.LedgerRead, identity.WikiRead}

func newWorld(t *testing.T) *world {
	t.Helper()
	n := worlds.Add(1)
	tenant, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", n))
	noError(t, err)
	w := &world{
		clock:  &clock{at: time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)},
		store:  &store{Store: database},
		chain:  &chain{holds: map[identity.Hash]identity.Registration{}},
		tenant: tenant,
		agent:  identity.AgentRecord{ID: fmt.Sprintf("agt_%d", n), TenantID: tenant.String(), Status: identity.Active, Scopes: grant},
		member: identity.MemberRecord{ID: "mbr_1", TenantID: tenant.String(), Status: identity.Active, Role: identity.Viewer},
	}
	w.writeAgent(t)
	w.writeMember(t)
	w.register(func(*identity.Registration) {})
	w.door = w.process(nil)
	return w
}

// process is another instance of the function: copies of its own, the same
// table and chain.
func (w *world) process(tokens *identity.Verifier) *access.Control {
	limits := &access.Limiter{Counter: &table.Rate{Table: database, Default: access.DefaultRate}, Now: w.now}
	return access.New(tokens, w.store, w.chain, limits, slog.New(slog.DiscardHandler), w.now)
}

func write(t *testing.T, k key.Key, value any, expires time.Time) {
	t.Helper()
	body, err := json.Marshal(value)
	noError(t, err)
	item := record.Item{Key: k, Body: body, Expires: expires}
	noError(t, database.Commit(t.Context(), record.Change{Puts: []record.Put{{Item: item, Blind: true}}}))
}

func (w *world) writeAgent(t *testing.T) {
	t.Helper()
	write(t, key.AgentRecord(w.agent.ID), w.agent, time.Time{})
}

func (w *world) writeMember(t *testing.T) {
	t.Helper()
	write(t, key.MemberRecord(w.tenant, w.member.ID), w.member, time.Time{})
}

// register puts the agent on the chain as it should be, but for a change.
func (w *world) register(change func(*identity.Registration)) {
	id := identity.AgentHash(w.tenant.String(), w.agent.ID)
	r := identity.Registration{AgentID: id, TenantID: identity.TenantHash(w.tenant.String()), ScopeHash: w.agent.Scopes.Hash(), RegisteredAt: 1}
	change(&r)
	w.chain.mu.Lock()
	defer w.chain.mu.Unlock()
	w.chain.holds[id] = r
}

func revoked(r *identity.Registration) { r.RevokedAt = 2 }

// token is what a verified token of the agent says.
func (w *world) token() access.Claimed {
	return access.Claimed{Claims: identity.Claims{
		Kind: identity.Agent, Subject: w.agent.ID, Tenant: w.tenant, Scopes: grant, ScopeHash: grant.Hash(), TokenID: "t-1",
	}}
}

func (w *world) userToken(scopes ...identity.Scope) access.Claimed {
	return access.Claimed{Claims: identity.Claims{Kind: identity.User, Subject: w.member.ID, Tenant: w.tenant, Scopes: scopes, TokenID: "t-2"}}
}

// admits makes one request at a door and wants a code, none for "".
func (w *world) admits(t *testing.T, what string, door *access.Control, code fault.Code) identity.Principal {
	t.Helper()
	p, err := door.Admit(t.Context(), w.token(), 1)
	fails(t, what, err, code)
	if err != nil && (p.ID != "" || p.Scopes != nil) {
		t.Errorf("%s: a principal of a refused request: %+v", what, p)
	}
	return p
}
