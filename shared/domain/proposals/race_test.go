package proposals_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// held keeps back the first change of a case until it is let go: what it was
// decided on is old by then.
type held struct {
	record.Store
	of            key.Key
	once          sync.Once
	arrived, goes chan struct{}
}

// Commit waits with the first change of the case.
func (h *held) Commit(ctx context.Context, c record.Change) error {
	if slices.ContainsFunc(c.Puts, func(p record.Put) bool { return p.Item.Key == h.of }) {
		h.once.Do(func() {
			close(h.arrived)
			<-h.goes
		})
	}
	return h.Store.Commit(ctx, c)
}

// move is something done to a case.
type move struct {
	name string
	do   func(w *world, d *proposals.Desk, name string) error
}

func votes(who, decision string) move {
	return move{decision, func(w *world, d *proposals.Desk, name string) error {
		choice := proposals.Choice{Name: name, Decision: decision}
		var err error
		if kind, _ := proposals.KindOf(name); kind == id.Authorization {
			_, err = d.DecideAuthorization(context.Background(), w.member(who), "req", choice)
		} else {
			_, err = d.Decide(context.Background(), w.member(who), "req", choice)
		}
		return err
	}}
}

var (
	cancels = move{"cancel", func(w *world, d *proposals.Desk, name string) error {
		_, err := d.Cancel(context.Background(), w.agent("agt_1"), "req", name)
		return err
	}}
	expires = move{"expire", func(w *world, d *proposals.Desk, name string) error {
		w.clock.pass(8 * 24 * time.Hour)
		_, err := d.Expire(context.Background())
		return err
	}}
	uses = move{"use", func(w *world, d *proposals.Desk, name string) error {
		_, err := d.Propose(context.Background(), w.agent("agt_1"), "req", proposal("500.00", func(p *proposals.Proposal) {
			p.AuthorizationID = name
			p.IdempotencyKey = w.desk.Now().String() + "-" + seq(int(tenants.Add(1)))
		}))
		return err
	}}
	pauses = move{"pause", func(w *world, d *proposals.Desk, name string) error {
		_, err := d.Pause(context.Background(), w.tenant, operator, "req", name)
		return err
	}}
	dispatches = move{"dispatch", func(w *world, d *proposals.Desk, name string) error {
		_, err := d.Dispatch(context.Background(), w.tenant, operator, "req", name, lets(proposals.Dispatching))
		return err
	}}
)

// duel is two moves that are decided on the same state of a case: the late one
// is kept back until the other is done.
type duel struct {
	kind        id.Prefix
	roles       []string
	auto        bool // the case is approved at once
	late, early move
	code        fault.Code // of the late one
	status      proposals.Status
}

func duels() []duel {
	intent, token, action := id.PaymentIntent, id.Authorization, id.Proposal
	one, two := []string{"approver"}, []string{"approver", "approver"}
	ann, bob := votes("mbr_ann", "approve"), votes("mbr_bob", "approve")
	reject := votes("mbr_bob", "reject")
	return []duel{
		{kind: intent, roles: one, late: ann, early: cancels, code: fault.Conflict, status: proposals.Cancelled},
		{kind: intent, roles: one, late: cancels, early: ann, code: fault.Conflict, status: proposals.Approved},
		{kind: intent, roles: one, late: ann, early: bob, code: fault.Conflict, status: proposals.Approved},
		{kind: intent, roles: one, late: ann, early: ann, status: proposals.Approved}, // the same decision: harmless
		{kind: intent, roles: two, late: ann, early: bob, status: proposals.Approved},
		{kind: intent, roles: two, late: ann, early: ann, code: fault.SecondApprovalNeeded, status: proposals.AwaitingSecond},
		{kind: intent, roles: one, late: ann, early: reject, code: fault.Conflict, status: proposals.Rejected},
		{kind: intent, roles: one, late: reject, early: ann, status: proposals.Rejected}, // approved may be rejected
		{kind: intent, roles: one, late: ann, early: expires, code: fault.Conflict, status: proposals.Expired},
		{kind: intent, roles: one, late: cancels, early: expires, code: fault.Conflict, status: proposals.Expired},
		{kind: intent, roles: one, late: reject, early: cancels, code: fault.Conflict, status: proposals.Cancelled},
		{kind: intent, roles: one, late: cancels, early: cancels, status: proposals.Cancelled},
		{kind: intent, auto: true, late: reject, early: dispatches, code: fault.Conflict, status: proposals.Dispatching},
		{kind: intent, auto: true, late: pauses, early: dispatches, code: fault.Conflict, status: proposals.Dispatching},
		{kind: intent, auto: true, late: dispatches, early: reject, status: proposals.Rejected},
		{kind: intent, auto: true, late: dispatches, early: pauses, status: proposals.Paused},
		{kind: intent, auto: true, late: dispatches, early: dispatches, status: proposals.Dispatching},
		{kind: token, roles: one, late: ann, early: reject, code: fault.Conflict, status: proposals.Denied},
		{kind: token, roles: one, late: reject, early: ann, status: proposals.Revoked},
		{kind: token, roles: one, late: ann, early: expires, code: fault.Conflict, status: proposals.Expired},
		{kind: token, roles: one, late: ann, early: bob, code: fault.Conflict, status: proposals.Authorized},
		{kind: token, auto: true, late: uses, early: uses, code: fault.Conflict, status: proposals.Consumed},
		{kind: token, auto: true, late: uses, early: reject, code: fault.Conflict, status: proposals.Revoked},
		{kind: token, auto: true, late: uses, early: expires, code: fault.Conflict, status: proposals.Expired},
		{kind: token, auto: true, late: reject, early: uses, code: fault.Conflict, status: proposals.Consumed},
		{kind: action, roles: one, late: ann, early: votes("mbr_bob", "acknowledge"), code: fault.Conflict, status: proposals.Acknowledged},
		{kind: action, roles: one, late: votes("mbr_bob", "acknowledge"), early: ann, code: fault.Conflict, status: proposals.Approved},
		{kind: action, roles: one, late: reject, early: expires, code: fault.Conflict, status: proposals.Expired},
	}
}

