package ledger_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// stored are the tenant's transactions as they lie in the table.
func (b *book) stored(t *testing.T) []ledger.Transaction {
	t.Helper()
	var all []ledger.Transaction
	for q := (record.Query{Index: 1, PK: "tenant#" + b.tenant.String() + "#tx"}); ; {
		page, err := b.store.Query(t.Context(), q)
		noError(t, err)
		for _, item := range page.Items {
			var x ledger.Transaction
			noError(t, json.Unmarshal(item.Body, &x))
			all = append(all, x)
		}
		if page.Next == nil {
			return all
		}
		q.After = page.Next
	}
}

// cell is what transactions sum up to and how many they are.
type cell struct{ sum, count string }

// counter is where a cell stands: in a rollup, and there in all or on one day.
type counter struct {
	key.Key
	day string // 15., empty for all
}

func at(item record.Item, day string) cell {
	return cell{fmt.Sprint(item.Numbers[day+"total"]), fmt.Sprint(item.Numbers[day+"count"])}
}

// summed adds the stored transactions up in the plainest way there is.
func (b *book) summed(t *testing.T) map[counter]cell {
	t.Helper()
	sums, counts := map[counter]*big.Int{}, map[counter]int{}
	for _, x := range b.stored(t) {
		if x.Status != "posted" && x.Status != "cleared" {
			continue
		}
		category, payee := "-", "-"
		if x.Category != nil {
			category = strings.ToLower(*x.Category)
		}
		if x.CounterpartyID != nil {
			payee = *x.CounterpartyID
		}
		amount, err := money.ParseAmount(x.Amount, money.MustParse(x.Currency))
		noError(t, err)
		minor, ok := new(big.Int).SetString(amount.Minor(), 10)
		equal(t, "minor units", ok, true)
		month := x.TransactionDate[:7]
		places := []counter{{key.RollupMonth(b.tenant, month, x.Currency, x.Direction), ""}}
		if x.CounterpartyID != nil {
			places = append(places, counter{key.RollupOf(b.tenant, payee, month, x.Currency, x.Direction), ""})
		}
		for grain, day := range map[string]string{"days": x.TransactionDate[8:] + ".", "month": ""} {
			for dimension, value := range map[string]string{grain: "", grain + "/category": category, grain + "/counterparty": payee} {
				places = append(places, counter{key.Rollup(b.tenant, dimension, x.Currency, x.Direction, month, value), day})
			}
		}
		for _, k := range places {
			if sums[k] == nil {
				sums[k] = new(big.Int)
			}
			sums[k].Add(sums[k], minor)
			counts[k]++
		}
	}
	cells := map[counter]cell{}
	for k, sum := range sums {
		cells[k] = cell{sum.String(), fmt.Sprint(counts[k])}
	}
	return cells
}

