package question

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// maxOpened is how many day totals are opened to find the largest transactions.
const maxOpened = 60

// largest answers with the largest single transactions of a period.
func (x *execution) largest(ctx context.Context) (string, error) {
	if err := x.place(ctx); err != nil {
		return "", err
	}
	direction := x.plan.Filters.Direction
	t, err := x.totals(ctx, direction, *x.plan.Period)
	if err != nil {
		return "", err
	}
	what := noun(direction) + x.scope(direction)
	if t.count() == 0 {
		return x.nothing(ctx, what)
	}
	found, err := x.largestRows(ctx, t)
	if err != nil {
		return "", err
	}
	var parts []string
	var cites []moved
	for i, c := range t.currencies() {
		list := slices.DeleteFunc(slices.Clone(found), func(m moved) bool { return m.Currency != c.String() })
		list = list[:min(len(list), x.plan.Limit)]
		if i > 0 {
			list = list[:min(len(list), 1)] // of the other currencies, the first
		}
		cites = append(cites, list...)
		part, err := x.tellLargest(ctx, list)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	p, err := x.since(ctx, *x.plan.Period)
	if err != nil {
		return "", err
	}
	kinds := map[string]string{"inflow": "payment received", "outflow": "expense"}
	text := fmt.Sprintf("The largest %s%s %s: %s.", kinds[direction], x.scope(direction), p.in(), parts[0])
	if x.plan.Limit > 1 {
		text = fmt.Sprintf("The largest %ss%s %s:\n%s", strings.Replace(kinds[direction], "payment ", "payments ", 1), x.scope(direction), p.in(), parts[0])
		text = strings.Replace(text, "receiveds", "received", 1)
	}
	if len(parts) > 1 {
		text += "\nIn other currencies, ranked apart: " + strings.Join(parts[1:], "; ") + "."
	}
	return text, x.citeMoved(ctx, cites, maxEvidence)
}

// tellLargest writes rows, one as a part of a sentence and several as a list.
func (x *execution) tellLargest(ctx context.Context, list []moved) (string, error) {
	var parties []string
	for _, m := range list {
		parties = append(parties, value(m.CounterpartyID))
	}
	names, err := x.names(ctx, slices.DeleteFunc(parties, func(id string) bool { return id == "" })...)
	if err != nil {
		return "", err
	}
	var lines []string
	for i, m := range list {
		line := fmt.Sprintf("%s on %s, %s (`%s`)", spell(m.amount), m.TransactionDate, memo(m.Transaction, names), m.ID)
		if party := value(m.CounterpartyID); party != "" {
			line += " with " + partyName(names, party)
		}
		if len(list) > 1 {
			line = fmt.Sprintf("%d. %s", i+1, line)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), nil
}

// largestRows are the largest rows of each currency, largest first. Few rows are
// read one and all. Of many, the totals of days are opened from the largest,
// until no total that is left can hide a larger row.
func (x *execution) largestRows(ctx context.Context, t tally) ([]moved, error) {
	f := x.plan.Filters
	f.Status = Settled
	p, err := x.covered(ctx, *x.plan.Period)
	if err != nil {
		return nil, err
	}
	if f.rowwise() || f.CounterpartyID != "" || f.Category == "" && t.count() <= wholeRows {
		list, err := x.fitting(ctx, f, p)
		largestFirst(list)
		return list, err
	}
	var all []moved
	for _, c := range t.currencies() {
		list, err := x.opened(ctx, f, c, p)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// dayTotal is what a day came to with one counterparty, or on one category.
type dayTotal struct {
	day, value string
	amount     money.Amount
}

// opened finds the largest rows of one currency.
func (x *execution) opened(ctx context.Context, f Filters, c money.Currency, p Period) ([]moved, error) {
	totals, err := x.dayTotals(ctx, f, c, p)
	if err != nil {
		return nil, err
	}
	f.Currency = c.String()
	var best []moved
	for i, t := range totals {
		if len(best) >= x.plan.Limit {
			if order, err := best[x.plan.Limit-1].amount.Cmp(t.amount); err == nil && order >= 0 {
				break
			}
		}
		if i == maxOpened {
			return nil, unanswered("The largest of the transactions cannot be told from the totals of the days. Ask for a shorter period.")
		}
		of := f
		if f.Category == "" && t.value != nobody {
			of.CounterpartyID = t.value
		}
		list, err := x.fitting(ctx, of, Period{From: t.day, Until: t.day + "$"})
		if err != nil {
			return nil, err
		}
		if f.Category == "" && t.value == nobody {
			list = slices.DeleteFunc(list, func(m moved) bool { return m.CounterpartyID != nil })
		}
		best = append(best, list...)
		slices.SortFunc(best, func(a, b moved) int { return cmp.Or(compareLarge(a.amount, b.amount), cmp.Compare(a.ID, b.ID)) })
	}
	return best[:min(len(best), x.plan.Limit)], nil
}

// dayTotals are the totals of a period's days, the largest first.
func (x *execution) dayTotals(ctx context.Context, f Filters, c money.Currency, p Period) ([]dayTotal, error) {
	dimension := ByParty
	if f.Category != "" {
		dimension = ByCategory
	}
	var list []dayTotal
	s := stretch{"days", p.From, p.Until}
	err := x.cells(ctx, s, s.grain+"/"+dimension, c, f.Direction, func(item record.Item) (err error) {
		_, value := cut(item.Key.SK)
		if f.Category != "" && value != f.Category {
			return nil
		}
		s.days(item, func(day string, sum, n *big.Int) {
			if n == nil || n.Sign() <= 0 {
				return
			}
			a, malformed := money.FromMinor(sum.String(), c)
			if malformed != nil {
				err = fmt.Errorf("rollup %s: %w", item.Key.SK, malformed)
			}
			list = append(list, dayTotal{day, value, a})
		})
		if len(list) > maxCells {
			return unanswered("There are too many totals of days %s. Ask for a shorter period.", p.in())
		}
		return err
	})
	slices.SortFunc(list, func(a, b dayTotal) int {
		return cmp.Or(compareLarge(a.amount, b.amount), cmp.Compare(a.day, b.day), cmp.Compare(a.value, b.value))
	})
	return list, err
}
