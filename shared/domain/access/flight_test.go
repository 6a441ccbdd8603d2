package access_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// gated is a table and a chain that answer when they are told to, so that a test
// sees who waits for what. It takes no network: synctest knows when everybody
// waits only of what happens inside the process.
type gated struct {
	record.Store
	page           record.Page
	answer         identity.Registration
	table, chain   chan struct{} // closed to let reads through
	err            error         // of the chain
	queries, asked atomic.Int32
}

func (g *gated) Query(ctx context.Context, _ record.Query) (record.Page, error) {
	g.queries.Add(1)
	select {
	case <-g.table:
		return g.page, nil
	case <-ctx.Done():
		return record.Page{}, ctx.Err()
	}
}

func (g *gated) Commit(context.Context, record.Change) error { return nil }

func (g *gated) Registration(ctx context.Context, _ identity.Hash) (identity.Registration, error) {
	g.asked.Add(1)
	select {
	case <-g.chain:
		return g.answer, g.err
	case <-ctx.Done():
		return identity.Registration{}, ctx.Err()
	}
}

// newGated is a cold endpoint and the token of its one agent.
func newGated(t *testing.T, limits access.Counter) (*gated, *access.Control, access.Claimed) {
	t.Helper()
	tenant, err := identity.OperatorTenant("acme")
	noError(t, err)
	body, err := json.Marshal(identity.AgentRecord{ID: "agt_1", TenantID: "acme", Status: identity.Active, Scopes: grant})
	noError(t, err)
	g := &gated{
		page:   record.Page{Items: []record.Item{{Key: key.AgentRecord("agt_1"), Body: body}}},
		answer: identity.Registration{TenantID: identity.TenantHash("acme"), ScopeHash: grant.Hash(), RegisteredAt: 1},
		table:  make(chan struct{}), chain: make(chan struct{}),
	}
	c := &clock{at: start}
	door := access.New(nil, g, g, &access.Limiter{Counter: limits, Now: c.now}, slog.New(slog.DiscardHandler), c.now)
	claims := identity.Claims{Kind: identity.Agent, Subject: "agt_1", Tenant: tenant, Scopes: grant, ScopeHash: grant.Hash(), TokenID: "t-1"}
	return g, door, access.Claimed{Claims: claims}
}

// crowd makes n requests at once and gives a way to see who is through.
func crowd(ctx context.Context, n int, door *access.Control, token access.Claimed) (done *atomic.Int32, errs func() []error) {
	var through atomic.Int32
	var mu sync.Mutex
	var failed []error
	for range n {
		go func() {
			_, err := door.Admit(ctx, token, 1)
			mu.Lock()
			failed = append(failed, err)
			mu.Unlock()
			through.Add(1)
		}()
	}
	return &through, func() []error { mu.Lock(); defer mu.Unlock(); return failed }
}

// Fifty cold requests at once are one query and one call of the chain.
func TestOneFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, door, token := newGated(t, &counter{limit: 600})
		through, errs := crowd(t.Context(), 50, door, token)
		synctest.Wait()
		equal(t, "queries while all wait", g.queries.Load(), 1)
		close(g.table)
		synctest.Wait()
		equal(t, "calls of the chain while all wait", g.asked.Load(), 1)
		equal(t, "through before the chain answered", through.Load(), 0)
		close(g.chain)
		synctest.Wait()
		equal(t, "through", through.Load(), 50)
		for _, err := range errs() {
			fails(t, "request", err, "")
		}
		equal(t, "queries", g.queries.Load(), 1)
		equal(t, "calls of the chain", g.asked.Load(), 1)
	})
}

// All that wait are refused when the chain is, and the next one asks again.
func TestOneFlightFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, door, token := newGated(t, &counter{limit: 600})
		g.err = fault.New(fault.OnchainUnavailable, "The chain cannot be asked.")
		close(g.table)
		through, errs := crowd(t.Context(), 50, door, token)
		synctest.Wait()
		equal(t, "calls of the chain while all wait", g.asked.Load(), 1)
		close(g.chain)
		synctest.Wait()
		equal(t, "through", through.Load(), 50)
		for _, err := range errs() {
			fails(t, "request", err, fault.OnchainUnavailable)
		}
		g.err = nil
		_, err := door.Admit(t.Context(), token, 1)
		fails(t, "the next request", err, "")
		equal(t, "calls of the chain", g.asked.Load(), 2)
	})
}

// The first caller's leaving does not end the read that the others wait for.
func TestFirstCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, door, token := newGated(t, &counter{limit: 600})
		ctx, leave := context.WithCancel(t.Context())
		_, _ = crowd(ctx, 1, door, token)
		synctest.Wait()
		through, errs := crowd(t.Context(), 10, door, token)
		synctest.Wait()
		leave()
		synctest.Wait()
		close(g.table)
		close(g.chain)
		synctest.Wait()
		equal(t, "through", through.Load(), 10)
		for _, err := range errs() {
			fails(t, "request", err, "")
		}
		equal(t, "queries", g.queries.Load(), 1)
		equal(t, "calls of the chain", g.asked.Load(), 1)
	})
}

// A shared read that hangs ends by itself, and refuses all that wait for it.
func TestReadThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, door, token := newGated(t, &counter{limit: 600})
		_, err := door.Admit(t.Context(), token, 1) // the bubble's clock runs ahead while all wait
		if err == nil {
			t.Error("admitted")
		}
	})
}

// Who read the record before another caller had the chain's answer does not ask
// the chain again: the second request is held at the rate until the first is
// through.
func TestLateComer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := &counter{limit: 600, gates: map[int]chan struct{}{2: make(chan struct{})}}
		g, door, token := newGated(t, limits)
		close(g.chain)
		first, _ := crowd(t.Context(), 1, door, token)
		synctest.Wait()
		second, errs := crowd(t.Context(), 1, door, token)
		synctest.Wait()
		close(g.table)
		synctest.Wait()
		equal(t, "the first is through", first.Load(), 1)
		equal(t, "the second is not", second.Load(), 0)
		close(limits.gates[2])
		synctest.Wait()
		equal(t, "the second is through", second.Load(), 1)
		fails(t, "the second", errs()[0], "")
		equal(t, "queries", g.queries.Load(), 1)
		equal(t, "calls of the chain", g.asked.Load(), 1)
	})
}
