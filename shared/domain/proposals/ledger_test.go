package proposals_test

import (
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// owing is a payment for an obligation, an invoice or both.
func owing(obligation, invoice string) func(*proposals.Proposal) {
	return func(p *proposals.Proposal) {
		if obligation != "" {
			p.ObligationID = &obligation
		}
		if invoice != "" {
			p.InvoiceID = &invoice
		}
	}
}

// TestAgainstTheLedger: what cannot be a payment from this ledger is refused, with
// the argument in the message, and leaves nothing; so is an authorization of it
// and a dry run.
func TestAgainstTheLedger(t *testing.T) {
	gone, bad := fault.LedgerRowNotFound, fault.InvalidArgument
	from := func(name string) func(*proposals.Proposal) {
		return func(p *proposals.Proposal) { p.SourceAccountID = name }
	}
	evidence := func(names ...string) func(*proposals.Proposal) {
		return func(p *proposals.Proposal) { p.EvidenceIDs = names }
	}
	amount := func(text string) func(*proposals.Proposal) {
		return func(p *proposals.Proposal) { p.Amount = text }
	}
	collect := of(payments.ACHInbound, "acct_usd", "USD")
	w, other := newWorld(t, usual()), newWorld(t, usual())
	other.write(t, account("acct_theirs", "USD", "active"), party("cp_theirs"), owed("obl_theirs", "cp_aws", "payable", "500.00", "USD", "upcoming"),
		invoice("inv_theirs", "cp_aws", "payable", "500.00", "0.00", "USD", "sent"), paid("tx_theirs", "cp_aws", "1.00", "2025-09-01"))
	for _, c := range []struct {
		name    string
		changes []func(*proposals.Proposal)
		code    fault.Code
		says    string
	}{
		{"no account", []func(*proposals.Proposal){from("acct_none")}, gone, "source_account_id"},
		{"another tenant's account", []func(*proposals.Proposal){from("acct_theirs")}, gone, "source_account_id"},
		{"a payee as an account", []func(*proposals.Proposal){from("cp_aws")}, gone, "source_account_id"},
		{"a malformed account", []func(*proposals.Proposal){from("acct_#row")}, gone, "source_account_id"},
		{"a closed account", []func(*proposals.Proposal){from("acct_closed")}, bad, "closed"},
		{"a frozen account", []func(*proposals.Proposal){from("acct_frozen")}, bad, "frozen"},
		{"a pending account", []func(*proposals.Proposal){from("acct_pending")}, bad, "pending"},
		{"an account in another currency", []func(*proposals.Proposal){from("acct_eur")}, bad, "EUR"},
		{"no payee", []func(*proposals.Proposal){to("cp_none")}, gone, "destination_counterparty_id"},
		{"another tenant's payee", []func(*proposals.Proposal){to("cp_theirs")}, gone, "destination_counterparty_id"},
		{"an account as a payee", []func(*proposals.Proposal){to("acct_usd2")}, gone, "destination_counterparty_id"},

		{"no obligation", []func(*proposals.Proposal){owing("obl_none", "")}, gone, "obligation_id"},
		{"another tenant's obligation", []func(*proposals.Proposal){owing("obl_theirs", "")}, gone, "obligation_id"},
		{"an invoice as an obligation", []func(*proposals.Proposal){owing("inv_open", "")}, gone, "obligation_id"},
		{"what others owe", []func(*proposals.Proposal){owing("obl_in", "")}, bad, "receivable"},
		{"a paid obligation", []func(*proposals.Proposal){owing("obl_paid", "")}, bad, "paid"},
		{"a cancelled obligation", []func(*proposals.Proposal){owing("obl_cancelled", "")}, bad, "cancelled"},
		{"a disputed obligation", []func(*proposals.Proposal){owing("obl_disputed", "")}, bad, "disputed"},
		{"owed to somebody else", []func(*proposals.Proposal){owing("obl_other", "")}, bad, "another counterparty"},
		{"an obligation in another currency", []func(*proposals.Proposal){owing("obl_eur", "")}, bad, "EUR"},
		{"more than is owed", []func(*proposals.Proposal){owing("obl_open", ""), amount("500.01")}, bad, "more than"},
		{"exactly what is owed", []func(*proposals.Proposal){owing("obl_open", ""), amount("500")}, "", ""},
		{"a part of what is owed", []func(*proposals.Proposal){owing("obl_open", ""), amount("0.01")}, "", ""},
		{"an overdue obligation", []func(*proposals.Proposal){owing("obl_overdue", "")}, "", ""},
		{"collecting what is owed to others", []func(*proposals.Proposal){collect, owing("obl_open", "")}, bad, "payable"},
		{"collecting what others owe", []func(*proposals.Proposal){collect, owing("obl_in", "")}, "", ""},

		{"no invoice", []func(*proposals.Proposal){owing("", "inv_none")}, gone, "invoice_id"},
		{"another tenant's invoice", []func(*proposals.Proposal){owing("", "inv_theirs")}, gone, "invoice_id"},
		{"an invoice to others", []func(*proposals.Proposal){owing("", "inv_in")}, bad, "receivable"},
		{"a paid invoice", []func(*proposals.Proposal){owing("", "inv_paid")}, bad, "paid"},
		{"a draft", []func(*proposals.Proposal){owing("", "inv_draft")}, bad, "draft"},
		{"a cancelled invoice", []func(*proposals.Proposal){owing("", "inv_cancelled")}, bad, "cancelled"},
		{"a disputed invoice", []func(*proposals.Proposal){owing("", "inv_disputed")}, bad, "disputed"},
		{"somebody else's invoice", []func(*proposals.Proposal){owing("", "inv_other")}, bad, "another counterparty"},
		{"an invoice in another currency", []func(*proposals.Proposal){owing("", "inv_eur")}, bad, "EUR"},
		{"more than the invoice", []func(*proposals.Proposal){owing("", "inv_open"), amount("500.01")}, bad, "more than"},
		{"the invoice", []func(*proposals.Proposal){owing("", "inv_open"), amount("500.00")}, "", ""},
		{"a paid invoice of an open obligation", []func(*proposals.Proposal){owing("obl_open", "inv_paid")}, bad, "inv_paid"},
		{"collecting an invoice", []func(*proposals.Proposal){collect, owing("", "inv_in")}, "", ""},

		{"evidence", []func(*proposals.Proposal){evidence("tx_1", "inv_open", "obl_open", "acct_eur", "cp_gcp")}, "", ""},
		{"evidence that is not there", []func(*proposals.Proposal){evidence("tx_1", "tx_none")}, gone, "evidence_ids[1]"},
		{"another tenant's evidence", []func(*proposals.Proposal){evidence("tx_theirs")}, gone, "evidence_ids[0]"},
		{"an artifact that is not there", []func(*proposals.Proposal){evidence("raw_1")}, gone, "evidence_ids[0]"},
		{"a memo as long as it may be", []func(*proposals.Proposal){func(p *proposals.Proposal) { p.Memo = ptr(strings.Repeat("ä", payments.MaxMemo)) }}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.clock.pass(11 * time.Minute)
			before := w.tableSize(t)
			p := proposal("100.00", c.changes...)
			p.DryRun = true
			_, err := w.desk.Propose(t.Context(), w.agent("agt_1"), "req", p)
			refused(t, "dry run", err, c.code, c.says)
			_, err = w.desk.Authorize(t.Context(), w.agent("agt_1"), "req", proposals.Request{Payment: p.Payment, Purpose: "it", ExpiresIn: time.Hour})
			refused(t, "authorization", err, c.code, c.says)
			p.DryRun = false
			_, err = w.desk.Propose(t.Context(), w.agent("agt_1"), "req", p)
			refused(t, "proposal", err, c.code, c.says)
			if c.code != "" {
				equal(t, "left behind", w.tableSize(t), before)
			}
		})
	}
	w.reconcile(t)
}

