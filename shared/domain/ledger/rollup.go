package ledger

import (
	"fmt"
	"math/big"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// The counters of a rollup: the sum in minor units of its currency, how many
// transactions it is over, and how often it was moved. The last only grows: who
// reads a rollup and its rows one after the other learns from it whether a writer
// came in between, also one that left the sum as it was.
const (
	RollupSum   = "total"
	RollupCount = "count"
	RollupMoves = "moves"
)

// OfDay names the counter of one day, 01 to 31, in a rollup of the days of a
// month. All of them are in one item, so that many rows of a month move few.
func OfDay(counter, day string) string { return day + "." + counter }

// uncategorized is the rollup value of what has no category or counterparty.
const uncategorized = "-"

// derive counts a transaction into its rollups. Only what has been posted or
// cleared counts: the rest has not moved money.
func (x *Transaction) derive(t identity.Tenant) (derived, error) {
	d := derived{counters: deltas{}}
	if x.Status != "posted" && x.Status != "cleared" {
		return d, nil
	}
	c, err := money.Parse(x.Currency)
	if err != nil {
		return d, err
	}
	amount, err := money.ParseAmount(x.Amount, c)
	if err != nil {
		return d, err
	}
	minor, ok := new(big.Int).SetString(amount.Minor(), 10)
	if !ok {
		return d, fmt.Errorf("amount %s has no minor units", amount)
	}
	months, days := rollups(t, x)
	for _, k := range months {
		d.counters.add(k, RollupSum, minor)
		d.counters.add(k, RollupCount, big.NewInt(1))
	}
	day := x.TransactionDate[len("2006-01-"):]
	for _, k := range days {
		d.counters.add(k, OfDay(RollupSum, day), minor)
		d.counters.add(k, OfDay(RollupCount, day), big.NewInt(1))
	}
	return d, nil
}

// rollups are the items a transaction is counted in: its month and the days of its
// month, each in all, by category and by counterparty; and its month again in two
// partitions that are read without knowing the currencies there are.
func rollups(t identity.Tenant, x *Transaction) (months, days []key.Key) {
	category, counterparty := uncategorized, uncategorized
	if x.Category != nil {
		category = Fold(*x.Category)
	}
	if x.CounterpartyID != nil {
		counterparty = *x.CounterpartyID
	}
	month := x.TransactionDate[:len("2006-01")]
	for _, slice := range []struct{ dimension, value string }{{"", ""}, {"/category", category}, {"/counterparty", counterparty}} {
		months = append(months, key.Rollup(t, "month"+slice.dimension, x.Currency, x.Direction, month, slice.value))
		days = append(days, key.Rollup(t, "days"+slice.dimension, x.Currency, x.Direction, month, slice.value))
	}
	months = append(months, key.RollupMonth(t, month, x.Currency, x.Direction))
	if x.CounterpartyID != nil {
		months = append(months, key.RollupOf(t, *x.CounterpartyID, month, x.Currency, x.Direction))
	}
	return months, days
}
