package money

import (
	"math/bits"
	"strconv"
	"strings"
)

// maxDigits is how many digits an amount has at most, decimals included: the
// precision of a DynamoDB number, so that any amount can be one. Ten to this
// power still fits 128 bits; one digit more would not.
const maxDigits = 38

// most is the greatest magnitude an Amount may have, 10^38 − 1.
var most = parseDigits(strings.Repeat("9", maxDigits))

// magnitude is an unsigned 128-bit integer. Two of at most `most` add up to
// less than 2^128, so plus never wraps before its sum is compared with `most`.
type magnitude struct{ hi, lo uint64 }

// parseDigits reads ASCII digits that the caller has checked, maxDigits at most.
func parseDigits(digits string) magnitude {
	var m magnitude
	for _, d := range []byte(digits) {
		hi, lo := bits.Mul64(m.lo, 10)
		lo, carry := bits.Add64(lo, uint64(d-'0'), 0)
		m = magnitude{hi: m.hi*10 + hi + carry, lo: lo}
	}
	return m
}

// digits writes m in decimal, without leading zeros. It takes m apart into two
// halves of 19 digits; the quotient fits 64 bits because m is at most `most`.
func (m magnitude) digits() string {
	const half = 1e19
	high, low := bits.Div64(m.hi, m.lo, half)
	tail := strconv.FormatUint(low, 10)
	if high == 0 {
		return tail
	}
	return strconv.FormatUint(high, 10) + strings.Repeat("0", 19-len(tail)) + tail
}

func (m magnitude) plus(n magnitude) magnitude {
	lo, carry := bits.Add64(m.lo, n.lo, 0)
	hi, _ := bits.Add64(m.hi, n.hi, carry)
	return magnitude{hi: hi, lo: lo}
}

// minus subtracts n, which must not be greater than m.
func (m magnitude) minus(n magnitude) magnitude {
	lo, borrow := bits.Sub64(m.lo, n.lo, 0)
	hi, _ := bits.Sub64(m.hi, n.hi, borrow)
	return magnitude{hi: hi, lo: lo}
}

// cmp returns −1, 0 or 1 as m is less than, equal to or greater than n.
func (m magnitude) cmp(n magnitude) int {
	switch {
	case m == n:
		return 0
	case m.hi < n.hi || m.hi == n.hi && m.lo < n.lo:
		return -1
	default:
		return 1
	}
}
