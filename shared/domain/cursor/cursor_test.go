package cursor_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/cursor"
	"github.com/robotmoney/mcp/shared/domain/fault"
)

func sealer(key string) cursor.Sealer {
	return cursor.Sealer{Key: func(context.Context) ([]byte, error) { return []byte(key), nil }}
}

var (
	ours    = sealer(strings.Repeat("k", 32))
	binding = []string{"acme", "ledger.transactions.list", `{"direction":"outflow"}`}
)

const position = "2025-09-30#tx_4127"

func seal(t *testing.T, s cursor.Sealer, position string, binding ...string) string {
	t.Helper()
	text, err := s.Seal(t.Context(), position, binding...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func refused(t *testing.T, what, text string, binding ...string) {
	t.Helper()
	if got, err := ours.Open(t.Context(), text, binding...); !fault.Is(err, fault.InvalidArgument) || got != "" {
		t.Errorf("%s: %q, %v", what, got, err)
	}
}

func TestOpen(t *testing.T) {
	for _, want := range []string{"x", position, "café#cp_1", "a\x00b", "\xff\xfe", strings.Repeat("é", 512)} {
		for _, bound := range [][]string{nil, {""}, binding} {
			text := seal(t, ours, want, bound...)
			if len(text) > cursor.MaxText || strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
				t.Errorf("the cursor %q, %d bytes", text, len(text))
			}
			got, err := ours.Open(t.Context(), text, bound...)
			if err != nil || got != want {
				t.Errorf("%q bound to %q: %q, %v", want, bound, got, err)
			}
			if text != seal(t, ours, want, bound...) {
				t.Error("two cursors of one place differ")
			}
		}
	}
}

// A cursor is good for the tenant, the tool and the filters it was made for.
// No other binding comes to the same, however its parts are cut.
func TestBinding(t *testing.T) {
	text := seal(t, ours, position, binding...)
	for what, other := range map[string][]string{
		"another tenant":     {"globex", binding[1], binding[2]},
		"another tool":       {"acme", "ledger.obligations.list", binding[2]},
		"another filter":     {"acme", binding[1], `{"direction":"inflow"}`},
		"no filter":          {"acme", binding[1]},
		"one more":           {"acme", binding[1], binding[2], ""},
		"another order":      {binding[1], "acme", binding[2]},
		"parts run together": {strings.Join(binding, "")},
		"nothing":            nil,
	} {
		refused(t, what, text, other...)
	}
	refused(t, "cut elsewhere", seal(t, ours, position, "a", "bc"), "ab", "c")
	refused(t, "cut elsewhere", seal(t, ours, position, "a,b"), "a", "b")
	refused(t, "cut elsewhere", seal(t, ours, position, `a","b`), "a", "b")
	refused(t, "cut at a zero", seal(t, ours, position, "a\x00b"), "a", "b")
	refused(t, "cut at a length", seal(t, ours, position, "a\x01b"), "a", "b")
	refused(t, "not UTF-8", seal(t, ours, position, "\xff"), "\xfe")
	refused(t, "not UTF-8", seal(t, ours, position, "\xff"), "\ufffd")
	// The position is not the binding's first part either.
	moved := seal(t, ours, "x", "y")
	raw, err := base64.RawURLEncoding.DecodeString(moved)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, "position and binding swapped", base64.RawURLEncoding.EncodeToString(append(raw[:16:16], "y"...)), "x")
}

// Every bit of a cursor matters, and so does its length.
func TestAltered(t *testing.T) {
	for _, place := range []string{position, "\xff"} {
		text := seal(t, ours, place, binding...)
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		for at := range raw {
			for bit := range 8 {
				other := bytes.Clone(raw)
				other[at] ^= 1 << bit
				refused(t, "a bit turned", base64.RawURLEncoding.EncodeToString(other), binding...)
			}
		}
		for n := range len(text) {
			refused(t, "cut short", text[:n], binding...)
			refused(t, "a letter taken out", text[:n]+text[n+1:], binding...)
			refused(t, "a line break put in", text[:n]+"\n"+text[n:], binding...)
		}
	}
	text := seal(t, ours, position, binding...)
	refused(t, "another key", seal(t, sealer(strings.Repeat("K", 32)), position, binding...), binding...)
	for _, other := range []string{
		"", " ", text + "=", text + "A", text + "\n", " " + text, strings.ToUpper(text), "bogus", position, "é", "\xff",
		strings.Repeat("A", 22), strings.Repeat("A", cursor.MaxText), strings.Repeat("A", 1<<20),
		strings.NewReplacer("-", "+", "_", "/").Replace(seal(t, ours, "\xff\xef\xbe", binding...)) + "+",
	} {
		refused(t, "nobody's", other, binding...)
	}
}

// The last letter of a cursor carries bits that stand for nothing; they must be
// zero, or several texts would be one cursor.
func TestOneTextEach(t *testing.T) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for _, place := range []string{"x", "xy", "xyz"} {
		text := seal(t, ours, place)
		for _, letter := range alphabet {
			if other := text[:len(text)-1] + string(letter); other != text {
				refused(t, "another last letter", other)
			}
		}
	}
}

func TestKeyAway(t *testing.T) {
	away := errors.New("away")
	s := cursor.Sealer{Key: func(context.Context) ([]byte, error) { return nil, away }}
	if _, err := s.Seal(t.Context(), position); !errors.Is(err, away) {
		t.Errorf("seal: %v", err)
	}
	if _, err := s.Open(t.Context(), seal(t, ours, position)); !errors.Is(err, away) {
		t.Errorf("open: %v", err)
	}
	// What cannot be a cursor is refused without asking for the key.
	if _, err := s.Open(t.Context(), "bogus"); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("open: %v", err)
	}
}

// Only what Seal made opens, and to what it was made of.
func FuzzOpen(f *testing.F) {
	for _, place := range []string{position, "x", "\xff"} {
		text, err := ours.Seal(f.Context(), place, binding...)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "acme", "ledger.transactions.list")
	}
	f.Add("bogus", "", "")
	f.Fuzz(func(t *testing.T, text, one, two string) {
		place, err := ours.Open(t.Context(), text, one, two)
		if err != nil {
			if !fault.Is(err, fault.InvalidArgument) {
				t.Fatalf("%q: %v", text, err)
			}
		} else if text != seal(t, ours, place, one, two) {
			t.Fatalf("%q opens to %q and was not made of it", text, place)
		}
		if text == "" {
			return
		}
		made := seal(t, ours, text, one, two)
		if got, err := ours.Open(t.Context(), made, one, two); len(text) <= 1024 && (err != nil || got != text) {
			t.Fatalf("%q comes back as %q, %v", text, got, err)
		}
		if _, err := ours.Open(t.Context(), made, one+two, ""); two != "" && err == nil {
			t.Fatalf("a cursor of %q, %q is one of %q, %q", one, two, one+two, "")
		}
	})
}
