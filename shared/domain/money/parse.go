package money

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxChars is how long a decimal is at most: 38 digits, a point and a minus.
const maxChars = maxDigits + 2

// ParseAmount reads a plain decimal that is zero or more, such as "61404.12".
// It takes ASCII digits and at most one point with digits on both sides, no more
// decimals than the currency has, no needless leading zero, 40 characters at
// most. A sign, an exponent, blanks, grouping or other digits are refused, never
// corrected: two readers of one text must not see two amounts. The message names
// the currency, the bound and what came, and is safe to send to the caller.
func ParseAmount(text string, c Currency) (Amount, error) {
	return form{what: "amount", currency: c, places: c.Exponent()}.parse(text)
}

// ParseSigned is ParseAmount for a value that may be below zero, such as a
// balance: one minus may stand in front. "-0" is zero.
func ParseSigned(text string, c Currency) (Amount, error) {
	return form{what: "amount", currency: c, places: c.Exponent(), signed: true}.parse(text)
}

// FromMinor reads a decimal integer that counts the currency's smallest unit, as
// Minor writes it: "10000" is 100.00 USD. It may have a minus in front.
func FromMinor(text string, c Currency) (Amount, error) {
	return form{what: "minor units", currency: c, signed: true}.parse(text)
}

// form is what a text must look like.
type form struct {
	what     string   // the value's name in messages
	currency Currency // what it is an amount of
	places   int      // decimals it may have
	signed   bool     // whether it may be negative
}

func (f form) parse(text string) (Amount, error) {
	digits, negative, err := f.digits(text)
	if err != nil {
		return Amount{}, fmt.Errorf("%s %s: %w", f.what, quote(text), err)
	}
	return signed(f.currency, negative, parseDigits(digits)), nil
}

// digits checks text and returns its digits with all the decimals the form has,
// and whether a minus stood in front.
func (f form) digits(text string) (digits string, negative bool, err error) {
	if f.currency.IsZero() {
		return "", false, errNoCurrency
	}
	if len(text) > maxChars {
		return "", false, fmt.Errorf("%s takes at most %d characters, %d came", f.currency, maxChars, len(text))
	}
	text, negative = strings.CutPrefix(text, "-")
	if negative && !f.signed {
		return "", false, fmt.Errorf("%s must be zero or more here, a minus came", f.currency)
	}
	whole, fraction, point := strings.Cut(text, ".")
	if err := f.check(whole, fraction, point); err != nil {
		return "", false, err
	}
	return whole + fraction + strings.Repeat("0", f.places-len(fraction)), negative, nil
}

// check looks at the two sides of the point.
func (f form) check(whole, fraction string, point bool) error {
	switch room := maxDigits - f.places; {
	case !onlyDigits(whole), !onlyDigits(fraction), whole == "", point && fraction == "":
		return fmt.Errorf("%s takes a plain decimal such as %s", f.currency, f.example())
	case len(fraction) > f.places:
		return fmt.Errorf("%s %s, %d came", f.currency, f.decimals(), len(fraction))
	case len(whole) > 1 && whole[0] == '0':
		return errors.New("a leading zero came; write the number without it")
	case len(whole) > room:
		return fmt.Errorf("%s has room for %d digits before the point, %d came", f.currency, room, len(whole))
	}
	return nil
}

// decimals is the bound in words.
func (f form) decimals() string {
	if f.places == 0 {
		return "takes no decimals here"
	}
	return "has " + strconv.Itoa(f.places) + " decimals"
}

// example is a value the form takes.
func (f form) example() string {
	if f.places == 0 {
		return "1250"
	}
	return "1250." + strings.Repeat("0", f.places-1) + "5"
}

func onlyDigits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

// quote makes text fit for a message: escaped, and cut when somebody sent a book.
func quote(text string) string {
	if len(text) > maxChars {
		return strconv.Quote(text[:maxChars]) + "…"
	}
	return strconv.Quote(text)
}
