// Package id makes and checks the names of things: a prefix that says what kind
// of thing, an underscore, and a ULID, as in tx_01JDZ0Q6Y4R8M2N5T7V9WXA3BC. Ids
// sort by the time they were made, to the millisecond.
//
// An id is a name and not a secret: the next one of a Source can be guessed with
// some work, so holding an id must never be what permits something.
package id

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// New makes one id from a time and ten bytes of entropy. Two of them made within
// a millisecond are in no order; ids that must be come from a Source. It fails
// for a prefix that does not exist, for a time before 1970 or after 10889, and
// when the entropy does.
func New(prefix Prefix, now time.Time, entropy io.Reader) (string, error) {
	if _, err := prefix.kind(); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	u, err := ulid.New(ulid.Timestamp(now), entropy)
	if err != nil {
		return "", fmt.Errorf("make an id with prefix %s: %w", prefix, err)
	}
	return join(prefix, u), nil
}

// Source makes ids whose ULIDs strictly increase, whatever their prefixes: also
// within one millisecond, and when the clock steps back. Rows written in order
// then sort in order. It may be used by several goroutines. Ids of two processes
// differ but are ordered only by their milliseconds.
type Source struct {
	now func() time.Time

	mu      sync.Mutex
	entropy *ulid.MonotonicEntropy
	last    ulid.ULID
}

// NewSource returns a Source that takes the time from now and its randomness
// from entropy. In a function entropy is crypto/rand's Reader: two processes
// with one seed would make the same ids. Entropy is read ahead.
func NewSource(now func() time.Time, entropy io.Reader) *Source {
	// 0 makes the step between two ids of a millisecond random and up to 2^32.
	// A step of one would let whoever has an id name its neighbours.
	return &Source{now: now, entropy: ulid.Monotonic(entropy, 0)}
}

// New makes the next id. It fails where the function New does; no id is used up
// then.
func (s *Source) New(prefix Prefix) (string, error) {
	if _, err := prefix.kind(); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	u, err := s.next()
	if err != nil {
		return "", fmt.Errorf("make an id with prefix %s: %w", prefix, err)
	}
	return join(prefix, u), nil
}

// next returns a ULID greater than the last one. A clock that stepped back is
// held at the last millisecond. A millisecond whose 80 bits ran out goes on in
// the next one: the id is then a little ahead of the clock, which harms nobody,
// while waiting or failing would. The comparison is what the promise rests on:
// the library starts a millisecond over when its entropy is zero, or when it ran
// out and could not be read anew.
func (s *Source) next() (ulid.ULID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ms := max(ulid.Timestamp(s.now()), s.last.Time())
	u, err := ulid.New(ms, s.entropy)
	if errors.Is(err, ulid.ErrMonotonicOverflow) || err == nil && u.Compare(s.last) <= 0 {
		u, err = ulid.New(ms+1, s.entropy)
	}
	if err != nil {
		return ulid.ULID{}, err
	}
	s.last = u
	return u, nil
}

func join(prefix Prefix, u ulid.ULID) string { return string(prefix) + "_" + u.String() }
