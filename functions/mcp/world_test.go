package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/edge"
)

// running is the one stack the tests of this package share: the engines and the
// demo's companies behind the function, which is wired here, in the test's own
// process. Its bus is one that nothing hangs on: what the other functions make of
// an event is not this one's doing.
var running stackfile.Stack

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	repository, err := filepath.Abs("../..")
	if err != nil {
		return 1, err
	}
	folder, err := os.MkdirTemp("", "mcp-function")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := stack.Start(ctx, stack.Options{Repo: repository, Folder: folder})
	if err != nil {
		return 1, err
	}
	defer s.Close()
	running = s.File()
	quiet, err := bus.New(ctx, bus.Config{Name: running.Bus, EventsFile: filepath.Join(folder, "quiet.jsonl")})
	if err != nil {
		return 1, err
	}
	defer quiet.Close()
	server := httptest.NewServer(quiet)
	defer server.Close()
	running.EventsEndpoint = server.URL
	return m.Run(), nil
}

// wired is the function as a process of its own would wire it, with some of its
// environment changed.
func wired(t *testing.T, changes map[string]string) *edge.Server {
	t.Helper()
	env := map[string]string{
		"AWS_REGION": stackfile.Region, "AWS_ACCESS_KEY_ID": stackfile.AccessKey, "AWS_SECRET_ACCESS_KEY": stackfile.SecretKey,
		"TABLE_NAME": running.Table, "BUS_NAME": running.Bus, "BLOB_BUCKET": running.Bucket, "S3_ENDPOINT": running.S3Endpoint,
		"DYNAMODB_ENDPOINT": running.DynamoDBEndpoint, "EVENTS_ENDPOINT": running.EventsEndpoint,
		"RPC_URLS": running.RPCURL, "CHAIN_ID": strconv.FormatUint(running.ChainID, 10), "REGISTRY_ADDRESS": running.Registry,
		"ISSUER": running.Issuer, "JWKS_URL": running.JWKSURL, "ENDPOINT_URL": running.MCPURL,
		"CURSOR_KEY": "0123456789abcdef0123456789abcdef",
	}
	maps.Copy(env, changes)
	settings, err := readConfig(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	server, err := wire(settings, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// reply is what the function answers an event.
type reply struct {
	StatusCode int
	Headers    map[string]string
	Body       string
}

// invoke gives a server an event as the gateway would.
func invoke(t *testing.T, server *edge.Server, method, path, token, body string) reply {
	t.Helper()
	event, err := json.Marshal(map[string]any{
		"version": "2.0", "rawPath": path,
		"headers":        map[string]string{"content-type": "application/json", "authorization": "Bearer " + token, "host": "127.0.0.1"},
		"requestContext": map[string]any{"http": map[string]any{"method": method}, "stage": "$default"},
		"body":           body,
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := server.Invoke(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	var r reply
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

const endpointPath = "/v1/agents/mcp"

// use calls a tool and returns the id in its answer, which must be one.
func use(t *testing.T, server *edge.Server, holder, tool, arguments string) string {
	t.Helper()
	r := invoke(t, server, "POST", endpointPath, running.Tokens[holder], called(tool, arguments))
	var answer struct {
		Result *struct {
			IsError           bool
			StructuredContent struct{ ID string }
		}
	}
	if err := json.Unmarshal([]byte(r.Body), &answer); err != nil || answer.Result == nil || answer.Result.IsError {
		t.Fatalf("%s %s: %d %s", tool, arguments, r.StatusCode, r.Body)
	}
	return answer.Result.StructuredContent.ID
}

// called is the request of a tool's call.
func called(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
}
