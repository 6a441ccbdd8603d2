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

// families are tried in order.
var families = []family{
	{"an invoice", (*reading).isInvoice, []slot{topic, detail, named, state, total, newest}, invoicePlan},
	{"top spending", (*reading).isSpending, []slot{topic, top, grouping, period, number, currency, flow}, spendingPlan},
	{"overdue bills", (*reading).isOverdue, []slot{topic, state, total, named, currency}, overduePlan},
	{"bills that are due", (*reading).isDue, []slot{topic, total, named, currency, period, detail}, duePlan},
	{"the last transactions", (*reading).isMoves, []slot{topic, newest, flow, state, named, number, currency, kind, period, detail}, movesPlan},
	{"a balance", (*reading).isBalance, []slot{topic, grouping, total, named, currency, kind, period}, balancePlan},
}

// plan finds the family of a question and makes its plan.
func (q *reading) plan(day time.Time) (Plan, error) {
	if q.has[later] {
		return Plan{}, unanswered("Questions about %s are not answered yet. Answered are: the cash position and balances, the last transactions, the bills that are due or overdue, an invoice by its number, and the top expense category or counterparty of a period.", quoted(q.laters))
	}
	for _, f := range families {
		if !f.is(q) {
			continue
		}
		for s := filler + 1; s <= later; s++ {
			if q.has[s] && !slices.Contains(f.takes, s) {
				return Plan{}, unanswered("The question was read as one about %s, but not all of it applies to that%s. Ask for one thing at a time.", f.name, q.where(s))
			}
		}
		return f.make(q, day)
	}
	if slices.Contains(q.topics, aboutInvoice) {
		return Plan{}, unanswered("The invoice's number is missing, such as INV-2025-0084. Lists of invoices are not answered yet.")
	}
	if slices.Contains(q.topics, aboutSpending) || q.has[top] {
		return Plan{}, unanswered("Of spending, what is answered so far is the top category or the top counterparty of a period. Say which of the two, and the period.")
	}
	return Plan{}, unanswered("The question does not say what it is about. Answered are: the cash position and balances, the last transactions, the bills that are due or overdue, an invoice by its number, and the top expense category or counterparty of a period.")
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

// only says whether one word alone fills a slot.
func (q *reading) only(s slot, word string) bool {
	for at, have := range q.slots {
		if have == s && q.text[at] != word {
			return false
		}
	}
	return true
}

// paidWhom is which way payments go: from a counterparty to us, from us to one,
// either way where the words do not say, and from us where nobody is named.
func (q *reading) paidWhom() []string {
	switch {
	case len(q.parties) == 0:
		return []string{"outflow"}
	case q.beside == "from" || q.beside == "by":
		return []string{"inflow"}
	case q.beside == "to" || q.beside == "pay" || q.beside == "paid":
		return []string{"outflow"}
	}
	return nil
}

// about says whether the topics are among some, and there is one.
func (q *reading) about(topics ...string) bool {
	return len(q.topics) > 0 && !slices.ContainsFunc(q.topics, func(t string) bool { return !slices.Contains(topics, t) })
}

func (q *reading) isInvoice() bool {
	return len(q.invoices) > 0 && (len(q.topics) == 0 || q.about(aboutInvoice, aboutDue, aboutBills, aboutOpen, aboutBalance, "payments", "moves out", "moves in", aboutMoves))
}

func invoicePlan(q *reading, _ time.Time) (Plan, error) {
	if len(q.invoices) > 1 {
		return Plan{}, unanswered("The question names several invoices: %s. Ask for one at a time.", quoted(q.invoices))
	}
	if len(q.states) > 0 && !slices.Equal(q.states, []string{"overdue"}) && !slices.Equal(q.states, []string{"disputed"}) || len(q.accounts) > 0 {
		return Plan{}, unanswered("Of an invoice, its status and all its payments are answered, not a part of them.")
	}
	party, err := q.one(q.parties, "counterparties")
	return Plan{Measure: Invoice, Entity: Invoices, Order: NewestFirst, Filters: Filters{InvoiceNumber: q.invoices[0], CounterpartyID: party}}, err
}

func (q *reading) isSpending() bool {
	// "Top vendors" are those most is spent with.
	return q.has[top] && (q.about(aboutSpending) || len(q.topics) == 0 && slices.Contains(q.groupings, ByParty))
}

func spendingPlan(q *reading, day time.Time) (Plan, error) {
	p := Plan{Measure: Spending, Entity: Transaction, Order: LargestFirst, Limit: 1}
	groups := slices.DeleteFunc(slices.Clone(q.groupings), func(g string) bool { return g == "" })
	if len(groups) == 0 && slices.Contains(q.text, "who") {
		groups = []string{ByParty}
	}
	if len(groups) != 1 || groups[0] != ByCategory && groups[0] != ByParty {
		return p, unanswered("Of spending, what is answered so far is the top category or the top counterparty of a period. Say which of the two.")
	}
	p.Grouping = groups[0]
	if len(q.flows) > 0 && !slices.Equal(q.flows, []string{"outflow"}) {
		return p, unanswered("Spending is outflow; the question also asks for something else.")
	}
	var err error
	if p.Limit, err = q.limit(1, maxGroups); err != nil {
		return p, err
	}
	if p.Filters.Currency, err = q.one(q.curs, "currencies"); err != nil {
		return p, err
	}
	p.Period, err = q.period(day, false, span{unit: monthsOf})
	return p, err
}

func (q *reading) isOverdue() bool {
	return slices.Equal(q.states, []string{"overdue"}) && !q.has[period] && (len(q.topics) == 0 || q.about(aboutBills, aboutDue, "payments"))
}

func overduePlan(q *reading, _ time.Time) (Plan, error) {
	return q.owed(Plan{Measure: Overdue, Entity: Obligation, Order: ByDueDate})
}

func (q *reading) isDue() bool {
	if !q.about(aboutBills, aboutDue, aboutOpen, "payments") || q.has[newest] || q.has[number] {
		return false
	}
	return slices.ContainsFunc(q.topics, func(t string) bool { return t != "payments" })
}

func duePlan(q *reading, day time.Time) (Plan, error) {
	if len(q.spans) == 0 && !slices.Contains(q.topics, aboutDue) {
		return Plan{}, unanswered("Of bills, those that are due by a day or overdue are answered. Say by when, such as within 30 days.")
	}
	ahead := usualDays
	if slices.Contains(q.text, "when") {
		ahead = whenDays // the question is about the date itself
	}
	period, err := q.period(day, true, span{unit: days, count: ahead, ahead: true})
	if err != nil {
		return Plan{}, err
	}
	if q.has[detail] && !q.only(detail, "when") {
		return Plan{}, unanswered("Of bills, those that are due or overdue are answered. Of the rest of the question, it is not clear which bills it wants.")
	}
	return q.owed(Plan{Measure: Due, Entity: Obligation, Order: ByDueDate, Period: period})
}

// How many days "due" looks ahead when the question says nothing, and how many
// "when" does.
const (
	usualDays = 7
	whenDays  = 92
)

// oneMove are the words for a single transaction.
var oneMove = []string{"transaction", "payment", "charge", "purchase", "debit", "deposit", "receipt", "transfer", "withdrawal", "pay", "paid", "txn", "tx", "entry", "movement", "booking"}

// single says whether the question is about one transaction.
func (q *reading) single() bool {
	return slices.ContainsFunc(q.text, func(w string) bool { return slices.Contains(oneMove, w) })
}

func (q *reading) owed(p Plan) (Plan, error) {
	if len(q.accounts) > 0 {
		return p, unanswered("Bills are not kept by account. Ask by counterparty, or for all of them.")
	}
	var err error
	if p.Filters.CounterpartyID, err = q.one(q.parties, "counterparties"); err != nil {
		return p, err
	}
	p.Filters.Currency, err = q.one(q.curs, "currencies")
	return p, err
}

func (q *reading) isMoves() bool {
	if len(q.topics) == 0 && q.has[newest] && len(q.flows) > 0 {
		return true // "the last 5 inflows"
	}
	if q.single() && !q.has[newest] {
		return false // one of them, and nothing says which
	}
	return q.about(aboutMoves, "payments", "moves out", "moves in", "moves own") && !slices.Contains(q.states, "overdue")
}

func movesPlan(q *reading, day time.Time) (Plan, error) {
	const usual = 5
	p := Plan{Measure: Transactions, Entity: Transaction, Order: NewestFirst}
	if q.has[detail] && !q.only(detail, "when") {
		return p, unanswered("The last transactions are answered as they stand. The rest of the question is not clear: %s.", quoted(q.wordsOf(detail)))
	}
	flows := slices.Clone(q.flows)
	if slices.Contains(q.topics, "payments") {
		flows = append(flows, q.paidWhom()...)
	}
	for topic, flow := range map[string]string{"moves out": "outflow", "moves in": "inflow", "moves own": "transfer"} {
		if slices.Contains(q.topics, topic) && !slices.Contains(flows, flow) {
			flows = append(flows, flow)
		}
	}
	absent := usual
	if q.single() && q.has[newest] {
		absent = 1
	}
	var err error
	if p.Limit, err = q.limit(absent, maxTransactions); err != nil {
		return p, err
	}
	for _, f := range []struct {
		into *string
		from []string
		what string
	}{
		{&p.Filters.Direction, flows, "directions"}, {&p.Filters.Status, q.states, "statuses"}, {&p.Filters.Currency, q.curs, "currencies"},
		{&p.Filters.AccountID, q.accounts, "accounts"}, {&p.Filters.AccountType, q.kinds, "kinds of accounts"}, {&p.Filters.CounterpartyID, q.parties, "counterparties"},
	} {
		if *f.into, err = q.one(f.from, f.what); err != nil {
			return p, err
		}
	}
	if len(q.spans) > 0 {
		p.Period, err = q.period(day, false, span{})
	}
	return p, err
}

func (q *reading) isBalance() bool {
	if len(q.parties) > 0 || len(q.invoices) > 0 {
		return false
	}
	return q.about(aboutCash, aboutBalance, aboutHoldings) || len(q.topics) == 0 && (len(q.accounts) > 0 || len(q.kinds) > 0 || len(q.curs) > 0)
}

func balancePlan(q *reading, _ time.Time) (Plan, error) {
	p := Plan{Measure: Balance, Entity: Accounts, Grouping: ByAccount, Order: LargestFirst}
	if slices.ContainsFunc(q.groupings, func(g string) bool { return g != ByAccount && g != "currency" }) {
		return p, unanswered("Balances are answered by account and by currency, not by category or counterparty.")
	}
	if slices.ContainsFunc(q.spans, func(s span) bool { return s != span{unit: days} }) {
		return p, unanswered("Balances are answered as they are today. For another day, ask with as_of set to it.")
	}
	var err error
	if p.Filters.AccountID, err = q.one(q.accounts, "accounts"); err != nil {
		return p, err
	}
	if p.Filters.AccountType, err = q.one(q.kinds, "kinds of accounts"); err != nil {
		return p, err
	}
	if p.Filters.Currency, err = q.one(q.curs, "currencies"); err != nil {
		return p, err
	}
	place := p.Filters.AccountID != "" || p.Filters.AccountType != ""
	switch {
	case place && slices.Contains(q.topics, aboutCash) && slices.Contains(q.text, "and"):
		return p, unanswered("The question asks for the cash position and for an account beside it. Ask for one at a time.")
	case place:
		if p.Filters.AccountID != "" {
			p.Filters.AccountType = "" // "the company card account" names one account, of whatever type
		}
	case slices.Contains(q.topics, aboutCash), slices.Contains(q.topics, aboutHoldings) && p.Filters.Currency == "":
		p.Measure = Cash
	case len(q.topics) == 0 && p.Filters.Currency == "":
		return p, unanswered("The question does not say which account it is about.")
	}
	return p, nil
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
	switch {
	case len(q.spans) == 0 || q.edge != "by" && q.edge != "to" && (q.edge != "from" || !ahead):
		return nil // "from last month" is of it
	case q.edge == "by" && ahead && (s.unit == days || s.unit == weeks):
		p.From = day.Format(time.DateOnly)
		if until, err := time.Parse(time.DateOnly, p.Until); err == nil && until.After(day) {
			p.Label = label(day, until)
		}
		return nil
	}
	return unanswered("It is not clear where the period begins and ends: %s %s. Say a month, or by which day.", fence.Text(q.edge), fence.Text(p.Label))
}

// period is the one the question names, or what is usual.
func (q *reading) period(day time.Time, ahead bool, usual span) (*Period, error) {
	s := usual
	switch {
	case len(q.spans) > 1:
		return nil, unanswered("The question names several periods. Comparisons and ranges are not answered yet.")
	case len(q.spans) == 1:
		s = q.spans[0]
	}
	p := s.resolve(day, ahead)
	if err := q.bound(s, ahead, day, &p); err != nil {
		return nil, err
	}
	if !ahead && p.From > day.Format(time.DateOnly) {
		return nil, unanswered("%s has not begun on %s: the ledger holds nothing of it.", p.Label, day.Format(time.DateOnly))
	}
	if ahead && p.Until <= day.Format(time.DateOnly) {
		return nil, unanswered("%s is over on %s. Ask which bills are overdue, or name a day as of which to look.", p.Label, day.Format(time.DateOnly))
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("read period: %w", err)
	}
	return &p, nil
}