func refused(t *testing.T, what string, err error, code fault.Code, says string) {
	t.Helper()
	fails(t, err, code)
	if err != nil && !strings.Contains(fault.Of(err).Message, says) {
		t.Errorf("%s: %q does not say %q", what, fault.Of(err).Message, says)
	}
}

// TestPartlyPaidInvoice: of an invoice of which a part is paid, the rest may be
// paid and not more.
func TestPartlyPaidInvoice(t *testing.T) {
	w := newWorld(t, usual())
	w.write(t, invoice("inv_part", "cp_aws", "payable", "500.00", "400.00", "USD", "partial"))
	w.propose(t, proposal("100.00", owing("", "inv_part")))
	_, err := w.desk.Propose(t.Context(), w.agent("agt_1"), "req", proposal("100.01", owing("", "inv_part")))
	fails(t, err, fault.InvalidArgument)
}

// TestForeign: another tenant's cases are not there, and neither is another
// agent's where it must be one's own.
func TestForeign(t *testing.T) {
	w, other := newWorld(t, usual()), newWorld(t, usual())
	pi, authz, prop := other.propose(t, proposal("5000.00")).ID, other.authorize(t, request("5000.00")).ID, other.act(t, deed("propose_match")).ID
	for _, name := range []string{pi, prop, authz, "pi_none", "pi_#", "", "cp_aws", "pi", strings.ToUpper(pi)} {
		_, err := w.desk.Decide(t.Context(), w.member("mbr_ann"), "req", proposals.Choice{Name: name, Decision: "approve"})
		fails(t, err, fault.ProposalNotFound)
		_, err = w.desk.Entry(t.Context(), w.tenant, name)
		fails(t, err, fault.ProposalNotFound)
		_, err = w.desk.DecideAuthorization(t.Context(), w.member("mbr_ann"), "req", proposals.Choice{Name: name, Decision: "approve"})
		fails(t, err, fault.AuthorizationNotFound)
		_, err = w.desk.Authorization(t.Context(), w.member("mbr_ann"), name)
		fails(t, err, fault.AuthorizationNotFound)
		_, err = w.desk.Cancel(t.Context(), w.agent("agt_1"), "req", name)
		fails(t, err, fault.IntentNotFound)
		_, err = w.desk.Intent(t.Context(), w.tenant, name)
		fails(t, err, fault.IntentNotFound)
		_, err = w.desk.Propose(t.Context(), w.agent("agt_1"), "req", proposal("1.00", func(p *proposals.Proposal) { p.AuthorizationID = "x" + name }))
		fails(t, err, fault.AuthorizationNotFound)
	}
	_, err := other.desk.Cancel(t.Context(), other.agent("agt_2"), "req", pi)
	fails(t, err, fault.IntentNotFound)
	_, err = other.desk.Cancel(t.Context(), other.member("agt_1"), "req", pi)
	fails(t, err, fault.IntentNotFound)
	_, err = other.desk.Authorization(t.Context(), other.agent("agt_2"), authz)
	fails(t, err, fault.AuthorizationNotFound)
	a, err := other.desk.Authorization(t.Context(), other.member("mbr_ann"), authz)
	if noError(t, err); a.ID != authz {
		t.Errorf("a member sees %s", a.ID)
	}
	equal(t, "still there", other.status(t, pi), wait)
	other.reconcile(t)
}

