package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/outbox"
	"github.com/robotmoney/mcp/shared/platform/function"
	"github.com/robotmoney/mcp/shared/platform/metric"
)

const (
	// sweepTime is what the sweep may take of a round: what expires must have
	// its turn however much waits for the bus.
	sweepTime = 30 * time.Second
	// margin is kept of the function's time, to say what was done.
	margin = 5 * time.Second
)

// Expirer ends what is due of one kind, such as intents nobody decided on in
// time, and says how many it ended. It returns with ctx at the latest; what it
// does not come to has its turn a minute later.
type Expirer interface {
	Expire(ctx context.Context) (int, error)
}

// round is the function: what is done every minute.
type round struct {
	sweeper  *outbox.Sweeper
	expirers []Expirer
	receipts *execution.Receipts
	now      func() time.Time
	log      *slog.Logger
	meter    metric.Meter
}

// schedule is what the function looks at in the event of its schedule.
type schedule struct {
	ID string `json:"id"`
}

// summary is the function's answer.
type summary struct {
	outbox.Report
	Expired int `json:"expired"`
}

// handle makes one round. One part that fails keeps no other from its turn; the
// error names all that did, and makes the round one that failed: nothing of it
// is repeated before the next minute.
func (r *round) handle(ctx context.Context, event schedule) (summary, error) {
	ctx, cancel := function.Before(ctx, margin)
	defer cancel()
	var done summary
	var failures []error
	var err error
	if done.Report, err = r.sweep(ctx); err != nil {
		failures = append(failures, fmt.Errorf("sweep the outbox: %w", err))
	}
	for _, expirer := range r.expirers {
		n, err := expirer.Expire(ctx)
		done.Expired += n
		if err != nil {
			failures = append(failures, fmt.Errorf("expire: %w", err))
		}
	}
	if err := r.overdue(ctx); err != nil {
		failures = append(failures, err)
	}
	err = errors.Join(failures...)
	r.log.InfoContext(ctx, "round", "event", event.ID, "published", done.Published, "kept", done.Kept, "refused", done.Refused,
		"unreadable", done.Unreadable, "unread_shards", done.Unread, "expired", done.Expired, "error", err)
	return done, err
}

// overdue measures for how long the oldest receipt is overdue, and names those that
// are. An order whose receipt does not come stands still otherwise, and nobody
// hears of it. What could not be read has no measure.
func (r *round) overdue(ctx context.Context) error {
	late, err := r.receipts.Overdue(ctx)
	if err != nil {
		return err
	}
	var age time.Duration
	for i, o := range late {
		if i == 0 {
			age = r.now().Sub(o.Due)
		}
		r.log.WarnContext(ctx, "a receipt is overdue", "tenant", o.Tenant, "execution", o.Execution, "due", o.Due)
	}
	r.meter.Seconds("ReceiptOverdue", age)
	return nil
}

// sweep goes through the outbox and measures how old the oldest event is that
// waits there still. Shards that could not be read have no age; the alarm takes
// a measure that is missing for one that is too high.
func (r *round) sweep(ctx context.Context) (outbox.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	report, err := r.sweeper.Sweep(ctx)
	var age time.Duration
	if !report.Oldest.IsZero() {
		age = r.now().Sub(report.Oldest)
	}
	if report.Unread == 0 || age > 0 {
		r.meter.Seconds("OutboxAge", age)
	}
	return report, err
}
