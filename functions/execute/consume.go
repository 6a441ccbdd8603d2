package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/trace"
	"github.com/robotmoney/mcp/shared/platform/function"
	"github.com/robotmoney/mcp/shared/platform/metric"
	"github.com/robotmoney/mcp/shared/platform/queue"
)

const (
	// together is how many messages are worked on at one time.
	together = 8
	// margin is the time before the function's end in which nothing is begun any
	// more: killed in the middle, an execution is finished only when its message
	// comes again.
	margin = 2 * time.Second
)

// consumer takes batches of the queue.
type consumer struct {
	executor *execution.Executor
	log      *slog.Logger
	meter    metric.Meter
}

// consume works on the messages of a batch and names those to be delivered again:
// what failed on our side, what a rail has not said yet, and what can never be
// done. The last lies in the dead-letter queue after its tries, with the reason in
// the log.
func (c *consumer) consume(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	ctx, cancel := function.Before(ctx, margin)
	defer cancel()
	var failed queue.Failures
	var group errgroup.Group
	group.SetLimit(together)
	for _, record := range batch.Records {
		group.Go(func() error {
			if !c.take(ctx, record) {
				failed.Add(record.MessageId)
			}
			return nil
		})
	}
	_ = group.Wait() // none of them returns an error: a message's is in the report
	return failed.Response(), nil
}

// take works on one message and says whether it is done with.
func (c *consumer) take(ctx context.Context, message events.SQSMessage) (done bool) {
	log := c.log.With("message", message.MessageId)
	errand, err := open(message.Body)
	if err != nil {
		log.ErrorContext(ctx, "a message is no errand", "reason", err.Error())
		return false
	}
	ctx = trace.With(ctx, errand.trace)
	log = log.With("event", errand.event, "tenant", errand.tenant.String(), "trace_id", errand.trace.ID())
	if errand.replay != "" {
		// A replay tells again what happened. Money has moved for it or must not.
		log.WarnContext(ctx, "a replayed event is not executed", "replay", errand.replay)
		return true
	}
	var report execution.Report
	if errand.receipt != nil {
		log = log.With("execution", errand.receipt.ExecutionID)
		report, err = c.executor.Settle(ctx, errand.tenant, errand.event, *errand.receipt)
	} else {
		log = log.With("intent", errand.intent)
		report, err = c.executor.Execute(ctx, errand.tenant, errand.event, errand.intent)
	}
	if err != nil {
		log.ErrorContext(ctx, "an errand failed", "error", err)
		return false
	}
	c.meter.Count("Payments", metric.Dimension{Name: "status", Value: string(report.Status)})
	log.InfoContext(ctx, "an errand was done", "status", string(report.Status), "outcome", string(report.Outcome), "again", report.Again)
	return !report.Again
}
