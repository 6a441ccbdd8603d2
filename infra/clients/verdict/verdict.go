// Package verdict reads what the conformance package prints.
package verdict

import (
	"errors"
	"regexp"
	"strings"
)

// Verdict counts the scenarios a revision requires. One with a check that the
// baseline excuses counts as expected.
type Verdict struct {
	Passed, Failed, Expected int
	Report                   string // what the suite says of failures; empty without any
}

var (
	color    = regexp.MustCompile("\x1b\\[[0-9;]*m")
	listed   = regexp.MustCompile(`(?m)^  - ([a-z0-9-]+)$`)
	scenario = regexp.MustCompile(`(?m)^([✓✗]) ([a-z0-9-]+): \d+ passed, \d+ failed`)
	excused  = regexp.MustCompile(`(?m)^  ~ ([a-z0-9-]+)`)
)

// Read counts what the suite printed about the scenarios that are required. ok
// is whether the suite itself was content: it also fails on a warning that the
// baseline does not name and on a baseline entry that passes.
func Read(output string, required []string, ok bool) (Verdict, error) {
	_, summary, found := strings.Cut(color.ReplaceAllString(output, ""), "=== SUMMARY ===")
	if !found {
		return Verdict{}, errors.New("the suite printed no summary")
	}
	passed, expected := map[string]bool{}, map[string]bool{}
	for _, m := range scenario.FindAllStringSubmatch(summary, -1) {
		passed[m[2]] = m[1] == "✓"
	}
	for _, m := range excused.FindAllStringSubmatch(summary, -1) {
		expected[m[1]] = true
	}
	var v Verdict
	for _, name := range required {
		switch {
		case expected[name]:
			v.Expected++
		case passed[name]:
			v.Passed++
		default: // failed, or never ran
			v.Failed++
		}
	}
	if !ok && v.Failed == 0 {
		v.Passed, v.Failed = v.Passed-1, 1
	}
	if v.Failed > 0 {
		v.Report = summary
	}
	return v, nil
}

// Required reads the suite's list of what a revision requires of a server. It
// also names what is required of clients, after that.
func Required(output string) ([]string, error) {
	_, list, _ := strings.Cut(color.ReplaceAllString(output, ""), "Server scenarios")
	list, _, _ = strings.Cut(list, "Client scenarios")
	var names []string
	for _, m := range listed.FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	if len(names) == 0 {
		return nil, errors.New("the suite listed no scenario")
	}
	return names, nil
}
