package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
)

// Sum is what a rollup says: what transactions of one currency and direction come
// to in a period.
type Sum struct {
	Period    string `json:"period"` // YYYY-MM or YYYY-MM-DD
	Currency  string `json:"currency"`
	Direction string `json:"direction"`
	Value     string `json:"value,omitempty"` // the category or counterparty it is of
	Amount    string `json:"amount"`          // decimal in the currency
	Count     int64  `json:"count"`           // transactions
}

// amount reads a decimal of a currency.
func amount(text, currency string) (money.Amount, error) {
	c, err := money.Parse(currency)
	if err != nil {
		return money.Amount{}, err
	}
	return money.ParseSigned(text, c)
}

// money is the sum as a page shows it.
func (s Sum) money() string { return s.Amount + " " + s.Currency }

// lane is a currency and a direction: what may be added up.
type lane struct{ currency, direction string }

// directions is the order in which pages speak of directions; those they do not
// name come after.
var directions = []string{"inflow", "outflow", "transfer", "adjustment"}

func compareLanes(a, b lane) int {
	return cmp.Or(cmp.Compare(a.currency, b.currency), cmp.Compare(slices.Index(directions, a.direction), slices.Index(directions, b.direction)))
}

// totals adds sums up over their periods and values: one for each currency and
// direction, in that order. Nothing crosses from one currency to another.
func totals(sums []Sum) ([]Sum, error) {
	var all []Sum
	for _, s := range sums {
		i := slices.IndexFunc(all, func(t Sum) bool { return t.Currency == s.Currency && t.Direction == s.Direction })
		if i < 0 {
			all = append(all, Sum{Currency: s.Currency, Direction: s.Direction, Amount: s.Amount, Count: s.Count})
			continue
		}
		a, err := amount(all[i].Amount, s.Currency)
		if err != nil {
			return nil, err
		}
		b, err := amount(s.Amount, s.Currency)
		if err != nil {
			return nil, err
		}
		if a, err = a.Add(b); err != nil {
			return nil, fmt.Errorf("add up %s %s: %w", s.Currency, s.Direction, err)
		}
		all[i].Amount, all[i].Count = a.String(), all[i].Count+s.Count
	}
	slices.SortStableFunc(all, func(a, b Sum) int {
		return compareLanes(lane{a.Currency, a.Direction}, lane{b.Currency, b.Direction})
	})
	return all, nil
}

// net is inflow less outflow of one currency.
type net struct {
	Sum
	sign int
}

// nets are those of every currency that has one, in the order of the codes.
func nets(sums []Sum) ([]net, error) {
	all, err := totals(sums)
	if err != nil {
		return nil, err
	}
	var found []net
	for _, s := range all {
		a, err := amount(s.Amount, s.Currency)
		if err != nil {
			return nil, err
		}
		switch s.Direction {
		case "outflow":
			a = a.Neg()
		case "inflow":
		default:
			continue
		}
		if last := len(found) - 1; last >= 0 && found[last].Currency == s.Currency {
			b, err := amount(found[last].Amount, s.Currency)
			if err != nil {
				return nil, err
			}
			if a, err = a.Add(b); err != nil {
				return nil, fmt.Errorf("net %s: %w", s.Currency, err)
			}
			found[last].Amount, found[last].sign = a.String(), a.Sign()
			continue
		}
		found = append(found, net{Sum{Currency: s.Currency, Amount: a.String()}, a.Sign()})
	}
	return found, nil
}

// Ranked puts sums into the order of pages: by currency and direction, in each the
// largest first. It fails for an amount that is none.
func Ranked(sums []Sum) ([]Sum, error) {
	type ranked struct {
		Sum
		amount money.Amount
	}
	all := make([]ranked, len(sums))
	for i, s := range sums {
		a, err := amount(s.Amount, s.Currency)
		if err != nil {
			return nil, err
		}
		all[i] = ranked{s, a}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		if order := compareLanes(lane{a.Currency, a.Direction}, lane{b.Currency, b.Direction}); order != 0 {
			return order
		}
		order, _ := b.amount.Cmp(a.amount) // of one currency
		return cmp.Or(order, strings.Compare(a.Value, b.Value))
	})
	out := make([]Sum, len(all))
	for i, s := range all {
		out[i] = s.Sum
	}
	return out, nil
}

// Top are the first n of each currency and direction of ranked sums.
func Top(ranked []Sum, n int) []Sum {
	var top []Sum
	seen := map[lane]int{}
	for _, s := range ranked {
		at := lane{s.Currency, s.Direction}
		if seen[at]++; seen[at] <= n {
			top = append(top, s)
		}
	}
	return top
}

// periods writes what each period came to, a line for each, the newest first or
// the oldest.
func periods(sums []Sum, newest bool) ([]string, error) {
	by := map[string][]Sum{}
	var order []string
	for _, s := range sums {
		if by[s.Period] == nil {
			order = append(order, s.Period)
		}
		by[s.Period] = append(by[s.Period], s)
	}
	slices.Sort(order)
	if newest {
		slices.Reverse(order)
	}
	var lines []string
	for _, period := range order {
		all, err := totals(by[period])
		if err != nil {
			return nil, err
		}
		var parts []string
		for _, s := range all {
			parts = append(parts, fmt.Sprintf("%s %s in %s", s.Direction, s.money(), plural(s.Count, "transaction")))
		}
		lines = append(lines, period+": "+strings.Join(parts, "; "))
	}
	return lines, nil
}
