package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/local/client"
	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// TestMain runs the commands as an operator does: in the folder of a running
// stack, with no environment.
func TestMain(m *testing.M) {
	code, err := inStack(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func inStack(m *testing.M) (int, error) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		return 1, err
	}
	folder, err := os.MkdirTemp("", "robotmoney")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	running, err := stack.Start(ctx, stack.Options{Repo: repo, Folder: folder})
	if err != nil {
		return 1, err
	}
	defer running.Close()
	if err := os.Chdir(folder); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// command runs one command line.
func commandLine(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, &stdout, &stderr, func(string) string { return "" })
	return code, stdout.String(), stderr.String()
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "agent revoke"},
		{[]string{"--help"}, exitOK, "agent revoke"},
		{[]string{"fly"}, exitUsage, "Commands:"},
		{[]string{"agent", "show"}, exitUsage, "want 1 argument"},
		{[]string{"agent", "show", "--help"}, exitOK, "registration on the chain"},
		{[]string{"agent", "show", "a", "b"}, exitUsage, "got 2"},
		{[]string{"token", "--nonsense"}, exitUsage, "flags are not understood"},
		{[]string{"token"}, exitUsage, "--principal is missing"},
		{[]string{"token", "--principal", "agt_finance", "--scopes", "ledger:write"}, exitUsage, "unknown scope"},
		{[]string{"token", "--principal", "agt_nobody"}, exitFailed, "agent_not_registered"},
		{[]string{"agent", "show", "agt_nobody"}, exitFailed, "There is no agent"},
		{[]string{"smoke", "--url", "nowhere"}, exitUsage, "no URL"},
	} {
		code, out, errs := commandLine(t, c.args...)
		if code != c.code || !strings.Contains(out+errs, c.says) {
			t.Errorf("%q: exit %d, %q, want exit %d and %q", c.args, code, out+errs, c.code, c.says)
		}
	}
}

// read asks the endpoint for a transaction with a token and returns the status
// and the code of a refusal.
func read(t *testing.T, token string) (int, string) {
	t.Helper()
	return readAs(t, "Authorization", "Bearer "+token)
}

// readAs is read with a credential in a header.
func readAs(t *testing.T, header, credential string) (int, string) {
	t.Helper()
	file, err := stackfile.Read(".")
	if err != nil {
		t.Fatal(err)
	}
	reply, err := client.Client{URL: file.MCPURL, Header: http.Header{http.CanonicalHeaderKey(header): {credential}}}.Call(t.Context(), "resources/read", map[string]any{"uri": "brain://ledger/transactions/tx_4127"})
	if err != nil {
		t.Fatal(err)
	}
	if reply.Error == nil {
		return reply.Status, ""
	}
	return reply.Status, reply.Error.Data.Code
}

func TestToken(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []string
		status int
		code   string
	}{
		{"an agent with its grant", []string{"--principal", "agt_finance"}, 200, ""},
		{"an agent with fewer scopes", []string{"--principal", "agt_finance", "--scopes", "wiki:read"}, 403, "auth_scope_insufficient"},
		{"a member", []string{"--principal", "mbr_vic"}, 200, ""},
		{"a member of another tenant", []string{"--principal", "mbr_vic", "--tenant", "globex"}, 403, "actor_unresolved"},
		{"one that lives too long", []string{"--principal", "agt_finance", "--ttl", "2h"}, 401, "auth_token_invalid"},
		{"one that has expired", []string{"--principal", "agt_finance", "--ttl", "-5m"}, 401, "auth_token_expired"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := commandLine(t, append([]string{"token"}, c.args...)...)
			if code != exitOK {
				t.Fatalf("exit %d: %s", code, errs)
			}
			if status, refused := read(t, strings.TrimSpace(out)); status != c.status || refused != c.code {
				t.Errorf("status %d and code %q, want %d and %q", status, refused, c.status, c.code)
			}
		})
	}
}

// The life of an agent: quarantined and let act again, then revoked on the
// chain, for good.
func TestAgentLife(t *testing.T) {
	for _, step := range []struct {
		command string
		code    int
		status  string
		onchain bool // registered and not revoked
	}{
		{"show", exitOK, "active", true},
		{"quarantine", exitOK, "quarantined", true},
		{"quarantine", exitOK, "quarantined", true}, // the same again changes nothing
		{"activate", exitOK, "active", true},
		{"revoke", exitOK, "revoked", false},
		{"revoke", exitOK, "revoked", false},
		{"activate", exitFailed, "", false},
		{"show", exitOK, "revoked", false},
	} {
		code, out, errs := commandLine(t, "agent", step.command, "--json", "agt_globex")
		if code != step.code {
			t.Fatalf("%s: exit %d, want %d: %s", step.command, code, step.code, errs)
		}
		if step.code != exitOK {
			if !strings.Contains(errs, "revoked and cannot become active") {
				t.Errorf("%s: %s", step.command, errs)
			}
			continue
		}
		var shown view
		if err := json.Unmarshal([]byte(out), &shown); err != nil {
			t.Fatalf("%s: %v: %s", step.command, err, out)
		}
		if string(shown.Record.Status) != step.status || shown.Onchain.Registered != step.onchain || !shown.Onchain.ScopesMatch || !shown.Onchain.TenantMatches {
			t.Errorf("%s: %+v", step.command, shown)
		}
	}
	journal, err := os.ReadFile(stackfile.Events)
	if err != nil {
		t.Fatal(err)
	}
	for action, want := range map[string]int{"agent.quarantined": 1, "agent.activated": 1, "agent.revoked": 1} {
		if got := bytes.Count(journal, []byte(`"detail-type":"`+action+`"`)); got != want {
			t.Errorf("%d events %s, want %d", got, action, want)
		}
	}
}

func TestSmoke(t *testing.T) {
	code, out, errs := commandLine(t, "smoke")
	if code != exitOK || strings.Count(out, "ok ") != 6 {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	file, err := stackfile.Read(".")
	if err != nil {
		t.Fatal(err)
	}
	// A deployment that tells clients of another URL than they typed.
	code, out, _ = commandLine(t, "smoke", "--json", "--url", strings.Replace(file.MCPURL, "127.0.0.1", "localhost", 1))
	if code != exitFailed || !strings.Contains(out, `"ok": false`) {
		t.Errorf("exit %d: %s", code, out)
	}
}
