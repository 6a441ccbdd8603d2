package proposals_test

import (
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/tenant"
)

// vote is one person's decision, and what must come of it.
type vote struct {
	who    func(*world) identity.Principal
	does   string           // a decision; approve when empty
	first  func(*world)     // what happens before it
	hash   string           // shown: with what was shown at first, wrong, or empty for none
	code   fault.Code       // of the refusal
	status proposals.Status // afterwards
	more   func(*testing.T, proposals.Decided)
}

// row is a proposal and the decisions about it.
type row struct {
	name     string
	law      policy.Document
	settings *tenant.Settings
	pay      func(*proposals.Proposal) // nil: 5,000 USD to cp_aws
	deed     string                    // an action of this kind instead
	votes    []vote
}

func someone(name string, changes ...func(*identity.MemberRecord)) func(*world) identity.Principal {
	return func(w *world) identity.Principal { return w.member(name, changes...) }
}

func role(r identity.Role) func(*identity.MemberRecord) {
	return func(m *identity.MemberRecord) { m.Role = r }
}

func standing(s identity.Status) func(*identity.MemberRecord) {
	return func(m *identity.MemberRecord) { m.Status = s }
}

func only(domains ...identity.Domain) func(*identity.MemberRecord) {
	return func(m *identity.MemberRecord) { m.Domains = domains }
}

func upTo(amount, currency string) func(*identity.MemberRecord) {
	return func(m *identity.MemberRecord) { m.Limits = []policy.Sum{{Amount: amount, Currency: currency}} }
}

func secondAbove(amount, currency string) func(*identity.MemberRecord) {
	return func(m *identity.MemberRecord) {
		m.SecondApprover = &policy.Sum{Amount: amount, Currency: currency}
	}
}

// moved changes the payee's details.
func moved(t *testing.T) func(*world) {
	return func(w *world) {
		w.write(t, party("cp_aws", func(c *ledger.Counterparty) { c.LinkedAccounts = []string{"acct_elsewhere"} }))
	}
}

// lawIs puts another policy in force.
func lawIs(t *testing.T, law policy.Document) func(*world) {
	return func(w *world) { w.activate(t, law) }
}

func to(cp string) func(*proposals.Proposal) {
	return func(p *proposals.Proposal) { p.DestinationCounterpartyID = cp }
}

func of(kind payments.ActionType, account, currency string) func(*proposals.Proposal) {
	return func(p *proposals.Proposal) {
		p.ActionType, p.SourceAccountID, p.Currency = kind, account, currency
	}
}

const (
	wait, second, yes, no = proposals.Pending, proposals.AwaitingSecond, proposals.Approved, proposals.Rejected
	unresolved, inactive  = fault.ActorUnresolved, fault.ActorInactive
	field, over           = fault.DomainNotAuthorized, fault.ActorLimitExceeded
	oneself, twice        = fault.SelfApprovalBlocked, fault.SecondApprovalNeeded
)

// fresh wants the policy of now to be the one that refused.
func fresh(t *testing.T, d proposals.Decided) {
	t.Helper()
	if !d.ByRule || d.Decision.Outcome != policy.Reject {
		t.Errorf("by the policy: %t, outcome %s", d.ByRule, d.Decision.Outcome)
	}
}

// replayed wants the decision to be one that was made before.
func replayed(t *testing.T, d proposals.Decided) {
	t.Helper()
	if !d.Replayed || d.EventID != "" {
		t.Errorf("replayed: %t, event %q", d.Replayed, d.EventID)
	}
}