// TestMisusedAuthorization: it is for what it was asked for, for whom asked, once
// and while it lasts.
func TestMisusedAuthorization(t *testing.T) {
	gone, bad, conflict := fault.AuthorizationNotFound, fault.InvalidArgument, fault.Conflict
	ann := func(w *world) identity.Principal { return w.member("mbr_ann") }
	for _, c := range []struct {
		name   string
		first  func(*proposals.Request)
		before func(*testing.T, *world, string)
		by     string
		change func(*proposals.Proposal)
		code   fault.Code
	}{
		{name: "as it is"},
		{name: "less", change: func(p *proposals.Proposal) { p.Amount = "99.99" }},
		{name: "with a memo, evidence and an obligation", change: func(p *proposals.Proposal) {
			p.Memo, p.EvidenceIDs, p.ObligationID = ptr("x"), []string{"tx_1"}, ptr("obl_open")
		}},
		{name: "a cent more", change: func(p *proposals.Proposal) { p.Amount = "100.01" }, code: bad},
		{name: "another payee", change: to("cp_gcp"), code: bad},
		{name: "another account", change: func(p *proposals.Proposal) { p.SourceAccountID = "acct_usd2" }, code: bad},
		{name: "another rail", change: func(p *proposals.Proposal) { p.ActionType = payments.CardPayment }, code: bad},
		{name: "another currency", change: of(payments.ACHOutbound, "acct_eur", "EUR"), code: bad},
		{name: "another address", first: asks(by(payments.X402Settle, "10")), change: func(p *proposals.Proposal) {
			by(payments.X402Settle, "10")(p)
			p.PayTo = ptr("0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359")
		}, code: bad},
		{name: "the same address", first: asks(by(payments.X402Settle, "10")), change: by(payments.X402Settle, "10")},
		{name: "another escrow", first: asks(by(payments.EscrowRelease, "10")), before: approves(ann), change: func(p *proposals.Proposal) {
			by(payments.EscrowRelease, "10")(p)
			p.EscrowID = ptr("esc-2")
		}, code: bad},
		{name: "other job terms", first: asks(by(payments.EscrowRelease, "10")), before: approves(ann), change: func(p *proposals.Proposal) {
			by(payments.EscrowRelease, "10")(p)
			p.JobTermsHash = ptr("0x" + strings.Repeat("cd", 32))
		}, code: bad},
		{name: "another agent's", by: "agt_2", code: gone},
		{name: "expired", before: func(_ *testing.T, w *world, _ string) { w.clock.pass(15 * time.Minute) }, code: conflict},
		{name: "in its last second", before: func(_ *testing.T, w *world, _ string) { w.clock.pass(15*time.Minute - time.Second) }},
		{name: "swept", before: func(t *testing.T, w *world, _ string) {
			w.clock.pass(15 * time.Minute)
			_, err := w.desk.Expire(t.Context())
			noError(t, err)
		}, code: conflict},
		{name: "revoked", before: func(t *testing.T, w *world, name string) { w.must(t, ann(w), name, proposals.Reject) }, code: conflict},
		{name: "used", before: func(t *testing.T, w *world, name string) {
			w.propose(t, proposal("1.00", func(p *proposals.Proposal) { p.AuthorizationID = name }))
		}, code: conflict},
		{name: "waiting for people", first: func(q *proposals.Request) { q.Amount = "5000.00" }, code: conflict},
		{name: "denied", first: func(q *proposals.Request) { q.DestinationCounterpartyID = "cp_new" }, change: to("cp_new"), code: conflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, usual())
			q := request("100.00")
			if c.first != nil {
				c.first(&q)
			}
			name := w.authorize(t, q).ID
			if c.before != nil {
				c.before(t, w, name)
			}
			p := proposal("100.00", func(p *proposals.Proposal) { p.AuthorizationID = name })
			if c.change != nil {
				c.change(&p)
			}
			by := "agt_1"
			if c.by != "" {
				by = c.by
			}
			before := w.status(t, name)
			a, err := w.desk.Propose(t.Context(), w.agent(by), "req", p)
			fails(t, err, c.code)
			if err == nil {
				equal(t, "used", w.status(t, name), proposals.Consumed)
				equal(t, "by", *w.look(t, name).ConsumedBy, a.ID)
			} else {
				equal(t, "the authorization", w.status(t, name), before)
			}
			w.reconcile(t)
		})
	}
}

