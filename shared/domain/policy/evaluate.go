package policy

import (
	"cmp"
	"slices"
	"strings"
)

// Evaluate judges what is proposed. It looks at every rule, also after one has
// rejected: the verdict names all that matched, and whoever is refused learns
// everything that stands in the way at once. Nothing it returns is nil.
func (d Document) Evaluate(f Facts) Verdict {
	e := newEvaluation(&d, &f)
	v := Verdict{
		Outcome: Reject, Matched: []string{}, Approvers: []string{}, EvidenceKinds: []string{},
		Trace: make([]RuleTrace, 0, len(d.Rules)+1),
	}
	matching := map[Outcome][]*Rule{}
	for i := range d.Rules {
		rule := &d.Rules[i]
		trace := e.judge(rule)
		v.Trace = append(v.Trace, trace)
		if trace.Matched {
			v.Matched = append(v.Matched, rule.ID)
			matching[trace.Execute] = append(matching[trace.Execute], rule)
		}
	}
	v.Headroom = e.rooms()
	switch {
	case len(matching[Reject]) > 0:
		v.EvidenceKinds = evidence(matching[Reject])
	case len(matching[Confirm]) > 0:
		v.Outcome = Confirm
		v.Approvers = approvers(matching[Confirm])
		v.EvidenceKinds = evidence(matching[Confirm], matching[Auto])
	case len(matching[Auto]) > 0:
		v.Outcome = Auto
		v.EvidenceKinds = evidence(matching[Auto])
	default:
		v.Trace = append(v.Trace, nothingMatched())
	}
	return v
}

// usual is how many conditions a rule has for which room is made beforehand.
const usual = 4

// evaluation is one judgement under way. What rules have in common is looked up
// once: lists are long, and so are the books that promises are counted in.
type evaluation struct {
	document *Document
	facts    *Facts
	lists    map[string]listed // what the counterparty is on
	sums     map[asked]total   // what is promised, this proposal included
	walls    map[string]wall   // the clocks of zones
	amount   string            // the facts' amount in words
	unlisted string            // that the counterparty is on no list, in words
	rule     *Rule             // the rule that is judged
	told     []ConditionTrace  // of all rules, one after the other
	headroom []Headroom
}

func newEvaluation(d *Document, f *Facts) *evaluation {
	e := &evaluation{document: d, facts: f, lists: map[string]listed{}, sums: map[asked]total{}, walls: map[string]wall{}}
	if f.Counterparty != nil {
		e.unlisted = f.Counterparty.ID + " is on none of the lists"
	}
	caps := 0
	for i := range d.Rules {
		if w := &d.Rules[i].When; w.SpendInWindow != nil || w.CountInWindow != nil {
			caps++
		}
	}
	e.told, e.headroom = make([]ConditionTrace, 0, usual*len(d.Rules)), make([]Headroom, 0, caps)
	return e
}

// judge looks at one rule and at every condition of it.
func (e *evaluation) judge(r *Rule) RuleTrace {
	t := RuleTrace{Rule: r.ID, Execute: r.judged(), Applies: r.applies(e.facts.Class), Conditions: []ConditionTrace{}}
	if !t.Applies {
		return t
	}
	e.rule = r
	t.Matched = true
	begin := len(e.told)
	for i := range conditions {
		c := &conditions[i]
		if !c.present(&r.When) {
			continue
		}
		holds, reason := c.judge(e, &r.When)
		// What cannot be decided never helps the proposer.
		passed := holds == yes || holds == unknown && t.Execute == Reject
		t.Matched = t.Matched && passed
		e.told = append(e.told, ConditionTrace{Condition: c.name, Passed: passed, Undecided: holds == unknown, Reason: reason})
	}
	t.Conditions = e.told[begin:len(e.told):len(e.told)] // nobody's append reaches the next rule's
	return t
}

// judged is what a rule comes to: auto that requires somebody is confirm. A word
// that is no outcome comes to a reject.
func (r *Rule) judged() Outcome {
	switch {
	case r.Execute == Auto && len(r.Require) == 0:
		return Auto
	case r.Execute == Auto || r.Execute == Confirm:
		return Confirm
	}
	return Reject
}

func (r *Rule) applies(c Class) bool {
	return slices.Contains(r.AppliesTo, Any) || c != "" && slices.Contains(r.AppliesTo, c)
}

// approvers are the people needed so that each rule has its own: of every role
// as many as the rule that wants most of it. Rules that name nobody want one
// person with authority, which whoever another rule names is.
func approvers(confirming []*Rule) []string {
	most := map[string]int{}
	for _, r := range confirming {
		wanted := map[string]int{}
		for _, role := range r.Require {
			wanted[role]++
			most[role] = max(most[role], wanted[role])
		}
	}
	if len(most) == 0 {
		return []string{RoleSigner}
	}
	var people []string
	for role, n := range most {
		people = append(people, slices.Repeat([]string{role}, n)...)
	}
	slices.Sort(people)
	return people
}

// evidence is every kind the rules ask for, once.
func evidence(groups ...[]*Rule) []string {
	kinds := []string{}
	for _, r := range slices.Concat(groups...) {
		kinds = append(kinds, r.EvidenceKinds...)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// rooms are what the caps leave, by the rules' ids because the order of rules
// means nothing. It is the places that are sorted: a Headroom is large to move.
func (e *evaluation) rooms() []Headroom {
	places := make([]int, len(e.headroom))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Or(strings.Compare(e.headroom[a].Rule, e.headroom[b].Rule), a-b) })
	rooms := make([]Headroom, len(places))
	for i, place := range places {
		rooms[i] = e.headroom[place]
	}
	return rooms
}

// nothingMatched is the law that needs no rule. It has no id.
func nothingMatched() RuleTrace {
	return RuleTrace{Execute: Reject, Applies: true, Matched: true, Conditions: []ConditionTrace{
		{Condition: "policy", Passed: true, Reason: "no rule matches, and what no rule allows is rejected"},
	}}
}
