package csv

import (
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/statement"
)

// parts are a date's numbers in the order they stand in, before anybody says
// which is which.
type parts struct {
	n      [3]int
	known  Order // when the text itself says the order
	dotted bool  // written with points: nobody does with the month first
	short  bool  // the year has two digits
}

// months are the first three letters of their names in the six languages, folded.
var months = map[string]int{
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
	"mrz": 3, "mae": 3, "mai": 5, "okt": 10, "dez": 12,
	"fev": 2, "avr": 4, "aou": 8,
	"maa": 3, "mrt": 3, "mei": 5,
	"ene": 1, "abr": 4, "ago": 8, "dic": 12, "set": 9, "out": 10,
}

// maxDate bounds what is looked at.
const maxDate = 40

// split takes a date apart, with or without a time behind it. It does not say
// that there is such a day.
func split(text string) (parts, bool) {
	if text == "" || len(text) > maxDate {
		return parts{}, false
	}
	text = withoutTime(text)
	if len(text) == 8 {
		if _, digits := statement.Number(text); digits {
			return compact(text)
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" .,/-", r) })
	if len(words) != 3 {
		return parts{}, false
	}
	p := parts{dotted: strings.Count(text, ".") == 2}
	name := -1
	for i, word := range words {
		n, ok := statement.Number(word)
		if !ok {
			if n, ok = monthNamed(word); !ok || name >= 0 {
				return parts{}, false
			}
			name = i
		} else if len(word) > 4 || len(word) == 3 {
			return parts{}, false
		}
		p.n[i] = n
	}
	switch {
	case len(words[0]) == 4 && name != 0:
		p.known = YearFirst
	case name == 0:
		p.known = MonthFirst
	case name == 1:
		p.known = DayFirst
	case name == 2:
		return parts{}, false
	}
	p.short = p.known != YearFirst && len(words[2]) <= 2
	return p, len(words[1]) <= 2 || name == 1
}

// withoutTime cuts the time off: 2025-04-02T12:00:00Z, 02.04.2025 12:00.
func withoutTime(text string) string {
	i := strings.IndexByte(text, ':')
	if i < 0 {
		return strings.TrimSuffix(text, ".")
	}
	for i > 0 && (text[i-1] >= '0' && text[i-1] <= '9') {
		i--
	}
	return strings.TrimRight(text[:i], " T,")
}

// compact reads 20250402, or 02042025 where the first four digits are no year.
func compact(text string) (parts, bool) {
	n := func(from, to int) int {
		v, _ := statement.Number(text[from:to])
		return v
	}
	if year, month := n(0, 4), n(4, 6); year >= 1900 && year < 2200 && month >= 1 && month <= 12 {
		return parts{n: [3]int{year, month, n(6, 8)}, known: YearFirst}, true
	}
	return parts{n: [3]int{n(0, 2), n(2, 4), n(4, 8)}}, true
}

func monthNamed(word string) (int, bool) {
	word = fold(word)
	if len(word) < 3 {
		return 0, false
	}
	n, ok := months[word[:3]]
	return n, ok
}

// date is the day in the order, or the one the text itself says.
func (p parts) date(order Order) (statement.Date, error) {
	if p.known != "" {
		order = p.known
	}
	a, b, c := p.n[0], p.n[1], p.n[2]
	year, month, day := c, b, a
	switch order {
	case MonthFirst:
		month, day = a, b
	case YearFirst:
		year, month, day = a, b, c
	}
	if year < 100 {
		year = statement.FullYear(year)
	}
	return statement.NewDate(year, month, day)
}

// calendar gathers what a file's dates say of their order.
type calendar struct {
	dayFirst, monthFirst *place // the first date that can be read no other way
	either               *place // the first that can be read both ways
	dotted               bool
	short                bool      // years have two digits
	firsts, lasts        [128]bool // the numbers seen at the ends of dates with short years
}

// place is where something was, and what.
type place struct {
	at   statement.Place
	text string
}

func (c *calendar) see(p parts, at place) {
	if p.known != "" {
		return
	}
	c.dotted = c.dotted || p.dotted
	if p.short && p.n[0] < 100 && p.n[2] < 100 {
		c.short = true
		c.firsts[p.n[0]], c.lasts[p.n[2]] = true, true
	}
	switch a, b := p.n[0], p.n[1]; {
	case a > 12 && c.dayFirst == nil:
		c.dayFirst = &at
	case b > 12 && a <= 12 && c.monthFirst == nil:
		c.monthFirst = &at
	case a <= 12 && b <= 12 && a != b && c.either == nil:
		c.either = &at
	}
}

// order is what the dates of the whole file say. Where they leave it open,
// points and a header that is not English say day first: nobody who writes
// either puts the month there.
func (c *calendar) order(spoken language) (Order, error) {
	switch {
	case c.dayFirst != nil && c.monthFirst != nil:
		return "", c.monthFirst.at.Refuse("the date has its month first, and the one in line "+strconv.Itoa(c.dayFirst.at.Line)+" its day",
			c.monthFirst.text, "one order in the whole file", statement.Correct)
	case c.short && c.yearsFirst():
		return "", statement.Place{Line: 1}.Refuse("years of two digits may stand first or last in the dates", "", "an order that only one reading has",
			"Give a mapping with dates ymd, dmy or mdy.")
	case c.dayFirst != nil:
		return DayFirst, nil
	case c.monthFirst != nil:
		return MonthFirst, nil
	case c.either == nil:
		return DayFirst, nil // no date depends on it
	case c.dotted || spoken&english == 0:
		return DayFirst, nil
	}
	return "", c.either.at.Refuse("day and month cannot be told apart in any date of the file, the first of which is", c.either.text,
		"a date with a day after the 12th", "Give a mapping with dates dmy or mdy.")
}

// yearsFirst says whether the last numbers look more like days than the first:
// within one export there are many days and few years.
func (c *calendar) yearsFirst() bool {
	firsts, lasts := 0, 0
	for i := range c.firsts {
		if c.firsts[i] {
			firsts++
		}
		if c.lasts[i] {
			lasts++
			if i > 31 {
				return false
			}
		}
	}
	return lasts > firsts
}
