// Command mcp is the one public function: it authenticates a request, checks
// the caller against the tenant's records and the chain, and answers MCP.
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
		var handler lambda.Handler
		if handler, err = wire(config, log); err == nil {
			lambda.StartWithOptions(handler)
			return
		}
	}
	log.ErrorContext(context.Background(), "the function cannot start", "error", err)
	os.Exit(1)
}
