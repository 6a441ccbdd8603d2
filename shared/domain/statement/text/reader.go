// Package text turns a file's bytes into UTF-8 with one kind of line break, and
// knows the line and column of each byte. It takes UTF-8, UTF-16 and the
// single-byte sets of old exports, with or without a byte-order mark, and holds
// a window of the file whatever the file's size.
package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/robotmoney/mcp/shared/domain/statement"
)

// chunk is how many bytes of the file are read at a time.
const chunk = 32 << 10

// Reader gives a file's text. It is not safe for use by two goroutines.
type Reader struct {
	src     io.Reader
	raw     []byte // read and not decoded: the start of a character
	out     []byte // decoded
	pos     int    // what of out is consumed
	err     error  // why there is no more than out
	problem string // what is wrong with the bytes after out, instead of err

	decode  func(*Reader, []byte, bool) int
	charset Charset
	guess   bool // charset is what to fall back to from UTF-8
	proven  bool // a character of several bytes was UTF-8
	started bool
	lastCR  bool

	line, column int
}

// Guess reads UTF-8 until a byte shows that it is none, and the fallback from
// there on. Only the first byte above 127 decides: a file that was UTF-8 once
// and is not later is broken. For files that say nothing, or often something
// wrong, of their encoding.
func Guess(src io.Reader, fallback Charset) *Reader {
	return &Reader{src: src, charset: fallback, guess: fallback.table != nil, line: 1, column: 1}
}

// Exact reads the charset, whatever comes. A byte-order mark is believed before it.
func Exact(src io.Reader, c Charset) *Reader {
	return &Reader{src: src, charset: c, line: 1, column: 1}
}

// Place is where the next byte stands.
func (r *Reader) Place() statement.Place { return statement.Place{Line: r.line, Column: r.column} }

// Ahead returns the text from here on, without consuming it: at least n bytes,
// fewer only when the text ends sooner, and an error when there is none. The
// error is io.EOF at the end, has a fault.Code when the bytes are no text, and
// is any other when the file cannot be read. The bytes are valid until the next
// call.
func (r *Reader) Ahead(n int) ([]byte, error) {
	for len(r.out)-r.pos < n && r.err == nil && r.problem == "" {
		r.fill()
	}
	if r.pos < len(r.out) {
		return r.out[r.pos:], nil
	}
	switch {
	case r.problem != "":
		return nil, r.Place().Refuse(r.problem, "", "text in "+r.charset.String(),
			"Save the file as UTF-8; nothing of it was stored.")
	case r.err != nil && !errors.Is(r.err, io.EOF):
		return nil, fmt.Errorf("read the file: %w", r.err)
	}
	return nil, io.EOF
}

// Skip consumes n bytes of what Ahead returned.
func (r *Reader) Skip(n int) {
	passed := r.out[r.pos : r.pos+n]
	r.pos += n
	if i := bytes.LastIndexByte(passed, '\n'); i >= 0 {
		r.line += bytes.Count(passed, newline)
		r.column = len(passed) - i
		return
	}
	r.column += n
}

var newline = []byte{'\n'}

// Line consumes a line and returns it without its end. A line of more than limit
// bytes is refused without being read.
func (r *Reader) Line(limit int) (string, error) {
	for n := 1; ; n = min(2*n, limit+1) {
		b, err := r.Ahead(n)
		if err != nil {
			return "", err
		}
		i := bytes.IndexByte(b, '\n')
		switch {
		case i > limit || i < 0 && len(b) > limit:
			return "", r.Place().Refuse("the line is too long", "", fmt.Sprintf("at most %d bytes in a line", limit), statement.Correct)
		case i < 0 && len(b) >= n:
			n = len(b)
			continue // there may be more of it
		case i < 0:
			return r.last(b)
		}
		line := string(b[:i])
		r.Skip(i + 1)
		return line, nil
	}
}

// last consumes the line that the text ends in. Where the bytes go wrong in it
// it is not whole, and must not be taken for that.
func (r *Reader) last(b []byte) (string, error) {
	line := string(b)
	r.Skip(len(b))
	if _, err := r.Ahead(1); !errors.Is(err, io.EOF) {
		return "", err
	}
	return line, nil
}

// Read gives the text as an io.Reader does, for readers that want one.
func (r *Reader) Read(p []byte) (int, error) {
	b, err := r.Ahead(1)
	if err != nil {
		return 0, err
	}
	n := copy(p, b)
	r.Skip(n)
	return n, nil
}

// fill decodes the next chunk of the file.
func (r *Reader) fill() {
	r.out = append(r.out[:0], r.out[r.pos:]...)
	r.pos = 0
	kept := len(r.raw)
	r.raw = append(r.raw, make([]byte, chunk)...)
	n, err := r.src.Read(r.raw[kept:])
	r.raw = r.raw[:kept+n]
	if err == nil && n == 0 {
		return
	}
	if !r.started {
		if len(r.raw) < 4 && err == nil {
			return // too little to see a byte-order mark
		}
		r.start()
	}
	used := r.decode(r, r.raw, err != nil)
	r.raw = append(r.raw[:0], r.raw[used:]...)
	if r.problem == "" {
		r.err = err
	}
}

// start decides how to decode, from the first bytes.
func (r *Reader) start() {
	r.started = true
	little, skip := true, 0
	b := append(r.raw[:len(r.raw):len(r.raw)], 1, 1, 1) // no byte of a mark
	switch {
	case b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf:
		r.charset, r.guess, skip = UTF8, false, 3
	case b[0] == 0xff && b[1] == 0xfe:
		r.charset, skip = sets["utf16"], 2
	case b[0] == 0xfe && b[1] == 0xff:
		r.charset, little, skip = sets["utf16"], false, 2
	case b[0] == 0 && b[1] != 0:
		r.charset, little = sets["utf16"], false
	case b[0] != 0 && b[1] == 0:
		r.charset = sets["utf16"]
	case r.charset.wide:
		// A name in the file's own text says UTF-16, and the bytes are not.
		r.charset = UTF8
	}
	r.raw = r.raw[skip:]
	switch {
	case r.charset.wide:
		r.guess = false
		r.decode = func(r *Reader, b []byte, last bool) int { return r.utf16(b, last, little) }
	case r.charset.table != nil && !r.guess:
		r.decode = (*Reader).singles
	default:
		r.decode = (*Reader).utf8
	}
}
