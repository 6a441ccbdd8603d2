package books

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// open are the obligations of a direction that nothing has settled, by due date.
func (b *Book) open(direction string, keep func(Obligation) bool) []Obligation {
	var list []Obligation
	for _, o := range b.Obligations {
		if o.Direction == direction && o.Status != "paid" && o.Status != "cancelled" && o.Status != "disputed" && (keep == nil || keep(o)) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(x, y Obligation) int { return cmp.Or(cmp.Compare(x.Due, y.Due), cmp.Compare(x.ID, y.ID)) })
	return list
}

func owed(list []Obligation) sums {
	all := sums{}
	for _, o := range list {
		all.add(o.Amount, o.Currency)
	}
	return all
}

// listed expects each obligation, and the totals in front where there are several.
func listed(list []Obligation) Expectation {
	var e Expectation
	for _, o := range list {
		e.Must = append(e.Must, "`"+o.ID+"`", Spell(decimal(o.Amount), o.Currency))
	}
	if len(list) > 1 {
		e.Lead = owed(list).spelled()
	}
	return e
}

func (b *Book) due(a Args) (Expectation, error) {
	s := span{a["from"], a["until"]}
	return listed(b.open("payable", func(o Obligation) bool {
		return s.has(o.Due) && (a["counterparty"] == "" || o.Counterparty == a["counterparty"])
	})), nil
}

func (b *Book) overdue(Args) (Expectation, error) {
	return listed(b.open("payable", func(o Obligation) bool { return o.Due < b.day })), nil
}

// priority is the order to pay in: what is latest first.
func (b *Book) priority(Args) (Expectation, error) {
	e := Expectation{Ordered: true}
	for _, o := range b.open("payable", nil)[:5] {
		e.Must = append(e.Must, "`"+o.ID+"`")
	}
	return e, nil
}

// dueType is what falls due next of a type.
func (b *Book) dueType(a Args) (Expectation, error) {
	list := b.open("payable", func(o Obligation) bool { return o.Type == a["type"] && o.Due >= b.day })
	if len(list) == 0 {
		return Expectation{}, fmt.Errorf("there is none")
	}
	e := Expectation{Must: []string{list[0].Due}}
	for _, o := range list {
		if o.Due == list[0].Due {
			e.Must = append(e.Must, "`"+o.ID+"`", Spell(decimal(o.Amount), o.Currency))
		}
	}
	return e, nil
}

func (b *Book) payables(a Args) (Expectation, error) {
	list := b.open("payable", func(o Obligation) bool {
		return (a["counterparty"] == "" || o.Counterparty == a["counterparty"]) && (a["currency"] == "" || o.Currency == a["currency"]) && (a["type"] == "" || o.Type == a["type"])
	})
	if a["n"] == "" {
		return Expectation{Lead: owed(list).spelled()}, nil
	}
	list = slices.DeleteFunc(list, func(o Obligation) bool { return o.Currency != "USD" })
	largest := slices.MaxFunc(list, func(x, y Obligation) int { return decimal(x.Amount).Cmp(decimal(y.Amount)) })
	amount := Spell(decimal(largest.Amount), largest.Currency)
	return Expectation{Lead: []string{amount}, Must: []string{b.name(largest.Counterparty)}}, nil
}

func (b *Book) receivables(a Args) (Expectation, error) {
	list := b.open("receivable", func(o Obligation) bool {
		return (a["counterparty"] == "" || o.Counterparty == a["counterparty"]) && (a["type"] == "" || o.Type == a["type"]) && (a["overdue"] == "" || o.Due < b.day)
	})
	if a["by"] == "" {
		return Expectation{Lead: owed(list).spelled()}, nil
	}
	n, err := strconv.Atoi(a["n"])
	if err != nil {
		return Expectation{}, err
	}
	return b.debtors(slices.DeleteFunc(list, func(o Obligation) bool { return o.Type != "invoice" }), n), nil
}

// debtors are those that owe the most in dollars, with what they owe.
func (b *Book) debtors(list []Obligation, n int) Expectation {
	g := by{}
	for _, o := range list {
		g.add(o.Counterparty, o.Amount, o.Currency)
	}
	var e Expectation
	ranked := g.ranked("USD")
	for _, party := range ranked[:min(n, len(ranked))] {
		e.Must = append(e.Must, b.name(party), Spell(g[party]["USD"], "USD"))
	}
	return e
}

func (b *Book) overdueDebtors(Args) (Expectation, error) {
	return b.debtors(b.open("receivable", func(o Obligation) bool { return o.Due < b.day }), 8), nil
}

