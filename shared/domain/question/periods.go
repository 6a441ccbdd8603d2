package question

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/lazy"
)

// unit is a length of calendar time.
type unit string

const (
	days     unit = "day"
	weeks    unit = "week"
	monthsOf unit = "month"
	quarters unit = "quarter"
	years    unit = "year"
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
}

var monthNames = map[string]time.Month{
	"january": 1, "jan": 1, "february": 2, "feb": 2, "march": 3, "mar": 3, "april": 4, "apr": 4, "may": 5, "june": 6, "jun": 6,
	"july": 7, "jul": 7, "august": 8, "aug": 8, "september": 9, "sep": 9, "sept": 9, "october": 10, "oct": 10, "november": 11, "nov": 11,
	"december": 12, "dec": 12,
}

// doubtful month names are verbs too, and names of a month only with a year or
// after a preposition.
var (
	doubtful     = []string{"may", "march"}
	prepositions = []string{"in", "for", "during", "of", "through", "by"}
	lead         = []string{"within", "in", "over", "during", "for"} // may stand before "the next 7 days"
)

var (
	isoMonth    = lazy.Pattern(`^(19|20)\d\d-(0[1-9]|1[0-2])$`)
	isoDate     = lazy.Pattern(`^(19|20)\d\d-\d\d-\d\d$`)
	yearForm    = lazy.Pattern(`^(19|20)\d\d$`)
	quarterForm = lazy.Pattern(`^q[1-4]$`)
	countForm   = lazy.Pattern(`^[1-9]\d{0,2}$`)
)

// span is a period as it was worded. Which days it has depends on the day it
// counts from.
type span struct {
	unit   unit
	shift  int  // units from the current one
	count  int  // a run of so many units, back from today or ahead of it
	ahead  bool // the run looks ahead
	toDate bool

	year  int // a named one; 0 is the nearest
	month time.Month
	part  int    // a quarter
	day   string // a date
}

// readSpan reads a period at the start of words and says how many it took. The
// word before them may tell what a doubtful one is.
func readSpan(words []string, previous string) (span, int) {
	for _, read := range []func([]string, string) (span, int){readRun, readRelative, readToDate, readMonth, readCalendar} {
		if s, n := read(words, previous); n > 0 {
			return s, n
		}
	}
	return span{}, 0
}

