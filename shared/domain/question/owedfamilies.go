package question

import (
	"slices"
	"time"
)

func (q *reading) isInvoice() bool {
	return len(q.invoices) > 0 && (len(q.topics) == 0 || q.about(aboutInvoice, aboutDue, aboutBills, aboutOpen, aboutOwed, aboutBalance, aboutPayments, aboutPay, aboutPaidUs, aboutOut, aboutIn, aboutMoves))
}

func invoicePlan(q *reading, _ time.Time) (Plan, error) {
	if len(q.invoices) > 1 {
		return Plan{}, unanswered("The question names several invoices: %s. Ask for one at a time.", quoted(q.invoices))
	}
	if len(q.states) > 0 && !slices.Equal(q.states, []string{"overdue"}) && !slices.Equal(q.states, []string{"disputed"}) || len(q.accounts) > 0 || len(q.categories) > 0 {
		return Plan{}, unanswered("Of an invoice, its status and all its payments are answered, not a part of them.")
	}
	party, err := q.one(q.parties, "counterparties")
	return Plan{Measure: Invoice, Entity: InvoiceRows, Order: NewestFirst, Filters: Filters{InvoiceNumber: q.invoices[0], CounterpartyID: party}}, err
}

// owedType is the type of obligation that the question's categories are owed as.
func (q *reading) owedType() (string, error) {
	var types []string
	for _, word := range q.subjects {
		if typesOfCategories[word] == "" {
			return "", unanswered("Bills are not kept by category. Ask by counterparty, or for all of them.")
		}
		types = append(types, typesOfCategories[word])
	}
	if len(q.subjects) == 0 && len(q.categories) > 0 {
		return "", unanswered("Bills are not kept by category. Ask by counterparty, or for all of them.")
	}
	return q.one(types, "types")
}

// owed fills in whom and what a plan over bills is about.
func (q *reading) owed(p Plan) (Plan, error) {
	if len(q.accounts) > 0 {
		return p, unanswered("Bills are not kept by account. Ask by counterparty, or for all of them.")
	}
	var err error
	if p.Filters.Type, err = q.owedType(); err != nil {
		return p, err
	}
	if p.Filters.CounterpartyID, err = q.one(q.parties, "counterparties"); err != nil {
		return p, err
	}
	p.Filters.Currency, err = q.one(q.curs, "currencies")
	return p, err
}

func (q *reading) isOverdue() bool {
	return slices.Equal(q.states, []string{"overdue"}) && !q.has[dated] && (len(q.topics) == 0 || q.about(aboutBills, aboutDue, aboutPayments, aboutPay, aboutOwe, aboutOpen, aboutPriority))
}

func overduePlan(q *reading, _ time.Time) (Plan, error) {
	if q.groups("customer", ByCategory, ByMonth) {
		return Plan{}, unanswered("Overdue bills are listed by their date.")
	}
	return q.owed(Plan{Measure: Overdue, Entity: Obligation, Order: ByDueDate})
}

// isDue: what is to be paid by a day. A bill of a month that is over is what was
// paid for it.
func (q *reading) isDue() bool {
	if q.has[newest] || q.has[number] || q.has[top] || !in(q.groupings, ByParty) {
		return false
	}
	next := len(q.topics) == 0 && len(q.subjects) > 0 && q.lone("next") || q.about(aboutPayments) && len(q.subjects) > 0 && q.lone("next", "upcoming")
	if next {
		return true
	}
	if q.pastBill() {
		return false
	}
	toPay := q.names(aboutInvoice) && q.names(aboutDue) && q.uses("pay")
	if toPay && q.about(aboutInvoice, aboutDue, aboutPay) {
		return true
	}
	if !q.about(aboutBills, aboutDue, aboutOpen, aboutPayments, aboutOwe, aboutPriority, aboutPay) || q.names(aboutPay) && !q.names(aboutDue) {
		return false
	}
	return q.names(aboutDue) || q.has[dated] && q.names(aboutBills, aboutOpen, aboutOwe) && !q.uses("was", "were", "did") || q.names(aboutBills) && q.lone("next", "soon", "when")
}

// pastBill says whether the question is about a bill that was paid: that of a
// party or a category, in a month that is over or said to have been.
func (q *reading) pastBill() bool {
	if !q.about(aboutBills) || len(q.spans) != 1 || len(q.parties)+len(q.categories) != 1 {
		return false
	}
	if len(q.categories) == 1 && (len(q.subjects) == 0 || typesOfCategories[q.subjects[0]] == "") {
		return true
	}
	return q.uses("was", "were", "did") || q.spans[0].resolve(q.day, false).Until <= q.day.Format(time.DateOnly)
}

