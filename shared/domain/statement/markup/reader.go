// Package markup reads XML token by token: elements, attributes, text. It is the
// part of XML that bank files use, strictly read, in memory that does not grow
// with the file: no document types, no entities but the five of XML and
// characters by number, bounded names, texts and nesting.
//
// encoding/xml would do all of it but the bounds, and takes two to three seconds
// for a statement of 100,000 entries before anybody has looked at one. The tests
// hold this reader against it.
package markup

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/text"
)

// The bounds of a file. A statement comes nowhere near them.
const (
	maxDepth  = 48
	maxName   = 128
	maxAttrs  = 64
	maxText   = 64 << 10 // of one attribute or run of text
	maxNames  = 2048     // different names that are kept
	maxProlog = 64 << 10 // of one comment or processing instruction
)

// Kind says what a token is.
type Kind uint8

// The kinds of tokens.
const (
	Start Kind = iota + 1
	End
	Text
)

// Token is a part of the file. It is valid until the next one is read.
type Token struct {
	Kind  Kind
	Space string // of a Start or End: its namespace, empty for none
	Name  string // without the prefix
	Text  []byte
	Attrs []Attr          // without the declarations of namespaces
	At    statement.Place // without a path
}

// Attr is an attribute, its prefix dropped.
type Attr struct{ Name, Value string }

