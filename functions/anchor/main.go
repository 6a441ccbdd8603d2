// Command anchor runs on a schedule: it publishes the roots over the tenants'
// journals on the chain, and the paths by which proofs lead to them.
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
		r, err := wire(config, log, os.Stdout)
		if err != nil {
			return nil, err
		}
		return r.handle, nil
	})
}
