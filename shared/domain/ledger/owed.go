package ledger

import (
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// Obligation is money that is owed. Status is stored only when something has
// settled it; upcoming, due and overdue follow from the due date at the time of
// reading.
type Obligation struct {
	Meta
	Type                 string   `json:"type"`
	CounterpartyID       string   `json:"counterparty_id"`
	Direction            string   `json:"direction"`
	AmountDue            string   `json:"amount_due"`
	MinimumDue           *string  `json:"minimum_due"`
	Currency             string   `json:"currency"`
	DueDate              string   `json:"due_date"`
	Recurrence           *string  `json:"recurrence"` // RRULE
	Status               string   `json:"status"`
	LinkedTransactionIDs []string `json:"linked_transaction_ids"`
}

// The vocabularies of obligations and invoices.
var (
	ObligationTypes    = []string{"bill", "invoice", "subscription", "loan", "rent", "payroll", "tax", "card_statement", "dispute", "other"}
	ObligationStatuses = []string{"upcoming", "due", "paid", "overdue", "cancelled", "disputed"}
	OwedDirections     = []string{"payable", "receivable"}
	InvoiceStatuses    = []string{"draft", "sent", "partial", "paid", "overdue", "cancelled", "disputed"}
)

// dueWithin is how many days before its date an obligation is due and no longer
// upcoming.
const dueWithin = 7

func (o *Obligation) kind() id.Prefix { return id.Obligation }

func (o *Obligation) check() error {
	o.LinkedTransactionIDs = list(o.LinkedTransactionIDs)
	return first(o.Meta.check(id.Obligation), oneOf("type", o.Type, ObligationTypes), refers(id.Counterparty, &o.CounterpartyID),
		oneOf("direction", o.Direction, OwedDirections), oneOf("status", o.Status, ObligationStatuses),
		date("due_date", &o.DueDate), text("recurrence", o.Recurrence), referAll(id.Transaction, o.LinkedTransactionIDs),
		amounts(o.Currency, money.ParseAmount, &o.AmountDue, o.MinimumDue))
}

func (o *Obligation) key(t identity.Tenant) key.Key { return key.Ledger(t, id.Obligation, o.ID) }

func (o *Obligation) places(t identity.Tenant) [3]key.Key {
	return [3]key.Key{
		key.LedgerList(t, id.Obligation, o.DueDate, o.ID),
		{},
		key.LedgerListOf(t, id.Obligation, o.CounterpartyID, o.DueDate, o.ID),
	}
}

// StatusOn is the obligation's status on a day.
func (o *Obligation) StatusOn(day time.Time) string {
	switch o.Status {
	case "paid", "cancelled", "disputed":
		return o.Status
	}
	today := day.Format(time.DateOnly)
	switch {
	case o.DueDate < today:
		return "overdue"
	case o.DueDate <= day.AddDate(0, 0, dueWithin).Format(time.DateOnly):
		return "due"
	}
	return "upcoming"
}

// Invoice is a document that asks for money.
type Invoice struct {
	Meta
	InvoiceNumber        string   `json:"invoice_number"`
	CounterpartyID       string   `json:"counterparty_id"`
	Direction            string   `json:"direction"`
	AmountDue            string   `json:"amount_due"`
	AmountPaid           string   `json:"amount_paid"`
	Currency             string   `json:"currency"`
	IssueDate            string   `json:"issue_date"`
	DueDate              string   `json:"due_date"`
	Status               string   `json:"status"`
	LinkedTransactionIDs []string `json:"linked_transaction_ids"`
}

func (i *Invoice) kind() id.Prefix { return id.Invoice }

func (i *Invoice) check() error {
	i.LinkedTransactionIDs = list(i.LinkedTransactionIDs)
	if i.InvoiceNumber == "" || len(i.InvoiceNumber) > 128 {
		return fmt.Errorf("invoice_number %.40q: want 1 to 128 bytes", i.InvoiceNumber)
	}
	return first(i.Meta.check(id.Invoice), refers(id.Counterparty, &i.CounterpartyID), text("invoice_number", &i.InvoiceNumber),
		oneOf("direction", i.Direction, OwedDirections), oneOf("status", i.Status, InvoiceStatuses),
		date("issue_date", &i.IssueDate), date("due_date", &i.DueDate), referAll(id.Transaction, i.LinkedTransactionIDs),
		amounts(i.Currency, money.ParseAmount, &i.AmountDue, &i.AmountPaid))
}

func (i *Invoice) key(t identity.Tenant) key.Key { return key.Ledger(t, id.Invoice, i.ID) }

func (i *Invoice) places(t identity.Tenant) [3]key.Key {
	return [3]key.Key{
		key.LedgerList(t, id.Invoice, i.IssueDate, i.ID),
		key.LedgerListOf(t, id.Invoice, Fold(i.InvoiceNumber), "", i.ID),
		key.LedgerListOf(t, id.Invoice, i.CounterpartyID, i.IssueDate, i.ID),
	}
}

// StatusOn is the invoice's status on a day: what was sent or partly paid is
// overdue after its date.
func (i *Invoice) StatusOn(day time.Time) string {
	if (i.Status == "sent" || i.Status == "partial") && i.DueDate < day.Format(time.DateOnly) {
		return "overdue"
	}
	return i.Status
}
