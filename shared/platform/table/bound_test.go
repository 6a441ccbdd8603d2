package table_test

import (
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/record"
)

// numbers makes counters of words such as "a=1 b=-2".
func numbers(t *testing.T, text string) map[string]*big.Int {
	t.Helper()
	all := map[string]*big.Int{}
	for _, word := range strings.Fields(text) {
		name, digits, _ := strings.Cut(word, "=")
		n, ok := new(big.Int).SetString(digits, 10)
		if !ok {
			t.Fatalf("%s is no number", word)
		}
		all[name] = n
	}
	return all
}

// TestMost: a bound is of the counter before the deltas; one that is not there is
// zero; one bound that does not hold refuses the whole change.
func TestMost(t *testing.T) {
	for _, c := range []struct {
		name, before, deltas, most string
		conflict                   bool
		after                      string
	}{
		{"no bound", "a=5", "a=1", "", false, "a=6"},
		{"at the bound", "a=5", "a=100", "a=5", false, "a=105"},
		{"above it", "a=6", "a=1", "a=5", true, "a=6"},
		{"the delta is not looked at", "a=0", "a=-7", "a=0", false, "a=-7"},
		{"no item, bound of zero", "", "a=1", "a=0", false, "a=1"},
		{"no item, a bound above", "", "a=1", "a=9", false, "a=1"},
		{"no item, a bound below zero", "", "a=1", "a=-1", true, ""},
		{"no such counter, bound of zero", "b=1", "a=1", "a=0", false, "a=1 b=1"},
		{"no such counter, a bound below zero", "b=1", "a=1", "a=-1", true, "b=1"},
		{"below zero, at the bound", "a=-5", "a=1", "a=-5", false, "a=-4"},
		{"below zero, above the bound", "a=-4", "a=1", "a=-5", true, "a=-4"},
		{"of a counter that is not moved", "a=1 b=5", "a=1", "b=5", false, "a=2 b=5"},
		{"of a counter that is not moved, above", "a=1 b=6", "a=1", "b=5", true, "a=1 b=6"},
		{"two that hold", "a=1 b=2", "a=1 b=1", "a=1 b=2", false, "a=2 b=3"},
		{"the first of two does not", "a=2 b=2", "a=1 b=1", "a=1 b=2", true, "a=2 b=2"},
		{"the second of two does not", "a=1 b=3", "a=1 b=1", "a=1 b=2", true, "a=1 b=3"},
		{"numbers of 38 digits", "a=" + strings.Repeat("9", 37), "a=1", "a=" + strings.Repeat("9", 37), false, "a=1" + strings.Repeat("0", 37)},
		{"numbers of 38 digits, one above", "a=" + strings.Repeat("9", 37), "a=1", "a=" + strings.Repeat("9", 36) + "8", true, "a=" + strings.Repeat("9", 37)},
	} {
		t.Run(c.name, func(t *testing.T) {
			counter, beside := at(t, "n"), at(t, "row")
			if c.before != "" {
				noError(t, open().Commit(t.Context(), record.Change{Adds: []record.Add{{Key: counter, Deltas: numbers(t, c.before)}}}))
			}
			err := open().Commit(t.Context(), record.Change{
				Puts: []record.Put{put(beside, "x", 0)},
				Adds: []record.Add{{Key: counter, Deltas: numbers(t, c.deltas), Most: numbers(t, c.most)}},
			})
			_, written, failed := open().Get(t.Context(), beside)
			noError(t, failed)
			equal(t, "what was beside it is written", written, !c.conflict)
			if c.conflict {
				conflicts(t, err)
			} else {
				noError(t, err)
			}
			item, _, err := open().Get(t.Context(), counter)
			noError(t, err)
			equal(t, "counters", fmt.Sprint(item.Numbers), fmt.Sprint(nilIfNone(numbers(t, c.after))))
		})
	}
}

func nilIfNone(m map[string]*big.Int) map[string]*big.Int {
	if len(m) == 0 {
		return nil
	}
	return m
}

// TestDrop: forgotten counters are gone, others stay, and what is not there is
// forgotten without a word.
func TestDrop(t *testing.T) {
	k := at(t, "n")
	noError(t, open().Commit(t.Context(), record.Change{Adds: []record.Add{{Key: k, Deltas: numbers(t, "a=1 b=2 c=3")}}}))
	noError(t, open().Commit(t.Context(), record.Change{Adds: []record.Add{{
		Key: k, Deltas: numbers(t, "a=1"), Most: numbers(t, "c=3"), Drop: []string{"b", "c", "none"},
	}}}))
	item, _, err := open().Get(t.Context(), k)
	noError(t, err)
	equal(t, "counters", fmt.Sprint(item.Numbers), fmt.Sprint(numbers(t, "a=2")))
	noError(t, open().Commit(t.Context(), record.Change{Adds: []record.Add{{Key: k, Deltas: numbers(t, "b=5")}}}))
	item, _, err = open().Get(t.Context(), k)
	noError(t, err)
	equal(t, "from zero again", item.Numbers["b"].String(), "5")
}

// As many counters and bounds as the money path ever moves at once are one
// update: an expression has a greatest size.
func TestManyCountersAtOnce(t *testing.T) {
	add := record.Add{Key: at(t, "n"), Deltas: map[string]*big.Int{}, Most: map[string]*big.Int{}}
	for i := range 40 {
		add.Deltas[fmt.Sprintf("m%d.chain.USDC", 20000+i)] = big.NewInt(int64(i))
		add.Drop = append(add.Drop, fmt.Sprintf("h%d.chain.USDC", 5_900_000+i), fmt.Sprintf("d%d.chain.n", 490_000+i))
	}
	for i := range 20 {
		add.Most[fmt.Sprintf("ever.chain.C%02d", i)] = big.NewInt(1)
	}
	add.Drop = add.Drop[:60]
	noError(t, open().Commit(t.Context(), record.Change{Adds: []record.Add{add}}))
}

// TestMostAtOnce: of many at once as many pass as the bound lets.
func TestMostAtOnce(t *testing.T) {
	k := at(t, "n")
	errs := make([]error, 12)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			errs[i] = open().Commit(t.Context(), record.Change{Adds: []record.Add{{Key: k, Deltas: numbers(t, "a=3"), Most: numbers(t, "a=10")}}})
		})
	}
	all.Wait()
	passed := 0
	for _, err := range errs {
		if err == nil {
			passed++
			continue
		}
		conflicts(t, err)
	}
	equal(t, "passed", passed, 4) // at 0, 3, 6 and 9
}
