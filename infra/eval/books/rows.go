package books

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// available is the cash by currency.
func (b *Book) available(currency string) sums {
	all := sums{}
	for _, a := range b.Accounts {
		if a.Status == "active" && (a.Type == "bank_checking" || a.Type == "bank_savings") && (currency == "" || a.Currency == currency) {
			all.add(a.Available, a.Currency)
		}
	}
	return all
}

func (b *Book) cash(a Args) (Expectation, error) {
	return Expectation{Lead: b.available(a["currency"]).spelled()}, nil
}

func (b *Book) balance(a Args) (Expectation, error) {
	for _, row := range b.Accounts {
		if row.ID == a["account"] {
			return Expectation{Lead: []string{Spell(decimal(row.Current), row.Currency)}, Must: []string{"`" + row.ID + "`"}}, nil
		}
	}
	return Expectation{}, fmt.Errorf("no account %s", a["account"])
}

func (b *Book) count(a Args) (Expectation, error) {
	list, _, err := b.those(a)
	return starts(len(list)), err
}

func (b *Book) countOver(a Args) (Expectation, error) {
	return b.count(with(a, "currency", "USD"))
}

// starts is an answer that begins with a count.
func starts(n int) Expectation { return Expectation{Start: strconv.Itoa(n) + " "} }

func (b *Book) listOver(a Args) (Expectation, error) {
	list, _, err := b.those(with(a, "currency", "USD"))
	var e Expectation
	for _, x := range list {
		e.Must = append(e.Must, "`"+x.ID+"`", Spell(decimal(x.Amount), x.Currency))
	}
	return e, err
}

// newest sorts transactions, the newest first.
func newest(list []Transaction) {
	slices.SortFunc(list, func(x, y Transaction) int { return cmp.Or(cmp.Compare(y.Date, x.Date), cmp.Compare(y.ID, x.ID)) })
}

func (b *Book) last(a Args) (Expectation, error) {
	n, err := strconv.Atoi(a["n"])
	if err != nil {
		return Expectation{}, err
	}
	var list []Transaction
	for _, x := range b.Transactions {
		if x.fits(a, span{"", b.day + "!"}) {
			list = append(list, x)
		}
	}
	newest(list)
	e := Expectation{Ordered: true}
	for _, x := range list[:min(n, len(list))] {
		e.Must = append(e.Must, Spell(decimal(x.Amount), x.Currency), "`"+x.ID+"`")
	}
	return e, nil
}

func (b *Book) unreconciled(a Args) (Expectation, error) {
	s, err := period(a["period"])
	n := 0
	for _, x := range b.Transactions {
		if x.Reconciliation == "unreconciled" && s.has(x.Date) {
			n++
		}
	}
	return starts(n), err
}

func (b *Book) party(a Args) (Expectation, error) {
	for _, c := range b.Counterparties {
		if c.ID == a["counterparty"] {
			return Expectation{Must: []string{"`" + c.Name + "`", c.Type, c.Risk, c.Verified}}, nil
		}
	}
	return Expectation{}, fmt.Errorf("no counterparty %s", a["counterparty"])
}

// payments are those that moved money with a counterparty, the newest first.
func (b *Book) payments(counterparty, direction string) []Transaction {
	var list []Transaction
	for _, x := range b.Transactions {
		if x.moved() && x.Counterparty == counterparty && x.Direction == direction && x.Date <= b.day {
			list = append(list, x)
		}
	}
	newest(list)
	return list
}

func (b *Book) lastPayment(a Args) (Expectation, error) {
	list := b.payments(a["counterparty"], a["direction"])
	if len(list) == 0 {
		return Expectation{}, fmt.Errorf("there is none")
	}
	x := list[0]
	return Expectation{Lead: []string{Spell(decimal(x.Amount), x.Currency)}, Must: []string{x.Date, "`" + x.ID + "`"}}, nil
}

func (b *Book) paidBefore(a Args) (Expectation, error) {
	list := b.payments(a["counterparty"], "outflow")
	if len(list) == 0 {
		return Expectation{}, fmt.Errorf("it was never paid")
	}
	return Expectation{Start: "Yes", Must: []string{list[0].Date, "`" + list[0].ID + "`"}}, nil
}

func (b *Book) neverPaid(a Args) (Expectation, error) {
	if len(b.payments(a["counterparty"], "outflow")) > 0 {
		return Expectation{}, fmt.Errorf("it was paid")
	}
	return Expectation{Start: "No"}, nil
}
