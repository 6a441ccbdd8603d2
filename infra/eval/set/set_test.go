package set_test

import (
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/eval/books"
	"github.com/robotmoney/mcp/infra/eval/set"
)

var asOf = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)

func TestParse(t *testing.T) {
	list, err := set.Parse(strings.NewReader("# a remark\n\n## one\n== cash\nCash?\n@2024-02-29T00:00:00Z Cash then?\n## two\n== refused act\nPay.\n"), asOf)
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	if q := list[1]; q.Family != "one" || q.Operation != "cash" || q.Text != "Cash then?" || q.AsOf.Year() != 2024 || q.Line != 6 || q.Refused() {
		t.Errorf("%+v", q)
	}
	if q := list[2]; q.Family != "two" || !q.Refused() || !q.AsOf.Equal(asOf) {
		t.Errorf("%+v", q)
	}
	for _, text := range []string{"Cash?", "## one\nCash?", "## one\n== cash\n@soon Cash?"} {
		if _, err := set.Parse(strings.NewReader(text), asOf); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestJudge(t *testing.T) {
	expected := books.Expectation{Lead: []string{"$10.00", "5.00 EUR"}, Must: []string{"`a`", "`b`"}, Ordered: true}
	for name, c := range map[string]struct {
		operation string
		e         books.Expectation
		answered  bool
		text      string
		want      set.Verdict
	}{
		"right":                       {"cash", expected, true, "Cash on 2025-09-30 is 5.00 EUR and $10.00: `a`, `b`.", set.Right},
		"not answered":                {"cash", expected, false, "What?", set.Missed},
		"another amount":              {"cash", expected, true, "Cash is 5.00 EUR and $10.01: `a`, `b`.", set.Wrong},
		"an amount too many in front": {"cash", expected, true, "Of $99.00, cash is 5.00 EUR and $10.00: `a`, `b`.", set.Wrong},
		"another currency":            {"cash", expected, true, "Cash is 5.00 USD and $10.00: `a`, `b`.", set.Wrong},
		"another order":               {"cash", expected, true, "Cash is 5.00 EUR and $10.00: `b`, `a`.", set.Wrong},
		"a part missing":              {"cash", expected, true, "Cash is 5.00 EUR and $10.00: `a`.", set.Wrong},
		"another beginning":           {"count", books.Expectation{Start: "3 "}, true, "13 transactions", set.Wrong},
		"refused":                     {set.RefusedAct, books.Expectation{}, false, "Use `payment_intent.propose`.", set.Right},
		"refused without the tool":    {set.RefusedAct, books.Expectation{}, false, "No.", set.Missed},
		"an act answered":             {set.RefusedAct, books.Expectation{}, true, "payment_intent.propose", set.Wrong},
		"not known":                   {set.RefusedOther, books.Expectation{}, false, "No.", set.Right},
		"a guess":                     {set.RefusedOther, books.Expectation{}, true, "$5", set.Wrong},
	} {
		if got, why := set.Judge(set.Question{Operation: c.operation}, c.e, c.answered, c.text); got != c.want {
			t.Errorf("%s: %v (%s), want %v", name, got, why, c.want)
		}
	}
}
