package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

var errCause = errors.New("dial tcp 10.0.0.7: refused")

func TestOf(t *testing.T) {
	refused := fault.New(fault.RateLimited, "Wait %d s.", 3)
	for name, c := range map[string]struct {
		err     error
		code    fault.Code
		message string
	}{
		"itself":           {refused, fault.RateLimited, "Wait 3 s."},
		"wrapped":          {fmt.Errorf("admit: %w", refused), fault.RateLimited, "Wait 3 s."},
		"joined":           {errors.Join(errCause, refused), fault.RateLimited, "Wait 3 s."},
		"with a cause":     {fault.Because(errCause, fault.Conflict, "Again."), fault.Conflict, "Again."},
		"the outer of two": {fault.Because(refused, fault.Conflict, "Again."), fault.Conflict, "Again."},
		"unknown":          {errCause, fault.Internal, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := fault.Of(c.err)
			equal(t, "code", got.Code, c.code)
			equal(t, "is", fault.Is(c.err, c.code), true)
			equal(t, "is another", fault.Is(c.err, fault.ProofNotFound), false)
			if c.message != "" {
				equal(t, "message", got.Message, c.message)
			}
		})
	}
	equal(t, "nothing is internal", fault.Is(nil, fault.Internal), false)
}

// What the caller is told of an unknown error tells nothing of it; the log gets
// it.
func TestUnknownErrors(t *testing.T) {
	got := fault.Of(errCause)
	if strings.Contains(got.Message, "10.0.0.7") || got.Details != nil || got.Extra != nil {
		t.Errorf("the caller is told: %+v", got)
	}
	if !errors.Is(got, errCause) || !strings.Contains(got.Error(), "10.0.0.7") {
		t.Errorf("the log is not told: %v", got)
	}
}

// Each copy carries more; the one it was made from is as before.
func TestCopies(t *testing.T) {
	base := fault.New(fault.AuthScopeInsufficient, "No.")
	one := base.With("required", "wiki:read")
	two := one.With("held", "none").Naming("uri", "brain://x").After(7)
	equal(t, "details of the base", len(base.Details), 0)
	equal(t, "details of the first copy", len(one.Details), 1)
	equal(t, "details of the second", len(two.Details), 2)
	equal(t, "extra of the first", len(one.Extra), 0)
	equal(t, "extra of the second", two.Extra["uri"], any("brain://x"))
	equal(t, "wait of the first", one.Retry, 0)
	equal(t, "wait of the second", two.Retry, 7)
	equal(t, "code", two.Code, fault.AuthScopeInsufficient)
	other := one.With("required", "audit:read")
	equal(t, "detail of the first", one.Details["required"], any("wiki:read"))
	equal(t, "detail of its copy", other.Details["required"], any("audit:read"))
}

func TestText(t *testing.T) {
	equal(t, "without a cause", fault.New(fault.Conflict, "Again.").Error(), "conflict: Again.")
	equal(t, "with a cause", fault.Because(errors.New("x"), fault.Conflict, "Again.").Error(), "conflict: Again.: x")
}
