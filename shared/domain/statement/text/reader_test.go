package text_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/statement/text"
)

func guess(s string) *text.Reader { return text.Guess(strings.NewReader(s), text.Windows1252) }

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func named(t *testing.T, name string) text.Charset {
	t.Helper()
	c, ok := text.Named(name)
	if !ok {
		t.Fatalf("%s is unknown", name)
	}
	return c
}

func TestDecoding(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
	}{
		{"ASCII", "a,b\n", "a,b\n"},
		{"UTF-8", "é€😀", "é€😀"},
		{"a mark", "\xef\xbb\xbfé", "é"},
		{"Windows 1252", "a\xe9b\x80\x93", "aéb€“"},
		{"a byte 1252 leaves open", "\x81\xe9", "\u0081é"},
		{"UTF-16 with a mark", "\xff\xfea\x00\xe9\x00", "aé"},
		{"the other end first", "\xfe\xff\x00a\x00\xe9", "aé"},
		{"UTF-16 without one", "a\x00b\x00", "ab"},
		{"the other end first without one", "\x00a\x00b", "ab"},
		{"a surrogate pair", "\xff\xfe\x3d\xd8\x00\xde", "😀"},
		{"half a pair", "\xff\xfe\x3d\xd8a\x00", "\ufffda"},
		{"line breaks", "a\r\nb\rc\nd\r\r\ne", "a\nb\nc\nd\n\ne"},
		{"nothing", "", ""},
		{"one byte", "x", "x"},
	} {
		for _, slow := range []bool{false, true} {
			var src io.Reader = strings.NewReader(c.in)
			if slow {
				src = iotest.OneByteReader(src)
			}
			got, err := io.ReadAll(text.Guess(src, text.Windows1252))
			if err != nil || string(got) != c.want {
				t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
			}
		}
	}
}

func TestExact(t *testing.T) {
	for name, want := range map[string]string{"ISO-8859-1": "€", "iso-8859-15": "\u0080", "CP850": "Ç", "windows-1251": "Ђ"} {
		got, err := io.ReadAll(text.Exact(strings.NewReader("\x80"), named(t, name)))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	got, err := io.ReadAll(text.Exact(strings.NewReader("plain"), named(t, "UTF-16")))
	if err != nil || string(got) != "plain" {
		t.Errorf("called UTF-16 and none: %q, %v", got, err)
	}
	if _, ok := text.Named("EBCDIC"); ok {
		t.Error("EBCDIC is known")
	}
	equal(t, "the zero set", text.Charset{}.String(), "UTF-8")
	equal(t, "a set", named(t, "8859-1").String(), "windows-1252")
}

// TestProblems: the error is at the byte, and comes after everything before it.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, in, before, want string }{
		{"a NUL", "ab\ncd\x00ef", "ab\ncd", "Line 2, column 3: a NUL byte stands among the text"},
		{"not UTF-8 any more", "é\n\xe9", "é\n", "Line 2, column 1: a byte is no text in UTF-8, which the file is in before"},
		{"after a mark", "\xef\xbb\xbfa\xe9", "a", "Line 1, column 2: a byte is no text in UTF-8"},
		{"half a character", "\xff\xfea\x00b", "a", "Line 1, column 2: the last character is half there"},
		{"a NUL in UTF-16", "\xff\xfea\x00\x00\x00", "a", "Line 1, column 2: a NUL byte"},
	} {
		got, err := io.ReadAll(guess(c.in))
		equal(t, c.name, string(got), c.before)
		if !fault.Is(err, fault.InvalidArgument) || !strings.HasPrefix(fault.Of(err).Message, c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

var errBroken = errors.New("the store does not answer")

// TestBrokenSource: what fails outside the file is no fault of the file's, so
// that it is tried again.
func TestBrokenSource(t *testing.T) {
	r := text.Guess(io.MultiReader(strings.NewReader("abcdef"), iotest.ErrReader(errBroken)), text.Windows1252)
	if line, err := r.Line(100); !errors.Is(err, errBroken) || fault.Is(err, fault.InvalidArgument) {
		t.Errorf("got %q, %v", line, err)
	}
}

func TestLines(t *testing.T) {
	r := guess("one\r\n\ntwo\n" + strings.Repeat("x", 100) + "\nlast")
	for i, want := range []string{"one", "", "two", strings.Repeat("x", 100), "last"} {
		equal(t, "line", r.Place().Line, i+1)
		line, err := r.Line(100)
		if err != nil || line != want {
			t.Errorf("got %q, %v, want %q", line, err, want)
		}
	}
	if _, err := r.Line(100); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	for _, long := range []string{strings.Repeat("x", 101), strings.Repeat("x", 101) + "\n", strings.Repeat("x", 1<<20)} {
		if _, err := guess("ok\n" + long).Line(100); err != nil {
			t.Errorf("the line before: %v", err)
		}
		r := guess(long)
		if line, err := r.Line(100); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("got %d bytes, %v", len(line), err)
		}
	}
}

// endless gives the same byte for ever and counts how often it is asked.
type endless struct{ reads int }

func (e *endless) Read(p []byte) (int, error) {
	e.reads++
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestEndlessLine: a line without an end is refused after little of it.
func TestEndlessLine(t *testing.T) {
	src := &endless{}
	if _, err := text.Guess(src, text.Windows1252).Line(64 << 10); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("got %v", err)
	}
	if src.reads > 8 {
		t.Errorf("%d reads", src.reads)
	}
}

// FuzzReader: what comes out is UTF-8 without NUL and carriage returns, however
// the source cuts it.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{"a\r\nb", "\xff\xfea\x00", "é\xe9", "\xef\xbb\xbf", "\x00a", "\xe9\xc3"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := io.ReadAll(guess(string(in)))
		if !utf8.Valid(got) || strings.ContainsAny(string(got), "\x00") || strings.ContainsAny(string(got), "\r") {
			t.Errorf("got %q", got)
		}
		if err != nil && !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("got %v", err)
		}
		slow, errSlow := io.ReadAll(text.Guess(iotest.OneByteReader(strings.NewReader(string(in))), text.Windows1252))
		if string(slow) != string(got) || (err == nil) != (errSlow == nil) {
			t.Errorf("byte by byte: %q, %v; at once %q, %v", slow, errSlow, got, err)
		}
	})
}
