package policy

import (
	"slices"
	"strconv"
	"sync"
	"time"

	_ "time/tzdata" // a Lambda has no zone files, and no policy may depend on whether a machine has them

	"github.com/robotmoney/mcp/shared/domain/lazy"
)

// dayNames are the days as documents write them, in the order of time.Weekday.
var dayNames = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// zoneForm leaves out names that are files of one machine and no zones: Local,
// localtime, posixrules, right/UTC.
var zoneForm = lazy.Pattern(`^(UTC|[A-Z][A-Za-z]+(/[A-Za-z0-9_+-]+){1,2})$`)

// zones are the locations that were loaded, by name. There are a few hundred
// names that load, and none that does not is kept.
var zones sync.Map

// location is the zone of a name; false if there is none.
func location(name string) (*time.Location, bool) {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), true
	}
	if !zoneForm().MatchString(name) {
		return nil, false
	}
	loaded, err := time.LoadLocation(name)
	if err != nil {
		return nil, false
	}
	zones.Store(name, loaded)
	return loaded, true
}

// minuteOf reads 15:04 as the minute of a day, 24:00 included.
func minuteOf(clock string) (int, bool) {
	if len(clock) != 5 || clock[2] != ':' {
		return 0, false
	}
	for _, i := range []int{0, 1, 3, 4} {
		if clock[i] < '0' || clock[i] > '9' {
			return 0, false
		}
	}
	hour, _ := strconv.Atoi(clock[:2])
	minute, _ := strconv.Atoi(clock[3:])
	return hour*60 + minute, minute < 60 && (hour < 24 || hour == 24 && minute == 0)
}

// wall is what a clock on a wall shows.
type wall struct {
	day    time.Weekday
	minute int
	text   string // in words
	known  bool
}

// wall is the clock of a zone at the time of the facts, looked at once.
func (e *evaluation) wall(zone string) wall {
	if seen, ok := e.walls[zone]; ok {
		return seen
	}
	var shown wall
	if place, known := location(zone); known {
		local := e.facts.At.In(place)
		shown = wall{local.Weekday(), local.Hour()*60 + local.Minute(), local.Format("15:04 on Mon in ") + zone, true}
	}
	e.walls[zone] = shown
	return shown
}

// hours says whether the time is inside hours, by the clock on the wall: an hour
// that summer time skips is never inside, and one that comes twice is inside
// twice. Hours over midnight belong to the day they begin on.
func (e *evaluation) hours(w *When) (answer, string) {
	h := w.TimeWindow
	if e.facts.At.IsZero() {
		return unknown, "the time is not known"
	}
	now := e.wall(h.Zone)
	from, begins := minuteOf(h.From)
	to, ends := minuteOf(h.To)
	if !now.known || !begins || !ends {
		return unknown, "the hours cannot be read"
	}
	today, yesterday := slices.Contains(h.Days, dayNames[now.day]), slices.Contains(h.Days, dayNames[(now.day+6)%7])
	inside := today && from <= now.minute && now.minute < to
	if to <= from {
		inside = today && now.minute >= from || yesterday && now.minute < to
	}
	return is(inside, now.text)
}
