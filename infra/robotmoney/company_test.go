package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
)

// must runs a command that has to succeed and decodes what it prints as JSON.
func must[T any](t *testing.T, args ...string) (out T) {
	t.Helper()
	code, text, errs := commandLine(t, append(args, "--json")...)
	if code != exitOK {
		t.Fatalf("robotmoney %s: exit %d: %s", strings.Join(args, " "), code, errs)
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("robotmoney %s: %v in %s", strings.Join(args, " "), err, text)
	}
	return out
}

// refused runs a command that has to fail, with what it must say.
func refused(t *testing.T, want int, says string, args ...string) {
	t.Helper()
	if code, _, errs := commandLine(t, args...); code != want || !strings.Contains(errs, says) {
		t.Errorf("robotmoney %s: exit %d, want %d: %s", strings.Join(args, " "), code, want, errs)
	}
}

const lawText = `{
  "version": %, "lists": {},
  "rules": [
    {"id": "small", "applies_to": ["outbound_payment"], "execute": "auto", "when": {"amount.lte": {"amount": "100.00", "currency": "EUR"}}},
    {"id": "large", "applies_to": ["outbound_payment"], "execute": "confirm", "require": ["admin"], "when": {"amount.gt": {"amount": "100.00", "currency": "EUR"}}}
  ]
}`

// law writes a policy of a version into a folder of the test's own.
func law(t *testing.T, version string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(path, []byte(strings.Replace(lawText, "%", version, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCompany takes a company from nothing to a policy in force, an agent with a
// key that reads, and people who may approve.
func TestCompany(t *testing.T) {
	const company = "newco"
	must[any](t, "tenant", "create", company, "--time-zone", "Europe/Berlin", "--second-above", "5000EUR")
	refused(t, exitFailed, "already", "tenant", "create", company)
	refused(t, exitUsage, "time zone", "tenant", "create", "other", "--time-zone", "Mars/Olympus")

	must[any](t, "agent", "register", "agt_new", "--tenant", company, "--name", "New agent", "--role", "treasury", "--scopes", "ledger:read,wiki:read", "--created-by", "mbr_zoe")
	refused(t, exitFailed, "already", "agent", "register", "agt_new", "--tenant", company, "--name", "New agent", "--scopes", "ledger:read,wiki:read")
	refused(t, exitFailed, "another registration", "agent", "register", "agt_new", "--tenant", company, "--name", "New agent", "--scopes", "ledger:read")
	refused(t, exitFailed, "deciding is for people", "agent", "register", "agt_bad", "--tenant", company, "--name", "Bad", "--scopes", "payment_intent:approve")
	if v := must[view](t, "agent", "show", "agt_new"); !v.Onchain.ScopesMatch || !v.Onchain.TenantMatches || v.Record.CreatedBy != "mbr_zoe" {
		t.Errorf("agt_new: %+v", v)
	}
	key := must[struct{ Key string }](t, "key", "create", "agt_new", "--scopes", "ledger:read")
	if status, code := readAs(t, "X-Agent-API-Key", key.Key); status != 200 || code != "ledger_row_not_found" {
		t.Errorf("a read of another company's row with the new key: %d %s", status, code)
	}
	refused(t, exitFailed, "not granted", "key", "create", "agt_new", "--scopes", "raw:write")

	must[any](t, "member", "add", "mbr_zoe", "--tenant", company, "--name", "Zoe", "--role", "admin", "--domains", "ap,treasury", "--limit", "10000EUR,5USDC")
	must[any](t, "member", "set", "mbr_zoe", "--tenant", company, "--limit", "500EUR", "--second-above", "100EUR")
	members := must[[]identity.MemberRecord](t, "member", "list", "--tenant", company)
	if len(members) != 1 || len(members[0].Limits) != 1 || members[0].Limits[0].Amount != "500.00" || members[0].SecondApprover.Amount != "100.00" || len(members[0].Domains) != 2 {
		t.Errorf("members %+v", members)
	}
	refused(t, exitFailed, "already", "member", "add", "mbr_zoe", "--tenant", company, "--name", "Zoe", "--role", "admin")
	refused(t, exitFailed, "role", "member", "set", "mbr_zoe", "--tenant", company, "--role", "king")
	refused(t, exitUsage, "amount", "member", "set", "mbr_zoe", "--tenant", company, "--limit", "1.001EUR")
}

// TestPolicy signs and activates a policy; an older one, an unsigned one and one
// that another company signed are refused.
func TestPolicy(t *testing.T) {
	must[any](t, "tenant", "create", "lawco")
	refused(t, exitFailed, "has no policy", "policy", "show", "--tenant", "lawco")
	first := law(t, "3")
	refused(t, exitFailed, "policy sign", "policy", "activate", first, "--tenant", "lawco")
	must[any](t, "policy", "sign", first, "--tenant", "lawco")
	must[any](t, "policy", "activate", first, "--tenant", "lawco")
	if shown := must[struct{ Version int }](t, "policy", "show", "--tenant", "lawco"); shown.Version != 3 {
		t.Errorf("version %d is in force", shown.Version)
	}
	older := law(t, "2")
	must[any](t, "policy", "sign", older, "--tenant", "lawco")
	refused(t, exitFailed, "only grow", "policy", "activate", older, "--tenant", "lawco")
	foreign := law(t, "4")
	must[any](t, "policy", "sign", foreign, "--tenant", "acme")
	refused(t, exitFailed, "no signature", "policy", "activate", foreign, "--tenant", "lawco")

	verdict := must[struct {
		Outcome string
		Matched []string `json:"matched_rules"`
	}](t, "policy", "simulate", first, "--amount", "100.01", "--currency", "EUR", "--counterparty", "cp_x")
	if verdict.Outcome != "confirm" || len(verdict.Matched) != 1 || verdict.Matched[0] != "large" {
		t.Errorf("100.01 EUR: %+v", verdict)
	}
	bad := law(t, `1, "surprise": true`)
	refused(t, exitFailed, "surprise", "policy", "lint", bad)
}

// TestIntentTurns: an operator turns only what can be turned.
func TestIntentTurns(t *testing.T) {
	refused(t, exitFailed, "executed", "intent", "pause", "pi_a1b2c3", "--tenant", "acme")
	refused(t, exitFailed, "no such payment intent", "intent", "pause", "pi_a1b2c3", "--tenant", "globex")
}
