package question

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// receivables answers what is owed to us: what is open on the invoices we sent,
// and obligations of other kinds. The obligation that an invoice stands for is
// not counted beside it.
func (x *execution) receivables(ctx context.Context) (string, error) {
	f := x.plan.Filters
	if f.CounterpartyID != "" {
		if err := x.exist(ctx, Filters{CounterpartyID: f.CounterpartyID}); err != nil {
			return "", err
		}
	}
	open, disputed, err := x.openInvoices(ctx)
	if err != nil {
		return "", err
	}
	other, err := x.otherReceivables(ctx, open)
	if err != nil {
		return "", err
	}
	if f.Status == "overdue" {
		late := func(b bill) bool { return b.DueDate >= x.day }
		open, other = slices.DeleteFunc(open, late), slices.DeleteFunc(other, late)
	}
	beside := ""
	if f.Type == "" {
		open = append(open, other...)
	} else if t, err := billTally(other); err == nil && len(other) > 0 {
		beside = fmt.Sprintf("\nBeside what is open on invoices, %s is receivable otherwise.", t.spelled())
	}
	slices.SortFunc(open, func(a, b bill) int { return cmp.Or(cmp.Compare(a.DueDate, b.DueDate), cmp.Compare(a.ID, b.ID)) })
	note := ""
	if disputed > 0 {
		note = fmt.Sprintf("\n%s left out.", plural(disputed, "disputed invoice is", "disputed invoices are"))
	}
	if len(open) == 0 {
		return fmt.Sprintf("Nothing is %s on %s%s.", map[bool]string{true: "overdue to be received", false: "receivable"}[f.Status == "overdue"], x.day, x.from()) + note + beside, nil
	}
	text, err := x.tellReceivables(ctx, open)
	return text + beside + note, err
}

// from says whose receivables the plan is about.
func (x *execution) from() string {
	text := ""
	if x.party != "" {
		text = " from " + x.party
	}
	if c := x.plan.Filters.Currency; c != "" {
		text += " in " + c
	}
	return text
}

func (x *execution) tellReceivables(ctx context.Context, open []bill) (string, error) {
	switch x.plan.Grouping {
	case ByAge:
		return x.tellAging(ctx, open)
	case ByParty:
		return x.tellParties(ctx, open, "from", "Receivable in all%s on %s: %s. By counterparty:\n%s")
	}
	t, err := billTally(open)
	if err != nil {
		return "", err
	}
	late := slices.DeleteFunc(slices.Clone(open), func(b bill) bool { return b.DueDate >= x.day })
	overdue, err := billTally(late)
	if err != nil {
		return "", err
	}
	list, err := x.tellBills(ctx, open, "")
	if err != nil {
		return "", err
	}
	_, lines, _ := strings.Cut(list, "\n")
	lines = strings.ReplaceAll(lines, " to `", " from `")
	what := "Receivable"
	if x.plan.Filters.Status == "overdue" {
		what = "Overdue receivables"
	}
	text := fmt.Sprintf("%s on %s%s: %s on %s", what, x.day, x.from(), t.spelled(), plural(len(open), "item", "items"))
	if what == "Receivable" && len(late) > 0 {
		text += fmt.Sprintf(", %s of it overdue", overdue.spelled())
	}
	return text + ":\n" + lines, nil
}

// openInvoices are the invoices we sent of which something is open on the day.
func (x *execution) openInvoices(ctx context.Context) (open []bill, disputed int, err error) {
	list, err := x.invoiceRows(ctx, Filters{CounterpartyID: x.plan.Filters.CounterpartyID, Currency: x.plan.Filters.Currency, Direction: "receivable"}, nil)
	if err != nil {
		return nil, 0, err
	}
	paid, err := x.paidThen(ctx, list)
	if err != nil {
		return nil, 0, err
	}
	for _, i := range list {
		if i.Status == "draft" || i.Status == "cancelled" {
			continue
		}
		due, err := amount(i.AmountDue, i.Currency)
		if err != nil {
			return nil, 0, fmt.Errorf("invoice %s: %w", i.ID, err)
		}
		rest, err := due.Sub(paid[i.ID])
		if err != nil {
			return nil, 0, fmt.Errorf("invoice %s: %w", i.ID, err)
		}
		switch {
		case rest.Sign() <= 0:
		case i.Status == "disputed":
			disputed++
		default:
			o := ledger.Obligation{Meta: i.Meta, Type: "invoice", CounterpartyID: i.CounterpartyID, Direction: i.Direction, Currency: i.Currency, DueDate: i.DueDate, Status: i.Status}
			open = append(open, bill{o, rest, "invoice"})
		}
	}
	return open, disputed, nil
}

