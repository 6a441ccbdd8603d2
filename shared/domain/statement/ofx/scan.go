package ofx

import (
	"bytes"
	"errors"
	"html"
	"io"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/text"
)

// The bounds of a file. No bank's value comes near them.
const (
	maxTag   = 512      // of a tag with its attributes
	maxName  = 40       // of an element's name
	maxValue = 16 << 10 // of one value
	maxHead  = 64 << 10 // before <OFX>, and of a comment
)

// tag is an element's beginning or end.
type tag struct {
	name   string // in capitals, as OFX has them
	closes bool
	empty  bool // <NAME/>
	at     statement.Place
}

// scanner takes the text apart into tags and what follows them. It does not
// care whether the file is SGML or XML: banks close tags in the first and leave
// an ampersand alone in the second.
type scanner struct {
	text  *text.Reader
	names map[string]string
	buf   []byte
}

// next consumes up to and with the next tag and gives the text that stood before
// it. free says that the text may have a < in it that begins nothing. At the end
// of the file the error is io.EOF, and the text is what was left.
func (s *scanner) next(free bool) (value string, t tag, err error) {
	s.buf = s.buf[:0]
	for {
		b, err := s.text.Ahead(maxTag)
		if err != nil {
			return s.value(), tag{}, err
		}
		n := bytes.IndexByte(b, '<')
		if n != 0 {
			if n < 0 {
				n = len(b)
			}
			if err := s.keep(b[:n]); err != nil {
				return "", tag{}, err
			}
			continue
		}
		if len(b) > 1 && (b[1] == '!' || b[1] == '?') {
			if err := s.aside(b, free); err != nil {
				return "", tag{}, err
			}
			continue
		}
		t, n, ok := s.tag(b)
		if !ok || free && !s.begins(t, b[n:]) {
			if err := s.keep(b[:1]); err != nil {
				return "", tag{}, err
			}
			continue
		}
		s.text.Skip(n)
		return s.value(), t, nil
	}
}

// keep consumes text that is a value's.
func (s *scanner) keep(b []byte) error {
	if len(s.buf)+len(b) > maxValue {
		return s.text.Place().Refuse("a value is too long", "", "at most "+strconv.Itoa(maxValue)+" bytes", statement.Correct)
	}
	s.buf = append(s.buf, b...)
	s.text.Skip(len(b))
	return nil
}

// value is the text that was kept, its escapes undone and its blanks in order. An
// ampersand that begins no escape is one.
func (s *scanner) value() string {
	b := bytes.TrimSpace(s.buf)
	if len(b) == 0 {
		return ""
	}
	value := string(b)
	if strings.IndexByte(value, '&') >= 0 {
		value = unescape(value)
	}
	return statement.Blanks(value)
}

// unescape knows the escapes of XML and of OFX, and characters by number. What
// HTML has besides, such as &copy without its end, is text: a name of R&D
// Copy&copying must stay one.
func unescape(value string) string {
	var out strings.Builder
	for {
		n := strings.IndexByte(value, '&')
		if n < 0 {
			out.WriteString(value)
			return out.String()
		}
		out.WriteString(value[:n])
		value = value[n:]
		end := strings.IndexByte(value[:min(len(value), 12)], ';')
		if end > 1 && (value[1] == '#' || known[value[1:end]]) {
			out.WriteString(html.UnescapeString(value[:end+1]))
			value = value[end+1:]
			continue
		}
		out.WriteByte('&')
		value = value[1:]
	}
}

var known = map[string]bool{"amp": true, "lt": true, "gt": true, "quot": true, "apos": true, "nbsp": true}

