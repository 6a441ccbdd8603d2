// Package function is what every function does alike: it starts with its log, and
// it stops before its time is up.
package function

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// Start makes the handler and serves with it for as long as the process lives. A
// handler that cannot be made ends the process before it takes anything, with the
// reason in the log.
func Start(handler func(log *slog.Logger) (any, error)) {
	var level slog.Level
	_ = level.UnmarshalText([]byte(os.Getenv("LOG_LEVEL"))) // anything else is INFO
	log := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: level}))
	h, err := handler(log)
	if err != nil {
		log.ErrorContext(context.Background(), "the function cannot start", "error", err)
		os.Exit(1)
	}
	lambda.StartWithOptions(h)
}

// Before makes a context that ends a margin before the function does: killed in
// the middle, it could not say what it has done, and a queue would deliver all of
// its batch again.
func Before(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	end, limited := ctx.Deadline()
	if !limited {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, end.Add(-margin))
}
