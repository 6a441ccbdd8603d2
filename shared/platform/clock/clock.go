//go:build !chaos

// Package clock is the time of the functions. Built as it is deployed it is the
// machine's clock and nothing else; the build tag chaos puts a clock in its place
// that can be told to be wrong.
package clock

import "time"

// Now is the time.
func Now() time.Time { return time.Now() }
