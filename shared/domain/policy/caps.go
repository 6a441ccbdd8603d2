package policy

import (
	"math"
	"slices"
	"strconv"

	"github.com/robotmoney/mcp/shared/domain/money"
)

// promised returns the facts' amount. There is none to judge when nothing is
// promised, and one below zero would make room under a cap.
func (e *evaluation) promised() (money.Amount, bool) {
	if e.facts.Amount == nil || e.facts.Amount.Currency().IsZero() || e.facts.Amount.Sign() < 0 {
		return money.Amount{}, false
	}
	if e.amount == "" {
		e.amount = named(*e.facts.Amount)
	}
	return *e.facts.Amount, true
}

const (
	noAmount      = "no amount is known"
	otherCurrency = "the amount is in another currency"
	noLimit       = "the limit cannot be read"
	notKnown      = "what was promised before is not known"
	tooLarge      = "the sum is too large to be computed"
)

// limit is a sum as it was read, with its words.
type limit struct {
	amount  money.Amount
	decimal string
	unit    string // the currency after a blank
}

func readLimit(s Sum) (limit, error) {
	amount, err := s.Read()
	if err != nil {
		return limit{}, err
	}
	return limit{amount, amount.String(), " " + s.Currency}, nil
}

// limit is what a sum of a rule comes to. Parse has read them all; a document
// made by hand may have others.
func (d *Document) limit(s *Sum) (limit, bool) {
	if read, seen := d.limits[*s]; seen {
		return read, true
	}
	read, err := readLimit(*s)
	return read, err == nil
}

// sums are the sums of money a rule names.
func (w *When) sums() []*Sum {
	all := []*Sum{w.AmountLTE, w.AmountGT}
	if c := w.SpendInWindow; c != nil {
		all = append(all, c.LTE, c.GT)
	}
	return slices.DeleteFunc(all, func(s *Sum) bool { return s == nil })
}

// amountAgainst holds the proposed amount against a limit: at most it, or above.
func (e *evaluation) amountAgainst(limit *Sum, above bool) (answer, string) {
	amount, ok := e.promised()
	if !ok {
		return unknown, noAmount
	}
	bound, ok := e.document.limit(limit)
	if !ok {
		return unknown, noLimit
	}
	order, err := amount.Cmp(bound.amount)
	if err != nil {
		return unknown, otherCurrency
	}
	return is(order > 0 == above, compared(e.amount, order > 0, bound.decimal, bound.unit))
}

// compared is where a value stands to a limit, in words. The unit follows the
// limit; a count has none.
func compared(value string, above bool, limit, unit string) string {
	if above {
		return value + " is above " + limit + unit
	}
	return value + " is at most " + limit + unit
}

func named(a money.Amount) string { return a.String() + " " + a.Currency().String() }

// asked is what a cap wants to know of the promises.
type asked struct {
	per    Per
	window Window
}

// total is what is promised in a window, this proposal included.
type total struct {
	amount money.Amount
	text   string // in words
	err    string // why it is not known; empty if it is
}

// spend holds what was promised in a window, and this proposal with it, against
// a cap.
func (e *evaluation) spend(w *When) (answer, string) {
	c := w.SpendInWindow
	bound, above := c.bound()
	if bound == nil {
		return unknown, noLimit
	}
	most, readable := e.document.limit(bound)
	amount, known := e.promised()
	switch {
	case !readable:
		return unknown, noLimit
	case !known:
		return unknown, noAmount
	case amount.Currency() != most.amount.Currency():
		return unknown, otherCurrency
	}
	sum, seen := e.sums[asked{c.Per, c.Window}]
	if !seen {
		sum = e.total(c.Per, c.Window, amount)
		e.sums[asked{c.Per, c.Window}] = sum
	}
	if sum.err != "" {
		return unknown, sum.err
	}
	left, err := most.amount.Sub(sum.amount)
	if err != nil {
		return unknown, tooLarge
	}
	over := left.Sign() < 0
	e.headroom = append(e.headroom, Headroom{
		Rule: e.rule.ID, Window: c.Window, Per: c.Per, Limit: most.decimal, Left: left.String(), Currency: bound.Currency, Within: !over,
	})
	return is(over == above, compared(sum.text, over, most.decimal, most.unit))
}

// total adds the proposed amount to what was promised before. A sum below zero
// is nobody's promise, and would make room under a cap.
func (e *evaluation) total(per Per, window Window, amount money.Amount) total {
	if !e.countable(per) {
		return total{err: notKnown}
	}
	before, known := e.facts.Promised.Spend(per, window, amount.Currency())
	if !known || before.Sign() < 0 || before.Currency() != amount.Currency() {
		return total{err: notKnown}
	}
	sum, err := before.Add(amount)
	if err != nil {
		return total{err: tooLarge}
	}
	return total{amount: sum, text: named(sum) + " in " + string(window)}
}

// count holds how many proposals were promised in a window, and this one with
// them, against a cap.
func (e *evaluation) count(w *When) (answer, string) {
	c := w.CountInWindow
	limit, above, ok := c.bound()
	if !ok {
		return unknown, noLimit
	}
	if !e.countable(c.Per) {
		return unknown, notKnown
	}
	before, ok := e.facts.Promised.Count(c.Per, c.Window)
	if !ok || before < 0 || before == math.MaxInt64 {
		return unknown, notKnown
	}
	left := limit - (before + 1) // both are zero or more: it cannot wrap around
	over := left < 0
	most := strconv.FormatInt(limit, 10)
	e.headroom = append(e.headroom, Headroom{
		Rule: e.rule.ID, Window: c.Window, Per: c.Per, Limit: most, Left: strconv.FormatInt(left, 10), Within: !over,
	})
	return is(over == above, compared(strconv.FormatInt(before+1, 10)+" in "+string(c.Window), over, most, ""))
}

// countable says whether there is anybody whose promises could be counted.
func (e *evaluation) countable(per Per) bool {
	switch {
	case e.facts.Promised == nil:
		return false
	case per == PerAgent:
		return e.facts.Agent.ID != ""
	case per == PerCounterparty:
		return e.facts.Counterparty != nil && e.facts.Counterparty.ID != ""
	}
	return per == PerTenant
}

// bound is the cap's limit, and whether the cap holds above it. A cap with no
// bound or two is no cap: only a document that was not parsed has one.
func (c *SpendCap) bound() (limit *Sum, above bool) {
	switch {
	case oneBound(c.LTE != nil, c.GT != nil) != nil:
		return nil, false
	case c.GT != nil:
		return c.GT, true
	}
	return c.LTE, false
}

func (c *CountCap) bound() (limit int64, above, ok bool) {
	switch {
	case oneBound(c.LTE != nil, c.GT != nil) != nil:
		return 0, false, false
	case c.GT != nil:
		return *c.GT, true, *c.GT >= 0
	}
	return *c.LTE, false, *c.LTE >= 0
}
