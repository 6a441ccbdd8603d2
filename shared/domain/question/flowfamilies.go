package question

import (
	"slices"
	"time"
)

// The topics that are about money going out, and coming in.
var (
	outgoing = []string{aboutSpending, aboutPay, aboutOut, aboutPayments, aboutMoves, aboutHoldings, aboutCash}
	incoming = []string{aboutRevenue, aboutPaidUs, aboutIn, aboutPayments, aboutMoves, aboutHoldings, aboutCash}
)

// direction is which way the money of a question goes: "inflow", "outflow",
// "net", or empty where it does not say.
func (q *reading) direction() string {
	both := slices.Contains(q.flows, "inflow") && slices.Contains(q.flows, "outflow")
	switch {
	case len(q.flows) > 0 && !in(q.flows, "inflow", "outflow"):
		return ""
	case both || q.names(aboutNet):
		return "net"
	case len(q.flows) == 1:
		if q.flows[0] == "inflow" && q.names(aboutSpending, aboutOut) || q.flows[0] == "outflow" && q.names(aboutRevenue, aboutIn, aboutPaidUs) {
			return ""
		}
		return q.flows[0]
	case q.names(aboutSpending, aboutOut) && !q.names(aboutRevenue, aboutIn, aboutPaidUs):
		return "outflow"
	case q.names(aboutRevenue, aboutIn, aboutPaidUs) && !q.names(aboutSpending, aboutOut):
		return "inflow"
	case q.names(aboutPay), q.names(aboutPayments):
		if q.groups("customer") {
			return ""
		}
		return q.paidWhom()
	case q.pastBill():
		return "outflow"
	case (len(q.topics) == 0 || q.about(aboutMoves)) && len(q.categories) == 1:
		if q.categories[0].In && !q.categories[0].Out {
			return "inflow"
		}
		return "outflow"
	}
	return ""
}

// paidWhom is which way payments go: from a counterparty to us, or from us to
// one, which is usual.
func (q *reading) paidWhom() string {
	if len(q.parties) == 0 {
		return "outflow"
	}
	switch q.beside {
	case "from", "by":
		return "inflow"
	case "to", "pay", "paid", "paying", "with", "for", "on", "at", "":
		return "outflow"
	}
	if q.names(aboutPay) {
		return "outflow"
	}
	return "" // of a party's payments it is not said whose they are
}

// flowMeasure is the measure of a direction.
func flowMeasure(direction string) Measure {
	return map[string]Measure{"inflow": Revenue, "outflow": Spending, "net": Net}[direction]
}

// moves says whether the question is about money that moved and nothing else.
func (q *reading) moves() bool {
	if q.direction() == "" {
		return false
	}
	return len(q.topics) == 0 || q.about(slices.Concat(outgoing, incoming, []string{aboutNet, aboutBills})...)
}

// oneMove are the words for a single transaction, and many for several.
var (
	oneMove   = []string{"transaction", "payment", "charge", "purchase", "debit", "deposit", "receipt", "transfer", "withdrawal", "txn", "tx", "entry", "movement", "booking", "expense", "cost", "sale", "payout"}
	someMoves = []string{"transactions", "payments", "charges", "purchases", "debits", "deposits", "receipts", "transfers", "withdrawals", "txns", "txs", "entries", "movements", "bookings", "expenses", "costs", "sales", "payouts", "outgoings"}
)

func (q *reading) single() bool { return q.uses(oneMove...) || q.uses("pay", "paid") }
func (q *reading) several() bool {
	return q.uses(someMoves...)
}

// harmless says whether what is asked beside is answered by any number.
func (q *reading) harmless() bool { return q.only(detail, "already", "still", "yet", "status", "long") }

// flowPlan is a plan over a flow with everything the question names.
func (q *reading) flowPlan(m Measure, day time.Time) (Plan, error) {
	p := Plan{Measure: m, Entity: Transaction, Order: LargestFirst}
	if err := q.filters(&p); err != nil {
		return p, err
	}
	if p.Filters.Amount != "" {
		return p, unanswered("The question names an amount. Transactions are found by more or by less than one.")
	}
	usual := span{unit: monthsOf}
	if p.Filters.CounterpartyID != "" && q.names(aboutPay, aboutPaidUs, aboutPayments) {
		usual = span{all: true} // "how much have we paid AWS" is about all of it
	}
	var err error
	p.Period, err = q.period(day, false, usual)
	return p, err
}

func (q *reading) isTotal() bool {
	if q.names(aboutBills) && !q.pastBill() {
		return false // what a bill of a month came to, it was paid
	}
	if q.about(aboutIn, aboutOut, aboutPayments, aboutMoves) && !q.several() && !q.has[total] && !q.uses("much") {
		return false // one of them, and nothing says which
	}
	return q.moves() && !q.has[newest] && q.harmless() && in(q.groupings, ByMonth, ByWeek, ByDay, "currency", ByAccount, ByParty, "customer")
}

