package execution_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// cents are an amount of the world's currency.
func (w *world) cents(text string) int64 {
	w.t.Helper()
	a, err := money.ParseSigned(text, money.MustParse("USD"))
	noError(w.t, err)
	var n int64
	_, err = fmt.Sscan(a.Minor(), &n)
	noError(w.t, err)
	return n
}

// sums holds what intents came to against the account: what was executed is what
// has left it, once each, in as many balances; what failed, failed for want of
// money; and nothing is held.
func (w *world) sums(intents []string, had int64) (executed int) {
	w.t.Helper()
	t, spent := w.t, int64(0)
	for _, intent := range intents {
		c := w.intent(intent)
		switch c.Status {
		case proposals.Executed:
			executed++
			spent += w.cents(c.Amount)
			w.the(execution.EventBefore, intent)
			w.the(execution.EventAfter, intent)
			_, booked := get[ledger.Transaction](w, key.Ledger(w.tenant, id.Transaction, "tx_"+intent[3:]))
			equal(t, "booked", booked, true)
		case proposals.Failed:
			equal(t, "failed", failed(checks(t, w.the(execution.EventFailed, intent))), "8 13")
		default:
			t.Errorf("%s is %s", intent, c.Status)
		}
	}
	equal(t, "left", w.cents(w.left()), had-spent)
	equal(t, "balances", len(w.balances()), executed+1)
	equal(t, "held", w.held(), "0")
	if left := w.cents(w.left()); left < 0 {
		t.Errorf("the account is overdrawn by %d", -left)
	}
	return executed
}

// many are intents that do not look alike, from base dollars on.
func (w *world) many(n, base int) []string {
	w.t.Helper()
	var intents []string
	for i := range n {
		intents = append(intents, w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.Amount = fmt.Sprintf("%d.%02d", base, i) })))
	}
	return intents
}

// all executes intents at once, each until it needs nothing any more.
func (w *world) all(intents []string) {
	var group sync.WaitGroup
	for _, intent := range intents {
		group.Go(func() {
			for range 100 {
				if _, err := w.executor.Execute(w.ctx(), w.tenant, "msg", intent); err == nil {
					return
				}
			}
			w.t.Errorf("%s comes to no end", intent)
		})
	}
	group.Wait()
}

// Ten payments of a balance that is enough for six: six are made, whoever comes
// first.
func TestManyForOneBalance(t *testing.T) {
	w := open(t)
	intents := w.many(10, 150)
	w.all(intents)
	equal(t, "executed", w.sums(intents, 1000_00), 6)
}

// The same while nothing is settled: what is held is all that keeps them apart.
func TestManyHoldOneBalance(t *testing.T) {
	w := open(t)
	w.banked()
	intents := w.many(10, 150)
	w.all(intents)
	held := int64(0)
	var dispatched []string
	for _, intent := range intents {
		if c := w.intent(intent); c.Status == proposals.Dispatching {
			held += w.cents(c.Amount)
			dispatched = append(dispatched, intent)
		}
	}
	equal(t, "dispatched", len(dispatched), 6)
	equal(t, "held", w.held(), fmt.Sprint(held))
	if held > 1000_00 {
		t.Errorf("%d cents are held of 100000", held)
	}
	var group sync.WaitGroup
	for _, intent := range dispatched { // all the receipts come at once, each twice
		receipt := w.receipt(intent, execution.Done)
		receipt.Reference = "bank-" + intent
		for range 2 {
			group.Go(func() {
				for range 100 {
					if _, err := w.executor.Settle(w.ctx(), w.tenant, "msg", receipt); err == nil {
						return
					}
				}
				t.Errorf("%s comes to no end", intent)
			})
		}
	}
	group.Wait()
	equal(t, "executed", w.sums(intents, 1000_00), 6)
}

// One event delivered to many at once pays once.
func TestOneIntentManyTimes(t *testing.T) {
	w := open(t)
	intent := w.propose(proposals.Approved, payment(bill))
	w.all([]string{intent, intent, intent, intent, intent, intent})
	w.paid(intent)
}

// Of two payments of one bill that race, one is made and the other is a duplicate.
func TestTwoForOneBill(t *testing.T) {
	w := open(t)
	first := w.propose(proposals.Approved, payment(func(p *payments.Payment) { bill(p); p.Amount = "99.00" }))
	second := w.propose(proposals.Approved, payment(func(p *payments.Payment) { bill(p); p.Amount = "98.00" }))
	w.banked() // neither changes the ledger, so nothing drifts
	w.all([]string{first, second})
	dispatched := 0
	for _, intent := range []string{first, second} {
		if w.intent(intent).Status == proposals.Dispatching {
			dispatched++
			continue
		}
		equal(t, "failed", failed(checks(t, w.the(execution.EventFailed, intent))), "11.5 13")
	}
	equal(t, "dispatched", dispatched, 1)
}

