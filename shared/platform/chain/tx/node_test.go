package tx_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// node is a JSON-RPC server that says what a real one says only now and then. A
// scripted answer starting with { and holding "code" is an error, any other a
// result.
type node struct {
	mu      sync.Mutex
	answers map[string]func(params []json.RawMessage) string
	seen    map[string][][]json.RawMessage
	url     string
}

func newNode(t *testing.T) *node {
	t.Helper()
	n := &node{answers: map[string]func([]json.RawMessage) string{}, seen: map[string][][]json.RawMessage{}}
	n.say("eth_chainId", `"0x7a69"`)
	n.say("eth_estimateGas", `"0x3e8"`)
	n.say("eth_feeHistory", `{"oldestBlock":"0x1","baseFeePerGas":["0x5","0x64"],"reward":[["0x7"]]}`)
	n.say("eth_maxPriorityFeePerGas", `"0x3"`)
	n.say("eth_getTransactionCount", `"0x9"`)
	n.say("eth_getTransactionByHash", `null`)
	n.hear("eth_sendRawTransaction", func(params []json.RawMessage) string { return quoted(hashOf(params[0])) })
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	n.url = server.URL
	return n
}

// say sets what the node answers to a method, hear how it makes the answer.
func (n *node) say(method, answer string) {
	n.hear(method, func([]json.RawMessage) string { return answer })
}

func (n *node) hear(method string, answer func(params []json.RawMessage) string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answers[method] = answer
}

// asked returns the parameters of every request of a method.
func (n *node) asked(method string) [][]json.RawMessage {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen[method]
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID     json.RawMessage   `json:"id"`
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	n.mu.Lock()
	n.seen[q.Method] = append(n.seen[q.Method], q.Params)
	answer := n.answers[q.Method]
	n.mu.Unlock()
	if answer == nil {
		answer = func([]json.RawMessage) string { return failure(-32601, "no such method", "null") }
	}
	kind, said := "result", answer(q.Params)
	if strings.HasPrefix(said, `{"code":`) {
		kind = "error"
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%q:%s}`, q.ID, kind, said)
}

func failure(code int, message, data string) string {
	return fmt.Sprintf(`{"code":%d,"message":%q,"data":%s}`, code, message, data)
}

func quoted(h identity.Hash) string { return `"` + h.String() + `"` }

// hashOf is the hash of the raw transaction in a JSON string.
func hashOf(raw json.RawMessage) identity.Hash {
	data, err := chain.ParseData(raw)
	if err != nil {
		return identity.Hash{}
	}
	return identity.Keccak(data)
}

// anvilKey is the first account of every anvil: known to everybody.
const anvilKey = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"

var contract = chain.Address{0x5f, 19: 0xa3}

func transactor(t *testing.T, change func(*tx.Config), nodes ...*node) *tx.Transactor {
	t.Helper()
	var urls []string
	for _, n := range nodes {
		urls = append(urls, n.url)
	}
	client, err := chain.New(chain.Config{Endpoints: urls, ChainID: 31337, Timeout: 5 * time.Second, Now: time.Now})
	ok(t, err)
	config := tx.Config{Client: client, Signer: localKey(t, anvilKey), Poll: time.Millisecond, FeeCap: big.NewInt(1000)}
	if change != nil {
		change(&config)
	}
	made, err := tx.NewTransactor(config)
	ok(t, err)
	return made
}

func localKey(t *testing.T, text string) *tx.LocalKey {
	t.Helper()
	key, err := tx.ParseLocalKey(text)
	ok(t, err)
	return key
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t *testing.T, got, want T, what string) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// fails wants an error that says each of the words.
func fails(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Fatalf("the error lacks %q: %v", word, err)
		}
	}
}
