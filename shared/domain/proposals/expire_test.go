package proposals_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// sweep expires what is due and says how much of it was.
func (w *world) sweep(t *testing.T) int {
	t.Helper()
	n, err := w.desk.Expire(t.Context())
	noError(t, err)
	return n
}

// TestExpire: at its time and not before, whatever waits ends, gives back what it
// promised and is told of as the sweep's doing.
func TestExpire(t *testing.T) {
	w := newWorld(t, usual())
	token := w.authorize(t, request("100.00")).ID
	asked := w.authorize(t, request("5000.00", func(q *proposals.Request) { q.ExpiresIn = time.Hour })).ID
	intent, action := w.propose(t, proposal("5000.00")).ID, w.act(t, deed("propose_match")).ID
	passed := w.propose(t, proposal("5.00")).ID
	w.clock.pass(15*time.Minute - time.Millisecond)
	equal(t, "a moment before", w.sweep(t), 0)
	w.clock.pass(time.Millisecond)
	equal(t, "at the authorization's time", w.sweep(t), 1)
	equal(t, "authorization", w.status(t, token), proposals.Expired)
	equal(t, "again", w.sweep(t), 0)
	w.reconcile(t)
	w.clock.pass(45 * time.Minute)
	_, err := w.decide(t, w.member("mbr_ann"), proposals.Choice{Name: asked, Decision: proposals.Approve})
	fails(t, err, fault.Conflict) // its time is over, swept or not
	equal(t, "at the other's time", w.sweep(t), 1)
	equal(t, "the other", w.status(t, asked), proposals.Expired)
	w.clock.pass(7 * 24 * time.Hour)
	equal(t, "after a week", w.sweep(t), 2)
	for _, name := range []string{intent, action} {
		equal(t, name, w.status(t, name), proposals.Expired)
	}
	equal(t, "what passed", w.status(t, passed), proposals.Approved)
	told := w.everything(t)[intent]
	last := told[len(told)-1]
	equal(t, "event", last.Action+" by "+last.Actor.Type+" "+last.Actor.ID, "payment_intent.expired by function outbox")
	w.reconcile(t)
}

// TestLeftovers: marks of what is not there, or not due at that time, are taken
// away and end nothing; one that nobody can read stays and does not keep the
// others from their end.
func TestLeftovers(t *testing.T) {
	w := newWorld(t, usual())
	intent := w.propose(t, proposal("5000.00")).ID
	marks := []key.Key{
		key.Due(w.tenant, noon, "pi_none"), key.Due(w.tenant, noon, intent),
		key.Due(w.tenant, noon, w.propose(t, proposal("5.00")).ID), key.Due(w.tenant, noon, "tx_1"),
	}
	for _, k := range marks {
		noError(t, w.direct.Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: k}, Blind: true}}}))
	}
	n, err := w.desk.Expire(t.Context())
	if n != 0 || err == nil || !strings.Contains(err.Error(), "tx_1") {
		t.Errorf("%d ended, error %v", n, err)
	}
	for i, k := range marks {
		_, found, err := w.direct.Get(t.Context(), k)
		noError(t, err)
		equal(t, "mark of "+k.SK, found, i == 3)
	}
	equal(t, "the intent", w.status(t, intent), wait)
	w.clock.pass(8 * 24 * time.Hour)
	n, err = w.desk.Expire(t.Context())
	equal(t, "ended beside the one nobody can read", n, 1)
	equal(t, "an error about it", err != nil, true)
	noError(t, w.direct.Commit(t.Context(), record.Change{Deletes: marks[3:]}))
	w.reconcile(t)
}

// refusing is a table in which one case cannot be written.
type refusing struct {
	record.Store
	of key.Key
}

// Commit refuses what changes the case.
func (r refusing) Commit(ctx context.Context, c record.Change) error {
	for _, put := range c.Puts {
		if put.Item.Key == r.of {
			return errors.New("refused")
		}
	}
	return r.Store.Commit(ctx, c)
}

// TestOneThatCannotEnd: behind more marks than one batch reads, one case cannot be
// ended, and all others are; the next sweep ends it.
func TestOneThatCannotEnd(t *testing.T) {
	w := newWorld(t, usual())
	for batch := range 5 { // a hundred and more in each partition, of nothing that is there
		var marks []record.Put
		for i := range 100 {
			marks = append(marks, record.Put{Item: record.Item{Key: key.Due(w.tenant, noon.Add(-time.Hour), "pi_"+seq(100*batch+i))}, Blind: true})
		}
		noError(t, w.direct.Commit(t.Context(), record.Change{Puts: marks}))
	}
	var names []string
	for i := range 12 {
		names = append(names, w.authorize(t, request("0.01", func(q *proposals.Request) { q.IdempotencyKey = seq(i) })).ID)
	}
	w.clock.pass(time.Hour)
	stuck := names[0]
	desk := w.over(refusing{w.direct, key.Ledger(w.tenant, id.Authorization, stuck)})
	n, err := desk.Expire(t.Context())
	equal(t, "ended", n, len(names)-1)
	if err == nil || !strings.Contains(err.Error(), stuck) {
		t.Errorf("error = %v, want one about %s", err, stuck)
	}
	equal(t, "the one", w.status(t, stuck), proposals.Authorized)
	equal(t, "the next sweep", w.sweep(t), 1)
	w.reconcile(t)
}

// TestUndoWhenFull: who has as much waiting as may wait is told so when an action
// of theirs would wait again, and not that the table is busy.
func TestUndoWhenFull(t *testing.T) {
	w := newWorld(t, usual())
	flagged := w.act(t, deed("flag_transaction")).ID
	moves := allowance.Subject{Tenant: w.tenant, Agent: "agt_1"}.Moves()
	moves.Wait()
	add := moves.Adds()[0]
	add.Deltas["open"].SetInt64(allowance.MaxOpen)
	noError(t, w.direct.Commit(t.Context(), record.Change{Adds: []record.Add{add}}))
	_, err := w.decide(t, w.member("mbr_ann"), proposals.Choice{Name: flagged, Decision: proposals.Undo})
	fails(t, err, fault.Conflict)
}
