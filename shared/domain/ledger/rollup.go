package ledger

import (
	"fmt"
	"math/big"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// The counters of a rollup: the sum in minor units of its currency, and how
// many transactions it is over.
const (
	RollupSum   = "total"
	RollupCount = "count"
)

// uncategorized is the rollup value of what has no category or counterparty.
const uncategorized = "-"

// rollupsPerRow is how many cells one transaction is counted in.
const rollupsPerRow = 6

// deltas collects what counters move by, each counter once: a change holds an
// item at most once.
type deltas map[key.Key]map[string]*big.Int

// add counts a transaction into its rollups, or out of them with sign -1. Only
// what has been posted or cleared counts: the rest has not moved money.
func (d deltas) add(t identity.Tenant, x *Transaction, sign int64) error {
	if x.Status != "posted" && x.Status != "cleared" {
		return nil
	}
	c, err := money.Parse(x.Currency)
	if err != nil {
		return err
	}
	amount, err := money.ParseAmount(x.Amount, c)
	if err != nil {
		return err
	}
	minor, ok := new(big.Int).SetString(amount.Minor(), 10)
	if !ok {
		return fmt.Errorf("amount %s has no minor units", amount)
	}
	minor.Mul(minor, big.NewInt(sign))
	for _, k := range rollups(t, x) {
		cell := d[k]
		if cell == nil {
			cell = map[string]*big.Int{RollupSum: new(big.Int), RollupCount: new(big.Int)}
			d[k] = cell
		}
		cell[RollupSum].Add(cell[RollupSum], minor)
		cell[RollupCount].Add(cell[RollupCount], big.NewInt(sign))
	}
	return nil
}

// rollups are the cells a transaction belongs to: its day and its month, each
// in all, by category and by counterparty.
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
	return cells
}