// asks makes a request of what makes a proposal.
func asks(change func(*proposals.Proposal)) func(*proposals.Request) {
	return func(q *proposals.Request) {
		p := proposals.Proposal{Payment: q.Payment}
		change(&p)
		q.Payment = p.Payment
	}
}

func approves(who func(*world) identity.Principal) func(*testing.T, *world, string) {
	return func(t *testing.T, w *world, name string) { w.must(t, who(w), name, proposals.Approve) }
}

// TestExpiresIn: the bounds of how long an authorization is asked for, and when
// proposals expire.
func TestExpiresIn(t *testing.T) {
	w := newWorld(t, usual())
	for d, code := range map[time.Duration]fault.Code{
		0: fault.InvalidArgument, -time.Hour: fault.InvalidArgument, proposals.MinExpiry - time.Second: fault.InvalidArgument, proposals.MinExpiry: "",
		proposals.MaxExpiry: "", proposals.MaxExpiry + time.Second: fault.InvalidArgument,
	} {
		a, err := w.desk.Authorize(t.Context(), w.agent("agt_1"), "req", request("1.00", func(q *proposals.Request) { q.ExpiresIn = d }))
		fails(t, err, code)
		if err == nil {
			equal(t, "expires", *a.ExpiresAt, w.clock.now().Add(d).Format("2006-01-02T15:04:05.000Z"))
		}
	}
	a := w.propose(t, proposal("5000.00"))
	equal(t, "waits seven days", *a.ExpiresAt, "2025-10-07T12:00:00.000Z")
	equal(t, "what passed does not expire", w.propose(t, proposal("2.00")).ExpiresAt == nil, true)
	w.reconcile(t)
}

