//go:build chaos

// Package clock is the time of the functions: here one that is wrong by what a
// file says, for `make chaos`.
package clock

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// variable names the file with the offset, such as 45m or -2h. A file that is not
// there is no offset: the clock is right until somebody writes one.
const variable = "CHAOS_CLOCK_FILE"

// Now is the time, wrong by the offset. The file is read at each call, so that
// the clock of a process jumps while it works. What lies between two readings
// jumps with it, which is harsher than a clock that was set: there Go would go by
// the monotonic one.
func Now() time.Time { return time.Now().Add(offset(os.Getenv(variable))) }

// offset panics at a file that is there and no duration: a fault that is not
// made would be one that was survived.
func offset(path string) time.Duration {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	d, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		panic(fmt.Sprintf("clock: %s holds %.20q, want a duration such as 45m or -2h", path, text))
	}
	return d
}
