// Package target finds the server that is judged: the local stack that runs
// already, or one started for the occasion.
package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// Repo is the repository's folder, found from the working folder upwards.
func Repo() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "template.yaml")); err == nil {
			return at, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return "", errors.New("no template.yaml above the working folder: run this inside the repository")
		}
		at = up
	}
}

// Installed is where ./install puts things.
func Installed(repo string) string { return filepath.Join(repo, stackfile.Root, "clients") }

// Open returns the running stack, or starts one with a state of its own. The
// returned function ends what was started and nothing else.
func Open(ctx context.Context, repo string) (stackfile.Stack, func(), error) {
	if file, err := stackfile.Read(repo); err == nil && answers(ctx, file) {
		return file, func() {}, nil
	}
	return Start(ctx, repo)
}

// Start starts a stack that shares nothing with one that runs already.
func Start(ctx context.Context, repo string) (stackfile.Stack, func(), error) {
	folder, err := os.MkdirTemp("", "clients-stack")
	if err != nil {
		return stackfile.Stack{}, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	running, err := stack.Start(ctx, stack.Options{Repo: repo, Folder: folder})
	if err != nil {
		cancel()
		_ = os.RemoveAll(folder)
		return stackfile.Stack{}, nil, fmt.Errorf("start the local stack: %w", err)
	}
	return running.File(), func() {
		running.Close()
		cancel()
		_ = os.RemoveAll(folder)
	}, nil
}

// answers says whether the stack of a file is there and takes its token: the
// file may be all that is left of it.
func answers(ctx context.Context, file stackfile.Stack) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, file.MCPURL, bytes.NewReader([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+file.Tokens["agent"])
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}
