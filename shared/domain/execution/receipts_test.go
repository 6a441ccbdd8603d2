package execution_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// settle gives a receipt to the executor.
func (w *world) settle(r execution.Receipt) (execution.Report, error) {
	w.t.Helper()
	return w.executor.Settle(w.ctx(), w.tenant, "msg", r)
}

// disputed reports a receipt that was not disputed, or not for this reason.
func (w *world) disputed(r execution.Receipt, reason string) {
	w.t.Helper()
	_, err := w.settle(r)
	var d *execution.Dispute
	if !errors.As(err, &d) || !strings.Contains(d.Reason, reason) {
		w.t.Errorf("error = %v, want a dispute because %s", err, reason)
	}
	equal(w.t, "somebody is told", w.alarmed(execution.AlarmDisputed), true)
	w.alarms.Delete(execution.AlarmDisputed)
}

func TestBank(t *testing.T) {
	w := open(t)
	bank := w.banked()
	intent := w.propose(proposals.Approved, payment(bill))
	report := w.execute(intent, proposals.Dispatching)
	equal(t, "outcome", report.Outcome, execution.Accepted)
	equal(t, "again", report.Again, false)
	equal(t, "held", w.held(), "10000")
	equal(t, "orders", len(bank.taken), 1)
	w.execute(intent, proposals.Dispatching) // the event comes again
	equal(t, "orders", len(bank.taken), 2)
	equal(t, "the same order", bytes.Equal(bank.taken[0].Detail, bank.taken[1].Detail), true)
	equal(t, "held", w.held(), "10000")

	var cloud struct {
		Source, Type string
		Data         json.RawMessage
	}
	noError(t, json.Unmarshal(bank.taken[0].Detail, &cloud))
	equal(t, "source", cloud.Source+" "+cloud.Type, "robotmoney.execute payment_order.created")
	event, err := journal.Parse(cloud.Data) // the audit trail takes it
	noError(t, err)
	equal(t, "tenant", event.Tenant(), w.tenant)

	receipt := w.receipt(intent, execution.Done)
	for range 3 { // a receipt comes more than once
		report, err := w.settle(receipt)
		noError(t, err)
		equal(t, "status", report.Status, proposals.Executed)
	}
	w.paid(intent)
	x, _ := get[ledger.Transaction](w, key.Ledger(w.tenant, id.Transaction, "tx_"+intent[3:]))
	equal(t, "the bank's name for it", *x.ExternalTransactionID, "bank-1")
	w.execute(intent, proposals.Executed)
	equal(t, "orders at last", len(bank.taken), 2)
}

// A receipt is believed as far as it is of the execution that is stored.
func TestForeignReceipts(t *testing.T) {
	w, other := open(t), open(t)
	w.banked()
	other.banked()
	intent := w.propose(proposals.Approved, payment(bill))
	second := w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.Amount = "99.00" }))
	w.execute(intent, proposals.Dispatching)
	w.execute(second, proposals.Dispatching)
	for name, c := range map[string]struct {
		change func(*execution.Receipt)
		reason string
	}{
		"no execution":                {func(r *execution.Receipt) { r.ExecutionID = "exec_none" }, "no such execution"},
		"another intent":              {func(r *execution.Receipt) { r.IntentID = second }, "another payment intent"},
		"another execution":           {func(r *execution.Receipt) { r.ExecutionID = execution.NameOf(second) }, "another payment intent"},
		"another execution and its":   {func(r *execution.Receipt) { r.ExecutionID, r.IntentID = execution.NameOf(second), second }, "idempotency key"},
		"another rail":                {func(r *execution.Receipt) { r.Rail = "sandbox" }, "another rail"},
		"another key":                 {func(r *execution.Receipt) { r.IdempotencyKey = strings.Repeat("0", 64) }, "idempotency key"},
		"another amount":              {func(r *execution.Receipt) { r.Amount = "100.01" }, "amount"},
		"the amount in another form":  {func(r *execution.Receipt) { r.Amount = "100" }, "amount"},
		"another currency":            {func(r *execution.Receipt) { r.Currency = "EUR" }, "amount"},
		"no reference":                {func(r *execution.Receipt) { r.Reference = "" }, "reference"},
		"a time nobody can read":      {func(r *execution.Receipt) { r.At = "yesterday" }, "time"},
		"a time of the future":        {func(r *execution.Receipt) { r.At = "2025-10-01T12:00:01Z" }, "future"},
		"an outcome there is none of": {func(r *execution.Receipt) { r.Outcome = "paid" }, "it says paid"},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.receipt(intent, execution.Done)
			c.change(&r)
			w.disputed(r, c.reason)
			equal(t, "status", w.intent(intent).Status, proposals.Dispatching)
		})
	}
	receipt := w.receipt(intent, execution.Done)
	if _, err := other.settle(receipt); err == nil {
		t.Error("another tenant's receipt was taken")
	}
	equal(t, "state", w.record(intent).State, execution.Dispatched)
	equal(t, "state of the second", w.record(second).State, execution.Dispatched)
}

