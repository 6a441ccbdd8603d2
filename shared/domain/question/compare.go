package question

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// maxMovers is how many groups an answer names that changed most.
const maxMovers = 4

// change is how an amount changed.
type change struct {
	value     string
	now, then money.Amount
	by        money.Amount // now less then
}

func changed(now, then money.Amount) (change, error) {
	by, err := now.Sub(then)
	return change{now: now, then: then, by: by}, err
}

// say writes a change as people do: up $120.00.
func (c change) say() string {
	switch c.by.Sign() {
	case 1:
		return "up " + spell(c.by)
	case -1:
		return "down " + spell(c.by.Neg())
	}
	return "unchanged"
}

// share is the change in percent of what was, with one decimal, empty where
// there was nothing.
func (c change) share() string {
	by, ok := new(big.Int).SetString(c.by.Minor(), 10)
	then, okay := new(big.Int).SetString(c.then.Minor(), 10)
	if !ok || !okay || then.Sign() <= 0 || by.Sign() == 0 {
		return ""
	}
	tenths := rounded(by.Mul(by, big.NewInt(1000)), then)
	sign := "+"
	if tenths.Sign() < 0 {
		sign = "-"
	}
	whole, rest := new(big.Int).QuoRem(tenths.Abs(tenths), big.NewInt(10), new(big.Int))
	return fmt.Sprintf(" (%s%s.%s %%)", sign, whole, rest)
}

// comparison answers how a total changed from one period to another, and what
// moved it.
func (x *execution) comparison(ctx context.Context) (string, error) {
	if err := x.place(ctx); err != nil {
		return "", err
	}
	now, err := x.measured(ctx, *x.plan.Period)
	if err != nil {
		return "", err
	}
	then, err := x.measured(ctx, *x.plan.Comparison)
	if err != nil {
		return "", err
	}
	direction := directionOf(x.plan.Measure)
	what := noun(direction) + x.scope(direction)
	if x.plan.Measure == Net {
		what = "net cash flow" + x.scope(direction)
	}
	if now.count()+then.count() == 0 {
		return x.nothing(ctx, what)
	}
	both := maps.Clone(then)
	for _, cell := range now {
		if err := both.add(cell.amount, cell.count); err != nil {
			return "", err
		}
	}
	var changes []string
	for _, c := range both.currencies() {
		d, err := changed(now.of(c), then.of(c))
		if err != nil {
			return "", err
		}
		changes = append(changes, d.say()+d.share())
	}
	text := fmt.Sprintf("%s %s was %s, against %s %s: %s.", capital(what), x.plan.Period.in(), spelledOr(now), spelledOr(then), x.plan.Comparison.in(), enumerate(changes))
	moved, err := x.movers(ctx, both)
	if err != nil {
		return "", err
	}
	return text + moved, x.support(ctx, direction, *x.plan.Period, now.count())
}

func spelledOr(t tally) string {
	if t.count() == 0 {
		return "nothing"
	}
	return t.spelled()
}

// measured is the plan's measure of a period.
func (x *execution) measured(ctx context.Context, p Period) (tally, error) {
	if x.plan.Measure == Net {
		n, err := x.nets(ctx, p)
		return n.net, err
	}
	return x.totals(ctx, directionOf(x.plan.Measure), p)
}

// movers are the categories and counterparties that changed most, by currency.
// Of a part of the flow there are no rollups to say it.
func (x *execution) movers(ctx context.Context, both tally) (string, error) {
	f := x.plan.Filters
	if x.plan.Measure == Net || f.Category != "" || f.CounterpartyID != "" || f.rowwise() {
		return "", nil
	}
	var lines []string
	for _, dimension := range []string{ByCategory, ByParty} {
		for _, c := range both.currencies() {
			list, err := x.moversOf(ctx, dimension, c)
			if err != nil {
				return "", err
			}
			if len(list) == 0 {
				continue
			}
			said, err := x.sayMovers(ctx, dimension, list)
			if err != nil {
				return "", err
			}
			lines = append(lines, fmt.Sprintf("- by %s in %s: %s", dimension, c, said))
		}
	}
	if len(lines) == 0 {
		return "", nil
	}
	return "\nWhat moved it most:\n" + strings.Join(lines, "\n"), nil
}

// moversOf are the groups of a currency that changed, the largest change first.
func (x *execution) moversOf(ctx context.Context, dimension string, c money.Currency) ([]change, error) {
	direction, byValue := directionOf(x.plan.Measure), map[string]change{}
	for i, p := range []Period{*x.plan.Period, *x.plan.Comparison} {
		groups, err := x.groups(ctx, dimension, c, direction, p)
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			d, known := byValue[g.value]
			if !known {
				d.now, d.then = money.Zero(c), money.Zero(c)
			}
			if d.value = g.value; i == 0 {
				d.now = g.amount
			} else {
				d.then = g.amount
			}
			byValue[g.value] = d
		}
	}
	var list []change
	for _, d := range byValue {
		full, err := changed(d.now, d.then)
		if err != nil {
			return nil, err
		}
		if full.value = d.value; full.by.Sign() != 0 {
			list = append(list, full)
		}
	}
	slices.SortFunc(list, func(a, b change) int {
		return cmp.Or(compareLarge(absolute(a.by), absolute(b.by)), cmp.Compare(a.value, b.value))
	})
	return list[:min(len(list), maxMovers)], nil
}

func absolute(a money.Amount) money.Amount {
	if a.Sign() < 0 {
		return a.Neg()
	}
	return a
}

func (x *execution) sayMovers(ctx context.Context, dimension string, list []change) (string, error) {
	var ids []string
	if dimension == ByParty {
		for _, d := range list {
			if d.value != nobody {
				ids = append(ids, d.value)
			}
		}
	}
	names, err := x.names(ctx, ids...)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, d := range list {
		name := fence.Text(d.value)
		switch {
		case d.value == nobody:
			name = "without a " + dimension
		case dimension == ByParty:
			name = partyName(names, d.value)
		}
		parts = append(parts, fmt.Sprintf("%s %s (from %s to %s)", name, d.say(), spell(d.then), spell(d.now)))
	}
	return strings.Join(parts, ", "), nil
}
