package policy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/id"
)

// Level is how bad a finding is.
type Level string

// The levels.
const (
	Refuse Level = "refuse" // the document must not be activated
	Warn   Level = "warn"   // it may, and somebody should look
)

// Finding is something in a document that its author will not have meant.
type Finding struct {
	Level   Level  `json:"level"`
	Rule    string `json:"rule"` // its id; empty for what is of no one rule
	Message string `json:"message"`
}

// Lint looks for what a document that is well formed still has wrong: rules
// without a bound, that contradict themselves, that change nothing. Findings come
// in the order of the rules, then what is of the document as a whole; there are
// none, and not nil, for one in order.
func Lint(d Document) []Finding {
	l := linter{document: d, findings: []Finding{}, reach: make([]conditionSet, len(d.Rules))}
	for i := range d.Rules {
		l.reach[i] = d.Rules[i].When.set()
	}
	for i := range d.Rules {
		r := &d.Rules[i]
		l.rule = r.ID
		l.unbounded(r)
		l.classes(r)
		l.rejecting(r)
		l.unknownLists(r)
		l.never(r)
		l.pointless(r)
		l.shadowed(i)
		l.passedBy(i)
	}
	l.rule = ""
	l.whole()
	return l.findings
}

type linter struct {
	document Document
	reach    []conditionSet // the conditions of each rule
	rule     string         // the rule that is looked at
	findings []Finding
}

func (l *linter) refuse(format string, args ...any) { l.say(Refuse, format, args...) }
func (l *linter) warn(format string, args ...any)   { l.say(Warn, format, args...) }

func (l *linter) say(level Level, format string, args ...any) {
	l.findings = append(l.findings, Finding{level, l.rule, fmt.Sprintf(format, args...)})
}

// moneyClasses are those in which something is paid. Any is one of them.
var moneyClasses = []Class{OutboundPayment, InboundPayment, OnchainTx, Any}

func (r *Rule) movesMoney() bool {
	return slices.ContainsFunc(r.AppliesTo, func(c Class) bool { return slices.Contains(moneyClasses, c) })
}

// unbounded finds automatic rules by which any sum may go.
func (l *linter) unbounded(r *Rule) {
	if r.judged() == Auto && r.movesMoney() && !r.When.Capped() {
		l.refuse("it lets money go without a bound: want amount.lte, or spend_in_window with lte")
	}
}

// classes finds rules that reach further than they say, and conditions that what
// they apply to never has.
func (l *linter) classes(r *Rule) {
	if r.judged() != Reject && slices.Contains(r.AppliesTo, Any) {
		l.warn("it allows something of every class, also of such as come later: name the classes")
	}
	if r.When.AgentConfidence != nil && r.movesMoney() {
		if r.judged() == Reject {
			l.warn("payments carry no agent.confidence: for them the condition always holds")
		} else {
			l.warn("payments carry no agent.confidence: for them the rule never matches")
		}
	}
}

// rejecting finds what has no effect in a rule that rejects, or more than meant.
func (l *linter) rejecting(r *Rule) {
	if r.judged() != Reject {
		return
	}
	if len(r.Require) > 0 {
		l.warn("require has no effect in a rule that rejects")
	}
	if len(r.EvidenceKinds) > 0 {
		l.warn("required_evidence_kinds has no effect in a rule that rejects")
	}
	w := &r.When
	for name, limit := range bounds(w) {
		l.warn("%s is in %s: the condition also holds for every other currency, and where no amount is known", name, limit.Currency)
	}
}

// bounds are the conditions that are about one currency, in the order of their names.
func bounds(w *When) func(yield func(string, *Sum) bool) {
	limits := map[string]*Sum{"amount.lte": w.AmountLTE, "amount.gt": w.AmountGT}
	if c := w.SpendInWindow; c != nil {
		limits["spend_in_window"] = c.LTE
		if c.LTE == nil {
			limits["spend_in_window"] = c.GT
		}
	}
	return func(yield func(string, *Sum) bool) {
		for _, name := range slices.Sorted(maps.Keys(limits)) {
			if limits[name] != nil && !yield(name, limits[name]) {
				return
			}
		}
	}
}

func (l *linter) unknownLists(r *Rule) {
	for _, name := range slices.Concat(r.When.CounterpartyIn, r.When.CounterpartyNotIn) {
		if _, known := l.document.Lists[name]; !known {
			l.refuse("there is no list %s", name)
		}
	}
}

// pointless finds conditions that hold for everybody.
func (l *linter) pointless(r *Rule) {
	w := &r.When
	if w.CounterpartyNotIn != nil && len(w.CounterpartyNotIn) == 0 {
		l.warn("counterparty.not_in is empty and excludes nobody")
	}
	if w.ActionNotIn != nil && len(w.ActionNotIn) == 0 {
		l.warn("action.not_in is empty and excludes nothing")
	}
	if c := w.CountInWindow; c != nil && c.GT != nil && *c.GT < 1 {
		l.warn("count_in_window above %d always holds: the proposal itself counts", *c.GT)
	}
}

// whole finds what is of no one rule.
func (l *linter) whole() {
	d := l.document
	allows := func(r Rule) bool { return r.judged() != Reject }
	if !slices.ContainsFunc(d.Rules, allows) {
		l.warn("no rule allows anything: everything is rejected")
	}
	used := map[string]bool{}
	for i := range d.Rules {
		for _, name := range slices.Concat(d.Rules[i].When.CounterpartyIn, d.Rules[i].When.CounterpartyNotIn) {
			used[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Lists)) {
		if !used[name] {
			l.warn("the list %s is never used", name)
		}
		for _, entry := range d.Lists[name] {
			if id.Check(id.Counterparty, entry) != nil {
				l.warn("the list %s holds %.80q, which is no counterparty's id and stands for nobody", name, entry)
			}
		}
	}
}
