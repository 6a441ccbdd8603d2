package demo

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// sell writes a month's invoices to all customers on its first banking day, in
// the order of the table, so that numbers follow dates.
func (b *book) sell(customers []customer) {
	levels := make([]int64, len(customers))
	streams := make([]*rand.Rand, len(customers))
	for i, c := range customers {
		levels[i], streams[i] = c.amount, b.stream("customer", c.party)
	}
	for month := range months() {
		for i, c := range customers {
			if !c.span.has(month) {
				continue
			}
			b.sale(c, month, levels[i], streams[i])
			levels[i] += levels[i] * c.growth / basis
		}
	}
}

// sale is one invoice, and what of its money came before the close.
func (b *book) sale(c customer, month time.Time, due int64, r *rand.Rand) {
	lag := c.lag[0] + r.IntN(c.lag[1]-c.lag[0]+1)
	issued := onOrAfter(month)
	dueOn := issued.AddDate(0, 0, c.terms)
	b.invoices[month.Year()]++
	number := fmt.Sprintf("%s-%d-%04d", b.company.series, month.Year(), b.invoices[month.Year()])
	i := b.invoice(number, c.party, "receivable", b.account(c.account).currency, due, issued, dueOn)

	paid := int64(0)
	outcome := c.fates[month.Format(monthForm)]
	for n, share := range shares(outcome, due) {
		came := onOrAfter(dueOn.AddDate(0, 0, lag+20*n))
		if came.After(Close) {
			break
		}
		paid += share
		i.LinkedTransactionIDs = append(i.LinkedTransactionIDs, b.post(posting{
			account: c.account, party: c.party, category: "sales", text: "Payment " + number, made: came, amount: share, income: true, proven: true,
		}))
	}
	i.AmountPaid, i.Status = amount(paid, i.Currency), status(outcome, paid, due)
	b.receivable(i, due-paid)
}

// shares are the parts in which an invoice is paid.
func shares(f fate, due int64) []int64 {
	switch f {
	case 0:
		return []int64{due}
	case halves:
		return []int64{due / 2, due - due/2}
	case partial:
		return []int64{due * 2 / 5}
	}
	return nil
}

// status is what is stored: that an invoice is overdue follows from its date
// when it is read.
func status(f fate, paid, due int64) string {
	switch {
	case f == disputed:
		return "disputed"
	case f == cancelled:
		return "cancelled"
	case f == draft:
		return "draft"
	case paid == due:
		return "paid"
	case paid > 0:
		return "partial"
	}
	return "sent"
}

// receivable is the obligation of an invoice that is not settled.
func (b *book) receivable(i *ledger.Invoice, rest int64) {
	if i.Status == "paid" || i.Status == "cancelled" || i.Status == "draft" {
		return
	}
	due, err := time.Parse(time.DateOnly, i.DueDate)
	if err != nil {
		panic("demo: due date of " + i.InvoiceNumber)
	}
	o := b.obligation("obl_"+i.ID, "invoice", i.CounterpartyID, rest, i.Currency, due)
	o.Direction, o.LinkedTransactionIDs = "receivable", append(o.LinkedTransactionIDs, i.LinkedTransactionIDs...)
	if i.Status == "disputed" {
		o.Status = "disputed"
	}
}

// invoice writes an invoice nobody has paid anything of.
func (b *book) invoice(number, party, direction, currency string, due int64, issued, dueOn time.Time) *ledger.Invoice {
	i := &ledger.Invoice{
		Meta: meta("inv_"+strings.TrimPrefix(number, "INV-"), issued, "extracted", 0.98), InvoiceNumber: number, CounterpartyID: party, Direction: direction,
		AmountDue: amount(due, currency), AmountPaid: amount(0, currency), Currency: currency,
		IssueDate: date(issued), DueDate: date(dueOn), Status: "sent", LinkedTransactionIDs: []string{},
	}
	b.rows.Invoices = append(b.rows.Invoices, i)
	return i
}
