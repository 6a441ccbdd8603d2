package audit_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// database is the table in the engine of this package's tests. They keep apart
// by the names of their events.
var database *table.Table

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { database = e.Table() }))
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func fails(t *testing.T, err error, code fault.Code) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != code {
		t.Errorf("error = %v, want the code %s", err, code)
	}
}

var (
	noon    = time.Date(2025, time.September, 30, 12, 0, 0, 123_456_789, time.UTC)
	errDown = errors.New("down")
)

// bus takes events as it is told.
type bus struct {
	mu      sync.Mutex
	batches [][]audit.Entry
	answer  func(ctx context.Context, entries []audit.Entry) ([]string, error) // nil takes all
}

func (b *bus) Publish(ctx context.Context, entries []audit.Entry) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.batches = append(b.batches, entries)
	if b.answer == nil {
		return nil, nil
	}
	return b.answer(ctx, entries)
}

func refusesAll(_ context.Context, entries []audit.Entry) ([]string, error) {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids, nil
}

// refusesSecond does not take every other event, the second to begin with.
func refusesSecond(_ context.Context, entries []audit.Entry) ([]string, error) {
	var ids []string
	for i, e := range entries {
		if i%2 == 1 {
			ids = append(ids, e.ID)
		}
	}
	return ids, nil
}

func down(context.Context, []audit.Entry) ([]string, error) { return nil, errDown }

// hangs until the caller's time is up.
func hangs(ctx context.Context, _ []audit.Entry) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// store is the table, watched: it counts commits and can refuse some.
type store struct {
	record.Store
	commits int
	refuses func(n int, c record.Change) error // nil refuses none
}

func (s *store) Commit(ctx context.Context, c record.Change) error {
	s.commits++
	if s.refuses != nil {
		if err := s.refuses(s.commits, c); err != nil {
			return err
		}
	}
	return s.Store.Commit(ctx, c)
}

func away(int, record.Change) error {
	return fault.Because(errDown, fault.DependencyUnavailable, "The data store cannot be reached.")
}

// setup is a trail to a bus and to the real table.
func setup() (*audit.Trail, *bus, *store) {
	b, s := &bus{}, &store{Store: database}
	return &audit.Trail{
		Bus: b, Store: s, IDs: id.NewSource(func() time.Time { return noon }, rand.Reader), Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler),
	}, b, s
}

func newEvent(t *testing.T, trail *audit.Trail, action string) audit.Event {
	t.Helper()
	e, err := trail.New(audit.Event{TenantID: "acme", Layer: audit.LayerExecution, Actor: identity.Actor{Type: "agent", ID: "agt_1"}, Action: action})
	noError(t, err)
	return e
}

// waits says whether an event is in the outbox, whole.
func waits(t *testing.T, e audit.Event) bool {
	t.Helper()
	entry, err := e.Entry()
	noError(t, err)
	item, found, err := database.Get(t.Context(), key.Outbox(entry.ID, entry.At))
	noError(t, err)
	if found {
		equal(t, "event in the outbox", string(item.Body), string(entry.Detail))
	}
	return found
}

func TestRecord(t *testing.T) {
	for name, c := range map[string]struct {
		bus    func(context.Context, []audit.Entry) ([]string, error)
		table  func(int, record.Change) error
		code   fault.Code
		outbox bool
	}{
		"the bus takes it":              {nil, nil, "", false},
		"takes it, the table away":      {nil, away, "", false},
		"the bus refuses it":            {refusesAll, nil, "", true},
		"the bus is down":               {down, nil, "", true},
		"the bus hangs":                 {hangs, nil, "", true},
		"refuses it, the table away":    {refusesAll, away, fault.DependencyUnavailable, false},
		"the bus down, the table away":  {down, away, fault.DependencyUnavailable, false},
		"the bus hangs, the table away": {hangs, away, fault.DependencyUnavailable, false},
	} {
		t.Run(name, func(t *testing.T) {
			trail, b, s := setup()
			b.answer, s.refuses = c.bus, c.table
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if strings.Contains(name, "hangs") {
				cancel() // the request's time is up: the outbox has its own
			}
			event := newEvent(t, trail, audit.ActionCall)
			err := trail.Record(ctx, event)
			if c.code == "" {
				noError(t, err)
			} else {
				fails(t, err, c.code)
			}
			equal(t, "in the outbox", waits(t, event), c.outbox)
			equal(t, "calls of the bus", len(b.batches), 1)
		})
	}
}

