package access_test

import (
	"errors"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
)

const (
	recordLife = 5 * time.Second
	chainLife  = 60 * time.Second
	tick       = time.Nanosecond
)

// reads reports how often the table and the chain were asked in all.
func (w *world) reads(t *testing.T, what string, queries int32, chain int) {
	t.Helper()
	equal(t, what+": queries", w.store.queries.Load(), queries)
	equal(t, what+": calls of the chain", w.chain.count(), chain)
}

// A quarantine bites after five seconds, and no read is made before.
func TestQuarantine(t *testing.T) {
	w := newWorld(t)
	w.admits(t, "cold", w.door, "")
	w.reads(t, "cold", 1, 1)
	w.agent.Status = identity.Quarantined
	w.writeAgent(t)
	w.pass(recordLife - tick)
	w.admits(t, "just before five seconds", w.door, "")
	w.reads(t, "just before five seconds", 1, 1)
	w.pass(tick)
	w.admits(t, "at five seconds", w.door, fault.AgentNotRegistered)
	w.reads(t, "at five seconds", 2, 1)

	w.agent.Status = identity.Active
	w.writeAgent(t)
	w.pass(recordLife - tick)
	w.admits(t, "active again, the copy is not", w.door, fault.AgentNotRegistered)
	w.pass(tick)
	w.admits(t, "active again", w.door, "")
	w.reads(t, "active again", 3, 1)
}

// What is read is as old as the moment it was asked for: a reply that takes long
// is no younger for it.
func TestSlowReplies(t *testing.T) {
	w := newWorld(t)
	w.store.slow = func() { w.pass(2 * time.Second) }
	w.chain.slow = func() { w.pass(10 * time.Second) }
	w.admits(t, "cold", w.door, "")
	w.store.slow, w.chain.slow = nil, nil
	w.change(revoked)
	w.pass(chainLife - 10*time.Second - tick)
	w.admits(t, "just before sixty seconds", w.door, "")
	w.pass(tick)
	w.admits(t, "at sixty seconds", w.door, fault.AgentNotOnchain)

	w = newWorld(t)
	w.admits(t, "cold", w.door, "")
	w.pass(recordLife)
	w.store.slow = func() { w.pass(2 * time.Second) }
	w.admits(t, "read slowly", w.door, "")
	w.store.slow = nil
	w.agent.Status = identity.Quarantined
	w.writeAgent(t)
	w.pass(recordLife - 2*time.Second - tick)
	w.admits(t, "just before five seconds", w.door, "")
	w.pass(tick)
	w.admits(t, "at five seconds", w.door, fault.AgentNotRegistered)
}

// Using a copy does not make it younger.
func TestUseDoesNotRefresh(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		w.admits(t, "busy", w.door, "")
		w.pass(time.Second)
	}
	w.reads(t, "within five seconds", 1, 1)
	w.admits(t, "at five seconds", w.door, "")
	w.reads(t, "at five seconds", 2, 1)
}

func TestRevokedToken(t *testing.T) {
	w := newWorld(t)
	w.admits(t, "cold", w.door, "")
	write(t, key.Revoked(key.AgentPartition(w.agent.ID), "t-1"), nil, w.now())
	w.pass(recordLife - tick)
	w.admits(t, "just before five seconds", w.door, "")
	w.pass(tick)
	w.admits(t, "at five seconds", w.door, fault.AuthTokenInvalid)
}

// A new grant needs a new registration: until the chain has it, nothing passes.
func TestNewGrant(t *testing.T) {
	w := newWorld(t)
	w.admits(t, "cold", w.door, "")
	w.agent.Scopes = identity.Scopes{identity.WikiRead}
	w.writeAgent(t)
	w.pass(recordLife)
	w.admits(t, "new grant, old token", w.door, fault.AgentScopeHash)
}

