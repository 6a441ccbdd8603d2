package policy_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/policy"
)

var update = flag.Bool("update", false, "write the verdicts anew")

// scenarios are proposals under a company's policy.
var scenarios = []struct {
	name    string
	outcome policy.Outcome
	change  change
}{
	{"a small payment to a trusted vendor", policy.Auto, nothing},
	{"as much as may go without asking", policy.Auto, pay("5000", "USD")},
	{"one cent more", policy.Confirm, pay("5000.01", "USD")},
	{"a very large payment", policy.Confirm, pay("61404.12", "USD")},
	{"the last that fits the day", policy.Auto, spent("24900", "USD")},
	{"the day is full", policy.Confirm, spent("24900.01", "USD")},
	{"a day nobody counted", policy.Reject, noPromised},
	{"another currency", policy.Reject, pay("10", "EUR")},
	{"somebody on no list", policy.Reject, counterparty(func(c *policy.Counterparty) { c.ID = "cp_new" })},
	{"a trusted vendor that is not verified", policy.Reject, counterparty(func(c *policy.Counterparty) { c.VerifiedStatus = "unverified" })},
	{"a vendor of whom nothing is known", policy.Reject, counterparty(func(c *policy.Counterparty) { c.VerifiedStatus = "" })},
	{"a blocked payee", policy.Reject, counterparty(func(c *policy.Counterparty) { c.ID = "cp_bad" })},
	{"an action about nobody", policy.Reject, facts(func(f *policy.Facts) { f.Class, f.Counterparty, f.Amount = policy.AgentAction, nil, nil })},
	{"an action", policy.Auto, facts(func(f *policy.Facts) {
		f.Class, f.Amount, f.Promised = policy.AgentAction, nil, promises{"agent 1h": int64(19)}
	})},
	{"an action too many", policy.Reject, facts(func(f *policy.Facts) {
		f.Class, f.Amount, f.Promised = policy.AgentAction, nil, promises{"agent 1h": int64(20)}
	})},
	{"a class without a rule", policy.Reject, facts(func(f *policy.Facts) { f.Class = policy.LedgerWrite })},
}

// TestGolden keeps whole verdicts, traces and reasons as they are: they are
// stored with decisions, and people read them. go test -update writes them anew.
func TestGolden(t *testing.T) {
	const file = "testdata/acme.verdicts.jsonl"
	raw := read(t, "acme.policy.json")
	d := parsed(t, string(raw))
	hash, err := policy.Hash(raw)
	noError(t, err)
	// Computed by another program, from sorted keys without white space.
	equal(t, "hash", hex.EncodeToString(hash[:]), "651174da1ab12f769286e9053e5756f5936d185c8f4042200f26567798b21536")
	for _, finding := range policy.Lint(d) {
		t.Errorf("lint: %s", text(t, finding))
	}

	var got []byte // a line for each
	for _, s := range scenarios {
		f := complete(t)
		s.change(t, &f)
		v := d.Evaluate(f)
		equal(t, s.name, v.Outcome, s.outcome)
		wellFormed(t, d, v)
		got = append(got, text(t, map[string]any{"name": s.name, "verdict": v})+"\n"...)
	}
	if *update {
		noError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	noError(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("the verdicts are not those of %s; see what changed with -update and git diff", file)
	}
}