// What contradicts the end an execution has come to changes nothing, and a person
// is told: money may have moved that the ledger does not know of.
func TestLateReceipts(t *testing.T) {
	w := open(t)
	w.banked()
	intent := w.propose(proposals.Approved, payment(bill))
	w.execute(intent, proposals.Dispatching)
	settled, refused := w.receipt(intent, execution.Done), w.receipt(intent, execution.Refused)
	refused.Reason = "account closed"
	report, err := w.settle(refused)
	noError(t, err)
	equal(t, "status", report.Status, proposals.Failed)
	w.untouched(intent)
	w.disputed(settled, "it says settled and the execution is failed")
	report, err = w.settle(refused)
	noError(t, err)
	equal(t, "status", report.Status, proposals.Failed)
	w.untouched(intent)
	e := w.the(execution.EventAfter, intent)
	equal(t, "reason", e.Outputs["rail_receipt"].(map[string]any)["reason"].(string), "account closed")

	// What was refused may be proposed and paid again.
	again := w.propose(proposals.Approved, payment(bill))
	w.execute(again, proposals.Dispatching)
	receipt := w.receipt(again, execution.Done)
	_, err = w.settle(receipt)
	noError(t, err)
	w.paid(again)
	w.disputed(w.receipt(again, execution.Refused), "it says refused and the execution is settled")
	receipt.Reference = "bank-2"
	w.disputed(receipt, "another reference")
	w.paid(again)
}

// A rail that does not answer leaves the intent where it is, whatever happens, and
// somebody is told.
func TestUnknown(t *testing.T) {
	w := open(t)
	bank := w.banked()
	bank.err = errors.New("the bus is away")
	intent := w.propose(proposals.Approved, payment(bill))
	for range 3 {
		report := w.execute(intent, proposals.Dispatching)
		equal(t, "outcome", report.Outcome, execution.Unknown)
		equal(t, "again", report.Again, true)
	}
	equal(t, "somebody is told", w.alarmed(execution.AlarmUnknown), true)
	equal(t, "held", w.held(), "10000")
	w.pass(100 * 24 * time.Hour)
	_, err := w.desk.Expire(w.ctx())
	noError(t, err)
	w.execute(intent, proposals.Dispatching)
	bank.err = nil
	w.execute(intent, proposals.Dispatching)
	receipt := w.receipt(intent, execution.Done)
	receipt.At = "2025-09-30T23:59:59-02:00" // a day of our own calendar
	_, err = w.settle(receipt)
	noError(t, err)
	equal(t, "status", w.intent(intent).Status, proposals.Executed)
	x, _ := get[ledger.Transaction](w, key.Ledger(w.tenant, id.Transaction, "tx_"+intent[3:]))
	equal(t, "day", x.TransactionDate, "2025-10-01")
}

// A deployment that has the rail no more does not fail what was handed to it.
func TestRailIsGone(t *testing.T) {
	w := open(t)
	w.banked()
	intent := w.propose(proposals.Approved, payment(bill))
	w.execute(intent, proposals.Dispatching)
	w.executor.Rails = execution.Rails{Usual: execution.Sandbox{Now: w.now}}
	if _, err := w.executor.Execute(w.ctx(), w.tenant, "msg", intent); err == nil {
		t.Error("it was sent over another rail")
	}
	equal(t, "status", w.intent(intent).Status, proposals.Dispatching)
}

// What a rail cannot carry at all ends before anything is handed to it.
func TestRailRefusesBefore(t *testing.T) {
	w := open(t)
	w.banked()
	w.write(&ledger.Account{Meta: meta("acct_usdc"), AccountType: "onchain", Name: "Wallet", Currency: "USDC", Status: "active"},
		&ledger.Balance{AccountID: "acct_usdc", AsOf: "2025-09-30T11:00:00.000Z", Current: "1000", Currency: "USDC"})
	p := payment(func(p *payments.Payment) {
		p.ActionType, p.SourceAccountID, p.Currency, p.Amount = payments.OnchainTransfer, "acct_usdc", "USDC", "5"
	})
	intent := w.propose(proposals.Pending, p)
	w.approve("mbr_ann", intent)
	w.execute(intent, proposals.Failed)
	e := w.the(execution.EventFailed, intent)
	all := checks(t, e)
	inOrder(t, all, false)
	equal(t, "failed", failed(all), "13")
	equal(t, "reason", e.Outputs["reason"].(string), "a bank carries no USDC")
	w.untouched(intent)
}

