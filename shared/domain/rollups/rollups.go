// Package rollups holds a tenant's rollups against its transactions: whether each
// is the sum of its rows, and how to make it so again.
//
// It works the sums out anew, from the rows and from how keys are built, and
// shares no code with the writer that keeps them: a slip there is one that is
// found here.
package rollups

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Book reads and mends rollups.
type Book struct {
	Store record.Store
	Trail *audit.Trail // tells of what Rebuild corrects; Check needs none
	// Settle waits until an index shows what was written before the call, nil
	// where it does at once. Transactions are found through an index alone, and on
	// AWS that lags behind the table by a moment.
	Settle func(ctx context.Context) error
}

// maxTries is how often a month is read again because somebody wrote to it in
// between.
const maxTries = 6

// figure is what a rollup says, or what its rows come to: its counters by their
// names. Those that are not there are zero. A stored one has its moves among them,
// which are nobody's sum.
type figure map[string]*big.Int

// counter is one of them.
func (f figure) counter(name string) *big.Int {
	if n := f[name]; n != nil {
		return n
	}
	return new(big.Int)
}

// off are the counters in which two figures differ, in the order of their names.
func (f figure) off(g figure) []string {
	var names []string
	for _, name := range append(slices.Collect(maps.Keys(f)), slices.Collect(maps.Keys(g))...) {
		if name != ledger.RollupMoves && !slices.Contains(names, name) && f.counter(name).Cmp(g.counter(name)) != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (f figure) equal(g figure) bool { return len(f.off(g)) == 0 }

// figures are rollups by their keys.
type figures map[key.Key]figure

// differing are the keys under which two say different things, in their order.
func differing(want, have figures) []key.Key {
	var keys []key.Key
	for k, f := range want {
		if !f.equal(have[k]) {
			keys = append(keys, k)
		}
	}
	for k, f := range have {
		if _, known := want[k]; !known && !f.equal(nil) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, key.Compare)
	return keys
}

// The dimensions a transaction is summed along, within a currency and direction. A
// rollup of days has a total and a count of each, as in 30.total.
var dimensions = []string{"days", "days/category", "days/counterparty", "month", "month/category", "month/counterparty"}

// add counts a transaction into the rollups it belongs in. Only what was posted or
// cleared has moved money.
func (f figures) add(t identity.Tenant, x ledger.Transaction) error {
	if x.Status != "posted" && x.Status != "cleared" {
		return nil
	}
	c, err := money.Parse(x.Currency)
	if err != nil {
		return fmt.Errorf("transaction %s: %w", x.ID, err)
	}
	amount, err := money.ParseAmount(x.Amount, c)
	if err != nil {
		return fmt.Errorf("transaction %s: %w", x.ID, err)
	}
	minor, ok := new(big.Int).SetString(amount.Minor(), 10)
	if !ok {
		return fmt.Errorf("transaction %s: %s is no whole number of minor units", x.ID, amount.Minor())
	}
	for k, day := range cells(t, x) {
		if f[k] == nil {
			f[k] = figure{}
		}
		for name, by := range map[string]*big.Int{day + ledger.RollupSum: minor, day + ledger.RollupCount: big.NewInt(1)} {
			f[k][name] = new(big.Int).Add(f[k].counter(name), by)
		}
	}
	return nil
}

// cells are the places of a transaction's rollups, and how the names of the
// counters there begin.
func cells(t identity.Tenant, x ledger.Transaction) map[key.Key]string {
	values := map[string]string{"": "", "category": "-", "counterparty": "-"}
	if x.Category != nil {
		values["category"] = ledger.Fold(*x.Category)
	}
	if x.CounterpartyID != nil {
		values["counterparty"] = *x.CounterpartyID
	}
	month, day := x.TransactionDate[:7], x.TransactionDate[8:]
	found := map[key.Key]string{key.RollupMonth(t, month, x.Currency, x.Direction): ""}
	if x.CounterpartyID != nil {
		found[key.RollupOf(t, *x.CounterpartyID, month, x.Currency, x.Direction)] = ""
	}
	for _, dimension := range dimensions {
		grain, by, _ := strings.Cut(dimension, "/")
		begin := ""
		if grain == "days" {
			begin = day + "."
		}
		found[key.Rollup(t, dimension, x.Currency, x.Direction, month, values[by])] = begin
	}
	return found
}

// partitions are where the rollups of a currency lie.
func partitions(t identity.Tenant, currency string) []string {
	var list []string
	for _, dimension := range dimensions {
		for _, direction := range ledger.Directions {
			list = append(list, key.Rollup(t, dimension, currency, direction, "", "").PK)
		}
	}
	return list
}

// own are the keys of the months of counterparties that have a rollup among
// others: those two are always written together.
func own(t identity.Tenant, all figures) []key.Key {
	var keys []key.Key
	for k := range all {
		fields := strings.Split(strings.TrimPrefix(k.PK, prefix(t)), "#")
		month, counterparty, found := strings.Cut(k.SK, "#")
		if found && len(fields) == 3 && fields[0] == "month/counterparty" && counterparty != "-" {
			keys = append(keys, key.RollupOf(t, counterparty, month, fields[1], fields[2]))
		}
	}
	return keys
}

// prefix is how the partitions of a tenant's rollups begin.
func prefix(t identity.Tenant) string { return strings.TrimSuffix(key.RollupMonths(t), "months") }

// currencies are those the tenant has rollups or accounts in.
func (b *Book) currencies(ctx context.Context, t identity.Tenant) ([]string, error) {
	found := map[string]bool{}
	months := &stream{store: b.Store, query: record.Query{PK: key.RollupMonths(t)}}
	for {
		item, err := months.next(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the months: %w", err)
		}
		if item == nil {
			break
		}
		if fields := strings.Split(item.Key.SK, "#"); len(fields) == 3 {
			found[fields[1]] = true
		}
	}
	accounts := &stream{store: b.Store, query: record.Query{Index: 1, PK: key.LedgerList(t, id.Account, "", "").PK}}
	for {
		item, err := accounts.next(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the accounts: %w", err)
		}
		if item == nil {
			return slices.Sorted(maps.Keys(found)), nil
		}
		var account ledger.Account
		if err := json.Unmarshal(item.Body, &account); err != nil {
			return nil, fmt.Errorf("decode account: %w", err)
		}
		found[account.Currency] = true
	}
}
