package camt

import (
	"strconv"

	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/markup"
)

// maxNodes bounds what is kept of one entry or one payment of it. Texts are
// bounded by it and by the reader's own bound of each.
const (
	maxNodes = 4096
	maxBytes = 256 << 10
)

// tree is a small part of the document, such as an entry without its payments.
// It is filled, looked at and filled again, so that a file costs no garbage for
// each of its elements.
type tree struct {
	nodes []node
	buf   []byte
	text  string // buf, once it is complete: what is cut from it needs no copy
}

type node struct {
	name        string
	currency    string // the attribute Ccy
	from, to    int    // of its text
	first, last int    // children, 0 for none: the root is nobody's child
	next        int
	line, col   int
}

// reset empties the tree and plants a root.
func (t *tree) reset(name string, at statement.Place) {
	t.nodes, t.buf, t.text = append(t.nodes[:0], node{name: name, line: at.Line, col: at.Column}), t.buf[:0], ""
}

// add hangs the element that has just begun under the parent.
func (t *tree) add(parent int, tok *markup.Token) int {
	i := len(t.nodes)
	t.nodes = append(t.nodes, node{name: tok.Name, currency: tok.Attr("Ccy"), line: tok.At.Line, col: tok.At.Column})
	if p := &t.nodes[parent]; p.first == 0 {
		p.first, p.last = i, i
	} else {
		t.nodes[p.last].next = i
		p.last = i
	}
	return i
}

// write adds to an element's text. What stands between its children is
// formatting.
func (t *tree) write(i int, text []byte) {
	n := &t.nodes[i]
	if n.first != 0 {
		return
	}
	if n.to == 0 {
		n.from = len(t.buf)
	}
	t.buf = append(t.buf, text...)
	n.to = len(t.buf)
}

// grow reads the element of tok, which has just begun, to its end and hangs it
// under the parent.
func (p *parser) grow(t *tree, parent int, tok *markup.Token) error {
	from := p.xml.Depth()
	stack := append(p.stack[:0], t.add(parent, tok))
	defer func() { p.stack = stack[:0] }()
	for {
		if len(t.nodes) > maxNodes || len(t.buf) > maxBytes {
			return p.at(tok.At).Refuse("an entry has too much in it", "", "at most "+strconv.Itoa(maxNodes)+" elements", statement.Correct)
		}
		tok, err := p.xml.Next()
		if err != nil {
			return err
		}
		switch tok.Kind {
		case markup.Start:
			if tok.Space != p.space {
				if err := p.skip(); err != nil {
					return err
				}
				continue
			}
			stack = append(stack, t.add(stack[len(stack)-1], tok))
		case markup.Text:
			t.write(stack[len(stack)-1], tok.Text)
		case markup.End:
			if stack = stack[:len(stack)-1]; p.xml.Depth() < from {
				return nil
			}
		}
	}
}

// view is an element of a tree, or none: whatever is asked of none is empty.
type view struct {
	t *tree
	i int
}

// root completes the tree and returns its root.
func (t *tree) root() view {
	t.text = string(t.buf)
	return view{t, 0}
}

func (v view) ok() bool { return v.i >= 0 }

// get walks down by names, to the first child of each.
func (v view) get(names ...string) view {
	for _, name := range names {
		if v.i < 0 {
			return v
		}
		i := v.t.nodes[v.i].first
		for i != 0 && v.t.nodes[i].name != name {
			i = v.t.nodes[i].next
		}
		if i == 0 {
			i = -1
		}
		v.i = i
	}
	return v
}

// each calls do with the children of the name.
func (v view) each(name string, do func(view) error) error {
	if v.i < 0 {
		return nil
	}
	for i := v.t.nodes[v.i].first; i != 0; i = v.t.nodes[i].next {
		if v.t.nodes[i].name == name {
			if err := do(view{v.t, i}); err != nil {
				return err
			}
		}
	}
	return nil
}

// text is what stands in the element down those names, its blanks in order.
func (v view) text(names ...string) string {
	v = v.get(names...)
	if v.i < 0 {
		return ""
	}
	n := v.t.nodes[v.i]
	return statement.Blanks(v.t.text[n.from:n.to])
}

// place is where the element stands, under the path of what the tree is of.
func (v view) place(base statement.Place, names ...string) statement.Place {
	for _, name := range names {
		base = base.In(name)
		if v = v.get(name); v.i < 0 {
			return base
		}
		base.Line, base.Column = v.t.nodes[v.i].line, v.t.nodes[v.i].col
	}
	return base
}