// A settlement between the reading of what is held and that of the balance makes
// the money look spent twice, or not at all. Neither is believed.
func TestSettlementWhileTheGateLooks(t *testing.T) {
	w := open(t)
	w.banked()
	first := w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.Amount = "500.00" }))
	second := w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.Amount = "499.00" }))
	w.execute(first, proposals.Dispatching)
	receipt := w.receipt(first, execution.Done)
	w.registry.while = func() {
		_, err := w.settle(receipt)
		noError(t, err)
		equal(t, "left meanwhile", w.left(), "500.00")
	}
	w.execute(second, proposals.Dispatching)
	equal(t, "held", w.held(), "49900")
}

// What is paid or promised from the account while the gate looks leaves less room
// than it saw.
func TestDispatchWhileTheGateLooks(t *testing.T) {
	w := open(t)
	w.banked()
	first := w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.Amount = "500.00" }))
	second := w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.Amount = "499.00" }))
	third := w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.Amount = "2.00" }))
	w.execute(first, proposals.Dispatching)
	receipt := w.receipt(first, execution.Done)
	w.registry.while = func() { // the second takes its 499, and the first's 500 are released
		w.execute(second, proposals.Dispatching)
		_, err := w.settle(receipt)
		noError(t, err)
	}
	w.execute(third, proposals.Failed)
	equal(t, "failed", failed(checks(t, w.the(execution.EventFailed, third))), "8 13")
	equal(t, "held", w.held(), "49900")
	equal(t, "left", w.left(), "500.00")
}

// between runs something once for each request it makes to the table, with
// something else happening just before that request.
func between(t *testing.T, run func(t *testing.T, w *world, meanwhile func(call, happens func()))) {
	hit := true
	for n := int64(1); hit; n++ {
		if !t.Run(fmt.Sprintf("before request %d", n), func(t *testing.T) {
			w := open(t)
			run(t, w, func(call, happens func()) {
				w.wire.breaks(n, false)
				w.wire.while = happens
				call()
				hit = w.wire.hit.Load()
				w.wire.while = nil
				w.wire.breaks(0, false)
			})
		}) {
			return
		}
	}
}

// Wherever one delivery of an event stands while another goes all the way, both end
// well and the payment is made once.
func TestAnotherDeliveryInBetween(t *testing.T) {
	between(t, func(t *testing.T, w *world, meanwhile func(call, happens func())) {
		intent := w.propose(proposals.Approved, payment(bill))
		meanwhile(func() { w.execute(intent, proposals.Executed) }, func() { w.execute(intent, proposals.Executed) })
		w.paid(intent)
	})
}

// The same with two deliveries of a receipt.
func TestAnotherReceiptInBetween(t *testing.T) {
	for outcome, end := range map[execution.Outcome]proposals.Status{execution.Done: proposals.Executed, execution.Refused: proposals.Failed} {
		t.Run(string(outcome), func(t *testing.T) {
			between(t, func(t *testing.T, w *world, meanwhile func(call, happens func())) {
				w.banked()
				intent := w.propose(proposals.Approved, payment(bill))
				w.execute(intent, proposals.Dispatching)
				receipt := w.receipt(intent, outcome)
				deliver := func() {
					report, err := w.settle(receipt)
					noError(t, err)
					equal(t, "status", report.Status, end)
				}
				meanwhile(deliver, deliver)
				equal(t, "disputed", w.alarmed(execution.AlarmDisputed), false)
				if outcome == execution.Done {
					w.paid(intent)
				} else {
					w.untouched(intent)
				}
			})
		})
	}
}

// And with another payment of the same account, which has room for both.
func TestAnotherPaymentInBetween(t *testing.T) {
	between(t, func(t *testing.T, w *world, meanwhile func(call, happens func())) {
		intents := w.many(2, 150)
		meanwhile(func() { w.execute(intents[0], proposals.Executed) }, func() { w.execute(intents[1], proposals.Executed) })
		w.execute(intents[1], proposals.Executed) // the last time nothing came in between
		equal(t, "executed", w.sums(intents, 1000_00), 2)
	})
}
