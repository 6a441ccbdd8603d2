package main

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
)

// The measures of a drawing: two columns that can be read on a telephone.
const (
	boxWidth, boxHeight = 165, 26
	column              = 175 // from one box to the one beside it
	rise                = 46  // from one row to the one above it
	width               = column + boxWidth
)

// drawPath draws the way from a leaf up to its root: on the left the nodes that
// are made, on the right those the path gives. It is empty for an event without
// an anchor.
func drawPath(e claim.Event) (template.HTML, error) {
	if e.Anchor == nil {
		return "", nil
	}
	nodes, err := climb(e)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	bottom := rise*(len(nodes)-1) + 1
	fmt.Fprintf(&b, `<svg role="img" viewBox="-1 0 %d %d"><title>The way of entry %d to its root</title>`, width+2, bottom+boxHeight+1, e.Seq)
	y := bottom
	box := func(class string, x int, label, hash string) {
		text := template.HTMLEscapeString(label + " " + shorten(hash))
		fmt.Fprintf(&b, `<g class="%s"><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="5"/><text x="%d" y="%d">%s</text></g>`,
			class, template.HTMLEscapeString(hash), x, y, boxWidth, boxHeight, x+8, y+17, text)
	}
	box("leaf", 0, "leaf", e.Leaf)
	if len(nodes) == 2 && len(e.Path) == 0 { // the leaf's own node is the root
		fmt.Fprintf(&b, `<path d="M%d %d v%d"/>`, boxWidth/2, y, boxHeight-rise)
	}
	for i, beside := range e.Path {
		fmt.Fprintf(&b, `<path d="M%d %d v%d m0 %d H%d v%d"/>`, boxWidth/2, y, boxHeight-rise, (rise-boxHeight)/2, column+boxWidth/2, (rise-boxHeight)/2)
		b.WriteString(`<g class="step">`)
		box("given", column, "beside it", beside)
		b.WriteString(`</g>`)
		y -= rise
		if i < len(e.Path)-1 {
			box("made", 0, fmt.Sprintf("node %d", i+1), nodes[i+1])
		}
	}
	y = 1
	box("root", 0, "root", e.Anchor.Root)
	b.WriteString(`</svg>`)
	return template.HTML(b.String()), nil // every text in it is escaped
}

// climb are the nodes on the left, from the leaf up to the root. The proof was
// verified before; that these lead to its root is looked at all the same.
func climb(e claim.Event) ([]string, error) {
	leaf, err := identity.ParseHash(e.Leaf)
	if err != nil {
		return nil, fmt.Errorf("read the leaf: %w", err)
	}
	node, nodes := identity.Keccak(append([]byte{0}, leaf[:]...)), []string{e.Leaf}
	for _, text := range e.Path {
		beside, err := identity.ParseHash(text)
		if err != nil {
			return nil, fmt.Errorf("read the path: %w", err)
		}
		low, high := node, beside
		if bytes.Compare(low[:], high[:]) > 0 {
			low, high = high, low
		}
		node = identity.Keccak(append(append([]byte{1}, low[:]...), high[:]...))
		nodes = append(nodes, node.String())
	}
	if len(e.Path) == 0 {
		nodes = append(nodes, node.String())
	}
	if nodes[len(nodes)-1] != e.Anchor.Root {
		return nil, fmt.Errorf("the path does not lead to the root")
	}
	return nodes, nil
}

// shorten is a hash as it fits into a box.
func shorten(hash string) string {
	if len(hash) < 12 {
		return hash
	}
	return hash[:6] + "…" + hash[len(hash)-4:]
}
