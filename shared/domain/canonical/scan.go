package canonical

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxDepth is how deep arrays and objects may be nested. Nothing of ours needs
// more than ten; the bound keeps readers that recurse from being made to.
const MaxDepth = 64

// maxWhole is 2^53. Above it doubles lie further apart than one, so a reader
// that has only doubles, as RFC 8785 demands, gets another number than was
// written.
const maxWhole = 1 << 53

// exponentFrom is where the canonical form of a number turns from digits to an
// exponent.
const exponentFrom = 1e21

// scan refuses what is legal in RFC 8785 and not here: deep nesting and whole
// numbers that would be rounded. It takes syntax on trust: what is no JSON is
// refused by the transformation that follows.
func scan(raw []byte) error {
	depth := 0
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			i += stringLength(raw[i:])
			continue
		case c == '-' || c >= '0' && c <= '9':
			n := numberLength(raw[i:])
			if err := checkNumber(string(raw[i : i+n])); err != nil {
				return err
			}
			i += n
			continue
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
		if depth > MaxDepth {
			return fmt.Errorf("nested deeper than %d at byte %d", MaxDepth, i)
		}
		i++
	}
	return nil
}

// stringLength returns how many bytes the string at the start of raw has, its
// quotes included, or all of raw when it does not end.
func stringLength(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// numberLength returns how many bytes the number at the start of raw has.
func numberLength(raw []byte) int {
	rest := bytes.TrimLeft(raw, "+-.0123456789eE")
	return len(raw) - len(rest)
}

// checkNumber refuses a whole number beyond ±2^53 in whatever spelling, up to
// where the canonical form gets an exponent. From there on only a number
// written without point and exponent is refused: 1e30 means a double, thirty
// digits mean every one of them.
//
// 2^53 itself is taken only as its own digits: 2^53 + 1 rounds to the same
// double, and by the double alone the two cannot be told apart.
func checkNumber(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("number %s cannot be a double", brief(text))
	}
	size := math.Abs(f)
	switch {
	case size < maxWhole, isMaxWhole(text):
		return nil
	case size >= exponentFrom && strings.ContainsAny(text, ".eE"):
		return nil
	}
	return fmt.Errorf("number %s is beyond ±2^53 and would be rounded; send it as a string", brief(text))
}

func isMaxWhole(text string) bool {
	digits := strconv.FormatInt(maxWhole, 10)
	return text == digits || text == "-"+digits
}

// brief cuts what somebody sent as a number to what fits a message.
func brief(text string) string {
	const enough = 40
	if len(text) > enough {
		return strconv.Quote(text[:enough]) + "…"
	}
	return strconv.Quote(text)
}
