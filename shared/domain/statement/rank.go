package statement

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
)

// Ranks tells equal entries of one file apart, so that the same file, or one
// that overlaps it, gives the same entries the same identities. A bank's
// reference alone cannot: it is missing on some rows, the same on two different
// ones, and there again in next month's file.
//
// It keeps about 50 bytes for each different entry it has seen. The zero Ranks
// has seen none.
type Ranks struct {
	seen map[digest]int
	hash hash.Hash
	buf  []byte
}

// digest is half a SHA-256: two different entries of a file that share one would
// be 2^64 hashes of work for whoever writes the file, to the harm of nobody else.
type digest [16]byte

// Identity returns the entry's identity: the digest of what it says, and its
// place among the equal ones of this file, from 1: "4f…e1-1". Whether it is
// posted or pending is no part of it, so that an entry keeps its identity when
// it is booked; nor is its place in the file, or how the bank broke its lines.
func (r *Ranks) Identity(a Account, e *Entry) string {
	if r.seen == nil {
		r.seen, r.hash = map[digest]int{}, sha256.New()
	}
	r.hash.Reset()
	r.buf = content(r.buf[:0], a, e)
	r.hash.Write(r.buf)
	d := digest(r.hash.Sum(r.buf[:0])[:len(digest{})])
	r.seen[d]++
	return hex.EncodeToString(d[:]) + "-" + strconv.Itoa(r.seen[d])
}

// content is what makes an entry this one. Changing the order or the choice
// makes every entry that was stored before a new one.
func content(b []byte, a Account, e *Entry) []byte {
	for _, part := range [...]string{
		a.Bank, a.ID, e.Amount.Currency().String(), e.Signed().Minor(), strconv.FormatBool(e.Reversal),
		string(e.Day()), e.Refs.Bank, e.Refs.EndToEnd, e.Refs.Customer, e.Refs.Mandate, e.Refs.Instructed, e.Refs.Check,
		e.Batch.Ref, e.Party.Name, e.Party.Account, e.Memo,
	} {
		// The length keeps "ab","c" and "a","bc" apart.
		part = Blanks(part)
		b = strconv.AppendInt(b, int64(len(part)), 10)
		b = append(b, ':')
		b = append(b, part...)
	}
	return b
}

// Blanks returns text with one blank for any run of blanks and line breaks, and
// none at its ends. Banks fold the same text differently from export to export.
func Blanks(text string) string {
	if clean(text) {
		return text
	}
	return strings.Join(strings.Fields(text), " ")
}

// clean says whether Blanks has nothing to do.
func clean(text string) bool {
	blank := true
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 0x80 || c < ' ' || c == ' ' && blank:
			return false
		default:
			blank = c == ' '
		}
	}
	return text == "" || !blank
}
