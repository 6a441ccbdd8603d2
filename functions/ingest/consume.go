package main

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/robotmoney/mcp/shared/domain/ingest"
	"github.com/robotmoney/mcp/shared/domain/trace"
	"github.com/robotmoney/mcp/shared/platform/function"
	"github.com/robotmoney/mcp/shared/platform/metric"
	"github.com/robotmoney/mcp/shared/platform/queue"
)

// margin is the time before the function's end in which nothing is begun any more.
// What is written until then is known when the message comes again, and the rest
// follows.
const margin = 5 * time.Second

// consumer takes batches of the queue.
type consumer struct {
	intake *ingest.Intake
	log    *slog.Logger
	meter  metric.Meter
}

// consume takes the artifacts of a batch, one after the other, since each may take
// all the memory there is. It names the messages to be delivered again: those that
// failed on our side or were not finished in time, and those that are no errand,
// which lie in the dead-letter queue after their tries. A file that is refused is
// done with.
func (c *consumer) consume(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	ctx, cancel := function.Before(ctx, margin)
	defer cancel()
	var failed queue.Failures
	for _, record := range batch.Records {
		if !c.take(ctx, record) {
			failed.Add(record.MessageId)
		}
	}
	return failed.Response(), nil
}

// take works on one message and says whether it is done with. The log says how
// much there was and never what: amounts and names are the tenant's.
func (c *consumer) take(ctx context.Context, message events.SQSMessage) (done bool) {
	log := c.log.With("message", message.MessageId)
	errand, err := open(message.Body)
	if err != nil {
		log.ErrorContext(ctx, "a message is no errand", "reason", err.Error())
		return false
	}
	ctx = trace.With(ctx, errand.trace)
	log = log.With("trace_id", errand.trace.ID(), "tenant", errand.tenant.String(), "artifact", errand.artifact)
	defer debug.FreeOSMemory() // a process waits long, and must not hold the last file meanwhile
	out, err := c.intake.Take(ctx, errand.tenant, errand.requestID, errand.artifact)
	if err != nil {
		log.ErrorContext(ctx, "an artifact was not finished", "error", err)
		return false
	}
	if out.Report == nil {
		log.InfoContext(ctx, "an artifact was left alone", "state", string(out.State))
		return true
	}
	r := out.Report
	c.meter.Count("Files", metric.Dimension{Name: "state", Value: string(out.State)})
	c.meter.Number("RowsEntered", r.Transactions.New+r.Transactions.Changed)
	log = log.With("state", string(out.State), "parser", r.Parser, "entries", r.Entries)
	if r.Failure != nil {
		log.WarnContext(ctx, "an artifact was refused", "line", r.Failure.Line)
		return true
	}
	log.InfoContext(ctx, "an artifact was taken in", "new", r.Transactions.New, "changed", r.Transactions.Changed, "known", r.Transactions.Known, "findings", r.FindingsTotal)
	return true
}
