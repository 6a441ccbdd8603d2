package policy_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/policy"
)

// strictness orders outcomes, so that laws can be stated.
var strictness = map[policy.Outcome]int{policy.Auto: 0, policy.Confirm: 1, policy.Reject: 2}

// TestRejectRulesOnlyForbid: with one more reject rule a verdict is the same, or
// it is reject.
func TestRejectRulesOnlyForbid(t *testing.T) {
	g, rejecting := newGenerator(3, 4), newGenerator(5, 6)
	rejecting.executes = []string{"reject"}
	turned := 0
	for range 2_000 {
		rules := g.rules(g.IntN(6))
		before, after := parsed(t, g.document(rules...)), parsed(t, g.document(append(rules, rejecting.rule("more"))...))
		for range 4 {
			f := g.facts(t)
			v, w := before.Evaluate(f), after.Evaluate(f)
			if w.Outcome != v.Outcome && w.Outcome != policy.Reject {
				t.Fatalf("%s became %s with one more reject rule: %s", v.Outcome, w.Outcome, text(t, after))
			}
			if w.Outcome == v.Outcome && w.Outcome != policy.Reject && (!slices.Equal(w.Approvers, v.Approvers) || !slices.Equal(w.EvidenceKinds, v.EvidenceKinds)) {
				t.Fatalf("a reject rule that does not match changed %s to %s", text(t, v), text(t, w))
			}
			if w.Outcome != v.Outcome {
				turned++
			}
		}
	}
	atLeast(t, "verdicts turned into reject", turned, 200)
}

// TestLessIsNeverRefused: under rules that allow up to a limit (auto and confirm
// rules have neither amount.gt nor spend_in_window with gt) and reject above one
// (reject rules have neither amount.lte nor spend_in_window with lte), what is
// not rejected is not rejected for a smaller amount in the same currency, all
// other facts being the same. It may become confirm: a confirm rule with a limit
// begins to match.
func TestLessIsNeverRefused(t *testing.T) {
	g := newGenerator(7, 8)
	g.only = func(execute, condition string) bool {
		forbidden := []string{"amount.gt", "spend_in_window.gt"}
		if execute == "reject" {
			forbidden = []string{"amount.lte", "spend_in_window.lte"}
		}
		return !slices.Contains(forbidden, condition)
	}
	allowed, eased := 0, 0
	for range 2_000 {
		d := parsed(t, g.document(g.rules(1+g.IntN(5))...))
		for range 4 {
			more := g.facts(t)
			if more.Amount == nil {
				continue
			}
			code := more.Amount.Currency().String()
			less := more
			less.Amount = amount(t, pick(g, amounts...), code)
			if order, err := less.Amount.Cmp(*more.Amount); err != nil || order >= 0 {
				continue
			}
			v, w := d.Evaluate(more), d.Evaluate(less)
			if v.Outcome != policy.Reject && w.Outcome == policy.Reject {
				t.Fatalf("%s at %s, and reject at %s: %s", v.Outcome, more.Amount, less.Amount, text(t, d))
			}
			if v.Outcome != policy.Reject {
				allowed++
			}
			if v.Outcome == policy.Reject && w.Outcome != policy.Reject {
				eased++
			}
		}
	}
	atLeast(t, "allowed amounts that were lowered", allowed, 200)
	atLeast(t, "rejects that a lower amount lifts", eased, 30)
}

// TestOrderMeansNothing: other orders of the same rules give the same verdict,
// but for the order in which it tells of the rules.
func TestOrderMeansNothing(t *testing.T) {
	g := newGenerator(9, 10)
	for range 1_500 {
		rules := g.rules(2 + g.IntN(5))
		d := parsed(t, g.document(rules...))
		g.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
		shuffled := parsed(t, g.document(rules...))
		for range 4 {
			f := g.facts(t)
			v, w := sorted(d.Evaluate(f)), sorted(shuffled.Evaluate(f))
			if !reflect.DeepEqual(v, w) {
				t.Fatalf("in another order %s is %s", text(t, v), text(t, w))
			}
		}
	}
}

// sorted is a verdict that tells of the rules by their ids.
func sorted(v policy.Verdict) policy.Verdict {
	slices.Sort(v.Matched)
	slices.SortFunc(v.Trace, func(a, b policy.RuleTrace) int { return strings.Compare(a.Rule, b.Rule) })
	return v
}

// forgetful are the facts with one of them gone.
var forgetful = []func(*policy.Facts){
	func(f *policy.Facts) { f.Action = "" }, func(f *policy.Facts) { f.Amount = nil }, func(f *policy.Facts) { f.Agent = policy.Agent{} },
	func(f *policy.Facts) { f.Agent.Confidence = nil }, func(f *policy.Facts) { f.Counterparty = nil }, func(f *policy.Facts) { f.SourceAccount = "" },
	func(f *policy.Facts) { f.ObligationLinked = nil }, func(f *policy.Facts) { f.At = time.Time{} }, func(f *policy.Facts) { f.Promised = nil },
	func(f *policy.Facts) { f.Counterparty = &policy.Counterparty{} },
}

// TestIgnoranceNeverHelps: with a fact gone, what was rejected stays rejected;
// and where no rule confirms, no verdict becomes laxer. Beside an auto rule a
// confirm rule may stop matching, which is why barriers belong into reject rules.
func TestIgnoranceNeverHelps(t *testing.T) {
	g := newGenerator(11, 12)
	stricter := 0
	for i := range 2_000 {
		g.executes = []string{"auto", "auto", "confirm", "reject"}
		if i%2 == 0 {
			g.executes = []string{"auto", "auto", "reject"}
		}
		d := parsed(t, g.document(g.rules(1+g.IntN(5))...))
		confirms := slices.ContainsFunc(d.Rules, func(r policy.Rule) bool {
			return r.Execute == policy.Confirm || r.Execute == policy.Auto && len(r.Require) > 0
		})
		for range 4 {
			f := g.facts(t)
			known := d.Evaluate(f)
			forgetful[g.IntN(len(forgetful))](&f)
			forgotten := d.Evaluate(f)
			if strictness[forgotten.Outcome] < strictness[known.Outcome] && (known.Outcome == policy.Reject || !confirms) {
				t.Fatalf("%s became %s with a fact gone: %s", known.Outcome, forgotten.Outcome, text(t, d))
			}
			if strictness[forgotten.Outcome] > strictness[known.Outcome] {
				stricter++
			}
		}
	}
	atLeast(t, "verdicts that became stricter", stricter, 50)
}

// TestPure: judging changes nothing, and the same again is the same.
func TestPure(t *testing.T) {
	g := newGenerator(13, 14)
	for range 300 {
		d := parsed(t, g.document(g.rules(4)...))
		f := g.facts(t)
		before, facts := text(t, d), text(t, f.Counterparty)
		first := text(t, d.Evaluate(f))
		equal(t, "second verdict", text(t, d.Evaluate(f)), first)
		equal(t, "document", text(t, d), before)
		equal(t, "counterparty", text(t, f.Counterparty), facts)
	}
}

// atLeast keeps a law from being tested on nothing.
func atLeast(t *testing.T, what string, got, want int) {
	t.Helper()
	if got < want {
		t.Errorf("%s: %d, want at least %d", what, got, want)
	}
}
