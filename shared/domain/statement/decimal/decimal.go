// Package decimal reads amounts as banks write them: with signs before or
// behind, in parentheses, with currency marks, grouped by points, commas, blanks
// or apostrophes. What it returns is exact, and a text that can be read in two
// ways is read in none until somebody says which sign is the decimal one.
package decimal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
)

// maxText bounds what is looked at: no amount is longer.
const maxText = 80

// Written is an amount as it stands in a file.
type Written struct {
	Negative bool
	Signed   bool   // a sign, parentheses or a mark of credit or debit stood with it
	Body     string // digits, and among them points, commas, apostrophes and blanks
	Mark     string // a currency's code or sign that stood with it, as written
}

// Sign says which sign of a text is the decimal one.
type Sign byte

// What a text tells of the decimal sign: nothing when it has neither, and
// Either when it can be read both ways, as 2.500 can.
const (
	None   Sign = 0
	Point  Sign = '.'
	Comma  Sign = ','
	Either Sign = '?'
)

// blanks are the characters that are a blank in some export.
const blanks = " \t\u00a0\u2007\u2009\u202f"

var errNoAmount = errors.New("it is no amount")

// Read takes an amount's text apart. It fails for anything that has no digits,
// two signs, or characters that no amount has.
func Read(text string) (Written, error) {
	if len(text) > maxText {
		return Written{}, fmt.Errorf("an amount has at most %d characters, %d came", maxText, len(text))
	}
	if plain(text) {
		return Written{Body: text}, nil
	}
	var w Written
	rest, err := w.parentheses(strings.Trim(text, blanks))
	if err == nil {
		rest, err = w.front(rest)
	}
	if err == nil {
		rest, err = w.back(rest)
	}
	if err != nil || !body(rest) {
		return Written{}, errNoAmount
	}
	w.Body = strings.ReplaceAll(rest, "’", "'")
	return w, nil
}

// plain says whether text has digits, points and commas alone.
func plain(text string) bool {
	return text != "" && strings.Trim(text, "0123456789.,") == "" && strings.ContainsAny(text, "0123456789")
}

// parentheses takes them off, with the mark before or behind them.
func (w *Written) parentheses(text string) (string, error) {
	before, inner, opened := strings.Cut(text, "(")
	if !opened {
		return text, nil
	}
	inner, behind, closed := strings.Cut(inner, ")")
	if !closed {
		return "", errNoAmount
	}
	w.Negative, w.Signed = true, true
	if err := w.mark(before); err != nil {
		return "", err
	}
	return inner, w.mark(behind)
}

// front takes signs and marks off the start.
func (w *Written) front(text string) (string, error) {
	for {
		text = strings.TrimLeft(text, blanks)
		if rest, ok := w.sign(text, strings.CutPrefix); ok {
			if rest == text {
				return "", errNoAmount
			}
			text = rest
			continue
		}
		n := strings.IndexAny(text, "0123456789.,-+−")
		if n <= 0 {
			return text, nil
		}
		if err := w.mark(text[:n]); err != nil {
			return "", err
		}
		text = text[n:]
	}
}

// back takes signs and marks off the end.
func (w *Written) back(text string) (string, error) {
	for {
		text = strings.TrimRight(text, blanks)
		if rest, ok := w.sign(text, strings.CutSuffix); ok {
			if rest == text {
				return "", errNoAmount
			}
			text = rest
			continue
		}
		n := strings.LastIndexAny(text, "0123456789.,-+−") + 1
		if strings.HasPrefix(text[max(n-1, 0):], "−") {
			n += len("−") - 1
		}
		if n == 0 || n == len(text) {
			return text, nil
		}
		if err := w.mark(text[n:]); err != nil {
			return "", err
		}
		text = text[:n]
	}
}

// sign takes one sign off text; a second one leaves text as it is, which is how
// the caller sees it.
func (w *Written) sign(text string, cut func(string, string) (string, bool)) (string, bool) {
	for _, s := range [...]string{"-", "−", "+"} {
		if rest, ok := cut(text, s); ok {
			if w.Signed {
				return text, true
			}
			w.Signed, w.Negative = true, s != "+"
			return rest, true
		}
	}
	return text, false
}

