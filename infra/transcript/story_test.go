package main

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestStory: the transcript says what it promises: in its order, who is told
// what.
func TestStory(t *testing.T) {
	t.Chdir("../..")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	folder, err := os.MkdirTemp("", "transcript")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	var out strings.Builder
	if err := run(ctx, folder, &out); err != nil {
		t.Fatal(err)
	}
	rest := out.String()
	for _, want := range []string{
		`is pending_approval\. .*approver and approver`, `was proposed before`,
		`Finance agent: proposals\.decide .*\n  refused, HTTP 403 actor_unresolved`,
		`Vic, viewer: .*\n  refused: .*viewers decide nothing`,
		`Ben, .*\n  refused: The amount is over the member's limit`,
		`Ada, .*\n  Your decision is recorded\. .* is awaiting_second_approval`,
		`Ada, .*\n  refused: The member has approved this already`,
		`Dee, .*\n  Your decision is recorded\. .* is approved`,
		`Payables agent: .*4800\.00.*\n  .*is approved`, `Payables agent: .*4805\.00.*\n  .*is pending_approval\. .*window-full`,
		`cp_quantum_ledger.*\n  .*is rejected\. .*unverified`,
		`Proposal .* \(fraud_anomaly\) is pending_approval`, `is acknowledged`,
	} {
		at := regexp.MustCompile(want).FindStringIndex(rest)
		if at == nil {
			t.Fatalf("nothing says %s in\n%s", want, rest)
		}
		rest = rest[at[1]:]
	}
}
