package rollups_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/rollups"
)

// some is a transaction with everything a rollup is made of drawn at random.
func some(random *rand.Rand, names, days int) *ledger.Transaction {
	pick := func(values ...string) string { return values[random.Intn(len(values))] }
	x := transaction(fmt.Sprintf("tx_%d", random.Intn(names)), noon.AddDate(0, 0, -random.Intn(days)).Format(time.DateOnly), fmt.Sprint(random.Intn(100_000)))
	x.Currency, x.Direction, x.Status = pick("USD", "JPY", "KWD"), pick(ledger.Directions...), pick(ledger.TransactionStatuses...)
	if random.Intn(3) == 0 {
		x.Category = nil
	} else {
		category := pick("Cloud", "CLOUD", "Miete", "-")
		x.Category = &category
	}
	if random.Intn(3) == 0 {
		x.CounterpartyID = nil
	} else {
		counterparty := pick("cp_1", "cp_2", "cp_3")
		x.CounterpartyID = &counterparty
	}
	return x
}

// batch is up to n transactions of different names.
func batch(random *rand.Rand, n, names, days int) []ledger.Row {
	seen := map[string]bool{}
	var rows []ledger.Row
	for range n {
		if x := some(random, names, days); !seen[x.ID] {
			seen[x.ID] = true
			rows = append(rows, x)
		}
	}
	return rows
}

// count is how many transactions there are.
func (w *world) count(t *testing.T) int {
	t.Helper()
	n := 0
	for q := (record.Query{Index: 1, PK: "tenant#" + w.tenant.String() + "#tx"}); ; {
		page, err := engine.Table().Query(t.Context(), q)
		noError(t, err)
		n += len(page.Items)
		if page.Next == nil {
			return n
		}
		q.After = page.Next
	}
}

// Random rows, corrections of everything, reversals and the same again: what the
// writer keeps is what the checker adds up.
func TestRollupsEqualRows(t *testing.T) {
	w, random := newWorld(t), rand.New(rand.NewSource(7))
	w.checked(t, 0)
	for range 20 {
		w.write(t, batch(random, 25, 60, 90)...)
		w.checked(t, w.count(t))
	}
	reversed := transaction("tx_1", "2025-09-01", "5")
	reversed.Status = "reversed"
	w.write(t, reversed)
	report := w.checked(t, w.count(t))
	if report.Months < 3 || report.Rollups < 300 {
		t.Errorf("%+v: the test tries little", report)
	}
	w.rebuilt(t, 0)
}

