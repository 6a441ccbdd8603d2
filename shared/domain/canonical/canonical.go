// Package canonical writes JSON in its one canonical form, RFC 8785, so that a
// value has one hash whoever computes it. Audit chains, policies and proofs are
// hashes of what this package writes: a change in its output breaks every one
// that exists.
//
// It is stricter than the RFC asks, because a hash must stand for exactly what
// went in. Refused is every input that readers take in different ways or that
// would be changed silently: text that is not UTF-8, a name twice in one
// object, half a surrogate pair, a whole number that a double cannot be trusted
// with, nesting deeper than MaxDepth, anything after the value.
package canonical

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gowebpki/jcs"
)

// Transform returns the canonical form of one JSON text. White space may stand
// around the value; a byte-order mark may not. Transforming a canonical form
// returns it as it is.
func Transform(raw []byte) ([]byte, error) {
	if err := scan(raw); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	text, err := jcs.Transform(raw)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return text, nil
}

// Marshal returns the canonical form of a Go value, by the rules and tags of
// encoding/json. Unlike it, Marshal refuses a string that is not UTF-8 instead
// of replacing what is wrong in it, which would give two values one hash.
// Integers beyond ±2^53 belong into strings, as money does.
func Marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	if bytes.Contains(raw, []byte(replaced)) && !validText(v) {
		return nil, errors.New("canonical JSON: a string is not UTF-8")
	}
	return Transform(raw)
}

// Hash returns the SHA-256 of the value's canonical form. It fails where Marshal
// does; there is no hash for a value that has no canonical form.
func Hash(v any) ([sha256.Size]byte, error) {
	text, err := Marshal(v)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return sha256.Sum256(text), nil
}
