package execution_test

import (
	"testing"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// paid looks at everything that follows from the world's bill having been paid
// once and once only.
func (w *world) paid(intent string) {
	w.t.Helper()
	t := w.t
	equal(t, "intent", w.intent(intent).Status, proposals.Executed)
	r := w.record(intent)
	equal(t, "execution", r.State, execution.Settled)
	equal(t, "held", w.held(), "0")
	equal(t, "balances", len(w.balances()), 2)
	equal(t, "left", w.left(), "900.00")
	a, _ := get[ledger.Account](w, key.Ledger(w.tenant, id.Account, own))
	equal(t, "left, as the account says", *a.CurrentBalance+" "+*a.AvailableBalance, "900.00 900.00")
	turn, found := get[string](w, key.Turn(w.tenant, own))
	equal(t, "turn", turn, "")
	equal(t, "turn is there", found, true)
	x, found := get[ledger.Transaction](w, key.Ledger(w.tenant, id.Transaction, "tx_"+intent[len("pi_"):]))
	equal(t, "transaction is there", found, true)
	equal(t, "transaction", x.Direction+" "+x.Amount+" "+x.Currency+" "+x.Status, "outflow 100.00 USD posted")
	o, _ := get[ledger.Obligation](w, key.Ledger(w.tenant, id.Obligation, "obl_1"))
	equal(t, "obligation", o.Status, "paid")
	equal(t, "links of the obligation", len(o.LinkedTransactionIDs), 1)
	i, _ := get[ledger.Invoice](w, key.Ledger(w.tenant, id.Invoice, "inv_1"))
	equal(t, "invoice", i.Status+" "+i.AmountPaid, "paid 100.00")
	equal(t, "links of the invoice", len(i.LinkedTransactionIDs), 1)
	rollup, _, err := w.store.Get(w.ctx(), key.Rollup(w.tenant, "month", "USD", "outflow", "2025-09", ""))
	noError(t, err)
	equal(t, "sum of the month", rollup.Numbers["total"].String(), "10000")
	equal(t, "number in the month", rollup.Numbers["count"].String(), "1")
	w.the(execution.EventBefore, intent)
	w.the(execution.EventAfter, intent)
	equal(t, "failures told of", len(w.told(execution.EventFailed, intent)), 0)
}

func TestExecute(t *testing.T) {
	w := open(t)
	intent := w.propose(proposals.Approved, payment(bill))
	w.execute(intent, proposals.Executed)
	w.paid(intent)
	before, after := w.the(execution.EventBefore, intent), w.the(execution.EventAfter, intent)
	all := checks(t, before)
	equal(t, "checks", len(all), 17)
	equal(t, "failed", failed(all), "")
	equal(t, "in the record too", len(w.record(intent).Checks), 17)
	equal(t, "rail", before.Inputs["rail"].(string), "sandbox")
	equal(t, "key", before.Inputs["idempotency_key"].(string), execution.KeyOf(w.tenant, intent))
	equal(t, "execution", before.Inputs["execution_id"].(string), execution.NameOf(intent))
	equal(t, "before", before.BeforeState["status"].(string)+" to "+before.AfterState["status"].(string), "approved to dispatching")
	equal(t, "after", after.BeforeState["status"].(string)+" to "+after.AfterState["status"].(string), "dispatching to executed")
	receipt := after.Outputs["rail_receipt"].(map[string]any)
	equal(t, "transaction in the receipt", receipt["transaction_id"].(string), "tx_"+intent[3:])
	w.execute(intent, proposals.Executed) // the event comes again
	w.paid(intent)
}