// sums wants every rollup in the table to equal the sum of the rows, and none
// to be there beside them that is not zero.
func (b *book) sums(t *testing.T) {
	t.Helper()
	want, got := b.summed(t), map[counter]cell{}
	partitions := []string{key.RollupMonths(b.tenant)}
	for k := range want {
		if strings.HasPrefix(k.PK, key.RollupsOf(b.tenant, "")) && !slices.Contains(partitions, k.PK) {
			partitions = append(partitions, k.PK)
		}
	}
	for _, grain := range []string{"days", "month"} {
		for _, dimension := range []string{grain, grain + "/category", grain + "/counterparty"} {
			for _, currency := range []string{"USD", "JPY", "KWD"} {
				for _, direction := range ledger.Directions {
					partitions = append(partitions, key.Rollup(b.tenant, dimension, currency, direction, "", "").PK)
				}
			}
		}
	}
	for _, pk := range partitions {
		for _, item := range b.partition(t, pk) {
			for name := range item.Numbers {
				if day, is := strings.CutSuffix(name, "total"); is && at(item, day) != (cell{"0", "0"}) {
					got[counter{item.Key, day}] = at(item, day)
				}
			}
			if item.Numbers[ledger.RollupMoves].Sign() <= 0 {
				t.Errorf("rollup %s %s has no moves", item.Key.PK, item.Key.SK)
			}
		}
	}
	keys := slices.Concat(slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
	for _, k := range keys {
		if got[k] != want[k] {
			t.Fatalf("rollup %s %s %s is %v, the rows add up to %v", k.PK, k.SK, k.day, got[k], want[k])
		}
	}
}

func (b *book) partition(t *testing.T, pk string) []record.Item {
	t.Helper()
	var all []record.Item
	for q := (record.Query{PK: pk}); ; {
		page, err := b.store.Query(t.Context(), q)
		noError(t, err)
		all = append(all, page.Items...)
		if page.Next == nil {
			return all
		}
		q.After = page.Next
	}
}

// rollup is one cell of the table: of a month, or of a day.
func (b *book) rollup(t *testing.T, dimension, period, value string) string {
	t.Helper()
	item, found, err := b.store.Get(t.Context(), key.Rollup(b.tenant, dimension, "USD", "outflow", period[:7], value))
	noError(t, err)
	if !found {
		return "none"
	}
	day := ""
	if len(period) > 7 {
		day = period[8:] + "."
	}
	c := at(item, day)
	return c.sum + " over " + c.count
}

// TestCorrections changes one transaction step by step.
func TestCorrections(t *testing.T) {
	b := newBook(t)
	other := transaction()
	other.ID, other.Amount, other.Allocations = "tx_other", "1.00", nil
	b.write(t, ledger.Written{New: 1}, other)
	for _, step := range []struct {
		name, field string
		value       any
		day, cloud  string // the day's rollup, and the month's of the category
	}{
		{"as it came", "Amount", "100.00", "10100 over 2", "10100 over 2"},
		{"amount corrected", "Amount", "50.00", "5100 over 2", "5100 over 2"},
		{"no category", "Category", nil, "5100 over 2", "100 over 1"},
		{"category again, spelt otherwise", "Category", "CLOUD", "5100 over 2", "5100 over 2"},
		{"failed", "Status", "failed", "100 over 1", "100 over 1"},
		{"pending", "Status", "pending", "100 over 1", "100 over 1"},
		{"cleared", "Status", "cleared", "5100 over 2", "5100 over 2"},
		{"no counterparty", "CounterpartyID", nil, "5100 over 2", "5100 over 2"},
		{"another day", "TransactionDate", "2025-09-16", "100 over 1", "5100 over 2"},
		{"another month", "TransactionDate", "2025-08-31", "100 over 1", "100 over 1"},
		{"back", "TransactionDate", "2025-09-15", "5100 over 2", "5100 over 2"},
		{"the other direction", "Direction", "inflow", "100 over 1", "100 over 1"},
	} {
		x := transaction()
		x.Allocations = nil
		if step.name != "as it came" {
			b.row(t, "tx", "tx_4127", x)
		}
		set(t, x, step.field, step.value)
		_, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", x)
		noError(t, err)
		equal(t, step.name+": day", b.rollup(t, "days", "2025-09-15", ""), step.day)
		equal(t, step.name+": month of the category", b.rollup(t, "month/category", "2025-09", "cloud"), step.cloud)
		b.sums(t)
	}
	equal(t, "uncategorized", b.rollup(t, "month/category", "2025-09", "-"), "0 over 0")
	equal(t, "without counterparty", b.rollup(t, "month/counterparty", "2025-08", "-"), "0 over 0")
}

// TestRollupsEqualTheSum writes at random: new rows, corrections of everything
// that a rollup is made of, and the same again.
func TestRollupsEqualTheSum(t *testing.T) {
	random := rand.New(rand.NewSource(20250930))
	pick := func(values ...string) string { return values[random.Intn(len(values))] }
	maybe := func(value string) *string {
		if random.Intn(3) == 0 {
			return nil
		}
		return &value
	}
	b := newBook(t)
	for round := range 25 {
		named := map[string]bool{}
		var rows []ledger.Row
		for range 1 + random.Intn(20) {
			name := fmt.Sprintf("tx_%d", random.Intn(40))
			if named[name] {
				continue
			}
			named[name] = true
			x := transaction()
			x.ID, x.Allocations, x.Currency = name, nil, pick("USD", "JPY", "KWD")
			x.Amount = fmt.Sprint(random.Int63n(1_000_000_000_000))
			if x.Currency != "JPY" {
				x.Amount += fmt.Sprintf(".%02d", random.Intn(100))
			}
			x.Direction, x.Status = pick(ledger.Directions...), pick(ledger.TransactionStatuses...)
			x.TransactionDate = noon.AddDate(0, 0, -random.Intn(40)).Format(time.DateOnly)
			x.Category, x.CounterpartyID = maybe(pick("Cloud", "cloud", "Rent", "-")), maybe(pick("cp_1", "cp_2"))
			rows = append(rows, x)
		}
		got, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", rows...)
		noError(t, err)
		equal(t, "rows", got.New+got.Changed+got.Same, len(rows))
		if round%4 == 0 {
			b.sums(t)
		}
	}
	b.sums(t)
	if cells := len(b.summed(t)); cells < 60 {
		t.Errorf("%d cells: the test tries little", cells)
	}
}

// An amount of 36 digits before the point is counted to the cent.
func TestLargeAmounts(t *testing.T) {
	b, x := newBook(t), transaction()
	x.Allocations, x.Amount = nil, strings.Repeat("9", 36)+".98"
	b.write(t, ledger.Written{New: 1}, x)
	y := transaction()
	y.ID, y.Allocations, y.Amount = "tx_2", nil, "0.01"
	b.write(t, ledger.Written{New: 1}, y)
	equal(t, "day", b.rollup(t, "days", "2025-09-15", ""), strings.Repeat("9", 38)+" over 2")
	b.sums(t)
}

// moves is how often a rollup of September was written to.
func (b *book) moves(t *testing.T) string {
	t.Helper()
	item, _, err := b.store.Get(t.Context(), key.RollupMonth(b.tenant, "2025-09", "USD", "outflow"))
	noError(t, err)
	return fmt.Sprint(item.Numbers[ledger.RollupMoves])
}

// A rollup that rows change without changing its sum has been moved; one that a
// row's other fields change has not. Who holds it against its rows relies on both.
func TestMoves(t *testing.T) {
	b := newBook(t)
	row := func(name, amount string) *ledger.Transaction {
		x := transaction()
		x.ID, x.Amount, x.Allocations = name, amount, nil
		return x
	}
	b.write(t, ledger.Written{New: 2}, row("tx_1", "10.00"), row("tx_2", "20.00"))
	equal(t, "moves of two new rows", b.moves(t), "2")
	b.write(t, ledger.Written{Changed: 2}, row("tx_1", "20.00"), row("tx_2", "10.00"))
	equal(t, "moves of two that changed places", b.moves(t), "4")
	described := row("tx_1", "20.00")
	described.Description = ptr("another")
	b.write(t, ledger.Written{Changed: 1}, described)
	equal(t, "moves of a description", b.moves(t), "4")
	b.sums(t)
}
