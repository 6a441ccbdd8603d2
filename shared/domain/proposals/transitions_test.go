package proposals_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// statuses are all there are, of every kind of case.
var statuses = []proposals.Status{
	proposals.Proposed, proposals.Pending, proposals.AwaitingSecond, proposals.Approved, proposals.Paused, proposals.Dispatching, proposals.Executed,
	proposals.Failed, proposals.Rejected, proposals.Cancelled, proposals.Expired, proposals.Authorized, proposals.Denied, proposals.Consumed,
	proposals.Revoked, proposals.Acknowledged,
}

// doing is everything that can be done to a case, by name. steps are what
// executions try to make of it.
func doing(t *testing.T, w *world, name, maker string, steps []proposals.Status) map[string]func() error {
	ops := map[string]func() error{}
	for _, choice := range proposals.Choices {
		ops[choice] = func() error {
			_, err := w.decide(t, w.member("mbr_ann"), proposals.Choice{Name: name, Decision: choice})
			return err
		}
	}
	ops["cancel"] = func() error { _, err := w.desk.Cancel(t.Context(), w.agent(maker), "req", name); return err }
	ops["pause"] = func() error { _, err := w.desk.Pause(t.Context(), w.tenant, operator, "req", name); return err }
	ops["resume"] = func() error { _, err := w.desk.Resume(t.Context(), w.tenant, operator, "req", name); return err }
	ops["stop"] = func() error { _, err := w.desk.Stop(t.Context(), w.tenant, operator, "req", name); return err }
	ops["expire"] = func() error { _, err := w.desk.Expire(t.Context()); return err }
	ops["use"] = func() error {
		_, err := w.desk.Propose(t.Context(), w.agent(maker), "req", proposal("500.00", func(p *proposals.Proposal) { p.AuthorizationID = name }))
		return err
	}
	for _, to := range steps {
		ops["dispatch to "+string(to)] = func() error {
			_, err := w.desk.Dispatch(t.Context(), w.tenant, operator, "req", name, lets(to))
			return err
		}
		ops["settle as "+string(to)] = func() error {
			_, err := w.desk.Settle(t.Context(), w.tenant, operator, "req", name, func(proposals.Case) (proposals.Step, error) { return outcome(to), nil })
			return err
		}
	}
	return ops
}

// staged puts a case as it once was into a state, past all that leads there, with
// the mark of its expiry where the state has one.
func (w *world) staged(t *testing.T, old record.Item, status proposals.Status, expired bool) {
	t.Helper()
	var body map[string]any
	noError(t, json.Unmarshal(old.Body, &body))
	body["status"], body["expires_at"], body["approvals"] = status, nil, []any{}
	puts := []record.Put{}
	if slices.Contains(expiring, status) {
		at := w.clock.now().Add(time.Hour)
		if expired {
			at = w.clock.now().Add(-time.Hour)
		}
		body["expires_at"] = at.Format(audit.TimeForm)
		puts = append(puts, record.Put{Item: record.Item{Key: key.Due(w.tenant, at, body["id"].(string))}, Blind: true})
	}
	raw, err := json.Marshal(body)
	noError(t, err)
	item := old
	item.Body = raw
	noError(t, w.direct.Commit(t.Context(), record.Change{Puts: append(puts, record.Put{Item: item, Blind: true})}))
}

// TestOnlyTheTablesTransitions: from every state, whatever is done, a case stays
// where it is or goes where its table says; and each transition of the tables is
// somebody's to make.
func TestOnlyTheTablesTransitions(t *testing.T) {
	for _, kind := range []id.Prefix{id.PaymentIntent, id.Authorization, id.Proposal} {
		t.Run(string(kind), func(t *testing.T) {
			reached := map[string]bool{}
			for _, roles := range [][]string{{"approver"}, {"approver", "approver"}} {
				newWorld(t, confirming(roles...)).tryAll(t, kind, reached)
			}
			for from, tos := range lives[kind] {
				for _, to := range tos {
					// No case is stored as proposed.
					if from != proposals.Proposed && !reached[fmt.Sprintf("%s>%s", from, to)] {
						t.Errorf("nothing makes what is %s become %s", from, to)
					}
				}
			}
		})
	}
}

// tryAll does everything to a case in every state, and notes what became of what.
func (w *world) tryAll(t *testing.T, kind id.Prefix, reached map[string]bool) {
	t.Helper()
	name := w.fresh(t, kind)
	old, _, err := w.direct.Get(t.Context(), key.Ledger(w.tenant, kind, name))
	noError(t, err)
	// A policy that wants two people changes only what an approval leads to.
	froms, steps := statuses, []proposals.Status{proposals.Dispatching}
	if len(reached) > 0 {
		froms = []proposals.Status{proposals.Pending, proposals.AwaitingSecond}
	}
	if kind == id.PaymentIntent && len(reached) == 0 {
		steps = statuses
	}
	for _, from := range froms {
		for what, do := range doing(t, w, name, "agt_1", steps) {
			w.staged(t, old, from, what == "expire")
			err := do()
			got := w.status(t, name)
			if got == from {
				continue
			}
			reached[fmt.Sprintf("%s>%s", from, got)] = true
			if err != nil {
				t.Errorf("%s of what is %s fails, and it is %s: %v", what, from, got, err)
			}
			if !slices.Contains(lives[kind][from], got) {
				t.Errorf("%s makes what is %s become %s", what, from, got)
			}
		}
	}
}

// fresh makes a case of a kind.
func (w *world) fresh(t *testing.T, kind id.Prefix) string {
	t.Helper()
	switch kind {
	case id.PaymentIntent:
		return w.propose(t, proposal("500.00")).ID
	case id.Authorization:
		return w.authorize(t, request("500.00")).ID
	}
	return w.act(t, deed("propose_match")).ID
}
