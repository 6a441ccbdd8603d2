package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/infra/local/lambda"
)

const (
	// directWorkers is how many asynchronous invocations of one target run at
	// once: enough to show a function that it is not alone, few enough that a
	// burst does not start a thousand processes.
	directWorkers = 4
	// hidden keeps a direct delivery from being repeated while it runs.
	hidden = 15*time.Minute + 30*time.Second
	// longestBackoff bounds the doubling.
	longestBackoff = time.Minute
)

// targetLine delivers envelopes to a function one by one.
func (b *Bus) targetLine(t Target) *line {
	return b.directLine(t.Name, t.DeadLetters, t.Function, t.MaximumRetryAttempts, t.Backoff)
}

func (b *Bus) directLine(name, letters string, function Invoker, retries int, backoff time.Duration) *line {
	if backoff <= 0 {
		backoff = time.Second
	}
	l := &line{
		name: name, letters: letters, batch: 1, workers: directWorkers, most: 1 + max(0, retries),
		hide: func(int) time.Duration { return hidden },
		bury: b.bury, pending: &b.pending,
	}
	l.send = func(ctx context.Context, batch []*message) map[string]failure {
		m := batch[0]
		err := call(ctx, function, m.body)
		if err == nil {
			return nil
		}
		b.config.Log.Warn("delivery failed", "to", name, "attempt", m.attempts, "error", err)
		wait := backoff << min(m.attempts-1, 10)
		f := failure{reason: err.Error(), retry: min(wait, longestBackoff), uncounted: lambda.Throttled(err)}
		return map[string]failure{m.id: f}
	}
	return l
}

// call invokes a function for its effect; its error is one of the delivery.
func call(ctx context.Context, function Invoker, payload []byte) error {
	result, err := function.Invoke(ctx, payload)
	if err != nil {
		return fmt.Errorf("invoke: %w", err)
	}
	if result.FunctionError != "" {
		return fmt.Errorf("function error: %.500s", result.Payload)
	}
	return nil
}
