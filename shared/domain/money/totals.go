package money

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Totals is a sum per currency. The zero Totals is empty and ready. It hides its
// map so that a total can only come from adding and only be read in one order;
// the order of a Go map would change the hash of whatever is made from it.
// A copy shares the sums with its original: hand on a pointer, or the Amounts.
type Totals struct {
	sums map[Currency]Amount
}

// Sum adds the amounts up per currency. It fails with ErrOverflow, and for an
// amount without a currency.
func Sum(amounts ...Amount) (Totals, error) {
	var t Totals
	for _, a := range amounts {
		if err := t.Add(a); err != nil {
			return Totals{}, err
		}
	}
	return t, nil
}

// Add adds one amount to its currency's total. It fails with ErrOverflow, and
// for an amount without a currency; the totals are then as before.
func (t *Totals) Add(a Amount) error {
	sum, err := t.Of(a.currency).Add(a)
	if err != nil {
		return fmt.Errorf("total: %w", err)
	}
	if t.sums == nil {
		t.sums = map[Currency]Amount{}
	}
	t.sums[a.currency] = sum
	return nil
}

// Of returns the total of one currency, zero when nothing of it was added.
func (t Totals) Of(c Currency) Amount {
	if sum, ok := t.sums[c]; ok {
		return sum
	}
	return Zero(c)
}

// Amounts returns one total for each currency that was added, also when it came
// to zero, in the order of the codes.
func (t Totals) Amounts() []Amount {
	amounts := make([]Amount, 0, len(t.sums))
	for _, sum := range t.sums {
		amounts = append(amounts, sum)
	}
	slices.SortFunc(amounts, func(a, b Amount) int {
		return cmp.Compare(a.currency.String(), b.currency.String())
	})
	return amounts
}

// MarshalJSON fails, as it does for an Amount and for the same reason.
func (t Totals) MarshalJSON() ([]byte, error) {
	return nil, errors.New("totals are written as a list of amounts and currencies, see Amounts")
}
