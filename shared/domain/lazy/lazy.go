// Package lazy holds patterns that are compiled when they are first used. A
// function starts in milliseconds, and a pattern compiled at its start is paid
// for by every cold request, whether it needs it or not.
package lazy

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled at its first use, once.
func Pattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
