package question

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fence"
)

// family is a kind of question: which slots make it, which others it takes, and
// the plan it becomes. A slot that is filled and not taken leaves the question
// unanswered: it asks for more than would be computed.
type family struct {
	name  string
	is    func(q *reading) bool
	takes []slot
	make  func(q *reading, day time.Time) (Plan, error)
}

// families are tried in order. The first ones are those whose words leave no
// doubt.
var families = []family{
	{"an invoice", (*reading).isInvoice, []slot{topic, detail, named, state, total, newest}, invoicePlan},
	{"the reconciliation", (*reading).isReconciliation, []slot{topic, howMany, dated, newest, number, total, state, flow, named, kind, detail}, reconciliationPlan},
	{"what waits for approval", (*reading).isWaiting, []slot{topic, state, howMany, newest, number, detail}, waitingPlan},
	{"what agents proposed", (*reading).isProposals, []slot{topic, newest, number, dated, howMany, detail}, proposalsPlan},
	{"the policy", (*reading).isPolicy, []slot{topic, amountSlot, named, detail, currency, state, howMany, flow}, policyPlan},
	{"the runway", (*reading).isRunway, []slot{topic, grouping, currency, detail, howMany, newest, dated, total}, runwayPlan},
	{"the burn rate", (*reading).isBurn, []slot{topic, grouping, currency, average, dated, total}, burnPlan},
	{"subscriptions", (*reading).isSubscriptions, []slot{topic, grouping, named, newest, state, total, currency, detail, howMany, flow}, subscriptionsPlan},
	{"receivables", (*reading).isReceivables, []slot{topic, grouping, state, named, total, top, currency, detail, number}, receivablesPlan},
	{"invoices", (*reading).isInvoices, []slot{topic, newest, number, state, named, howMany, dated, grouping, detail, currency, total}, invoicesPlan},
	{"whether somebody was paid before", (*reading).isBefore, []slot{topic, named, detail}, beforePlan},
	{"somebody", (*reading).isParty, []slot{topic, named, detail, grouping}, partyPlan},
	{"overdue bills", (*reading).isOverdue, []slot{topic, state, total, named, currency, subject, howMany, grouping}, overduePlan},
	{"bills that are due", (*reading).isDue, []slot{topic, total, named, currency, dated, detail, subject, howMany, grouping, top}, duePlan},
	{"what is owed", (*reading).isPayables, []slot{topic, total, named, currency, top, grouping, subject, number, howMany, detail}, payablesPlan},
	{"a balance", (*reading).isBalance, []slot{topic, grouping, total, named, currency, kind, dated, howMany, detail}, balancePlan},
	{"an average", (*reading).isAverage, []slot{topic, average, grouping, flow, dated, named, subject, currency, kind, total, number, amountSlot}, averagePlan},
	{"a comparison", (*reading).isComparison, []slot{topic, compare, why, flow, dated, named, subject, currency, grouping, total, kind, detail}, comparisonPlan},
	{"the largest", (*reading).isLargest, []slot{topic, top, flow, dated, named, subject, currency, kind, number}, largestPlan},
	{"a ranking", (*reading).isRanking, []slot{topic, top, grouping, dated, number, currency, flow, detail, named, subject, total, kind}, rankingPlan},
	{"a count", (*reading).isCount, []slot{topic, howMany, flow, state, dated, named, subject, currency, kind, amountSlot, total, grouping}, countPlan},
	{"the last transactions", (*reading).isMoves, []slot{topic, newest, flow, state, named, number, currency, kind, dated, detail, subject, amountSlot}, movesPlan},
	{"a total", (*reading).isTotal, []slot{topic, flow, dated, named, subject, currency, kind, amountSlot, total, grouping, detail, average}, totalPlan},
}

const offers = "Answered are: cash and balances, inflow, outflow and net of a period, spending and revenue by category or counterparty and how they changed, burn and runway, single transactions and counts of them, bills, payables and receivables, invoices, subscriptions, who a counterparty is, the policy and what waits for approval."

// plan finds the family of a question and makes its plan.
func (q *reading) plan(day time.Time) (Plan, error) {
	q.day = day
	if q.has[turn] {
		return Plan{}, unanswered("The question leaves something out or turns something around: %s. That is not computed: ask for the parts one by one.", quoted(q.laters))
	}
	if q.has[later] {
		return Plan{}, unanswered("Questions about %s are not answered: the ledger says what was booked and what is owed. %s", quoted(q.laters), offers)
	}
	for _, s := range q.spans {
		if s.doubt != "" {
			return Plan{}, unanswered("%s may be read two ways. Write the date as YYYY-MM-DD.", fence.Text(s.doubt))
		}
	}
	for _, f := range families {
		if !f.is(q) {
			continue
		}
		for s := filler + 1; s <= turn; s++ {
			if q.has[s] && !slices.Contains(f.takes, s) {
				return Plan{}, unanswered("The question was read as one about %s, but not all of it applies to that%s. Ask for one thing at a time.", f.name, q.where(s))
			}
		}
		return f.make(q, day)
	}
	return Plan{}, unanswered("The question does not say what it is about. %s", offers)
}

// where quotes the words of a slot.
func (q *reading) where(s slot) string {
	words := q.wordsOf(s)
	if len(words) == 0 {
		return ""
	}
	return ": " + fence.Text(strings.Join(words, " "))
}

func (q *reading) wordsOf(s slot) []string {
	var words []string
	for at, have := range q.slots {
		if have == s {
			words = append(words, q.words[at].raw)
		}
	}
	return words
}

