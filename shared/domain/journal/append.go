package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// batch is how many events one transaction enters: an entry and a mark for
	// each, the head, and in the first one the mark of the tenant. That is all of
	// record.MaxOperations.
	batch = 49
	// batchBytes bounds a transaction's events. DynamoDB takes 4 MB with keys
	// and all that is around them.
	batchBytes = 3_500_000
	// around is more than an event's entry and mark take beside the event.
	around = 1 << 10
	// window is how many events are looked at in one read: their marks and the
	// head are one batch of at most a hundred keys, and good for two
	// transactions.
	window = 2 * batch
	// maxStuck is how often a transaction may fail while the head stays where it
	// is. Failing because another one was faster moves the head; else something
	// lies where the next entry belongs, and trying for ever would not move it.
	maxStuck = 8
)

// Outcome says what became of the events.
type Outcome struct {
	Appended int // they are new entries
	Known    int // they were in the journal before, or twice in one call
	// Disputed are the places, among the events given, of those whose id is in
	// the journal with another content. They are not entered: somebody forges,
	// or an id was given out twice.
	Disputed []int
}

// mark is what lies under an event's id.
type mark struct {
	EventHash string `json:"event_sha256"` // of the canonical event
	Seq       int64  `json:"seq"`
}

// waiting is an event to be entered and its place in the call.
type waiting struct {
	Event
	place int
}

// Append enters events at the end of a tenant's journal in the order of their
// ids, which is that of their time. An event enters once however often it comes,
// so a call that failed can be made again; what it had entered then is known.
// Any number of calls may run at once: who meets another reads again and goes
// on after it. On an error the outcome says how far it came.
func (j *Journal) Append(ctx context.Context, t identity.Tenant, events []Event) (Outcome, error) {
	var out Outcome
	queue := make([]waiting, len(events))
	for i, e := range events {
		if e.tenant != t || e.id == "" {
			return out, fmt.Errorf("append to the journal of %s: event %q is not this tenant's", t, e.id)
		}
		queue[i] = waiting{e, i}
	}
	slices.SortStableFunc(queue, func(a, b waiting) int { return cmp.Compare(a.id, b.id) })
	queue = out.once(queue)
	for len(queue) > 0 {
		n := min(window, len(queue))
		if err := j.enter(ctx, t, queue[:n], &out); err != nil {
			return out, wrap(err, "append to the journal of %s", t)
		}
		queue = queue[n:]
	}
	return out, nil
}

// once drops what comes twice among events in order.
func (out *Outcome) once(queue []waiting) []waiting {
	kept := queue[:0]
	for _, e := range queue {
		if len(kept) > 0 && kept[len(kept)-1].id == e.id {
			out.seen(e, kept[len(kept)-1].sum)
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// seen takes note of an event whose id is entered, with this hash.
func (out *Outcome) seen(e waiting, entered string) {
	if e.sum == entered {
		out.Known++
	} else {
		out.Disputed = append(out.Disputed, e.place)
	}
}

// enter appends the events of one window that are not in the journal yet. What
// was decided on a head that has moved is decided anew.
func (j *Journal) enter(ctx context.Context, t identity.Tenant, queue []waiting, out *Outcome) error {
	for stuck, was := 0, int64(-1); ; stuck++ {
		at, left, err := j.look(ctx, t, queue, out)
		if err != nil {
			return err
		}
		if at.version != was {
			stuck, was = 0, at.version
		}
		for len(left) > 0 && err == nil {
			n := fitting(left)
			if err = j.Store.Commit(ctx, at.extend(t, left[:n])); err == nil {
				out.Appended += n
				left = left[n:]
			}
		}
		if !errors.Is(err, record.ErrConflict) {
			return err
		}
		if stuck == maxStuck {
			return fmt.Errorf("nothing can be entered after %d and nobody else does: %w", at.Seq, err)
		}
		queue = left
	}
}

// end is the head and the version of its item.
type end struct {
	Head
	version int64
}

// look reads where the journal ends and which of the events it does not have.
func (j *Journal) look(ctx context.Context, t identity.Tenant, queue []waiting, out *Outcome) (*end, []waiting, error) {
	keys := []key.Key{key.JournalHead(t)}
	for _, e := range queue {
		keys = append(keys, key.JournalMark(t, e.id))
	}
	items, err := j.Store.GetMany(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	at := &end{Head: Head{Seq: -1, Hash: Origin}}
	if item, found := items[keys[0]]; found {
		if at.Head, err = readHead(item); err != nil {
			return nil, nil, fmt.Errorf("read the head: %w", err)
		}
		at.version = item.Version
	}
	var left []waiting
	for i, e := range queue {
		item, found := items[keys[i+1]]
		if !found {
			left = append(left, e)
			continue
		}
		var m mark
		if err := json.Unmarshal(item.Body, &m); err != nil {
			return nil, nil, fmt.Errorf("read the mark of %s: %w", e.id, err)
		}
		out.seen(e, m.EventHash)
	}
	return at, left, nil
}

// fitting is how many of the events, from the first, one transaction holds.
func fitting(queue []waiting) int {
	size := 0
	for i, e := range queue {
		size += len(e.body) + around
		if i == batch || i > 0 && size > batchBytes {
			return i
		}
	}
	return len(queue)
}

// extend is the change that enters the events, and moves the end behind them.
// Each part has its condition: the head is as it was read, no entry lies where
// one is put, no event is marked. When the change does not come about, neither
// does the end it made: read again.
func (at *end) extend(t identity.Tenant, queue []waiting) record.Change {
	var change record.Change
	if at.version == 0 {
		change.Puts = append(change.Puts, begin(t))
	}
	for _, e := range queue {
		entry := link(at.Seq+1, at.Hash, e.body)
		at.Head = Head{entry.Seq, entry.Hash}
		change.Puts = append(change.Puts,
			entryPut(t, entry),
			record.Put{Item: record.Item{Key: key.JournalMark(t, e.id), Body: body(mark{e.sum, entry.Seq})}})
	}
	change.Puts = append(change.Puts, record.Put{Item: record.Item{Key: key.JournalHead(t), Body: body(at.Head)}, Was: at.version})
	at.version++
	return change
}

// body writes a head or a mark: numbers and hexadecimal, which cannot fail.
func body(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
