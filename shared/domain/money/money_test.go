package money_test

import (
	"errors"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/money"
)

// noError stops the test when err is not nil.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// equal reports a difference.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// fails reports an error that is not of the wanted kind.
func fails(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("error = %v, want %v", err, kind)
	}
}

// says reports an error whose message is not exactly the wanted one.
func says(t *testing.T, err error, message string) {
	t.Helper()
	if err == nil || err.Error() != message {
		t.Errorf("error = %v\n want %s", err, message)
	}
}

// amount is a signed amount written in a test.
func amount(t *testing.T, text, code string) money.Amount {
	t.Helper()
	a, err := money.ParseSigned(text, money.MustParse(code))
	noError(t, err)
	return a
}
