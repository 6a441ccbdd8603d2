// Package outbox hands the events that the bus did not take to the bus again,
// for as long as it takes: an event leaves the outbox only when the bus has it.
//
// An event may so reach the bus twice, when a reply was lost or two sweeps met.
// Consumers know it by its id.
package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// DefaultGrace is how old an event must be before it is taken for one that
	// was left behind. Whoever made it publishes it in the seconds after, and a
	// sweep that does not wait would publish most events twice.
	DefaultGrace = 30 * time.Second
	// page is how many items one read takes; it bounds what a shard holds in
	// memory: an item has at most 400 kB.
	page = 100
	// busTimeout bounds one attempt to hand events to the bus.
	busTimeout = 5 * time.Second
	// removeTimeout is what the removal of published events gets when the
	// sweep's own time is up: without it they would be published again.
	removeTimeout = 2 * time.Second
)

// Sweeper republishes what waits in the outbox.
type Sweeper struct {
	Bus   audit.Bus
	Store record.Store
	Now   func() time.Time
	Log   *slog.Logger
	Grace time.Duration // 0 is DefaultGrace
}

// Report says what became of the events that were older than the grace, or of a
// time that has not come.
type Report struct {
	Published  int `json:"published"`     // the bus has them, and they are removed
	Kept       int `json:"kept"`          // the bus has them, but they could not be removed: they will be published again
	Refused    int `json:"refused"`       // the bus did not take them, or the time was up
	Unreadable int `json:"unreadable"`    // no events; somebody has to look at them
	Unread     int `json:"unread_shards"` // shards that were not read to their end: what is in the rest is not known
	// Oldest is the time of the oldest that was seen and is still there, zero
	// when none is. What the sweep did not come to is younger than what it saw
	// of the same shard.
	Oldest time.Time `json:"oldest,omitzero"`
}

// Sweep goes once through all shards, side by side so that a long one keeps no
// other waiting, each from its oldest event to its youngest. It ends with ctx.
// The report holds whatever came of it; the error says that something that was
// due is not on the bus or could not be removed, and why.
func (s *Sweeper) Sweep(ctx context.Context) (Report, error) {
	grace := s.Grace
	if grace == 0 {
		grace = DefaultGrace
	}
	now := s.Now()
	r := &run{Sweeper: s, before: now.Add(-grace), ahead: now.Add(grace), broken: map[string]error{}}
	failures := make([]error, key.OutboxShards)
	var shards sync.WaitGroup
	for shard := range key.OutboxShards {
		shards.Go(func() { failures[shard] = r.shard(ctx, shard) })
	}
	shards.Wait()
	for _, err := range failures {
		if err != nil {
			r.report.Unread++
		}
	}
	return r.report, errors.Join(append(failures, r.failed())...)
}

// failed says what of the report is wrong, nil when nothing is.
func (r *run) failed() error {
	var all []error
	for _, count := range []struct {
		n    int
		what string
	}{
		{r.report.Refused, "events were not published"},
		{r.report.Kept, "published events could not be removed"},
		{r.report.Unreadable, "items of the outbox cannot be read"},
	} {
		if count.n > 0 {
			all = append(all, fmt.Errorf("%d %s", count.n, count.what))
		}
	}
	for _, action := range slices.Sorted(maps.Keys(r.broken)) {
		all = append(all, fmt.Errorf("publish %s: %w", action, r.broken[action]))
	}
	return errors.Join(all...)
}

// run is one sweep.
type run struct {
	*Sweeper
	before time.Time // what is not older is left to who made it
	// ahead is the time of which nothing can be yet: what is later was made by a
	// clock that ran ahead, and nobody knows how long it waits. Left until its time
	// comes, a payment that was approved would wait as long as that clock was wrong.
	ahead time.Time

	mu     sync.Mutex
	report Report
	// broken are the actions of which the bus refused a whole call. The rest of
	// them waits for the next sweep: the bus may be away, or this function's
	// role may not name the action, and then no other event must wait for it.
	broken map[string]error
}

