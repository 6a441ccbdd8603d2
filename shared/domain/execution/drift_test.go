package execution_test

import (
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// What changes between the approval and the gate stops the payment, by the checks
// that look at it, and nothing is left of it.
func TestDrift(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		failed string
	}{
		"nothing": {func(*world) {}, ""},
		"the payee has another account": {func(w *world) {
			w.write(w.payee(func(c *ledger.Counterparty) { c.LinkedAccounts = []string{"GB29NWBK60161331926819"} }))
		}, "7.5 11 13"},
		"and is known to have": {func(w *world) {
			w.write(w.payee(func(c *ledger.Counterparty) { c.DetailsChangedAt = ptr("2025-09-30T11:59:00.000Z") }))
		}, "7.5 11 11.5 13"},
		"the payee is sanctioned": {func(w *world) {
			w.write(w.payee(func(c *ledger.Counterparty) { c.RiskLevel = "sanctioned" }))
		}, "5 7.5 11 13"},
		"the payee is verified no more": {func(w *world) {
			w.write(w.payee(func(c *ledger.Counterparty) { c.VerifiedStatus = "unverified" }))
		}, "6 7.5 11 13"},
		"the bill is paid": {func(w *world) {
			o := w.obligation("obl_1", "600.00")
			o.Status = "paid"
			w.write(o)
		}, "7.5 9.5 11.5 13"},
		"less is owed":                {func(w *world) { w.write(w.invoice("inv_1", "599.00", "0")) }, "7.5 9.5 13"},
		"some of the invoice is paid": {func(w *world) { w.write(w.invoice("inv_1", "600.00", "1.00")) }, "7.5 9.5 13"},
		"the account is closed": {func(w *world) {
			w.write(&ledger.Account{Meta: meta(own), AccountType: "bank_checking", Name: "Operating", Currency: "USD", Status: "closed"})
		}, "4 7.5 13"},
		"the account is renamed": {func(w *world) {
			w.write(&ledger.Account{Meta: meta(own), AccountType: "bank_checking", Name: "Main", Currency: "USD", Status: "active"})
		}, ""},
		"the money is gone":         {func(w *world) { w.write(w.balance("599.99")) }, "8 13"},
		"another policy, as it was": {func(w *world) { w.enact(2, rules) }, "11 12 13"},
		"another policy, which rejects": {func(w *world) {
			w.enact(2, `[{"id":"no","applies_to":["any"],"when":{},"execute":"reject"}]`)
		}, "7 11 12 13"},
		"who approved has left": {func(w *world) {
			w.put(key.MemberRecord(w.tenant, "mbr_ann"), *w.member("mbr_ann", identity.Deactivated).Member)
		}, "11 13"},
		"the agent is quarantined": {func(w *world) {
			agent := w.agentRecord()
			agent.Status = identity.Quarantined
			w.put(key.AgentRecord(w.agent), agent)
		}, "1 13"},
		"the agent may only read": {func(w *world) {
			agent := w.agentRecord()
			agent.Scopes = identity.Scopes{identity.LedgerRead}
			w.put(key.AgentRecord(w.agent), agent)
		}, "2 13"},
		"the agent is revoked on the chain": {func(w *world) {
			w.registry.change(identity.AgentHash(w.name, w.agent), func(r *identity.Registration) { r.RevokedAt = 5 })
		}, "1 13"},
		"the agent behaves otherwise": {func(w *world) {
			w.registry.change(identity.AgentHash(w.name, w.agent), func(r *identity.Registration) { r.BehaviorHash[0]++ })
		}, "1.5 13"},
		"the tenant wants two people now": {func(w *world) {
			w.put(key.Settings(w.tenant), map[string]any{"second_approver_above": map[string]string{"amount": "500", "currency": "USD"}})
		}, "11 13"},
		"the decision is gone": {func(w *world) {
			c := w.intent(w.name)
			w.put(key.Decision(w.tenant, id.PaymentIntent, c.ID, *c.PolicyDecisionID), map[string]any{})
		}, "7.5 12 13"},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.write(w.obligation("obl_1", "600.00"), w.invoice("inv_1", "600.00", "0"))
			intent := w.propose(proposals.Pending, payment(func(p *payments.Payment) { bill(p); p.Amount = "600.00" }))
			w.approve("mbr_ann", intent)
			if name == "the decision is gone" {
				c := w.intent(intent)
				w.put(key.Decision(w.tenant, id.PaymentIntent, c.ID, *c.PolicyDecisionID), map[string]any{})
			} else {
				c.change(w)
			}
			if c.failed == "" {
				w.execute(intent, proposals.Executed)
				return
			}
			w.execute(intent, proposals.Failed)
			all := checks(t, w.the(execution.EventFailed, intent))
			inOrder(t, all, false)
			equal(t, "failed", failed(all), c.failed)
			equal(t, "told before", len(w.told(execution.EventBefore, intent)), 0)
			equal(t, "held", w.held(), "0")
			_, there := get[execution.Record](w, key.Execution(w.tenant, execution.NameOf(intent)))
			equal(t, "an execution", there, false)
			w.execute(intent, proposals.Failed) // a second event makes no difference
			w.the(execution.EventFailed, intent)
		})
	}
}

