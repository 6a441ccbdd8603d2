package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/trace"
	"github.com/robotmoney/mcp/shared/domain/wiki/press"
	"github.com/robotmoney/mcp/shared/platform/function"
	"github.com/robotmoney/mcp/shared/platform/metric"
	"github.com/robotmoney/mcp/shared/platform/queue"
)

const (
	// together is how many pages are made at one time.
	together = 8
	// margin is the time before the function's end in which nothing is begun any
	// more.
	margin = 3 * time.Second
)

// consumer takes batches of the queue.
type consumer struct {
	press *press.Press
	log   *slog.Logger
	meter metric.Meter
}

// batch is the messages of one tenant and what they touch together: a page that
// many of them touch is rendered once.
type batch struct {
	tenant   identity.Tenant
	change   *press.Change
	messages []string
	traces   []trace.Parent      // of the requests that led to them
	wanted   map[string][]string // messages, by the slugs they touch
}

// consume renders what a batch touches and names the messages to be delivered
// again: those that touch a page that could not be made, and those that cannot be
// read. The latter end in the dead-letter queue, with the reason in the log.
func (c *consumer) consume(ctx context.Context, in events.SQSEvent) (events.SQSEventResponse, error) {
	ctx, cancel := function.Before(ctx, margin)
	defer cancel()
	var failed queue.Failures
	for _, b := range c.sort(ctx, in, &failed) {
		c.render(ctx, b, &failed)
	}
	return failed.Response(), nil
}

// sort takes the messages apart by tenant, in the order they came, and reads the
// rows they name.
func (c *consumer) sort(ctx context.Context, in events.SQSEvent, failed *queue.Failures) []*batch {
	var all []*batch
	of := map[identity.Tenant]*batch{}
	for _, message := range in.Records {
		e, err := open(message.Body)
		if err != nil {
			c.log.ErrorContext(ctx, "a message cannot be read", "message", message.MessageId, "reason", err.Error())
			failed.Add(message.MessageId)
			continue
		}
		touch, known := touches[e.Action]
		if !known {
			c.log.WarnContext(ctx, "an event touches no page", "message", message.MessageId, "action", e.Action)
			continue
		}
		b := of[e.tenant]
		if b == nil {
			b = &batch{tenant: e.tenant, change: c.press.Touched(e.tenant), wanted: map[string][]string{}}
			of[e.tenant], all = b, append(all, b)
		}
		// What this message touches alone, so that a page that cannot be made fails
		// no other; the rows it names are known to all.
		own := b.change.Apart()
		if err := touch(ctx, e, own); err != nil {
			c.log.ErrorContext(ctx, "a message cannot be acted on", "message", message.MessageId, "tenant", e.tenant.String(), "trace_id", e.trace.ID(), "event", e.ID, "error", err)
			failed.Add(message.MessageId)
			continue
		}
		b.messages, b.traces = append(b.messages, message.MessageId), append(b.traces, e.trace)
		for _, slug := range own.Slugs() {
			b.wanted[slug] = append(b.wanted[slug], message.MessageId)
		}
	}
	return all
}

// render makes the pages of a tenant.
func (c *consumer) render(ctx context.Context, b *batch, failed *queue.Failures) {
	var group errgroup.Group
	group.SetLimit(together)
	var mu sync.Mutex
	count := map[press.Outcome]int{}
	log := c.log.With("tenant", b.tenant.String(), "trace_ids", trace.IDs(b.traces...))
	for slug, messages := range b.wanted {
		group.Go(func() error {
			outcome, err := b.change.Render(ctx, slug)
			if err != nil {
				log.ErrorContext(ctx, "a page could not be made", "slug", slug, "error", err)
				failed.Add(messages...)
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			count[outcome]++
			return nil
		})
	}
	_ = group.Wait() // none of them returns an error: a page's is its messages'
	c.meter.Number("PagesRendered", count[press.Rendered])
	log.InfoContext(ctx, "pages made", "messages", len(b.messages), "touched", len(b.wanted),
		"rendered", count[press.Rendered], "same", count[press.Same], "absent", count[press.Absent])
}
