package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/robotmoney/mcp/shared/domain/proof/claim"
)

//go:embed proof.html
var proofText string

// proofTemplate is the page of a proof: one file that loads nothing.
var proofTemplate = template.Must(template.New("proof").Funcs(template.FuncMap{
	"facts": members, "list": listed, "words": words,
}).Parse(proofText))

// proofPage is what the page shows beside the proof itself.
type proofPage struct {
	claim.Proof
	Kind, Tone string // of the action, and how its outcome is coloured
	Passed     int    // checks
	Anchored   string // how far the events are on the chain
	Proposed   []fact
	Roots      []root
	Entries    []drawnEvent
}

// fact is a name and what is said under it.
type fact struct {
	Name, Value string
	Hash        bool // the value is a long row of digits
}

// root is an anchor and the events under it.
type root struct {
	*claim.Anchor
	Seqs []int64
}

// drawnEvent is an event as the page shows it.
type drawnEvent struct {
	claim.Event
	Action, At, Actor, Where string
	Drawing                  template.HTML
	Open                     bool // its drawing is seen at once
}

// proofHTML prints a proof as a page for a person, after checking it.
func proofHTML(ctx context.Context, c *call) error {
	p, err := c.openProof(ctx)
	if err != nil {
		return err
	}
	page, err := pageOf(p)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := proofTemplate.Execute(&out, page); err != nil {
		return fmt.Errorf("write the page of %s: %w", p.ActionID, err)
	}
	_, err = c.out.Write(visible(out.Bytes()))
	return err
}

// kinds are what actions are called, by the prefix of their ids.
var kinds = map[string]string{"pi": "payment intent", "prop": "proposal", "authz": "authorization", "exec": "execution"}

// tones are how outcomes are coloured; all others wait for something.
var tones = map[string]string{
	"executed": "good", "approved": "good", "authorized": "good", "consumed": "good", "acknowledged": "good",
	"failed": "bad", "rejected": "bad", "denied": "bad", "revoked": "bad", "cancelled": "off", "expired": "off",
}

func pageOf(p claim.Proof) (proofPage, error) {
	prefix, _, _ := strings.Cut(p.ActionID, "_")
	page := proofPage{Proof: p, Kind: kinds[prefix], Tone: cmp.Or(tones[p.Outcome], "wait"), Roots: rootsOf(p.AuditEvents)}
	for _, v := range p.GateChecks {
		if check, ok := v.(map[string]any); ok && check["passed"] == true {
			page.Passed++
		}
	}
	for i, e := range p.AuditEvents {
		entry, err := claim.Open(e.Preimage)
		if err != nil {
			return page, fmt.Errorf("open event %d: %w", e.Seq, err)
		}
		d := drawnEvent{Event: e, Where: anchorWords(e.Anchor), Open: i == len(p.AuditEvents)-1}
		if d.Drawing, err = drawPath(e); err != nil {
			return page, fmt.Errorf("draw the path of event %d: %w", e.Seq, err)
		}
		d.Action, _ = entry.Event["action"].(string)
		d.At, _ = entry.Event["created_at"].(string)
		if actor, ok := entry.Event["actor"].(map[string]any); ok {
			d.Actor = fmt.Sprintf("%v %v", actor["type"], actor["id"])
		}
		page.Entries = append(page.Entries, d)
		if page.Proposed == nil {
			page.Proposed = proposed(entry.Event)
		}
	}
	page.Anchored = anchored(p.AuditEvents)
	return page, nil
}

// proposed are the words of the proposal, out of the event that tells of it.
func proposed(event map[string]any) []fact {
	inputs, _ := event["inputs"].(map[string]any)
	for _, of := range []string{"payment", "action"} {
		if said, ok := inputs[of].(map[string]any); ok {
			return members(said)
		}
	}
	return nil
}

// rootsOf are the anchors of the events, each once, in their order.
func rootsOf(events []claim.Event) (all []root) {
	for _, e := range events {
		if e.Anchor == nil {
			continue
		}
		at := slices.IndexFunc(all, func(r root) bool { return *r.Anchor == *e.Anchor })
		if at < 0 {
			at, all = len(all), append(all, root{Anchor: e.Anchor})
		}
		all[at].Seqs = append(all[at].Seqs, e.Seq)
	}
	return all
}

// anchored is how far the events are on the chain: as far as the last of them.
func anchored(events []claim.Event) string {
	words := claim.Final
	for _, e := range events {
		if e.Anchor == nil {
			return "not yet"
		}
		if e.Anchor.Status != claim.Final {
			words = e.Anchor.Status
		}
	}
	return words
}

// members are the members of an object as a person reads them, by their names; of
// what is no object the value alone. What is null is left out.
func members(v any) []fact {
	object, ok := v.(map[string]any)
	if !ok {
		return []fact{{Value: said(v)}}
	}
	var all []fact
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if object[name] != nil {
			value := said(object[name])
			all = append(all, fact{name, value, digits.MatchString(value)})
		}
	}
	return all
}

// digits is a hash or an address, which needs letters of one width.
var digits = regexp.MustCompile(`^(0x)?[0-9a-fA-F]{40,}$`)

// said is a value as a person reads it.
func said(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return cmp.Or(v, "nothing")
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []any:
		return listed(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "(not readable)" // nothing that came as JSON
	}
	return string(raw)
}

// listed is a list as a person reads it.
func listed(all []any) string {
	var texts []string
	for _, v := range all {
		texts = append(texts, said(v))
	}
	return cmp.Or(strings.Join(texts, ", "), "none")
}

// words is a name of ours without its underscores.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// visible writes out characters that are not seen: some of them turn the order
// of what stands beside them around, so that a page would read as something it
// does not say. The page's own text has none.
func visible(page []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(page) {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			fmt.Fprintf(&out, "⟨U+%04X⟩", r)
			continue
		}
		out.WriteRune(r)
	}
	return out.Bytes()
}
