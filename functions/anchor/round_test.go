package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/contracts"
	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

var database *enginetest.Engine

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { database = e }))
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// variables are a whole environment with changes.
func variables(changes map[string]string) func(string) string {
	env := map[string]string{
		"AWS_LAMBDA_FUNCTION_NAME": "AnchorFunction", "AWS_REGION": enginetest.Region, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
		"TABLE_NAME": enginetest.TableName, "RPC_URLS": "http://127.0.0.1:1", "CHAIN_ID": "31337", "PUBLISHER_KEY": stackfile.PublisherKey,
		"ANCHOR_ADDRESS": "0x5FbDB2315678afecb367f032d93F642f64180aa3", "DYNAMODB_ENDPOINT": *database.Client().Options().BaseEndpoint,
	}
	for name, value := range changes {
		env[name] = value
	}
	return func(name string) string { return env[name] }
}

func wired(t *testing.T, changes map[string]string) (*round, *bytes.Buffer) {
	t.Helper()
	c, err := readConfig(variables(changes))
	noError(t, err)
	var out bytes.Buffer
	r, err := wire(c, slog.New(slog.DiscardHandler), &out)
	noError(t, err)
	return r, &out
}

// The function as it is wired, over a chain: an event is on it, then for good.
func TestRound(t *testing.T) {
	binaries, err := engine.Install(t.Context(), filepath.Join("..", "..", ".local", "npm"))
	noError(t, err)
	folder := t.TempDir()
	ethereum, err := engine.Anvil(t.Context(), engine.AnvilConfig{Binary: binaries.Anvil, State: filepath.Join(folder, "anvil.json"), Log: filepath.Join(folder, "log")})
	noError(t, err)
	defer ethereum.Close()
	client, err := chain.New(chain.Config{Endpoints: []string{ethereum.URL}, ChainID: engine.ChainID, Now: time.Now})
	noError(t, err)
	publisher, err := tx.ParseLocalKey(stackfile.PublisherKey)
	noError(t, err)
	sender, err := tx.NewTransactor(tx.Config{Client: client, Signer: publisher, Poll: 10 * time.Millisecond})
	noError(t, err)
	address, _, err := sender.Deploy(t.Context(), contracts.Anchor.DeployData(publisher.Address()))
	noError(t, err)

	tenant, err := identity.OperatorTenant(strings.ToLower(rand.Text()))
	noError(t, err)
	event, err := journal.Parse(fmt.Appendf(nil, `{"id":"evt_1","tenant_id":%q,"action":"a","created_at":%q}`, tenant, time.Now().Add(-time.Hour).Format(time.RFC3339)))
	noError(t, err)
	_, err = (&journal.Journal{Store: database.Table()}).Append(t.Context(), tenant, []journal.Event{event})
	noError(t, err)

	away, out := wired(t, nil)
	_, err = away.handle(t.Context(), schedule{})
	if err == nil {
		t.Error("no error of a chain that is away")
	}
	if age := measured(t, out, "AnchorAge"); age < 3600 || age > 4000 {
		t.Errorf("age %d, want that of the event", age)
	}
	r, out := wired(t, map[string]string{"RPC_URLS": ethereum.URL, "ANCHOR_ADDRESS": address.String()})
	done, err := r.handle(t.Context(), schedule{})
	noError(t, err)
	equal(t, "published", done.Published, 1)
	equal(t, "age", measured(t, out, "AnchorAge"), 0)
	for end := time.Now().Add(time.Minute); done.Open > 0 && time.Now().Before(end); {
		done, err = r.handle(t.Context(), schedule{})
		noError(t, err)
	}
	equal(t, "final", done.Final, 1)
	answer, err := json.Marshal(done)
	noError(t, err)
	equal(t, "answer", string(answer), `{"planned":0,"published":0,"final":1,"replaced":0,"broken":0,"open":0}`)
}

// measured is a measure in what was printed, -1 when there is none.
func measured(t *testing.T, out *bytes.Buffer, name string) int {
	t.Helper()
	var line map[string]any
	if out.Len() == 0 {
		return -1
	}
	noError(t, json.NewDecoder(out).Decode(&line))
	n, ok := line[name].(float64)
	if !ok || line["FunctionName"] != "AnchorFunction" {
		t.Fatalf("no %s in %v", name, line)
	}
	return int(n)
}

// Without a look there is no age: an age of 0 would call off the alarm.
func TestTimeIsUp(t *testing.T) {
	r, out := wired(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), margin)
	defer cancel()
	if _, err := r.handle(ctx, schedule{}); err == nil {
		t.Error("no error")
	}
	equal(t, "age", measured(t, out, "AnchorAge"), -1)
}

// The publisher's key in KMS is asked for once, when it is first needed.
func TestKeyService(t *testing.T) {
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer server.Close()
	c, err := readConfig(variables(map[string]string{"PUBLISHER_KEY": "", "PUBLISHER_KEY_ID": "key-1", "KMS_ENDPOINT": server.URL}))
	noError(t, err)
	open, err := publisher(c)
	noError(t, err)
	equal(t, "calls before", calls, 0)
	if _, err := open(t.Context()); err == nil || !strings.Contains(err.Error(), "GetPublicKey") {
		t.Errorf("error %v", err)
	}
	equal(t, "calls", calls, 1)
}

func TestReadConfig(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "TABLE_NAME", "RPC_URLS", "CHAIN_ID", "ANCHOR_ADDRESS"} {
		_, err := readConfig(variables(map[string]string{name: ""}))
		if err == nil || err.Error() != "missing environment: "+name {
			t.Errorf("without %s: %v", name, err)
		}
	}
	for says, changes := range map[string]map[string]string{
		"missing environment: PUBLISHER_KEY_ID": {"PUBLISHER_KEY": ""}, "CHAIN_ID": {"CHAIN_ID": "x"}, "ANCHOR_ADDRESS": {"ANCHOR_ADDRESS": "0x1"},
	} {
		if _, err := readConfig(variables(changes)); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("error %v, want %s", err, says)
		}
	}
	c, err := readConfig(variables(map[string]string{"PUBLISHER_KEY": "0x1"}))
	noError(t, err)
	if _, err := wire(c, slog.New(slog.DiscardHandler), os.Stdout); err == nil || strings.Contains(err.Error(), "0x1") {
		t.Errorf("error %v", err)
	}
}
