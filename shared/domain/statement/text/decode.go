package text

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// utf8 decodes what of b is whole, and returns how many bytes that is.
func (r *Reader) utf8(b []byte, last bool) int {
	good := validPrefix(b)
	if r.guess && !r.proven {
		r.proven = slices.IndexFunc(b[:good], func(c byte) bool { return c >= utf8.RuneSelf }) >= 0
	}
	if !r.put(b[:good]) {
		return len(b)
	}
	rest := b[good:]
	if len(rest) == 0 || !last && !utf8.FullRune(rest) {
		return good
	}
	if r.guess && !r.proven {
		r.guess, r.decode = false, (*Reader).singles
		return good + r.singles(rest, last)
	}
	r.problem = "a byte is no text in UTF-8"
	if r.proven && r.guess {
		r.problem = "a byte is no text in UTF-8, which the file is in before"
		r.charset = UTF8
	}
	return len(b)
}

// validPrefix is how many bytes of b are UTF-8.
func validPrefix(b []byte) int {
	if utf8.Valid(b) {
		return len(b)
	}
	n := 0
	for n < len(b) {
		c, size := utf8.DecodeRune(b[n:])
		if c == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// singles decodes a single-byte set.
func (r *Reader) singles(b []byte, _ bool) int {
	var whole []byte
	for _, c := range b {
		whole = utf8.AppendRune(whole, r.charset.table[c])
	}
	r.put(whole)
	return len(b)
}

// utf16 decodes pairs of bytes. A half of a surrogate pair becomes the
// replacement character, as everywhere.
func (r *Reader) utf16(b []byte, last, little bool) int {
	var whole []byte
	n := 0
	for ; n+1 < len(b); n += 2 {
		c := unit(b[n:], little)
		if utf16.IsSurrogate(c) {
			if n+3 >= len(b) && !last {
				break
			}
			if n+3 < len(b) {
				if pair := utf16.DecodeRune(c, unit(b[n+2:], little)); pair != utf8.RuneError {
					c, n = pair, n+2
				}
			}
		}
		whole = utf8.AppendRune(whole, c)
	}
	if !r.put(whole) {
		return len(b)
	}
	if last && n < len(b) {
		r.problem = "the last character is half there"
		return len(b)
	}
	return n
}

func unit(b []byte, little bool) rune {
	if little {
		return rune(b[0]) | rune(b[1])<<8
	}
	return rune(b[1]) | rune(b[0])<<8
}

// put adds decoded text, with its line breaks made one kind, and says whether
// all of it is text: a NUL is none, and ends what can be read.
func (r *Reader) put(b []byte) bool {
	nul := bytes.IndexByte(b, 0)
	if nul >= 0 {
		b = b[:nul]
	}
	for len(b) > 0 {
		if r.lastCR && b[0] == '\n' {
			b = b[1:]
		}
		r.lastCR = false
		i := bytes.IndexByte(b, '\r')
		if i < 0 {
			r.out = append(r.out, b...)
			break
		}
		r.out = append(append(r.out, b[:i]...), '\n')
		b, r.lastCR = b[i+1:], true
	}
	if nul >= 0 {
		r.problem = "a NUL byte stands among the text"
	}
	return nul < 0
}
