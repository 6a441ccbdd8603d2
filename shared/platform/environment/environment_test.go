package environment_test

import (
	"fmt"
	"testing"

	"github.com/robotmoney/mcp/shared/platform/environment"
)

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func of(variables map[string]string) *environment.Reader {
	return environment.From(func(name string) string { return variables[name] })
}

func TestMissing(t *testing.T) {
	all := of(map[string]string{"A": "1", "B": "2"})
	equal(t, "A", all.Need("A"), "1")
	equal(t, "B", all.Need("B"), "2")
	equal(t, "C", all.Get("C"), "")
	equal(t, "missing", all.Missing(), error(nil))

	some := of(map[string]string{"B": "2"})
	some.Need("A")
	some.Need("B")
	some.Get("C")
	some.Need("D")
	equal(t, "missing", some.Missing(), "missing environment: A, D")
}

func TestList(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, " ": nil, ",": nil, "a": {"a"}, "a,b": {"a", "b"}, " a , ,b,": {"a", "b"},
	} {
		got := environment.List(text)
		equal(t, fmt.Sprintf("list of %q", text), got, want)
		equal(t, fmt.Sprintf("length of %q", text), len(got), len(want))
	}
}
