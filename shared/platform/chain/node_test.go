package chain_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/platform/chain"
)

// node is a JSON-RPC server over a real socket. It serves chain 31337 and
// answers eth_call with result, unless its script says otherwise.
type node struct {
	*httptest.Server
	script func(n *node, w http.ResponseWriter, r *http.Request, q question)

	mu     sync.Mutex
	asked  map[string]int
	remote map[string]bool // the client's end of each connection seen
}

type question struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

const key = "k3y-0f-the-provider"

func newNode(t *testing.T, script func(n *node, w http.ResponseWriter, r *http.Request, q question)) *node {
	t.Helper()
	n := &node{script: script, asked: map[string]int{}, remote: map[string]bool{}}
	n.Server = httptest.NewServer(n)
	t.Cleanup(func() {
		n.CloseClientConnections()
		n.Close()
	})
	return n
}

// url is the node's address as providers give it, with the key in the path.
func (n *node) url() string { return n.URL + "/v3/" + key }

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q question
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	n.mu.Lock()
	n.asked[q.Method]++
	n.remote[r.RemoteAddr] = true
	n.mu.Unlock()
	n.script(n, w, r, q)
}

func (n *node) count(method string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[method]
}

func (n *node) connections() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.remote)
}

// result answers with a result, given as JSON.
func result(w http.ResponseWriter, q question, value string) {
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, value)
}

// honest answers the chain id and the agent's record.
func honest(_ *node, w http.ResponseWriter, _ *http.Request, q question) {
	if q.Method == "eth_chainId" {
		result(w, q, `"0x7a69"`)
		return
	}
	result(w, q, `"`+chain.FormatData(encode(agent))+`"`)
}

// onCall is honest about the chain id and does as told with everything else.
func onCall(do func(w http.ResponseWriter, r *http.Request, q question)) func(*node, http.ResponseWriter, *http.Request, question) {
	return func(n *node, w http.ResponseWriter, r *http.Request, q question) {
		if q.Method == "eth_chainId" {
			honest(n, w, r, q)
			return
		}
		do(w, r, q)
	}
}

// clock is a wall clock set by hand. Like the real one it carries no monotonic
// reading that survives a freeze.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1_760_000_000, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func client(t *testing.T, now *clock, timeout time.Duration, nodes ...*node) *chain.Client {
	t.Helper()
	var urls []string
	for _, n := range nodes {
		urls = append(urls, n.url())
	}
	c, err := chain.New(chain.Config{Endpoints: urls, ChainID: 31337, Timeout: timeout, Now: now.Now})
	ok(t, err)
	return c
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

// keepsSecrets fails when the error shows a key, a path or a port.
func keepsSecrets(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{key, "/v3/", "http://"} {
		if strings.Contains(err.Error(), secret) {
			t.Fatalf("the error shows %q: %v", secret, err)
		}
	}
}