func totalPlan(q *reading, day time.Time) (Plan, error) {
	p, err := q.flowPlan(flowMeasure(q.direction()), day)
	if err != nil {
		return p, err
	}
	switch {
	case q.groups(ByWeek, ByDay, ByAccount):
		return p, unanswered("Totals are answered in all, by category, by counterparty and by month.")
	case q.groups(ByParty, "customer") && len(q.parties) == 0 && !q.uses("to", "from", "our"):
		return p, unanswered("It is not clear whether the question wants a total or one for each counterparty. Say: by counterparty.")
	case q.groups(ByMonth):
		p.Grouping = ByMonth
		if p.Measure != Net && p.Filters.rowwise() {
			return p, unanswered("By month, totals are answered in all, of a category or of a counterparty.")
		}
		if len(q.spans) == 0 {
			*p.Period = complete(day, 12)
		}
	}
	return p, nil
}

// rowwise says whether filters can only be looked at row by row: there are no
// rollups for them.
func (f Filters) rowwise() bool {
	return f.AccountID != "" || f.AccountType != "" || f.AmountOver != "" || f.AmountUnder != "" || f.CounterpartyID != "" && f.Category != ""
}

func (q *reading) isAverage() bool {
	return q.has[average] && (q.moves() || q.about(aboutMoves, aboutPayments, aboutNet)) || q.moves() && q.has[topic] && len(q.groupings) == 1 && q.groups(ByMonth, ByWeek, ByDay) && q.uses("per", "a") && !q.has[compare] && !q.has[top]
}

func averagePlan(q *reading, day time.Time) (Plan, error) {
	p, err := q.flowPlan(Average, day)
	if err != nil {
		return p, err
	}
	units := slices.DeleteFunc(slices.Clone(q.groupings), func(g string) bool { return g == "currency" || g == ByCategory && len(q.categories) == 1 })
	if p.Grouping, err = q.one(units, "units"); err != nil {
		return p, err
	}
	p.Filters.Direction = q.direction()
	switch {
	case p.Filters.Direction == "":
		return p, unanswered("It is not clear which way the money went that the average is of. Say: spending, or revenue.")
	case p.Filters.Direction == "net" && p.Grouping == "":
		return p, unanswered("It is not clear what the average is taken over. Say: a month.")
	case p.Grouping == "" && !q.single() && !q.several():
		return p, unanswered("It is not clear what the average is taken over. Say: a month, or a transaction.")
	case !slices.Contains([]string{"", ByDay, ByWeek, ByMonth}, p.Grouping):
		return p, unanswered("Averages are answered by day, week, month and transaction, not by category or counterparty.")
	case p.Grouping != "" && len(q.spans) == 0:
		*p.Period = complete(day, 3)
	}
	if p.Filters.Direction == "net" {
		p.Filters.Direction = ""
	}
	return p, nil
}

func (q *reading) isLargest() bool {
	return q.has[top] && q.moves() && len(q.groupings) == 0 && (q.has[topic] || q.has[flow]) && q.direction() != "net" && (q.single() || q.several() || len(q.flows) > 0 || q.names(aboutSpending, aboutIn, aboutOut))
}

func largestPlan(q *reading, day time.Time) (Plan, error) {
	p, err := q.flowPlan(Largest, day)
	if err != nil {
		return p, err
	}
	const some = 5
	absent := 1
	if q.several() {
		absent = some
	}
	p.Filters.Direction = q.direction()
	p.Limit, err = q.limit(absent, maxGroups)
	return p, err
}

func (q *reading) isRanking() bool {
	customers := q.groups("customer")
	if !q.groups(ByCategory, ByParty) && !customers || q.groups(ByMonth, ByWeek, ByDay, ByAccount) {
		return false
	}
	if q.has[top] || q.has[detail] || q.uses("by", "per", "each") {
		// "Top vendors" are those most is spent with.
		return len(q.topics) == 0 && len(q.flows) == 0 && len(q.categories) == 0 || q.moves() || customers && q.about(aboutRevenue, aboutPay, aboutPaidUs, aboutPayments)
	}
	return false
}

func rankingPlan(q *reading, day time.Time) (Plan, error) {
	measure, grouping := Spending, ByParty
	switch {
	case q.groups("customer") && q.names(aboutSpending, aboutOut):
		return Plan{}, unanswered("What is spent is not kept by customer.")
	case q.groups("customer") && (q.direction() == "inflow" || q.direction() == "" || len(q.topics) == 0 || q.names(aboutPay, aboutPayments)):
		measure = Revenue
	case q.direction() == "inflow":
		measure = Revenue
	case q.direction() == "net":
		return Plan{}, unanswered("Spending and revenue are ranked, one at a time.")
	}
	if q.groups(ByCategory) {
		if grouping = ByCategory; q.groups(ByParty, "customer") {
			return Plan{}, unanswered("The question ranks by two things. Say which of the two: category or counterparty.")
		}
	}
	p, err := q.flowPlan(measure, day)
	if err != nil {
		return p, err
	}
	if p.Filters.CounterpartyID != "" || p.Filters.Category != "" || p.Filters.rowwise() {
		return p, unanswered("A ranking is answered over all spending or revenue of a period, not over a part of it.")
	}
	if !q.only(detail, "break", "down", "broken", "breakdown", "split", "by", "how", "is", "breaks", "distribution") {
		return p, unanswered("A ranking is answered by amount. The rest of the question is not clear: %s.", quoted(q.wordsOf(detail)))
	}
	const some = 5
	absent := maxGroups
	switch {
	case q.has[top] && (q.uses("categories", "vendors", "suppliers", "counterparties", "merchants", "payees", "customers", "clients", "areas", "things", "types")):
		absent = some
	case q.has[top]:
		absent = 1
	}
	p.Grouping = grouping
	p.Limit, err = q.limit(absent, maxGroups)
	return p, err
}

