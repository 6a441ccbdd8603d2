package main

import (
	"math/big"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// The demo's rollups are its rows; then one is not, and is made so again.
func TestRollups(t *testing.T) {
	says := func(want int, text string, args ...string) {
		t.Helper()
		code, out, errs := commandLine(t, append([]string{"rollups"}, args...)...)
		if code != want || !strings.Contains(out+errs, text) {
			t.Errorf("%v: exit %d, want %d and %q: %.500s%s", args, code, want, text, out, errs)
		}
	}
	says(exitOK, `"difference": null`, "check", "--tenant", "globex", "--json")
	says(exitOK, `"corrected": 0`, "rebuild", "--tenant", "globex", "--json")

	globex, err := identity.OperatorTenant("globex")
	if err != nil {
		t.Fatal(err)
	}
	target, err := (&call{env: func(string) string { return "" }}).connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	off := record.Add{Key: key.RollupMonth(globex, "2025-09", "USD", "outflow"), Deltas: map[string]*big.Int{ledger.RollupCount: big.NewInt(1)}}
	if err := target.store.Commit(t.Context(), record.Change{Adds: []record.Add{off}}); err != nil {
		t.Fatal(err)
	}
	says(exitFailed, "months 2025-09 USD outflow: the rows come to ", "check", "--tenant", "globex")
	says(exitFailed, `"rollup": "months 2025-09 USD outflow"`, "check", "--tenant", "globex", "--json")
	says(exitOK, "corrected        1", "rebuild", "--tenant", "globex")
	says(exitOK, "rollups", "check", "--tenant", "globex")
	says(exitOK, "transactions     0", "check", "--tenant", "nobody-yet")
	says(exitUsage, "--tenant", "check")
	says(exitUsage, "lower-case", "rebuild", "--tenant", "Acme")
}
