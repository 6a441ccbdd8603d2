package question

import (
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/lazy"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// amountForm is a number as people write money: 10,000 or 12500.50 or 10k.
var amountForm = lazy.Pattern(`^(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(k|m)?$`)

// scales are the words that multiply a number.
var scales = map[string]int{"k": 3, "thousand": 3, "m": 6, "million": 6}

// bySign are the currencies of signs. A dollar sign is taken as the US dollar.
var bySign = map[rune]string{'$': "USD", '€': "EUR", '£': "GBP", '¥': "JPY"}

// bounds are the words in front of an amount that make it a limit.
var bounds = []struct {
	words []string
	over  bool
}{
	{strings.Fields("more than"), true}, {strings.Fields("greater than"), true}, {strings.Fields("larger than"), true}, {strings.Fields("bigger than"), true},
	{strings.Fields("higher than"), true}, {strings.Fields("in excess of"), true}, {strings.Fields("over"), true}, {strings.Fields("above"), true}, {strings.Fields("exceeding"), true},
	{strings.Fields("less than"), false}, {strings.Fields("smaller than"), false}, {strings.Fields("lower than"), false}, {strings.Fields("under"), false}, {strings.Fields("below"), false},
}

// sum is an amount a question names.
type sum struct {
	amount, currency string // the currency is empty where it is not said
	over, under      bool
}

// amounts takes the amounts a question names: a number with a currency's sign or
// code beside it, with a bound in front, or written as only money is.
func (q *reading) amounts() {
	for at := 0; at < len(q.words); at++ {
		if q.slots[at] != none {
			continue
		}
		s, n := q.amountAt(at)
		if n == 0 {
			continue
		}
		first := at
		for _, b := range bounds {
			if from := at - len(b.words); from >= 0 && startsWith(q.text[from:], b.words) && !q.any(from, len(b.words), func(s slot) bool { return s != none }) {
				s.over, s.under, first = b.over, !b.over, from
				break
			}
		}
		bare := s.currency == "" && !strings.ContainsAny(q.text[at], ",km")
		if bare && !s.over && !s.under {
			continue
		}
		q.sums = append(q.sums, s)
		q.mark(first, at+n-first, amountSlot)
		at += n - 1
	}
}

// amountAt reads an amount at a word and says how many words it takes.
func (q *reading) amountAt(at int) (sum, int) {
	text, n := q.text[at], 1
	code := ""
	if q.isCurrency(at) && at+1 < len(q.text) && amountForm().MatchString(q.text[at+1]) && q.slots[at+1] == none {
		code, text, n = strings.ToUpper(q.text[at]), q.text[at+1], 2 // USD 500
	}
	m := amountForm().FindStringSubmatch(text)
	if m == nil {
		return sum{}, 0
	}
	zeros := scales[m[3]]
	if next := at + n; m[3] == "" && next < len(q.text) && scales[q.text[next]] > 0 {
		zeros = scales[q.text[next]]
		n++
	}
	s := sum{amount: scaled(strings.ReplaceAll(m[1], ",", ""), strings.TrimPrefix(m[2], "."), zeros), currency: code}
	if sign := bySign[q.words[at].sign]; sign != "" {
		s.currency = sign
	}
	if next := at + n; s.currency == "" && next < len(q.text) {
		if code := currencyWords()[q.text[next]]; code != "" {
			s.currency = code
			n++
		}
	}
	return s, n
}

// isCurrency says whether a word is the code of a currency people name. Not every
// code is: ALL is the lek, and TOP the paʻanga.
func (q *reading) isCurrency(at int) bool {
	return currencyWords()[q.text[at]] == strings.ToUpper(q.text[at])
}

// scaled moves the point of a decimal to the right.
func scaled(whole, fraction string, zeros int) string {
	for ; zeros > 0; zeros-- {
		digit := "0"
		if fraction != "" {
			digit, fraction = fraction[:1], fraction[1:]
		}
		whole += digit
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// limits puts the amounts into the filters of a plan. An amount without a
// currency is taken in the one the tenant has most accounts in.
func (q *reading) limits(f *Filters) error {
	for _, s := range q.sums {
		currency := s.currency
		if currency == "" {
			currency = q.home
		}
		if f.Currency != "" && f.Currency != currency {
			return unanswered("The question names two currencies. Ask for one at a time.")
		}
		into := &f.Amount
		switch {
		case s.over:
			into = &f.AmountOver
		case s.under:
			into = &f.AmountUnder
		}
		if *into != "" {
			return unanswered("The question names several amounts. Ask with one limit at a time.")
		}
		if _, err := (money.Written{Amount: s.amount, Currency: currency}).Read(); err != nil {
			return unanswered("An amount of the question has more decimals than its currency.")
		}
		f.Currency, *into = currency, s.amount
	}
	return nil
}

// homeCurrency is the currency of most of the active accounts.
func homeCurrency(codes []string) string {
	n, most := map[string]int{}, ""
	slices.Sort(codes)
	for _, code := range codes {
		if n[code]++; n[code] > n[most] {
			most = code
		}
	}
	return most
}