// readRun reads "within 7 days", "in the next two weeks", "last 30 days".
func readRun(words []string, _ string) (span, int) {
	at, ahead, bounded := 0, false, false
	if at < len(words) && slices.Contains(lead, words[at]) {
		bounded, ahead = words[at] == "within" || words[at] == "in", true
		at++
	}
	if at < len(words) && words[at] == "the" {
		at++
	}
	if at < len(words) {
		if shift, ok := shifts[words[at]]; ok && shift != 0 {
			bounded, ahead = true, shift > 0
			at++
		}
	}
	if !bounded || at+1 >= len(words) {
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

// readRelative reads "this month", "last week", "today".
func readRelative(words []string, _ string) (span, int) {
	if s, ok := single[words[0]]; ok {
		return s, 1
	}
	if len(words) < 2 {
		return span{}, 0
	}
	shift, ok := shifts[words[0]]
	u, known := units[words[1]]
	if !ok || !known || string(u) != words[1] { // one unit, not several
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

// readMonth reads "September", "september 2025", "sept of 2025".
func readMonth(words []string, previous string) (span, int) {
	month, ok := monthNames[words[0]]
	if !ok {
		return span{}, 0
	}
	s, n := span{unit: monthsOf, month: month}, 1
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

// readCalendar reads "2025-09", "2025-09-30", "Q3 2025", "2025".
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
	case quarterForm().MatchString(text):
		s := span{unit: quarters, part: int(text[1] - '0')}
		if len(words) > 1 && yearForm().MatchString(words[1]) {
			s.year, _ = strconv.Atoi(words[1])
			return s, 2
		}
		return s, 1
	case yearForm().MatchString(text) && slices.Contains(prepositions, previous):
		year, _ := strconv.Atoi(text)
		return span{unit: years, year: year}, 1
	}
	return span{}, 0
}

// resolve says which days a span has, seen from a day. A name without a year is
// the nearest one that has begun, or that is not over where the question looks
// ahead. What looks back never reaches beyond the day itself.
func (s span) resolve(today time.Time, ahead bool) Period {
	today = midnight(today)
	from, until := s.days(today, ahead)
	if tomorrow := today.AddDate(0, 0, 1); !ahead && until.After(tomorrow) && from.Before(tomorrow) || s.toDate {
		until = tomorrow
	}
	return Period{From: from.Format(time.DateOnly), Until: until.Format(time.DateOnly), Label: label(from, until)}
}

func (s span) days(today time.Time, ahead bool) (from, until time.Time) {
	switch {
	case s.day != "":
		from, _ = time.Parse(time.DateOnly, s.day)
		return from, from.AddDate(0, 0, 1)
	case s.count > 0 && s.ahead:
		// Within n days: today and the n days after it.
		return today, step(today, s.unit, s.count).AddDate(0, 0, 1)
	case s.count > 0:
		until = today.AddDate(0, 0, 1)
		return step(until, s.unit, -s.count), until
	case s.month > 0:
		from = time.Date(s.named(today), s.month, 1, 0, 0, 0, 0, time.UTC)
	case s.part > 0:
		from = time.Date(s.named(today), time.Month(3*s.part-2), 1, 0, 0, 0, 0, time.UTC)
	case s.year > 0:
		from = time.Date(s.year, 1, 1, 0, 0, 0, 0, time.UTC)
	default:
		from = step(start(today, s.unit), s.unit, s.shift)
	}
	until = step(from, s.unit, 1)
	if s.year == 0 && (s.month > 0 || s.part > 0) {
		switch {
		case ahead && !until.After(today):
			from, until = from.AddDate(1, 0, 0), until.AddDate(1, 0, 0)
		case !ahead && from.After(today):
			from, until = from.AddDate(-1, 0, 0), until.AddDate(-1, 0, 0)
		}
	}
	return from, until
}

func (s span) named(today time.Time) int {
	if s.year > 0 {
		return s.year
	}
	return today.Year()
}

func midnight(at time.Time) time.Time {
	at = at.UTC()
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
}

// start is the first day of the unit a day lies in. Weeks begin on Monday.
func start(day time.Time, u unit) time.Time {
	switch u {
	case weeks:
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case monthsOf:
		return time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
	case quarters:
		return time.Date(day.Year(), (day.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
	case years:
		return time.Date(day.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return day
}

func step(day time.Time, u unit, n int) time.Time {
	switch u {
	case weeks:
		return day.AddDate(0, 0, 7*n)
	case monthsOf:
		return day.AddDate(0, n, 0)
	case quarters:
		return day.AddDate(0, 3*n, 0)
	case years:
		return day.AddDate(n, 0, 0)
	}
	return day.AddDate(0, 0, n)
}

// label calls a period as a person would.
func label(from, until time.Time) string {
	last := until.AddDate(0, 0, -1)
	switch {
	case last.Equal(from):
		return from.Format(time.DateOnly)
	case from.Day() == 1 && until.Equal(from.AddDate(0, 1, 0)):
		return from.Format("January 2006")
	case from.YearDay() == 1 && until.Equal(from.AddDate(1, 0, 0)):
		return from.Format("2006")
	}
	return from.Format(time.DateOnly) + " to " + last.Format(time.DateOnly)
}

// in is the period with its preposition.
func (p Period) in() string {
	switch {
	case strings.Contains(p.Label, " to "):
		return "from " + p.Label
	case isoDate().MatchString(p.Label):
		return "on " + p.Label
	}
	return "in " + p.Label
}
