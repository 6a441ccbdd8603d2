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
	for _, k := range rollups(t, x) {
		d.counters.add(k, RollupSum, minor)
		d.counters.add(k, RollupCount, big.NewInt(1))
	}
	return d, nil
}

// rollups are the cells a transaction belongs to: its day and its month, each
// in all, by category and by counterparty; and its month again in two partitions
// that are read without knowing the currencies there are.
func rollups(t identity.Tenant, x *Transaction) []key.Key {
	category, counterparty := uncategorized, uncategorized
	if x.Category != nil {
		category = Fold(*x.Category)
	}
	if x.CounterpartyID != nil {
		counterparty = *x.CounterpartyID
	}
	day, month := x.TransactionDate, x.TransactionDate[:len("2006-01")]
	var cells []key.Key
	for _, period := range []struct{ grain, at string }{{"day", day}, {"month", month}} {
		cells = append(cells,
			key.Rollup(t, period.grain, x.Currency, x.Direction, period.at, ""),
			key.Rollup(t, period.grain+"/category", x.Currency, x.Direction, period.at, category),
			key.Rollup(t, period.grain+"/counterparty", x.Currency, x.Direction, period.at, counterparty))
	}
	cells = append(cells, key.RollupMonth(t, month, x.Currency, x.Direction))
	if x.CounterpartyID != nil {
		cells = append(cells, key.RollupOf(t, *x.CounterpartyID, month, x.Currency, x.Direction))
	}
	return cells
}
