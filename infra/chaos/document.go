package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"text/template"
	"time"
)

//go:embed document.tmpl
var page string

// line is what the document says of a disturbance.
type line struct {
	Name, Means, Codes, OfTools                    string
	Times, Deeds, Requests                         int
	Acknowledged, Refused, Open, Unknown, Repeated int
}

// lawLine is what it says of a rule.
type lawLine struct {
	Name, Means string
	Broken      int
}

// document is docs/chaos.md.
func (r *result) document() ([]byte, error) {
	view := struct {
		Date, Took, Lasts, Calm string
		Seed                    uint64
		Before                  int
		Made                    []line
		Rules                   []lawLine
		Books                   []string
		Violations              []Violation
	}{
		Date: time.Now().UTC().Format(time.DateOnly), Took: r.took.Round(time.Second).String(), Lasts: lasts.String(), Calm: calm.String(), Seed: r.seed,
		Before: count(r.deeds, func(d Deed) bool { return d.Repeated && len(d.Tries) > 1 }), Violations: r.violations,
	}
	for _, m := range r.made {
		view.Made = append(view.Made, r.line(m))
	}
	for _, one := range append(rules, rule{name: "made", means: "Each fault disturbed something, refused with its own codes alone and showed the one it must, and something was acknowledged during it."}) {
		view.Rules = append(view.Rules, lawLine{one.name, one.means, count(r.violations, func(v Violation) bool { return v.Rule == one.name })})
	}
	for _, b := range r.books {
		view.Books = append(view.Books, b.summary())
	}
	var out bytes.Buffer
	err := template.Must(template.New("document").Parse(page)).Execute(&out, view)
	return out.Bytes(), err
}

func (r *result) line(m made) line {
	n := r.tally(m.name)
	refused, ofTools := r.codes(m.name)
	own := func(d Deed) bool { return d.Fault == m.name }
	return line{
		Name: m.name, Means: m.means, Times: m.times, Codes: listed(refused), OfTools: listed(ofTools), Deeds: count(r.deeds, own),
		Requests: n[Acknowledged] + n[Refused] + n[Open] + n[Unknown], Acknowledged: n[Acknowledged], Refused: n[Refused], Open: n[Open], Unknown: n[Unknown],
		Repeated: count(r.deeds, func(d Deed) bool { return own(d) && d.acknowledged() && len(d.Tries) > 1 }),
	}
}

// summary says how much there is of a company.
func (b Books) summary() string {
	states, most := map[string]int{}, cents(0)
	sum := map[string]cents{}
	for _, i := range b.Intents {
		states[i.Status]++
		if i.automatic() {
			sum[i.Agent] += i.Amount
			most = max(most, sum[i.Agent])
		}
	}
	text := fmt.Sprintf("- %s: %d events in the journal, %d accepted by the bus (what it took twice counts twice).", b.Tenant, len(b.Events), len(b.Published))
	if len(b.Intents) > 0 {
		text += fmt.Sprintf(" %d payment intents of the traffic (%s), %d rows that paid them, %d proofs read and verified against the chain. The account held %s USD before and %s after. The most that one agent was let pay without people is %s of 25,000.00 USD. %d artifacts with %d rows.",
			len(b.Intents), strings.ReplaceAll(listed(states), "_", " "), len(b.Payments), len(b.Proofs), b.Before, b.After, most, len(b.Artifacts), len(b.Rows))
	}
	if len(b.Letters) > 0 {
		text += fmt.Sprintf(" %d dead letters, %d of them runs of a schedule.", len(b.Letters), count(b.Letters, explained))
	}
	return text
}
