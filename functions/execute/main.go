// Command execute takes approved payments through the gate and to their rail, and
// settles what the rail says, a batch of its queue at a time.
package main

import (
	"context"
	"log/slog"
	"os"
	_ "time/tzdata" // policies name zones, and the runtime has none

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	var level slog.Level
	_ = level.UnmarshalText([]byte(os.Getenv("LOG_LEVEL"))) // anything else is INFO
	log := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: level}))
	config, err := readConfig(os.Getenv)
	if err == nil {
		var c *consumer
		if c, err = wire(config, log, os.Stdout); err == nil {
			lambda.StartWithOptions(c.consume)
			return
		}
	}
	log.ErrorContext(context.Background(), "the function cannot start", "error", err)
	os.Exit(1)
}
