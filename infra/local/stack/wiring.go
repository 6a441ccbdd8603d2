package stack

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/infra/local/template"
)

// again is how long a failed delivery waits for its next try, doubled for each
// further one. AWS waits a minute, or a queue's visibility timeout: too long for
// somebody who watches.
const again = time.Second

// eventBus starts the bus with everything the template hangs on it.
func (s *Stack) eventBus(ctx context.Context) error {
	log, err := s.log("bus")
	if err != nil {
		return err
	}
	config, err := Wiring(s.template, func(logicalID string) bus.Invoker { return s.pools[logicalID] })
	if err != nil {
		return fmt.Errorf("wire the bus: %w", err)
	}
	config.Name, config.EventsFile, config.Region = busName, s.path(stackfile.Events), stackfile.Region
	config.Ready, config.DeadLetter, config.Log = s.built, s.bury, slog.New(slog.NewJSONHandler(log, nil))
	if s.bus, err = bus.New(ctx, config); err != nil {
		return err
	}
	s.closers = append(s.closers, func() { s.bus.Close() })
	server := &http.Server{Handler: s.bus, ReadHeaderTimeout: 10 * time.Second}
	s.closers = append(s.closers, func() { server.Close() })
	go s.watch(server, s.events)
	return nil
}

// Wiring is what a template hangs on its bus: the rules with their targets, the
// queues with the functions that read them, and the schedules. function gives
// the function of a logical id.
func Wiring(t *template.Template, function func(logicalID string) bus.Invoker) (bus.Config, error) {
	var c bus.Config
	if n := len(t.Buses); n != 1 {
		return c, fmt.Errorf("the template has %d buses, and the stack knows the name of one", n)
	}
	if err := lettersEnd(t); err != nil {
		return c, err
	}
	for _, q := range t.Queues {
		if q.Reader != nil {
			c.Queues = append(c.Queues, queue(q, function(q.Reader.Function)))
		}
	}
	for _, r := range t.Rules {
		rule := bus.Rule{Name: r.LogicalID, Pattern: r.Pattern}
		for _, to := range r.Targets {
			target := bus.Target{Name: r.LogicalID + "/" + to.Function + to.Queue, Queue: to.Queue, Backoff: again}
			if to.Function != "" {
				// The bus's own retries and dead letters are for what never
				// reached the function, which does not happen here; what the
				// function fails on is the function's affair.
				f := described(t, to.Function)
				target.Function, target.MaximumRetryAttempts, target.DeadLetters = function(to.Function), f.MaximumRetryAttempts, f.DeadLetter
			}
			rule.Targets = append(rule.Targets, target)
		}
		c.Rules = append(c.Rules, rule)
	}
	for _, s := range t.Schedules {
		f := described(t, s.Function)
		c.Schedules = append(c.Schedules, bus.Schedule{
			Name: s.LogicalID, Expression: s.Expression, Input: s.Input, Function: function(s.Function),
			MaximumRetryAttempts: f.MaximumRetryAttempts, DeadLetters: f.DeadLetter, Backoff: again,
		})
	}
	return c, nil
}

// queue is a queue that a function reads.
func queue(q template.Queue, reader bus.Invoker) bus.Queue {
	return bus.Queue{
		Name: q.LogicalID, VisibilityTimeout: q.VisibilityTimeout, MaxReceiveCount: q.MaxReceiveCount, DeadLetters: q.DeadLetter,
		Backoff: again, Function: reader, BatchSize: q.Reader.BatchSize, BatchingWindow: q.Reader.BatchingWindow,
		ReportBatchItemFailures: q.Reader.PartialFailures, Concurrency: q.Reader.MaximumConcurrency,
	}
}

// described is what the template says of a function, which is there: a template
// that names one that is not is refused.
func described(t *template.Template, logicalID string) template.Function {
	return t.Functions[slices.IndexFunc(t.Functions, func(f template.Function) bool { return f.LogicalID == logicalID })]
}

// lettersEnd refuses a function that reads a dead-letter queue: here they are
// files, and it would never be called.
func lettersEnd(t *template.Template) error {
	letters := map[string]string{} // dead-letter queue to whose it is
	for _, q := range t.Queues {
		letters[q.DeadLetter] = q.LogicalID
	}
	for _, f := range t.Functions {
		letters[f.DeadLetter] = f.LogicalID
	}
	for _, q := range t.Queues {
		if of, dead := letters[q.LogicalID]; dead && q.Reader != nil {
			return fmt.Errorf("queue %s holds the dead letters of %s and is read by %s, which would never be called here", q.LogicalID, of, q.Reader.Function)
		}
	}
	return nil
}
