// Command transcript plays the money path through on a stack of its own and
// prints what is said: an agent proposes, the policy decides, people approve,
// and a second agent is stopped by a cap.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

func main() {
	folder := flag.String("folder", filepath.Join(stackfile.Root, "transcript"), "where the stack keeps its state")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *folder, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "transcript:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, folder string, out io.Writer) error {
	repo, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	fmt.Fprintln(out, "Starting a stack with two years of a company's books.")
	s, err := stack.Start(ctx, stack.Options{Repo: repo, Folder: folder, Fresh: true})
	if err != nil {
		return err
	}
	defer s.Close()
	return tell(ctx, s.File(), out)
}
