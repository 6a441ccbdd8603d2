package question

import (
	"cmp"
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

// bill is an obligation that is open, or an invoice that is, as one.
type bill struct {
	ledger.Obligation
	amount money.Amount // what is open of it
	kind   string       // what it is cited as
}

func billAmount(b bill) money.Amount { return b.amount }

// maxLines is how many bills an answer lists; the totals are over all of them.
const maxLines = 50

// due answers what is to be paid in a period.
func (x *execution) due(ctx context.Context) (string, error) {
	p := x.plan.Period
	bills, disputed, whole, err := x.bills(ctx, record.Query{From: p.From, To: p.Until})
	if err != nil {
		return "", err
	}
	if !whole {
		return "", unanswered("More than %d obligations are due %s. Ask for a shorter period.", maxOwed, p.in())
	}
	if x.plan.Limit == 1 && len(bills) > 0 {
		// What falls due next is all that falls due on the next day with anything.
		next := bills[0].DueDate
		bills = slices.DeleteFunc(bills, func(b bill) bool { return b.DueDate != next })
		p = &Period{From: next, Until: next, Label: next}
	}
	again := ""
	if from, until, err := x.plan.Period.bounds(); err == nil && until.Sub(from) > 31*day && slices.ContainsFunc(bills, func(b bill) bool { return b.Recurrence != nil }) {
		again = "\nWhat recurs is listed once, by its next date."
	}
	text := fmt.Sprintf("Nothing is due to be paid %s%s.", p.in(), x.limited())
	if len(bills) > 0 {
		text, err = x.tellBills(ctx, bills, fmt.Sprintf("due %s%s", p.in(), x.limited()))
	}
	return text + again + left(disputed), err
}

// overdue answers what should have been paid before the day.
func (x *execution) overdue(ctx context.Context) (string, error) {
	bills, disputed, whole, err := x.bills(ctx, record.Query{To: x.day, Reverse: true})
	if err != nil {
		return "", err
	}
	note := left(disputed)
	if !whole {
		note += fmt.Sprintf("\nOnly the latest %d obligations before %s were looked at.", maxOwed, x.day)
	}
	if len(bills) == 0 {
		return fmt.Sprintf("No bill is overdue on %s%s.", x.day, x.limited()) + note, nil
	}
	text, err := x.tellBills(ctx, bills, fmt.Sprintf("overdue on %s%s", x.day, x.limited()))
	return text + note, err
}

func left(disputed int) string {
	if disputed == 0 {
		return ""
	}
	return fmt.Sprintf("\n%s left out.", plural(disputed, "disputed bill is", "disputed bills are"))
}

func (x *execution) limited() string {
	text := ""
	if x.party != "" {
		text = " to " + x.party
	}
	if c := x.plan.Filters.Currency; c != "" {
		text += " in " + c
	}
	if t := x.plan.Filters.Type; t != "" {
		text += " of the type " + t
	}
	return text
}

// bills reads the open obligations to pay of a range of due dates: the end of a
// range of keys is not included, since keys are date#id.
func (x *execution) bills(ctx context.Context, q record.Query) (open []bill, disputed int, whole bool, err error) {
	f := x.plan.Filters
	q.Index, q.PK = 1, key.LedgerList(x.tenant, id.Obligation, "", "").PK
	if f.CounterpartyID != "" {
		if err := x.exist(ctx, Filters{CounterpartyID: f.CounterpartyID}); err != nil {
			return nil, 0, false, err
		}
		q.Index, q.PK = 3, key.LedgerListOf(x.tenant, id.Obligation, f.CounterpartyID, "", "").PK
	}
	list, whole, err := rows[ledger.Obligation](ctx, x.store, q, maxOwed)
	if err != nil {
		return nil, 0, false, err
	}
	list = slices.DeleteFunc(list, func(o ledger.Obligation) bool {
		return o.Direction != "payable" || f.Currency != "" && o.Currency != f.Currency || f.Type != "" && o.Type != f.Type
	})
	paid, err := x.paidSince(ctx, list)
	if err != nil {
		return nil, 0, false, err
	}
	for _, o := range list {
		a, err := amount(o.AmountDue, o.Currency)
		if err != nil {
			return nil, 0, false, fmt.Errorf("obligation %s: %w", o.ID, err)
		}
		switch {
		case o.Status == "disputed":
			disputed++
		case o.Status == "cancelled", o.Status == "paid" && !paid[o.ID]:
		default:
			open = append(open, bill{o, a, "obligation"})
		}
	}
	slices.SortFunc(open, func(a, b bill) int { return cmp.Or(cmp.Compare(a.DueDate, b.DueDate), cmp.Compare(a.ID, b.ID)) })
	return open, disputed, whole, nil
}

// paidSince says which obligations are paid now and were open on a day in the
// past: those whose payment is dated after it. The stored status alone knows
// nothing of the past.
func (x *execution) paidSince(ctx context.Context, list []ledger.Obligation) (map[string]bool, error) {
	if !x.past {
		return nil, nil
	}
	var payments []string
	for _, o := range list {
		if o.Status == "paid" && o.DueDate >= x.lookback() {
			payments = append(payments, o.LinkedTransactionIDs...)
		}
	}
	dated, err := byID[ledger.Transaction](ctx, x, id.Transaction, payments)
	if err != nil {
		return nil, err
	}
	since := map[string]bool{}
	for _, o := range list {
		for _, name := range o.LinkedTransactionIDs {
			if o.Status == "paid" && dated[name].TransactionDate > x.day {
				since[o.ID] = true
			}
		}
	}
	return since, nil
}

// tellBills lists bills in the order to pay them and cites the largest.
func (x *execution) tellBills(ctx context.Context, bills []bill, when string) (string, error) {
	var sums money.Totals
	var parties []string
	for _, b := range bills {
		if err := sums.Add(b.amount); err != nil {
			return "", err
		}
		parties = append(parties, b.CounterpartyID)
	}
	names, err := x.names(ctx, parties...)
	if err != nil {
		return "", err
	}
	lines := []string{}
	for _, b := range bills[:min(len(bills), maxLines)] {
		line := fmt.Sprintf("- %s %s to %s (`%s`)", b.DueDate, spell(b.amount), partyName(names, b.CounterpartyID), b.ID)
		if late := x.late(b.DueDate); late > 0 {
			line += fmt.Sprintf(", overdue by %s", plural(late, "day", "days"))
		}
		lines = append(lines, line)
	}
	if more := len(bills) - maxLines; more > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more", more))
	}
	large := slices.Clone(bills)
	byCurrency(large, billAmount)
	var order []money.Amount
	for _, b := range large {
		if total := sums.Of(b.amount.Currency()); !slices.Contains(order, total) {
			order = append(order, total)
		}
		x.cite(1, b.kind, b.ID, fmt.Sprintf("%s %s, due %s", partyName(names, b.CounterpartyID), spell(b.amount), b.DueDate))
		if c, ok := names[b.CounterpartyID]; ok {
			x.cite(2, "counterparty", c.ID, fence.Text(c.Name))
		}
	}
	return fmt.Sprintf("%s %s, %s in total:\n%s", plural(len(bills), "bill is", "bills are"), when, spellAll(order), strings.Join(lines, "\n")), nil
}

// late is how many days a date lies before the day, 0 when it does not.
func (x *execution) late(date string) int {
	due, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return 0
	}
	return max(0, int(midnight(x.asOf).Sub(due).Hours()/24))
}

// partyName is what a counterparty is called in an answer: by the letters it is
// known by where it has some, as AWS for Amazon Web Services.
func partyName(names map[string]ledger.Counterparty, name string) string {
	c, ok := names[name]
	if !ok {
		return "`" + name + "`"
	}
	for _, alias := range c.Aliases {
		if letters := len(alias); letters >= 2 && letters <= 5 && strings.Trim(alias, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			return fence.Text(alias)
		}
	}
	return fence.Text(c.Name)
}
