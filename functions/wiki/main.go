// Command wiki renders the pages that a change touches, a batch of its queue at a
// time.
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
		lambda.StartWithOptions(wire(config, log).consume)
		return
	}
	log.ErrorContext(context.Background(), "the function cannot start", "error", err)
	os.Exit(1)
}