// TestMostOpen: an agent has a hundred that wait, of all kinds together; what is
// decided, taken back or expired makes room.
func TestMostOpen(t *testing.T) {
	w := newWorld(t, usual())
	var first string
	for i := range allowance.MaxOpen {
		var name string
		switch i % 3 {
		case 0:
			name = w.propose(t, proposal("5000.00", keyed(seq(i)))).ID
		case 1:
			name = w.authorize(t, request("5000.00", func(q *proposals.Request) { q.IdempotencyKey = seq(i) })).ID
		case 2:
			d := deed("propose_match")
			d.IdempotencyKey = seq(i)
			name = w.act(t, d).ID
		}
		if i == 0 {
			first = name
		}
	}
	more := proposal("5000.00", keyed("more"))
	_, err := w.desk.Propose(t.Context(), w.agent("agt_1"), "req", more)
	fails(t, err, fault.Conflict)
	equal(t, "what does not wait", w.propose(t, proposal("5.00")).Status, yes)
	equal(t, "what is refused", w.propose(t, proposal("5.00", to("cp_new"))).Status, no)
	other, err := w.desk.Propose(t.Context(), w.agent("agt_2"), "req", more)
	if noError(t, err); other.Status != wait {
		t.Errorf("another agent's is %s", other.Status)
	}
	_, err = w.desk.Cancel(t.Context(), w.agent("agt_1"), "req", first)
	noError(t, err)
	equal(t, "the next", w.propose(t, more).Status, wait)
	w.reconcile(t)
	w.clock.pass(8 * 24 * time.Hour)
	_, err = w.desk.Expire(t.Context())
	noError(t, err)
	for _, c := range w.cases(t) {
		if c.ExpiresAt != nil {
			t.Errorf("%s did not expire", c.ID)
		}
	}
	w.reconcile(t)
	equal(t, "afterwards", w.propose(t, proposal("5000.00", keyed("after"))).Status, wait)
}

// look reads a case.
func (w *world) look(t testing.TB, name string) proposals.Case {
	t.Helper()
	kind, _ := proposals.KindOf(name)
	a, err := w.desk.Look(t.Context(), w.tenant, kind, name)
	noError(t, err)
	return a.Case
}
