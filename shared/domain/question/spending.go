package question

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// ranking is the largest groups of one currency.
type ranking struct {
	currency money.Currency
	top      []group
	count    int64 // transactions in all groups
	more     int   // how many groups are smaller
}

// ranking answers what most was spent on, or with whom, or who paid most.
// Currencies are ranked apart: there is no order between them. The one with the
// most transactions comes first.
func (x *execution) ranking(ctx context.Context) (string, error) {
	list, err := x.rankings(ctx)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		in := x.plan.Period.Label
		if x.plan.Filters.Currency != "" {
			in += " in " + x.plan.Filters.Currency
		}
		return "", unanswered("The ledger holds no posted or cleared %s of %s.", noun(directionOf(x.plan.Measure)), in)
	}
	n := int64(0)
	for _, r := range list {
		n += r.count
	}
	found, err := x.contributors(ctx, directionOf(x.plan.Measure), *x.plan.Period, n)
	if err != nil {
		return "", err
	}
	var lines []string
	for i, r := range list {
		line, err := x.tellRanking(ctx, r, found, share(i, len(list)))
		if err != nil {
			return "", err
		}
		lines = append(lines, line)
	}
	if len(lines) == 1 {
		return lines[0], nil
	}
	return lines[0] + "\nOther currencies, ranked apart:\n- " + strings.Join(lines[1:], "\n- "), nil
}

// share is how many rows a currency may cite: each of the others one, the first
// the rest.
func share(at, of int) int {
	if at > 0 {
		return 1
	}
	return max(1, maxEvidence-of+1)
}

func (x *execution) rankings(ctx context.Context) ([]ranking, error) {
	currencies, err := x.currencies(ctx)
	if err != nil {
		return nil, err
	}
	var list []ranking
	for _, c := range currencies {
		groups, err := x.groups(ctx, x.plan.Grouping, c, directionOf(x.plan.Measure), *x.plan.Period)
		if err != nil {
			return nil, err
		}
		if len(groups) == 0 {
			continue
		}
		most := min(len(groups), x.plan.Limit, maxGroups)
		r := ranking{currency: c, top: groups[:most], more: len(groups) - most}
		for _, g := range groups {
			r.count += g.count
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b ranking) int { return cmp.Compare(b.count, a.count) })
	return list, nil
}

// tellRanking writes one currency's groups and cites the rows behind them.
func (x *execution) tellRanking(ctx context.Context, r ranking, found []moved, most int) (string, error) {
	var parts []string
	var cites []moved
	each := max(1, most/len(r.top))
	for i, g := range r.top {
		b, err := x.behind(ctx, g, found)
		if err != nil {
			return "", err
		}
		part, err := x.tellGroup(g, b, x.plan.Limit == 1, i == 0)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
		cites = append(cites, b.rows[:min(len(b.rows), each)]...)
	}
	if err := x.citeMoved(ctx, cites, most); err != nil {
		return "", err
	}
	if len(parts) == 1 {
		return parts[0] + " " + x.plan.Period.in() + ".", nil
	}
	for i := range parts {
		parts[i] = fmt.Sprintf("%d. %s", i+1, parts[i])
	}
	text := fmt.Sprintf("The largest in %s %s: %s.", r.currency, x.plan.Period.in(), strings.Join(parts, "; "))
	if r.more > 0 {
		text += fmt.Sprintf(" %d more are smaller.", r.more)
	}
	return text, nil
}

// tellGroup writes a group: a counterparty with what its payments were for, or a
// category. The one category asked about is called by the counterparty where one
// alone makes it up.
func (x *execution) tellGroup(g group, b behind, alone, first bool) (string, error) {
	name := fence.Text(g.value)
	party := ""
	if b.whole && len(b.names) == 1 && b.allNamed {
		for id := range b.names {
			party = partyName(b.names, id)
		}
	}
	switch {
	case g.value == nobody:
		name = noun(directionOf(x.plan.Measure)) + " without a " + x.plan.Grouping
	case x.plan.Grouping == ByParty:
		name = partyName(b.names, g.value)
	case alone && party != "":
		name = party
	}
	text := name + " at " + spell(g.amount)
	if b.whole && first {
		split, err := allocations(b.rows, g.amount)
		if err != nil {
			return "", err
		}
		text += split
	}
	if x.plan.Grouping == ByCategory && g.value != nobody && party != "" {
		if name == party {
			text += ", which is all of the category " + fence.Text(g.value)
		} else {
			text += " (all of it " + party + ")"
		}
	}
	return text, nil
}

// behind is rows of a group, the largest first, and whom they are with.
type behind struct {
	rows     []moved
	names    map[string]ledger.Counterparty
	whole    bool // the rows add up to the group's total
	allNamed bool // each of them has a counterparty that is on record
}