// A payment that looks like one before, rests on what one before rested on, or is
// owed no more, is a duplicate.
func TestDuplicates(t *testing.T) {
	for name, c := range map[string]struct {
		first, second payments.Payment
		later         time.Duration
		failed        string // empty when the second is paid too
	}{
		"the same amount to the same payee": {payment(nil), payment(func(p *payments.Payment) { p.Memo = ptr("again") }), 0, "11.5 13"},
		"a day less a second later":         {payment(nil), payment(nil), 24*time.Hour - time.Second, "11.5 13"},
		"a day later":                       {payment(nil), payment(nil), 24 * time.Hour, ""},
		"another amount":                    {payment(nil), payment(func(p *payments.Payment) { p.Amount = "100.01" }), 0, ""},
		"the same evidence": {
			payment(func(p *payments.Payment) { p.EvidenceIDs = []string{"inv_1"} }),
			payment(func(p *payments.Payment) { p.EvidenceIDs, p.Amount = []string{"inv_1"}, "50.00" }), 48 * time.Hour, "11.5 13",
		},
		"what was owed is evidence": {
			payment(func(p *payments.Payment) { p.ObligationID = ptr("obl_2") }),
			payment(func(p *payments.Payment) { p.EvidenceIDs, p.Amount = []string{"obl_2"}, "50.00" }), 48 * time.Hour, "11.5 13",
		},
		"the account as evidence, twice": {
			payment(func(p *payments.Payment) { p.EvidenceIDs = []string{own, vendor} }),
			payment(func(p *payments.Payment) { p.EvidenceIDs, p.Amount = []string{own, vendor}, "50.00" }), 0, "",
		},
		"collected and paid back": {payment(func(p *payments.Payment) { p.ActionType = payments.ACHInbound }), payment(nil), 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.write(w.obligation("obl_2", "500.00")) // of which the first pays a part, so that it stays open
			first := w.propose(proposals.Approved, c.first)
			w.execute(first, proposals.Executed)
			w.pass(c.later)
			second := w.propose(proposals.Approved, c.second)
			if c.failed == "" {
				w.execute(second, proposals.Executed)
				return
			}
			w.execute(second, proposals.Failed)
			equal(t, "failed", failed(checks(t, w.the(execution.EventFailed, second))), c.failed)
		})
	}
}

