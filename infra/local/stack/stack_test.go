package stack_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// running is the one stack the tests of this package share, and folder is where
// it keeps its state.
var (
	running *stack.Stack
	folder  string
)

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
	folder, err = os.MkdirTemp("", "stack")
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

// store is the table of the running stack.
func store() *table.Table {
	return running.File().Store()
}

// outbox counts the events that wait for the bus and hold all of the texts.
func outbox(t *testing.T, texts ...string) int {
	t.Helper()
	return len(waiting(t, texts...))
}

// waiting are the bodies of those events.
func waiting(t *testing.T, texts ...string) (bodies []string) {
	t.Helper()
	for shard := range key.OutboxShards {
		page, err := store().Query(t.Context(), record.Query{PK: key.OutboxPartition(shard)})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			body := string(item.Body)
			if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(body, text) }) {
				bodies = append(bodies, body)
			}
		}
	}
	return bodies
}

// registryAdmin changes the registry as acme's signer.
func registryAdmin(t *testing.T) *tx.RegistryAdmin {
	t.Helper()
	file := running.File()
	client, err := chain.New(chain.Config{Endpoints: []string{file.RPCURL}, ChainID: file.ChainID, Timeout: 10 * time.Second, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	sender, err := tx.ParseLocalKey(stackfile.DeployerKey)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := tx.ParseLocalKey(stackfile.SignerKeys["acme"])
	if err != nil {
		t.Fatal(err)
	}
	transactor, err := tx.NewTransactor(tx.Config{Client: client, Signer: sender, Poll: 100 * time.Millisecond, Reverts: tx.RegistryReverts})
	if err != nil {
		t.Fatal(err)
	}
	contract, err := chain.ParseAddress(file.Registry)
	if err != nil {
		t.Fatal(err)
	}
	return tx.NewRegistryAdmin(transactor, contract, signer)
}
