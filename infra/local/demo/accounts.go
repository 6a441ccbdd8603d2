package demo

import (
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// balance closes the months: each account's balance before the books open and
// at every month's end, and the account's row as of the close. A balance is the
// opening one and everything booked since, whatever the transaction's date.
func (b *book) balance() {
	for _, a := range b.company.accounts {
		current := a.opening
		b.record(a, First.AddDate(0, 0, -1), current, 0)
		for month := range months() {
			if a.gone(month) {
				break
			}
			current += b.moved(a.id, month)
			pending := int64(0)
			if monthEnd(month).Equal(Close) {
				pending = b.pending(a.id)
			}
			b.record(a, monthEnd(month), current, pending)
		}
		b.rows.Accounts = append(b.rows.Accounts, a.row(current, b.pending(a.id)))
	}
}

// gone says whether the account was closed before a month began.
func (a account) gone(month time.Time) bool { return !a.closed.IsZero() && a.closed.Before(month) }

// moved is the sum of what an account booked in a month.
func (b *book) moved(account string, month time.Time) (sum int64) {
	for _, e := range b.entries {
		if e.account == account && !e.posted.Before(month) && !e.posted.After(monthEnd(month)) {
			sum += e.signed
		}
	}
	return sum
}

// pending is the sum of what waits to be booked at the close.
func (b *book) pending(account string) (sum int64) {
	for _, e := range b.entries {
		if e.account == account && e.pending {
			sum += e.signed
		}
	}
	return sum
}

// available is what may be spent: money that is leaving is gone already, money
// that is coming is not here yet.
func (a account) available(current, pending int64) int64 {
	return a.limit + current + min(pending, 0)
}

// asOf is the last millisecond of a day.
func asOf(day time.Time) string {
	return day.AddDate(0, 0, 1).Add(-time.Millisecond).Format(audit.TimeForm)
}

func (b *book) record(a account, day time.Time, current, pending int64) {
	b.rows.Balances = append(b.rows.Balances, &ledger.Balance{
		AccountID: a.id, AsOf: asOf(day), Currency: a.currency, Current: amount(current, a.currency),
		Available: ptr(amount(a.available(current, pending), a.currency)), Pending: ptr(amount(pending, a.currency)),
	})
}

func (a account) row(current, pending int64) *ledger.Account {
	row := &ledger.Account{
		Meta: meta(a.id, First, "human_confirmed", 1), Institution: &a.institution, ExternalAccountID: &a.external,
		AccountType: a.kind, Name: a.name, Currency: a.currency, CurrentBalance: ptr(amount(current, a.currency)),
		AvailableBalance: ptr(amount(a.available(current, pending), a.currency)), BalanceAsOf: ptr(asOf(Close)), Status: "active",
	}
	if !a.closed.IsZero() {
		row.Status, row.BalanceAsOf = "closed", ptr(asOf(monthEnd(a.closed)))
	}
	return row
}

// payCards pays each card's statement: on the 25th, what was booked on it in the
// month before. The statement of the last month is still open.
func (b *book) payCards() {
	const day = 25
	for _, a := range b.company.accounts {
		if a.kind != "card" {
			continue
		}
		balance := -a.opening
		for month := range months() {
			due, bought := in(month, day), -b.moved(a.id, month)
			paid := b.move(a.paidFrom, a.id, "Card payment "+a.name, balance, balance, due)
			b.statement(a, due, balance, paid...)
			balance = bought
		}
		b.statement(a, in(Close.AddDate(0, 1, 0), day), balance)
	}
}

// statement is what a card's issuer asks for: all of it, or a thirtieth at least.
func (b *book) statement(a account, due time.Time, balance int64, paid ...string) {
	o := b.obligation("obl_card_"+strings.TrimPrefix(a.id, "acct_")+"_"+due.Format(monthForm), "card_statement", a.issuer, balance, a.currency, due, paid...)
	o.MinimumDue = ptr(amount(balance/30, a.currency))
}

// transfer makes the planned moves.
func (b *book) transfer(moves []move) {
	for _, m := range moves {
		if !m.on.IsZero() {
			b.move(m.from, m.to, m.text, m.sent, m.received, m.on)
			continue
		}
		for month := range months() {
			if m.span.has(month) && monthIn(m.months, month) {
				b.move(m.from, m.to, m.text, m.sent, m.received, in(month, m.day))
			}
		}
	}
}

// move books both legs of a move on one banking day and returns their ids.
func (b *book) move(from, to, text string, sent, received int64, day time.Time) []string {
	day = onOrAfter(day)
	leg := posting{account: from, text: text, made: day, amount: sent, signed: TransferOut, proven: true}
	out := b.post(leg)
	leg.account, leg.amount, leg.signed = to, received, TransferIn
	return []string{out, b.post(leg)}
}
