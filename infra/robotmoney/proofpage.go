package main

import (
	"context"
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/proof/claim"
)

//go:embed proof.html
var proofText string

// proofTemplate is the page of a proof: one file that loads nothing.
var proofTemplate = template.Must(template.New("proof").Funcs(template.FuncMap{
	"json": func(v any) (string, error) {
		text, err := json.Marshal(v)
		return string(text), err
	},
}).Parse(proofText))

// drawnEvent is an event as the page shows it.
type drawnEvent struct {
	claim.Event
	Action, At, Actor, Where string
	Drawing                  template.HTML
}

// proofHTML prints a proof as a page for a person, after checking it.
func proofHTML(ctx context.Context, c *call) error {
	p, err := c.openProof(ctx)
	if err != nil {
		return err
	}
	page := struct {
		claim.Proof
		Entries []drawnEvent
	}{Proof: p}
	for _, e := range p.AuditEvents {
		entry, err := claim.Open(e.Preimage)
		if err != nil {
			return err
		}
		d := drawnEvent{Event: e, Where: anchorWords(e.Anchor), Drawing: drawPath(e)}
		d.Action, _ = entry.Event["action"].(string)
		d.At, _ = entry.Event["created_at"].(string)
		if actor, ok := entry.Event["actor"].(map[string]any); ok {
			d.Actor = fmt.Sprintf("%v %v", actor["type"], actor["id"])
		}
		page.Entries = append(page.Entries, d)
	}
	return proofTemplate.Execute(c.out, page)
}

// drawPath draws the way from a leaf up to its root: on the left the nodes that
// are made, on the right those the path gives.
func drawPath(e claim.Event) template.HTML {
	if e.Anchor == nil {
		return ""
	}
	const width, step = 640, 46
	var b strings.Builder
	height := step*(len(e.Path)+2) + 10
	fmt.Fprintf(&b, `<div class="scroll"><svg role="img" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d"><title>The path of entry %d to its root</title>`, width, height, e.Seq)
	box := func(x, y int, fill, text string) {
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="290" height="28" rx="4" fill="%s" stroke="#57606a"/><text x="%d" y="%d">%s</text>`, x, y, fill, x+8, y+18, template.HTMLEscapeString(text))
	}
	line := func(x1, y1, x2, y2 int) {
		fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#57606a"/>`, x1, y1, x2, y2)
	}
	y := height - step
	box(10, y, "#ddf4ff", "leaf "+shorten(e.Leaf))
	for i, node := range e.Path {
		box(340, y, "#f6f8fa", "beside it "+shorten(node))
		line(150, y, 150, y-step+28)
		line(340, y+8, 180, y-step+28)
		y -= step
		if i < len(e.Path)-1 {
			box(10, y, "#fff", "made of the two below")
		}
	}
	if len(e.Path) == 0 {
		line(150, y, 150, y-step+28)
		y -= step
	}
	box(10, y, "#dafbe1", "root "+shorten(e.Anchor.Root))
	b.WriteString(`</svg></div>`)
	return template.HTML(b.String()) // every text in it is escaped
}

// shorten is a hash as it fits into a box.
func shorten(hash string) string {
	if len(hash) < 20 {
		return hash
	}
	return hash[:12] + "..." + hash[len(hash)-8:]
}
