// Package fence shows text that came from outside: it is data, must not look
// like anything else, and must not say to a model what it does not show to a
// person.
package fence

import (
	"strings"
	"unicode"
)

// most is how much of a text is repeated, in characters.
const most = 120

// Text puts a text between backticks, on one line, without backticks of its own,
// without what Line leaves out and no longer than 120 characters. What shows
// nothing becomes a blank between backticks.
func Text(text string) string {
	clean := strings.ReplaceAll(Line(text, most), "`", "'")
	if clean == "" {
		return "` `" // two backticks alone would begin a code span
	}
	return "`" + clean + "`"
}

// Line is a text on one line without characters that steer what is shown or are
// not seen at all, cut after that many characters. It keeps backticks: where
// they would say something, use Text. A text that shows nothing becomes empty.
func Line(text string, characters int) string {
	clean := strings.TrimSpace(strings.Map(seen, text))
	if runes := []rune(clean); len(runes) > characters {
		clean = string(runes[:characters]) + "…"
	}
	return clean
}

// seen is what becomes of a character on a line; -1 drops it.
func seen(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case r == unicode.ReplacementChar, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return -1
	}
	return r
}