// writeBeside runs writers of the same rows side by side, and do again and again
// until they are done.
func (w *world) writeBeside(t *testing.T, do func()) {
	t.Helper()
	var writers sync.WaitGroup
	for n := range 3 {
		writers.Go(func() {
			random := rand.New(rand.NewSource(int64(n)))
			for range 12 {
				_, err := w.writer.Write(t.Context(), w.tenant, actor, "req-1", batch(random, 4, 40, 60)...)
				if err != nil && !errors.Is(err, record.ErrConflict) {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		writers.Wait()
		close(done)
	}()
	for {
		select {
		case <-done:
			return
		default:
			do()
		}
	}
}

// A checker walks the books and a rebuild goes over them while they are written.
// Neither finds fault, nothing is corrected that was right.
func TestWritersBesideCheckAndRebuild(t *testing.T) {
	w := newWorld(t)
	w.write(t, batch(rand.New(rand.NewSource(1)), 60, 40, 60)...)
	w.writeBeside(t, func() {
		report, err := w.book.Check(t.Context(), w.tenant)
		if report.Difference != nil || err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("check beside writers: %v, %v", report.Difference, err)
		}
		done, err := w.book.Rebuild(t.Context(), w.tenant, actor, "req-2")
		if done.Corrected != 0 || err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("rebuild beside writers: %+v, %v", done, err)
		}
	})
	w.checked(t, w.count(t))
}

// A rebuild of damaged rollups beside writers. What it cannot correct for them it
// leaves, and in the end every rollup is its rows.
func TestRebuildBesideWriters(t *testing.T) {
	w := newWorld(t)
	w.write(t, batch(rand.New(rand.NewSource(1)), 60, 40, 60)...)
	for _, date := range []string{"2025-08-05", "2025-09-05", "2025-09-06"} {
		commit(t, record.Change{Adds: []record.Add{
			{Key: key.Rollup(w.tenant, "days", "USD", "outflow", date[:7], ""), Deltas: offOn(date[8:], 700, 1)},
			{Key: key.Rollup(w.tenant, "month/category", "JPY", "inflow", date[:7], "cloud"), Deltas: off(-3, 0)},
		}})
	}
	w.writeBeside(t, func() {
		if _, err := w.book.Rebuild(t.Context(), w.tenant, actor, "req-2"); err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("rebuild beside writers: %v", err)
		}
	})
	_, err := w.book.Rebuild(t.Context(), w.tenant, actor, "req-2")
	noError(t, err)
	w.checked(t, w.count(t))
}

func off(sum, count int64) map[string]*big.Int {
	return map[string]*big.Int{ledger.RollupSum: big.NewInt(sum), ledger.RollupCount: big.NewInt(count)}
}

// offOn is off for one day of a month.
func offOn(day string, sum, count int64) map[string]*big.Int {
	return map[string]*big.Int{day + ".total": big.NewInt(sum), day + ".count": big.NewInt(count)}
}

// meddler writes to the ledger in the moment between a rebuild's reading of
// rollups and its reading of rows, a number of times.
func (w *world) meddler(t *testing.T, times int, rows func(n int) []ledger.Row) func(context.Context) error {
	n := 0
	return func(context.Context) error {
		if n++; n <= times {
			w.write(t, rows(n)...)
		}
		return nil
	}
}

// A writer that comes in between, and leaves the sum as it was: two rows change
// places in one transaction. Without the count of moves this would be missed.
func TestAWriterInBetween(t *testing.T) {
	for name, times := range map[string]int{"once": 1, "every time": 100} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, transaction("tx_1", "2025-09-01", "10"), transaction("tx_2", "2025-09-02", "20"))
			commit(t, record.Change{Adds: []record.Add{{Key: key.RollupMonth(w.tenant, "2025-09", "USD", "outflow"), Deltas: off(500, 0)}}})
			w.book.Settle = w.meddler(t, times, func(n int) []ledger.Row {
				return []ledger.Row{transaction("tx_1", "2025-09-01", fmt.Sprint(10+n)), transaction("tx_2", "2025-09-02", fmt.Sprint(20-n))}
			})
			done, err := w.book.Rebuild(t.Context(), w.tenant, actor, "req-2")
			w.book.Settle = nil
			if times == 1 {
				noError(t, err)
				equal(t, "corrected", done.Corrected, 1)
				w.checked(t, 2)
				return
			}
			if !fault.Is(err, fault.Conflict) || done.Corrected != 0 {
				t.Errorf("a month that is written to all the time: %+v, %v", done, err)
			}
			w.rebuilt(t, 1)
			w.checked(t, 2)
		})
	}
}

// Check does not call a difference what a writer made of it meanwhile.
func TestCheckReadsAgain(t *testing.T) {
	w := newWorld(t)
	w.write(t, transaction("tx_1", "2025-09-01", "10"))
	k := key.RollupMonth(w.tenant, "2025-09", "USD", "outflow")
	commit(t, record.Change{Adds: []record.Add{{Key: k, Deltas: off(500, 0)}}})
	w.book.Settle = func(context.Context) error { // somebody mends it in this moment
		commit(t, record.Change{Adds: []record.Add{{Key: k, Deltas: map[string]*big.Int{ledger.RollupSum: big.NewInt(-500), ledger.RollupMoves: big.NewInt(1)}}}})
		w.book.Settle = nil
		return nil
	}
	w.checked(t, 1)
}