// row is a new row of the test's own, by its number.
func row(t *testing.T, n int) record.Put {
	own, _ := partitions.LoadOrStore(t, fmt.Sprintf("%s-%d", t.Name(), runs.Add(1)))
	return record.Put{Item: record.Item{Key: key.Key{PK: own.(string), SK: fmt.Sprintf("%03d", n)}, Body: []byte("{}")}}
}

var (
	partitions sync.Map // *testing.T to its partition
	runs       atomic.Int64
)

func there(t *testing.T, n int) bool {
	t.Helper()
	_, found, err := database.Get(t.Context(), row(t, n).Item.Key)
	noError(t, err)
	return found
}

// TestCommit makes a change with three events and looks at what is where then.
func TestCommit(t *testing.T) {
	for name, c := range map[string]struct {
		bus    func(context.Context, []audit.Entry) ([]string, error)
		table  func(int, record.Change) error
		made   bool
		outbox string // which events wait
	}{
		"the bus takes all":           {nil, nil, true, "---"},
		"the bus takes some":          {refusesSecond, nil, true, "-x-"},
		"the bus refuses all":         {refusesAll, nil, true, "xxx"},
		"the bus is down":             {down, nil, true, "xxx"},
		"the table is away":           {nil, away, false, "---"},
		"the table is away afterward": {nil, func(n int, c record.Change) error { return errIf(n > 1) }, true, "xxx"},
		"somebody was faster":         {nil, func(n int, c record.Change) error { return record.ErrConflict }, false, "---"},
	} {
		t.Run(name, func(t *testing.T) {
			trail, b, s := setup()
			b.answer, s.refuses = c.bus, c.table
			events := []audit.Event{newEvent(t, trail, "a"), newEvent(t, trail, "b"), newEvent(t, trail, "c")}
			err := trail.Commit(t.Context(), record.Change{Puts: []record.Put{row(t, 0)}}, events...)
			equal(t, "made", err == nil, c.made)
			equal(t, "row", there(t, 0), c.made)
			waiting := ""
			for _, e := range events {
				waiting += map[bool]string{true: "x", false: "-"}[waits(t, e)]
			}
			equal(t, "outbox", waiting, c.outbox)
			equal(t, "published", len(b.batches), map[bool]int{true: 1, false: 0}[c.made])
			if name == "somebody was faster" && !errors.Is(err, record.ErrConflict) {
				t.Errorf("error = %v, want the conflict", err)
			}
		})
	}
}

func errIf(broken bool) error {
	if broken {
		return errDown
	}
	return nil
}

// While the bus is asked, the events are in the outbox already, with the change
// they tell of: a process that dies there loses none.
func TestOutboxBeforeBus(t *testing.T) {
	trail, b, s := setup()
	event := newEvent(t, trail, "a")
	b.answer = func(context.Context, []audit.Entry) ([]string, error) {
		equal(t, "commits before the bus is asked", s.commits, 1)
		equal(t, "in the outbox", waits(t, event), true)
		equal(t, "row", there(t, 0), true)
		return nil, nil
	}
	noError(t, trail.Commit(t.Context(), record.Change{Puts: []record.Put{row(t, 0)}}, event))
	equal(t, "in the outbox after", waits(t, event), false)
	equal(t, "commits", s.commits, 2)
}

// A conflict of one row leaves neither the others nor an event.
func TestConflict(t *testing.T) {
	trail, b, _ := setup()
	noError(t, trail.Commit(t.Context(), record.Change{Puts: []record.Put{row(t, 0)}}))
	equal(t, "calls of the bus without events", len(b.batches), 0)
	event := newEvent(t, trail, "a")
	err := trail.Commit(t.Context(), record.Change{Puts: []record.Put{row(t, 1), row(t, 0)}}, event)
	if !errors.Is(err, record.ErrConflict) {
		t.Errorf("error = %v", err)
	}
	equal(t, "the other row", there(t, 1), false)
	equal(t, "in the outbox", waits(t, event), false)
	equal(t, "calls of the bus", len(b.batches), 0)
}

