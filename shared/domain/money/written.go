package money

import "fmt"

// Written is an amount as documents and records write it, a decimal and its
// currency side by side.
type Written struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

// Write writes an amount down.
func Write(a Amount) Written { return Written{a.String(), a.Currency().String()} }

// Read reads it back: an amount at or above zero.
func (w Written) Read() (Amount, error) {
	c, err := Parse(w.Currency)
	if err != nil {
		return Amount{}, fmt.Errorf("currency: %w", err)
	}
	a, err := ParseAmount(w.Amount, c)
	if err != nil {
		return Amount{}, fmt.Errorf("amount: %w", err)
	}
	return a, nil
}

// Above says whether an amount is over what is written: another currency than
// its own always is, because nothing says it is not.
func (w Written) Above(a Amount) bool {
	limit, err := w.Read()
	if err != nil {
		return true
	}
	order, err := a.Cmp(limit)
	return err != nil || order > 0
}