// Each kind of damage is found, named and mended, and told of.
func TestDamage(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(w *world) record.Change
		says   string
		mended int
	}{
		"a sum": {func(w *world) record.Change {
			return record.Change{Adds: []record.Add{{Key: key.Rollup(w.tenant, "days", "USD", "outflow", "2025-09", ""), Deltas: offOn("15", 1, 0)}}}
		}, "days USD outflow 2025-09, day 15: the rows come to 10.00 USD in 1, the rollup says 10.01 in 1", 1},
		"a sum on another day": {func(w *world) record.Change {
			return record.Change{Adds: []record.Add{{Key: key.Rollup(w.tenant, "days", "USD", "outflow", "2025-09", ""), Deltas: map[string]*big.Int{
				"15.total": big.NewInt(-1000), "15.count": big.NewInt(-1), "16.total": big.NewInt(1000), "16.count": big.NewInt(1),
			}}}}
		}, "days USD outflow 2025-09, day 15: the rows come to 10.00 USD in 1, the rollup says 0.00 in 0", 1},
		"a count": {func(w *world) record.Change {
			return record.Change{Adds: []record.Add{{Key: key.Rollup(w.tenant, "month/category", "USD", "outflow", "2025-09", "cloud"), Deltas: off(0, -1)}}}
		}, "month/category USD outflow 2025-09 cloud: the rows come to 10.00 USD in 1, the rollup says 10.00 in 0", 1},
		"one that is gone": {func(w *world) record.Change {
			return record.Change{Deletes: []key.Key{key.Rollup(w.tenant, "month/counterparty", "USD", "outflow", "2025-09", "cp_aws")}}
		}, "month/counterparty USD outflow 2025-09 cp_aws: the rows come to 10.00 USD in 1, the rollup says 0.00 in 0", 1},
		"one of nothing": {func(w *world) record.Change {
			return record.Change{Adds: []record.Add{{Key: key.Rollup(w.tenant, "days/category", "USD", "inflow", "2024-02", "gift"), Deltas: offOn("29", 5, 1)}}}
		}, "days/category USD inflow 2024-02 gift, day 29: the rows come to 0.00 USD in 0, the rollup says 0.05 in 1", 1},
		"months that were never written": {func(w *world) record.Change {
			return record.Change{Deletes: []key.Key{key.RollupMonth(w.tenant, "2025-09", "USD", "outflow"), key.RollupOf(w.tenant, "cp_aws", "2025-09", "USD", "outflow")}}
		}, "months 2025-09 USD outflow: the rows come to 10.00 USD in 1, the rollup says 0.00 in 0", 2},
		"a counterparty's month": {func(w *world) record.Change {
			return record.Change{Adds: []record.Add{{Key: key.RollupOf(w.tenant, "cp_aws", "2025-09", "USD", "outflow"), Deltas: off(0, 1)}}}
		}, "of cp_aws 2025-09 USD outflow: the rows come to 10.00 USD in 1, the rollup says 10.00 in 2", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, transaction("tx_1", "2025-09-15", "10"))
			commit(t, c.damage(w))
			report, err := w.book.Check(t.Context(), w.tenant)
			noError(t, err)
			if report.Difference == nil || !strings.HasPrefix(report.Difference.String(), c.says) {
				t.Fatalf("check says %v, want %q", report.Difference, c.says)
			}
			w.rebuilt(t, c.mended)
			w.checked(t, 1)
			var cloud struct {
				Data struct {
					Action  string
					Outputs struct{ Touched []string }
				}
			}
			noError(t, json.Unmarshal(w.bus.entries[len(w.bus.entries)-1].Detail, &cloud))
			equal(t, "event", cloud.Data.Action, rollups.ActionRebuilt)
			equal(t, "month", cloud.Data.Outputs.Touched[0], report.Difference.Month)
			w.write(t, transaction("tx_1", "2025-09-15", "11")) // counted on from there
			w.checked(t, 1)
		})
	}
}