// A hundred operations fit one transaction, events included.
func TestSizeOfACommit(t *testing.T) {
	for _, events := range []int{0, 1, 25} {
		trail, b, s := setup()
		var all []audit.Event
		for range events {
			all = append(all, newEvent(t, trail, "a"))
		}
		var change record.Change
		for n := range record.MaxOperations - events + 1 {
			p := row(t, n)
			p.Blind = true
			change.Puts = append(change.Puts, p)
		}
		if err := trail.Commit(t.Context(), change, all...); err == nil {
			t.Errorf("101 operations, %d of them events: no error", events)
		}
		equal(t, "commits", s.commits, 0)
		equal(t, "calls of the bus", len(b.batches), 0)
		change.Puts = change.Puts[:len(change.Puts)-1]
		noError(t, trail.Commit(t.Context(), change, all...))
		equal(t, "the last row", there(t, record.MaxOperations-events-1), true)
		equal(t, "batches", len(b.batches), (events+9)/10)
		for _, batch := range b.batches {
			if len(batch) > 10 {
				t.Errorf("a batch of %d events", len(batch))
			}
		}
	}
}

// A batch the bus does not take keeps none of the others back.
func TestOneBatchRefused(t *testing.T) {
	trail, b, _ := setup()
	var all []audit.Event
	for range 25 {
		all = append(all, newEvent(t, trail, "a"))
	}
	b.answer = func(_ context.Context, entries []audit.Entry) ([]string, error) {
		return nil, errIf(entries[0].ID == all[10].ID)
	}
	noError(t, trail.Commit(t.Context(), record.Change{}, all...))
	for i, e := range all {
		equal(t, fmt.Sprintf("event %d in the outbox", i), waits(t, e), i >= 10 && i < 20)
	}
}

// The caller's change is not written into: who decides anew after a conflict
// commits it again.
func TestChangeIsNotTouched(t *testing.T) {
	trail, _, _ := setup()
	puts := make([]record.Put, 1, 8)
	puts[0] = row(t, 0)
	noError(t, trail.Commit(t.Context(), record.Change{Puts: puts}, newEvent(t, trail, "a")))
	equal(t, "what follows in the caller's slice", puts[:2][1].Item.Key, key.Key{})
}

func changeOf(t *testing.T) record.Change { return record.Change{Puts: []record.Put{row(t, 0)}} }

// kept is a table that takes everything at once. It takes no network: in these
// tests the clock runs ahead while all wait.
type kept struct {
	record.Store
	puts int
}

func (k *kept) Commit(_ context.Context, c record.Change) error {
	k.puts += len(c.Puts)
	return nil
}

// A bus that hangs takes three seconds of a request, not all it has.
func TestBusThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trail, b, _ := setup()
		table := &kept{}
		trail.Store, b.answer = table, hangs
		event := newEvent(t, trail, "a")
		began := time.Now()
		noError(t, trail.Record(t.Context(), event))
		equal(t, "time of a read", time.Since(began), 3*time.Second)
		equal(t, "kept", table.puts, 1)

		began = time.Now()
		noError(t, trail.Commit(t.Context(), record.Change{}, event))
		equal(t, "time of a change", time.Since(began), 3*time.Second)
		equal(t, "kept", table.puts, 2)
	})
}

// Who makes many changes one after the other has the marks of their events removed
// together: until then they wait, and those that the bus did not take wait on.
func TestGather(t *testing.T) {
	trail, b, s := setup()
	ctx, done := trail.Gather(t.Context())
	var events []audit.Event
	for n := range 120 {
		e := newEvent(t, trail, fmt.Sprintf("gathered.%d", n))
		if n == 7 {
			b.answer = refusesAll
		}
		noError(t, trail.Commit(ctx, record.Change{}, e))
		b.answer, events = nil, append(events, e)
	}
	equal(t, "commits before", s.commits, 120)
	equal(t, "the first waits", waits(t, events[0]), true)
	done()
	equal(t, "commits", s.commits, 122) // 119 marks, 100 at a time
	for n, e := range events {
		if waits(t, e) != (n == 7) {
			t.Errorf("event %d waits: %v", n, waits(t, e))
		}
	}
}
