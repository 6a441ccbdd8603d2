// Command local runs the whole system on this machine until it is interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

func main() {
	port := flag.Int("port", 8787, "port of the endpoint")
	fresh := flag.Bool("fresh", false, "start over: forget all state")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, *port, *fresh); err != nil {
		fmt.Fprintln(os.Stderr, "local stack:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, port int, fresh bool) error {
	repo, err := os.Getwd()
	if err != nil {
		return err
	}
	began := time.Now()
	fmt.Println("starting the local stack (the first time installs the engines and writes two years of demo data)")
	s, err := stack.Start(ctx, stack.Options{Repo: repo, Folder: repo, Port: port, Fresh: fresh})
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Printf(greeting, time.Since(began).Seconds(), s.File().MCPURL, stackfile.Path, s.File().Tokens["agent"], s.File().MCPURL, s.File().MCPURL, stackfile.Events, filepath.Join(stackfile.Root, "log"))
	select {
	case <-ctx.Done():
		fmt.Println("\nstopping")
		return nil
	case err := <-s.Failed():
		return err
	}
}

const greeting = `ready after %.1f s

  endpoint  %s
  details   %s (addresses and tokens of every demo principal, renewed every ten minutes)

A first call:

  TOKEN=%s

  curl -s %s \
    -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
    -d '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"brain://ledger/transactions/tx_4127"}}'

For an MCP client that takes JSON configuration:

  {"mcpServers":{"robotmoney":{"type":"http","url":"%s","headers":{"Authorization":"Bearer TOKEN"}}}}

Another token:   go run ./infra/robotmoney token --principal agt_finance
Audit events:    tail -f %s
Logs:            %s

Ctrl-C ends everything.
`
