// Command wiki renders the pages that a change touches, a batch of its queue at a
// time.
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
		return wire(config, log, os.Stdout).consume, nil
	})
}
