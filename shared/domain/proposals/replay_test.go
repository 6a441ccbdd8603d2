package proposals_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

func keyed(key string) func(*proposals.Proposal) {
	return func(p *proposals.Proposal) { p.IdempotencyKey = key }
}

// TestSameKey: a key stands for its arguments, which are compared as values.
func TestSameKey(t *testing.T) {
	wallet := "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	for _, c := range []struct {
		name     string
		first    func(*proposals.Proposal)
		again    func(*proposals.Proposal)
		conflict bool
	}{
		{"the same", nil, nil, false},
		{"100 is 100.00", nil, func(p *proposals.Proposal) { p.Amount = "100" }, false},
		{"100.0 is 100.00", nil, func(p *proposals.Proposal) { p.Amount = "100.0" }, false},
		{"no evidence is an empty list of it", nil, func(p *proposals.Proposal) { p.EvidenceIDs = []string{} }, false},
		{"an address with and without its checksum",
			func(p *proposals.Proposal) {
				of(payments.X402Settle, "acct_usdc", "USDC")(p)
				p.Amount, p.PayTo = "1", &wallet
			},
			func(p *proposals.Proposal) { p.PayTo = ptr("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed") }, false},
		{"another amount", nil, func(p *proposals.Proposal) { p.Amount = "100.01" }, true},
		{"another payee", nil, to("cp_gcp"), true},
		{"another account", nil, func(p *proposals.Proposal) { p.SourceAccountID = "acct_usd2" }, true},
		{"another type", nil, func(p *proposals.Proposal) { p.ActionType = payments.CardPayment }, true},
		{"a memo", nil, func(p *proposals.Proposal) { p.Memo = ptr("x") }, true},
		{"an empty memo is not none", nil, func(p *proposals.Proposal) { p.Memo = ptr("") }, true},
		{"an obligation", nil, func(p *proposals.Proposal) { p.ObligationID = ptr("obl_open") }, true},
		{"an invoice", nil, func(p *proposals.Proposal) { p.InvoiceID = ptr("inv_open") }, true},
		{"evidence", nil, func(p *proposals.Proposal) { p.EvidenceIDs = []string{"tx_1"} }, true},
		{"an authorization", nil, func(p *proposals.Proposal) { p.AuthorizationID = "authz_1" }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, usual())
			p := proposal("100.00", keyed("k"))
			if c.first != nil {
				c.first(&p)
			}
			first := w.propose(t, p)
			w.clock.pass(47 * time.Hour)
			if c.again != nil {
				c.again(&p)
			}
			second, err := w.desk.Propose(t.Context(), w.agent("agt_1"), "req-2", p)
			if c.conflict {
				fails(t, err, fault.Conflict)
			} else {
				noError(t, err)
				equal(t, "id", second.ID, first.ID)
				equal(t, "replayed", second.Replayed, true)
				equal(t, "the first was replayed", first.Replayed, false)
				equal(t, "decision", second.Decision.ID, first.Decision.ID)
				equal(t, "hash", second.Hash, first.Hash)
			}
			w.one(t)
			w.reconcile(t)
		})
	}
}

// TestWhatCountsApart: agents and tools have keys of their own, and a key is not
// the same as none.
func TestWhatCountsApart(t *testing.T) {
	w := newWorld(t, usual())
	p, q, d := proposal("100.00", keyed("k")), request("100.00"), deed("propose_match")
	q.IdempotencyKey, d.IdempotencyKey = "k", "k"
	ids := map[string]bool{}
	for range 2 {
		ids[w.propose(t, p).ID] = true
		ids[w.authorize(t, q).ID] = true
		ids[w.act(t, d).ID] = true
		ids[w.propose(t, proposal("100.00")).ID] = true
		ids[w.propose(t, proposal("100.00", keyed("K"))).ID] = true
		other, err := w.desk.Propose(t.Context(), w.agent("agt_2"), "req", p)
		noError(t, err)
		ids[other.ID] = true
	}
	equal(t, "cases", len(ids), 6)
	other := newWorld(t, usual())
	if ids[other.propose(t, p).ID] {
		t.Error("another tenant's proposal is answered")
	}
	w.reconcile(t)
}