func matrix(t *testing.T) []row {
	ann, bob, boss := someone("mbr_ann"), someone("mbr_bob"), someone("mbr_boss", admin)
	agent := func(w *world) identity.Principal { return w.agent("agt_2") }
	ask, two := confirming("approver"), confirming("approver", "approver")
	above := &tenant.Settings{SecondApprover: sum("4999.99", "USD")}
	never := lawOf(policy.Rule{ID: "never", AppliesTo: anything, Execute: policy.Reject, When: policy.When{AmountGT: sum("0", "USD")}})
	return []row{
		{name: "an approver approves", law: ask, votes: []vote{{who: ann, status: yes}}},
		{name: "an admin is good for an approver", law: ask, votes: []vote{{who: boss, status: yes}}},
		{name: "an approver rejects", law: ask, votes: []vote{{who: ann, does: "reject", status: no}}},
		{name: "an agent", law: ask, votes: []vote{{who: agent, code: unresolved, status: wait}, {who: agent, does: "reject", code: unresolved, status: wait}}},
		{name: "a viewer", law: ask, votes: []vote{{who: someone("mbr_v", role(identity.Viewer)), code: field, status: wait}, {who: someone("mbr_v", role(identity.Viewer)), does: "reject", code: field, status: wait}}},
		{name: "invited", law: ask, votes: []vote{{who: someone("mbr_i", standing(identity.Invited)), code: inactive, status: wait}}},
		{name: "deactivated", law: ask, votes: []vote{{who: someone("mbr_d", standing(identity.Deactivated)), does: "reject", code: inactive, status: wait}}},
		{name: "an inactive viewer with a limit", law: ask, votes: []vote{{who: someone("mbr_v", role(identity.Viewer), standing(identity.Invited), upTo("1.00", "USD")), code: inactive, status: wait}}},
		{name: "wrong field, over the limit and the agent's maker", law: ask, votes: []vote{{who: someone("mbr_maker", only(identity.AR), upTo("1.00", "USD")), code: field, status: wait}}},
		{name: "over the limit and the agent's maker", law: ask, votes: []vote{{who: someone("mbr_maker", upTo("1.00", "USD")), code: over, status: wait}}},
		{name: "the agent's maker", law: ask, votes: []vote{{who: someone("mbr_maker"), code: oneself, status: wait}, {who: someone("mbr_maker"), does: "reject", status: no}}},
		{name: "the agent's maker as the same person twice", law: two, votes: []vote{{who: ann, status: second}, {who: someone("mbr_maker"), code: oneself, status: second}}},

		{name: "at the limit", law: ask, votes: []vote{{who: someone("mbr_l", upTo("5000.00", "USD")), status: yes}}},
		{name: "a cent over the limit", law: ask, votes: []vote{{who: someone("mbr_l", upTo("4999.99", "USD")), code: over, status: wait}}},
		{name: "a limit in another currency", law: ask, votes: []vote{{who: someone("mbr_l", upTo("1000000.00", "EUR")), code: over, status: wait}}},
		{name: "over the limit one may still reject", law: ask, votes: []vote{{who: someone("mbr_l", upTo("1.00", "USD")), does: "reject", status: no}}},
		{name: "no limit at all", law: ask, votes: []vote{{who: someone("mbr_l", func(m *identity.MemberRecord) { m.Limits = nil }), code: over, status: wait}}},

		{name: "ap", law: ask, votes: []vote{{who: someone("mbr_f", only(identity.AR, identity.Treasury, identity.Payroll, identity.Reconciliation)), code: field, status: wait}, {who: someone("mbr_ap", only(identity.AP)), status: yes}}},
		{name: "collecting is ar", law: ask, pay: of(payments.ACHInbound, "acct_usd", "USD"), votes: []vote{{who: someone("mbr_ap", only(identity.AP)), code: field, status: wait}, {who: someone("mbr_ar", only(identity.AR)), status: yes}}},
		{name: "the books are reconciliation", law: ask, pay: of(payments.ERPWriteback, "acct_usd", "USD"), votes: []vote{{who: someone("mbr_ap", only(identity.AP)), code: field, status: wait}, {who: someone("mbr_r", only(identity.Reconciliation)), status: yes}}},
		{name: "the chain is treasury", law: ask, pay: of(payments.OnchainTransfer, "acct_usdc", "USDC"), votes: []vote{{who: someone("mbr_ap", only(identity.AP)), code: field, status: wait}, {who: someone("mbr_t", only(identity.Treasury)), status: yes}}},
		{name: "wires are ap", law: ask, pay: of(payments.Wire, "acct_usd", "USD"), votes: []vote{{who: someone("mbr_t", only(identity.Treasury)), code: field, status: wait}, {who: someone("mbr_ap", only(identity.AP)), status: yes}}},
		{name: "staff are payroll", law: ask, pay: to("cp_staff"), votes: []vote{{who: someone("mbr_ap", only(identity.AP)), code: field, status: wait}, {who: someone("mbr_p", only(identity.Payroll)), status: yes}}},
		{name: "a payroll obligation is payroll", law: ask, pay: func(p *proposals.Proposal) { p.ObligationID = ptr("obl_pay") }, votes: []vote{{who: someone("mbr_ap", only(identity.AP)), code: field, status: wait}, {who: someone("mbr_p", only(identity.Payroll)), status: yes}}},
		{name: "the payee approves", law: ask, pay: to("cp_staff"), votes: []vote{{who: someone("mbr_staff"), code: oneself, status: wait}, {who: ann, status: yes}}},
		{name: "a match is reconciliation", law: ask, deed: "propose_match", votes: []vote{{who: someone("mbr_ap", only(identity.AP)), code: field, status: wait}, {who: someone("mbr_r", only(identity.Reconciliation)), status: yes}}},
		{name: "a follow-up is ar, without a limit", law: ask, deed: "draft_followup", votes: []vote{{who: someone("mbr_ar", only(identity.AR), upTo("0.00", "USD")), status: yes}}},
		{name: "the maker of the agent and its match", law: ask, deed: "propose_match", votes: []vote{{who: someone("mbr_maker"), code: oneself, status: wait}, {who: someone("mbr_maker"), does: "acknowledge", status: proposals.Acknowledged}}},

		{name: "two people", law: two, votes: []vote{{who: ann, status: second}, {who: ann, code: twice, status: second}, {who: bob, status: yes}}},
		{name: "two people, one rejects", law: two, votes: []vote{{who: ann, status: second}, {who: bob, does: "reject", status: no}}},
		{name: "who approved changes their mind", law: two, votes: []vote{{who: ann, status: second}, {who: ann, does: "reject", status: no}}},
		{name: "an admin among two", law: confirming("admin", "approver"), votes: []vote{{who: ann, status: second}, {who: bob, status: second}, {who: boss, status: yes}}},
		{name: "an admin first", law: confirming("admin", "approver"), votes: []vote{{who: boss, status: second}, {who: bob, status: yes}}},
		{name: "a signer is either", law: confirming("signer"), votes: []vote{{who: ann, status: yes}}},
		{name: "nobody named is one person", law: confirming(), votes: []vote{{who: ann, status: yes}}},
		{name: "the tenant's threshold", law: ask, settings: above, votes: []vote{{who: ann, status: second}, {who: ann, code: twice, status: second}, {who: bob, status: yes}}},
		{name: "at the tenant's threshold", law: ask, settings: &tenant.Settings{SecondApprover: sum("5000.00", "USD")}, votes: []vote{{who: ann, status: yes}}},
		{name: "the tenant's threshold in another currency", law: ask, settings: &tenant.Settings{SecondApprover: sum("999999.00", "EUR")}, votes: []vote{{who: ann, status: second}, {who: bob, status: yes}}},
		{name: "the first member's threshold", law: ask, votes: []vote{{who: someone("mbr_ann", secondAbove("1.00", "USD")), status: second}, {who: bob, status: yes}}},
		{name: "the second member's threshold", law: two, votes: []vote{{who: ann, status: second}, {who: someone("mbr_bob", secondAbove("1.00", "USD")), status: yes}}},
		{name: "a member's threshold in another currency", law: ask, votes: []vote{{who: someone("mbr_ann", secondAbove("999999.00", "EUR")), status: second}}},

		{name: "the hash as it was shown", law: ask, votes: []vote{{who: ann, hash: "shown", status: yes}}},
		{name: "a wrong hash", law: ask, votes: []vote{{who: ann, hash: "wrong", code: fault.Conflict, status: wait}, {who: ann, does: "reject", hash: "wrong", code: fault.Conflict, status: wait}}},
		{name: "the payee's details change before the decision", law: ask, votes: []vote{{who: ann, first: moved(t), hash: "shown", code: fault.Conflict, status: wait}, {who: ann, status: yes}}},
		{name: "the payee's details change between two approvals", law: two, votes: []vote{{who: ann, status: second}, {who: bob, first: moved(t), status: second}, {who: ann, status: yes}}},
		{name: "the payee's details change, the second says what was shown", law: two, votes: []vote{{who: ann, status: second}, {who: bob, first: moved(t), hash: "shown", code: fault.Conflict, status: second}}},
		{name: "the policy changes between two approvals", law: two, votes: []vote{{who: ann, status: second}, {who: bob, first: lawIs(t, two), status: second}, {who: ann, status: yes}}},
		{name: "the new policy asks for one", law: two, votes: []vote{{who: ann, status: second}, {who: bob, first: lawIs(t, ask), status: yes}}},
		{name: "the new policy asks for two", law: ask, votes: []vote{{who: ann, first: lawIs(t, two), status: second}, {who: bob, status: yes}}},
		{name: "the new policy lets it pass, a person approves", law: ask, votes: []vote{{who: ann, first: lawIs(t, usualFor("5000.00")), status: yes}}},
		{name: "a fresh reject by the policy", law: ask, votes: []vote{{who: ann, first: lawIs(t, never), status: no, more: fresh}, {who: ann, code: fault.Conflict, status: no}}},
		{name: "a fresh reject at the second approval", law: two, votes: []vote{{who: ann, status: second}, {who: bob, first: lawIs(t, never), status: no, more: fresh}}},
		{name: "a fresh reject by the ledger", law: ask, pay: func(p *proposals.Proposal) { p.ObligationID, p.Amount = ptr("obl_open"), "500.00" }, votes: []vote{
			{who: ann, first: func(w *world) { w.write(t, owed("obl_open", "cp_aws", "payable", "500.00", "USD", "paid")) }, status: no, more: fresh}}},
		{name: "the account was closed meanwhile", law: ask, votes: []vote{{who: ann, first: func(w *world) { w.write(t, account("acct_usd", "USD", "closed")) }, status: no, more: fresh}}},
		{name: "a rejection asks no policy", law: ask, votes: []vote{{who: ann, does: "reject", first: lawIs(t, never), status: no}}},

		{name: "the same approval again", law: ask, votes: []vote{{who: ann, status: yes}, {who: ann, status: yes, more: replayed}, {who: bob, code: fault.Conflict, status: yes}}},
		{name: "the same rejection again", law: ask, votes: []vote{{who: ann, does: "reject", status: no}, {who: ann, does: "reject", status: no, more: replayed}, {who: bob, does: "reject", code: fault.Conflict, status: no}, {who: ann, code: fault.Conflict, status: no}}},
		{name: "an approval is taken back by a rejection", law: ask, votes: []vote{{who: ann, status: yes}, {who: ann, does: "reject", status: no}}},
		{name: "acknowledging is not for payments", law: ask, votes: []vote{{who: ann, does: "acknowledge", code: fault.Conflict, status: wait}, {who: ann, status: yes}, {who: ann, does: "undo", code: fault.Conflict, status: yes}}},
	}
}

