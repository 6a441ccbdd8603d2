package markup

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/statement"
)

// need is Ahead where the file must not end.
func (r *Reader) need(n int, at statement.Place) ([]byte, error) {
	b, err := r.text.Ahead(n)
	if errors.Is(err, io.EOF) {
		return nil, at.Refuse("the file ends inside what begins here", "", "the whole file", "It was cut off: export it again.")
	}
	return b, err
}

func (r *Reader) expect(c byte, at statement.Place) error {
	b, err := r.need(1, at)
	if err != nil {
		return err
	}
	if b[0] != c {
		return r.text.Place().Refuse("the element's tag is malformed", string(b[:1]), strconv.QuoteRune(rune(c)), statement.Correct)
	}
	r.text.Skip(1)
	return nil
}

// blanks consumes any of them. The end of the text is for who comes next.
func (r *Reader) blanks() error {
	for {
		b, err := r.text.Ahead(1)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		n := 0
		for n < len(b) && blank(b[n]) {
			n++
		}
		r.text.Skip(n)
		if n < len(b) {
			return nil
		}
	}
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// name consumes a name.
func (r *Reader) name(what string) (string, error) {
	at := r.text.Place()
	b, err := r.need(maxName+1, at)
	if err != nil {
		return "", err
	}
	n := 0
	for n < len(b) && nameByte(b[n], n == 0) {
		n++
	}
	switch {
	case n == 0:
		return "", at.Refuse("the markup is malformed", string(b[:1]), what, "A < in a text is written &lt;: export the file again.")
	case n > maxName:
		return "", at.Refuse("a name is too long", string(b[:n]), "at most "+strconv.Itoa(maxName)+" bytes", statement.Correct)
	}
	name := r.intern(b[:n])
	r.text.Skip(n)
	return name, nil
}

// nameByte leaves out what only other alphabets have in names: no bank's element
// has them.
func nameByte(c byte, first bool) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		return true
	case c >= '0' && c <= '9', c == '-', c == '.', c == ':':
		return !first
	}
	return false
}

// intern keeps one copy of each name. A file of names alone must not fill the
// memory, so there is an end to it.
func (r *Reader) intern(b []byte) string {
	if name, ok := r.names[string(b)]; ok {
		return name
	}
	name := string(b)
	if len(r.names) < maxNames {
		r.names[name] = name
	}
	return name
}

// characters reads text up to the next markup. Outside the root there are only
// blanks, and they are no token.
func (r *Reader) characters() error {
	at := r.token.At
	r.buf = r.buf[:0]
	for {
		b, err := r.text.Ahead(1)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err != nil || b[0] == '<' {
			break
		}
		if err := r.run(b, "<", at); err != nil {
			return err
		}
	}
	// One that came of escapes is refused with the others: nobody writes it.
	if bytes.Contains(r.buf, []byte("]]>")) {
		return at.Refuse("the text is malformed", "]]>", "]]&gt;", statement.Correct)
	}
	if len(r.open) > 0 {
		r.token.Kind, r.token.Text = Text, r.buf
		return nil
	}
	if text := bytes.TrimSpace(r.buf); len(text) > 0 {
		return at.Refuse("text stands outside the document", string(text), "an element, or the end of the file", statement.Correct)
	}
	return nil
}

// run consumes text from the window up to one of the stops, an escape included.
func (r *Reader) run(b []byte, stops string, at statement.Place) error {
	n := bytes.IndexAny(b, stops+"&")
	if n < 0 {
		n = len(b)
	}
	if err := r.keep(b[:n], at); err != nil {
		return err
	}
	r.text.Skip(n)
	if n < len(b) && b[n] == '&' {
		return r.escape()
	}
	return nil
}

// keep adds to the text that is being read.
func (r *Reader) keep(b []byte, at statement.Place) error {
	if len(r.buf)+len(b) > maxText {
		return at.Refuse("a text is too long", "", "at most "+strconv.Itoa(maxText)+" bytes", statement.Correct)
	}
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\t' {
			return at.Refuse("a control character stands in the text", strconv.Quote(string(rune(c))), "text", statement.Correct)
		}
	}
	if bytes.Contains(b, []byte("\xef\xbf\xbe")) || bytes.Contains(b, []byte("\xef\xbf\xbf")) {
		return at.Refuse("the text has a character that is none", "", "text", statement.Correct)
	}
	r.buf = append(r.buf, b...)
	return nil
}