// Without a key what is identical is the first one for ten minutes, to the
// second; a key is remembered for more than a day.
func TestHowLong(t *testing.T) {
	for _, c := range []struct {
		key   string
		after time.Duration
		same  bool
	}{
		{"", 0, true}, {"", 10*time.Minute - time.Second, true}, {"", 10 * time.Minute, false}, {"", time.Hour, false},
		{"k", 24 * time.Hour, true}, {"k", 48*time.Hour - time.Second, true}, {"k", 48 * time.Hour, false},
	} {
		t.Run(fmt.Sprintf("%q after %s", c.key, c.after), func(t *testing.T) {
			w := newWorld(t, usual())
			first := w.propose(t, proposal("100.00", keyed(c.key)))
			w.clock.pass(c.after)
			second := w.propose(t, proposal("100", keyed(c.key)))
			equal(t, "the first one", second.ID == first.ID, c.same)
			equal(t, "replayed", second.Replayed, c.same)
			third := w.propose(t, proposal("100.0", keyed(c.key)))
			equal(t, "the third is the second", third.ID, second.ID)
			w.reconcile(t)
		})
	}
}

// A replay shows the first one as it stands now, and a rejected one is one too.
func TestReplayShowsToday(t *testing.T) {
	w := newWorld(t, usual())
	first := w.propose(t, proposal("5000.00", keyed("k")))
	w.must(t, w.member("mbr_ann"), first.ID, proposals.Approve)
	second := w.propose(t, proposal("5000.00", keyed("k")))
	equal(t, "status", second.Status, proposals.Approved)
	equal(t, "approvals", len(second.Approvals), 1)
	rejected := w.propose(t, proposal("1.00", to("cp_new"), keyed("r")))
	equal(t, "status", rejected.Status, proposals.Rejected)
	equal(t, "rejected once", w.propose(t, proposal("1.00", to("cp_new"), keyed("r"))).ID, rejected.ID)
	w.reconcile(t)
}

// A dry run neither is found again nor finds anything.
func TestDryRunLeavesNothing(t *testing.T) {
	w := newWorld(t, usual())
	dry := proposal("100.00", keyed("k"), func(p *proposals.Proposal) { p.DryRun = true })
	made := w.tableSize(t)
	a := w.propose(t, dry)
	equal(t, "id", a.ID, "")
	equal(t, "dry run", a.DryRun, true)
	equal(t, "status", a.Status, proposals.Approved)
	equal(t, "outcome", a.Decision.Outcome, "auto")
	equal(t, "decision id", a.Decision.ID, "")
	equal(t, "items", w.tableSize(t), made)
	first := w.propose(t, proposal("100.00", keyed("k")))
	equal(t, "replayed", first.Replayed, false)
	equal(t, "a dry run of what is there", w.propose(t, dry).Replayed, false)
	w.reconcile(t)
}

// tableSize counts what a proposal could have left: cases, events and marks.
func (w *world) tableSize(t *testing.T) int {
	t.Helper()
	return len(w.cases(t)) + len(w.everything(t))
}

// TestLostAndSentAgain: under every short series of mishaps a call that is
// repeated until it is answered makes one case, moves the counters once and has
// one set of events; also without a key, and with and without the SDK's retries.
func TestLostAndSentAgain(t *testing.T) {
	mishaps := []fate{lost, unsent, collides, overtaken, throttled, failsInside}
	var series [][]fate
	for _, a := range mishaps {
		series = append(series, []fate{a})
		for _, b := range mishaps {
			series = append(series, []fate{a, b})
		}
	}
	series = append(series, []fate{lost, lost, lost, lost}, []fate{lost, unsent, lost, overtaken, lost}, []fate{collides, collides, lost, collides, collides, collides, collides, collides})
	once, retrying := &weather{}, &weather{}
	w := newWorld(t, usual())
	for i, sky := range []*weather{once, retrying} {
		option := retrying.through
		if i == 0 {
			option = once.once
		}
		desk := w.over(engine.Table(option))
		for n, fates := range series {
			t.Run(fmt.Sprint(i, fates), func(t *testing.T) {
				w.clock.pass(11 * time.Minute)
				p := proposal(fmt.Sprintf("0.%02d", 1+n%50), keyed(map[bool]string{true: fmt.Sprint("k", i, n)}[n%2 == 0]))
				before := sky.made.Load()
				sky.mu.Lock()
				sky.fates = script(fates...)
				sky.mu.Unlock()
				a := untilAnswered(t, func() (proposals.Answer, error) { return desk.Propose(t.Context(), w.agent("agt_1"), "req", p) })
				if made := sky.made.Load() - before; made != 1 && made != 2 { // the second takes the events out of the outbox
					t.Errorf("%d transactions were made", made)
				}
				told := w.everything(t)[a.ID]
				if len(told) != 2 || told[0].Action != "payment_intent.proposed" || told[1].Action != "payment_intent.approved" {
					t.Errorf("events: %v", told)
				}
			})
		}
	}
	equal(t, "cases", len(w.cases(t)), 2*len(series))
	w.reconcile(t)
}

