package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// tally counts the tries of a disturbance's deeds by what was told.
func (r *result) tally(name string) map[Outcome]int {
	n := map[Outcome]int{}
	for _, d := range r.deeds {
		if d.Fault == name {
			for _, t := range d.Tries {
				n[t.Outcome]++
			}
		}
	}
	return n
}

// codes counts the codes of what was refused during a disturbance, by the rule of
// the surface that a tool's refusal is a result: its code stands in the journal.
func (r *result) codes(name string) (refused, ofTools map[string]int) {
	known := map[string]string{}
	for _, b := range r.books {
		for _, e := range b.Events {
			if request(e) && e.Code != "" {
				known[e.RequestID] = e.Code
			}
		}
	}
	refused, ofTools = map[string]int{}, map[string]int{}
	for _, d := range r.deeds {
		for _, t := range d.Tries {
			switch {
			case d.Fault != name || t.Code == "":
			case t.Code == ofTheTool:
				ofTools[or(known[t.RequestID], "of the tool")]++
			default:
				refused[t.Code]++
			}
		}
	}
	return refused, ofTools
}

// judgeMade holds each disturbance against what it was meant to do: it did
// something, nothing was refused with another code than it explains, and the code
// that shows it was seen.
func (r *result) judgeMade() []Violation {
	var found []Violation
	say := func(m made, what, expected, seen string) {
		found = append(found, Violation{"made", m.name, what, expected, seen})
	}
	for _, m := range r.made {
		codes, _ := r.codes(m.name)
		if (m.begin != nil || m.pulse != nil) && m.times == 0 {
			say(m, "what it did", "something", "nothing")
		}
		if m.shows != "" && codes[m.shows] == 0 {
			say(m, "refusals", m.shows, listed(codes))
		}
		for code, n := range codes {
			if !slices.Contains(m.codes, code) {
				say(m, fmt.Sprintf("%d refusals", n), or(strings.Join(m.codes, " or "), "none"), code)
			}
		}
		if n := r.tally(m.name); n[Acknowledged] == 0 {
			say(m, "acknowledged", "something", "nothing")
		}
	}
	return found
}

// listed is counted codes on one line.
func listed(codes map[string]int) string {
	var all []string
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		all = append(all, fmt.Sprintf("%s %d", code, codes[code]))
	}
	return or(strings.Join(all, ", "), "none")
}

func (r *result) print(out io.Writer) {
	for _, m := range r.made {
		n := r.tally(m.name)
		refused, ofTools := r.codes(m.name)
		fmt.Fprintf(out, "%-14s made %3d  acknowledged %3d  refused %3d  open %3d  unknown %3d  codes: %s; of tools: %s\n", m.name, m.times,
			n[Acknowledged], n[Refused], n[Open], n[Unknown], listed(refused), listed(ofTools))
	}
	for _, v := range r.violations {
		fmt.Fprintln(out, "VIOLATION", v)
	}
	fmt.Fprintf(out, "%d deeds, %d rules, %d violations, %s\n", len(r.deeds), len(rules), len(r.violations), r.took.Round(time.Second))
}
