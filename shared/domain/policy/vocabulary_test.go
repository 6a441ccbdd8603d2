package policy_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/policy"
)

// written are the conditions as the document describes them.
func written(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/policy.md")
	noError(t, err)
	var names []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\|").FindAllStringSubmatch(string(raw), -1) {
		names = append(names, row[1])
	}
	return names
}

// TestVocabulary: the conditions that are described, that a rule can have, that
// Parse takes and that are judged are the same ones, in the same order.
func TestVocabulary(t *testing.T) {
	want := written(t)
	equal(t, "conditions described", len(want), 18)

	var members []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[policy.When]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		members = append(members, name)
	}
	same(t, "members of When", members, want)

	var when []string
	for _, name := range want {
		at := slices.IndexFunc(behaviours, func(b behaviour) bool { return b.name == name })
		if at < 0 {
			t.Fatalf("no test has %s", name)
		}
		when = append(when, `"`+name+`":`+behaviours[at].when)
	}
	v := parsed(t, document(rule("all", "auto", strings.Join(when, ",")))).Evaluate(complete(t))
	var judged []string
	for _, c := range v.Trace[0].Conditions {
		judged = append(judged, c.Condition)
	}
	same(t, "conditions judged", judged, want)

	_, err := policy.Parse([]byte(document(rule("r", "auto", `"amount":1`))))
	if err == nil || !strings.HasSuffix(err.Error(), "want one of "+strings.Join(want, ", ")) {
		t.Errorf("Parse names other conditions: %v", err)
	}
}
