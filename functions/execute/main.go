// Command execute takes approved payments through the gate and to their rail, and
// settles what the rail says, a batch of its queue at a time.
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
		c, err := wire(config, log, os.Stdout)
		if err != nil {
			return nil, err
		}
		return c.consume, nil
	})
}
