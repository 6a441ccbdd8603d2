package verdict_test

import (
	"testing"

	"github.com/robotmoney/mcp/infra/clients/verdict"
)

const printed = `
=== Running scenario: ping ===

=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tools-call-image: 1 passed, 1 failed
✓ warns: 1 passed, 0 failed
✗ extra: 0 passed, 1 failed

Total: 4 passed, 2 failed

` + "\x1b[33mExpected failures (in baseline):\x1b[0m" + `
  ~ tools-call-image:some-check
`

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name     string
		output   string
		required []string
		ok       bool
		want     verdict.Verdict
	}{
		{"what is not required does not count", printed, []string{"ping", "tools-call-image"}, true, verdict.Verdict{Passed: 1, Expected: 1}},
		{"a failure without an entry", printed, []string{"ping", "extra"}, false, verdict.Verdict{Passed: 1, Failed: 1}},
		{"a scenario that did not run", printed, []string{"ping", "gone"}, true, verdict.Verdict{Passed: 1, Failed: 1}},
		{"a warning or a stale entry", printed, []string{"ping", "warns"}, false, verdict.Verdict{Passed: 1, Failed: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := verdict.Read(c.output, c.required, c.ok)
			got.Report = ""
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
	if _, err := verdict.Read("a crash", []string{"ping"}, false); err == nil {
		t.Error("a crash is no verdict")
	}
}

func TestRequired(t *testing.T) {
	names, err := verdict.Required("Required:\n\nServer scenarios (x):\n  - ping\n  - tools-list\n\nClient scenarios (y):\n  - initialize\n")
	if err != nil || len(names) != 2 || names[1] != "tools-list" {
		t.Errorf("%q, %v", names, err)
	}
	if _, err := verdict.Required("unknown revision"); err == nil {
		t.Error("an empty list is no list")
	}
}
