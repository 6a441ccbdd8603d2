// Command mcp is the one public function: it authenticates a request, checks
// the caller against the tenant's records and the chain, and answers MCP.
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
		return wire(config, log)
	})
}
