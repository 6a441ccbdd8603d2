package question_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/question"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// The books of a company of a size: the same twelve months, ten counterparties
// and five categories, with few transactions or with many.
const (
	few               = 1_000
	scaleParties      = 10
	scaleCategories   = 5
	moreShare         = 1.2 // how much more the large one may cost
	capacity          = 4096
	attributeOverhead = 120 // bytes of keys and version
)

// many is how large the other one is. With a million the test takes five minutes
// (make soak), and every question costs the same.
var many = flag.Int("scale", 10_000, "transactions of the large books of TestScale")

// metered counts read units as DynamoDB does: 4 kB of what a query looks at, half
// for an index, and each item of a batch by itself.
type metered struct {
	record.Store
	units float64
}

func (m *metered) Get(ctx context.Context, k key.Key) (record.Item, bool, error) {
	item, found, err := m.Store.Get(ctx, k)
	m.units += units(size(item), 1)
	return item, found, err
}

func (m *metered) GetMany(ctx context.Context, keys []key.Key) (map[key.Key]record.Item, error) {
	items, err := m.Store.GetMany(ctx, keys)
	for _, k := range keys {
		m.units += units(size(items[k]), 1)
	}
	return items, err
}

func (m *metered) Query(ctx context.Context, q record.Query) (record.Page, error) {
	page, err := m.Store.Query(ctx, q)
	bytes := 0
	for _, item := range page.Items {
		bytes += size(item)
	}
	share := 1.0
	if q.Index > 0 {
		share = 0.5
	}
	m.units += units(bytes, share)
	return page, err
}

func size(item record.Item) int { return len(item.Body) + attributeOverhead }

func units(bytes int, share float64) float64 {
	return share * float64(max(1, (bytes+capacity-1)/capacity))
}

// fill stores the books as the ledger's writer would have: through it, so many
// rows would take the whole test time.
func fill(t *testing.T, tenant string, n int) {
	t.Helper()
	o := owner(t, tenant)
	check(t, write(t.Context(), tenant, scaleNames()...))
	sums := map[key.Key]map[string]*big.Int{}
	var batch record.Change
	flush := func() {
		check(t, store.Commit(t.Context(), batch))
		batch = record.Change{}
	}
	first := time.Date(2024, time.October, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		day := first.AddDate(0, 0, i*365/n).Format(time.DateOnly)
		party, category, direction := fmt.Sprintf("cp_%d", i%scaleParties), fmt.Sprintf("kind%d", i%scaleParties%scaleCategories), "outflow"
		if i%scaleParties == 9 {
			direction = "inflow"
		}
		minor := int64(1000 + i*7919%100_000)
		x := ledger.Transaction{
			Meta: meta(fmt.Sprintf("tx_%08d", i)), AccountID: "acct_1", Amount: fmt.Sprintf("%d.%02d", minor/100, minor%100), Currency: "USD", Direction: direction,
			TransactionDate: day, CounterpartyID: &party, Category: &category, Allocations: []ledger.Allocation{}, Status: "cleared", ReconciliationStatus: "reconciled",
		}
		batch.Puts = append(batch.Puts, put(t, o, &x))
		for grain, begin := range map[string]string{"days": day[8:] + ".", "month": ""} {
			for dimension, value := range map[string]string{"": "", "/category": category, "/counterparty": party} {
				k := key.Rollup(o, grain+dimension, "USD", direction, day[:7], value)
				if sums[k] == nil {
					sums[k] = map[string]*big.Int{}
				}
				for name, by := range map[string]int64{begin + ledger.RollupSum: minor, begin + ledger.RollupCount: 1} {
					if sums[k][name] == nil {
						sums[k][name] = new(big.Int)
					}
					sums[k][name].Add(sums[k][name], big.NewInt(by))
				}
			}
		}
		if len(batch.Puts) == record.MaxOperations {
			flush()
		}
	}
	flush()
	for k, counters := range sums {
		batch.Adds = append(batch.Adds, record.Add{Key: k, Deltas: counters})
		if len(batch.Adds) == record.MaxOperations {
			flush()
		}
	}
	flush()
}

func scaleNames() []ledger.Row {
	balance, at := "250000.00", "2025-09-30T12:00:00.000Z"
	rows := []ledger.Row{&ledger.Account{Meta: meta("acct_1"), AccountType: "bank_checking", Name: "Main", Currency: "USD", CurrentBalance: &balance, AvailableBalance: &balance, BalanceAsOf: &at, Status: "active"}}
	for i := range scaleParties {
		rows = append(rows, &ledger.Counterparty{Meta: meta(fmt.Sprintf("cp_%d", i)), Name: fmt.Sprintf("Party%d Limited", i), Type: "vendor", RiskLevel: "low", VerifiedStatus: "document_verified"})
	}
	return rows
}

func put(t *testing.T, o identity.Tenant, x *ledger.Transaction) record.Put {
	t.Helper()
	body, err := json.Marshal(x)
	check(t, err)
	return record.Put{Blind: true, Item: record.Item{Key: key.Ledger(o, id.Transaction, x.ID), Body: body, Index: [3]key.Key{
		key.LedgerList(o, id.Transaction, x.TransactionDate, x.ID), key.LedgerListOf(o, id.Transaction, x.AccountID, x.TransactionDate, x.ID),
		key.LedgerListOf(o, id.Transaction, *x.CounterpartyID, x.TransactionDate, x.ID),
	}}}
}

// TestScale: a question over many times as many transactions reads as much.
func TestScale(t *testing.T) {
	fill(t, "few", few)
	fill(t, "many", *many)
	for _, text := range []string{
		"cash position", "How much did we spend this month?", "What did we spend in 2025?", "How much revenue did we make this month?", "net cash flow this quarter", "What's our top expense category this month?",
		"top 5 vendors this year", "spending by category last month", "How much did we spend on kind2 in August?", "How much did we pay Party3 Limited this year?", "Why did spending change this month?",
		"spending this month vs last month", "average monthly spend this year", "average payment this month", "burn rate", "runway", "How many transactions did we have this month?", "last 5 transactions",
		"last 5 transactions with Party3 Limited", "When did we last pay Party3 Limited?", "Who is Party3 Limited?", "Have we ever paid Party3 Limited?", "spending by month this year", "What do we owe?", "Which bills are overdue?",
	} {
		var cost [2]float64
		for i, tenant := range []string{"few", "many"} {
			m := &metered{Store: store}
			a, err := question.NewEngine(m, now).Ask(t.Context(), owner(t, tenant), question.Ask{Text: text, AsOf: at(t, closing), Depth: 3})
			check(t, err)
			if !a.Answered {
				t.Errorf("%s of %s: %s", text, tenant, a.Answer)
			}
			cost[i] = m.units
		}
		t.Logf("%-60s %6.1f of %d, %6.1f of %d", text, cost[0], few, cost[1], *many)
		if cost[1] > moreShare*cost[0] {
			t.Errorf("%s costs %.1f read units of %d transactions and %.1f of %d", text, cost[0], few, cost[1], *many)
		}
	}
}
