package anchor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/functions/anchor/contract"
	"github.com/robotmoney/mcp/infra/contracts"
	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/anchor"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// The table and the chain of this package's tests. Tests keep apart by their
// tenants and by a contract each; those that share the list of all tenants are
// why each starts with the work of the ones before done.
var (
	database *enginetest.Engine
	ethereum *engine.Chain
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "anchor-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	binaries, err := engine.Install(context.Background(), filepath.Join("..", "..", "..", ".local", "npm"))
	if err != nil {
		panic(err)
	}
	ethereum, err = engine.Anvil(context.Background(), engine.AnvilConfig{
		Binary: binaries.Anvil, State: filepath.Join(folder, "anvil.json"), Log: filepath.Join(folder, "anvil.log"), SaveEvery: time.Hour,
	})
	if err != nil {
		panic(err)
	}
	defer ethereum.Close()
	return enginetest.Run(m, func(e *enginetest.Engine) { database = e })
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func says(t testing.TB, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Fatalf("error %v, want one that says %q", err, words)
	}
}

// node stands before the chain. A test makes it fail.
type node struct {
	url    string
	mu     sync.Mutex
	seen   map[string]int
	before func(method string, params []json.RawMessage) (answer string, answered bool) // instead of the chain
	after  func(method string) bool                                                     // true loses the chain's answer
	still  bool                                                                         // blocks come by themselves alone
}

func newNode(t testing.TB) *node {
	n := &node{seen: map[string]int{}}
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	n.url = server.URL
	return n
}

// instead has a function answer some methods in place of the chain; an empty
// answer drops the connection.
func (n *node) instead(answer func(method string, params []json.RawMessage) (string, bool)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.before = answer
}

// afterwards has a function say which of the chain's answers are lost.
func (n *node) afterwards(lost func(method string) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.after = lost
}

// well has the node hand everything on again.
func (n *node) well() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.before, n.after = nil, nil
}

