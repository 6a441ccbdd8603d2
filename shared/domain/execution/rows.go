package execution

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// transaction is the id of the ledger's row of the payment.
func (r Record) transaction() string { return renamed(r.ID, id.Transaction) }

// rows are what a payment that was made changes in the ledger, as the ledger is
// now. What an earlier try has written already is not in them, or says the same:
// that the transaction is linked to a row is how one knows.
func (e *Executor) rows(ctx context.Context, t identity.Tenant, r Record) ([]ledger.Row, error) {
	p := r.Order.Payment
	keys := []key.Key{key.Ledger(t, id.Transaction, r.transaction())}
	if p.ObligationID != nil {
		keys = append(keys, key.Ledger(t, id.Obligation, *p.ObligationID))
	}
	if p.InvoiceID != nil {
		keys = append(keys, key.Ledger(t, id.Invoice, *p.InvoiceID))
	}
	items, err := e.Store.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	rows, err := r.booked(items, keys[0])
	if err != nil {
		return nil, err
	}
	for _, owed := range []func(identity.Tenant, map[key.Key]record.Item) (ledger.Row, error){r.obligation, r.invoice} {
		row, err := owed(t, items)
		if err != nil {
			return nil, err
		}
		if row != nil {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// origin is where the rows of an execution come from.
func origin(name string) ledger.Meta {
	return ledger.Meta{ID: name, Provenance: "extracted", Confidence: 1}
}

// balance is the row of what the account holds after the payment, nil where that
// is not known.
func (r Record) balance() *ledger.Balance {
	b := r.Balance
	if b == nil {
		return nil
	}
	p := r.Order.Payment
	return &ledger.Balance{AccountID: p.SourceAccountID, AsOf: b.AsOf, Current: b.Current, Available: b.Available, Pending: b.Pending, Currency: p.Currency}
}

// booked is the row of the payment itself, unless it is there. What somebody has
// made of it since, such as a category, stays.
func (r Record) booked(items map[key.Key]record.Item, at key.Key) ([]ledger.Row, error) {
	var there *ledger.Transaction
	if err := decode(items, at, &there); err != nil {
		return nil, err
	}
	if there != nil {
		if ours := there.ExternalTransactionID; ours == nil || *ours != r.Receipt.Reference || there.AccountID != r.Order.Payment.SourceAccountID {
			return nil, fmt.Errorf("%s is in the ledger and is not this payment", there.ID)
		}
		return nil, nil
	}
	p := r.Order.Payment
	when, err := time.Parse(time.RFC3339, r.Receipt.At)
	if err != nil {
		return nil, fmt.Errorf("time of the receipt: %w", err)
	}
	day, text, matched := when.UTC().Format(time.DateOnly), r.describe(), "unreconciled"
	if p.ObligationID != nil || p.InvoiceID != nil {
		matched = "matched"
	}
	x := &ledger.Transaction{
		Meta:      origin(r.transaction()),
		AccountID: p.SourceAccountID, ExternalTransactionID: &r.Receipt.Reference, Amount: p.Amount, Currency: p.Currency,
		Direction: flowOf(p.ActionType).direction, TransactionDate: day, PostedDate: &day, CounterpartyID: &p.DestinationCounterpartyID,
		Status: "posted", Description: &text, ReconciliationStatus: matched,
	}
	if hash := r.Receipt.Detail["tx_hash"]; hash != "" {
		x.ChainTxHash = &hash
	}
	return []ledger.Row{x}, nil
}

// describe says what the payment is, in the words of the ledger.
func (r Record) describe() string {
	text := fmt.Sprintf("%s of %s, %s", r.Order.Payment.ActionType, r.IntentID, r.Order.Creditor.Name)
	if memo := r.Order.Payment.Memo; memo != nil {
		text += ": " + *memo
	}
	return text
}

// obligation is the linked obligation after the payment, nil for none. One that
// was not paid in full stays open with the payment linked.
func (r Record) obligation(t identity.Tenant, items map[key.Key]record.Item) (ledger.Row, error) {
	p := r.Order.Payment
	if p.ObligationID == nil {
		return nil, nil
	}
	var o *ledger.Obligation
	if err := decode(items, key.Ledger(t, id.Obligation, *p.ObligationID), &o); err != nil || o == nil {
		return nil, err
	}
	if slices.Contains(o.LinkedTransactionIDs, r.transaction()) {
		return nil, nil
	}
	o.LinkedTransactionIDs = append(o.LinkedTransactionIDs, r.transaction())
	rest, err := less(o.AmountDue, p.Amount, p.Currency)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.ID, err)
	}
	if rest.Sign() <= 0 {
		o.Status = "paid"
	}
	return o, nil
}

// invoice is the linked invoice after the payment, nil for none.
func (r Record) invoice(t identity.Tenant, items map[key.Key]record.Item) (ledger.Row, error) {
	p := r.Order.Payment
	if p.InvoiceID == nil {
		return nil, nil
	}
	var i *ledger.Invoice
	if err := decode(items, key.Ledger(t, id.Invoice, *p.InvoiceID), &i); err != nil || i == nil {
		return nil, err
	}
	if slices.Contains(i.LinkedTransactionIDs, r.transaction()) {
		return nil, nil
	}
	i.LinkedTransactionIDs = append(i.LinkedTransactionIDs, r.transaction())
	paid, err := (money.Written{Amount: i.AmountPaid, Currency: i.Currency}).Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.ID, err)
	}
	amount, err := p.Money()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.ID, err)
	}
	if paid, err = paid.Add(amount); err != nil {
		return nil, fmt.Errorf("%s: %w", i.ID, err)
	}
	i.AmountPaid, i.Status = paid.String(), "partial"
	rest, err := less(i.AmountDue, i.AmountPaid, i.Currency)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.ID, err)
	}
	if rest.Sign() <= 0 {
		i.Status = "paid"
	}
	return i, nil
}

// less is one amount less another.
func less(from, what, currency string) (money.Amount, error) {
	a, err := money.Written{Amount: from, Currency: currency}.Read()
	if err != nil {
		return a, err
	}
	b, err := money.Written{Amount: what, Currency: currency}.Read()
	if err != nil {
		return b, err
	}
	return a.Sub(b)
}

// reopened is the mark of an invoice that was paid in part: the rest may be paid
// by another payment. An obligation says nowhere how much of it is paid, so its
// mark stays.
func (e *Executor) reopened(ctx context.Context, t identity.Tenant, r Record) ([]key.Key, error) {
	name := r.Order.Payment.InvoiceID
	if name == nil {
		return nil, nil
	}
	at := key.Ledger(t, id.Invoice, *name)
	items, err := e.Store.GetMany(ctx, []key.Key{at})
	if err != nil {
		return nil, err
	}
	var i *ledger.Invoice
	if err := decode(items, at, &i); err != nil || i == nil || i.Status != "partial" {
		return nil, err
	}
	return []key.Key{key.Spent(t, *name)}, nil
}