// Attr returns an attribute's value, empty when there is none.
func (t *Token) Attr(name string) string {
	for _, a := range t.Attrs {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Reader reads the tokens of one file.
type Reader struct {
	text  *text.Reader
	open  []element
	bound []binding
	attrs []Attr
	buf   []byte
	names map[string]string
	token Token
	done  bool // the root element has ended
	begun bool
	ended bool // a Start was of the form <a/>, so its End comes next
}

type element struct {
	full  string // as written, with the prefix
	space string
	name  string
	bound int // how many bindings were there before it
}

type binding struct{ prefix, space string }

// New reads the XML of a text.
func New(t *text.Reader) *Reader {
	return &Reader{text: t, names: map[string]string{}}
}

// Depth is how many elements are open.
func (r *Reader) Depth() int { return len(r.open) }

// Next returns the next token: io.EOF after the root element, an error with a
// fault.Code for what is no such XML.
func (r *Reader) Next() (*Token, error) {
	r.token.Kind, r.token.At = 0, r.text.Place()
	if r.ended {
		r.ended = false
		r.pop()
		return &r.token, nil
	}
	for {
		b, err := r.text.Ahead(1)
		switch {
		case errors.Is(err, io.EOF):
			return nil, r.finish()
		case err != nil:
		case b[0] == '<':
			err = r.markup()
		default:
			err = r.characters()
		}
		if err != nil {
			return nil, err
		}
		if r.token.Kind != 0 {
			return &r.token, nil
		}
		r.token.At = r.text.Place()
	}
}

// finish is what the end of the file means.
func (r *Reader) finish() error {
	at := r.token.At
	switch {
	case len(r.open) > 0:
		return at.Refuse("the file ends inside <"+r.open[len(r.open)-1].full+">", "", "the whole file", "It was cut off: export it again.")
	case !r.begun:
		return at.Refuse("there is no element", "", "an XML document", statement.Correct)
	}
	return io.EOF
}

// markup reads what begins with <. Where it was of no use it leaves no token.
func (r *Reader) markup() error {
	b, err := r.text.Ahead(9)
	if err != nil {
		return err
	}
	switch {
	case len(b) > 1 && b[1] == '/':
		r.text.Skip(2)
		return r.endTag()
	case bytes.HasPrefix(b, []byte("<!--")):
		r.text.Skip(4)
		return r.skipComment()
	case bytes.HasPrefix(b, []byte("<![CDATA[")):
		r.text.Skip(9)
		return r.cdata()
	case bytes.HasPrefix(b, []byte("<?")):
		r.text.Skip(2)
		if _, err := r.name("an instruction's name"); err != nil {
			return err
		}
		return r.skipPast("?>", "a processing instruction")
	case bytes.HasPrefix(b, []byte("<!")):
		return r.token.At.Refuse("a document type is declared", "", "XML without one", "Send the file as the bank gave it; nothing of it was stored.")
	}
	r.text.Skip(1)
	return r.startTag()
}

func (r *Reader) startTag() error {
	at := r.token.At
	if r.done {
		return at.Refuse("a second root element begins", "", "the end of the file", "Send each document in a file of its own.")
	}
	full, err := r.name("an element's name")
	if err != nil {
		return err
	}
	if len(r.open) >= maxDepth {
		return at.Refuse("elements are nested too deeply", "", "at most "+strconv.Itoa(maxDepth)+" levels", statement.Correct)
	}
	e := element{full: full, bound: len(r.bound)}
	if err := r.attributes(at); err != nil {
		return err
	}
	r.begun = true
	if e.space, e.name, err = r.resolve(full, at); err != nil {
		return err
	}
	r.open = append(r.open, e)
	r.token.Kind, r.token.Space, r.token.Name, r.token.Attrs = Start, e.space, e.name, r.attrs
	return nil
}

func (r *Reader) endTag() error {
	at := r.token.At
	full, err := r.name("an element's name")
	if err != nil {
		return err
	}
	if err := r.blanks(); err != nil {
		return err
	}
	if err := r.expect('>', at); err != nil {
		return err
	}
	if len(r.open) == 0 || r.open[len(r.open)-1].full != full {
		want := "no closing element"
		if len(r.open) > 0 {
			want = "</" + r.open[len(r.open)-1].full + ">"
		}
		return at.Refuse("an element is closed that is not open", "</"+full+">", want, statement.Correct)
	}
	r.pop()
	return nil
}

// pop ends the innermost element.
func (r *Reader) pop() {
	e := r.open[len(r.open)-1]
	r.open, r.bound = r.open[:len(r.open)-1], r.bound[:e.bound]
	r.done = len(r.open) == 0
	r.token.Kind, r.token.Space, r.token.Name, r.token.Attrs = End, e.space, e.name, nil
}

// attributes reads them up to the end of the start tag.
func (r *Reader) attributes(at statement.Place) error {
	r.attrs = r.attrs[:0]
	for {
		before := r.text.Place()
		if err := r.blanks(); err != nil {
			return err
		}
		apart := r.text.Place() != before
		b, err := r.need(2, at)
		if err != nil {
			return err
		}
		switch {
		case b[0] == '>':
			r.text.Skip(1)
			return nil
		case b[0] == '/' && len(b) > 1 && b[1] == '>':
			r.text.Skip(2)
			r.ended = true
			return nil
		case !apart:
			return r.text.Place().Refuse("the element's tag is malformed", "", "a blank, > or />", statement.Correct)
		}
		if err := r.attribute(at); err != nil {
			return err
		}
	}
}

func (r *Reader) attribute(at statement.Place) error {
	full, err := r.name("an attribute's name")
	if err != nil {
		return err
	}
	if err := r.blanks(); err != nil {
		return err
	}
	if err := r.expect('=', at); err != nil {
		return err
	}
	if err := r.blanks(); err != nil {
		return err
	}
	value, err := r.quoted(at)
	if err != nil {
		return err
	}
	if len(r.attrs)+len(r.bound) >= maxAttrs {
		return at.Refuse("an element has too many attributes", "", "at most "+strconv.Itoa(maxAttrs), statement.Correct)
	}
	prefix, local, _ := cutName(full)
	switch {
	case full == "xmlns":
		r.bound = append(r.bound, binding{space: r.intern([]byte(value))})
		return nil
	case prefix == "xmlns":
		r.bound = append(r.bound, binding{prefix: local, space: r.intern([]byte(value))})
		return nil
	}
	for _, a := range r.attrs {
		if a.Name == local {
			return at.Refuse("an attribute is there twice", full, "each attribute once", statement.Correct)
		}
	}
	r.attrs = append(r.attrs, Attr{Name: local, Value: value})
	return nil
}

// resolve splits a name and finds the namespace its prefix stands for.
func (r *Reader) resolve(full string, at statement.Place) (space, name string, err error) {
	prefix, name, prefixed := cutName(full)
	for i := len(r.bound) - 1; i >= 0; i-- {
		if r.bound[i].prefix == prefix {
			return r.bound[i].space, name, nil
		}
	}
	if prefixed {
		return "", "", at.Refuse("a prefix stands for no namespace", full, "xmlns:"+prefix+" on this element or around it", statement.Correct)
	}
	return "", name, nil
}

func cutName(full string) (prefix, name string, ok bool) {
	for i := range len(full) {
		if full[i] == ':' && i > 0 && i < len(full)-1 {
			return full[:i], full[i+1:], true
		}
	}
	return "", full, false
}
