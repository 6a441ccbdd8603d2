package execution_test

import (
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// awaited empties the partition of what other tests wait for, which all tenants
// share, and returns a look at what is overdue there.
func (w *world) awaited() (overdue func() []execution.Overdue) {
	w.t.Helper()
	page, err := w.store.Query(w.ctx(), record.Query{PK: key.ReceiptsPartition})
	noError(w.t, err)
	for _, item := range page.Items {
		noError(w.t, w.store.Commit(w.ctx(), record.Change{Deletes: []key.Key{item.Key}}))
	}
	receipts := execution.Receipts{Store: w.store, Now: w.now}
	return func() []execution.Overdue {
		w.t.Helper()
		late, err := receipts.Overdue(w.ctx())
		noError(w.t, err)
		return late
	}
}

// A receipt that does not come in its time is seen, and nothing else happens; one
// that comes late, whatever it says, ends that.
func TestOverdueReceipts(t *testing.T) {
	for outcome, end := range map[execution.Outcome]proposals.Status{execution.Done: proposals.Executed, execution.Refused: proposals.Failed} {
		w := open(t)
		bank := w.banked()
		overdue := w.awaited()
		intent := w.propose(proposals.Approved, payment(bill))
		w.execute(intent, proposals.Dispatching)
		dispatched := w.now()
		w.pass(24 * time.Hour)
		equal(t, "overdue in its time", len(overdue()), 0)
		w.execute(intent, proposals.Dispatching) // the event comes again: the time does not begin anew
		w.pass(time.Millisecond)
		late := overdue()
		equal(t, "overdue", len(late), 1)
		equal(t, "which", late[0], execution.Overdue{Tenant: w.tenant.String(), Execution: execution.NameOf(intent), Due: dispatched.Add(24 * time.Hour)})
		equal(t, "orders", len(bank.taken), 2) // the two events', none of the look
		equal(t, "held", w.held(), "10000")
		w.pass(72 * time.Hour)
		report, err := w.settle(w.receipt(intent, outcome))
		noError(t, err)
		equal(t, "status", report.Status, end)
		equal(t, "overdue after a late receipt", len(overdue()), 0)
	}
}

// What was settled in its time is never overdue, and a rail that answers at once
// is not waited for.
func TestSettledReceiptsAreNotOverdue(t *testing.T) {
	w := open(t)
	w.banked()
	overdue := w.awaited()
	paid := w.propose(proposals.Approved, payment(bill))
	w.execute(paid, proposals.Dispatching)
	_, err := w.settle(w.receipt(paid, execution.Done))
	noError(t, err)
	w.executor.Rails = execution.Rails{Usual: execution.Sandbox{Now: w.now}}
	w.execute(w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.Amount = "7.00" })), proposals.Executed)
	page, err := w.store.Query(w.ctx(), record.Query{PK: key.ReceiptsPartition})
	noError(t, err)
	equal(t, "marks", len(page.Items), 0)
	w.pass(1000 * time.Hour)
	equal(t, "overdue", len(overdue()), 0)
}
