package question

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// invoice answers how an invoice stands and what was paid on it.
func (x *execution) invoice(ctx context.Context) (string, error) {
	i, err := x.findInvoice(ctx)
	if err != nil {
		return "", err
	}
	if i.IssueDate > x.day {
		return "", unanswered("Invoice %s was not issued yet on %s.", fence.Text(i.InvoiceNumber), x.day)
	}
	due, err := amount(i.AmountDue, i.Currency)
	if err != nil {
		return "", fmt.Errorf("invoice %s: %w", i.ID, err)
	}
	paid, err := amount(i.AmountPaid, i.Currency)
	if err != nil {
		return "", fmt.Errorf("invoice %s: %w", i.ID, err)
	}
	payments, later, err := x.payments(ctx, i)
	if err != nil {
		return "", err
	}
	status := i.StatusOn(midnight(x.asOf))
	if later {
		// What was paid after the day had not been paid on it.
		if paid, status, err = x.then(i, due, payments); err != nil {
			return "", err
		}
	}
	return x.tellInvoice(ctx, i, due, paid, status, payments)
}

// findInvoice finds the one invoice that is meant.
func (x *execution) findInvoice(ctx context.Context) (ledger.Invoice, error) {
	const enough = 20
	f := x.plan.Filters
	if id.Check(id.Invoice, f.InvoiceNumber) == nil {
		found, err := byID[ledger.Invoice](ctx, x, id.Invoice, []string{f.InvoiceNumber})
		if err != nil {
			return ledger.Invoice{}, err
		}
		if i, ok := found[f.InvoiceNumber]; ok && (f.CounterpartyID == "" || i.CounterpartyID == f.CounterpartyID) {
			return i, nil
		}
		return ledger.Invoice{}, unanswered("There is no invoice %s in the ledger%s.", fence.Text(f.InvoiceNumber), x.with())
	}
	q := record.Query{Index: 2, PK: key.LedgerListOf(x.tenant, id.Invoice, ledger.Fold(f.InvoiceNumber), "", "").PK}
	list, whole, err := rows[ledger.Invoice](ctx, x.store, q, enough)
	if err != nil {
		return ledger.Invoice{}, err
	}
	list = slices.DeleteFunc(list, func(i ledger.Invoice) bool { return f.CounterpartyID != "" && i.CounterpartyID != f.CounterpartyID })
	switch {
	case len(list) == 0:
		return ledger.Invoice{}, unanswered("There is no invoice %s in the ledger%s.", fence.Text(f.InvoiceNumber), x.with())
	case len(list) > 1 || !whole:
		var found []candidate
		for _, i := range list {
			found = append(found, candidate{id: i.ID, name: i.InvoiceNumber})
		}
		return ledger.Invoice{}, ambiguous(f.InvoiceNumber, found)
	}
	return list[0], nil
}

func (x *execution) with() string {
	if x.plan.Filters.CounterpartyID == "" {
		return ""
	}
	return " that is `" + x.plan.Filters.CounterpartyID + "`'s"
}

// payments are an invoice's transactions up to the day, the oldest first, and
// whether there are later ones.
func (x *execution) payments(ctx context.Context, i ledger.Invoice) (list []ledger.Transaction, later bool, err error) {
	found, err := byID[ledger.Transaction](ctx, x, id.Transaction, i.LinkedTransactionIDs)
	if err != nil {
		return nil, false, err
	}
	for _, name := range i.LinkedTransactionIDs {
		switch p, ok := found[name]; {
		case !ok:
		case p.TransactionDate > x.day:
			later = true
		default:
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b ledger.Transaction) int { return strings.Compare(a.TransactionDate, b.TransactionDate) })
	return list, later, nil
}

// then is what had been paid of an invoice on a day in the past, and its status.
func (x *execution) then(i ledger.Invoice, due money.Amount, payments []ledger.Transaction) (money.Amount, string, error) {
	paid := money.Zero(due.Currency())
	for _, p := range payments {
		part, err := amount(p.Amount, p.Currency)
		if err != nil {
			return paid, "", fmt.Errorf("payment %s: %w", p.ID, err)
		}
		if paid, err = paid.Add(part); err != nil {
			return paid, "", unanswered("Invoice %s was paid in several currencies; what was open on %s is not known.", fence.Text(i.InvoiceNumber), x.day)
		}
	}
	switch order, err := paid.Cmp(due); {
	case err != nil:
		return paid, "", err
	case i.Status != "paid" && i.Status != "partial":
	case order >= 0:
		i.Status = "paid"
	case paid.Sign() > 0:
		i.Status = "partial"
	default:
		i.Status = "sent"
	}
	return paid, i.StatusOn(midnight(x.asOf)), nil
}

func (x *execution) tellInvoice(ctx context.Context, i ledger.Invoice, due, paid money.Amount, status string, payments []ledger.Transaction) (string, error) {
	names, err := x.names(ctx, i.CounterpartyID)
	if err != nil {
		return "", err
	}
	open, err := due.Sub(paid)
	if err != nil {
		return "", err
	}
	side := "to"
	if i.Direction == "payable" {
		side = "from"
	}
	text := fmt.Sprintf("Invoice %s %s %s is %s on %s: %s of %s is paid, %s is open. It was issued on %s and is due on %s.",
		fence.Text(i.InvoiceNumber), side, partyName(names, i.CounterpartyID), status, x.day, spell(paid), spell(due), spell(open), i.IssueDate, i.DueDate)
	x.cite(1, "invoice", i.ID, fmt.Sprintf("%s %s, paid %s, %s", fence.Text(i.InvoiceNumber), spell(due), spell(paid), status))
	lines := []string{}
	for _, p := range payments {
		a, err := amount(p.Amount, p.Currency)
		if err != nil {
			return "", fmt.Errorf("payment %s: %w", p.ID, err)
		}
		line := fmt.Sprintf("- %s %s, %s (`%s`)", p.TransactionDate, spell(a), memo(p, names), p.ID)
		if p.Status != "posted" && p.Status != "cleared" {
			line += ", " + p.Status
		}
		lines = append(lines, line)
	}
	slices.SortStableFunc(payments, func(p, q ledger.Transaction) int {
		a, errA := amount(p.Amount, p.Currency)
		b, errB := amount(q.Amount, q.Currency)
		if errA != nil || errB != nil {
			return 0
		}
		return compareLarge(a, b)
	})
	for _, p := range payments {
		if a, err := amount(p.Amount, p.Currency); err == nil {
			x.cite(2, "transaction", p.ID, memo(p, names)+" "+spell(a))
		}
	}
	if c, ok := names[i.CounterpartyID]; ok {
		x.cite(3, "counterparty", c.ID, fence.Text(c.Name))
	}
	if len(lines) == 0 {
		return text + " No payment is linked to it.", nil
	}
	return text + " Payments:\n" + strings.Join(lines, "\n"), nil
}

// tomorrow is the day after the one asked about.
func (x *execution) tomorrow() string { return midnight(x.asOf).AddDate(0, 0, 1).Format(time.DateOnly) }
