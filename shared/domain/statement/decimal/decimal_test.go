package decimal_test

import (
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement/decimal"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		text, body, mark string
		negative         bool
		sign             decimal.Sign
	}{
		{"12", "12", "", false, decimal.None},
		{"12.50", "12.50", "", false, decimal.Point},
		{"12,50", "12,50", "", false, decimal.Comma},
		{"1.234,5", "1.234,5", "", false, decimal.Comma},
		{"1,234.5", "1,234.5", "", false, decimal.Point},
		{"1.234", "1.234", "", false, decimal.Either},
		{"1,234", "1,234", "", false, decimal.Either},
		{"0.500", "0.500", "", false, decimal.Point},
		{"1234.567", "1234.567", "", false, decimal.Point},
		{"1.234.567", "1.234.567", "", false, decimal.Comma},
		{"1,234,567", "1,234,567", "", false, decimal.Point},
		{".50", ".50", "", false, decimal.Point},
		{"5,", "5,", "", false, decimal.Comma},
		{"-5", "5", "", true, decimal.None},
		{"5-", "5", "", true, decimal.None},
		{"−5", "5", "", true, decimal.None},
		{"5−", "5", "", true, decimal.None},
		{"+5", "5", "", false, decimal.None},
		{"(5)", "5", "", true, decimal.None},
		{"($5)", "5", "$", true, decimal.None},
		{"$(5)", "5", "$", true, decimal.None},
		{"(5) EUR", "5", "EUR", true, decimal.None},
		{"-$5", "5", "$", true, decimal.None},
		{"$-5", "5", "$", true, decimal.None},
		{"5 €", "5", "€", false, decimal.None},
		{"5− €", "5", "€", true, decimal.None},
		{"5.00 DR", "5.00", "", true, decimal.Point},
		{"5.00Cr", "5.00", "", false, decimal.Point},
		{" 5 ", "5", "", false, decimal.None},
	} {
		w, err := decimal.Read(c.text)
		if err != nil || w.Body != c.body || w.Mark != c.mark || w.Negative != c.negative || w.Decimal() != c.sign {
			t.Errorf("%q: got %+v %c, %v", c.text, w, w.Decimal(), err)
		}
	}
	for _, text := range []string{"", " ", "-", "--5", "-5-", "(-5)", "(5", "5)", "x", "5x5", "=1+1", "1e5", "0x10", "٣", "1/2", "EUR", "EUR 5 USD", "5 a b", "5%",
		"-(5)", "5-5", ".", ",", "'5", strings.Repeat("1", 81), "NaN", "Inf"} {
		if w, err := decimal.Read(text); err == nil {
			t.Errorf("%q was read as %+v", text, w)
		}
	}
}

func TestAmount(t *testing.T) {
	for _, c := range []struct {
		text     string
		sign     decimal.Sign
		currency string
		want     string
	}{
		{"1.234,50", decimal.Comma, "EUR", "1234.50"},
		{"1.234", decimal.Comma, "EUR", "1234.00"},
		{"1.230", decimal.Point, "EUR", "1.23"},
		{"1.234", decimal.Point, "KWD", "1.234"},
		{"1234.000", decimal.Point, "JPY", "1234"},
		{"007,5", decimal.Comma, "EUR", "7.50"},
		{"1'234'567.8", decimal.Point, "CHF", "1234567.80"},
		{"1 234 567,8", decimal.Comma, "EUR", "1234567.80"},
		{"1,00,000.00", decimal.Point, "INR", "100000.00"},
		{"-0.00", decimal.Point, "EUR", "0.00"},
		{"5,", decimal.Comma, "EUR", "5.00"},
		{",5", decimal.Comma, "EUR", "0.50"},
	} {
		w, err := decimal.Read(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		a, err := w.Amount(c.sign, money.MustParse(c.currency))
		if err != nil || a.String() != c.want {
			t.Errorf("%q: got %s, %v, want %s", c.text, a, err, c.want)
		}
	}
	for _, c := range []struct {
		text string
		sign decimal.Sign
	}{
		{"1.2345", decimal.Point}, {"1.005", decimal.Point}, {"1.23,4", decimal.Point}, {"12.50", decimal.Comma}, {"1.2.3", decimal.Comma},
		{"1.234 567", decimal.Comma}, {"1234.567,8", decimal.Comma}, {"1,5,5", decimal.Comma}, {"1''000", decimal.Point},
		{strings.Repeat("9", 40), decimal.Point},
	} {
		w, err := decimal.Read(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if a, err := w.Amount(c.sign, money.MustParse("EUR")); err == nil {
			t.Errorf("%q with %c was read as %s", c.text, c.sign, a)
		}
	}
}

func TestParse(t *testing.T) {
	eur := money.MustParse("EUR")
	if a, err := decimal.Parse("-1234,5", decimal.Comma, eur); err != nil || a.String() != "-1234.50" {
		t.Errorf("got %s, %v", a, err)
	}
	for _, text := range []string{"1.234,5", "1 234", "5 EUR", "1,2,3", ""} {
		if a, err := decimal.Parse(text, decimal.Comma, eur); err == nil {
			t.Errorf("%q was read as %s", text, a)
		}
	}
}

// FuzzRead: no text panics, and what is read has the digits of the text in their
// order: nothing is made up.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"1.234,50", "(5) EUR", "$-1'000.00", "5−", "2.500", "1 2"} {
		f.Add(seed)
	}
	digits := func(text string) string {
		return strings.TrimLeft(strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, text), "0")
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := decimal.Read(text)
		if err != nil {
			return
		}
		for _, sign := range []decimal.Sign{decimal.Point, decimal.Comma} {
			a, err := w.Amount(sign, money.MustParse("EUR"))
			if err != nil {
				continue
			}
			got, want := strings.TrimRight(digits(a.String()), "0"), strings.TrimRight(digits(text), "0")
			if got != want {
				t.Errorf("%q is %s", text, a)
			}
			if a.Sign() < 0 != (w.Negative && a.Sign() != 0) {
				t.Errorf("%q is %s, and negative is %v", text, a, w.Negative)
			}
		}
	})
}
