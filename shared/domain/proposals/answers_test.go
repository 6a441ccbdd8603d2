package proposals_test

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// wallet is where payments over HTTP go.
const wallet = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

// by is a payment of each type that is well formed.
func by(kind payments.ActionType, amount string) func(*proposals.Proposal) {
	return func(p *proposals.Proposal) {
		p.ActionType, p.Amount = kind, amount
		switch kind {
		case payments.OnchainTransfer, payments.X402Settle, payments.EscrowRelease:
			p.SourceAccountID, p.Currency = "acct_usdc", "USDC"
		}
		switch kind {
		case payments.X402Settle:
			p.PayTo = ptr(wallet)
		case payments.EscrowRelease:
			p.EscrowID, p.JobTermsHash = ptr("esc-1"), ptr("0x"+strings.Repeat("ab", 32))
		}
	}
}

// TestRejectIsAnAnswer: what the policy says no to is kept with the reasons, and
// promises nothing.
func TestRejectIsAnAnswer(t *testing.T) {
	w := newWorld(t, usual())
	pay := w.propose(t, proposal("10.00", to("cp_new")))
	ask := w.authorize(t, request("10.00", func(q *proposals.Request) { q.DestinationCounterpartyID = "cp_new" }))
	act := w.act(t, deed("delete_everything"))
	for what, c := range map[string]struct {
		answer proposals.Answer
		status proposals.Status
		rule   string
	}{"payment": {pay, no, "unverified"}, "authorization": {ask, proposals.Denied, "unverified"}, "action": {act, no, "unverified"}} {
		equal(t, what, c.answer.Status, c.status)
		equal(t, what+": outcome", c.answer.Decision.Outcome, policy.Reject)
		equal(t, what+": kept decision", *c.answer.PolicyDecisionID, c.answer.Decision.ID)
		if !slices.Contains(c.answer.Decision.Matched, c.rule) || len(c.answer.Decision.Trace) < len(w.law.Rules) {
			t.Errorf("%s: matched %v, trace of %d rules", what, c.answer.Decision.Matched, len(c.answer.Decision.Trace))
		}
		if c.answer.ExpiresAt != nil || len(c.answer.Decision.Approvers) != 0 {
			t.Errorf("%s expires at %v and waits for %v", what, c.answer.ExpiresAt, c.answer.Decision.Approvers)
		}
	}
	for _, k := range []key.Key{key.Promises(w.tenant, "agent", "agt_1"), key.Promises(w.tenant, "counterparty", "cp_new"), key.Promises(w.tenant, "tenant", "")} {
		if item, found, err := w.direct.Get(t.Context(), k); err != nil || found {
			t.Errorf("%s is counted: %v (%v)", k.PK, item.Numbers, err)
		}
	}
	w.reconcile(t)
	w.eventsAgree(t)
}

// Without a valid policy everything is denied, and that is an answer too.
func TestNoPolicyDenies(t *testing.T) {
	w := newWorld(t, usual())
	noError(t, w.direct.Commit(t.Context(), record.Change{Deletes: []key.Key{key.PolicyHead(w.tenant)}}))
	a := w.propose(t, proposal("1.00"))
	equal(t, "status", a.Status, no)
	if reason := a.Decision.Trace[0].Conditions[0].Reason; !strings.Contains(reason, "gone") {
		t.Errorf("reason: %s", reason)
	}
	w.reconcile(t)
}

// enforce puts a signed policy in force that no lint has seen: one of a time
// before today's rules.
func (w *world) enforce(t *testing.T, law policy.Document) {
	t.Helper()
	law.Version = w.law.Version + 1
	raw, err := json.Marshal(law)
	noError(t, err)
	sum, err := policy.Hash(raw)
	noError(t, err)
	signature, err := tx.SignDigest(t.Context(), w.signer, w.desk.Policies.Domain.Digest(w.tenant, law.Version, sum))
	noError(t, err)
	hash := hex.EncodeToString(sum[:])
	put := func(k key.Key, v any) record.Put {
		body, err := json.Marshal(v)
		noError(t, err)
		return record.Put{Item: record.Item{Key: k, Body: body}, Blind: true}
	}
	head := map[string]any{"version": law.Version, "hash": hash}
	noError(t, w.direct.Commit(t.Context(), record.Change{Puts: []record.Put{
		put(key.PolicyHead(w.tenant), head), put(key.PolicyMark(w.tenant), head),
		put(key.PolicyVersion(w.tenant, law.Version), charter.Version{Version: law.Version, Hash: hash, Document: raw, Signatures: []charter.Signature{signature}}),
	}}))
	w.law = law
}