// usualFor lets payments pass up to an amount.
func usualFor(amount string) policy.Document {
	return lawOf(policy.Rule{ID: "small", AppliesTo: anything, Execute: policy.Auto, When: policy.When{AmountLTE: sum(amount, "USD")}})
}

// TestMatrix: who may decide about what, as one table, for payments and for
// authorizations of them.
func TestMatrix(t *testing.T) {
	for _, r := range matrix(t) {
		t.Run(r.name, func(t *testing.T) { r.run(t, false) })
		if r.deed == "" {
			t.Run(r.name+"/authorization", func(t *testing.T) { r.run(t, true) })
		}
	}
}

func (r row) run(t *testing.T, authorization bool) {
	w := newWorld(t, r.law)
	if r.settings != nil {
		w.settle(t, *r.settings)
	}
	p := proposal("5000.00")
	if r.pay != nil {
		r.pay(&p)
	}
	var a proposals.Answer
	switch {
	case r.deed != "":
		a = w.act(t, deed(r.deed))
	case authorization:
		a = w.authorize(t, proposals.Request{Payment: p.Payment, Purpose: "it", ExpiresIn: proposals.MaxExpiry})
	default:
		a = w.propose(t, p)
	}
	equal(t, "at first", a.Status, wait)
	for _, v := range r.votes {
		v.cast(t, w, a, authorization)
	}
	w.reconcile(t)
}

func (v vote) cast(t *testing.T, w *world, a proposals.Answer, authorization bool) {
	t.Helper()
	if v.first != nil {
		v.first(w)
	}
	choice := proposals.Choice{Name: a.ID, Decision: v.does, Hash: map[string]string{"shown": a.Hash, "wrong": a.Hash[1:] + "0"}[v.hash]}
	if choice.Decision == "" {
		choice.Decision = proposals.Approve
	}
	d, err := w.decide(t, v.who(w), choice)
	fails(t, err, v.code)
	if v.more != nil && err == nil {
		v.more(t, d)
	}
	want := v.status
	if authorization {
		want = map[proposals.Status]proposals.Status{yes: proposals.Authorized, no: proposals.Denied}[want]
		if want == "" {
			want = v.status
		}
	}
	got := w.status(t, a.ID)
	if authorization && v.status == no && got == proposals.Revoked {
		got = proposals.Denied // what was authorized is revoked
	}
	equal(t, "status after "+choice.Decision, got, want)
	if err == nil && d.Status != w.status(t, a.ID) {
		t.Errorf("the answer says %s", d.Status)
	}
}
