package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// payStanding books what recurs, with the obligations behind it.
func (b *book) payStanding(plan []standing) {
	for _, s := range plan {
		b.standing(s)
	}
}

func (b *book) standing(s standing) {
	r := b.stream("standing", s.party, s.category)
	level := s.amount
	var paid []string
	for month := range months() {
		if !s.span.has(month) {
			continue
		}
		if month.Month() == time.January {
			level += level * s.step / basis
		}
		if monthIn(s.months, month) {
			tx, owed := b.installment(s, month, about(r, level, s.noise))
			paid = append(paid, tx)
			if s.owed != "" && s.rule == "" {
				b.obligation(s.name()+"_"+month.Format(monthForm), s.owed, s.party, owed, b.account(s.account).currency, in(month, s.dueDay()), tx)
			}
		}
		level += level * s.growth / basis
	}
	if s.owed != "" {
		b.next(s, level, paid)
	}
}

// installment books one payment and returns its id and amount.
func (b *book) installment(s standing, month time.Time, amount int64) (string, int64) {
	pinned := s.pins[month.Format(monthForm)]
	if pinned.amount != 0 {
		amount = pinned.amount
	}
	return b.post(posting{
		id: pinned.id, account: s.account, party: s.party, category: s.category, text: s.text,
		made: in(month, s.day), amount: amount, income: s.income, parts: s.parts, proven: s.owed != "",
	}), amount
}

// next is the obligation that is open at the close: the coming payment, which for
// a rule stands for all of them. What has ended leaves a cancelled one.
func (b *book) next(s standing, level int64, paid []string) {
	month := Close.AddDate(0, 0, 1)
	for !monthIn(s.months, month) {
		month = month.AddDate(0, 1, 0)
	}
	name, status := s.name(), ""
	if s.span.ended() {
		if s.rule == "" {
			return
		}
		last, _ := time.Parse(monthForm, s.span.last)
		month, status = last, "cancelled"
	}
	if s.rule == "" {
		name, paid = name+"_"+month.Format(monthForm), nil
	}
	if pinned := s.pins[month.Format(monthForm)]; pinned.id != "" {
		name, level = pinned.id, pinned.amount
	}
	o := b.obligation(name, s.owed, s.party, level, b.account(s.account).currency, in(month, s.dueDay()))
	o.Recurrence, o.LinkedTransactionIDs = optional(s.rule), append(o.LinkedTransactionIDs, paid...)
	if status != "" {
		o.Status = status
	}
}

func (s standing) dueDay() int {
	if s.due != 0 {
		return s.due
	}
	return s.day
}

// name is the id of the obligation that stands for all payments, and the start
// of those of single ones.
func (s standing) name() string { return "obl_" + strings.TrimPrefix(s.party, "cp_") }

// obligation writes an obligation; with transactions that pay it, it is paid.
func (b *book) obligation(name, kind, party string, due int64, currency string, on time.Time, paid ...string) *ledger.Obligation {
	o := &ledger.Obligation{
		Meta: meta(b.name(name), earlier(on.AddDate(0, 0, -30)), "extracted", 0.97), Type: kind, CounterpartyID: party, Direction: "payable",
		AmountDue: amount(due, currency), Currency: currency, DueDate: date(on), Status: "upcoming",
		LinkedTransactionIDs: append([]string{}, paid...),
	}
	if len(paid) > 0 {
		o.Status = "paid"
	}
	b.rows.Obligations = append(b.rows.Obligations, o)
	return o
}

// earlier keeps a day inside the books.
func earlier(day time.Time) time.Time {
	switch {
	case day.Before(First):
		return First
	case day.After(Close):
		return Close
	}
	return day
}

// payRule is when the staff is paid, and payDays the same for this program.
const payRule = "FREQ=MONTHLY;BYMONTHDAY=15,-1"

var payDays = []int{15, 31}

// raise is what pay grows by each January, in basis points.
const raise = 300

// payStaff pays everybody on the 15th and the last of the month, before a
// weekend and not after it.
func (b *book) payStaff(staff []employee) {
	for _, e := range staff {
		pay := e.amount
		var paid []string
		for month := range months() {
			if month.Month() == time.January && !e.span.over(month) {
				pay += pay * raise / basis
			}
			if !e.span.has(month) {
				continue
			}
			for _, day := range payDays {
				paid = append(paid, b.post(posting{
					account: b.company.accounts[0].id, party: e.party, category: "payroll",
					text: fmt.Sprintf("Payroll %s", b.names[e.party].name), made: onOrBefore(in(month, day)), amount: pay, proven: true,
				}))
			}
		}
		o := b.obligation("obl_payroll_"+strings.TrimPrefix(e.party, "cp_"), "payroll", e.party, pay, b.company.accounts[0].currency, in(Close.AddDate(0, 0, 1), payDays[0]))
		o.Recurrence, o.LinkedTransactionIDs = ptr(payRule), append(o.LinkedTransactionIDs, paid...)
		if e.span.ended() {
			last, _ := time.Parse(monthForm, e.span.last)
			o.DueDate, o.Status = date(monthEnd(last)), "cancelled"
		}
	}
}

// spend books the irregular spending. The card buys, the other accounts pay
// bills, some of them weeks after they came.
func (b *book) spend(habits []habit) {
	for _, h := range habits {
		r := b.stream("habit", h.account, h.category, h.parties[0])
		for month := range months() {
			if !h.span.has(month) {
				continue
			}
			for range h.least + r.IntN(h.most-h.least+1) {
				party := h.parties[r.IntN(len(h.parties))]
				day := in(month, 1+r.IntN(monthEnd(month).Day()))
				b.buy(h, party, day, between(r, h.from, h.to))
			}
		}
	}
}

func (b *book) buy(h habit, party string, day time.Time, cost int64) {
	p := posting{account: h.account, party: party, category: h.category, made: day, amount: cost}
	if h.net == 0 {
		b.post(p)
		return
	}
	b.bill(p, day, day.AddDate(0, 0, h.net))
}

// bill writes a vendor's invoice and its obligation, and pays it a few days
// early if that is before the close.
func (b *book) bill(p posting, issued, due time.Time) {
	currency := b.account(p.account).currency
	var paid []string
	p.made, p.proven = onOrBefore(due.AddDate(0, 0, -2)), true
	number := b.name(strings.ToUpper(strings.TrimPrefix(p.party, "cp_")[:3]) + "-" + issued.Format("20060102"))
	if p.text = "Invoice " + number; !p.made.After(Close) {
		paid = append(paid, b.post(p))
	}
	b.obligation("obl_"+strings.TrimPrefix(p.party, "cp_")+"_"+date(issued), "bill", p.party, p.amount, currency, due, paid...)
	i := b.invoice(number, p.party, "payable", currency, p.amount, issued, due)
	if len(paid) > 0 {
		i.AmountPaid, i.Status, i.LinkedTransactionIDs = i.AmountDue, "paid", paid
	}
}

// owe writes the obligations that stand for themselves.
func (b *book) owe(plan []owed) {
	for _, p := range plan {
		due, err := time.Parse(time.DateOnly, p.due)
		if err != nil {
			panic("demo: due date of " + p.id)
		}
		o := b.obligation(p.id, p.kind, p.party, p.amount, p.currency, due)
		o.Status = or(p.status, o.Status)
		if p.receivable {
			o.Direction = "receivable"
		}
		if p.provenance != "" {
			o.Provenance, o.Confidence = p.provenance, 0.4
		}
	}
}
