package question

import (
	"strings"
	"time"
)

// unit is a length of calendar time.
type unit string

const (
	days     unit = "day"
	weeks    unit = "week"
	monthsOf unit = "month"
	quarters unit = "quarter"
	halves   unit = "half"
	years    unit = "year"
)

// span is a period as it was worded. Which days it has depends on the day it
// counts from.
type span struct {
	unit   unit
	shift  int  // units from the current one
	count  int  // a run of so many units, back from today or ahead of it
	ahead  bool // the run looks ahead
	toDate bool
	since  bool // from its beginning until today
	all    bool // all there is
	end    bool // "end of": its last day is meant

	year    int // a named one; 0 is the nearest
	ago     int // so many years before the nearest
	month   time.Month
	part    int          // a quarter or a half, from 1
	date    int          // a day of the month
	day     string       // a date
	weekday time.Weekday // with named
	named   bool
	doubt   string // a date that could be read two ways
	to      *span  // the last one of a range
}

// resolve says which days a span has, seen from a day. A name without a year is
// the nearest one that has begun, or that is not over where the question looks
// ahead. What looks back never reaches beyond the day itself.
func (s span) resolve(today time.Time, ahead bool) Period {
	today = midnight(today)
	tomorrow := today.AddDate(0, 0, 1)
	if s.all {
		return Period{From: beginning, Until: tomorrow.Format(time.DateOnly), Label: "all the time of the ledger"}
	}
	from, until := s.days(today, ahead)
	if s.to != nil {
		from, until = s.stretch(today, ahead)
	}
	if s.since && !tomorrow.Before(from) {
		until = tomorrow
	}
	if !ahead && until.After(tomorrow) && from.Before(tomorrow) || s.toDate {
		until = tomorrow
	}
	return period(from, until)
}

func period(from, until time.Time) Period {
	return Period{From: from.Format(time.DateOnly), Until: until.Format(time.DateOnly), Label: label(from, until)}
}

// stretch is a range: the first one is the latest that lies before the last.
func (s span) stretch(today time.Time, ahead bool) (from, until time.Time) {
	last, first := *s.to, s
	first.to = nil
	lastFrom, until := last.days(today, ahead)
	if first.year == 0 && last.year > 0 {
		first.year = last.year
	}
	from, _ = first.days(today, ahead)
	if from.After(lastFrom) && s.year == 0 {
		from = from.AddDate(-1, 0, 0)
	}
	return from, until
}

func (s span) days(today time.Time, ahead bool) (from, until time.Time) {
	switch {
	case s.day != "":
		from, _ = time.Parse(time.DateOnly, s.day)
		return from, from.AddDate(0, 0, 1)
	case s.named:
		return s.weekdays(today, ahead)
	case s.count > 0 && s.ahead:
		// Within n days: today and the n days after it.
		return today, step(today, s.unit, s.count).AddDate(0, 0, 1)
	case s.count > 0:
		until = today.AddDate(0, 0, 1)
		return step(until, s.unit, -s.count), until
	case s.date > 0 && s.month == 0:
		return s.dates(today, ahead)
	case s.month > 0:
		from = time.Date(s.inYear(today), s.month, max(1, s.date), 0, 0, 0, 0, time.UTC)
	case s.part > 0:
		months := 3
		if s.unit == halves {
			months = 6
		}
		from = time.Date(s.inYear(today), time.Month(months*(s.part-1)+1), 1, 0, 0, 0, 0, time.UTC)
	case s.year > 0:
		from = time.Date(s.year, 1, 1, 0, 0, 0, 0, time.UTC)
	default:
		from = step(start(today, s.unit), s.unit, s.shift)
	}
	until = step(from, s.unit, 1)
	if s.year == 0 && (s.month > 0 || s.part > 0) {
		from, until = s.nearest(from, until, today, ahead)
	}
	return from, until
}

// nearest moves a name without a year to the year that is meant.
func (s span) nearest(from, until, today time.Time, ahead bool) (time.Time, time.Time) {
	by := -s.ago
	switch {
	case s.ago == 0 && ahead && !until.After(today):
		by = 1
	case s.shift > 0 && !from.After(today):
		by = 1 // "next October" in October
	case s.shift < 0 && !until.Before(today.AddDate(0, 0, 1)) && !from.After(today):
		by = -1 // "last September" in September
	case !ahead && from.After(today) && s.shift <= 0 && s.ago == 0:
		by = -1
	}
	return from.AddDate(by, 0, 0), until.AddDate(by, 0, 0)
}

