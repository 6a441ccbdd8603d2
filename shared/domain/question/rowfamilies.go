package question

import (
	"slices"
	"time"
)

func (q *reading) isCount() bool {
	return q.has[howMany] && !q.has[newest] && !q.has[top] && (q.about(aboutMoves, aboutPayments, aboutOut, aboutIn, aboutPay, aboutPaidUs, aboutSpending, aboutOwn) || len(q.topics) == 0 && len(q.flows) > 0) && in(q.groupings, ByParty, "customer")
}

func countPlan(q *reading, day time.Time) (Plan, error) {
	p := Plan{Measure: Count, Entity: Transaction, Order: NewestFirst}
	if err := q.rows(&p); err != nil {
		return p, err
	}
	if len(q.groupings) > 0 && len(q.parties) == 0 {
		return p, unanswered("Transactions are counted, not counterparties.")
	}
	if p.Filters.Direction == "transfer" {
		return p, unanswered("Each transfer is two transactions, one on either account, so a count of them would mislead. Ask for the last transfers.")
	}
	usual := span{unit: monthsOf}
	if p.Filters.CounterpartyID != "" {
		usual = span{all: true}
	}
	var err error
	p.Period, err = q.period(day, false, usual)
	return p, err
}

// rows fills in the filters of a plan over single transactions.
func (q *reading) rows(p *Plan) error {
	if err := q.filters(p); err != nil {
		return err
	}
	if p.Filters.Amount != "" {
		return unanswered("The question names an amount. Transactions are found by more or by less than one.")
	}
	flows := slices.Clone(q.flows)
	add := func(flow string) {
		if flow != "" && !slices.Contains(flows, flow) {
			flows = append(flows, flow)
		}
	}
	ways := map[string]string{aboutOut: "outflow", aboutIn: "inflow", aboutOwn: "transfer", aboutPaidUs: "inflow", aboutSpending: "outflow", aboutRevenue: "inflow"}
	for _, topic := range q.topics {
		add(ways[topic])
	}
	if q.names(aboutPayments, aboutPay) && len(flows) == 0 {
		add(q.paidWhom())
	}
	var err error
	if p.Filters.Direction, err = q.one(flows, "directions"); err != nil {
		return err
	}
	p.Filters.Status, err = q.one(q.states, "statuses")
	return err
}

// isMoves: single transactions, the newest first.
func (q *reading) isMoves() bool {
	if q.about(aboutOut) && len(q.categories) == 1 && !q.has[newest] && !q.uses("list", "show", "which") {
		return false // "bank charges": what they came to
	}
	if !in(q.states, ledgerStates...) {
		return false
	}
	if len(q.topics) == 0 && q.has[newest] && len(q.flows) > 0 {
		return true // "the last 5 inflows"
	}
	if q.single() && !q.several() && !q.has[newest] && len(q.states) == 0 {
		return false // one of them, and nothing says which
	}
	if q.names(aboutSpending, aboutRevenue) && !q.has[newest] {
		return false // a sum
	}
	if q.names(aboutPay, aboutPaidUs) && !q.has[newest] {
		return false
	}
	if q.uses("much") && !q.has[newest] {
		return false
	}
	return q.about(aboutMoves, aboutPayments, aboutOut, aboutIn, aboutOwn, aboutSpending, aboutPaidUs, aboutPay) && !q.has[total]
}

var ledgerStates = []string{"pending", "posted", "cleared", "failed", "reversed", "disputed"}

func movesPlan(q *reading, day time.Time) (Plan, error) {
	const usual = 5
	p := Plan{Measure: Transactions, Entity: Transaction, Order: NewestFirst}
	if !q.only(detail, "when", "still") {
		return p, unanswered("The last transactions are answered as they stand. The rest of the question is not clear: %s.", quoted(q.wordsOf(detail)))
	}
	if err := q.rows(&p); err != nil {
		return p, err
	}
	absent := usual
	switch {
	case q.single() && !q.several() && q.has[newest]:
		absent = 1
		if q.names(aboutPayments, aboutPay, aboutPaidUs) && p.Filters.Status == "" {
			p.Filters.Status = Settled // what is on its way is no payment yet
		}
	case !q.has[newest]:
		absent = maxTransactions // all of them, as far as they fit
	}
	var err error
	if p.Limit, err = q.limit(absent, maxTransactions); err != nil {
		return p, err
	}
	if len(q.spans) > 0 {
		p.Period, err = q.period(day, false, span{})
	}
	return p, err
}