// shard goes through one partition of the outbox, page by page.
func (r *run) shard(ctx context.Context, shard int) error {
	query := record.Query{PK: key.OutboxPartition(shard), Limit: page}
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("shard %d of the outbox was not read to its end: %w", shard, err)
		}
		items, err := r.Store.Query(ctx, query)
		if err != nil {
			return fmt.Errorf("read shard %d of the outbox: %w", shard, err)
		}
		var waiting []waiting
		for _, item := range items.Items {
			if at, ok := since(item.Key); ok && r.young(at) {
				continue
			}
			entry, err := read(item)
			if err != nil {
				r.unreadable(ctx, item, err)
				continue
			}
			waiting = append(waiting, entry)
		}
		for _, batch := range batches(waiting) {
			r.publish(ctx, batch)
		}
		if items.Next == nil {
			return nil
		}
		query.After = items.Next
	}
}

// young says of an event that who made it may be about to publish it.
func (r *run) young(at time.Time) bool { return !at.Before(r.before) && !at.After(r.ahead) }

// publish hands a batch of one action to the bus and removes what it took.
func (r *run) publish(ctx context.Context, batch []waiting) {
	action := batch[0].entry.Type
	if r.isBroken(action) || ctx.Err() != nil {
		r.refused(batch...)
		return
	}
	entries := make([]audit.Entry, len(batch))
	for i, w := range batch {
		entries[i] = w.entry
	}
	limited, cancel := context.WithTimeout(ctx, busTimeout)
	refused, err := r.Bus.Publish(limited, entries)
	cancel()
	if err != nil {
		r.Log.WarnContext(ctx, "the bus refused a call", "action", action, "events", len(batch), "error", err)
		r.breaks(action, err)
		r.refused(batch...)
		return
	}
	left := map[string]bool{}
	for _, id := range refused {
		left[id] = true
	}
	if len(refused) > 0 {
		r.Log.WarnContext(ctx, "the bus refused events", "action", action, "events", refused)
	}
	taken := slices.DeleteFunc(slices.Clone(batch), func(w waiting) bool { return left[w.entry.ID] })
	r.refused(slices.DeleteFunc(batch, func(w waiting) bool { return !left[w.entry.ID] })...)
	r.remove(ctx, taken)
}

// remove takes what the bus has out of the outbox, also when the sweep's time
// is up by now.
func (r *run) remove(ctx context.Context, taken []waiting) {
	var change record.Change
	for _, w := range taken {
		change.Deletes = append(change.Deletes, w.key)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	err := r.Store.Commit(ctx, change)
	r.mu.Lock()
	defer r.mu.Unlock()
	// A conflict is another sweep, or whoever made the events, at the same
	// removal. What of it neither does is there for the next sweep.
	if err == nil || errors.Is(err, record.ErrConflict) {
		r.report.Published += len(taken)
		return
	}
	r.Log.WarnContext(ctx, "published events stay in the outbox and will be published again", "events", len(taken), "error", err)
	r.report.Kept += len(taken)
	for _, w := range taken {
		r.remains(w.entry.At)
	}
}

func (r *run) unreadable(ctx context.Context, item record.Item, err error) {
	r.Log.ErrorContext(ctx, "an item of the outbox is no event", "partition", item.Key.PK, "item", item.Key.SK, "error", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Unreadable++
	if at, ok := since(item.Key); ok {
		r.remains(at)
	}
}

func (r *run) refused(batch ...waiting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Refused += len(batch)
	for _, w := range batch {
		r.remains(w.entry.At)
	}
}

// remains notes that something of a time is still there; the caller holds the
// lock. What is from a clock that ran ahead is at least as old as what a sweep
// takes.
func (r *run) remains(at time.Time) {
	if at.After(r.before) {
		at = r.before
	}
	if r.report.Oldest.IsZero() || at.Before(r.report.Oldest) {
		r.report.Oldest = at
	}
}

func (r *run) breaks(action string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken[action] = err
}

func (r *run) isBroken(action string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken[action] != nil
}