// aging sums receivables by how many days they are late.
func (b *Book) aging(Args) (Expectation, error) {
	today, err := time.Parse(time.DateOnly, b.day)
	if err != nil {
		return Expectation{}, err
	}
	buckets := by{}
	for _, o := range b.open("receivable", func(o Obligation) bool { return o.Type == "invoice" }) {
		due, err := time.Parse(time.DateOnly, o.Due)
		if err != nil {
			return Expectation{}, err
		}
		late, bucket := int(today.Sub(due).Hours()/24), "over 90"
		for most, name := range map[int]string{90: "61 to 90", 60: "31 to 60", 30: "1 to 30", 0: "not due"} {
			if late <= most && (most == 0 || late > most-30) {
				bucket = name
			}
		}
		buckets.add(bucket, o.Amount, o.Currency)
	}
	var e Expectation
	for bucket, s := range buckets {
		e.Must = append(append(e.Must, bucket), s.spelled()...)
	}
	return e, nil
}

func (b *Book) invoice(a Args) (Expectation, error) {
	for _, i := range b.Invoices {
		if i.Number != a["number"] {
			continue
		}
		status := i.Status
		if (status == "sent" || status == "partial") && i.DueDate < b.day {
			status = "overdue"
		}
		open := new(big.Rat).Sub(decimal(i.Due), decimal(i.Paid))
		return Expectation{Must: []string{"`" + i.Number + "`", " is " + status, Spell(decimal(i.Due), i.Currency), Spell(decimal(i.Paid), i.Currency), Spell(open, i.Currency)}}, nil
	}
	return Expectation{}, fmt.Errorf("no invoice %s", a["number"])
}

// issued are the invoices that left the house, the newest first.
func (b *Book) issued(a Args) []Invoice {
	list := slices.Clone(b.Invoices)
	list = slices.DeleteFunc(list, func(i Invoice) bool {
		late := (i.Status == "sent" || i.Status == "partial") && i.DueDate < b.day
		return i.Status == "draft" || a["direction"] != "" && i.Direction != a["direction"] || a["counterparty"] != "" && i.Counterparty != a["counterparty"] || a["status"] == "overdue" && !late
	})
	slices.SortFunc(list, func(x, y Invoice) int { return cmp.Or(cmp.Compare(y.Issued, x.Issued), cmp.Compare(y.ID, x.ID)) })
	return list
}

func (b *Book) invoices(a Args) (Expectation, error) {
	list := b.issued(a)
	if a["n"] != "" {
		n, err := strconv.Atoi(a["n"])
		if err != nil {
			return Expectation{}, err
		}
		list = list[:min(n, len(list))]
	}
	e := Expectation{Ordered: a["status"] == ""}
	for _, i := range list {
		e.Must = append(e.Must, "`"+i.Number+"`")
	}
	return e, nil
}

func (b *Book) invoiceCount(a Args) (Expectation, error) {
	s, err := period(a["period"])
	n := 0
	for _, i := range b.issued(a) {
		if s.has(i.Issued) {
			n++
		}
	}
	return starts(n), err
}

// monthly is what a subscription costs a month.
func (o Obligation) monthly() *big.Rat {
	amount := decimal(o.Amount)
	if strings.HasPrefix(o.Recurrence, "FREQ=YEARLY") {
		return amount.Quo(amount, big.NewRat(12, 1))
	}
	return amount
}

func (b *Book) active() []Obligation {
	return b.open("payable", func(o Obligation) bool { return o.Type == "subscription" })
}

func (b *Book) subscriptions(Args) (Expectation, error) {
	totals, e := sums{}, Expectation{}
	for _, o := range b.active() {
		if totals[o.Currency] == nil {
			totals[o.Currency] = new(big.Rat)
		}
		totals[o.Currency].Add(totals[o.Currency], o.monthly())
		e.Must = append(e.Must, b.name(o.Counterparty), Spell(o.monthly(), o.Currency))
	}
	e.Lead = totals.spelled()
	return e, nil
}

func (b *Book) subscription(a Args) (Expectation, error) {
	for _, o := range b.active() {
		if o.Counterparty != a["counterparty"] {
			continue
		}
		var last Transaction
		for _, x := range b.Transactions {
			if slices.Contains(o.Payments, x.ID) && x.Date >= last.Date && x.Date <= b.day {
				last = x
			}
		}
		return Expectation{Lead: []string{Spell(o.monthly(), o.Currency)}, Must: []string{last.Date, Spell(decimal(last.Amount), last.Currency)}}, nil
	}
	return Expectation{}, fmt.Errorf("no subscription of %s", a["counterparty"])
}

// unused: every subscription of the demo is charged as it should be.
func (b *Book) unused(Args) (Expectation, error) {
	return Expectation{Must: []string{fmt.Sprintf("None of the %d", len(b.active())), "is not in the ledger"}}, nil
}
