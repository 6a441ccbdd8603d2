package policy

import (
	"slices"
	"strconv"

	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// answer is what can be said of a condition.
type answer uint8

const (
	no answer = iota
	yes
	unknown // it cannot be decided by these facts
)

// not is the answer to the opposite. What is unknown stays so.
func (a answer) not() answer {
	switch a {
	case no:
		return yes
	case yes:
		return no
	}
	return unknown
}

// is makes an answer of what could be decided. The reason says what was found,
// and so is the same whether that is what a rule wants or not.
func is(holds bool, found string) (answer, string) {
	if holds {
		return yes, found
	}
	return no, found
}

// condition is one of the vocabulary. Reasons are short and quote nothing that
// came from outside but ids.
type condition struct {
	name    string // its key in a document
	present func(*When) bool
	judge   func(*evaluation, *When) (answer, string)
}

// conditions are all of them, in the order a trace has them. A condition that is
// an empty array is there, and no value is in it: were it taken for absent, the
// rule would match everybody.
var conditions = []condition{
	{"counterparty.in", func(w *When) bool { return w.CounterpartyIn != nil }, (*evaluation).counterpartyIn},
	{"counterparty.not_in", func(w *When) bool { return w.CounterpartyNotIn != nil }, (*evaluation).counterpartyNotIn},
	{"counterparty.verified_status.in", func(w *When) bool { return w.CounterpartyVerified != nil }, (*evaluation).verified},
	{"counterparty.risk_level.lte", func(w *When) bool { return w.CounterpartyRisk != "" }, (*evaluation).risk},
	{"counterparty.type.in", func(w *When) bool { return w.CounterpartyType != nil }, (*evaluation).ofType},
	{"amount.lte", func(w *When) bool { return w.AmountLTE != nil }, func(e *evaluation, w *When) (answer, string) {
		return e.amountAgainst(w.AmountLTE, false)
	}},
	{"amount.gt", func(w *When) bool { return w.AmountGT != nil }, func(e *evaluation, w *When) (answer, string) {
		return e.amountAgainst(w.AmountGT, true)
	}},
	{"action.in", func(w *When) bool { return w.ActionIn != nil }, func(e *evaluation, w *When) (answer, string) {
		return theAction.among(e.facts.Action, w.ActionIn)
	}},
	{"action.not_in", func(w *When) bool { return w.ActionNotIn != nil }, (*evaluation).actionNotIn},
	{"agent.id.in", func(w *When) bool { return w.AgentID != nil }, func(e *evaluation, w *When) (answer, string) {
		return theAgent.among(e.facts.Agent.ID, w.AgentID)
	}},
	{"agent.role.in", func(w *When) bool { return w.AgentRole != nil }, func(e *evaluation, w *When) (answer, string) {
		return theRole.among(e.facts.Agent.Role, w.AgentRole)
	}},
	{"agent.confidence.gte", func(w *When) bool { return w.AgentConfidence != nil }, (*evaluation).confident},
	{"agent.behavior_hash.in", func(w *When) bool { return w.AgentBehavior != nil }, func(e *evaluation, w *When) (answer, string) {
		return theBehavior.among(e.facts.Agent.BehaviorHash, w.AgentBehavior)
	}},
	{"source_account.in", func(w *When) bool { return w.SourceAccount != nil }, func(e *evaluation, w *When) (answer, string) {
		return theAccount.among(e.facts.SourceAccount, w.SourceAccount)
	}},
	{"obligation.linked", func(w *When) bool { return w.ObligationLinked != nil }, (*evaluation).linked},
	{"time_window", func(w *When) bool { return w.TimeWindow != nil }, (*evaluation).hours},
	{"spend_in_window", func(w *When) bool { return w.SpendInWindow != nil }, (*evaluation).spend},
	{"count_in_window", func(w *When) bool { return w.CountInWindow != nil }, (*evaluation).count},
}

// reasons are those of a condition that looks for a value among names,
// written once and not for every rule.
type reasons struct{ missing, in, out string }

func tell(what string) reasons {
	return reasons{what + " is not known", what + " is one of those named", what + " is none of those named"}
}

var (
	theAction   = tell("the action")
	theAgent    = tell("the agent")
	theRole     = tell("the agent's role")
	theBehavior = tell("the agent's behaviour")
	theAccount  = tell("the account")
)

// among says whether a value is one of those a rule names.
func (t *reasons) among(value string, names []string) (answer, string) {
	switch {
	case value == "":
		return unknown, t.missing
	case slices.Contains(names, value):
		return yes, t.in
	}
	return no, t.out
}

func (e *evaluation) actionNotIn(w *When) (answer, string) {
	in, reason := theAction.among(e.facts.Action, w.ActionNotIn)
	return in.not(), reason
}

const noCounterparty = "the counterparty is not known"

func (e *evaluation) counterpartyIn(w *When) (answer, string) {
	on := e.onAny(w.CounterpartyIn)
	return on.answer, on.reason
}

func (e *evaluation) counterpartyNotIn(w *When) (answer, string) {
	on := e.onAny(w.CounterpartyNotIn)
	return on.answer.not(), on.reason
}

// listed is whether the counterparty is on a list, and how that is said.
type listed struct {
	answer answer
	reason string
}

// onAny says whether the counterparty is on one of the lists. One that is missing
// matters only as long as no other decides.
func (e *evaluation) onAny(names []string) listed {
	if e.facts.Counterparty == nil || e.facts.Counterparty.ID == "" {
		return listed{unknown, noCounterparty}
	}
	on := listed{no, e.unlisted}
	for _, name := range names {
		switch one := e.on(name); {
		case one.answer == yes:
			return one
		case one.answer == unknown && on.answer == no:
			on = one
		}
	}
	return on
}

// on says whether the counterparty is on a list. Lists are long and rules name
// the same ones: each is searched once.
func (e *evaluation) on(name string) listed {
	if on, seen := e.lists[name]; seen {
		return on
	}
	ids, exists := e.document.Lists[name]
	on := listed{no, ""} // what is said of it is said of all the lists of a rule
	switch {
	case !exists:
		on = listed{unknown, "there is no list " + name}
	case slices.Contains(ids, e.facts.Counterparty.ID):
		on = listed{yes, e.facts.Counterparty.ID + " is on " + name}
	}
	e.lists[name] = on
	return on
}

// phrases are the reasons for each word of a vocabulary. A word that has none
// says nothing about the counterparty.
func phrases(begin string, vocabulary []string) map[string]string {
	all := make(map[string]string, len(vocabulary))
	for _, word := range vocabulary {
		all[word] = begin + word
	}
	return all
}

var (
	statuses = phrases("the counterparty's verified status is ", ledger.VerifiedStatuses)
	types    = phrases("the counterparty's type is ", ledger.CounterpartyTypes)
	risks    = phrases("the counterparty's risk is ", ledger.RiskLevels)
)

func (e *evaluation) verified(w *When) (answer, string) {
	if e.facts.Counterparty == nil {
		return unknown, noCounterparty
	}
	reason, known := statuses[e.facts.Counterparty.VerifiedStatus]
	if !known {
		return unknown, "the counterparty's verified status is not known"
	}
	return is(slices.Contains(w.CounterpartyVerified, e.facts.Counterparty.VerifiedStatus), reason)
}

func (e *evaluation) ofType(w *When) (answer, string) {
	if e.facts.Counterparty == nil {
		return unknown, noCounterparty
	}
	reason, known := types[e.facts.Counterparty.Type]
	if !known {
		return unknown, "the counterparty's type is not known"
	}
	return is(slices.Contains(w.CounterpartyType, e.facts.Counterparty.Type), reason)
}

func (e *evaluation) risk(w *When) (answer, string) {
	if e.facts.Counterparty == nil {
		return unknown, noCounterparty
	}
	level, most := slices.Index(ledger.RiskLevels, e.facts.Counterparty.RiskLevel), slices.Index(ledger.RiskLevels, w.CounterpartyRisk)
	if level < 0 || most < 0 {
		return unknown, "the counterparty's risk is not known"
	}
	return is(level <= most, risks[e.facts.Counterparty.RiskLevel])
}

func (e *evaluation) confident(w *When) (answer, string) {
	c := e.facts.Agent.Confidence
	if c == nil || !(*c >= 0 && *c <= 1) { // not a number is neither
		return unknown, "the agent's confidence is not known"
	}
	least := strconv.FormatFloat(*w.AgentConfidence, 'g', -1, 64)
	switch {
	case *c >= *w.AgentConfidence:
		return yes, "the agent's confidence is at least " + least
	case *c < *w.AgentConfidence:
		return no, "the agent's confidence is below " + least
	}
	return unknown, noLimit
}

func (e *evaluation) linked(w *When) (answer, string) {
	if e.facts.ObligationLinked == nil {
		return unknown, "whether an obligation is linked is not known"
	}
	reason := "no obligation is linked"
	if *e.facts.ObligationLinked {
		reason = "an obligation is linked"
	}
	return is(*e.facts.ObligationLinked == *w.ObligationLinked, reason)
}
