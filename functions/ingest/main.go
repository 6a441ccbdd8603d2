// Command ingest takes accepted artifacts into the ledger, one message of its
// queue at a time.
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
	lambda.StartWithOptions(wire(config, log, os.Stdout).consume)
}
