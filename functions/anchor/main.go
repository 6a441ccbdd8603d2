// Command anchor runs on a schedule: it publishes the roots over the tenants'
// journals on the chain, and the paths by which proofs lead to them.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	var level slog.Level
	_ = level.UnmarshalText([]byte(os.Getenv("LOG_LEVEL"))) // anything else is INFO
	log := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: level}))
	config, err := readConfig(os.Getenv)
	if err == nil {
		var r *round
		if r, err = wire(config, log, os.Stdout); err == nil {
			lambda.Start(r.handle)
			return
		}
	}
	log.ErrorContext(context.Background(), "the function cannot start", "error", err)
	os.Exit(1)
}
