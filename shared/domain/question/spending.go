package question

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// maxWalk is how many counterparties are looked at for the rows behind a
	// category.
	maxWalk = 12
	// maxPerParty is how many rows of one are.
	maxPerParty = 200
	// nobody is the rollup value of rows without a category or counterparty.
	nobody = "-"
)

// ranking is the largest groups of one currency.
type ranking struct {
	currency money.Currency
	top      []group
	count    int64 // transactions in all groups
	more     bool  // there are smaller groups
}

// spending answers what most was spent on, or with whom. Currencies are ranked
// apart: there is no order between them. The one with the most transactions
// comes first.
func (x *execution) spending(ctx context.Context) (string, error) {
	list, err := x.rankings(ctx)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		in := x.plan.Period.Label
		if x.plan.Filters.Currency != "" {
			in += " in " + x.plan.Filters.Currency
		}
		return "", unanswered("The ledger holds no posted or cleared spending of %s.", in)
	}
	var lines []string
	for i, r := range list {
		line, err := x.tellRanking(ctx, r, share(i, len(list)))
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
		groups, err := x.groups(ctx, x.plan.Grouping, c)
		if err != nil {
			return nil, err
		}
		if len(groups) == 0 {
			continue
		}
		r := ranking{currency: c, top: groups[:min(len(groups), x.plan.Limit)], more: len(groups) > x.plan.Limit}
		for _, g := range groups {
			r.count += g.count
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b ranking) int { return cmp.Compare(b.count, a.count) })
	return list, nil
}

// tellRanking writes one currency's groups and cites the rows behind them.
func (x *execution) tellRanking(ctx context.Context, r ranking, most int) (string, error) {
	var parts []string
	for i, g := range r.top {
		part, found, err := x.tellGroup(ctx, g, i == 0)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
		each := max(1, most/len(r.top))
		if err := x.citeTransactions(found.rows[:min(len(found.rows), each)], found.names); err != nil {
			return "", err
		}
	}
	if len(parts) == 1 {
		return parts[0] + " " + x.plan.Period.in() + ".", nil
	}
	for i := range parts {
		parts[i] = fmt.Sprintf("%d. %s", i+1, parts[i])
	}
	return fmt.Sprintf("The largest in %s %s: %s.", r.currency, x.plan.Period.in(), strings.Join(parts, "; ")), nil
}

// tellGroup writes a group: a counterparty with what its payments were for, or
// a category, by the counterparty where one alone makes it up.
func (x *execution) tellGroup(ctx context.Context, g group, first bool) (string, behind, error) {
	found, err := x.behind(ctx, g)
	if err != nil {
		return "", found, err
	}
	name := fence.Text(g.value)
	switch {
	case g.value == nobody:
		name = "spending without a " + x.plan.Grouping
	case x.plan.Grouping == ByParty:
		name = partyName(found.names, g.value)
	case found.whole && len(found.names) == 1 && found.allNamed:
		for party := range found.names {
			name = partyName(found.names, party)
		}
	}
	text := name + " at " + spell(g.amount)
	if found.whole && first {
		split, err := allocations(found.rows, g.amount)
		if err != nil {
			return "", found, err
		}
		text += split
	}
	if x.plan.Grouping == ByCategory && name != fence.Text(g.value) && g.value != nobody {
		text += ", which is all of the category " + fence.Text(g.value)
	}
	return text, found, nil
}

// behind is the rows of a group, the largest first, and whom they are with.
type behind struct {
	rows     []ledger.Transaction
	names    map[string]ledger.Counterparty
	whole    bool // the rows add up to the group's total
	allNamed bool // each of them has a counterparty that is on record
}