// invoiceRows are the invoices issued up to the day, the newest first.
func (x *execution) invoiceRows(ctx context.Context, f Filters, p *Period) ([]ledger.Invoice, error) {
	q := record.Query{Index: 1, PK: key.LedgerList(x.tenant, id.Invoice, "", "").PK, To: x.tomorrow(), Reverse: true}
	if f.CounterpartyID != "" {
		q.Index, q.PK = 3, key.LedgerListOf(x.tenant, id.Invoice, f.CounterpartyID, "", "").PK
	}
	if p != nil {
		q.From, q.To = p.From, min(p.Until, x.tomorrow())
	}
	list, whole, err := rows[ledger.Invoice](ctx, x.store, q, maxOwed)
	if err != nil {
		return nil, err
	}
	if !whole {
		return nil, unanswered("There are more than %d invoices, too many to look at. Ask for a customer or a period.", maxOwed)
	}
	return slices.DeleteFunc(list, func(i ledger.Invoice) bool {
		return f.Direction != "" && i.Direction != f.Direction || f.Currency != "" && i.Currency != f.Currency
	}), nil
}

// paidThen is what had been paid of invoices on the day. Of a day in the past,
// the payments that came later are taken back out.
func (x *execution) paidThen(ctx context.Context, list []ledger.Invoice) (map[string]money.Amount, error) {
	paid, payments := map[string]money.Amount{}, []string{}
	for _, i := range list {
		a, err := amount(i.AmountPaid, i.Currency)
		if err != nil {
			return nil, fmt.Errorf("invoice %s: %w", i.ID, err)
		}
		if paid[i.ID] = a; x.past && i.DueDate >= x.lookback() {
			payments = append(payments, i.LinkedTransactionIDs...)
		}
	}
	dated, err := byID[ledger.Transaction](ctx, x, id.Transaction, payments)
	if err != nil {
		return nil, err
	}
	for _, i := range list {
		for _, name := range i.LinkedTransactionIDs {
			m, ok := dated[name]
			if !ok || m.TransactionDate <= x.day || m.Currency != i.Currency {
				continue
			}
			a, err := amount(m.Amount, m.Currency)
			if err != nil {
				return nil, fmt.Errorf("payment %s: %w", m.ID, err)
			}
			if paid[i.ID], err = paid[i.ID].Sub(a); err != nil {
				return nil, err
			}
		}
	}
	return paid, nil
}

// lookback is how old an invoice or a bill may be whose payments are looked at
// for a day in the past: what was due a year before it and is paid now was paid
// by then as good as always.
func (x *execution) lookback() string { return midnight(x.asOf).AddDate(-1, 0, 0).Format("2006-01-02") }

// otherReceivables are open obligations to us that stand for no invoice.
func (x *execution) otherReceivables(ctx context.Context, invoices []bill) ([]bill, error) {
	q := record.Query{Index: 1, PK: key.LedgerList(x.tenant, id.Obligation, "", "").PK, Reverse: true}
	if party := x.plan.Filters.CounterpartyID; party != "" {
		q.Index, q.PK = 3, key.LedgerListOf(x.tenant, id.Obligation, party, "", "").PK
	}
	list, whole, err := rows[ledger.Obligation](ctx, x.store, q, maxOwed)
	if err != nil {
		return nil, err
	}
	if !whole {
		return nil, unanswered("There are more than %d obligations, too many to look at. Ask for a customer.", maxOwed)
	}
	var open []bill
	for _, o := range list {
		billed := o.Type == "invoice" && (len(invoices) > 0 || x.plan.Filters.CounterpartyID == "")
		if o.Direction != "receivable" || billed || o.Status == "paid" || o.Status == "cancelled" || o.Status == "disputed" {
			continue
		}
		if c := x.plan.Filters.Currency; c != "" && o.Currency != c {
			continue
		}
		a, err := amount(o.AmountDue, o.Currency)
		if err != nil {
			return nil, fmt.Errorf("obligation %s: %w", o.ID, err)
		}
		open = append(open, bill{o, a, "obligation"})
	}
	return open, nil
}

// age is a bucket of receivables, by the most days they are late.
type age struct {
	name string
	most int
}

var ages = []age{{"not due", 0}, {"1 to 30 days late", 30}, {"31 to 60 days late", 60}, {"61 to 90 days late", 90}, {"over 90 days late", 1 << 30}}

// tellAging sums receivables by how late they are.
func (x *execution) tellAging(ctx context.Context, open []bill) (string, error) {
	t, err := billTally(open)
	if err != nil {
		return "", err
	}
	if _, err := x.tellBills(ctx, open, ""); err != nil { // for the evidence
		return "", err
	}
	sums, n := make([]tally, len(ages)), make([]int, len(ages))
	for _, b := range open {
		late := x.late(b.DueDate)
		at := slices.IndexFunc(ages, func(a age) bool { return late <= a.most })
		if sums[at] == nil {
			sums[at] = tally{}
		}
		n[at]++
		if err := sums[at].add(b.amount, 1); err != nil {
			return "", err
		}
	}
	var lines []string
	for at, a := range ages {
		if n[at] > 0 {
			lines = append(lines, fmt.Sprintf("- %s: %s on %s", a.name, sums[at].spelled(), plural(n[at], "invoice", "invoices")))
		}
	}
	return fmt.Sprintf("Receivable on %s%s: %s. By age:\n%s", x.day, x.from(), t.spelled(), strings.Join(lines, "\n")), nil
}
