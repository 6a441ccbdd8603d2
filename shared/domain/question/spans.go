package question

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/lazy"
)

// units are how units are worded.
var units = map[string]unit{
	"day": days, "days": days, "week": weeks, "weeks": weeks, "month": monthsOf, "months": monthsOf,
	"quarter": quarters, "quarters": quarters, "year": years, "years": years,
}

// shifts are the words before a unit that say which one.
var shifts = map[string]int{"this": 0, "current": 0, "last": -1, "previous": -1, "prior": -1, "past": -1, "next": 1, "coming": 1, "following": 1, "upcoming": 1}

// single are periods of one wording.
var single = map[string]span{
	"today": {unit: days}, "tonight": {unit: days}, "yesterday": {unit: days, shift: -1}, "tomorrow": {unit: days, shift: 1},
	"ytd": {unit: years, toDate: true}, "mtd": {unit: monthsOf, toDate: true}, "qtd": {unit: quarters, toDate: true},
	"ttm": {unit: monthsOf, count: 12}, "ltm": {unit: monthsOf, count: 12},
}

var monthNames = map[string]time.Month{
	"january": 1, "jan": 1, "february": 2, "feb": 2, "march": 3, "mar": 3, "april": 4, "apr": 4, "may": 5, "june": 6, "jun": 6,
	"july": 7, "jul": 7, "august": 8, "aug": 8, "september": 9, "sep": 9, "sept": 9, "october": 10, "oct": 10, "november": 11, "nov": 11,
	"december": 12, "dec": 12,
}

var weekdayNames = map[string]time.Weekday{
	"monday": time.Monday, "tuesday": time.Tuesday, "wednesday": time.Wednesday, "thursday": time.Thursday, "friday": time.Friday,
	"saturday": time.Saturday, "sunday": time.Sunday,
}