// TestHumanFloor: what must always have a person has one, whatever the policy
// says, and x402 passes alone only by a rule with a cap.
func TestHumanFloor(t *testing.T) {
	auto := policy.Rule{ID: "auto", AppliesTo: anything, Execute: policy.Auto}
	amount, spend, count := auto, auto, auto
	amount.When.AmountLTE = sum("100", "USDC")
	spend.When.SpendInWindow = &policy.SpendCap{Window: policy.Day, Per: policy.PerAgent, LTE: sum("100", "USDC")}
	count.When.CountInWindow = &policy.CountCap{Window: policy.Day, Per: policy.PerAgent, LTE: ptr(int64(5))}
	elsewhere := lawOf(auto, policy.Rule{ID: "capped", AppliesTo: outbound, Execute: policy.Auto, When: policy.When{AmountLTE: sum("100", "USDC")}})
	for _, c := range []struct {
		name  string
		kind  payments.ActionType
		law   policy.Document
		waits bool
	}{
		{"ach", payments.ACHOutbound, lawOf(auto), false},
		{"card", payments.CardPayment, lawOf(auto), false},
		{"collecting", payments.ACHInbound, lawOf(auto), false},
		{"the books", payments.ERPWriteback, lawOf(auto), false},
		{"wire", payments.Wire, lawOf(auto), true},
		{"transfer", payments.OnchainTransfer, lawOf(amount), true},
		{"escrow", payments.EscrowRelease, lawOf(amount), true},
		{"x402 without a cap", payments.X402Settle, lawOf(auto), true},
		{"x402 by a count alone", payments.X402Settle, lawOf(count), true},
		{"x402 under an amount", payments.X402Settle, lawOf(amount), false},
		{"x402 under a spend cap", payments.X402Settle, lawOf(spend), false},
		{"x402 by a cap on something else", payments.X402Settle, elsewhere, true},
		{"x402 by one with and one without", payments.X402Settle, lawOf(policy.Rule{ID: "a", AppliesTo: anything, Execute: policy.Auto}, amount), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, usual())
			w.enforce(t, c.law)
			p := proposal("1", by(c.kind, "10"))
			want, approvers := proposals.Approved, 0
			if c.waits {
				want, approvers = wait, 1
			}
			a := w.propose(t, p)
			equal(t, "status", a.Status, want)
			equal(t, "floor", a.Decision.HumanFloor, c.waits)
			equal(t, "people", len(a.Decision.Approvers), approvers)
			ask := w.authorize(t, proposals.Request{Payment: p.Payment, Purpose: "it", ExpiresIn: proposals.MinExpiry})
			equal(t, "an authorization waits", ask.Status == wait, c.waits)
			if c.waits {
				equal(t, "after an approval", w.must(t, w.member("mbr_ann"), a.ID, proposals.Approve).Status, proposals.Approved)
			}
			w.reconcile(t)
		})
	}
}

