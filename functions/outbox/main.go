// Command outbox runs every minute: it hands the bus again what the bus did not
// take, and ends what is due.
package main

import (
	"log/slog"
	"os"

	"github.com/robotmoney/mcp/shared/platform/function"
)

func main() {
	function.Start(func(log *slog.Logger) (any, error) {
		config, err := readConfig(os.Getenv)
		if err != nil {
			return nil, err
		}
		return wire(config, log, os.Stdout).handle, nil
	})
}
