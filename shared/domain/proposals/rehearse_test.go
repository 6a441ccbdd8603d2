package proposals_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// rehearsed judges the world's proposals by a document, in words.
func (w *world) rehearsed(t *testing.T, law policy.Document, from, until time.Time) string {
	t.Helper()
	var all []string
	left, err := w.desk.Rehearse(t.Context(), w.tenant, law, from, until, func(r proposals.Rehearsed) {
		all = append(all, fmt.Sprintf("%s %s %s", r.Amount, r.Then, r.Now))
	})
	noError(t, err)
	equal(t, "left out", left, 0)
	return strings.Join(all, ", ")
}

// A day of proposals, in the order they were made, under other policies: the same
// one decides the same, a lower limit asks people about those between, and nothing
// is changed by asking.
func TestRehearse(t *testing.T) {
	w := newWorld(t, usual())
	begin := w.clock.now()
	for _, amount := range []string{"400.00", "600.00", "1500.00"} {
		w.propose(t, proposal(amount))
		w.clock.pass(time.Hour)
	}
	end := w.clock.now()
	equal(t, "the same policy", w.rehearsed(t, usual(), begin, end), "400.00 auto auto, 600.00 auto auto, 1500.00 confirm confirm")
	lower := usual()
	lower.Rules[0].When.AmountLTE, lower.Rules[1].When.AmountGT = sum("500.00", "USD"), sum("500.00", "USD")
	equal(t, "half the limit", w.rehearsed(t, lower, begin, end), "400.00 auto auto, 600.00 auto confirm, 1500.00 confirm confirm")
	equal(t, "no rule", w.rehearsed(t, lawOf(), begin, end), "400.00 auto reject, 600.00 auto reject, 1500.00 confirm reject")
	equal(t, "from the second on", w.rehearsed(t, usual(), begin.Add(time.Minute), end), "600.00 auto auto, 1500.00 confirm confirm")
	equal(t, "before the third", w.rehearsed(t, usual(), begin, begin.Add(90*time.Minute)), "400.00 auto auto, 600.00 auto auto")
	equal(t, "a world without any", newWorld(t, usual()).rehearsed(t, usual(), begin, end), "")
}

// Caps stand as this policy would have let them: what it turns away promised
// nothing, what was cancelled gave back when it was, what a window has left behind
// does not count, and what came before the time asked for does.
func TestRehearseCaps(t *testing.T) {
	daily := func(limit string) policy.Document {
		law := usual()
		law.Rules = append(law.Rules, policy.Rule{ID: "day", AppliesTo: outbound, Execute: policy.Reject, When: policy.When{
			SpendInWindow: &policy.SpendCap{Window: policy.Day, Per: policy.PerAgent, GT: sum(limit, "USD")},
		}})
		return law
	}
	w := newWorld(t, usual())
	begin := w.clock.now()
	w.propose(t, proposal("900.00"))
	w.clock.pass(time.Hour)
	second := w.propose(t, proposal("1200.00")) // waits for a person
	w.clock.pass(time.Hour)
	third := w.clock.now()
	w.propose(t, proposal("800.00"))
	w.clock.pass(time.Hour)
	_, err := w.desk.Cancel(t.Context(), w.agent("agt_1"), "req-1", second.Case.ID)
	noError(t, err)
	w.clock.pass(time.Hour)
	w.propose(t, proposal("700.00"))
	w.clock.pass(21 * time.Hour) // 25 hours after the first
	w.propose(t, proposal("600.00"))
	w.clock.pass(time.Minute)
	end := w.clock.now()
	for limit, want := range map[string]string{
		// 900; 2100 with the second, so it is turned away; 1700; 2400 over; the first is
		// a day back: 800+600.
		"2000.00": "900.00 auto auto, 1200.00 confirm reject, 800.00 auto auto, 700.00 auto reject, 600.00 auto auto",
		// 2900 with the third is over; the second has given back by the fourth: 900+700.
		"2500.00": "900.00 auto auto, 1200.00 confirm confirm, 800.00 auto reject, 700.00 auto auto, 600.00 auto auto",
		"9000.00": "900.00 auto auto, 1200.00 confirm confirm, 800.00 auto auto, 700.00 auto auto, 600.00 auto auto",
	} {
		equal(t, limit, w.rehearsed(t, daily(limit), begin, end), want)
	}
	equal(t, "an authorization promises too", func() string {
		w := newWorld(t, usual())
		begin := w.clock.now()
		w.authorize(t, request("900.00"))
		w.clock.pass(time.Minute)
		w.propose(t, proposal("700.00"))
		return w.rehearsed(t, daily("1500.00"), begin, w.clock.now().Add(time.Minute))
	}(), "700.00 auto reject")
	equal(t, "what uses an authorization is promised once", func() string {
		w := newWorld(t, usual())
		begin := w.clock.now()
		granted := w.authorize(t, request("600.00"))
		w.clock.pass(time.Minute)
		w.propose(t, proposal("600.00", func(p *proposals.Proposal) { p.AuthorizationID = granted.Case.ID }))
		w.clock.pass(time.Minute)
		w.propose(t, proposal("300.00"))
		return w.rehearsed(t, daily("1000.00"), begin, w.clock.now().Add(time.Minute))
	}(), "600.00 auto auto, 300.00 auto auto")
	equal(t, "what a second look turned away is given back", func() string {
		w := newWorld(t, usual())
		begin := w.clock.now()
		waits := w.propose(t, proposal("1600.00"))
		w.clock.pass(time.Minute)
		w.activate(t, lawOf(policy.Rule{ID: "nothing", AppliesTo: anything, Execute: policy.Reject}))
		_, err := w.decide(t, w.member("mbr_1"), proposals.Choice{Name: waits.Case.ID, Decision: "approve"})
		if status := w.status(t, waits.Case.ID); status != proposals.Rejected {
			t.Fatalf("%s after the second look: %v", status, err)
		}
		w.activate(t, usual())
		w.clock.pass(time.Minute)
		w.propose(t, proposal("700.00"))
		return w.rehearsed(t, daily("2000.00"), begin, w.clock.now().Add(time.Minute))
	}(), "1600.00 confirm confirm, 700.00 auto auto")
	equal(t, "what came before", w.rehearsed(t, daily("2500.00"), third, third.Add(time.Minute)), "800.00 auto reject")
}

// A payee is judged as it was then, and a payment that always needs a person is one
// here too.
func TestRehearseFacts(t *testing.T) {
	w := newWorld(t, usual())
	begin := w.clock.now()
	w.propose(t, proposal("400.00"))
	w.clock.pass(time.Minute)
	w.write(t, party("cp_aws", func(c *ledger.Counterparty) { c.VerifiedStatus = "unverified" }))
	equal(t, "the payee of then", w.rehearsed(t, usual(), begin, w.clock.now()), "400.00 auto auto")
}
