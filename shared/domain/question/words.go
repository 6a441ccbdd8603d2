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
	begins bool   // a sentence or a part of one begins here
}

// joiners stand inside a word when a letter or digit follows: INV-2025-0084,
// GITHUB.COM, cp_aws.
const joiners = "-_./"

// split takes a text apart into words. Names of the ledger go through it as
// questions do, so that the two can be compared word by word.
func split(text string) []word {
	runes := []rune(strings.ReplaceAll(text, "’", "'"))
	var words []word
	begins := true
	for at := 0; at < len(runes); {
		if !inWord(runes[at]) {
			begins = begins || strings.ContainsRune(".!?;:,\n\r—–", runes[at])
			at++
			continue
		}
		end := at + 1
		for end < len(runes) && (inWord(runes[end]) || end+1 < len(runes) && inWord(runes[end+1]) && strings.ContainsRune(joiners+"'", runes[end])) {
			end++
		}
		for _, w := range parts(string(runes[at:end])) {
			w.begins, begins = begins, false
			words = append(words, w)
		}
		at = end
	}
	return words
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
	if strings.ContainsFunc(raw, unicode.IsDigit) || !strings.Contains(raw, "-") || strings.Contains(raw, "_") {
		return []word{{raw: raw, text: ledger.Fold(raw)}}
	}
	var words []word
	for part := range strings.SplitSeq(raw, "-") {
		words = append(words, word{raw: part, text: ledger.Fold(part)})
	}
	return words
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