// How many days "due" looks ahead when the question says nothing, how many
// "when" does, and how many "next" does: a yearly bill is a year away.
const (
	usualDays = 7
	whenDays  = 92
	nextDays  = 400
)

func duePlan(q *reading, day time.Time) (Plan, error) {
	p, err := q.owed(Plan{Measure: Due, Entity: Obligation, Order: ByDueDate})
	if err != nil {
		return p, err
	}
	ahead := usualDays
	switch {
	case len(q.spans) == 0 && (q.lone("next") || p.Filters.Type != "" && q.uses("when")):
		ahead, p.Limit = nextDays, 1
	case q.uses("when"), p.Filters.Type != "":
		ahead = whenDays // the question is about the date itself
	}
	p.Period, err = q.period(day, true, span{unit: days, count: ahead, ahead: true})
	if err != nil {
		return p, err
	}
	if !q.only(detail, "when", "next", "still", "already", "yet") {
		return p, unanswered("Of bills, those that are due or overdue are answered. Of the rest of the question, it is not clear which bills it wants.")
	}
	return p, nil
}

func (q *reading) isPayables() bool {
	if !q.about(aboutOwe, aboutBills, aboutOpen, aboutPriority, aboutPay, aboutPayments) && !(q.names(aboutOwe) && q.about(aboutOwe, aboutHoldings, aboutBalance, aboutOpen)) && !(q.has[top] && q.about(aboutOwe, aboutBills, aboutOpen, aboutDue)) || q.has[dated] {
		return false
	}
	if len(q.accounts) > 0 || q.has[kind] {
		return false // owed on a card: its balance
	}
	return q.names(aboutOwe, aboutBills, aboutPriority) || q.names(aboutOpen) && (len(q.subjects) > 0 || len(q.parties) > 0)
}

func payablesPlan(q *reading, _ time.Time) (Plan, error) {
	p, err := q.owed(Plan{Measure: Payables, Entity: Obligation, Order: ByDueDate})
	if err != nil {
		return p, err
	}
	switch {
	case !q.harmless():
		return p, unanswered("Of what is owed, the total, the list and the largest are answered. The rest of the question is not clear%s.", q.where(detail))
	case !in(q.groupings, ByParty):
		return p, unanswered("What is owed is answered in all and by counterparty.")
	}
	if q.groups(ByParty) && (q.has[top] || q.uses("which", "who", "by", "per", "each")) {
		p.Grouping, p.Order = ByParty, LargestFirst
	}
	if q.has[top] {
		p.Order = LargestFirst
		p.Limit, err = q.limit(1, maxGroups)
	} else if q.has[number] {
		return p, unanswered("Of what is owed, it is not clear what the number counts.")
	}
	return p, err
}

func (q *reading) isReceivables() bool {
	if q.has[dated] || q.has[newest] || q.has[howMany] {
		return false
	}
	late := slices.Contains(q.states, "overdue") && q.groups("customer") && (len(q.topics) == 0 || q.about(aboutOwed, aboutOpen, aboutPay, aboutPaidUs, aboutPayments))
	if late {
		return true
	}
	if q.names(aboutInvoice) && q.names(aboutOpen) && q.uses("much", "total", "value") && q.about(aboutInvoice, aboutOpen, aboutOwed) {
		return true
	}
	return q.names(aboutOwed, aboutAging) && q.about(aboutOwed, aboutAging, aboutOpen, aboutOwe, aboutHoldings, aboutInvoice, aboutPay, aboutBalance, aboutCash)
}

func receivablesPlan(q *reading, _ time.Time) (Plan, error) {
	p := Plan{Measure: Receivables, Entity: InvoiceRows, Order: ByDueDate}
	if len(q.accounts) > 0 || len(q.categories) > 0 || !in(q.states, "overdue") || !in(q.groupings, "customer", "currency") || !q.only(detail, "already", "still", "yet", "status", "break", "down", "breakdown", "split", "by") {
		return p, unanswered("Receivables are answered in all, overdue, by customer and by age.")
	}
	if q.groups("customer") || q.names(aboutInvoice) || q.names(aboutAging) {
		p.Filters.Type = "invoice"
	}
	if len(q.states) > 0 {
		p.Filters.Status = "overdue"
	}
	var err error
	if p.Filters.CounterpartyID, err = q.one(q.parties, "counterparties"); err != nil {
		return p, err
	}
	if p.Filters.Currency, err = q.one(q.curs, "currencies"); err != nil {
		return p, err
	}
	switch {
	case q.names(aboutAging):
		p.Grouping = ByAge
	case q.uses("which", "who", "whos", "by", "per", "each", "list") && len(q.parties) == 0 || q.has[top]:
		p.Grouping, p.Order = ByParty, LargestFirst
	}
	if q.has[top] {
		p.Limit, err = q.limit(1, maxGroups)
	} else if q.has[number] {
		return p, unanswered("Of receivables, it is not clear what the number counts.")
	}
	return p, err
}

