package question

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// payables answers what is owed, whenever it is due.
func (x *execution) payables(ctx context.Context) (string, error) {
	bills, disputed, whole, err := x.bills(ctx, record.Query{})
	if err != nil {
		return "", err
	}
	if !whole {
		return "", unanswered("There are more than %d obligations%s, too many to add up. Ask for those that are due by a day.", maxOwed, x.limited())
	}
	if len(bills) == 0 {
		return fmt.Sprintf("No bill is open on %s%s.", x.day, x.limited()) + left(disputed), nil
	}
	var text string
	switch {
	case x.plan.Grouping == ByParty:
		text, err = x.tellParties(ctx, bills, "owed to", "Owed in all%s on %s: %s. By counterparty:\n%s")
	case x.plan.Order == LargestFirst:
		text, err = x.tellLargestBills(ctx, bills)
	default:
		text, err = x.tellOpen(ctx, bills)
	}
	return text + left(disputed) + x.hindsight(bills), err
}

// hindsight says of a day in the past how much was only written down after it. It
// counts all the same: books are brought in years at a time, and what was owed
// then was owed whenever somebody wrote it down.
func (x *execution) hindsight(bills []bill) string {
	n := 0
	for _, b := range bills {
		if x.past && b.CreatedAt >= x.midnight().UTC().Format(audit.TimeForm) {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n%s on record only after %s.", plural(n, "of them is", "of them are"), x.day)
}

func billTally(bills []bill) (tally, error) {
	t := tally{}
	for _, b := range bills {
		if err := t.add(b.amount, 1); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// tellOpen is the total of what is owed, then the list in the order to pay it.
func (x *execution) tellOpen(ctx context.Context, bills []bill) (string, error) {
	t, err := billTally(bills)
	if err != nil {
		return "", err
	}
	list, err := x.tellBills(ctx, bills, "")
	if err != nil {
		return "", err
	}
	late := 0
	for _, b := range bills {
		if b.DueDate < x.day {
			late++
		}
	}
	_, lines, _ := strings.Cut(list, "\n")
	note := ""
	if late > 0 {
		note = fmt.Sprintf(", %d of them overdue", late)
	}
	return fmt.Sprintf("Open on %s%s: %s on %s%s. In the order they fall due:\n%s", x.day, x.limited(), t.spelled(), plural(len(bills), "bill", "bills"), note, lines), nil
}

// tellLargestBills are the largest bills, by currency.
func (x *execution) tellLargestBills(ctx context.Context, bills []bill) (string, error) {
	t, err := billTally(bills)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, c := range t.currencies() {
		of := slices.DeleteFunc(slices.Clone(bills), func(b bill) bool { return b.amount.Currency() != c })
		slices.SortStableFunc(of, func(a, b bill) int { return cmp.Or(compareLarge(a.amount, b.amount), cmp.Compare(a.ID, b.ID)) })
		of = of[:min(len(of), x.plan.Limit)]
		list, err := x.tellBills(ctx, of, "")
		if err != nil {
			return "", err
		}
		_, said, _ := strings.Cut(list, "\n")
		lines = append(lines, said)
	}
	return fmt.Sprintf("The largest open on %s%s, ranked by currency:\n%s", x.day, x.limited(), strings.Join(lines, "\n")), nil
}

// debt is what is owed to, or by, one counterparty.
type debt struct {
	party  string
	amount money.Amount
	n      int64
}

// tellParties sums bills by counterparty, the largest first in each currency.
func (x *execution) tellParties(ctx context.Context, bills []bill, verb, form string) (string, error) {
	t, err := billTally(bills)
	if err != nil {
		return "", err
	}
	sums := map[string]tally{}
	var parties []string
	for _, b := range bills {
		if sums[b.CounterpartyID] == nil {
			sums[b.CounterpartyID] = tally{}
			parties = append(parties, b.CounterpartyID)
		}
		if err := sums[b.CounterpartyID].add(b.amount, 1); err != nil {
			return "", err
		}
	}
	names, err := x.names(ctx, parties...)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, c := range t.currencies() {
		for i, d := range debts(sums, c) {
			if i == x.plan.Limit && x.plan.Limit > 0 {
				break
			}
			line := fmt.Sprintf("- %s %s %s (`%s`)", spell(d.amount), verb, partyName(names, d.party), d.party)
			if d.n > 1 {
				line += fmt.Sprintf(" on %d", d.n)
			}
			lines = append(lines, line)
		}
	}
	large := slices.Clone(bills)
	byCurrency(large, billAmount)
	for _, b := range large {
		x.cite(1, b.kind, b.ID, fmt.Sprintf("%s %s, due %s", partyName(names, b.CounterpartyID), spell(b.amount), b.DueDate))
	}
	if x.plan.Limit == 1 {
		return fmt.Sprintf("The largest on %s%s, by currency:\n%s", x.day, x.limited(), strings.Join(lines, "\n")), nil
	}
	return fmt.Sprintf(form, x.limited(), x.day, t.spelled(), strings.Join(lines, "\n")), nil
}

func debts(sums map[string]tally, c money.Currency) []debt {
	var list []debt
	for party, t := range sums {
		if cell, ok := t[c]; ok {
			list = append(list, debt{party, cell.amount, cell.count})
		}
	}
	slices.SortFunc(list, func(a, b debt) int { return cmp.Or(compareLarge(a.amount, b.amount), cmp.Compare(a.party, b.party)) })
	return list
}