// An agent revoked on the chain is refused after sixty seconds, in the process
// that asked and in every other one that believes the answer in the table.
func TestRevokedOnChain(t *testing.T) {
	w := newWorld(t)
	w.admits(t, "cold", w.door, "")
	w.change(revoked)
	w.pass(chainLife / 2)
	second := w.process(nil)
	w.admits(t, "another process, after half the time", second, "")
	w.reads(t, "another process", 2, 1)
	w.pass(chainLife/2 - tick)
	w.admits(t, "just before sixty seconds", w.door, "")
	w.admits(t, "there too", second, "")
	w.admits(t, "and in a third process", w.process(nil), "")
	equal(t, "calls of the chain", w.chain.count(), 1)
	w.pass(tick)
	w.admits(t, "at sixty seconds", w.door, fault.AgentNotOnchain)
	w.admits(t, "there too", second, fault.AgentNotOnchain)
	w.admits(t, "and in a fourth process", w.process(nil), fault.AgentNotOnchain)
	equal(t, "calls of the chain", w.chain.count(), 4) // only a positive answer is kept
}

// The table keeps whole seconds: an answer does not gain the rest of one on the
// way to another process.
func TestChainLifeInTheTable(t *testing.T) {
	w := newWorld(t)
	w.pass(999 * time.Millisecond)
	w.admits(t, "cold", w.door, "")
	w.change(revoked)
	w.pass(chainLife)
	w.admits(t, "another process at sixty seconds", w.process(nil), fault.AgentNotOnchain)
}

// The table deletes late: what lies there after its time is not believed.
func TestExpiredAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		expires time.Duration
		asked   int
		code    fault.Code
	}{
		"a second to go":   {time.Second, 0, ""},
		"all of its time":  {chainLife, 0, ""},
		"a second more":    {chainLife + time.Second, 1, fault.AgentNotOnchain}, // by a clock that ran ahead
		"at its end":       {0, 1, fault.AgentNotOnchain},
		"two days past it": {-48 * time.Hour, 1, fault.AgentNotOnchain},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.change(revoked)
			answer := map[string]any{"tenant_id": identity.TenantHash(w.tenant.String()), "scope_hash": grant.Hash()}
			write(t, key.AgentChain(w.agent.ID), answer, w.now().Add(c.expires))
			w.admits(t, "request", w.door, c.code)
			equal(t, "calls of the chain", w.chain.count(), c.asked)
		})
	}
	t.Run("without an end", func(t *testing.T) {
		w := newWorld(t)
		w.change(revoked)
		write(t, key.AgentChain(w.agent.ID), map[string]any{"scope_hash": grant.Hash(), "tenant_id": identity.TenantHash(w.tenant.String())}, time.Time{})
		w.admits(t, "request", w.door, fault.AgentNotOnchain)
	})
}

// Who is not on the chain is asked for again each time, and passes as soon as
// it is there.
func TestOnlyPositiveAnswersAreKept(t *testing.T) {
	w := newWorld(t)
	w.change(func(r *identity.Registration) { *r = identity.Registration{} })
	w.admits(t, "not there", w.door, fault.AgentNotOnchain)
	w.admits(t, "still not there", w.door, fault.AgentNotOnchain)
	equal(t, "calls of the chain", w.chain.count(), 2)
	_, kept, err := database.Get(t.Context(), key.AgentChain(w.agent.ID))
	noError(t, err)
	equal(t, "kept in the table", kept, false)
	w.register(func(*identity.Registration) {})
	w.admits(t, "there", w.door, "")
	w.admits(t, "there", w.door, "")
	equal(t, "calls of the chain", w.chain.count(), 3)
	_, kept, err = database.Get(t.Context(), key.AgentChain(w.agent.ID))
	noError(t, err)
	equal(t, "kept in the table", kept, true)
}

// What the record says is held against a kept answer as against a new one.
func TestKeptAnswerIsChecked(t *testing.T) {
	w := newWorld(t)
	w.admits(t, "cold", w.door, "")
	token := w.token()
	token.ScopeHash = identity.AllScopes.Hash()
	_, err := w.door.Admit(t.Context(), token, 1)
	fails(t, "warm, another scope hash", err, fault.AgentScopeHash)
	equal(t, "calls of the chain", w.chain.count(), 1)
}