// escapes are the entities of XML itself.
var escapes = map[string]rune{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

const maxEscape = 12

// escape consumes one, and keeps what it stands for.
func (r *Reader) escape() error {
	at := r.text.Place()
	b, err := r.need(maxEscape, at)
	if err != nil {
		return err
	}
	b = b[:min(len(b), maxEscape)]
	n := bytes.IndexByte(b, ';')
	if n < 0 {
		return at.Refuse("an & stands alone", string(b), "&amp;", statement.Correct)
	}
	c, ok := escapes[string(b[1:n])]
	if !ok {
		c, ok = numbered(string(b[1:n]))
	}
	if !ok {
		return at.Refuse("an entity is unknown", string(b[:n+1]), "&amp; &lt; &gt; &quot; &apos; or a character's number", statement.Correct)
	}
	r.text.Skip(n + 1)
	if len(r.buf)+utf8.UTFMax > maxText {
		return at.Refuse("a text is too long", "", "at most "+strconv.Itoa(maxText)+" bytes", statement.Correct)
	}
	r.buf = utf8.AppendRune(r.buf, c)
	return nil
}

// numbered reads #65 or #x41. Characters XML does not have are refused.
func numbered(text string) (rune, bool) {
	base := 10
	digits, ok := bytes.CutPrefix([]byte(text), []byte("#"))
	if !ok {
		return 0, false
	}
	if hex, ok := bytes.CutPrefix(digits, []byte("x")); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(string(digits), base, 32)
	c := rune(n)
	if err != nil || n > utf8.MaxRune || !utf8.ValidRune(c) || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0xfffe || c == 0xffff {
		return 0, false
	}
	return c, true
}

// quoted consumes an attribute's value.
func (r *Reader) quoted(at statement.Place) (string, error) {
	b, err := r.need(1, at)
	if err != nil {
		return "", err
	}
	quote := b[0]
	if quote != '"' && quote != '\'' {
		return "", r.text.Place().Refuse("an attribute's value is not quoted", string(b[:1]), "a quotation mark", statement.Correct)
	}
	r.text.Skip(1)
	r.buf = r.buf[:0]
	for {
		b, err := r.need(1, at)
		if err != nil {
			return "", err
		}
		switch b[0] {
		case quote:
			r.text.Skip(1)
			return r.intern(r.buf), nil
		case '<':
			return "", r.text.Place().Refuse("a < stands in an attribute", "", "&lt;", statement.Correct)
		}
		if err := r.run(b, string(rune(quote))+"<", at); err != nil {
			return "", err
		}
	}
}

// cdata consumes a section up to its end; it is text as it stands.
func (r *Reader) cdata() error {
	at := r.token.At
	r.buf = r.buf[:0]
	for {
		b, err := r.need(3, at)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(b, []byte("]]>")) {
			r.text.Skip(3)
			if len(r.open) == 0 {
				return at.Refuse("text stands outside the document", "", "an element, or the end of the file", statement.Correct)
			}
			r.token.Kind, r.token.Text = Text, r.buf
			return nil
		}
		n := bytes.IndexByte(b[1:], ']') + 1
		if n <= 0 {
			n = len(b)
		}
		if err := r.keep(b[:n], at); err != nil {
			return err
		}
		r.text.Skip(n)
	}
}

// skipComment consumes a comment. Two dashes end it or are an error, as XML has it.
func (r *Reader) skipComment() error {
	if err := r.skipPast("--", "a comment"); err != nil {
		return err
	}
	return r.expect('>', r.token.At)
}

// skipPast consumes everything up to and with the end.
func (r *Reader) skipPast(end, what string) error {
	for read := 0; read < maxProlog; {
		b, err := r.need(len(end), r.token.At)
		if err != nil {
			return err
		}
		if n := bytes.Index(b, []byte(end)); n >= 0 {
			r.text.Skip(n + len(end))
			return nil
		}
		n := max(1, len(b)-len(end)+1)
		r.text.Skip(n)
		read += n
	}
	return r.token.At.Refuse(what+" is too long", "", "at most "+strconv.Itoa(maxProlog)+" bytes", statement.Correct)
}
