// Command outbox runs every minute: it hands the bus again what the bus did not
// take, and ends what is due.
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
	if err != nil {
		log.ErrorContext(context.Background(), "the function cannot start", "error", err)
		os.Exit(1)
	}
	lambda.Start(wire(config, log, os.Stdout).handle)
}
