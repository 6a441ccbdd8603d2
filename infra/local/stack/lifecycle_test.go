package stack_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// answer is what a call to the endpoint gives.
type answer struct {
	status int
	header http.Header
	body   struct {
		Result json.RawMessage
		Error  struct {
			Code int
			Data struct{ Code string }
		}
	}
}

// call makes one legacy request with a token of the stack.
func call(t *testing.T, holder, method string, params any) answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, running.File().MCPURL, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+running.File().Tokens[holder])
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: res.StatusCode, header: res.Header}
	if err := json.Unmarshal(raw, &a.body); err != nil {
		t.Fatalf("reply %q: %v", raw, err)
	}
	return a
}

func read(t *testing.T, holder, uri string) answer {
	t.Helper()
	return call(t, holder, "resources/read", map[string]string{"uri": uri})
}

const transaction = "brain://ledger/transactions/tx_4127"

// journal returns the outer events of calls that name a URI.
func journal(t *testing.T, uri string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, stackfile.Events))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"agent.mcp.`) && strings.Contains(line, `"uri":"`+uri+`"`) {
			found = append(found, line)
		}
	}
	return found
}

func TestOneEventPerRead(t *testing.T) {
	for _, uri := range []string{
		"brain://ledger/accounts/acct_event_1", // not there
		"brain://proofs/pi_event_2",
		"brain://ledger/payment-intents/pi_event_3",
	} {
		read(t, "agent", uri)
		if events := journal(t, uri); len(events) != 1 {
			t.Errorf("%s: %d events, want 1", uri, len(events))
		}
	}
}

func TestAnotherTenantLearnsNothing(t *testing.T) {
	for _, ids := range [][2]string{
		{"brain://ledger/transactions/tx_4127", "brain://ledger/transactions/tx_none"},
		{"brain://ledger/accounts/acct_8231", "brain://ledger/accounts/acct_none"},
		{"brain://ledger/obligations/obl_5521", "brain://ledger/obligations/obl_none"},
		{"brain://ledger/payment-intents/pi_a1b2c3", "brain://ledger/payment-intents/pi_none"},
		{"brain://wiki/pages/counterparties/cp_aws", "brain://wiki/pages/counterparties/cp_none"},
	} {
		foreign, missing := read(t, "other_tenant_agent", ids[0]), read(t, "other_tenant_agent", ids[1])
		if foreign.status != missing.status || foreign.body.Error.Data.Code != missing.body.Error.Data.Code || foreign.body.Error.Data.Code == "" {
			t.Errorf("%s: %d %s, a missing one %d %s", ids[0], foreign.status, foreign.body.Error.Data.Code, missing.status, missing.body.Error.Data.Code)
		}
	}
}

// A bus that refuses, is slow or takes half of what it gets must not lose an
// event nor a reply: what it does not take waits in the outbox.
func TestBusMisbehaves(t *testing.T) {
	bus := running.Bus()
	for _, fault := range []struct {
		name  string
		begin func()
		end   func()
	}{
		{"refuses", func() { bus.Refuse(-1) }, func() { bus.Refuse(0) }},
		{"is slow", func() { bus.Delay(200 * time.Millisecond) }, func() { bus.Delay(0) }},
		{"takes half", func() { bus.HalfAccept(true) }, func() { bus.HalfAccept(false) }},
	} {
		t.Run(fault.name, func(t *testing.T) {
			uri := "brain://ledger/accounts/acct_bus_" + strings.ReplaceAll(fault.name, " ", "_")
			fault.begin()
			defer fault.end()
			if a := read(t, "agent", uri); a.status != 200 || a.body.Error.Data.Code != "ledger_row_not_found" {
				t.Fatalf("status %d, code %s", a.status, a.body.Error.Data.Code)
			}
			if n := len(journal(t, uri)) + outbox(t, `"uri":"`+uri+`"`); n != 1 {
				t.Errorf("the event is kept %d times, want once", n)
			}
		})
	}
}

// A change, the event that tells of it and the event of the call that made it
// are one transaction: with the bus away both wait in the outbox, and neither
// waits for the other's luck.
func TestAChangeAndItsCallAreKeptTogether(t *testing.T) {
	running.Bus().Refuse(-1)
	defer running.Bus().Refuse(0)
	payload := "kept together " + time.Now().Format(time.RFC3339Nano)
	a := call(t, "agent", "tools/call", map[string]any{"name": "raw.contribute", "arguments": map[string]string{"payload": payload, "mime_type": "text/plain"}})
	if a.status != 200 || bytes.Contains(a.body.Result, []byte(`"isError":true`)) {
		t.Fatalf("status %d: %s", a.status, a.body.Result)
	}
	sum := sha256.Sum256([]byte(payload))
	hash := hex.EncodeToString(sum[:])
	if n := outbox(t, `"type":"raw.contributed"`, hash); n != 1 {
		t.Errorf("%d events of the artifact, want 1", n)
	}
	if n := outbox(t, `sha256:`+hash); n != 1 {
		t.Errorf("%d events of the call, want 1", n)
	}
	if n := outbox(t, "kept together"); n != 0 {
		t.Errorf("the payload stands in %d events", n)
	}
}

// The registry is the last word: an agent revoked there and nowhere else is
// served for a minute at most, from the moment the chain was last asked.
func TestRevokedOnTheChain(t *testing.T) {
	t.Parallel()
	if a := read(t, "agent_readonly", transaction); a.status != 200 {
		t.Fatalf("before: status %d", a.status)
	}
	if _, err := registryAdmin(t).RevokeAgent(t.Context(), identity.AgentHash("acme", "agt_readonly")); err != nil {
		t.Fatal(err)
	}
	revoked := time.Now()
	for {
		a := read(t, "agent_readonly", transaction)
		if a.status == http.StatusForbidden {
			if a.body.Error.Data.Code != "agent_not_registered_onchain" || a.header.Get("WWW-Authenticate") != "" {
				t.Errorf("code %s, challenge %q", a.body.Error.Data.Code, a.header.Get("WWW-Authenticate"))
			}
			return
		}
		if since := time.Since(revoked); since > 61*time.Second {
			t.Fatalf("still served %s after the revocation", since)
		}
		time.Sleep(500 * time.Millisecond) // an hour of a token's life and 600 requests a minute bound the loop
	}
}
