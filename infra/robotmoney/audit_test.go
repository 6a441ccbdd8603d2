package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// A journal that is sound, exported and walked again, and then one with an entry
// taken out.
func TestAuditCheck(t *testing.T) {
	const name = "audit-check"
	c := &call{env: func(string) string { return "" }}
	target, err := c.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tenant, err := identity.OperatorTenant(name)
	if err != nil {
		t.Fatal(err)
	}
	var events []journal.Event
	for n := range 250 {
		event, err := journal.Parse(fmt.Appendf(nil, `{"id":"evt_%03d","tenant_id":%q,"action":"raw.contributed"}`, n, name))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	if _, err := (&journal.Journal{Store: target.roster.Store}).Append(t.Context(), tenant, events); err != nil {
		t.Fatal(err)
	}
	exported := filepath.Join(t.TempDir(), "journal")
	says := func(want int, text string, args ...string) string {
		t.Helper()
		code, out, errs := commandLine(t, append(args, "--tenant", name)...)
		if code != want || !strings.Contains(out+errs, text) {
			t.Errorf("%v: exit %d, want %d and %q: %.500s%s", args, code, want, text, out, errs)
		}
		return out
	}
	says(exitOK, `"entries": 250`, "audit", "check", "--json")
	lines := says(exitOK, `,"seq":249}`, "audit", "export")
	if err := os.WriteFile(exported, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	says(exitOK, "250", "audit", "check", "--file", exported)
	if err := os.WriteFile(exported, []byte(strings.Replace(lines, "raw.", "Raw.", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	says(exitFailed, "edit at 0", "audit", "check", "--file", exported)
	says(exitFailed, "no such file", "audit", "check", "--file", exported+"x")
	if err := target.roster.Store.Commit(t.Context(), record.Change{Deletes: []key.Key{key.JournalEntry(tenant, 123)}}); err != nil {
		t.Fatal(err)
	}
	says(exitFailed, "gap at 123", "audit", "check")
	says(exitFailed, `"kind": "gap"`, "audit", "check", "--json")
	says(exitFailed, "no entry 123", "audit", "export")
}

func TestAuditUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"audit", "check"}, exitUsage, "--tenant"},
		{[]string{"audit", "check", "--tenant", "Acme"}, exitUsage, "lower-case"},
		{[]string{"audit", "export", "--tenant", "nobody-yet"}, exitOK, ""},
		{[]string{"audit", "check", "--tenant", "nobody-yet"}, exitOK, "entries          0"},
		{[]string{"audit", "check", "--help"}, exitOK, "first fault"},
	} {
		code, out, errs := commandLine(t, c.args...)
		if code != c.code || !strings.Contains(out+errs, c.says) {
			t.Errorf("%v: exit %d, want %d and %q: %s%s", c.args, code, c.code, c.says, out, errs)
		}
	}
}
