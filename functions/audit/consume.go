package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/trace"
	"github.com/robotmoney/mcp/shared/platform/function"
	"github.com/robotmoney/mcp/shared/platform/metric"
	"github.com/robotmoney/mcp/shared/platform/queue"
)

const (
	// together is how many tenants' events are appended at one time. They have
	// nothing to do with each other, so one that waits need not keep the rest.
	together = 16
	// margin is the time before the function's end in which nothing is begun any
	// more.
	margin = 2 * time.Second
)

// consumer takes batches of the queue.
type consumer struct {
	journal *journal.Journal
	log     *slog.Logger
	meter   metric.Meter
}

// delivery is an event and the message it came with.
type delivery struct {
	message string
	event   journal.Event
	trace   trace.Parent // of the request that led to it
}

// consume enters the events of a batch and names the messages to be delivered
// again. One that can never be entered is named as well, with the reason in the
// log: after its tries it lies in the dead-letter queue, where somebody looks at
// it, and the others have gone on.
func (c *consumer) consume(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	ctx, cancel := function.Before(ctx, margin)
	defer cancel()
	var failed queue.Failures
	tenants := map[identity.Tenant][]delivery{}
	for _, record := range batch.Records {
		event, parent, err := open(record.Body)
		if err != nil {
			c.log.ErrorContext(ctx, "a message cannot be entered", "message", record.MessageId, "reason", err.Error())
			failed.Add(record.MessageId)
			continue
		}
		tenants[event.Tenant()] = append(tenants[event.Tenant()], delivery{record.MessageId, event, parent})
	}
	var group errgroup.Group
	group.SetLimit(together)
	for tenant, deliveries := range tenants {
		group.Go(func() error {
			failed.Add(c.enter(ctx, tenant, deliveries)...)
			return nil
		})
	}
	_ = group.Wait() // none of them returns an error: a tenant's is its messages'
	return failed.Response(), nil
}

// enter appends a tenant's events and returns the messages that failed.
func (c *consumer) enter(ctx context.Context, tenant identity.Tenant, deliveries []delivery) (failed []string) {
	all, traces := make([]journal.Event, len(deliveries)), make([]trace.Parent, len(deliveries))
	for i, d := range deliveries {
		all[i], traces[i] = d.event, d.trace
	}
	out, err := c.journal.Append(ctx, tenant, all)
	if err != nil {
		// What did enter is known when it comes again.
		c.log.ErrorContext(ctx, "events could not be entered", "tenant", tenant.String(), "events", len(all), "entered", out.Appended, "error", err, "trace_ids", trace.IDs(traces...))
		for _, d := range deliveries {
			failed = append(failed, d.message)
		}
		return failed
	}
	for _, i := range out.Disputed {
		d := deliveries[i]
		c.log.ErrorContext(ctx, "a message cannot be entered", "message", d.message, "tenant", tenant.String(), "trace_id", d.trace.ID(), "event", d.event.ID(), "reason", "its id is in the journal with another content")
		failed = append(failed, d.message)
	}
	c.meter.Number("EventsEntered", out.Appended)
	c.log.InfoContext(ctx, "events entered", "tenant", tenant.String(), "entered", out.Appended, "known", out.Known, "disputed", len(out.Disputed), "trace_ids", trace.IDs(traces...))
	return failed
}