// An invoice is paid in parts, one after the other; no part is more than the rest.
func TestInvoiceInParts(t *testing.T) {
	w := open(t)
	part := func(amount string) payments.Payment {
		return payment(func(p *payments.Payment) { p.InvoiceID, p.Amount = ptr("inv_1"), amount })
	}
	first, tooMuch := w.propose(proposals.Approved, part("60.00")), w.propose(proposals.Approved, part("41.00"))
	w.execute(first, proposals.Executed)
	i, _ := get[ledger.Invoice](w, key.Ledger(w.tenant, id.Invoice, "inv_1"))
	equal(t, "after the first", i.Status+" "+i.AmountPaid, "partial 60.00")
	w.execute(tooMuch, proposals.Failed)
	equal(t, "failed", failed(checks(t, w.the(execution.EventFailed, tooMuch))), "7.5 9.5 13")
	w.execute(w.propose(proposals.Approved, part("40.00")), proposals.Executed)
	i, _ = get[ledger.Invoice](w, key.Ledger(w.tenant, id.Invoice, "inv_1"))
	equal(t, "after the last", i.Status+" "+i.AmountPaid, "paid 100.00")
	equal(t, "links", len(i.LinkedTransactionIDs), 2)
}

// An obligation that was paid in part stays open and is not paid again: nothing
// says how much of it is left.
func TestObligationInPart(t *testing.T) {
	w := open(t)
	w.execute(w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.ObligationID, p.Amount = ptr("obl_1"), "60.00" })), proposals.Executed)
	o, _ := get[ledger.Obligation](w, key.Ledger(w.tenant, id.Obligation, "obl_1"))
	equal(t, "status", o.Status, "upcoming")
	equal(t, "links", len(o.LinkedTransactionIDs), 1)
	second := w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.ObligationID, p.Amount = ptr("obl_1"), "40.00" }))
	w.execute(second, proposals.Failed)
	equal(t, "failed", failed(checks(t, w.the(execution.EventFailed, second))), "11.5 13")
}

// What comes in makes the balance larger, and what the ERP is told leaves it alone.
func TestFlows(t *testing.T) {
	for of, c := range map[payments.ActionType]struct{ direction, left string }{
		payments.ACHInbound:   {"inflow", "1100.00"},
		payments.ACHOutbound:  {"outflow", "900.00"},
		payments.CardPayment:  {"outflow", "900.00"},
		payments.ERPWriteback: {"adjustment", "1000.00"},
	} {
		w := open(t)
		intent := w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.ActionType = of }))
		w.execute(intent, proposals.Executed)
		x, _ := get[ledger.Transaction](w, key.Ledger(w.tenant, id.Transaction, "tx_"+intent[3:]))
		equal(t, string(of)+" direction", x.Direction, c.direction)
		equal(t, string(of)+" left", w.left(), c.left)
		equal(t, string(of)+" held", w.held(), "0")
	}
}

// A transaction that is there under the payment's name and is another one is not
// written over.
func TestForeignTransaction(t *testing.T) {
	w := open(t)
	intent := w.propose(proposals.Approved, payment(nil))
	name := "tx_" + intent[3:]
	w.write(&ledger.Transaction{
		Meta: meta(name), AccountID: own, Amount: "5.00", Currency: "USD", Direction: "inflow", TransactionDate: "2025-09-01", Status: "posted", ReconciliationStatus: "unreconciled",
	})
	_, err := w.executor.Execute(w.ctx(), w.tenant, "msg", intent)
	if err == nil {
		t.Error("it was taken for ours")
	}
	x, _ := get[ledger.Transaction](w, key.Ledger(w.tenant, id.Transaction, name))
	equal(t, "amount", x.Amount, "5.00")
}