// isInvoices: lists and counts of invoices.
func (q *reading) isInvoices() bool {
	return len(q.invoices) == 0 && q.names(aboutInvoice) && !(q.names(aboutDue) && q.uses("pay")) && q.about(aboutInvoice, aboutOpen, aboutDue, aboutOwed, aboutPay, aboutPaidUs)
}

func invoicesPlan(q *reading, day time.Time) (Plan, error) {
	p := Plan{Measure: Invoices, Entity: InvoiceRows, Order: NewestFirst}
	var err error
	if p.Filters.CounterpartyID, err = q.one(q.parties, "counterparties"); err != nil {
		return p, err
	}
	if p.Filters.Currency, err = q.one(q.curs, "currencies"); err != nil {
		return p, err
	}
	states := slices.Clone(q.states)
	switch {
	case len(states) == 0 && (q.names(aboutOpen) || q.names(aboutOwed)):
		states = []string{"open"}
	case len(states) == 0 && q.names(aboutPay):
		states = []string{"paid"}
	case len(states) == 0 && !q.has[newest] && !q.has[howMany] && !q.has[dated] && len(q.parties) == 0:
		return p, unanswered("The invoice's number is missing, such as INV-2025-0084, or which invoices are meant: the last five, the overdue ones, those of a month.")
	}
	if p.Filters.Status, err = q.one(states, "states"); err != nil {
		return p, err
	}
	if p.Filters.Direction, err = q.invoiceDirection(); err != nil {
		return p, err
	}
	if len(q.accounts) > 0 || len(q.categories) > 0 || q.names(aboutDue) || q.groups(ByMonth, ByCategory, ByAccount) || !q.only(detail, "sent", "send", "issued", "issue", "still", "yet", "already") {
		return p, unanswered("Invoices are listed and counted by party, state and the month they were issued in.")
	}
	if len(q.spans) > 0 {
		if p.Filters.Status != "" && !q.uses("sent", "issued", "send", "issue") {
			return p, unanswered("It is not clear whether the period is when the invoices were issued, due or paid. Say: issued in it.")
		}
		if p.Period, err = q.period(day, false, span{}); err != nil {
			return p, err
		}
	}
	if q.has[howMany] {
		return p, nil
	}
	absent := maxTransactions
	switch {
	case q.has[newest] && q.uses("invoice") && len(q.counts) == 0:
		absent = 1
	case q.has[newest] || p.Filters.Status == "":
		absent = 5
	}
	p.Limit, err = q.limit(absent, maxTransactions)
	return p, err
}

// invoiceDirection is whose invoices are meant: those we sent, or those we got.
func (q *reading) invoiceDirection() (string, error) {
	var said []string
	if q.uses("sent", "send", "issued", "issue", "sold") || q.groups("customer") || q.names(aboutOwed, aboutPaidUs) || q.beside == "to" {
		said = append(said, "receivable")
	}
	if q.uses("received", "got", "receive") || q.groups(ByParty) || q.beside == "from" {
		said = append(said, "payable")
	}
	return q.one(said, "kinds of invoices")
}

func (q *reading) isSubscriptions() bool {
	return q.names(aboutSubscribe) && q.about(aboutSubscribe, aboutSpending, aboutPay, aboutOut, aboutPayments, aboutDue)
}

func subscriptionsPlan(q *reading, _ time.Time) (Plan, error) {
	p := Plan{Measure: Subscriptions, Entity: Obligation, Grouping: ByParty, Order: LargestFirst}
	if !in(q.groupings, ByMonth, "currency", ByParty) || !in(q.states, "unused") || len(q.accounts) > 0 || len(q.categories) > 0 || !q.only(detail, "when", "still", "next", "long") {
		return p, unanswered("Of subscriptions, what they cost a month, their last charges and those that are charged no longer are answered.")
	}
	var err error
	if len(q.states) > 0 {
		p.Filters.Status = "unused"
	}
	if p.Filters.CounterpartyID, err = q.one(q.parties, "counterparties"); err != nil {
		return p, err
	}
	p.Filters.Currency, err = q.one(q.curs, "currencies")
	return p, err
}