// behind takes the rows of a group out of those read for evidence. Where they
// are not all there, the counterparties of the period are walked from the
// largest, as far as the reads reach.
func (x *execution) behind(ctx context.Context, g group, found []moved) (behind, error) {
	list := slices.DeleteFunc(slices.Clone(found), func(m moved) bool { return !x.isOf(m, g) })
	total, err := sumOf(list, g.amount.Currency())
	if err != nil {
		return behind{}, err
	}
	if total != g.amount && g.count <= someRows {
		if list, total, err = x.walked(ctx, g); err != nil {
			return behind{}, err
		}
	}
	b := behind{rows: list, whole: total == g.amount}
	return b, x.nameRows(ctx, &b, g)
}

func sumOf(list []moved, c money.Currency) (money.Amount, error) {
	sum := money.Zero(c)
	for _, m := range list {
		var err error
		if sum, err = sum.Add(m.amount); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// isOf says whether a row counts into a group.
func (x *execution) isOf(m moved, g group) bool {
	have := value(m.CounterpartyID)
	if x.plan.Grouping == ByCategory {
		if have = ""; m.Category != nil {
			have = ledger.Fold(*m.Category)
		}
	}
	if have == "" {
		have = nobody
	}
	return have == g.value && m.Currency == g.amount.Currency().String() && m.Direction == directionOf(x.plan.Measure)
}

// walked reads the rows of a small group: those of its counterparty, or of the
// largest ones until they add up.
func (x *execution) walked(ctx context.Context, g group) ([]moved, money.Amount, error) {
	sum := money.Zero(g.amount.Currency())
	parties := []group{g}
	if x.plan.Grouping == ByCategory {
		var err error
		if parties, err = x.parties(ctx, g.amount.Currency(), directionOf(x.plan.Measure), *x.plan.Period); err != nil {
			return nil, sum, err
		}
	}
	f := x.plan.Filters
	f.Direction, f.Status = directionOf(x.plan.Measure), Settled
	var all []moved
	for read := 0; len(parties) > 0 && read < someRows && sum != g.amount; parties = parties[1:] {
		if parties[0].value == nobody || parties[0].count > int64(someRows-read) {
			continue
		}
		f.CounterpartyID = parties[0].value
		list, _, err := rows[ledger.Transaction](ctx, x.store, x.within(f, *x.plan.Period), someRows-read)
		if err != nil {
			return nil, sum, err
		}
		read += max(1, len(list))
		some, err := sifted(list, f)
		if err != nil {
			return nil, sum, err
		}
		all = append(all, slices.DeleteFunc(some, func(m moved) bool { return !x.isOf(m, g) })...)
		if sum, err = sumOf(all, g.amount.Currency()); err != nil {
			return nil, sum, err
		}
	}
	largestFirst(all)
	return all, sum, nil
}

// nameRows reads whom the rows are with, and a group that is a counterparty.
func (x *execution) nameRows(ctx context.Context, b *behind, g group) error {
	var parties []string
	b.allNamed = true
	for _, r := range b.rows {
		if r.CounterpartyID == nil {
			b.allNamed = false
		} else if !slices.Contains(parties, *r.CounterpartyID) {
			parties = append(parties, *r.CounterpartyID)
		}
	}
	n := len(parties)
	if x.plan.Grouping == ByParty && g.value != nobody && !slices.Contains(parties, g.value) {
		parties = append(parties, g.value)
	}
	var err error
	b.names, err = x.names(ctx, parties...)
	b.allNamed = b.allNamed && len(b.names) == n
	return err
}

// environments are the labels of allocations that are called so together.
var environments = []string{"production", "prod", "staging", "stage", "development", "dev", "test", "testing", "qa", "uat", "sandbox", "preview", "preproduction", "demo", "shared"}

// allocations says what a sum was for, where the rows say it of all of it.
func allocations(rows []moved, whole money.Amount) (string, error) {
	sums, sum := map[string]money.Amount{}, money.Zero(whole.Currency())
	var labels []string
	for _, r := range rows {
		for _, part := range r.Allocations {
			a, err := amount(part.Amount, r.Currency)
			if err != nil {
				return "", fmt.Errorf("allocation of %s: %w", r.ID, err)
			}
			if _, seen := sums[part.Label]; !seen {
				labels = append(labels, part.Label)
				sums[part.Label] = money.Zero(whole.Currency())
			}
			if sums[part.Label], err = sums[part.Label].Add(a); err != nil {
				return "", err
			}
			if sum, err = sum.Add(a); err != nil {
				return "", err
			}
		}
	}
	if len(labels) == 0 || sum != whole {
		return "", nil
	}
	slices.SortStableFunc(labels, func(a, b string) int { return cmp.Or(compareLarge(sums[a], sums[b]), cmp.Compare(a, b)) })
	what := []string{"part", "parts"}
	if !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(environments, ledger.Fold(l)) }) {
		what = []string{"environment", "environments"}
	}
	var parts []string
	for _, l := range labels[:min(len(labels), maxGroups)] {
		parts = append(parts, fence.Text(l)+" "+spell(sums[l]))
	}
	return fmt.Sprintf(" across %s (%s)", plural(len(labels), what[0], what[1]), strings.Join(parts, ", ")), nil
}