// Promises that came after do not take the place of one that was there first; one
// that has left its window has no place any more.
func TestPlaceUnderACap(t *testing.T) {
	const capped = `[
		{"id":"room","applies_to":["outbound_payment"],"execute":"auto",
		 "when":{"spend_in_window":{"window":"24h","per":"agent","lte":{"amount":"200","currency":"USD"}},"count_in_window":{"window":"24h","per":"agent","lte":2}}},
		{"id":"full","applies_to":["outbound_payment"],"execute":"confirm","require":["approver"],
		 "when":{"spend_in_window":{"window":"24h","per":"agent","gt":{"amount":"200","currency":"USD"}}}},
		{"id":"often","applies_to":["outbound_payment"],"execute":"confirm","when":{"count_in_window":{"window":"24h","per":"agent","gt":2}}}]`
	for name, c := range map[string]struct {
		later time.Duration
		want  proposals.Status
	}{"at once": {0, proposals.Executed}, "when the day is over and others have filled it": {25 * time.Hour, proposals.Failed}} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.enact(2, capped)
			first := w.propose(proposals.Approved, payment(nil))
			_, err := w.desk.Pause(w.ctx(), w.tenant, identity.Actor{Type: "operator", ID: "test"}, "", first)
			noError(t, err)
			w.execute(first, proposals.Paused)
			w.pass(c.later)
			w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.Amount = "99.00" }))
			if c.later > 0 {
				w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.Amount = "98.00" }))
			}
			w.propose(proposals.Pending, payment(func(p *payments.Payment) { p.Amount = "150.00" }))
			_, err = w.desk.Resume(w.ctx(), w.tenant, identity.Actor{Type: "operator", ID: "test"}, "", first)
			noError(t, err)
			w.execute(first, c.want)
			if c.want == proposals.Failed {
				equal(t, "failed", failed(checks(t, w.the(execution.EventFailed, first))), "11 13")
			}
		})
	}
}

// Approvals of an authorization, copied into the intent, stand at the gate.
func TestAuthorized(t *testing.T) {
	w := open(t)
	p := payment(func(p *payments.Payment) { p.ActionType, p.Amount = payments.Wire, "200.00" })
	a, err := w.desk.Authorize(w.ctx(), w.proposer(), "req", proposals.Request{Payment: p, Purpose: "rent", ExpiresIn: time.Hour})
	noError(t, err)
	_, err = w.desk.DecideAuthorization(w.ctx(), w.member("mbr_ann", identity.Active), "req", proposals.Choice{Name: a.ID, Decision: proposals.Approve})
	noError(t, err)
	out, err := w.desk.Propose(w.ctx(), w.proposer(), "req", proposals.Proposal{Payment: p, AuthorizationID: a.ID})
	noError(t, err)
	w.execute(out.ID, proposals.Executed)
	all := checks(t, w.the(execution.EventBefore, out.ID))
	equal(t, "human floor", all[12].Observed["human_floor"].(bool), true)
	equal(t, "standing", len(all[13].Observed["standing"].([]any)), 1)
}

// Only what is approved goes to the gate.
func TestOtherStates(t *testing.T) {
	w := open(t)
	pending := w.propose(proposals.Pending, payment(func(p *payments.Payment) { p.Amount = "600.00" }))
	w.execute(pending, proposals.Pending)
	_, err := w.desk.Cancel(w.ctx(), w.proposer(), "req", pending)
	noError(t, err)
	w.execute(pending, proposals.Cancelled)
	rejected := w.propose(proposals.Rejected, payment(func(p *payments.Payment) {
		p.ActionType, p.Amount = payments.ERPWriteback, "501"
	}))
	w.execute(rejected, proposals.Rejected)
	for _, name := range []string{"pi_none", "pi_", "acct_own", ""} {
		if _, err := w.executor.Execute(w.ctx(), w.tenant, "msg", name); !fault.Is(err, fault.IntentNotFound) {
			t.Errorf("%q: %v", name, err)
		}
	}
	other := open(t)
	approved := w.propose(proposals.Approved, payment(nil))
	if _, err := other.executor.Execute(t.Context(), other.tenant, "msg", approved); !fault.Is(err, fault.IntentNotFound) {
		t.Errorf("another tenant's: %v", err)
	}
	equal(t, "it", w.intent(approved).Status, proposals.Approved)
}

// A chain that cannot be asked decides nothing.
func TestChainAway(t *testing.T) {
	w := open(t)
	intent := w.propose(proposals.Approved, payment(bill))
	w.registry.err = fault.New(fault.OnchainUnavailable, "away")
	if _, err := w.executor.Execute(w.ctx(), w.tenant, "msg", intent); !fault.Is(err, fault.OnchainUnavailable) {
		t.Errorf("error = %v", err)
	}
	equal(t, "status", w.intent(intent).Status, proposals.Approved)
	w.registry.err = nil
	w.execute(intent, proposals.Executed)
	w.paid(intent)
}