// mark keeps a currency's mark, or reads a mark of credit or debit.
func (w *Written) mark(text string) error {
	text = strings.Trim(text, blanks)
	switch {
	case text == "":
		return nil
	case strings.Contains(" CR C H DR D S ", " "+strings.ToUpper(text)+" "):
		if w.Signed {
			return errNoAmount
		}
		w.Signed, w.Negative = true, strings.Contains(" DR D S ", " "+strings.ToUpper(text)+" ")
		return nil
	case w.Mark != "" || !currencyMark(text):
		return errNoAmount
	}
	w.Mark = text
	return nil
}

// currencyMark says whether text may be a currency's code or sign: up to four
// characters, none of which an amount or a formula has.
func currencyMark(text string) bool {
	n := 0
	for _, r := range text {
		if n++; n > 4 || strings.ContainsRune(blanks+"+-−=()'\"@;:/\\%*&<>[]{}|", r) || r < ' ' || r == '\ufffd' {
			return false
		}
	}
	return true
}

// body says whether text is digits with separators among them.
func body(text string) bool {
	digits := false
	for i, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits = true
		case r == '.' || r == ',':
		case i > 0 && (r == '\'' || r == '’' || strings.ContainsRune(blanks, r)):
		default:
			return false
		}
	}
	return digits
}

// Decimal says which sign is the decimal one, from this text alone.
func (w Written) Decimal() Sign {
	points, commas := strings.Count(w.Body, "."), strings.Count(w.Body, ",")
	switch {
	case points == 0 && commas == 0:
		return None
	case points > 0 && commas > 0:
		if strings.LastIndexByte(w.Body, '.') > strings.LastIndexByte(w.Body, ',') {
			return Point
		}
		return Comma
	case points > 1:
		return Comma // points group, so the comma would be decimal
	case commas > 1:
		return Point
	}
	sign := Point
	if commas > 0 {
		sign = Comma
	}
	whole, fraction, _ := strings.Cut(w.Body, string(rune(sign)))
	if len(fraction) == 3 && len(whole) >= 1 && len(whole) <= 3 && whole[0] != '0' {
		return Either
	}
	return sign
}

// Amount is the value in the currency, with the given sign before the decimals
// and the other one for groups of three. Decimals that are zero beyond what the
// currency has are dropped; any other is refused, never rounded.
func (w Written) Amount(decimal Sign, c money.Currency) (money.Amount, error) {
	whole, fraction, _ := strings.Cut(w.Body, string(rune(decimal)))
	whole, err := ungroup(whole, decimal)
	if err != nil {
		return money.Amount{}, err
	}
	for len(fraction) > c.Exponent() && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	a, err := money.ParseAmount(whole, c)
	if err != nil {
		return money.Amount{}, err
	}
	if w.Negative {
		return a.Neg(), nil
	}
	return a, nil
}

// ungroup takes the signs between groups out. There is one kind of them, and
// the last group has three digits: 1.2.3 or 12.50 with a decimal comma is a
// typing error and not 123 or 1250.
func ungroup(whole string, decimal Sign) (string, error) {
	if strings.Trim(whole, "0123456789") == "" {
		return whole, nil
	}
	for _, b := range blanks[1:] {
		whole = strings.ReplaceAll(whole, string(b), " ")
	}
	group := ""
	for _, r := range whole {
		if r >= '0' && r <= '9' {
			continue
		}
		if group != "" && group != string(r) || string(r) == string(rune(decimal)) {
			return "", fmt.Errorf("%q has two kinds of signs between its groups", whole)
		}
		group = string(r)
	}
	parts := strings.Split(whole, group)
	for i, part := range parts {
		// Groups of two are how India counts; the last has three everywhere.
		ok := len(part) == 3 || i < len(parts)-1 && len(part) == 2 || i == 0 && len(part) == 1
		if !ok {
			return "", fmt.Errorf("%q is not in groups of three digits", whole)
		}
	}
	return strings.Join(parts, ""), nil
}

// Parse reads an amount of a format that fixes the decimal sign and groups
// nothing.
func Parse(text string, decimal Sign, c money.Currency) (money.Amount, error) {
	w, err := Read(text)
	if err != nil {
		return money.Amount{}, err
	}
	if w.Mark != "" || strings.Trim(w.Body, "0123456789"+string(rune(decimal))) != "" || strings.Count(w.Body, string(rune(decimal))) > 1 {
		return money.Amount{}, errNoAmount
	}
	return w.Amount(decimal, c)
}
