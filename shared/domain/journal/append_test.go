package journal_test

import (
	"errors"
	"fmt"
	"math/rand"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// A thousand events come in any order, many of them several times, a few at a
// time: they are one chain, each once.
func TestThousandInAnyOrder(t *testing.T) {
	of, order := tenant(t), rand.New(rand.NewSource(1))
	deliveries := events(t, of, 0, 1000)
	for range 500 {
		deliveries = append(deliveries, deliveries[order.Intn(1000)])
	}
	order.Shuffle(len(deliveries), func(i, j int) { deliveries[i], deliveries[j] = deliveries[j], deliveries[i] })
	appended, known := 0, 0
	for len(deliveries) > 0 {
		n := min(len(deliveries), 1+order.Intn(250))
		out := appends(t, engine.Table(), of, deliveries[:n])
		appended, known, deliveries = appended+out.Appended, known+out.Known, deliveries[n:]
		equal(t, "disputed", len(out.Disputed), 0)
	}
	equal(t, "appended", appended, 1000)
	equal(t, "known", known, 500)
	ids := sound(t, of, 1000)
	slices.Sort(ids)
	equal(t, "events", len(slices.Compact(ids)), 1000)
}

// What comes in one call is entered in the order of the ids.
func TestOrder(t *testing.T) {
	of := tenant(t)
	all := events(t, of, 0, 120)
	slices.Reverse(all)
	appends(t, engine.Table(), of, all)
	for i, id := range sound(t, of, 120) {
		equal(t, "id", id, name(i))
	}
}

func TestNothingToAppend(t *testing.T) {
	of := tenant(t)
	equal(t, "appended", appends(t, engine.Table(), of, nil).Appended, 0)
	_, found, err := (&journal.Journal{Store: engine.Table()}).Head(t.Context(), of)
	noError(t, err)
	equal(t, "there is a head", found, false)
	sound(t, of, 0)
}

// An id that comes with another content is named, by its place in the call, and
// does not enter; what it came with does.
func TestDisputed(t *testing.T) {
	of := tenant(t)
	other := func(n int) journal.Event {
		return event(t, strings.Replace(text(of, n), "agt_finance", "agt_thief", 1))
	}
	out := appends(t, engine.Table(), of, append(events(t, of, 0, 3), other(1), other(7)))
	equal(t, "appended", out.Appended, 4)
	equal(t, "disputed", fmt.Sprint(out.Disputed), "[3]")
	out = appends(t, engine.Table(), of, []journal.Event{other(2), events(t, of, 1, 2)[0], other(7), events(t, of, 7, 8)[0], events(t, of, 9, 10)[0]})
	equal(t, "appended", out.Appended, 1)
	equal(t, "known", out.Known, 2)
	slices.Sort(out.Disputed)
	equal(t, "disputed", fmt.Sprint(out.Disputed), "[0 3]")
	sound(t, of, 5)
}

func TestAnotherTenantsEvent(t *testing.T) {
	of, other := tenant(t), tenant(t)
	for what, e := range map[string]journal.Event{"another tenant's": events(t, other, 0, 1)[0], "none": {}} {
		_, err := (&journal.Journal{Store: engine.Table()}).Append(t.Context(), of, []journal.Event{events(t, of, 0, 1)[0], e})
		if err == nil {
			t.Errorf("%s was taken", what)
		}
	}
	sound(t, of, 0)
}

// counting counts the operations that go to the engine.
func counting(calls map[string]int) wire {
	var mu sync.Mutex
	return func(req *http.Request) (*http.Response, error) {
		mu.Lock()
		calls[operation(req)]++
		mu.Unlock()
		return enginetest.Connections.Do(req)
	}
}

// TestRoundTrips: up to 98 events cost one read, and a transaction for every 49
// of them, or for fewer when they are large.
func TestRoundTrips(t *testing.T) {
	large := func(size int) func(string) string {
		return func(raw string) string {
			return strings.Replace(raw, `"schema"`, `"more":"`+strings.Repeat("x", size)+`", "schema"`, 1)
		}
	}
	for name, c := range map[string]struct {
		events        int
		change        func(string) string
		reads, writes int
	}{
		"one":             {1, large(0), 1, 1},
		"one transaction": {49, large(0), 1, 1},
		"one more":        {50, large(0), 1, 2},
		"one read":        {98, large(0), 1, 2},
		"two reads":       {99, large(0), 2, 3},
		"large":           {49, large(100_000), 1, 2},
		"the largest":     {10, large(journal.MaxEvent - 1000), 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			of, calls := tenant(t), map[string]int{}
			var all []journal.Event
			for n := range c.events {
				all = append(all, event(t, c.change(text(of, n))))
			}
			store := engine.Table(through(counting(calls), 1))
			equal(t, "appended", appends(t, store, of, all).Appended, c.events)
			equal(t, "reads", calls["BatchGetItem"], c.reads)
			equal(t, "transactions", calls["TransactWriteItems"], c.writes)
			equal(t, "known when they come again", appends(t, store, of, all).Known, c.events)
			equal(t, "transactions of what is known", calls["TransactWriteItems"], c.writes)
			sound(t, of, c.events)
		})
	}
}

// What lies where the next entry belongs is not written over, and is an error in
// the end instead of a loop.
func TestSomethingInTheWay(t *testing.T) {
	of := tenant(t)
	appends(t, engine.Table(), of, events(t, of, 0, 60))
	put(t.Context(), t, key.JournalEntry(of, 70), `{}`)
	out, err := (&journal.Journal{Store: engine.Table()}).Append(t.Context(), of, events(t, of, 0, 120))
	if !errors.Is(err, record.ErrConflict) {
		t.Fatalf("error = %v, want a conflict", err)
	}
	equal(t, "appended", out.Appended, 0)
	head, _, err := (&journal.Journal{Store: engine.Table()}).Head(t.Context(), of)
	noError(t, err)
	equal(t, "head", head.Seq, 59)
}

// Several append at once, each its own events and some that all have.
func TestRacing(t *testing.T) {
	for _, racers := range []int{2, 5} {
		t.Run(fmt.Sprint(racers), func(t *testing.T) {
			of := tenant(t)
			shared := events(t, of, 0, 60)
			outcomes, errs := make([]journal.Outcome, racers), make([]error, racers)
			var start, done sync.WaitGroup
			start.Add(1)
			for r := range racers {
				own := append(events(t, of, 1000*(r+1), 1000*(r+1)+170), shared...)
				done.Go(func() {
					start.Wait()
					outcomes[r], errs[r] = (&journal.Journal{Store: engine.Table()}).Append(t.Context(), of, own)
				})
			}
			start.Done()
			done.Wait()
			appended, known := 0, 0
			for r, out := range outcomes {
				noError(t, errs[r])
				appended, known = appended+out.Appended, known+out.Known
			}
			equal(t, "appended", appended, 170*racers+60)
			equal(t, "known", known, 60*(racers-1))
			sound(t, of, appended)
		})
	}
}

// BenchmarkAppend appends as the function does: a batch of the queue at a time,
// all of one tenant. A tenant's journal takes at least 2,000 events a second.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1, 10, 98, 980} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			of, store, n := tenant(b), engine.Table(), 0
			b.ReportAllocs()
			for b.Loop() {
				appends(b, store, of, events(b, of, n, n+size))
				n += size
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
