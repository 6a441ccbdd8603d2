package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/edge"
)

// recorder stands in front of an endpoint of the stack and counts what goes
// through, by the operation asked for.
type recorder struct {
	mu    sync.Mutex
	calls map[string]int
}

func (r *recorder) before(t *testing.T, target string) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
		if operation == "" {
			body, _ := io.ReadAll(req.Body)
			req.Body = io.NopCloser(bytes.NewReader(body))
			var rpc struct{ Method string }
			_ = json.Unmarshal(body, &rpc)
			operation = rpc.Method
		}
		r.mu.Lock()
		r.calls[operation]++
		r.mu.Unlock()
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// take returns the calls since the last take. Leases of the rate are not part
// of a request's round trips, nor is the check of a chain's id, made once a
// process.
func (r *recorder) take() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = map[string]int{}
	delete(calls, "UpdateItem")
	delete(calls, "eth_chainId")
	return calls
}

func TestRoundTrips(t *testing.T) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	running, err := stack.Start(ctx, stack.Options{Repo: repo, Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	file := running.File()
	count := &recorder{calls: map[string]int{}}
	env := map[string]string{
		"AWS_REGION": stackfile.Region, "AWS_ACCESS_KEY_ID": stackfile.AccessKey, "AWS_SECRET_ACCESS_KEY": stackfile.SecretKey,
		"TABLE_NAME": file.Table, "BUS_NAME": file.Bus, "BLOB_BUCKET": file.Bucket, "S3_ENDPOINT": file.S3Endpoint,
		"DYNAMODB_ENDPOINT": count.before(t, file.DynamoDBEndpoint), "EVENTS_ENDPOINT": count.before(t, file.EventsEndpoint),
		"RPC_URLS": count.before(t, file.RPCURL), "CHAIN_ID": strconv.FormatUint(file.ChainID, 10), "REGISTRY_ADDRESS": file.Registry,
		"ISSUER": file.Issuer, "JWKS_URL": file.JWKSURL, "ENDPOINT_URL": file.MCPURL,
		"CURSOR_KEY": "0123456789abcdef0123456789abcdef",
	}
	settings, err := readConfig(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	start := func() *edge.Server {
		server, err := wire(settings, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
		if err != nil {
			t.Fatal(err)
		}
		return server
	}
	read := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"brain://ledger/transactions/tx_4127"}}`
	account := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"brain://ledger/accounts/acct_8231"}}`
	tools := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

	first, second := start(), start()
	for _, step := range []struct {
		name   string
		server *edge.Server
		body   string
		want   map[string]int
	}{
		// The chain's answer is in nobody's cache: asked for once, then kept.
		{"cold, the first process", first, read, map[string]int{"Query": 1, "eth_call": 1, "PutItem": 1, "GetItem": 1, "PutEvents": 1}},
		{"warm read", first, read, map[string]int{"GetItem": 1, "PutEvents": 1}},
		{"warm read of an account and its balance", first, account, map[string]int{"Query": 1, "PutEvents": 1}},
		{"warm list", first, tools, map[string]int{"PutEvents": 1}},
		// Another process finds the answer beside the agent's record.
		{"cold, the second process", second, tools, map[string]int{"Query": 1, "PutEvents": 1}},
		{"warm list of the second", second, tools, map[string]int{"PutEvents": 1}},
	} {
		count.take()
		if status := post(t, step.server, file.Tokens["agent"], step.body); status != http.StatusOK {
			t.Fatalf("%s: status %d", step.name, status)
		}
		if got := count.take(); fmt.Sprint(got) != fmt.Sprint(step.want) {
			t.Errorf("%s: round trips %v, want %v", step.name, got, step.want)
		}
	}
}

// post gives a server an event as the gateway would and returns the status.
func post(t *testing.T, server *edge.Server, token, body string) int {
	t.Helper()
	event, err := json.Marshal(map[string]any{
		"version": "2.0", "rawPath": "/v1/agents/mcp",
		"headers":        map[string]string{"content-type": "application/json", "authorization": "Bearer " + token, "host": "127.0.0.1"},
		"requestContext": map[string]any{"http": map[string]any{"method": "POST"}, "stage": "$default"},
		"body":           body,
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := server.Invoke(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct{ StatusCode int }
	if err := json.Unmarshal(raw, &reply); err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode
}
