package question

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// cell is what transactions of one currency come to, and how many they are.
type cell struct {
	amount money.Amount
	count  int64
}

// tally is cells by currency.
type tally map[money.Currency]cell

func (t tally) add(a money.Amount, n int64) error {
	c, known := t[a.Currency()]
	if !known {
		c.amount = money.Zero(a.Currency())
	}
	var err error
	if c.amount, err = c.amount.Add(a); err != nil {
		return err
	}
	c.count += n
	t[a.Currency()] = c
	return nil
}

// count is over all currencies: only amounts cannot be summed across them.
func (t tally) count() (n int64) {
	for _, c := range t {
		n += c.count
	}
	return n
}

// currencies are those with transactions, the busiest first.
func (t tally) currencies() []money.Currency {
	var list []money.Currency
	for c, cell := range t {
		if cell.count != 0 || cell.amount.Sign() != 0 {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b money.Currency) int {
		return cmp.Or(cmp.Compare(t[b].count, t[a].count), cmp.Compare(a.String(), b.String()))
	})
	return list
}

// spelled are the amounts, the busiest currency first.
func (t tally) spelled() string {
	var list []money.Amount
	for _, c := range t.currencies() {
		list = append(list, t[c].amount)
	}
	return spellAll(list)
}

// stretch is a run of days or of whole months.
type stretch struct {
	grain       string // days or month: which rollups know
	from, until string // periods of the grain, the last not included
}

// stretches cuts a period into whole months and the days at its ends, so that a
// long one is read by the month.
func (p Period) stretches() ([]stretch, error) {
	from, until, err := p.bounds()
	if err != nil {
		return nil, err
	}
	first, last := start(from, monthsOf), start(until, monthsOf)
	if !first.Equal(from) {
		first = addMonths(first, 1)
	}
	day := func(a, b time.Time) stretch {
		return stretch{"days", a.Format(time.DateOnly), b.Format(time.DateOnly)}
	}
	if !first.Before(last) {
		return []stretch{day(from, until)}, nil
	}
	list := []stretch{{"month", first.Format("2006-01"), last.Format("2006-01")}}
	if from.Before(first) {
		list = append(list, day(from, first))
	}
	if last.Before(until) {
		list = append(list, day(last, until))
	}
	return list, nil
}

// months are those a stretch touches, in their order.
func (s stretch) months() []string {
	at, err := time.Parse("2006-01", s.from[:len("2006-01")])
	var list []string
	for ; err == nil; at = at.AddDate(0, 1, 0) {
		month := at.Format("2006-01")
		// The first of a month is not below itself: a month that ends the stretch is
		// none of it.
		if month >= s.until || month+"-01" >= s.until {
			break
		}
		list = append(list, month)
	}
	return list
}

// of is what a rollup says of the stretch.
func (s stretch) of(item record.Item) (total *big.Int, count int64) {
	total = new(big.Int)
	add := func(_ string, sum, n *big.Int) {
		if sum != nil && n != nil {
			total.Add(total, sum)
			count += n.Int64()
		}
	}
	if s.grain == "month" {
		add(s.from, item.Numbers[ledger.RollupSum], item.Numbers[ledger.RollupCount])
	} else {
		s.days(item, add)
	}
	return total, count
}

// days shows the days of a rollup that are of the stretch, in no order.
func (s stretch) days(item record.Item, see func(date string, sum, n *big.Int)) {
	month, _ := cut(item.Key.SK)
	for name, sum := range item.Numbers {
		day, is := strings.CutSuffix(name, ledger.OfDay(ledger.RollupSum, ""))
		if date := month + "-" + day; is && s.from <= date && date < s.until {
			see(date, sum, item.Numbers[ledger.OfDay(ledger.RollupCount, day)])
		}
	}
}

