package tool

import (
	"strings"
	"unicode"
)

// maxFenced is how much of a text from outside a summary repeats.
const maxFenced = 120

// Fence puts text that came from outside between backticks, on one line, without
// backticks of its own and without characters that steer what is shown or are
// not seen at all: it is data, must not look like anything else, and must not
// say to a model what it does not show to a person.
func Fence(text string) string {
	clean := strings.TrimSpace(strings.Map(plain, text))
	if clean == "" {
		return "` `" // two backticks alone would begin a code span
	}
	if runes := []rune(clean); len(runes) > maxFenced {
		clean = string(runes[:maxFenced]) + "…"
	}
	return "`" + clean + "`"
}

// plain is what becomes of a character inside a fence; -1 drops it.
func plain(r rune) rune {
	switch {
	case r == '`':
		return '\''
	case unicode.IsSpace(r):
		return ' '
	case r == unicode.ReplacementChar, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return -1
	}
	return r
}
