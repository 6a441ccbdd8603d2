package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/robotmoney/mcp/shared/domain/anchor"
	"github.com/robotmoney/mcp/shared/platform/function"
	"github.com/robotmoney/mcp/shared/platform/metric"
)

// margin is kept of the function's time, to say what was done.
const margin = 5 * time.Second

// round is the function: what is done each time.
type round struct {
	anchor *anchor.Anchor
	now    func() time.Time
	log    *slog.Logger
	meter  metric.Meter
}

// schedule is what the function looks at in the event of its schedule.
type schedule struct {
	ID string `json:"id"`
}

// handle makes one round. Its error makes it one that failed; nothing of it is
// repeated before the next, which goes on where it ended.
func (r *round) handle(ctx context.Context, event schedule) (anchor.Report, error) {
	ctx, cancel := function.Before(ctx, margin)
	defer cancel()
	done, err := r.anchor.Run(ctx)
	if err == nil || !done.Oldest.IsZero() {
		// How far the chain is behind. A round that failed before it looked has no
		// measure, which the alarm takes for too high a one.
		var age time.Duration
		if !done.Oldest.IsZero() {
			age = r.now().Sub(done.Oldest)
		}
		r.meter.Seconds("AnchorAge", age)
	}
	for range done.Broken {
		r.meter.Count("BrokenJournal")
	}
	r.log.InfoContext(ctx, "round", "event", event.ID, "planned", done.Planned, "published", done.Published, "final", done.Final,
		"replaced", done.Replaced, "broken", done.Broken, "open", done.Open, "error", err)
	return done, err
}
