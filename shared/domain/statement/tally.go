package statement

import (
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/money"
)

// Tally adds up the posted entries of each statement and compares opening
// balance and sum with the closing balance. Feed it every item with See, then
// call Done.
type Tally struct {
	current          *Statement
	opening, closing *Balance
	sum              money.Amount
	doubt            string
	findings         []Finding
}

// Finding is a statement whose closing balance is not what its opening balance
// and its entries make.
type Finding struct {
	Statement *Statement
	Place     Place        // of the closing balance
	Expected  money.Amount // opening balance and posted entries; zero Amount when it cannot be said
	Closing   money.Amount // what the file says
	Text      string       // in words, with the amounts: not for a log
}

// See takes the next item of the file.
func (t *Tally) See(item Item) {
	switch x := item.(type) {
	case *Statement:
		t.close()
		t.current = x
	case *Balance:
		t.balance(x)
	case *Entry:
		t.entry(x)
	}
}

// Done returns what does not add up, in the order of the file.
func (t *Tally) Done() []Finding {
	t.close()
	return t.findings
}

func (t *Tally) balance(b *Balance) {
	switch b.Level {
	case Opening:
		t.opening = b
	case Previous:
		if t.opening == nil {
			t.opening = b
		}
	case Closing:
		t.closing = b
	}
}

func (t *Tally) entry(e *Entry) {
	if e.Status != Posted || t.doubt != "" {
		return
	}
	if t.sum.Currency().IsZero() {
		t.sum = money.Zero(e.Amount.Currency())
	}
	sum, err := t.sum.Add(e.Signed())
	if err != nil {
		t.doubt = err.Error()
		return
	}
	t.sum = sum
}

// close compares what the statement that ends here says of itself.
func (t *Tally) close() {
	if t.opening != nil && t.closing != nil {
		if f, differs := t.compare(); differs {
			t.findings = append(t.findings, f)
		}
	}
	*t = Tally{findings: t.findings}
}

func (t *Tally) compare() (Finding, bool) {
	f := Finding{Statement: t.current, Place: t.closing.Place, Closing: t.closing.Amount}
	expected := t.opening.Amount
	var err error
	if t.doubt == "" && !t.sum.Currency().IsZero() {
		expected, err = expected.Add(t.sum)
	}
	switch {
	case t.doubt != "":
		f.Text = "the entries cannot be added up: " + t.doubt
	case err != nil:
		f.Text = "the entries cannot be added to the opening balance: " + err.Error()
	case expected == t.closing.Amount:
		return f, false
	default:
		f.Expected = expected
		f.Text = fmt.Sprintf("opening balance %s and entries make %s %s, the closing balance says %s %s",
			t.opening.Amount, expected, expected.Currency(), t.closing.Amount, t.closing.Amount.Currency())
	}
	return f, true
}
