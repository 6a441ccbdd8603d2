package press

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki/render"
)

// named says of a rollup's key what it is the sum of.
type named func(k key.Key) (s render.Sum, ok bool)

// byMonth reads month#currency#direction.
func byMonth(k key.Key) (render.Sum, bool) {
	fields := strings.Split(k.SK, "#")
	if len(fields) != 3 {
		return render.Sum{}, false
	}
	return render.Sum{Period: fields[0], Currency: fields[1], Direction: fields[2]}, true
}

// byValue reads period#value, in the partition of a currency and a direction.
func byValue(currency, direction string) named {
	return func(k key.Key) (render.Sum, bool) {
		period, value, ok := strings.Cut(k.SK, "#")
		return render.Sum{Period: period, Currency: currency, Direction: direction, Value: value}, ok
	}
}

// sums reads up to so many rollups and says whether those are all there are.
func (r reader) sums(ctx context.Context, q record.Query, most int, name named) (list []render.Sum, whole bool, err error) {
	for read := 0; ; {
		q.Limit = most - read
		page, err := r.store.Query(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, item := range page.Items {
			s, err := sum(item, name)
			if err != nil {
				return nil, false, err
			}
			list = append(list, s)
		}
		if page.Next == nil {
			return list, true, nil
		}
		if read += len(page.Items); read >= most {
			return list, false, nil
		}
		q.After = page.Next
	}
}

// sum reads one rollup.
func sum(item record.Item, name named) (render.Sum, error) {
	s, ok := name(item.Key)
	if !ok {
		return s, fmt.Errorf("rollup %s %s: the key is malformed", item.Key.PK, item.Key.SK)
	}
	s, err := counted(s, item.Numbers[ledger.RollupSum], item.Numbers[ledger.RollupCount])
	if err != nil {
		return s, fmt.Errorf("rollup %s %s: %w", item.Key.PK, item.Key.SK, err)
	}
	return s, nil
}

// counted gives a sum its amount, of minor units, and its count; what is not there
// is none.
func counted(s render.Sum, minor, count *big.Int) (render.Sum, error) {
	c, err := money.Parse(s.Currency)
	if err != nil {
		return s, err
	}
	if minor == nil {
		minor = new(big.Int)
	}
	total, err := money.FromMinor(minor.String(), c)
	if err != nil {
		return s, err
	}
	s.Amount = total.String()
	if count != nil {
		s.Count = count.Int64()
	}
	return s, nil
}

// moved leaves out rollups whose transactions were all taken back: they stay, at
// none.
func moved(sums []render.Sum) []render.Sum {
	return slices.DeleteFunc(sums, func(s render.Sum) bool { return s.Count == 0 })
}

// period reads what months came to and the latest transactions in them. seen says
// that there ever were any.
func (r reader) period(ctx context.Context, names []string) (totals []render.Sum, latest []ledger.Transaction, seen bool, err error) {
	for _, month := range slices.Backward(names) {
		sums, _, err := r.sums(ctx, record.Query{PK: key.RollupMonths(r.tenant), Prefix: month + "#"}, values, byMonth)
		if err != nil {
			return nil, nil, false, err
		}
		seen = seen || len(sums) > 0
		totals = append(moved(sums), totals...)
		if len(latest) < recent {
			rows, err := r.transactions(ctx, month, recent-len(latest))
			if err != nil {
				return nil, nil, false, err
			}
			latest = append(latest, rows...)
		}
	}
	return totals, latest, seen || len(latest) > 0, nil
}

func (r reader) transactions(ctx context.Context, month string, most int) ([]ledger.Transaction, error) {
	return latest[ledger.Transaction](ctx, r, 1, key.LedgerList(r.tenant, id.Transaction, "", "").PK, month+"-", most)
}

// cashFlow reads the cash flow of a month, by its days, or of a quarter, by its
// months.
func (r reader) cashFlow(ctx context.Context, name string, known bool) (render.Facts, error) {
	names, _, err := render.Months(name)
	if err != nil {
		return nil, err
	}
	f := render.CashFlow{Period: name}
	var seen bool
	if f.Totals, f.Recent, seen, err = r.period(ctx, names); err != nil || !seen && !known {
		return nil, err
	}
	f.Steps = f.Totals
	if len(names) > 1 {
		return f, nil
	}
	f.Steps = nil
	for _, total := range f.Totals {
		days, err := r.days(ctx, total)
		if err != nil {
			return nil, err
		}
		f.Steps = append(f.Steps, moved(days)...)
	}
	return f, nil
}

// days reads what the days of a month came to.
func (r reader) days(ctx context.Context, month render.Sum) ([]render.Sum, error) {
	item, found, err := r.store.Get(ctx, key.Rollup(r.tenant, "days", month.Currency, month.Direction, month.Period, ""))
	if err != nil || !found {
		return nil, err
	}
	var list []render.Sum
	for n := 1; n <= 31; n++ {
		day := fmt.Sprintf("%02d", n)
		s := render.Sum{Period: month.Period + "-" + day, Currency: month.Currency, Direction: month.Direction}
		if s, err = counted(s, item.Numbers[ledger.OfDay(ledger.RollupSum, day)], item.Numbers[ledger.OfDay(ledger.RollupCount, day)]); err != nil {
			return nil, fmt.Errorf("rollup %s %s: %w", item.Key.PK, item.Key.SK, err)
		}
		list = append(list, s)
	}
	return list, nil
}

// month reads a monthly summary.
func (r reader) month(ctx context.Context, name string, known bool) (render.Facts, error) {
	f := render.Month{Month: name}
	var seen bool
	var err error
	if f.Totals, f.Recent, seen, err = r.period(ctx, []string{name}); err != nil || !seen && !known {
		return nil, err
	}
	for _, total := range f.Totals {
		if total.Direction != "inflow" && total.Direction != "outflow" {
			continue
		}
		for _, ranking := range []struct {
			of, what string
			into     *[]render.Sum
			top      int
		}{{"category", "categories", &f.Categories, 2 * ranked}, {"counterparty", "counterparties", &f.Parties, ranked}} {
			sums, whole, err := r.ranking(ctx, name, ranking.of, total)
			if err != nil {
				return nil, err
			}
			if !whole {
				f.Uncounted = append(f.Uncounted, fmt.Sprintf("%s of %s %s", ranking.what, total.Currency, total.Direction))
				continue
			}
			*ranking.into = append(*ranking.into, render.Top(sums, ranking.top)...)
		}
	}
	f.Parties = slices.DeleteFunc(f.Parties, func(s render.Sum) bool { return s.Value == nobody })
	if f.Names, err = r.names(ctx, f.Parties); err != nil {
		return nil, err
	}
	f.Largest, err = r.largest(ctx, name, f.Parties)
	return f, err
}

// nobody is the value of the rollups of what has no category or counterparty.
const nobody = "-"

// ranking reads what a month came to by category or counterparty, the largest
// first; not whole when there are too many to tell.
func (r reader) ranking(ctx context.Context, month, of string, total render.Sum) ([]render.Sum, bool, error) {
	q := record.Query{PK: key.Rollup(r.tenant, "month/"+of, total.Currency, total.Direction, "", "").PK, Prefix: month + "#"}
	sums, whole, err := r.sums(ctx, q, values, byValue(total.Currency, total.Direction))
	if err != nil || !whole {
		return nil, whole, err
	}
	sums, err = render.Ranked(moved(sums))
	return sums, true, err
}

// names reads the names of counterparties.
func (r reader) names(ctx context.Context, parties []render.Sum) (map[string]string, error) {
	names := map[string]string{}
	var keys []key.Key
	for _, s := range parties {
		if id.Check(id.Counterparty, s.Value) == nil {
			keys = append(keys, key.Ledger(r.tenant, id.Counterparty, s.Value))
		}
	}
	if len(keys) == 0 {
		return names, nil
	}
	found, err := r.store.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, item := range found {
		var c ledger.Counterparty
		if err := json.Unmarshal(item.Body, &c); err != nil {
			return nil, fmt.Errorf("decode %s: %w", item.Key.PK, err)
		}
		names[c.ID] = c.Name
	}
	return names, nil
}

// largest finds the transaction behind each of the largest parties that weighs
// most in it, among its latest of the month.
func (r reader) largest(ctx context.Context, month string, parties []render.Sum) ([]ledger.Transaction, error) {
	var found []ledger.Transaction
	for _, s := range render.Top(parties, leaders) {
		rows, err := latest[ledger.Transaction](ctx, r, 3, key.LedgerListOf(r.tenant, id.Transaction, s.Value, "", "").PK, month+"-", recent)
		if err != nil {
			return nil, err
		}
		rows = slices.DeleteFunc(rows, func(x ledger.Transaction) bool {
			return x.Currency != s.Currency || x.Direction != s.Direction || x.Status != "posted" && x.Status != "cleared"
		})
		if len(rows) == 0 {
			continue
		}
		best, err := heaviest(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, best)
	}
	return found, nil
}

// heaviest is the largest of transactions of one currency; of two as large the one
// with the lesser id.
func heaviest(rows []ledger.Transaction) (ledger.Transaction, error) {
	best, most := rows[0], money.Amount{}
	for i, x := range rows {
		c, err := money.Parse(x.Currency)
		if err != nil {
			return best, fmt.Errorf("transaction %s: %w", x.ID, err)
		}
		a, err := money.ParseAmount(x.Amount, c)
		if err != nil {
			return best, fmt.Errorf("transaction %s: %w", x.ID, err)
		}
		if i == 0 {
			most = a
			continue
		}
		order, err := a.Cmp(most)
		if err != nil {
			return best, fmt.Errorf("transaction %s: %w", x.ID, err)
		}
		if cmp.Or(-order, strings.Compare(x.ID, best.ID)) < 0 {
			best, most = x, a
		}
	}
	return best, nil
}