func (q *reading) isComparison() bool {
	if q.has[newest] || q.has[top] || q.has[howMany] || q.has[average] {
		return false
	}
	return (q.has[compare] || q.has[why]) && q.moves()
}

func comparisonPlan(q *reading, day time.Time) (Plan, error) {
	p := Plan{Measure: flowMeasure(q.direction()), Entity: Transaction, Order: LargestFirst}
	if err := q.filters(&p); err != nil {
		return p, err
	}
	if !q.harmless() || q.groups(ByWeek, ByDay, ByAccount, "customer") {
		return p, unanswered("What is compared are the totals of two periods. The rest of the question is not clear%s.", q.where(detail))
	}
	now, then, err := q.compared(day)
	if err != nil {
		return p, err
	}
	p.Period, p.Comparison = &now, &then
	return p, now.sensible(day, false)
}

// against are the words before a period that what is asked about is held against.
var against = []string{"from", "than", "with", "to", "versus", "vs", "against", "on", "over", "and"}

// compared are the two periods of a comparison, the later one first.
func (q *reading) compared(day time.Time) (now, then Period, err error) {
	usual := span{unit: monthsOf}
	switch {
	case q.uses("quarter", "qoq"):
		usual.unit = quarters
	case q.uses("week", "wow"):
		usual.unit = weeks
	}
	switch {
	case len(q.spans) > 2:
		return now, then, unanswered("The question names more than two periods. Two are compared.")
	case len(q.spans) == 2:
		now, then = q.spans[0].resolve(day, false), q.spans[1].resolve(day, false)
		if now.From < then.From {
			now, then = then, now
		}
		return now, then, nil
	case len(q.spans) == 1 && q.spans[0].to != nil:
		last, first := *q.spans[0].to, q.spans[0]
		first.to = nil
		now, then = last.resolve(day, false), first.resolve(day, false)
		if then.From >= now.From {
			return now, then, unanswered("It is not clear which of the two periods comes first. Say their years.")
		}
		return now, then, nil
	case len(q.spans) == 1 && q.spans[0].since && q.spans[0].unit != days:
		// "changed since last quarter" is against that quarter.
		before := q.spans[0]
		before.since, usual.unit = false, before.unit
		return usual.resolve(day, false), before.resolve(day, false), nil
	case len(q.spans) == 1:
		now = q.spans[0].resolve(day, false)
		if past := now.Until <= day.Format(time.DateOnly); past && slices.Contains(against, q.edges[0]) && !slices.Contains(q.compares, "year") {
			if q.spans[0].unit != "" && q.spans[0].count == 0 {
				usual.unit = q.spans[0].unit
			}
			return usual.resolve(day, false), now, nil
		}
	default:
		now = usual.resolve(day, false)
	}
	if slices.Contains(q.compares, "year") {
		from, until, err := now.bounds()
		return now, period(addMonths(from, -12), addMonths(until, -12)), err
	}
	then, err = now.before()
	return now, then, err
}

func (q *reading) isRunway() bool {
	return q.names(aboutRunway) && q.about(aboutRunway, aboutCash, aboutHoldings, aboutBurn, aboutDue)
}

func runwayPlan(q *reading, day time.Time) (Plan, error) {
	if len(q.spans) > 0 {
		return Plan{}, unanswered("The runway is answered as of a day, at the burn of the three complete months before it.")
	}
	p := Plan{Measure: Runway, Entity: Accounts, Grouping: ByMonth, Order: LargestFirst}
	window := complete(day, burnMonths)
	p.Period = &window
	var err error
	p.Filters.Currency, err = q.one(q.curs, "currencies")
	return p, err
}

// burnMonths is how many complete months the burn is an average of.
const burnMonths = 3

func (q *reading) isBurn() bool {
	return q.names(aboutBurn) && q.about(aboutBurn, aboutCash, aboutHoldings, aboutNet)
}

func burnPlan(q *reading, day time.Time) (Plan, error) {
	p := Plan{Measure: Burn, Entity: Transaction, Grouping: ByMonth, Order: LargestFirst}
	if !in(q.groupings, ByMonth, "currency") {
		return p, unanswered("The burn is answered by month.")
	}
	window := complete(day, burnMonths)
	if p.Period = &window; len(q.spans) > 0 {
		var err error
		if p.Period, err = q.period(day, false, span{}); err != nil {
			return p, err
		}
	}
	var err error
	p.Filters.Currency, err = q.one(q.curs, "currencies")
	return p, err
}
