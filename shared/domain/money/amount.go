// Package money holds exact amounts. An Amount is a whole number of its
// currency's smallest unit; there is no float and no rounding in it, and no
// operation that mixes currencies.
//
// The package makes these mistakes impossible, or turns them into an error:
// adding dollars to yen, comparing amounts of two currencies, losing a decimal,
// wrapping around, and two spellings of one value that hash differently.
//
// Error messages quote the amounts they are about: they are for the caller, and
// a log must not get them.
package money

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrTwoCurrencies is what an operation on amounts of two currencies returns.
	ErrTwoCurrencies = errors.New("amounts of two currencies")
	// ErrOverflow is what an operation returns whose result has more than 38 digits.
	ErrOverflow = errors.New("result has more than 38 digits")

	errNoCurrency = errors.New("no currency")
)

// Amount is an exact sum of money in one currency, of at most 38 digits in all,
// negative or not. It is 24 bytes without a pointer: copying it is cheap, no copy
// can change another, and == is equality of currency and value, so it may be a
// map key. A big.Int would give none of the three, and 128 bits are enough for
// 38 digits.
//
// Sign and magnitude are kept apart because the range is then the same on both
// sides, so Neg cannot fail. Zero is never negative: it would have two
// representations and == would lie.
//
// The zero Amount has no currency and no operation takes it: a field nobody set
// is an error, not 0.00.
type Amount struct {
	magnitude magnitude
	currency  Currency
	negative  bool
}

// Zero returns nothing at all of the currency.
func Zero(c Currency) Amount { return Amount{currency: c} }

// Currency returns the amount's currency.
func (a Amount) Currency() Currency { return a.currency }

// Sign returns −1, 0 or 1 for an amount below, at or above zero.
func (a Amount) Sign() int {
	switch {
	case a.negative:
		return -1
	case a.magnitude == magnitude{}:
		return 0
	default:
		return 1
	}
}

// String returns the canonical decimal, with exactly as many decimals as the
// currency has and without its code: "100.00" for USD, "100" for JPY, "-0.500"
// for KWD. Equal amounts print the same, and ParseSigned reads it back. The
// zero Amount prints as something that nothing parses.
func (a Amount) String() string {
	if a.currency.IsZero() {
		return "(" + errNoCurrency.Error() + ")"
	}
	digits, places := a.magnitude.digits(), a.currency.Exponent()
	if places > 0 {
		digits = strings.Repeat("0", max(0, places+1-len(digits))) + digits
		point := len(digits) - places
		digits = digits[:point] + "." + digits[point:]
	}
	return a.sign() + digits
}

// Minor returns the amount in the currency's smallest unit as a decimal integer:
// "10000" for 100.00 USD. FromMinor reads it back.
func (a Amount) Minor() string { return a.sign() + a.magnitude.digits() }

func (a Amount) sign() string {
	if a.negative {
		return "-"
	}
	return ""
}

// Neg returns the amount with the other sign.
func (a Amount) Neg() Amount {
	return signed(a.currency, !a.negative, a.magnitude)
}

// Add returns a + b. It fails with ErrTwoCurrencies or ErrOverflow.
func (a Amount) Add(b Amount) (Amount, error) {
	sum, err := a.add(b)
	if err != nil {
		return Amount{}, fmt.Errorf("add %s and %s: %w", a.named(), b.named(), err)
	}
	return sum, nil
}

// Sub returns a − b. It fails with ErrTwoCurrencies or ErrOverflow.
func (a Amount) Sub(b Amount) (Amount, error) {
	difference, err := a.add(b.Neg())
	if err != nil {
		return Amount{}, fmt.Errorf("subtract %s from %s: %w", b.named(), a.named(), err)
	}
	return difference, nil
}

// Cmp returns −1, 0 or 1 as a is less than, equal to or greater than b. It fails
// with ErrTwoCurrencies: there is no order between currencies, and an answer
// would let a limit in one pass an amount in another.
func (a Amount) Cmp(b Amount) (int, error) {
	if err := a.check(b); err != nil {
		return 0, fmt.Errorf("compare %s with %s: %w", a.named(), b.named(), err)
	}
	return a.plus(b.Neg()).Sign(), nil
}

// MarshalJSON fails: a row has the amount and its currency as two fields, and
// without this an Amount would be written as {}, the same for every value.
func (a Amount) MarshalJSON() ([]byte, error) {
	return nil, errors.New("an amount is written as two fields, its String and its Currency")
}

// named is the amount with its currency, for messages.
func (a Amount) named() string {
	return strings.TrimRight(a.String()+" "+a.currency.String(), " ")
}

// check says why a and b cannot be used together, if so.
func (a Amount) check(b Amount) error {
	switch {
	case a.currency.IsZero() || b.currency.IsZero():
		return errNoCurrency
	case a.currency != b.currency:
		return ErrTwoCurrencies
	}
	return nil
}

// add is Add with the bare reason, for the two that wrap it.
func (a Amount) add(b Amount) (Amount, error) {
	if err := a.check(b); err != nil {
		return Amount{}, err
	}
	sum := a.plus(b)
	if sum.magnitude.cmp(most) > 0 {
		return Amount{}, ErrOverflow
	}
	return sum, nil
}

// plus adds without looking at the currency or the bound.
func (a Amount) plus(b Amount) Amount {
	switch {
	case a.negative == b.negative:
		return signed(a.currency, a.negative, a.magnitude.plus(b.magnitude))
	case a.magnitude.cmp(b.magnitude) >= 0:
		return signed(a.currency, a.negative, a.magnitude.minus(b.magnitude))
	default:
		return signed(a.currency, b.negative, b.magnitude.minus(a.magnitude))
	}
}

// signed is the one place that puts a sign on a magnitude, so that zero never
// gets a minus.
func signed(c Currency, negative bool, m magnitude) Amount {
	return Amount{currency: c, negative: negative && m != magnitude{}, magnitude: m}
}