// A payment is found to its end by the trace of the request that led to it,
// although its receipt has none.
func TestTraceOfAReceipt(t *testing.T) {
	for _, outcome := range []execution.Outcome{execution.Done, execution.Refused} {
		w := open(t)
		w.banked()
		intent := w.propose(proposals.Approved, payment(bill))
		w.executeIn(one, intent, proposals.Dispatching)
		_, err := w.settle(w.receipt(intent, outcome))
		noError(t, err)
		equal(t, "trace", w.the(execution.EventAfter, intent).Trace, one)
	}
}

// A settlement that died with the account's turn is finished by the next payment
// that wants it, each in its own trace.
func TestSettlementIsFinishedByAnother(t *testing.T) {
	w := open(t)
	w.banked()
	first := w.propose(proposals.Approved, payment(bill))
	w.executeIn(one, first, proposals.Dispatching)
	receipt := w.receipt(first, execution.Done)
	for n := int64(1); w.record(first).State == execution.Dispatched; n++ { // until the receipt is kept and nothing more
		w.wire.breaks(n, true)
		_, _ = w.settle(receipt)
		w.wire.breaks(0, false)
	}
	equal(t, "state", w.record(first).State, execution.Settling)
	turn, _ := get[string](w, key.Turn(w.tenant, own))
	equal(t, "turn", turn, execution.NameOf(first))
	second := w.propose(proposals.Approved, payment(func(p *payments.Payment) { p.Amount = "450.00" }))
	w.executeIn(other, second, proposals.Dispatching)
	equal(t, "the first", w.intent(first).Status, proposals.Executed)
	equal(t, "the first's trace", w.the(execution.EventAfter, first).Trace, one)
	equal(t, "the second's trace", w.the(execution.EventBefore, second).Trace, other)
	equal(t, "left", w.left(), "900.00")
	equal(t, "held", w.held(), "45000")
	turn, _ = get[string](w, key.Turn(w.tenant, own))
	equal(t, "turn", turn, "")
}

func TestReceiptOf(t *testing.T) {
	const sound = `{"inputs":{"id":"pi_1","execution_id":"exec_1","idempotency_key":"k","amount":"1.00","currency":"USD"},"outputs":{"status":"settled","reference":"r","at":"2025-09-30T12:00:00Z"}}`
	r, err := execution.ReceiptOf([]byte(sound))
	noError(t, err)
	want := execution.Receipt{
		ExecutionID: "exec_1", IntentID: "pi_1", IdempotencyKey: "k", Rail: "bank", Outcome: execution.Done, Amount: "1.00", Currency: "USD", Reference: "r", At: "2025-09-30T12:00:00Z",
	}
	got, err := json.Marshal(r)
	noError(t, err)
	wanted, err := json.Marshal(want)
	noError(t, err)
	equal(t, "receipt", string(got), string(wanted))
	for name, change := range map[string][2]string{
		"no JSON":             {sound, "?"},
		"a list":              {sound, "[]"},
		"no inputs":           {"inputs", "in"},
		"no outputs":          {"outputs", "out"},
		"another prefix":      {"exec_1", "pi_1"},
		"an intent of no id":  {`"pi_1"`, `"pi_../x"`},
		"accepted":            {"settled", "accepted"},
		"unknown":             {"settled", "unknown"},
		"a number for status": {`"settled"`, "1"},
		"a long reference":    {`"r"`, `"` + strings.Repeat("r", 257) + `"`},
	} {
		if _, err := execution.ReceiptOf([]byte(strings.Replace(sound, change[0], change[1], 1))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzReceiptOf(f *testing.F) {
	f.Add([]byte(`{"inputs":{"id":"pi_1","execution_id":"exec_1"},"outputs":{"status":"refused","reason":"no"}}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := execution.ReceiptOf(data)
		if err == nil && (r.Outcome != execution.Done && r.Outcome != execution.Refused || id.Check(id.Execution, r.ExecutionID) != nil) {
			t.Errorf("took %+v", r)
		}
	})
}
