package stack_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/robotmoney/mcp/infra/local/stack"
)

// running is the one stack the tests of this package share.
var running *stack.Stack

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	repo, err := filepath.Abs("../../..")
	if err != nil {
		return 1, err
	}
	folder, err := os.MkdirTemp("", "stack")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if running, err = stack.Start(ctx, stack.Options{Repo: repo, Folder: folder}); err != nil {
		return 1, err
	}
	defer running.Close()
	return m.Run(), nil
}
