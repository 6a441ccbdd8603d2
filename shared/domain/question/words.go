package question

import (
	"strings"
	"unicode"

	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// word is one word of a question.
type word struct {
	raw    string // as it came
	text   string // folded
	sign   rune   // the sign of a currency right before it, 0 for none
	begins bool   // a sentence or a part of one begins here
}

// joiners stand inside a word when a letter or digit follows: INV-2025-0084,
// GITHUB.COM, cp_aws.
const joiners = "-_./"

// signs are those of currencies.
const signs = "$€£¥"

// split takes a text apart into words. Names of the ledger go through it as
// questions do, so that the two can be compared word by word.
func split(text string) []word {
	runes := []rune(strings.ReplaceAll(text, "’", "'"))
	var words []word
	begins, sign := true, rune(0)
	for at := 0; at < len(runes); {
		if !inWord(runes[at]) {
			begins = begins || strings.ContainsRune(".!?;:,\n\r—–", runes[at])
			switch {
			case strings.ContainsRune(signs, runes[at]):
				sign = runes[at]
			case !unicode.IsSpace(runes[at]):
				sign = 0
			}
			at++
			continue
		}
		end := at + 1
		for end < len(runes) && (inWord(runes[end]) || end+1 < len(runes) && joins(runes[end-1], runes[end], runes[end+1])) {
			end++
		}
		for _, w := range parts(string(runes[at:end])) {
			w.begins, begins = begins, false
			w.sign, sign = sign, 0
			words = append(words, w)
		}
		at = end
	}
	return words
}

// joins says whether a sign between two characters is inside a word. A comma is
// only between digits, as in 10,000.
func joins(before, sign, after rune) bool {
	if sign == ',' {
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	}
	return inWord(after) && strings.ContainsRune(joiners+"'", sign)
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}

// parts folds a word, without what is only grammar: the ending of "what's" and
// "AWS's". A hyphen between letters joins two words, between digits it is a part
// of a number.
func parts(raw string) []word {
	if at := strings.LastIndexByte(raw, '\''); at > 0 && len(raw)-at <= 3 {
		switch ending := strings.ToLower(raw[at+1:]); ending {
		case "s", "re", "ve", "d", "ll":
			raw = raw[:at]
		}
	}
	if strings.ContainsFunc(raw, unicode.IsDigit) || !strings.ContainsAny(raw, "-/") || strings.Contains(raw, "_") {
		return []word{folded(raw)}
	}
	var words []word
	for _, part := range strings.FieldsFunc(raw, func(r rune) bool { return r == '-' || r == '/' }) {
		words = append(words, folded(part))
	}
	return words
}

// folded is a word as it is compared: "haven't" and "havent" are one.
func folded(raw string) word {
	return word{raw: raw, text: strings.ReplaceAll(ledger.Fold(raw), "'", "")}
}

// texts are the folded words.
func texts(words []word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.text
	}
	return list
}

// startsWith says whether words begin with others.
func startsWith(words, other []string) bool {
	if len(other) == 0 || len(words) < len(other) {
		return false
	}
	for i := range other {
		if words[i] != other[i] {
			return false
		}
	}
	return true
}

// holds says whether words stand somewhere in others, in a row.
func holds(words, part []string) bool {
	for at := range words {
		if startsWith(words[at:], part) {
			return true
		}
	}
	return false
}