// behind finds the rows of a group. There is no index by category: the
// counterparties of the period are walked from the largest, until the rows add
// up to the category's total, or no row of a counterparty that is left can be
// among the largest.
func (x *execution) behind(ctx context.Context, g group) (behind, error) {
	parties := []group{g}
	if x.plan.Grouping == ByCategory {
		var err error
		if parties, err = x.parties(ctx, g.amount.Currency()); err != nil {
			return behind{}, err
		}
	}
	var b behind
	sum := money.Zero(g.amount.Currency())
	for _, p := range parties[:min(len(parties), maxWalk)] {
		if sum == g.amount || enough(b.rows, p.amount) {
			break
		}
		list, err := x.partyRows(ctx, p.value, g)
		if err != nil {
			return behind{}, err
		}
		for _, r := range list {
			a, err := amount(r.Amount, r.Currency)
			if err != nil {
				return behind{}, fmt.Errorf("transaction %s: %w", r.ID, err)
			}
			if sum, err = sum.Add(a); err != nil {
				return behind{}, err
			}
		}
		b.rows = append(b.rows, list...)
		sortLarge(b.rows)
	}
	b.whole = sum == g.amount
	return b, x.nameRows(ctx, &b)
}

// parties ranks the counterparties of the period, once for each currency.
func (x *execution) parties(ctx context.Context, c money.Currency) ([]group, error) {
	if list, known := x.ranked[c]; known {
		return list, nil
	}
	list, err := x.groups(ctx, ByParty, c)
	if err != nil {
		return nil, err
	}
	if x.ranked == nil {
		x.ranked = map[money.Currency][]group{}
	}
	x.ranked[c] = list
	return list, nil
}

// enough says whether so many rows are at least as large as all that a
// counterparty has that they are all an answer cites.
func enough(rows []ledger.Transaction, rest money.Amount) bool {
	if len(rows) < maxEvidence {
		return false
	}
	last := rows[maxEvidence-1]
	a, err := amount(last.Amount, last.Currency)
	if err != nil {
		return false
	}
	order, err := a.Cmp(rest)
	return err == nil && order >= 0
}

func sortLarge(rows []ledger.Transaction) {
	slices.SortStableFunc(rows, func(r, s ledger.Transaction) int {
		a, errA := amount(r.Amount, r.Currency)
		b, errB := amount(s.Amount, s.Currency)
		if errA != nil || errB != nil {
			return 0
		}
		return cmp.Or(compareLarge(a, b), cmp.Compare(r.ID, s.ID))
	})
}

// partyRows are a counterparty's rows in the period that count into a group.
// Rows without one are found among the period's rows.
func (x *execution) partyRows(ctx context.Context, party string, g group) ([]ledger.Transaction, error) {
	q, most := record.Query{Index: 3, PK: key.LedgerListOf(x.tenant, id.Transaction, party, "", "").PK}, maxPerParty
	if party == nobody {
		q, most = record.Query{Index: 1, PK: key.LedgerList(x.tenant, id.Transaction, "", "").PK}, maxExamined
	}
	q.From, q.To, q.Reverse = x.plan.Period.From, x.plan.Period.Until, true
	list, _, err := rows[ledger.Transaction](ctx, x.store, q, most)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(r ledger.Transaction) bool {
		category := nobody
		if r.Category != nil {
			category = ledger.Fold(*r.Category)
		}
		other := x.plan.Grouping == ByCategory && category != g.value || party == nobody && r.CounterpartyID != nil
		return other || r.Direction != "outflow" || r.Status != "posted" && r.Status != "cleared" || r.Currency != g.amount.Currency().String()
	}), nil
}

// nameRows reads whom the rows are with.
func (x *execution) nameRows(ctx context.Context, b *behind) error {
	var parties []string
	b.allNamed = true
	for _, r := range b.rows {
		if r.CounterpartyID == nil {
			b.allNamed = false
		} else if !slices.Contains(parties, *r.CounterpartyID) {
			parties = append(parties, *r.CounterpartyID)
		}
	}
	var err error
	b.names, err = x.names(ctx, parties...)
	b.allNamed = b.allNamed && len(b.names) == len(parties)
	return err
}

// environments are the labels of allocations that are called so together.
var environments = []string{"production", "prod", "staging", "stage", "development", "dev", "test", "testing", "qa", "uat", "sandbox", "preview", "preproduction", "demo", "shared"}

// allocations says what a sum was for, where the rows say it of all of it.
func allocations(rows []ledger.Transaction, whole money.Amount) (string, error) {
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
