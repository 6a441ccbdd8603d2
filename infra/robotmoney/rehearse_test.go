package main

import (
	"testing"

	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// What was executed would be turned away by a policy that speaks of euros alone;
// nothing is changed by asking, a company without proposals has none, and another
// company's are not looked at.
func TestSimulateThePast(t *testing.T) {
	type simulated struct {
		Proposals []proposals.Rehearsed
		Changed   int
	}
	file := law(t, "9")
	past := must[simulated](t, "policy", "simulate", file, "--tenant", "acme", "--since", "2025-01-01")
	found := false
	for _, p := range past.Proposals {
		found = found || p.ID == "pi_a1b2c3"
		if p.ID == "pi_a1b2c3" && (p.Then == policy.Reject || p.Now != policy.Reject || !p.Changed()) {
			t.Errorf("%+v", p)
		}
	}
	if !found || past.Changed == 0 {
		t.Errorf("the executed payment is not among %d proposals, %d changed", len(past.Proposals), past.Changed)
	}
	if early := must[simulated](t, "policy", "simulate", file, "--tenant", "acme", "--since", "2024-01-01", "--until", "2024-02-01"); len(early.Proposals) != 0 {
		t.Errorf("%d proposals before there were any", len(early.Proposals))
	}
	must[any](t, "tenant", "create", "quietco")
	if none := must[simulated](t, "policy", "simulate", file, "--tenant", "quietco", "--since", "2025-01-01"); len(none.Proposals) != 0 {
		t.Errorf("a company without proposals has %d", len(none.Proposals))
	}
	refused(t, exitUsage, "YYYY-MM-DD", "policy", "simulate", file, "--tenant", "acme", "--since", "yesterday")
}
