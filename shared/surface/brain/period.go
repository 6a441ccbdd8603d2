package brain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/lazy"
)

const (
	monthForm = "2006-01"
	// maxPeriod bounds a period as people word it, in bytes.
	maxPeriod = 64
)

// period is a stretch of whole months. One without months is worded in a way
// that is left to wiki.question to understand.
type period struct {
	text   string // as it was asked
	first  time.Time
	months int
}

var (
	isoMonth    = lazy.Pattern(`^(\d{4})-(\d{2})$`)
	isoQuarter  = lazy.Pattern(`^(\d{4})[- ]?q(\d)$`)
	saidQuarter = lazy.Pattern(`^q(\d) (\d{4})$`)
	plainYear   = lazy.Pattern(`^(\d{4})$`)
	namedMonth  = lazy.Pattern(`^([a-z]+)\.?(?: (\d{4}))?$`)
)

// relative are the periods that are counted from today: how many months a unit
// has, and how many units lie between its start and the present one's.
var relative = []struct {
	text         string
	unit, behind int
}{
	{"this month", 1, 0}, {"last month", 1, 1},
	{"this quarter", 3, 0}, {"last quarter", 3, 1},
	{"this year", 12, 0}, {"last year", 12, 1},
}

// parsePeriod reads a period. Only what cannot be one is refused: what is
// merely not known here is passed on in its own words.
func parsePeriod(given string, now time.Time) (period, error) {
	text := strings.Join(strings.Fields(given), " ")
	if text == "" || !plainText(text, maxPeriod) {
		return period{}, badPeriod(given)
	}
	lower := strings.ToLower(text)
	for _, r := range relative {
		if r.text == lower {
			return period{text, back(start(now, r.unit), r.unit*r.behind), r.unit}, nil
		}
	}
	if m := isoMonth().FindStringSubmatch(lower); m != nil {
		return whole(text, m[1], m[2], 1)
	}
	if m := isoQuarter().FindStringSubmatch(lower); m != nil {
		return whole(text, m[1], m[2], 3)
	}
	if m := saidQuarter().FindStringSubmatch(lower); m != nil {
		return whole(text, m[2], m[1], 3)
	}
	if m := plainYear().FindStringSubmatch(lower); m != nil {
		return whole(text, m[1], "1", 12)
	}
	if m := namedMonth().FindStringSubmatch(lower); m != nil {
		return named(text, m[1], m[2], now), nil
	}
	return period{text: text}, nil
}

// whole is the nth month, quarter or year (of so many months) of a year.
func whole(text, year, n string, unit int) (period, error) {
	y, err := strconv.Atoi(year)
	at, err2 := strconv.Atoi(n)
	if err != nil || err2 != nil || y == 0 || at < 1 || at > 12/unit {
		return period{}, badPeriod(text)
	}
	return period{text, time.Date(y, time.Month((at-1)*unit+1), 1, 0, 0, 0, 0, time.UTC), unit}, nil
}

// named is a month by its name or the first three letters of it; without a
// year, the latest one that has begun.
func named(text, name, year string, now time.Time) period {
	for m := time.January; m <= time.December; m++ {
		full := strings.ToLower(m.String())
		if name != full && name != full[:3] {
			continue
		}
		y, err := strconv.Atoi(year)
		if err != nil {
			y = now.Year()
			if m > now.Month() {
				y--
			}
		}
		return period{text, time.Date(y, m, 1, 0, 0, 0, 0, time.UTC), 1}
	}
	return period{text: text}
}

func badPeriod(given string) error {
	return fault.New(fault.InvalidArgument, "period: want 1 to %d bytes such as 2025-09, 2025-Q3, last month or September 2025, not %.80q.", maxPeriod, given)
}

// plainText says whether text is UTF-8 of at most n bytes without control or
// formatting characters: it goes into a message for a model as it stands.
func plainText(text string, n int) bool {
	return len(text) <= n && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) })
}

// start is the first day of the month, quarter or year (of so many months) that
// a time lies in.
func start(now time.Time, unit int) time.Time {
	month := (int(now.Month())-1)/unit*unit + 1
	return time.Date(now.Year(), time.Month(month), 1, 0, 0, 0, 0, time.UTC)
}

func back(first time.Time, months int) time.Time { return first.AddDate(0, -months, 0) }

// before is the period of the same length that ends where this one begins.
func (p period) before() period {
	return period{first: back(p.first, p.months), months: p.months}
}

// list names the months, YYYY-MM, the newest first.
func (p period) list() []string {
	var names []string
	for i := range p.months {
		names = append(names, p.first.AddDate(0, i, 0).Format(monthForm))
	}
	slices.Reverse(names)
	return names
}

// quarter names the quarter the period is, empty when it is none.
func (p period) quarter() string {
	if p.months != 3 {
		return ""
	}
	return quarterOf(p.first)
}

func quarterOf(t time.Time) string { return fmt.Sprintf("%d-Q%d", t.Year(), (int(t.Month())+2)/3) }

// worded lists periods that hold some of the given months (YYYY-MM, the newest
// first), in each form people begin to type.
func worded(months []string, now time.Time) []string {
	var said, quarters, names []string
	for _, r := range relative {
		p := period{first: back(start(now, r.unit), r.unit*r.behind), months: r.unit}
		if slices.ContainsFunc(p.list(), func(m string) bool { return slices.Contains(months, m) }) {
			said = append(said, r.text)
		}
	}
	for _, month := range months {
		first, err := time.Parse(monthForm, month)
		if err != nil {
			continue
		}
		if q := quarterOf(first); !slices.Contains(quarters, q) {
			quarters = append(quarters, q)
		}
		names = append(names, first.Format("January 2006"))
	}
	return slices.Concat(said, months, quarters, names)
}
