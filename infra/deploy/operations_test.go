// Package deploy_test holds what an operator sees against what there is: the
// alarms and the dashboard of template.yaml, the runbook, and the metrics that the
// functions write.
package deploy_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func text(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// found are the first groups of what a pattern finds, sorted, each once.
func found(pattern, in string) []string {
	var all []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(in, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// differ reports what is in one list and not in the other.
func differ(t *testing.T, what string, have, want []string) {
	t.Helper()
	for _, name := range want {
		if !slices.Contains(have, name) {
			t.Errorf("%s: %s is missing", what, name)
		}
	}
}

// Every alarm is in the runbook, and the runbook speaks of no other.
func TestRunbookHasEveryAlarm(t *testing.T) {
	alarms, told := found(`(?m)^  (\w+Alarm):$`, text(t, "template.yaml")), found("`(\\w+Alarm)`", text(t, "docs/runbook.md"))
	if len(alarms) < 10 {
		t.Fatalf("%d alarms are found: the test looks in the wrong place", len(alarms))
	}
	differ(t, "docs/runbook.md", told, alarms)
	differ(t, "template.yaml", alarms, told)
}

// Whatever is left in a queue of dead letters raises an alarm.
func TestEveryDeadLetterRaisesAnAlarm(t *testing.T) {
	template := text(t, "template.yaml")
	alarmed := found(`Name: QueueName, Value: !GetAtt (\w+)\.QueueName`, template)
	differ(t, "an alarm", alarmed, found(`(?m)^  (\w+DeadLetters):$`, template))
}

// emitted are the metrics of our own that the functions write.
func emitted(t *testing.T) []string {
	t.Helper()
	var code strings.Builder
	for _, folder := range []string{"functions", "shared"} {
		err := filepath.WalkDir(filepath.Join("../..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(path)
			code.Write(raw)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return append(found(`[mM]eter\.\w+\("([\w.]+)"`, code.String()), found(`Alarm\w+ += "(\w+)"`, code.String())...)
}

// traffic is what is counted of work that goes well too: none of it is wrong by
// itself.
var traffic = []string{"mcp.server.operation.duration", "Payments", "Files", "RowsEntered", "EventsEntered", "PagesRendered"}

// An alarm or a graph of a metric that nobody writes would be silent for ever, and
// one that nobody looks at is written in vain.
func TestMetricsAreLookedAt(t *testing.T) {
	template := text(t, "template.yaml")
	alarmed := found(`Namespace: RobotMoney\s+MetricName: (\w+)`, template)
	shown := found(`\["RobotMoney", "([\w.]+)"`, template)
	written := emitted(t)
	if len(written) < 5 {
		t.Fatalf("the functions write %v: the test looks in the wrong place", written)
	}
	differ(t, "the functions' metrics", written, append(slices.Clone(alarmed), shown...))
	differ(t, "the dashboard", shown, written)
	differ(t, "the alarms", append(alarmed, traffic...), written)
}