var ordinals = map[string]int{"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}

// fixed are periods of several words.
var fixed = []struct {
	words []string
	span  span
}{
	{strings.Fields("since the start of the year"), span{unit: years, toDate: true}},
	{strings.Fields("since the beginning of the year"), span{unit: years, toDate: true}},
	{strings.Fields("this year so far"), span{unit: years, toDate: true}},
	{strings.Fields("the year so far"), span{unit: years, toDate: true}},
	{strings.Fields("this month so far"), span{unit: monthsOf, toDate: true}},
	{strings.Fields("for the month"), span{unit: monthsOf}},
	{strings.Fields("for the quarter"), span{unit: quarters}},
	{strings.Fields("for the year"), span{unit: years}},
	{strings.Fields("of the month"), span{unit: monthsOf}},
	{strings.Fields("of the year"), span{unit: years}},
	{strings.Fields("last fortnight"), span{unit: days, count: 14}},
	{strings.Fields("past fortnight"), span{unit: days, count: 14}},
	{strings.Fields("next fortnight"), span{unit: days, count: 14, ahead: true}},
	{strings.Fields("all time"), span{all: true}},
	{strings.Fields("since inception"), span{all: true}},
	{strings.Fields("since the beginning"), span{all: true}},
	{strings.Fields("month before last"), span{unit: monthsOf, shift: -2}},
	{strings.Fields("quarter before last"), span{unit: quarters, shift: -2}},
}

// doubtful month names are verbs too, and names of a month only with a year, a
// day or after a preposition.
var (
	doubtful     = []string{"may", "march", "mar"}
	prepositions = []string{"in", "for", "during", "of", "through", "by", "since", "from", "to", "between", "and", "until", "till", "versus", "vs", "than", "against", "with", "last", "this", "next", "on"}
	lead         = []string{"within", "in", "over", "during", "for"} // may stand before "the next 7 days"
)

var (
	isoMonth    = lazy.Pattern(`^(19|20)\d\d-(0[1-9]|1[0-2])$`)
	isoDate     = lazy.Pattern(`^(19|20)\d\d-\d\d-\d\d$`)
	slashDate   = lazy.Pattern(`^(\d{1,2})[/.](\d{1,2})[/.]((?:19|20)\d\d)$`)
	yearForm    = lazy.Pattern(`^(19|20)\d\d$`)
	quarterForm = lazy.Pattern(`^(?:((?:19|20)\d\d)-)?([qh])([1-4])(?:-((?:19|20)\d\d))?$`)
	countForm   = lazy.Pattern(`^[1-9]\d{0,2}$`)
	dayForm     = lazy.Pattern(`^([1-9]|[12]\d|3[01])(st|nd|rd|th)?$`)
)

// readers read a period at the start of words and say how many they took. The
// word before them may tell what a doubtful one is.
var readers = []func(words []string, previous string) (span, int){readFixed, readRun, readRelative, readToDate, readDate, readMonth, readWeekday, readPart, readCalendar}

// readSpan reads a period, or a range of two.
func readSpan(words []string, previous string) (span, int) {
	if words[0] == "since" && len(words) > 1 {
		at := 1
		if words[1] == "the" && len(words) > 2 {
			at++
		}
		if s, n := readOne(words[at:], "since"); n > 0 && !s.ahead && !s.toDate {
			s.since = true
			return s, n + at
		}
	}
	if m := dayForm().FindStringSubmatch(words[0]); m != nil && len(words) > 3 && slices.Contains([]string{"to", "until", "till", "through", "and"}, words[1]) {
		// "1 to 15 August": the month stands once.
		if last, n := readDate(words[2:], words[1]); n > 0 && last.month > 0 {
			first := last
			first.date, _ = strconv.Atoi(m[1])
			first.to = &last
			return first, n + 2
		}
	}
	s, n := readOne(words, previous)
	if n == 0 || n+1 >= len(words) {
		return s, n
	}
	ranged := slices.Contains([]string{"to", "until", "till", "through", "thru"}, words[n]) && !s.toDate || words[n] == "and" && previous == "between"
	if last, m := readOne(words[n+1:], words[n]); ranged && m > 0 && s.count == 0 && last.count == 0 {
		s.to = &last
		return s, n + 1 + m
	}
	return s, n
}

func readOne(words []string, previous string) (span, int) {
	if startsWith(words, []string{"end", "of"}) || startsWith(words, []string{"the", "end", "of"}) {
		at := slices.Index(words, "of") + 1
		if at < len(words) && words[at] == "the" {
			at++
		}
		if at < len(words) && units[words[at]] != "" {
			return span{unit: units[words[at]], end: true}, at + 1
		}
		if at < len(words) {
			if s, n := readOne(words[at:], "of"); n > 0 {
				s.end = true
				return s, at + n
			}
		}
	}
	for _, read := range readers {
		if s, n := read(words, previous); n > 0 {
			return s, n
		}
	}
	return span{}, 0
}

func readFixed(words []string, _ string) (span, int) {
	for _, f := range fixed {
		if startsWith(words, f.words) {
			return f.span, len(f.words)
		}
	}
	return span{}, 0
}

// readRun reads "within 7 days", "in the next two weeks", "last 30 days", "over
// the past month".
func readRun(words []string, _ string) (span, int) {
	at, ahead, bounded, article := 0, false, false, false
	if at < len(words) && slices.Contains(lead, words[at]) {
		bounded, ahead = words[at] == "within" || words[at] == "in", true
		at++
	}
	if at < len(words) && words[at] == "the" {
		article = true
		at++
	}
	shifted := false
	if at < len(words) {
		if shift, ok := shifts[words[at]]; ok && shift != 0 || words[at] == "trailing" {
			bounded, shifted, ahead = true, true, shift > 0
			at++
		}
	}
	if at < len(words) && bounded && article && shifted {
		// "the next week" is seven days, "next week" is from Monday to Sunday.
		if u := units[words[at]]; string(u) == words[at] && u != "" && u != quarters && u != years {
			return span{unit: u, count: 1, ahead: ahead}, at + 1
		}
	}
	if startsWith(words[min(at, len(words)):], []string{"couple", "of"}) && at+2 < len(words) && units[words[at+2]] != "" && bounded {
		return span{unit: units[words[at+2]], count: 2, ahead: ahead}, at + 3
	}
	if !bounded || at+1 >= len(words) {
		return span{}, 0
	}
	if words[at+1] == "calendar" || words[at+1] == "full" || words[at+1] == "complete" || words[at+1] == "working" || words[at+1] == "business" {
		return span{}, 0
	}
	n, ok := count(words[at])
	u, known := units[words[at+1]]
	if !ok || !known || n > 366 {
		return span{}, 0
	}
	return span{unit: u, count: n, ahead: ahead}, at + 2
}

func count(text string) (int, bool) {
	if n, written := numbers[text]; written {
		return n, true
	}
	if !countForm().MatchString(text) {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// readRelative reads "this month", "last week", "today", "last September".
func readRelative(words []string, _ string) (span, int) {
	if s, ok := single[words[0]]; ok {
		return s, 1
	}
	if len(words) < 2 {
		return span{}, 0
	}
	shift, ok := shifts[words[0]]
	if !ok {
		return span{}, 0
	}
	if month, named := monthNames[words[1]]; named && words[0] != "past" {
		return span{unit: monthsOf, month: month, shift: shift}, 2
	}
	if day, named := weekdayNames[words[1]]; named {
		return span{unit: days, weekday: day, named: true, shift: shift}, 2
	}
	u, known := units[words[1]]
	if !known || string(u) != words[1] { // one unit, not several
		return span{}, 0
	}
	if startsWith(words[2:], []string{"to", "date"}) {
		return span{unit: u, toDate: true}, 4
	}
	return span{unit: u, shift: shift}, 2
}

// readToDate reads "year to date".
func readToDate(words []string, _ string) (span, int) {
	u, known := units[words[0]]
	if !known || !startsWith(words[1:], []string{"to", "date"}) {
		return span{}, 0
	}
	return span{unit: u, toDate: true}, 3
}

// readDate reads "3 September 2025", "the 3rd of September", "September 3rd" and
// "the 15th".
func readDate(words []string, previous string) (span, int) {
	at := 0
	if words[0] == "the" && len(words) > 1 {
		at = 1
	}
	if m := dayForm().FindStringSubmatch(words[at]); m != nil {
		s := span{unit: days}
		s.date, _ = strconv.Atoi(m[1])
		n := at + 1
		if n < len(words) && words[n] == "of" {
			n++
		}
		if n < len(words) && monthNames[words[n]] > 0 {
			s.month = monthNames[words[n]]
			return s.inNamedYear(words, n+1)
		}
		if m[2] != "" && (at == 1 || slices.Contains(prepositions, previous)) {
			return s, at + 1
		}
		return span{}, 0
	}
	if at > 0 || len(words) < 2 || monthNames[words[0]] == 0 {
		return span{}, 0
	}
	m := dayForm().FindStringSubmatch(words[1])
	if m == nil {
		return span{}, 0
	}
	s := span{unit: days, month: monthNames[words[0]]}
	s.date, _ = strconv.Atoi(m[1])
	return s.inNamedYear(words, 2)
}

// inNamedYear takes the year that may follow, and refuses a day the month does
// not have.
func (s span) inNamedYear(words []string, n int) (span, int) {
	year := 2024 // has a 29 February
	if n < len(words) && yearForm().MatchString(words[n]) {
		s.year, _ = strconv.Atoi(words[n])
		year = s.year
		n++
	}
	if time.Date(year, s.month, s.date, 0, 0, 0, 0, time.UTC).Month() != s.month {
		return span{}, 0
	}
	return s, n
}

// readMonth reads "September", "september 2025", "sept of 2025", "September last
// year".
func readMonth(words []string, previous string) (span, int) {
	month, ok := monthNames[words[0]]
	if !ok {
		return span{}, 0
	}
	s, n := span{unit: monthsOf, month: month}, 1
	if startsWith(words[n:], []string{"last", "year"}) || startsWith(words[n:], []string{"of", "last", "year"}) {
		s.ago = 1
		return s, 1 + slices.Index(words, "year")
	}
	if startsWith(words[n:], []string{"this", "year"}) || startsWith(words[n:], []string{"of", "this", "year"}) {
		return s, 1 + slices.Index(words, "year")
	}
	if startsWith(words[n:], []string{"of"}) {
		n++
	}
	if n < len(words) && yearForm().MatchString(words[n]) {
		s.year, _ = strconv.Atoi(words[n])
		return s, n + 1
	}
	if slices.Contains(doubtful, words[0]) && !slices.Contains(prepositions, previous) {
		return span{}, 0
	}
	return s, 1
}

func readWeekday(words []string, previous string) (span, int) {
	day, ok := weekdayNames[words[0]]
	if !ok || !slices.Contains(prepositions, previous) {
		return span{}, 0
	}
	return span{unit: days, weekday: day, named: true}, 1
}

// readPart reads "first half of 2025", "the third quarter", "Q3 2025", "2025-Q3",
// "H1".
func readPart(words []string, _ string) (span, int) {
	at := 0
	if words[0] == "the" && len(words) > 1 {
		at = 1
	}
	s, n := span{}, 0
	if m := quarterForm().FindStringSubmatch(words[at]); m != nil {
		s.unit, n = quarters, at+1
		if m[2] == "h" {
			s.unit = halves
		}
		s.part = int(m[3][0] - '0')
		s.year, _ = strconv.Atoi(m[1] + m[4])
	} else if part, ok := ordinals[words[at]]; ok && at+1 < len(words) && (words[at+1] == "quarter" || words[at+1] == "half") {
		s, n = span{unit: unit(words[at+1]), part: part}, at+2
	}
	if n == 0 || s.unit == halves && s.part > 2 {
		return span{}, 0
	}
	if n < len(words) && words[n] == "of" && n+1 < len(words) && (yearForm().MatchString(words[n+1]) || words[n+1] == "the" || words[n+1] == "this" || words[n+1] == "last") {
		n++
	}
	switch {
	case n < len(words) && s.year == 0 && yearForm().MatchString(words[n]):
		s.year, _ = strconv.Atoi(words[n])
		n++
	case startsWith(words[n:], []string{"last", "year"}):
		s.ago, n = 1, n+2
	case startsWith(words[n:], []string{"this", "year"}), startsWith(words[n:], []string{"the", "year"}):
		n += 2
	}
	return s, n
}

// readCalendar reads "2025-09", "2025-09-30", "13/09/2025", "2025".
func readCalendar(words []string, previous string) (span, int) {
	switch text := words[0]; {
	case isoMonth().MatchString(text):
		at, err := time.Parse("2006-01", text)
		if err != nil {
			return span{}, 0
		}
		return span{unit: monthsOf, year: at.Year(), month: at.Month()}, 1
	case isoDate().MatchString(text):
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return span{}, 0
		}
		return span{unit: days, day: text}, 1
	case slashDate().MatchString(text):
		return readSlashes(slashDate().FindStringSubmatch(text))
	case yearForm().MatchString(text) && (slices.Contains(prepositions, previous) || previous == "" || len(words) == 1):
		year, _ := strconv.Atoi(text)
		n := 1
		if len(words) > 1 {
			if s, m := readPart(words[1:], ""); m > 0 && s.year == 0 && s.ago == 0 {
				s.year = year
				return s, 1 + m
			}
		}
		return span{unit: years, year: year}, n
	}
	return span{}, 0
}

// readSlashes reads a date of numbers. Day and month are told apart by their
// size; where both could be either, it is asked back.
func readSlashes(m []string) (span, int) {
	a, _ := strconv.Atoi(m[1])
	b, _ := strconv.Atoi(m[2])
	if a <= 12 && b <= 12 && a != b {
		return span{unit: days, day: m[3] + "-01-01", doubt: m[0]}, 1
	}
	if a <= 12 {
		a, b = b, a
	}
	day := m[3] + "-" + pad(b) + "-" + pad(a)
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return span{}, 0
	}
	return span{unit: days, day: day}, 1
}

func pad(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}
