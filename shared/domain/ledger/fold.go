package ledger

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// letters are those that Unicode does not take apart into a plain one and an
// accent, as people type them without.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "ħ", "h")

// Fold spells a name for comparison: compatibility forms taken apart, accents
// dropped, lower case, and one blank for any run of blanks. Two names that a
// person would call the same fold to the same text.
func Fold(name string) string {
	var b strings.Builder
	blank := false
	for _, r := range norm.NFKD.String(name) {
		switch {
		case unicode.Is(unicode.Mn, r):
			continue
		case unicode.IsSpace(r) || unicode.IsControl(r):
			blank = b.Len() > 0
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return letters.Replace(b.String())
}
