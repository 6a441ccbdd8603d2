package question

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// maxAccounts is how many accounts a tenant may have for its balances to be
	// added up: a sum over some of them would be wrong.
	maxAccounts = 500
	// maxExamined is how many rows one question looks at beyond those an index
	// names exactly.
	maxExamined = 1000
	// maxCells is how many rollups one ranking reads; over more there is no
	// answer, since the largest may be among the rest.
	maxCells = 5000
)

// rows reads an index range to its end or to a number of rows, and says whether
// it reached the end.
func rows[T any](ctx context.Context, store record.Store, q record.Query, most int) (list []T, whole bool, err error) {
	for {
		q.Limit = min(200, most-len(list))
		page, err := store.Query(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, item := range page.Items {
			var row T
			if err := json.Unmarshal(item.Body, &row); err != nil {
				return nil, false, fmt.Errorf("decode row %s: %w", item.Key.PK, err)
			}
			list = append(list, row)
		}
		if page.Next == nil {
			return list, true, nil
		}
		if len(list) >= most {
			return list, false, nil
		}
		q.After = page.Next
	}
}

// accounts are all accounts of a tenant.
func accounts(ctx context.Context, store record.Store, t identity.Tenant) ([]ledger.Account, error) {
	list, whole, err := rows[ledger.Account](ctx, store, record.Query{Index: 1, PK: key.LedgerList(t, id.Account, "", "").PK}, maxAccounts)
	if err == nil && !whole {
		return nil, unanswered("There are more than %d accounts: their balances come from `ledger.accounts.list`.", maxAccounts)
	}
	return list, err
}

// directory looks names up in the ledger.
type directory struct{ store record.Store }

func (d directory) Accounts(ctx context.Context, asked Asked) ([]ledger.Account, error) {
	return accounts(ctx, d.store, asked.Tenant)
}

func (d directory) Counterparties(ctx context.Context, asked Asked, text string) ([]ledger.Counterparty, error) {
	const enough = 100
	reader := ledger.Reader{Store: d.store}
	page, err := reader.Counterparties(ctx, asked.Tenant, text, "", listing.Window{Limit: enough, Budget: 1 << 20})
	if err != nil {
		return nil, err
	}
	list := make([]ledger.Counterparty, len(page.Rows))
	for i, row := range page.Rows {
		if err := json.Unmarshal(row, &list[i]); err != nil {
			return nil, fmt.Errorf("decode counterparty: %w", err)
		}
	}
	return list, nil
}

// names reads counterparties by their ids.
func (x *execution) names(ctx context.Context, ids ...string) (map[string]ledger.Counterparty, error) {
	return many[ledger.Counterparty](ctx, x, id.Counterparty, ids)
}

// many reads rows by their ids, as far as they are there.
func many[T any](ctx context.Context, x *execution, kind id.Prefix, ids []string) (map[string]T, error) {
	keys, names := make([]key.Key, len(ids)), map[key.Key]string{}
	for i, name := range ids {
		keys[i] = key.Ledger(x.tenant, kind, name)
		names[keys[i]] = name
	}
	stored, err := x.store.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	found := map[string]T{}
	for k, item := range stored {
		var row T
		if err := json.Unmarshal(item.Body, &row); err != nil {
			return nil, fmt.Errorf("decode row %s: %w", names[k], err)
		}
		found[names[k]] = row
	}
	return found, nil
}

// amount reads a row's amount. The writer has checked it, so an error is a
// damaged row and no number is made of it.
func amount(text, code string) (money.Amount, error) {
	c, err := money.Parse(code)
	if err != nil {
		return money.Amount{}, err
	}
	return money.ParseSigned(text, c)
}

// group is what transactions of one value come to in one currency.
type group struct {
	value  string
	amount money.Amount
	count  int64
}

// groups adds up rollups of a period by value, the largest first. Whole months
// are read by the month, other periods by the day.
func (x *execution) groups(ctx context.Context, dimension string, c money.Currency) ([]group, error) {
	grain, from, until := grainOf(*x.plan.Period)
	q := record.Query{
		PK:   key.Rollup(x.tenant, grain+"/"+dimension, c.String(), "outflow", "", "").PK,
		From: from, To: until, // keys are period#value, so all of the last period lies below the next one
	}
	sums := map[string]*group{}
	for read := 0; ; {
		q.Limit = maxCells - read + 1
		page, err := x.store.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		if read += len(page.Items); read > maxCells {
			return nil, unanswered("There are too many %s totals in %s to rank. Ask for a shorter period.", dimension, x.plan.Period.Label)
		}
		for _, item := range page.Items {
			if err := addCell(sums, item, c); err != nil {
				return nil, err
			}
		}
		if q.After = page.Next; page.Next == nil {
			break
		}
	}
	var list []group
	for _, g := range sums {
		if g.count > 0 {
			list = append(list, *g)
		}
	}
	slices.SortFunc(list, func(a, b group) int { return cmp.Or(compareLarge(a.amount, b.amount), cmp.Compare(a.value, b.value)) })
	return list, nil
}

// grainOf is how a period's rollups are read: the grain, and the range of keys.
func grainOf(p Period) (grain, from, until string) {
	const first = "-01"
	if p.From[7:] == first && p.Until[7:] == first {
		return "month", p.From[:7], p.Until[:7]
	}
	return "day", p.From, p.Until
}

func addCell(sums map[string]*group, item record.Item, c money.Currency) error {
	total, n := item.Numbers[ledger.RollupSum], item.Numbers[ledger.RollupCount]
	if total == nil || n == nil {
		return nil
	}
	amount, err := money.FromMinor(total.String(), c)
	if err != nil {
		return fmt.Errorf("rollup %s: %w", item.Key.SK, err)
	}
	value := valueOf(item.Key.SK)
	g := sums[value]
	if g == nil {
		g = &group{value: value, amount: money.Zero(c)}
		sums[value] = g
	}
	if g.amount, err = g.amount.Add(amount); err != nil {
		return fmt.Errorf("rollup %s: %w", item.Key.SK, err)
	}
	g.count += n.Int64()
	return nil
}

// valueOf is the value of a rollup's key, which follows its period.
func valueOf(sk string) string {
	for i := range sk {
		if sk[i] == '#' {
			return sk[i+1:]
		}
	}
	return sk
}

// currencies are those a tenant has accounts in: what it can have spent.
func (x *execution) currencies(ctx context.Context) ([]money.Currency, error) {
	if only := x.plan.Filters.Currency; only != "" {
		c, err := money.Parse(only)
		return []money.Currency{c}, err
	}
	all, err := accounts(ctx, x.store, x.tenant)
	if err != nil {
		return nil, err
	}
	var list []money.Currency
	for _, a := range all {
		c, err := money.Parse(a.Currency)
		if err != nil {
			return nil, fmt.Errorf("account %s: %w", a.ID, err)
		}
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b money.Currency) int { return cmp.Compare(a.String(), b.String()) })
	return list, nil
}
