package rollups

import (
	"context"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// Report is what Check found.
type Report struct {
	TenantID     string      `json:"tenant_id"`
	Months       int         `json:"months"`       // that were looked at
	Transactions int         `json:"transactions"` // in them
	Rollups      int         `json:"rollups"`      // in them
	Difference   *Difference `json:"difference"`   // the first, null when there is none
}

// Difference is a rollup that is not the sum of its rows.
type Difference struct {
	Rollup   string `json:"rollup"` // dimension, currency, direction, month and value, as they stand in its key; and the day of one of days
	Month    string `json:"month"`  // YYYY-MM
	Currency string `json:"currency"`
	Rows     Sum    `json:"rows"`
	Stored   Sum    `json:"stored"`
}

// Sum is an amount and the number of transactions it is over.
type Sum struct {
	Amount string `json:"amount"` // decimal in the currency; minor units when that is none
	Count  int64  `json:"count"`
}

// String says what differs.
func (d Difference) String() string {
	return fmt.Sprintf("%s: the rows come to %s %s in %d, the rollup says %s in %d", d.Rollup, d.Rows.Amount, d.Currency, d.Rows.Count, d.Stored.Amount, d.Stored.Count)
}

// Check walks a tenant's months and holds every rollup against the sum of its
// rows, and wants none beside them that is not zero. It ends at the first month
// that differs and names the first rollup in it, by the order of keys.
//
// It may run while writers write: a month that seems to differ is read again until
// it stood still meanwhile. One that never does is a conflict.
func (b *Book) Check(ctx context.Context, t identity.Tenant) (Report, error) {
	report := Report{TenantID: t.String()}
	way, err := b.walk(ctx, t)
	if err != nil {
		return report, err
	}
	for {
		m, err := way.next(ctx)
		if err != nil || m == nil {
			return report, err
		}
		report.Months++
		report.Transactions += m.transactions
		report.Rollups += len(m.have)
		if len(differing(m.want, m.have)) == 0 {
			continue
		}
		if report.Difference, err = b.confirm(ctx, t, m); err != nil || report.Difference != nil {
			return report, err
		}
	}
}

// confirm reads a month until nobody wrote to what differs in it meanwhile, and
// returns the first difference that then is left, nil for none.
func (b *Book) confirm(ctx context.Context, t identity.Tenant, m *month) (*Difference, error) {
	for range maxTries {
		before, err := b.still(ctx, t, m)
		if err != nil {
			return nil, err
		}
		after := &month{name: before.name, have: figures{}, currencies: before.currencies}
		if err := b.have(ctx, t, after, before.want); err != nil {
			return nil, err
		}
		keys := differing(before.want, before.have)
		stood := true
		for _, k := range keys {
			stood = stood && same(before.have[k], after.have[k])
		}
		if stood && len(keys) == 0 {
			return nil, nil
		}
		if stood {
			d := difference(t, keys[0], before)
			return &d, nil
		}
		m = before
	}
	return nil, busy(m.name)
}

// same says whether a rollup was not written to between two readings.
func same(a, b figure) bool {
	return a.counter(ledger.RollupMoves).Cmp(b.counter(ledger.RollupMoves)) == 0 && a.equal(b)
}

func busy(month string) error {
	return fault.New(fault.Conflict, "The month %s was written to each of the %d times it was read. Try again when less is written.", month, maxTries)
}

func difference(t identity.Tenant, k key.Key, m *month) Difference {
	name := strings.TrimPrefix(k.PK, prefix(t)) + "#" + k.SK
	d := Difference{Rollup: strings.TrimRight(strings.ReplaceAll(name, "#", " "), " "), Month: m.name}
	// The currency stands in the partition, or behind the month.
	fields := strings.Split(strings.TrimPrefix(k.PK, prefix(t)), "#")
	if len(fields) != 3 {
		fields = strings.Split(k.SK, "#")
	}
	if len(fields) > 1 {
		d.Currency = fields[1]
	}
	begin := ""
	if day, _, is := strings.Cut(m.want[k].off(m.have[k])[0], "."); is {
		d.Rollup += ", day " + day
		begin = day + "."
	}
	d.Rows, d.Stored = written(m.want[k], begin, d.Currency), written(m.have[k], begin, d.Currency)
	return d
}

// written is a figure in words: of the counters whose names begin so.
func written(f figure, begin, currency string) Sum {
	minor := f.counter(begin + ledger.RollupSum).String()
	if c, err := money.Parse(currency); err == nil {
		if amount, err := money.FromMinor(minor, c); err == nil {
			minor = amount.String()
		}
	}
	return Sum{Amount: minor, Count: f.counter(begin + ledger.RollupCount).Int64()}
}