func (q *reading) isReconciliation() bool {
	return q.names(aboutReconcile) && q.about(aboutReconcile, aboutMoves, aboutPayments, aboutOut, aboutIn)
}

func reconciliationPlan(q *reading, day time.Time) (Plan, error) {
	p := Plan{Measure: Transactions, Entity: Transaction, Order: NewestFirst}
	if err := q.rows(&p); err != nil {
		return p, err
	}
	if !q.only(detail, "still", "yet", "already") {
		return p, unanswered("What is not reconciled is listed and counted. The rest of the question is not clear%s.", q.where(detail))
	}
	p.Filters.Reconciliation = "unreconciled"
	var err error
	if p.Limit, err = q.limit(maxTransactions, maxTransactions); err != nil {
		return p, err
	}
	if len(q.spans) > 0 {
		p.Period, err = q.period(day, false, span{})
	}
	return p, err
}

func (q *reading) isBalance() bool {
	if len(q.parties) > 0 || len(q.invoices) > 0 || len(q.categories) > 0 {
		return false
	}
	if q.about(aboutOwe, aboutOpen) && (len(q.accounts) > 0 || slices.Contains(q.kinds, "card")) {
		return true
	}
	return q.about(aboutCash, aboutBalance, aboutHoldings) || len(q.topics) == 0 && (len(q.accounts) > 0 || len(q.kinds) > 0 || len(q.curs) > 0)
}

