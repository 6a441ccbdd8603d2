// Package checker walks a journal and names the first thing that is wrong with it.
// It trusts nothing that wrote the journal and shares no code with it but the
// canonical form of JSON and where the items lie.
//
// A chain that was written anew from some entry to its head is a chain: that one
// differs from what there was is for the published roots to show.
package checker

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/canonical"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// Kind is what is wrong.
type Kind string

// The kinds of faults.
const (
	Gap    Kind = "gap"    // an entry is missing
	Fork   Kind = "fork"   // an entry follows another one than the one before it
	Edit   Kind = "edit"   // an entry is not what its hash was made of, or not as it is written
	Double Kind = "double" // an event is there twice
	Tenant Kind = "tenant" // an event is another tenant's
	Head   Kind = "head"   // the head is not the last entry
	Mark   Kind = "mark"   // an event's mark is missing, or does not point at its entry
)

// Fault is one thing that is wrong, and where. Detail is for a person: it holds
// numbers, ids and hashes and nothing else of an event.
type Fault struct {
	Seq    int64  `json:"seq"`
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail"`
}

// String is the fault in one line.
func (f Fault) String() string { return fmt.Sprintf("%s at %d: %s", f.Kind, f.Seq, f.Detail) }

// Report is what a walk found. Entries and Hash are of the part that is in
// order: all of it where Fault is nil.
type Report struct {
	Entries int64  `json:"entries"`
	Hash    string `json:"hash"` // of the last of them, 64 hex digits
	Fault   *Fault `json:"fault,omitempty"`
}

// maxLine is more than an entry can have: an item of the table has 400 KB.
const maxLine = 1 << 20

// Lines walks an exported journal: an entry in its canonical form on each line,
// from the first. Whether the end is missing it cannot tell; compare the
// report's hash with the head. The error says that the lines could not be read.
func Lines(r io.Reader, t identity.Tenant) (Report, error) {
	w := newWalk(t)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if fault := w.step(lines.Bytes()); fault != nil {
			return w.report(fault), nil
		}
	}
	if err := lines.Err(); err != nil {
		return w.report(nil), fmt.Errorf("read entry %d: %w", w.next, err)
	}
	return w.report(nil), nil
}

// walk is a walk along a chain, from its first entry.
type walk struct {
	tenant identity.Tenant
	next   int64  // the number that comes
	prev   string // the hash of what was last
	events map[string]place
}

// place is where an event is, and the hash of it alone.
type place struct {
	seq int64
	sum [sha256.Size]byte
}

func newWalk(t identity.Tenant) *walk {
	return &walk{tenant: t, prev: strings.Repeat("0", 64), events: map[string]place{}}
}

func (w *walk) report(fault *Fault) Report {
	return Report{Entries: w.next, Hash: w.prev, Fault: fault}
}

// step takes the entry that comes, or says why it cannot be the one.
func (w *walk) step(line []byte) *Fault {
	e, err := read(line)
	if err != nil {
		return &Fault{w.next, Edit, err.Error()}
	}
	fault := func(kind Kind, format string, args ...any) *Fault {
		return &Fault{e.seq, kind, fmt.Sprintf(format, args...)}
	}
	before, known := w.events[e.id]
	switch {
	case e.seq > w.next:
		return &Fault{w.next, Gap, fmt.Sprintf("after it comes %d", e.seq)}
	case e.seq < w.next && known && before.seq == e.seq:
		return fault(Double, "the entry is there twice")
	case e.seq < w.next:
		return fault(Fork, "there is another entry of this number")
	case e.prev != w.prev:
		return fault(Fork, "it follows an entry of hash %s; the one before it has %s", e.prev, w.prev)
	case known:
		return fault(Double, "event %s is entry %d already", e.id, before.seq)
	case e.tenant != w.tenant.String():
		return fault(Tenant, "event %s is not of %s", e.id, w.tenant)
	}
	w.events[e.id] = place{e.seq, e.sum}
	w.next, w.prev = e.seq+1, e.hash
	return nil
}

// entry is an entry whose hash is its own.
type entry struct {
	seq        int64
	prev, hash string
	id, tenant string // of the event
	sum        [sha256.Size]byte
}

// read reads an entry and makes its hash again out of what it says.
func read(line []byte) (entry, error) {
	form, err := canonical.Transform(line)
	if err != nil || !bytes.Equal(form, line) {
		return entry{}, errors.New("the entry is not in its canonical form")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil || len(members) != 4 {
		return entry{}, errors.New("the entry has other members than event, hash, prev_hash and seq")
	}
	var e entry
	var event map[string]json.RawMessage
	for name, to := range map[string]any{"seq": &e.seq, "prev_hash": &e.prev, "hash": &e.hash, "event": &event} {
		if err := json.Unmarshal(members[name], to); err != nil {
			return entry{}, fmt.Errorf("the entry's %s is not one", name)
		}
	}
	// The hash must not depend on how the line is cut up: it is made of values.
	sum, err := canonical.Hash(map[string]any{"seq": e.seq, "prev_hash": e.prev, "event": members["event"]})
	if err != nil || hex.EncodeToString(sum[:]) != e.hash {
		return entry{}, fmt.Errorf("the entry has the hash %x and says %.64q", sum, e.hash)
	}
	for name, to := range map[string]*string{"id": &e.id, "tenant_id": &e.tenant} {
		if err := json.Unmarshal(event[name], to); err != nil || *to == "" {
			return entry{}, fmt.Errorf("the event has no %s", name)
		}
	}
	e.sum, err = canonical.Hash(members["event"])
	return e, err
}
