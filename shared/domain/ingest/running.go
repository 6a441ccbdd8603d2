package ingest

import (
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
)

// running follows the balance that a file gives after each entry. Files list their
// entries from the first or from the last, and say so nowhere: one of the two must
// add up from entry to entry.
type running struct {
	before  *statement.Entry
	steps   int
	upwards order // the file begins with the oldest
	down    order
}

// order is how far one of the orders adds up.
type order struct {
	breaks   int
	line     int // of the first break
	expected money.Amount
	stated   money.Amount
}

// see takes the next entry of a statement.
func (r *running) see(e *statement.Entry) {
	if e.Running.Currency().IsZero() || e.Status != statement.Posted {
		return
	}
	if b := r.before; b != nil {
		r.steps++
		r.upwards.step(b.Running, e.Signed(), e.Running, e.Line)
		// From the last to the first, the one before is later: this one's balance
		// and that one's amount make that one's balance.
		r.down.step(e.Running, b.Signed(), b.Running, b.Line)
	}
	r.before = &statement.Entry{Place: e.Place, Amount: e.Amount, Direction: e.Direction, Running: e.Running}
}

func (o *order) step(before, moved, after money.Amount, line int) {
	expected, err := before.Add(moved)
	if err == nil && expected == after {
		return
	}
	if o.breaks++; o.breaks == 1 {
		o.line, o.expected, o.stated = line, expected, after
	}
}

// end says what does not add up, in the order that adds up better.
func (r *running) end() (Finding, bool) {
	better := r.upwards
	if r.down.breaks < better.breaks {
		better = r.down
	}
	if r.steps == 0 || better.breaks == 0 {
		return Finding{}, false
	}
	f := Finding{
		Kind: "running_balance", Line: better.line, Currency: better.stated.Currency().String(), Stated: better.stated.String(),
		Text: fmt.Sprintf("the balance after an entry is not what the balance before it and the entry make, %d times in %d entries", better.breaks, r.steps+1),
	}
	if !better.expected.Currency().IsZero() {
		f.Expected = better.expected.String()
	}
	return f, true
}
