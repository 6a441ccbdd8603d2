package demo

import (
	"iter"
	"strings"
	"time"
)

// on is a day. Days are midnights in UTC, the time zone of both tenants.
func on(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// holidays are the weekdays on which the Federal Reserve's banks were closed in
// the time of the books and just after.
var holidays = fields(`
	2023-10-09 2023-11-23 2023-12-25
	2024-01-01 2024-01-15 2024-02-19 2024-05-27 2024-06-19 2024-07-04 2024-09-02 2024-10-14 2024-11-11 2024-11-28 2024-12-25
	2025-01-01 2025-01-20 2025-02-17 2025-05-26 2025-06-19 2025-07-04 2025-09-01 2025-10-13 2025-11-11 2025-11-27 2025-12-25`)

func fields(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// BankingDay says whether banks book payments on a day.
func BankingDay(day time.Time) bool {
	weekday := day.Weekday()
	return weekday != time.Saturday && weekday != time.Sunday && !holidays[date(day)]
}

// onOrAfter is the day, or the next one on which banks book.
func onOrAfter(day time.Time) time.Time {
	for !BankingDay(day) {
		day = day.AddDate(0, 0, 1)
	}
	return day
}

// onOrBefore is the day, or the last one before on which banks book.
func onOrBefore(day time.Time) time.Time {
	for !BankingDay(day) {
		day = day.AddDate(0, 0, -1)
	}
	return day
}

func date(day time.Time) string { return day.Format(time.DateOnly) }

// monthForm is how a month is written, as in a page's slug.
const monthForm = "2006-01"

// months are the first days of the books' months.
func months() iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for m := First; m.Before(Close); m = m.AddDate(0, 1, 0) {
			if !yield(m) {
				return
			}
		}
	}
}

// in is a day of a month, the month's last one where it is shorter.
func in(month time.Time, day int) time.Time {
	return on(month.Year(), month.Month(), min(day, monthEnd(month).Day()))
}

func monthEnd(month time.Time) time.Time {
	return on(month.Year(), month.Month()+1, 0)
}

// span is a range of months, both ends included. An empty end is open.
type span struct{ first, last string }

func (s span) has(month time.Time) bool {
	return month.Format(monthForm) >= s.first && !s.over(month)
}

// over says whether a month lies after the span.
func (s span) over(month time.Time) bool { return s.last != "" && month.Format(monthForm) > s.last }

// ended says whether the span was over before the books closed.
func (s span) ended() bool { return s.over(Close) }