// While no endpoint answers, only a fresh answer lets anybody in.
func TestChainAway(t *testing.T) {
	w := newWorld(t)
	away := fault.Because(errors.New("no endpoint"), fault.OnchainUnavailable, "The chain cannot be asked.").After(5)
	w.chain.fail(away)
	w.admits(t, "cold", w.door, fault.OnchainUnavailable)
	w.chain.fail(nil)
	w.admits(t, "back", w.door, "")
	w.chain.fail(away)
	w.pass(chainLife - tick)
	w.admits(t, "away again, the answer is fresh", w.door, "")
	w.pass(tick)
	_, err := w.door.Admit(t.Context(), w.token(), 1)
	fails(t, "away again, the answer is not", err, fault.OnchainUnavailable)
	equal(t, "seconds to wait", fault.Of(err).Retry, 5)
	w.chain.fail(nil)
	w.admits(t, "back again", w.door, "")
}

func TestTableAway(t *testing.T) {
	w := newWorld(t)
	w.store.away.Store(true)
	w.admits(t, "cold", w.door, fault.DependencyUnavailable)
	w.store.away.Store(false)
	w.admits(t, "back", w.door, "")
	w.store.away.Store(true)
	w.pass(recordLife - tick)
	w.admits(t, "away again, the copy is young", w.door, "")
	w.pass(tick)
	w.admits(t, "away again, the copy is not", w.door, fault.DependencyUnavailable)
}

// A table that does not take the chain's answer costs the next process a call,
// and nothing else.
func TestAnswerNotKept(t *testing.T) {
	w := newWorld(t)
	w.store.readOnly.Store(true)
	w.admits(t, "cold", w.door, "")
	w.admits(t, "warm", w.door, "")
	w.pass(recordLife)
	w.admits(t, "the record read again, the answer still at hand", w.door, "")
	w.reads(t, "one process", 2, 1)
	w.admits(t, "another process", w.process(nil), "")
	equal(t, "calls of the chain", w.chain.count(), 2)
	w.pass(chainLife - recordLife)
	w.change(revoked)
	w.admits(t, "at sixty seconds", w.door, fault.AgentNotOnchain)
}

// A clock that is set back makes no copy younger.
func TestClockSetBack(t *testing.T) {
	w := newWorld(t)
	w.admits(t, "cold", w.door, "")
	w.agent.Status = identity.Quarantined
	w.writeAgent(t)
	w.pass(-time.Hour)
	w.admits(t, "an hour earlier", w.door, fault.AgentNotRegistered)

	w = newWorld(t)
	w.admits(t, "cold", w.door, "")
	w.change(revoked)
	w.pass(-time.Hour)
	w.admits(t, "revoked, an hour earlier", w.door, fault.AgentNotOnchain)
	w.admits(t, "and in another process", w.process(nil), fault.AgentNotOnchain)
}

// What lies broken in the table lets nobody in.
func TestBrokenRecords(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, w *world){
		"record":       func(t *testing.T, w *world) { write(t, key.AgentRecord(w.agent.ID), []int{1}, time.Time{}) },
		"chain answer": func(t *testing.T, w *world) { write(t, key.AgentChain(w.agent.ID), "x", w.now().Add(time.Minute)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			spoil(t, w)
			if p, err := w.door.Admit(t.Context(), w.token(), 1); err == nil {
				t.Errorf("admitted: %+v", p)
			}
		})
	}
	t.Run("empty chain answer", func(t *testing.T) {
		w := newWorld(t)
		write(t, key.AgentChain(w.agent.ID), map[string]any{}, w.now().Add(time.Minute))
		w.admits(t, "request", w.door, fault.AuthTenantMismatch)
	})
}

var _ identity.Registry = (*chain)(nil)
var _ access.Counter = (*counter)(nil)
