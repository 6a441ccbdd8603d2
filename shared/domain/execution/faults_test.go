package execution_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// often is how many calls an execution may take to come to its end, one of them
// broken.
const often = 5

// finally executes an intent until it is in a state.
func (w *world) finally(intent string, want proposals.Status) {
	w.t.Helper()
	for range often {
		if report, err := w.executor.Execute(w.ctx(), w.tenant, "msg", intent); err == nil && report.Status == want {
			return
		}
	}
	w.t.Fatalf("%s is %s after %d calls, want %s", intent, w.intent(intent).Status, often, want)
}

// eachRequest runs something once for each request it makes to the table, with
// that one broken: refused before the engine has it, or made and its answer lost.
func eachRequest(t *testing.T, run func(t *testing.T, w *world, broken func(call func()))) {
	for _, lose := range []bool{false, true} {
		n := int64(1)
		for hit := true; hit; n++ {
			name := fmt.Sprintf("refused %d", n)
			if lose {
				name = fmt.Sprintf("lost %d", n)
			}
			if !t.Run(name, func(t *testing.T) {
				w := open(t)
				run(t, w, func(call func()) {
					w.wire.breaks(n, lose)
					call()
					hit = w.wire.hit.Load()
					w.wire.breaks(0, false)
				})
			}) {
				return
			}
		}
		if n < 9 {
			t.Errorf("only %d requests were broken", n)
		}
	}
}

// A payment survives the loss of any one request: it is made once, and all of it.
func TestEachRequestOfAPaymentBreaks(t *testing.T) {
	eachRequest(t, func(t *testing.T, w *world, broken func(call func())) {
		intent := w.propose(proposals.Approved, payment(bill))
		broken(func() { _, _ = w.executor.Execute(w.ctx(), w.tenant, "msg", intent) })
		w.finally(intent, proposals.Executed)
		w.paid(intent)
	})
}

// So does the end of a payment at the gate.
func TestEachRequestOfARefusalAtTheGateBreaks(t *testing.T) {
	eachRequest(t, func(t *testing.T, w *world, broken func(call func())) {
		intent := w.propose(proposals.Approved, payment(bill))
		w.write(w.balance("99.99"))
		broken(func() { _, _ = w.executor.Execute(w.ctx(), w.tenant, "msg", intent) })
		w.finally(intent, proposals.Failed)
		equal(t, "failed", failed(checks(t, w.the(execution.EventFailed, intent))), "8 13")
		w.untouched(intent)
	})
}

// untouched looks at everything that a payment that failed must not have left.
func (w *world) untouched(intent string) {
	w.t.Helper()
	equal(w.t, "intent", w.intent(intent).Status, proposals.Failed)
	equal(w.t, "held", w.held(), "0")
	equal(w.t, "balances", len(w.balances()), 1)
	for _, name := range []string{"obl_1", "inv_1"} {
		_, marked := get[execution.Mark](w, key.Spent(w.tenant, name))
		equal(w.t, "mark of "+name, marked, false)
	}
	_, marked := get[execution.Mark](w, key.Paid(w.tenant, vendor, "payable", "100.00", "USD"))
	equal(w.t, "mark of the amount", marked, false)
	promises, _, err := w.store.Get(w.ctx(), key.Promises(w.tenant, "agent", w.agent))
	noError(w.t, err)
	for name, n := range promises.Numbers {
		if n.Sign() != 0 && !strings.HasPrefix(name, "ever.") {
			w.t.Errorf("the promise is counted still: %s is %s", name, n)
		}
	}
}

// orders are where the bank rail puts its orders.
type orders struct {
	mu    sync.Mutex
	taken []audit.Entry
	err   error
}

// Put takes an order.
func (o *orders) Put(_ context.Context, source string, entry audit.Entry) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && source == execution.OrderSource {
		o.taken = append(o.taken, entry)
	}
	return o.err
}

// banked makes the bank the world's rail.
func (w *world) banked() *orders {
	o := &orders{}
	w.executor.Rails = execution.Rails{Usual: execution.Bank{Orders: o, Receipt: 24 * time.Hour}}
	return o
}

// receipt is what the bank says of an intent's order.
func (w *world) receipt(intent string, outcome execution.Outcome) execution.Receipt {
	r := w.record(intent)
	return execution.Receipt{
		ExecutionID: r.ID, IntentID: intent, IdempotencyKey: r.IdempotencyKey, Rail: "bank", Outcome: outcome,
		Amount: r.Order.Payment.Amount, Currency: r.Order.Payment.Currency, Reference: "bank-1", At: "2025-09-30T12:05:00Z",
	}
}

// A receipt survives the loss of any one request.
func TestEachRequestOfAReceiptBreaks(t *testing.T) {
	for outcome, end := range map[execution.Outcome]proposals.Status{execution.Done: proposals.Executed, execution.Refused: proposals.Failed} {
		t.Run(string(outcome), func(t *testing.T) {
			eachRequest(t, func(t *testing.T, w *world, broken func(call func())) {
				w.banked()
				intent := w.propose(proposals.Approved, payment(bill))
				w.execute(intent, proposals.Dispatching)
				equal(t, "held", w.held(), "10000")
				receipt := w.receipt(intent, outcome)
				broken(func() { _, _ = w.executor.Settle(w.ctx(), w.tenant, "msg", receipt) })
				var report execution.Report
				for range often {
					report, _ = w.executor.Settle(w.ctx(), w.tenant, "msg", receipt)
				}
				equal(t, "status", report.Status, end)
				equal(t, "disputed", w.alarmed(execution.AlarmDisputed), false)
				if outcome == execution.Done {
					w.paid(intent)
					return
				}
				w.untouched(intent)
				e := w.the(execution.EventAfter, intent)
				equal(t, "ok", e.Outputs["ok"].(bool), false)
			})
		})
	}
}

// Where anything may break at any time, also while something broken is repaired,
// every payment comes to its one end all the same.
func TestEverythingBreaks(t *testing.T) {
	w := open(t)
	w.wire.often.Store(0)
	var intents []string
	for n := range 12 {
		intents = append(intents, w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.Amount = fmt.Sprintf("%d.00", 90+n) })))
	}
	w.wire.often.Store(8)
	var group sync.WaitGroup
	for _, intent := range intents {
		group.Go(func() {
			for range 400 {
				if report, err := w.executor.Execute(w.ctx(), w.tenant, "msg", intent); err == nil && report.Status != proposals.Dispatching {
					return
				}
			}
			t.Errorf("%s comes to no end", intent)
		})
	}
	group.Wait()
	w.wire.often.Store(0)
	w.sums(intents, 1000_00)
}