func balancePlan(q *reading, _ time.Time) (Plan, error) {
	p := Plan{Measure: Balance, Entity: Accounts, Grouping: ByAccount, Order: LargestFirst}
	if !in(q.groupings, ByAccount, "currency") || !q.only(detail, "still", "status", "how", "is") {
		return p, unanswered("Balances are answered by account and by currency, not by category or counterparty.")
	}
	if slices.ContainsFunc(q.spans, func(s span) bool { return s != span{unit: days} }) {
		return p, unanswered("Balances are answered as they are today. For another day, ask with as_of set to it.")
	}
	var err error
	for _, f := range []struct {
		into *string
		from []string
		what string
	}{{&p.Filters.AccountID, q.accounts, "accounts"}, {&p.Filters.AccountType, q.kinds, "kinds of accounts"}, {&p.Filters.Currency, q.curs, "currencies"}} {
		if *f.into, err = q.one(f.from, f.what); err != nil {
			return p, err
		}
	}
	place := p.Filters.AccountID != "" || p.Filters.AccountType != ""
	switch {
	case place && slices.Contains(q.topics, aboutCash) && slices.Contains(q.text, "and"):
		return p, unanswered("The question asks for the cash position and for an account beside it. Ask for one at a time.")
	case place && p.Filters.Currency != "" && len(q.curs) > 0 && q.uses("in") && q.has[howMany]:
		return p, unanswered("Balances are answered in the currency of each account. Nothing is converted.")
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

// isParty: a name, and nothing but who that is.
func (q *reading) isParty() bool {
	if len(q.parties) == 0 || len(q.accounts)+len(q.invoices)+len(q.categories) > 0 {
		return false
	}
	return (len(q.topics) == 0 || q.about(aboutParty, aboutPay)) && (q.names(aboutParty) || !q.uses("much", "many", "when", "why", "where", "ceo", "pay", "paid", "will"))
}

func partyPlan(q *reading, _ time.Time) (Plan, error) {
	if !q.only(detail, "status", "how", "is", "still") || !in(q.groupings, ByParty, "customer") {
		return Plan{}, unanswered("Of a counterparty, who it is, its risk, whether it is verified and its payments are answered. The rest of the question is not clear%s.", q.where(detail))
	}
	party, err := q.one(q.parties, "counterparties")
	return Plan{Measure: Party, Entity: PartyRows, Order: NewestFirst, Filters: Filters{CounterpartyID: party}}, err
}

func (q *reading) isBefore() bool {
	if len(q.parties) > 0 && q.about(aboutPay, aboutPaidUs) && !q.has[dated] && len(q.text) > 0 && slices.Contains([]string{"have", "has", "did"}, q.text[0]) {
		return true // "has AWS been paid"
	}
	return q.names(aboutBefore) && len(q.parties) > 0 && q.about(aboutBefore, aboutPay, aboutPaidUs, aboutPayments) && (q.names(aboutPay, aboutPaidUs, aboutPayments) || q.uses("paid", "pay")) && !q.uses("much", "many", "when")
}

func beforePlan(q *reading, _ time.Time) (Plan, error) {
	p := Plan{Measure: PaidBefore, Entity: PartyRows, Order: NewestFirst, Filters: Filters{Direction: "outflow"}}
	if q.names(aboutPaidUs) {
		p.Filters.Direction = "inflow"
	}
	if len(q.accounts)+len(q.categories) > 0 || !q.only(detail, "already", "yet") {
		return p, unanswered("Whether somebody was paid before is answered for a counterparty as a whole.")
	}
	var err error
	p.Filters.CounterpartyID, err = q.one(q.parties, "counterparties")
	return p, err
}

// isWaiting: what nobody has decided yet.
func (q *reading) isWaiting() bool {
	if len(q.sums)+len(q.parties) > 0 || !q.about(aboutWaiting, aboutApproval, aboutPayments, aboutProposals, aboutMoves, aboutOut, aboutBills, aboutOpen) {
		return false
	}
	pending := slices.Contains(q.states, "pending") && q.names(aboutProposals, aboutApproval)
	open := q.about(aboutApproval) && q.uses("anything", "any", "what", "which") && !q.uses("who", "policy", "can", "when", "how", "does")
	return q.names(aboutWaiting) || pending || open || q.names(aboutApproval) && q.names(aboutPayments, aboutProposals, aboutOut, aboutBills) && q.uses("which", "what", "show", "list", "any", "anything") && !q.uses("who", "policy", "can", "when", "does", "a")
}

func waitingPlan(q *reading, _ time.Time) (Plan, error) {
	p := Plan{Measure: Waiting, Entity: ProposalRows, Order: NewestFirst}
	if !in(q.states, "pending") || !q.only(detail, "still", "when") {
		return p, unanswered("What waits for approval is answered whole.")
	}
	var err error
	p.Limit, err = q.limit(maxTransactions, maxTransactions)
	return p, err
}

func (q *reading) isProposals() bool {
	return q.names(aboutProposals) && q.about(aboutProposals, aboutPayments, aboutPay, aboutOut) && len(q.parties)+len(q.sums) == 0
}

func proposalsPlan(q *reading, day time.Time) (Plan, error) {
	const usual = 10
	p := Plan{Measure: Proposed, Entity: ProposalRows, Order: NewestFirst}
	if q.has[howMany] || !q.only(detail, "already", "yet") {
		return p, unanswered("What agents proposed is listed, the newest first.")
	}
	var err error
	if p.Limit, err = q.limit(usual, maxTransactions); err != nil {
		return p, err
	}
	if len(q.spans) > 0 {
		p.Period, err = q.period(day, false, span{})
	}
	return p, err
}

func (q *reading) isPolicy() bool {
	if !q.about(aboutPolicy, aboutApproval, aboutPay, aboutPayments, aboutOut, aboutSpending, aboutProposals) {
		return false
	}
	return q.names(aboutPolicy) || q.names(aboutApproval)
}

func policyPlan(q *reading, _ time.Time) (Plan, error) {
	p := Plan{Measure: PolicyRules, Entity: PolicyRow}
	if err := q.filters(&p); err != nil {
		return p, err
	}
	f := p.Filters
	switch {
	case f.AccountID != "" || f.AccountType != "" || f.Category != "" || f.AmountOver != "" || f.AmountUnder != "" || len(q.states) > 0 || !q.only(detail, "still", "already", "when"):
		return p, unanswered("The policy is answered whole, or for a payment of an amount to a counterparty.")
	case !in(q.flows, "outflow"):
		return p, unanswered("The policy is answered for payments that go out.")
	case (f.Amount == "") != (f.CounterpartyID == ""):
		return p, unanswered("What the policy says of a payment depends on how much is paid and to whom. Say both.")
	}
	return p, nil
}