// totals adds up the posted and cleared transactions of a direction and a period
// that the plan's filters leave, by currency.
func (x *execution) totals(ctx context.Context, direction string, p Period) (tally, error) {
	f := x.plan.Filters
	p, err := x.covered(ctx, p)
	if err != nil {
		return nil, err
	}
	if f.rowwise() {
		return x.rowTotals(ctx, direction, p)
	}
	currencies, err := x.currencies(ctx)
	if err != nil {
		return nil, err
	}
	dimension, value := "", ""
	switch {
	case f.Category != "":
		dimension, value = ByCategory, f.Category
	case f.CounterpartyID != "":
		dimension, value = ByParty, f.CounterpartyID
	}
	t := tally{}
	for _, c := range currencies {
		var groups []group
		if dimension == "" {
			groups, err = x.groups(ctx, "", c, direction, p)
		} else {
			groups, err = x.points(ctx, dimension, value, c, direction, p)
		}
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			if err := t.add(g.amount, g.count); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// points reads the rollups of one value, which have keys of their own: among
// those of all values they would cost as much as all values do.
func (x *execution) points(ctx context.Context, dimension, value string, c money.Currency, direction string, p Period) ([]group, error) {
	stretches, err := p.stretches()
	if err != nil {
		return nil, err
	}
	of := map[key.Key]stretch{}
	for _, s := range stretches {
		for _, month := range s.months() {
			of[key.Rollup(x.tenant, s.grain+"/"+dimension, c.String(), direction, month, value)] = s
		}
	}
	if len(of) > maxCells {
		return nil, unanswered("The period is too long. Ask for a shorter one.")
	}
	items, err := x.store.GetMany(ctx, slices.Collect(maps.Keys(of)))
	if err != nil {
		return nil, err
	}
	sums := map[string]*group{}
	for k, item := range items {
		if err := of[k].add(sums, item, c); err != nil {
			return nil, err
		}
	}
	return ranked(sums), nil
}

// group is what transactions of one value come to in one currency.
type group struct {
	value  string
	amount money.Amount
	count  int64
}

// groups adds up rollups of a period by value, the largest first. An empty
// dimension is the one of all transactions.
func (x *execution) groups(ctx context.Context, dimension string, c money.Currency, direction string, p Period) ([]group, error) {
	stretches, err := p.stretches()
	if err != nil {
		return nil, err
	}
	sums, read := map[string]*group{}, 0
	for _, s := range stretches {
		grain := s.grain
		if dimension != "" {
			grain += "/" + dimension
		}
		err := x.cells(ctx, s, grain, c, direction, func(item record.Item) error {
			if read++; read > maxCells {
				return unanswered("There are too many %s totals in %s to add up. Ask for a shorter period.", dimension, p.Label)
			}
			return s.add(sums, item, c)
		})
		if err != nil {
			return nil, err
		}
	}
	return ranked(sums), nil
}

// cells walks the rollups of a stretch.
func (x *execution) cells(ctx context.Context, s stretch, grain string, c money.Currency, direction string, see func(record.Item) error) error {
	months := s.months()
	if len(months) == 0 {
		return nil
	}
	q := record.Query{
		PK:   key.Rollup(x.tenant, grain, c.String(), direction, "", "").PK,
		From: months[0], To: months[len(months)-1] + "$", Limit: 1000, // keys are month#value, and $ comes next after #
	}
	for {
		page, err := x.store.Query(ctx, q)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := see(item); err != nil {
				return err
			}
		}
		if q.After = page.Next; page.Next == nil {
			return nil
		}
	}
}

func ranked(sums map[string]*group) []group {
	var list []group
	for _, g := range sums {
		if g.count > 0 {
			list = append(list, *g)
		}
	}
	slices.SortFunc(list, func(a, b group) int { return cmp.Or(compareLarge(a.amount, b.amount), cmp.Compare(a.value, b.value)) })
	return list
}

// add counts what a rollup says of the stretch into the group of its value.
func (s stretch) add(sums map[string]*group, item record.Item, c money.Currency) error {
	total, n := s.of(item)
	amount, err := money.FromMinor(total.String(), c)
	if err != nil {
		return fmt.Errorf("rollup %s: %w", item.Key.SK, err)
	}
	_, value := cut(item.Key.SK)
	g := sums[value]
	if g == nil {
		g = &group{value: value, amount: money.Zero(c)}
		sums[value] = g
	}
	if g.amount, err = g.amount.Add(amount); err != nil {
		return fmt.Errorf("rollup %s: %w", item.Key.SK, err)
	}
	g.count += n
	return nil
}

// cut takes a rollup's key apart: its period, and its value.
func cut(sk string) (period, value string) {
	for i := range sk {
		if sk[i] == '#' {
			return sk[:i], sk[i+1:]
		}
	}
	return sk, sk
}

// earliest is the first month with posted or cleared money in or out, false
// where there is none.
func (x *execution) earliest(ctx context.Context) (string, bool, error) {
	currencies, err := x.currencies(ctx)
	if err != nil {
		return "", false, err
	}
	first := ""
	for _, c := range currencies {
		for _, direction := range []string{"inflow", "outflow"} {
			page, err := x.store.Query(ctx, record.Query{PK: key.Rollup(x.tenant, "month", c.String(), direction, "", "").PK, Limit: 1})
			if err != nil {
				return "", false, err
			}
			for _, item := range page.Items {
				if month, _ := cut(item.Key.SK); first == "" || month < first {
					first = month
				}
			}
		}
	}
	return first, first != "", nil
}

// covered cuts a period that reaches back to the beginning down to what there is.
func (x *execution) covered(ctx context.Context, p Period) (Period, error) {
	if p.From != beginning {
		return p, nil
	}
	first, found, err := x.earliest(ctx)
	if err != nil || !found || first+"-01" >= p.Until {
		return p, err
	}
	p.From = first + "-01"
	return p, nil
}

// since says from when a period is that reaches back to the beginning.
func (x *execution) since(ctx context.Context, p Period) (Period, error) {
	whole, err := x.covered(ctx, p)
	if err != nil || whole.From == p.From {
		return whole, err
	}
	from, until, err := whole.bounds()
	return period(from, until), err
}

// nothing answers that nothing moved, where the ledger says so: a period before
// its first month, or after its last, is not known and has no answer.
func (x *execution) nothing(ctx context.Context, what string) (string, error) {
	first, found, err := x.earliest(ctx)
	if err != nil {
		return "", err
	}
	latest, err := x.latest(ctx)
	if err != nil {
		return "", err
	}
	p := x.plan.Period
	if !found || p.Until <= first+"-01" || latest < p.From {
		return "", unanswered("The ledger holds no posted or cleared %s of %s. It has transactions from %s to %s; as_of says from when to look.", what, p.Label, orNone(first), orNone(latest))
	}
	return "There is none: the ledger holds no posted or cleared " + what + " " + p.in() + ".", nil
}

func orNone(text string) string {
	if text == "" {
		return "no day"
	}
	return text
}

// latest is the date of the newest transaction.
func (x *execution) latest(ctx context.Context) (string, error) {
	page, err := x.store.Query(ctx, record.Query{Index: 1, PK: key.LedgerList(x.tenant, id.Transaction, "", "").PK, To: x.tomorrow(), Reverse: true, Limit: 1})
	if err != nil || len(page.Items) == 0 {
		return "", err
	}
	var row ledger.Transaction
	if err := json.Unmarshal(page.Items[0].Body, &row); err != nil {
		return "", fmt.Errorf("decode transaction: %w", err)
	}
	return row.TransactionDate, nil
}

// transactionsOf is how many transactions an answer is over, in words.
func transactionsOf(n int64) string {
	if n == 1 {
		return "1 transaction"
	}
	return strconv.FormatInt(n, 10) + " transactions"
}
