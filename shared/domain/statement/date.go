package statement

import (
	"errors"
	"fmt"
	"strings"
)

// Date is a day of the calendar as YYYY-MM-DD, or empty for none. Dates compare
// as texts. A file's date is taken as the bank wrote it: it is the bank's day,
// and moving it to another zone would put an entry into another month.
type Date string

var errNoDay = errors.New("there is no such day")

// NewDate returns a day between 1900 and 2199, or an error when there is none.
func NewDate(year, month, day int) (Date, error) {
	if year < 1900 || year > 2199 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return "", errNoDay
	}
	b := [10]byte{4: '-', 7: '-'}
	digits(b[0:4], year)
	digits(b[5:7], month)
	digits(b[8:10], day)
	return Date(b[:]), nil
}

// digits writes n into b, with zeros in front.
func digits(b []byte, n int) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = '0' + byte(n%10)
		n /= 10
	}
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// FullYear puts a year of two digits into 1980 to 2079, as SWIFT does.
func FullYear(year int) int {
	if year >= 80 {
		return 1900 + year
	}
	return 2000 + year
}

// CompactDate reads the day at the start of a text such as 20250402120000.
func CompactDate(text string) (Date, error) {
	if len(text) < 8 {
		return "", fmt.Errorf("%d characters came", len(text))
	}
	year, ok := Number(text[:4])
	month, ok2 := Number(text[4:6])
	day, ok3 := Number(text[6:8])
	if !ok || !ok2 || !ok3 {
		return "", errors.New("it has other characters than digits")
	}
	return NewDate(year, month, day)
}

// ISODate reads the day of 2025-04-02 or 2025-04-02T23:30:00+02:00.
func ISODate(text string) (Date, error) {
	if len(text) < 10 || text[4] != '-' || text[7] != '-' || len(text) > 10 && !strings.ContainsRune("TZ+- ", rune(text[10])) {
		return "", errors.New("it is no date of the form YYYY-MM-DD")
	}
	return CompactDate(text[:4] + text[5:7] + text[8:10])
}

// Number reads up to nine ASCII digits.
func Number(text string) (n int, ok bool) {
	if text == "" || len(text) > 9 {
		return 0, false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = n*10 + int(text[i]-'0')
	}
	return n, true
}