// asked is how often a method was called.
func (n *node) asked(method string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen[method]
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var q struct {
		ID     json.RawMessage   `json:"id"`
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	_ = json.Unmarshal(body, &q)
	n.mu.Lock()
	defer n.mu.Unlock() // one call after the other, so that they can be counted
	n.seen[q.Method]++
	if n.before != nil {
		if answer, answered := n.before(q.Method, q.Params); answered {
			if answer == "" {
				panic(http.ErrAbortHandler)
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, q.ID, answer)
			return
		}
	}
	res, err := http.Post(ethereum.URL, "application/json", bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(res.Body)
	if q.Method == "eth_sendRawTransaction" && !n.still {
		_ = rpc(nil, "evm_mine")
	}
	if n.after != nil && n.after(q.Method) {
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(answer)
}

// rpc asks the chain itself.
func rpc(out any, method string, params ...any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	res, err := http.Post(ethereum.URL, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var answer struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: %s", method, answer.Error)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, out)
}

// mine makes blocks, so many that what was in one becomes final.
func mine(t testing.TB) {
	t.Helper()
	for range 4 {
		noError(t, rpc(nil, "evm_mine"))
	}
}

var tenants atomic.Int32

// tenant is one that has no journal yet.
func tenant(t testing.TB) identity.Tenant {
	t.Helper()
	name, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	return name
}

// happened are events of a tenant from one number up to another: every third is
// about the intent pi_1, every ninth about its execution as well.
func happened(t testing.TB, of identity.Tenant, from, to int) {
	t.Helper()
	var all []journal.Event
	for n := from; n < to; n++ {
		event := map[string]any{
			"id": fmt.Sprintf("evt_01K6D3Q6Y4R8M2N5T7V%07d", n), "tenant_id": of.String(), "action": "agent.mcp.tool_called",
			"created_at": time.Date(2025, 9, 30, 12, 0, n, 0, time.UTC).Format("2006-01-02T15:04:05.000Z"), "inputs": map[string]any{"uri": "brain://proofs/pi_1"},
		}
		if n%3 == 0 {
			event["action"], event["after_state"] = "payment_intent.approved", map[string]any{"id": "pi_1", "status": fmt.Sprint("state ", n)}
			event["inputs"] = map[string]any{"id": "pi_1", "agent": map[string]any{"id": "agt_1"}}
		}
		if n%9 == 0 {
			event["inputs"] = map[string]any{"id": "pi_1", "execution_id": "exec_1"}
		}
		raw, err := json.Marshal(event)
		noError(t, err)
		e, err := journal.Parse(raw)
		noError(t, err)
		all = append(all, e)
	}
	_, err := (&journal.Journal{Store: database.Table()}).Append(t.Context(), of, all)
	noError(t, err)
}

// world is the function's parts over the engines.
type world struct {
	node     *node
	contract chain.Address
	signer   *tx.LocalKey
	clock    time.Time
	period   int
	patience time.Duration
	chainID  uint64
}

// newWorld deploys a contract of its own and forgets what other tests left open.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{node: newNode(t), clock: time.Date(2025, 10, 1, 0, 0, 0, 0, time.UTC), patience: 5 * time.Second, chainID: engine.ChainID}
	w.signer = localKey(t, stackfile.PublisherKey)
	w.contract = deploy(t, w.signer.Address())
	forget(t)
	return w
}

func localKey(t testing.TB, text string) *tx.LocalKey {
	t.Helper()
	signer, err := tx.ParseLocalKey(text)
	noError(t, err)
	return signer
}

// deploy makes a contract whose publisher is an account.
func deploy(t testing.TB, publisher chain.Address) chain.Address {
	t.Helper()
	direct, err := chain.New(chain.Config{Endpoints: []string{newNode(t).url}, ChainID: engine.ChainID, Timeout: 5 * time.Second, Now: time.Now})
	noError(t, err)
	sender, err := tx.NewTransactor(tx.Config{Client: direct, Signer: localKey(t, stackfile.DeployerKey), Poll: 5 * time.Millisecond})
	noError(t, err)
	address, _, err := sender.Deploy(t.Context(), contracts.Anchor.DeployData(publisher))
	noError(t, err)
	return address
}

// forget removes the tenants and the open work of other tests.
func forget(t testing.TB) {
	t.Helper()
	for _, partition := range []string{key.JournalsPartition, key.AnchorsPartition} {
		page, err := database.Table().Query(t.Context(), record.Query{PK: partition})
		noError(t, err)
		for _, item := range page.Items {
			noError(t, database.Table().Commit(t.Context(), record.Change{Deletes: []key.Key{item.Key}}))
		}
	}
}

// anchor wires the parts, with a table the test may have changed.
func (w *world) anchor(t testing.TB, changes ...func(*dynamodb.Options)) *anchor.Anchor {
	t.Helper()
	client, err := chain.New(chain.Config{Endpoints: []string{w.node.url}, ChainID: w.chainID, Timeout: 2 * time.Second, Recheck: time.Nanosecond, Now: time.Now})
	noError(t, err)
	store := database.Table(changes...)
	return &anchor.Anchor{
		Store: store, Journal: &journal.Journal{Store: store}, Now: func() time.Time { return w.clock }, Period: w.period, Log: slog.New(slog.DiscardHandler),
		Chain: contract.New(contract.Config{
			Client: client, Contract: w.contract, Poll: 5 * time.Millisecond, Patience: w.patience,
			Signer: func(context.Context) (tx.Signer, error) { return w.signer, nil },
		}),
	}
}

// runs makes a round that must succeed.
func (w *world) runs(t testing.TB) anchor.Report {
	t.Helper()
	report, err := w.anchor(t).Run(t.Context())
	noError(t, err)
	return report
}

// finishes runs until nothing is open.
func (w *world) finishes(t testing.TB) {
	t.Helper()
	for range 4 {
		report := w.runs(t)
		if report.Open == 0 {
			return
		}
		mine(t)
	}
	t.Fatal("something stays open")
}

// published are the logs of the contract's roots, by tenant and root.
func (w *world) published(t testing.TB) map[string]int {
	t.Helper()
	var logs []struct {
		Topics []string
		Data   string
	}
	noError(t, rpc(&logs, "eth_getLogs", map[string]any{"address": w.contract.String(), "fromBlock": "0x0", "toBlock": "latest"}))
	found := map[string]int{}
	for _, l := range logs {
		if len(l.Topics) == 2 {
			found[l.Topics[1]+" "+l.Data[:66]]++
		}
	}
	return found
}

// sent is how many transactions the publisher has made.
func (w *world) sent(t testing.TB) int {
	t.Helper()
	var count string
	noError(t, rpc(&count, "eth_getTransactionCount", w.signer.Address().String(), "latest"))
	n, err := chain.ParseQuantity(count)
	noError(t, err)
	return int(n)
}

var errGone = errors.New("connection reset by peer")