// untilAnswered repeats a call while nothing can be reached.
func untilAnswered[T any](t *testing.T, call func() (T, error)) T {
	t.Helper()
	for range 20 {
		out, err := call()
		if err == nil {
			return out
		}
		if !fault.Is(err, fault.DependencyUnavailable) {
			t.Fatalf("error = %v", err)
		}
	}
	t.Fatal("no answer in 20 calls")
	panic("unreachable")
}

// TestDecisionsSentAgain: a person's decision, a cancellation and an authorization
// as well.
func TestDecisionsSentAgain(t *testing.T) {
	for _, fates := range [][]fate{{lost}, {lost, lost}, {unsent, lost}, {overtaken}, {collides, lost}, {lost, overtaken}, {lost, collides}} {
		t.Run(fmt.Sprint(fates), func(t *testing.T) {
			sky := &weather{}
			w := newWorld(t, usual())
			desk := w.over(engine.Table(sky.once))
			storm := func() {
				sky.mu.Lock()
				defer sky.mu.Unlock()
				sky.fates = script(fates...)
			}
			pending := w.propose(t, proposal("5000.00")).ID
			storm()
			d := untilAnswered(t, func() (proposals.Decided, error) {
				return desk.Decide(t.Context(), w.member("mbr_ann"), "req", proposals.Choice{Name: pending, Decision: proposals.Approve})
			})
			equal(t, "approvals", len(d.Approvals), 1)
			other := w.propose(t, proposal("6000.00")).ID
			storm()
			c := untilAnswered(t, func() (proposals.Case, error) { return desk.Cancel(t.Context(), w.agent("agt_1"), "req", other) })
			equal(t, "cancelled", c.Status, proposals.Cancelled)
			storm()
			token := untilAnswered(t, func() (proposals.Answer, error) {
				return desk.Authorize(t.Context(), w.agent("agt_1"), "req", request("70.00"))
			})
			storm()
			used := untilAnswered(t, func() (proposals.Answer, error) {
				return desk.Propose(t.Context(), w.agent("agt_1"), "req", proposal("70.00", func(p *proposals.Proposal) { p.AuthorizationID = token.ID }))
			})
			equal(t, "used", *used.AuthorizationID, token.ID)
			equal(t, "consumed", w.status(t, token.ID), proposals.Consumed)
			equal(t, "cases", len(w.cases(t)), 4)
			w.reconcile(t)
			w.eventsAgree(t)
		})
	}
}

// TestManyAtOnce: eight identical calls at once are one, with a key and without,
// and of every tool.
func TestManyAtOnce(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, w *world) (proposals.Answer, error){
		"propose with a key": func(ctx context.Context, w *world) (proposals.Answer, error) {
			return w.desk.Propose(ctx, w.agent("agt_1"), "req", proposal("100.00", keyed("k")))
		},
		"propose": func(ctx context.Context, w *world) (proposals.Answer, error) {
			return w.desk.Propose(ctx, w.agent("agt_1"), "req", proposal("5000.00"))
		},
		"authorize": func(ctx context.Context, w *world) (proposals.Answer, error) {
			return w.desk.Authorize(ctx, w.agent("agt_1"), "req", request("100.00"))
		},
		"act": func(ctx context.Context, w *world) (proposals.Answer, error) {
			return w.desk.Act(ctx, w.agent("agt_1"), "req", deed("propose_match"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, usual())
			var answers [8]proposals.Answer
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() {
					var err error
					if answers[i], err = call(t.Context(), w); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			one, made := w.one(t), 0
			for _, a := range answers {
				equal(t, "id", a.ID, one.ID)
				if !a.Replayed {
					made++
				}
			}
			equal(t, "answers of who made it", made, 1)
			w.reconcile(t)
			w.eventsAgree(t)
		})
	}
}