// weekdays is a day of the week: the coming or the latest one.
func (s span) weekdays(today time.Time, ahead bool) (from, until time.Time) {
	away := (int(s.weekday) - int(today.Weekday()) + 7) % 7
	switch {
	case s.shift < 0 || !ahead && s.shift == 0:
		if away -= 7; away == -7 && s.shift == 0 {
			away = 0
		}
	case s.shift > 0 && away == 0:
		away = 7
	}
	from = today.AddDate(0, 0, away)
	return from, from.AddDate(0, 0, 1)
}

// dates is "the 15th": of this month, or of the next or last one.
func (s span) dates(today time.Time, ahead bool) (from, until time.Time) {
	from = time.Date(today.Year(), today.Month(), s.date, 0, 0, 0, 0, time.UTC)
	switch {
	case ahead && from.Before(today):
		from = time.Date(today.Year(), today.Month()+1, s.date, 0, 0, 0, 0, time.UTC)
	case !ahead && from.After(today):
		from = time.Date(today.Year(), today.Month()-1, s.date, 0, 0, 0, 0, time.UTC)
	}
	return from, from.AddDate(0, 0, 1)
}

func (s span) inYear(today time.Time) int {
	if s.year > 0 {
		return s.year
	}
	return today.Year()
}

// midnight is the day of a moment in its own time zone, as a date.
func midnight(at time.Time) time.Time {
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
	case halves:
		return time.Date(day.Year(), (day.Month()-1)/6*6+1, 1, 0, 0, 0, 0, time.UTC)
	case years:
		return time.Date(day.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return day
}

// step goes n units on. A month on from a day that the other month does not have
// is its last day: the month before 31 March ends with February.
func step(day time.Time, u unit, n int) time.Time {
	switch u {
	case weeks:
		return day.AddDate(0, 0, 7*n)
	case monthsOf:
		return addMonths(day, n)
	case quarters:
		return addMonths(day, 3*n)
	case halves:
		return addMonths(day, 6*n)
	case years:
		return addMonths(day, 12*n)
	}
	return day.AddDate(0, 0, n)
}

func addMonths(day time.Time, n int) time.Time {
	first := time.Date(day.Year(), day.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(day.Day(), last)-1)
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
	case p.From == beginning:
		return "in " + p.Label
	case strings.Contains(p.Label, " to "):
		return "from " + p.Label
	case isoDate().MatchString(p.Label):
		return "on " + p.Label
	}
	return "in " + p.Label
}

// bounds are the first day of the period and the first one after it.
func (p Period) bounds() (from, until time.Time, err error) {
	if from, err = time.Parse(time.DateOnly, p.From); err == nil {
		until, err = time.Parse(time.DateOnly, p.Until)
	}
	return from, until, err
}

// before is the period of the same length in front of one: the month before a
// month, the same days of the month before for the days of a month.
func (p Period) before() (Period, error) {
	from, until, err := p.bounds()
	if err != nil {
		return Period{}, err
	}
	last := until.AddDate(0, 0, -1)
	for _, u := range []unit{monthsOf, quarters, halves, years} {
		whole := step(start(from, u), u, 1)
		if !start(from, u).Equal(from) || last.Before(from) || until.After(whole) {
			continue
		}
		if until.Equal(whole) {
			return period(step(from, u, -1), from), nil
		}
	}
	if start(from, monthsOf).Equal(from) && start(until, monthsOf).Equal(until) {
		n := 12*(until.Year()-from.Year()) + int(until.Month()-from.Month())
		return period(addMonths(from, -n), from), nil
	}
	for _, u := range []unit{monthsOf, quarters, years} {
		if start(from, u).Equal(from) && !until.After(step(from, u, 1)) {
			return period(step(from, u, -1), step(until, u, -1)), nil
		}
	}
	length := int(until.Sub(from).Hours() / 24)
	return period(from.AddDate(0, 0, -length), from), nil
}