// TestAuthorizationsApprovals: people who approved an authorization have approved
// the payment made by it, for the policy's confirm and for the floor, as long as
// it is the same payee as they saw and the same policy.
func TestAuthorizationsApprovals(t *testing.T) {
	ask, two := confirming("approver"), confirming("approver", "approver")
	for _, c := range []struct {
		name   string
		law    policy.Document
		kind   payments.ActionType
		people int
		first  func(*world) // between the approvals and the payment
		status proposals.Status
		used   proposals.Status // the authorization, afterwards
	}{
		{"the policy's confirm", ask, payments.ACHOutbound, 1, nil, yes, proposals.Consumed},
		{"the policy's two", two, payments.ACHOutbound, 2, nil, yes, proposals.Consumed},
		{"the floor", usualFor("5000.00"), payments.Wire, 1, nil, yes, proposals.Consumed},
		{"the policy now asks for two", ask, payments.ACHOutbound, 1, lawIs(t, two), wait, proposals.Consumed},
		{"the policy is another with the same rules", ask, payments.ACHOutbound, 1, lawIs(t, ask), wait, proposals.Consumed},
		{"the policy now lets it pass", ask, payments.ACHOutbound, 1, lawIs(t, usualFor("5000.00")), yes, proposals.Consumed},
		{"the policy now says no", ask, payments.ACHOutbound, 1, lawIs(t, lawOf(policy.Rule{ID: "no", AppliesTo: anything, Execute: policy.Reject, When: policy.When{AmountGT: sum("0", "USD")}})), no, proposals.Authorized},
		{"nobody approved it, and the policy now asks", usualFor("5000.00"), payments.ACHOutbound, 0, lawIs(t, ask), wait, proposals.Consumed},
		{"the payee's details changed since", ask, payments.ACHOutbound, 1, moved(t), wait, proposals.Consumed},
		{"the payee's details changed since, under the floor", usualFor("5000.00"), payments.Wire, 1, moved(t), wait, proposals.Consumed},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.law)
			p := proposal("1", by(c.kind, "400.00"))
			q := w.authorize(t, proposals.Request{Payment: p.Payment, Purpose: "it", ExpiresIn: proposals.MaxExpiry})
			for i := range c.people {
				w.must(t, w.member("mbr_"+seq(i)), q.ID, proposals.Approve)
			}
			equal(t, "authorized", w.status(t, q.ID), proposals.Authorized)
			if c.first != nil {
				c.first(w)
			}
			p.AuthorizationID = q.ID
			a := w.propose(t, p)
			equal(t, "payment", a.Status, c.status)
			equal(t, "authorization", w.status(t, q.ID), c.used)
			w.reconcile(t)
		})
	}
}

// The held amount is not counted twice: under a cap that fits it once, the
// payment made by it passes.
func TestHeldAmountIsTheSame(t *testing.T) {
	w := newWorld(t, lawOf(policy.Rule{ID: "cap", AppliesTo: outbound, Execute: policy.Auto, When: policy.When{
		SpendInWindow: &policy.SpendCap{Window: policy.Day, Per: policy.PerAgent, LTE: sum("100.00", "USD")},
	}}))
	q := w.authorize(t, request("80.00"))
	equal(t, "another 30", w.propose(t, proposal("30.00")).Status, no)
	a := w.propose(t, proposal("60.00", func(p *proposals.Proposal) { p.AuthorizationID = q.ID }))
	equal(t, "by it", a.Status, yes)
	equal(t, "left", a.Decision.Headroom[0].Left, "40.00")
	equal(t, "what it did not need is free", w.propose(t, proposal("40.00")).Status, yes)
	equal(t, "and no more", w.propose(t, proposal("0.01")).Status, no)
	w.reconcile(t)
}

// A sanctioned or changed payee is in the decision's facts, whose hash is kept.
func TestFactsAreKept(t *testing.T) {
	w := newWorld(t, usual())
	first := w.propose(t, proposal("1.00"))
	w.write(t, party("cp_aws", func(c *ledger.Counterparty) { c.RiskLevel = "sanctioned" }))
	second := w.propose(t, proposal("2.00"))
	if first.Decision.FactsHash == second.Decision.FactsHash || !strings.Contains(string(second.Decision.Facts), "sanctioned") {
		t.Errorf("facts %s", second.Decision.Facts)
	}
	third := w.propose(t, proposal("3.00"))
	equal(t, "the same facts", third.Decision.FactsHash, second.Decision.FactsHash)
	item, found, err := w.direct.Get(t.Context(), key.Decision(w.tenant, id.PaymentIntent, first.ID, first.Decision.ID))
	if noError(t, err); !found || !strings.Contains(string(item.Body), first.Decision.FactsHash) {
		t.Errorf("the decision is kept: %t, %s", found, item.Body)
	}
}