// tag reads one at the start of b, and says how long it is.
func (s *scanner) tag(b []byte) (t tag, n int, ok bool) {
	t.at = s.text.Place()
	n = 1
	if n < len(b) && b[n] == '/' {
		t.closes = true
		n++
	}
	from := n
	for n < len(b) && nameByte(b[n], n == from) {
		n++
	}
	if n == from || n-from > maxName || n == len(b) {
		return t, 0, false
	}
	t.name = s.name(b[from:n])
	if b[n] == '>' {
		return t, n + 1, true
	}
	// Attributes and blanks; nothing of them is of use.
	if b[n] != ' ' && b[n] != '\n' && b[n] != '\t' && b[n] != '/' {
		return t, 0, false
	}
	end := bytes.IndexAny(b[n:], "<>")
	if end < 0 || b[n+end] == '<' {
		return t, 0, false
	}
	rest := bytes.TrimSpace(b[n : n+end])
	t.empty = bytes.HasSuffix(rest, []byte("/"))
	if len(rest) > 1 && !bytes.Contains(rest, []byte("=")) {
		return t, 0, false // words: "<3 units left>" is no tag
	}
	return t, n + end + 1, true
}

func nameByte(c byte, first bool) bool {
	switch {
	case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z':
		return true
	case c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		return !first
	}
	return false
}

// maxNames bounds how many names are kept: a file may have any number.
const maxNames = 1024

func (s *scanner) name(b []byte) string {
	if name, ok := s.names[string(b)]; ok {
		return name
	}
	name := strings.ToUpper(string(b))
	if len(s.names) < maxNames {
		s.names[string(b)] = name
	}
	return name
}

// begins says whether what looks like a tag within free text is one. A name OFX
// has is; one of a bank's own is where it begins a line, has a point in it, or
// has no blank next to it. "A <new> price" has one.
func (s *scanner) begins(t tag, behind []byte) bool {
	if elements[t.name] {
		return true
	}
	before := bytes.TrimRight(s.buf, " \t")
	if t.closes {
		return len(before) == 0
	}
	alone := len(before) == 0 || before[len(before)-1] == '\n'
	apart := len(before) != len(s.buf) || len(behind) > 0 && behind[0] == ' '
	return alone || strings.Contains(t.name, ".") || !apart
}

// aside consumes what begins with <! or <?: comments and instructions go,
// sections of characters are text, and a document type is refused.
func (s *scanner) aside(b []byte, free bool) error {
	at := s.text.Place()
	switch {
	case bytes.HasPrefix(b, []byte("<![CDATA[")):
		s.text.Skip(9)
		return s.past("]]>", at, true)
	case bytes.HasPrefix(b, []byte("<!--")):
		s.text.Skip(4)
		return s.past("-->", at, false)
	case bytes.HasPrefix(b, []byte("<?xml")), bytes.HasPrefix(b, []byte("<?OFX")):
		return s.past("?>", at, false)
	case free:
		return s.keep(b[:1])
	case bytes.HasPrefix(b, []byte("<?")):
		return s.past("?>", at, false)
	}
	return at.Refuse("a document type is declared", "", "a file without one", "Send the file as the bank gave it; nothing of it was stored.")
}

// past consumes up to and with the end. What it keeps is escaped once more, so
// that undoing the escapes of the value leaves it as it stood.
func (s *scanner) past(end string, at statement.Place, keep bool) error {
	for read := 0; read < maxHead; {
		b, err := s.text.Ahead(len(end))
		if errors.Is(err, io.EOF) {
			return at.Refuse("the file ends inside what begins here", "", end, "It was cut off: export it again.")
		}
		if err != nil {
			return err
		}
		n, done := bytes.Index(b, []byte(end)), true
		if n < 0 {
			n, done = max(1, len(b)-len(end)+1), false
		}
		if keep {
			s.buf = append(s.buf, bytes.ReplaceAll(b[:n], []byte("&"), []byte("&amp;"))...)
		}
		s.text.Skip(n)
		if done {
			s.text.Skip(len(end))
			return nil
		}
		read += n
	}
	return at.Refuse("what begins here has no end", "", end, statement.Correct)
}