// More rollups than one transaction corrects, and books from before the months
// were kept at all.
func TestRebuildFromNothing(t *testing.T) {
	w, random := newWorld(t), rand.New(rand.NewSource(3))
	w.write(t, batch(random, 80, 80, 100)...)
	var deletes []key.Key
	for _, item := range w.partition(t, key.RollupMonths(w.tenant)) {
		deletes = append(deletes, item.Key)
	}
	for _, dimension := range []string{"days", "days/category", "days/counterparty", "month", "month/category", "month/counterparty"} {
		for _, currency := range []string{"USD", "JPY", "KWD"} {
			for _, direction := range ledger.Directions {
				for _, item := range w.partition(t, key.Rollup(w.tenant, dimension, currency, direction, "", "").PK) {
					deletes = append(deletes, item.Key)
				}
			}
		}
	}
	for len(deletes) > 0 {
		n := min(len(deletes), record.MaxOperations)
		commit(t, record.Change{Deletes: deletes[:n]})
		deletes = deletes[n:]
	}
	if report, err := w.book.Check(t.Context(), w.tenant); err != nil || report.Difference == nil {
		t.Fatalf("check of nothing: %+v, %v", report, err)
	}
	done, err := w.book.Rebuild(t.Context(), w.tenant, actor, "req-2")
	noError(t, err)
	if done.Corrected <= record.MaxOperations || len(done.In) < 2 {
		t.Errorf("%+v: the test tries little", done)
	}
	w.checked(t, w.count(t))
}

func (w *world) partition(t *testing.T, pk string) []record.Item {
	t.Helper()
	page, err := engine.Table().Query(t.Context(), record.Query{PK: pk})
	noError(t, err)
	return page.Items
}

// Leap days, the ends of months, quarters and years are in their own day and month
// and in no other; two currencies meet nowhere.
func TestCalendarAndCurrencies(t *testing.T) {
	w := newWorld(t)
	dates := []string{"2024-02-28", "2024-02-29", "2024-03-01", "2024-03-31", "2024-04-01", "2024-12-31", "2025-01-01", "2025-02-28", "2025-03-01"}
	var rows []ledger.Row
	for i, date := range dates {
		yen := transaction(fmt.Sprintf("tx_yen_%d", i), date, fmt.Sprint(i+1))
		yen.Currency = "JPY"
		rows = append(rows, transaction(fmt.Sprintf("tx_%d", i), date, fmt.Sprint(i+1)), yen)
	}
	w.write(t, rows...)
	w.checked(t, 2*len(dates))
	for _, c := range []struct{ dimension, currency, period, want string }{
		{"days", "USD", "2024-02-29", "200 over 1"}, {"days", "JPY", "2024-02-29", "2 over 1"}, {"days", "USD", "2024-02-30", "nil over nil"},
		{"month", "USD", "2024-02", "300 over 2"}, {"month", "JPY", "2024-02", "3 over 2"}, {"month", "USD", "2024-03", "700 over 2"},
		{"month", "USD", "2024-04", "500 over 1"}, {"month", "USD", "2024-12", "600 over 1"}, {"month", "USD", "2025-01", "700 over 1"},
		{"month", "USD", "2025-02", "800 over 1"},
	} {
		item, _, err := engine.Table().Get(t.Context(), key.Rollup(w.tenant, c.dimension, c.currency, "outflow", c.period[:7], ""))
		noError(t, err)
		begin := ""
		if c.dimension == "days" {
			begin = c.period[8:] + "."
		}
		got := strings.ReplaceAll(fmt.Sprintf("%v over %v", item.Numbers[begin+"total"], item.Numbers[begin+"count"]), "<nil>", "nil")
		equal(t, c.dimension+" "+c.currency+" "+c.period, got, c.want)
	}
}

// Another tenant's rollups are neither looked at nor changed.
func TestTenantsApart(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.write(t, transaction("tx_1", "2025-09-15", "10"))
	other.write(t, transaction("tx_1", "2025-09-15", "10"))
	commit(t, record.Change{Adds: []record.Add{{Key: key.RollupMonth(other.tenant, "2025-09", "USD", "outflow"), Deltas: off(500, 0)}}})
	w.checked(t, 1)
	w.rebuilt(t, 0)
	other.rebuilt(t, 1)
}
