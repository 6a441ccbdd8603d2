package audit

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/trace"
)

// Bus takes events. Publish returns the ids it did not take, and an error when
// it could not be asked or took none.
type Bus interface {
	Publish(ctx context.Context, entries []Entry) (refused []string, err error)
}

const (
	// busBatch is how many entries one PutEvents call takes.
	busBatch = 10
	// busTimeout bounds one attempt to hand events to the bus. A bus that hangs
	// must leave the request time to be answered: the outbox keeps the events.
	busTimeout = 3 * time.Second
	// outboxTimeout bounds the attempt to keep an event the bus did not take.
	outboxTimeout = 2 * time.Second
)

// Trail keeps events. It is the only way to the bus and to the outbox.
type Trail struct {
	Bus   Bus
	Store record.Store
	IDs   *id.Source
	Now   func() time.Time
	Log   *slog.Logger
	Lost  func() // called when an event could be kept nowhere; may be nil
}

// New fills in what every event has and the trail knows: id, time and schema.
func (t *Trail) New(event Event) (Event, error) {
	name, err := t.IDs.New(id.Event)
	if err != nil {
		return Event{}, fmt.Errorf("name an event: %w", err)
	}
	event.ID, event.Schema = name, Schema
	event.CreatedAt = t.Now().UTC().Format(TimeForm)
	return event, nil
}

// Called keeps the outer event of one request, unless a change the request made
// has taken it along.
func (t *Trail) Called(ctx context.Context, call Call) error {
	if recorded(ctx) {
		return nil
	}
	event, err := t.New(call.event())
	if err != nil {
		return err
	}
	return t.Record(ctx, event)
}

// Record keeps one event of something that changes no state: on the bus, else
// in the outbox. When neither takes it the error has the code
// dependency_unavailable and the caller must not answer: a read that cannot be
// recorded is not served.
func (t *Trail) Record(ctx context.Context, event Event) error {
	entry, err := traced(ctx, event)
	if err != nil {
		return err
	}
	refused, err := t.put(ctx, []Entry{entry})
	if err == nil && len(refused) == 0 {
		return nil
	}
	t.Log.WarnContext(ctx, "bus refused an event, keeping it in the outbox", "event", event.ID, "error", err)
	// The bus may have used up the request's time; the outbox gets its own.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outboxTimeout)
	defer cancel()
	if err := t.Store.Commit(ctx, record.Change{Puts: []record.Put{{Item: outboxItem(entry), Blind: true}}}); err != nil {
		t.Log.ErrorContext(ctx, "event could not be kept", "event", event.ID, "error", err)
		if t.Lost != nil {
			t.Lost()
		}
		return fault.Because(err, fault.DependencyUnavailable, "The request could not be recorded in the audit trail, so it was not served. Try again.")
	}
	return nil
}

// Commit makes a change together with the events that tell of it: all of it or
// nothing. The events are outbox items of the same transaction, so none is lost
// when the bus is away; they are published right after and removed once the bus
// has them. A failure to publish is not an error of the change: the sweep
// republishes what is left.
func (t *Trail) Commit(ctx context.Context, change record.Change, events ...Event) error {
	request := outer(ctx)
	if request != nil {
		event, err := t.New(request.call.event())
		if err != nil {
			return err
		}
		events = append(slices.Clip(events), event)
	}
	entries := make([]Entry, len(events))
	change.Puts = slices.Clip(change.Puts) // what is appended must not land in the caller's slice
	for i, event := range events {
		entry, err := traced(ctx, event)
		if err != nil {
			return err
		}
		entries[i] = entry
		change.Puts = append(change.Puts, record.Put{Item: outboxItem(entry)})
	}
	if change.Len() > record.MaxOperations {
		return fmt.Errorf("a change of %d items: one transaction holds %d", change.Len(), record.MaxOperations)
	}
	if err := t.Store.Commit(ctx, change); err != nil {
		return err
	}
	if request != nil {
		request.kept = true
	}
	t.publish(ctx, entries)
	return nil
}

// traced wraps an event for the bus, with the trace of what it is told in.
func traced(ctx context.Context, event Event) (Entry, error) {
	event.Trace = trace.From(ctx)
	return event.Entry()
}

// publish hands entries that are in the outbox to the bus and removes those it
// took.
func (t *Trail) publish(ctx context.Context, entries []Entry) {
	for len(entries) > 0 {
		batch := entries[:min(len(entries), busBatch)]
		entries = entries[len(batch):]
		refused, err := t.put(ctx, batch)
		if err != nil {
			t.Log.WarnContext(ctx, "bus refused events, the sweep will republish them", "events", len(batch), "error", err)
			continue
		}
		left := map[string]bool{}
		for _, id := range refused {
			left[id] = true
		}
		var taken record.Change
		for _, entry := range batch {
			if !left[entry.ID] {
				taken.Deletes = append(taken.Deletes, key.Outbox(entry.ID, entry.At))
			}
		}
		if g, is := ctx.Value(gathering{}).(*gathered); is {
			g.add(taken.Deletes)
			continue
		}
		t.clear(ctx, taken)
	}
}

// clear removes what the bus has taken.
func (t *Trail) clear(ctx context.Context, taken record.Change) {
	if err := t.Store.Commit(ctx, taken); err != nil {
		t.Log.WarnContext(ctx, "published events stay in the outbox and will be published again", "events", taken.Len(), "error", err)
	}
}

type gathering struct{}

// gathered are the marks of published events that are removed together.
type gathered struct {
	mu   sync.Mutex
	keys []key.Key
}

func (g *gathered) add(keys []key.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keys = append(g.keys, keys...)
}

// Gather is for who makes many changes one after the other: what the bus has taken
// of their events is removed together, when done is called, and not a write for
// each. What is left when that does not come is published again.
func (t *Trail) Gather(ctx context.Context) (many context.Context, done func()) {
	g := &gathered{}
	return context.WithValue(ctx, gathering{}, g), func() {
		for part := range slices.Chunk(g.keys, record.MaxOperations) {
			t.clear(ctx, record.Change{Deletes: part})
		}
	}
}

// put hands entries to the bus.
func (t *Trail) put(ctx context.Context, entries []Entry) (refused []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	return t.Bus.Publish(ctx, entries)
}

func outboxItem(entry Entry) record.Item {
	return record.Item{Key: key.Outbox(entry.ID, entry.At), Body: entry.Detail}
}
