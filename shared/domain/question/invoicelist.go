package question

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// invoices answers with a list of invoices, the newest first, or how many there
// are. A draft was not issued: it is left out unless drafts are asked for.
func (x *execution) invoices(ctx context.Context) (string, error) {
	f := x.plan.Filters
	if f.CounterpartyID != "" {
		if err := x.exist(ctx, Filters{CounterpartyID: f.CounterpartyID}); err != nil {
			return "", err
		}
	}
	list, err := x.invoiceRows(ctx, f, x.plan.Period)
	if err != nil {
		return "", err
	}
	list = slices.DeleteFunc(list, func(i ledger.Invoice) bool { return !matches(f.Status, i.StatusOn(midnight(x.asOf))) })
	what := x.describedInvoices()
	if len(list) == 0 {
		return fmt.Sprintf("0 %s up to %s.", what, x.day), nil
	}
	var parties []string
	for _, i := range list {
		parties = append(parties, i.CounterpartyID)
	}
	shown := list[:min(len(list), max(x.plan.Limit, maxEvidence))]
	names, err := x.names(ctx, parties[:len(shown)]...)
	if err != nil {
		return "", err
	}
	lines, open, err := x.tellInvoices(shown, names)
	if err != nil {
		return "", err
	}
	if x.plan.Limit == 0 {
		return fmt.Sprintf("%d %s up to %s.", len(list), what, x.day), nil
	}
	heading := fmt.Sprintf("The %d newest %s up to %s", min(len(list), x.plan.Limit), what, x.day)
	if len(list) <= x.plan.Limit {
		heading = fmt.Sprintf("%d %s up to %s", len(list), what, x.day)
		if open.count() > 0 {
			heading += fmt.Sprintf(", %s of them open", open.spelled())
		}
	}
	return heading + ":\n" + strings.Join(lines[:min(len(lines), x.plan.Limit)], "\n"), nil
}

// matches says whether an invoice of a status is among those asked for.
func matches(wanted, status string) bool {
	switch wanted {
	case "":
		return status != "draft"
	case "open":
		return status == "sent" || status == "partial" || status == "overdue"
	}
	return status == wanted
}

func (x *execution) describedInvoices() string {
	f := x.plan.Filters
	text := strings.TrimSpace(f.Status + " invoices")
	switch f.Direction {
	case "receivable":
		text += " to customers"
	case "payable":
		text += " from vendors"
	}
	if x.party != "" {
		text += " of " + x.party
	}
	if f.Currency != "" {
		text += " in " + f.Currency
	}
	if x.plan.Period != nil {
		text += " issued " + x.plan.Period.in()
	}
	return text
}

// tellInvoices writes a line for each invoice and cites the largest, and sums
// what is open of them.
func (x *execution) tellInvoices(list []ledger.Invoice, names map[string]ledger.Counterparty) (lines []string, open tally, err error) {
	type sized struct {
		ledger.Invoice
		due money.Amount
	}
	var all []sized
	open = tally{}
	for n, i := range list {
		due, err := amount(i.AmountDue, i.Currency)
		if err != nil {
			return nil, nil, fmt.Errorf("invoice %s: %w", i.ID, err)
		}
		paid, err := amount(i.AmountPaid, i.Currency)
		if err != nil {
			return nil, nil, fmt.Errorf("invoice %s: %w", i.ID, err)
		}
		rest, err := due.Sub(paid)
		if err != nil {
			return nil, nil, err
		}
		side := "to"
		if i.Direction == "payable" {
			side = "from"
		}
		status := i.StatusOn(midnight(x.asOf))
		line := fmt.Sprintf("%d. %s %s %s %s, %s, due %s, %s", n+1, i.IssueDate, fence.Text(i.InvoiceNumber), side, partyName(names, i.CounterpartyID), spell(due), i.DueDate, status)
		if matches("open", status) && rest.Sign() > 0 {
			line += ", " + spell(rest) + " open"
			if err := open.add(rest, 1); err != nil {
				return nil, nil, err
			}
		}
		lines, all = append(lines, line+" (`"+i.ID+"`)"), append(all, sized{i, due})
	}
	byCurrency(all, func(s sized) money.Amount { return s.due })
	for _, s := range all {
		x.cite(1, "invoice", s.ID, fmt.Sprintf("%s %s", fence.Text(s.InvoiceNumber), spell(s.due)))
	}
	return lines, open, nil
}