// TestDecidedOnOldState: what was decided on a state that is gone is decided anew:
// one of the two wins, and what is counted moves once.
func TestDecidedOnOldState(t *testing.T) {
	for _, d := range duels() {
		t.Run(string(d.kind)+"/"+d.late.name+" after "+d.early.name, func(t *testing.T) {
			w, name := d.stage(t)
			h := &held{Store: w.direct, of: key.Ledger(w.tenant, d.kind, name), arrived: make(chan struct{}), goes: make(chan struct{})}
			slow := w.over(h)
			result := make(chan error, 1)
			go func() { result <- d.late.do(w, slow, name) }()
			select {
			case <-h.arrived:
			case err := <-result:
				t.Fatalf("%s did not come to the table: %v", d.late.name, err)
			}
			noError(t, d.early.do(w, w.desk, name))
			close(h.goes)
			fails(t, <-result, d.code)
			equal(t, "status", w.status(t, name), d.status)
			w.reconcile(t)
		})
	}
}

func (d duel) stage(t *testing.T) (*world, string) {
	law := confirming(d.roles...)
	if d.auto {
		law = usual()
	}
	w := newWorld(t, law)
	return w, w.fresh(t, d.kind)
}

// over is the world's desk over another store.
func (w *world) over(store record.Store) *proposals.Desk {
	desk, trail := *w.desk, *w.desk.Trail
	trail.Store = store
	desk.Store, desk.Trail = store, &trail
	return &desk
}

// TestAtOnce: the same without anybody held back, several times: whoever comes
// first, one of them wins, and the counters say so.
func TestAtOnce(t *testing.T) {
	ann, bob := votes("mbr_ann", "approve"), votes("mbr_bob", "reject")
	for _, c := range []struct {
		name  string
		moves []move
		kind  id.Prefix
		auto  bool
		wins  int // at most so many are answered without an error; the fewest is one
		ends  []proposals.Status
	}{
		{"approve and cancel", []move{ann, cancels}, id.PaymentIntent, false, 1, []proposals.Status{proposals.Approved, proposals.Cancelled}},
		{"three approvals", []move{ann, votes("mbr_bob", "approve"), votes("mbr_cat", "approve")}, id.PaymentIntent, false, 1, []proposals.Status{proposals.Approved}},
		{"reject and cancel", []move{bob, cancels}, id.PaymentIntent, false, 1, []proposals.Status{proposals.Rejected, proposals.Cancelled}},
		{"four uses", []move{uses, uses, uses, uses}, id.Authorization, true, 1, []proposals.Status{proposals.Consumed}},
		{"use and revoke", []move{uses, bob}, id.Authorization, true, 1, []proposals.Status{proposals.Consumed, proposals.Revoked}},
		{"dispatch and reject", []move{dispatches, bob}, id.PaymentIntent, true, 2, []proposals.Status{proposals.Dispatching, proposals.Rejected}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, _ := duel{kind: c.kind, roles: []string{"approver"}, auto: c.auto}.stage(t)
			for range 5 {
				w.clock.pass(11 * time.Minute)
				name := w.fresh(t, c.kind)
				errs := make([]error, len(c.moves))
				var all sync.WaitGroup
				for i, m := range c.moves {
					all.Go(func() { errs[i] = m.do(w, w.desk, name) })
				}
				all.Wait()
				won := 0
				for _, err := range errs {
					if err == nil {
						won++
					} else {
						fails(t, err, fault.Conflict)
					}
				}
				if status := w.status(t, name); won < 1 || won > c.wins || !slices.Contains(c.ends, status) {
					t.Errorf("%d won, and it is %s: %v", won, status, errs)
				}
			}
			w.reconcile(t)
		})
	}
}
