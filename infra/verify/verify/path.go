package verify

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/sha3"

	"github.com/robotmoney/mcp/shared/domain/proof/claim"
)

// word is 32 bytes: a leaf, a node, a root, a tenant on the chain.
type word [32]byte

// node32 reads 0x and 64 lower-case hexadecimal digits.
func node32(text string) (word, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok || len(digits) != 64 || strings.Trim(digits, "0123456789abcdef") != "" {
		return word{}, fmt.Errorf("%.80q is not 0x and 64 lower-case hexadecimal digits", text)
	}
	var w word
	_, err := hex.Decode(w[:], []byte(digits))
	return w, err
}

func keccak(parts ...[]byte) (w word) {
	state := sha3.NewLegacyKeccak256()
	for _, part := range parts {
		state.Write(part)
	}
	state.Sum(w[:0])
	return w
}

// climb returns the node that a leaf's path leads to: 0x00 stands before a leaf,
// 0x01 before two nodes, the lower first.
func climb(leaf word, path []word) word {
	at := keccak([]byte{0}, leaf[:])
	for _, beside := range path {
		low, high := at, beside
		if bytes.Compare(low[:], high[:]) > 0 {
			low, high = high, low
		}
		at = keccak([]byte{1}, low[:], high[:])
	}
	return at
}

// paths checks that each event's path leads to its anchor's root.
func (r *Report) paths(events []claim.Event) {
	anchored, pending := 0, 0
	for _, e := range events {
		if err := inTree(e); err != nil {
			r.add("paths", fmt.Errorf("entry %d: %w", e.Seq, err), "")
			return
		}
		if e.Anchor != nil {
			anchored++
			if e.Anchor.Status == claim.Pending {
				pending++
			}
		}
	}
	r.add("paths", nil, "%d of %d events lead to a root, %d of them to one that is not final", anchored, len(events), pending)
}

// inTree says what is wrong with the path of an event. Before its anchor there
// is none.
func inTree(e claim.Event) error {
	if e.Anchor == nil {
		if len(e.Path) > 0 {
			return errors.New("there is a path and no anchor")
		}
		return nil
	}
	leaf, err := node32(e.Leaf)
	if err != nil {
		return err
	}
	var path []word
	for _, text := range e.Path {
		node, err := node32(text)
		if err != nil {
			return err
		}
		path = append(path, node)
	}
	root, err := node32(e.Anchor.Root)
	if err != nil {
		return err
	}
	if climb(leaf, path) != root {
		return errors.New("the path does not lead to the root")
	}
	return nil
}