// only says whether no other words than these fill a slot.
func (q *reading) only(s slot, words ...string) bool {
	for at, have := range q.slots {
		if have == s && !slices.Contains(words, q.text[at]) {
			return false
		}
	}
	return true
}

// uses says whether one of some words is in the question.
func (q *reading) uses(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(q.text, w) })
}

// lone says whether one of some words is in the question and in no period.
func (q *reading) lone(words ...string) bool {
	for at, text := range q.text {
		if q.slots[at] != dated && slices.Contains(words, text) {
			return true
		}
	}
	return false
}

// about says whether the topics are among some, and there is one.
func (q *reading) about(topics ...string) bool {
	return len(q.topics) > 0 && !slices.ContainsFunc(q.topics, func(t string) bool { return !slices.Contains(topics, t) })
}

// names says whether one of some topics is among the question's.
func (q *reading) names(topics ...string) bool {
	return slices.ContainsFunc(topics, func(t string) bool { return slices.Contains(q.topics, t) })
}

// groups says whether one of some groupings is among the question's.
func (q *reading) groups(groupings ...string) bool {
	return slices.ContainsFunc(groupings, func(g string) bool { return slices.Contains(q.groupings, g) })
}

// in says whether all values are among some.
func in(values []string, allowed ...string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(allowed, v) })
}

// one is the only value of a filter, empty when there is none.
func (q *reading) one(values []string, what string) (string, error) {
	if len(values) > 1 {
		return "", unanswered("The question names several %s: %s. Ask for one at a time.", what, quoted(values))
	}
	if len(values) == 0 {
		return "", nil
	}
	return values[0], nil
}

// filters puts what the question names into the filters of a plan.
func (q *reading) filters(p *Plan) error {
	f := &p.Filters
	var categories []string
	for _, c := range q.categories {
		categories = append(categories, c.Name)
	}
	var err error
	for _, part := range []struct {
		into *string
		from []string
		what string
	}{
		{&f.Currency, q.curs, "currencies"}, {&f.AccountID, q.accounts, "accounts"}, {&f.AccountType, q.kinds, "kinds of accounts"},
		{&f.CounterpartyID, q.parties, "counterparties"}, {&f.Category, categories, "categories"},
	} {
		if *part.into, err = q.one(part.from, part.what); err != nil {
			return err
		}
	}
	if f.AccountID != "" {
		f.AccountType = "" // "the company card account" names one account, of whatever type
	}
	if len(q.invoices) > 0 {
		return unanswered("The question names an invoice, and something that is not computed of one invoice.")
	}
	return q.limits(f)
}

func (q *reading) limit(absent, most int) (int, error) {
	switch {
	case len(q.counts) == 0:
		return absent, nil
	case len(q.counts) > 1:
		return 0, unanswered("The question has several counts. Ask for one at a time.")
	case q.counts[0] > most:
		return 0, unanswered("At most %d are answered at once. Lists of more come from `ledger.transactions.list`.", most)
	}
	return q.counts[0], nil
}

// bound reads the word before a period as its edge: "by Friday" is not "on
// Friday". An edge that could lie at either end of its period is asked back.
func (q *reading) bound(s span, ahead bool, day time.Time, p *Period) error {
	edge := ""
	if len(q.edges) > 0 {
		edge = q.edges[0]
	}
	through := slices.Contains([]string{"by", "before", "until", "till", "to", "through"}, edge)
	switch {
	case s.to != nil || s.since, !through && (edge != "from" || !ahead):
		return nil // "from last month" is of it
	case through && ahead && edge != "to" && (s.end || s.date > 0 || s.day != "" || s.named || s.unit == days || s.unit == weeks):
		p.From = day.Format(time.DateOnly)
		if until, err := time.Parse(time.DateOnly, p.Until); err == nil && until.After(day) {
			p.Label = label(day, until)
		}
		return nil
	}
	return unanswered("It is not clear where the period begins and ends: %s %s. Say a month, or by which day.", fence.Text(edge), fence.Text(p.Label))
}

// period is the one the question names, or what is usual.
func (q *reading) period(day time.Time, ahead bool, usual span) (*Period, error) {
	s := usual
	switch {
	case len(q.spans) > 1:
		return nil, unanswered("The question names several periods. Ask for one at a time, or how one compares with the other.")
	case len(q.spans) == 1:
		s = q.spans[0]
	}
	p := s.resolve(day, ahead)
	if err := q.bound(s, ahead, day, &p); err != nil {
		return nil, err
	}
	return &p, p.sensible(day, ahead)
}

// sensible refuses a period of which nothing can be said.
func (p Period) sensible(day time.Time, ahead bool) error {
	if !ahead && p.From > day.Format(time.DateOnly) {
		return unanswered("%s has not begun on %s: the ledger holds nothing of it.", p.Label, day.Format(time.DateOnly))
	}
	if ahead && p.Until <= day.Format(time.DateOnly) {
		return unanswered("%s is over on %s. Ask which bills are overdue, or name a day as of which to look.", p.Label, day.Format(time.DateOnly))
	}
	if err := p.check(); err != nil {
		return fmt.Errorf("read period: %w", err)
	}
	return nil
}

// complete is the run of so many months that end with the last one that is over.
func complete(day time.Time, months int) Period {
	until := start(day.AddDate(0, 0, 1), monthsOf)
	return period(addMonths(until, -months), until)
}
