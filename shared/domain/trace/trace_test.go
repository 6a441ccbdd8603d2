package trace_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/trace"
)

const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestParse(t *testing.T) {
	for text, want := range map[string]trace.Parent{
		good: good,
		"01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more": "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		good + "-more": "", "": "", "00": "", strings.ToUpper(good): "", good + " ": "", strings.Replace(good, "00-", "ff-", 1): "",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01":  "",
		"00-4bf92f3577b34da6a3ce929d0e0e473x-00f067aa0ba902b7-01": "",
	} {
		if got := trace.Parse(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := trace.Parse(good).ID(); got != "4bf92f3577b34da6a3ce929d0e0e4736" {
		t.Errorf("the id is %s", got)
	}
}

func TestContext(t *testing.T) {
	if got := trace.From(t.Context()); got != "" || got.ID() != "" {
		t.Errorf("a context without a trace has %q", got)
	}
	if got := trace.From(trace.With(t.Context(), good)); got != good {
		t.Errorf("the context has %q", got)
	}
	if got := trace.From(trace.With(trace.With(t.Context(), good), "")); got != good {
		t.Errorf("no parent took the place of one: %q", got)
	}
}

// What is read is always of the one form, so that nothing of a caller gets into a
// log or an event by it.
func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x")
	form := regexp.MustCompile(`\A[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\z`)
	f.Fuzz(func(t *testing.T, text string) {
		if p := trace.Parse(text); p != "" && (!form.MatchString(string(p)) || !strings.HasPrefix(text, string(p)) || trace.Parse(string(p)) == "" && p[:2] == "00") {
			t.Errorf("%q is read as %q", text, p)
		}
	})
}
