package main

import (
	"slices"
	"strings"
	"testing"
)

// A disturbance that did not do what it is for shows nothing, and that is said.
func TestMade(t *testing.T) {
	clock := disturbance{name: "x", begin: right, codes: []string{"auth_token_expired"}, shows: "auth_token_expired"}
	deeds := func(codes ...string) []Deed {
		all := []Deed{{Fault: "x", Tries: []Try{{Outcome: Acknowledged}}}}
		for _, code := range codes {
			all = append(all, Deed{Fault: "x", Tries: []Try{{Outcome: Refused, Code: code, RequestID: "r"}}})
		}
		return all
	}
	for name, c := range map[string]struct {
		r     result
		found string // empty: nothing
	}{
		"as it is meant":   {result{made: []made{{clock, 1}}, deeds: deeds("auth_token_expired")}, ""},
		"a tool refused":   {result{made: []made{{clock, 1}}, deeds: deeds("auth_token_expired", ofTheTool)}, ""},
		"nothing to show":  {result{made: []made{{disturbance{name: "x"}, 0}}, deeds: deeds()}, ""},
		"did nothing":      {result{made: []made{{clock, 0}}, deeds: deeds("auth_token_expired")}, "nothing"},
		"nothing refused":  {result{made: []made{{clock, 1}}, deeds: deeds()}, "none"},
		"another code":     {result{made: []made{{clock, 1}}, deeds: deeds("auth_token_expired", "internal_error")}, "internal_error"},
		"nothing was done": {result{made: []made{{clock, 1}}, deeds: deeds("auth_token_expired")[1:]}, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			all := c.r.judgeMade()
			if c.found == "" && len(all) != 0 || c.found != "" && !slices.ContainsFunc(all, func(v Violation) bool { return v.Rule == "made" && v.Found == c.found }) {
				t.Errorf("found %v, want %q", all, c.found)
			}
		})
	}
}

// The document says what was told, and of each rule whether it held.
func TestDocument(t *testing.T) {
	w := sound()
	w.books.Held = 1
	r := &result{made: []made{{disturbance{name: "x", means: "All of it."}, 3}}, deeds: w.deeds, books: []Books{w.books}}
	r.violations = judgeAll(r.deeds, r.books)
	text, err := r.document()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| `x` | All of it. | 3 |", "| `x` | 13 | 14 | 11 | 1 | 1 | 1 | 1 |", "| `x` | auth_token_expired 1, dependency_unavailable 1 | none |",
		"| money | The account holds", "| 1 |\n| caps |", "- money (any fault): reserved of acct_8231: expected 0.00, found 0.01", "8 payment intents", "6 rows that paid them",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestChoose(t *testing.T) {
	if chosen, err := choose(""); err != nil || len(chosen) != len(disturbances) {
		t.Errorf("%d: %v", len(chosen), err)
	}
	if chosen, err := choose("kill,none"); err != nil || len(chosen) != 2 || chosen[0].name != "kill" {
		t.Errorf("%v: %v", chosen, err)
	}
	if _, err := choose("kill,nonsense"); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("%v", err)
	}
}
