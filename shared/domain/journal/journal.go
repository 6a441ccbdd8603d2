// Package journal keeps what happened to a tenant as a hash chain: every entry
// holds the hash of the one before it, so none can be changed, taken out or put
// in between without all that follow being another.
//
// An entry's hash is the SHA-256 of the RFC 8785 JSON of its three members seq,
// prev_hash and event. Seq counts from 0, and the first entry's prev_hash is 64
// zeros. The event is kept byte for byte in its canonical form, so what is
// hashed is what lies in the table.
//
// Package checker walks such a chain and shares nothing with this one.
package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Origin is the prev_hash of the first entry.
var Origin = strings.Repeat("0", 2*sha256.Size)

// Entry is one link of the chain. Write it with Line: encoding/json changes the
// event's bytes.
type Entry struct {
	Seq      int64           `json:"seq"`
	PrevHash string          `json:"prev_hash"` // 64 hex digits
	Event    json.RawMessage `json:"event"`     // canonical
	Hash     string          `json:"hash"`      // 64 hex digits
}

// link makes the entry that follows another's hash.
func link(seq int64, prev string, event []byte) Entry {
	e := Entry{Seq: seq, PrevHash: prev, Event: event}
	sum := sha256.Sum256(e.preimage())
	e.Hash = hex.EncodeToString(sum[:])
	return e
}

// preimage is what is hashed. It is canonical as it stands, the event being so:
// the names are in order and the values have one spelling.
func (e Entry) preimage() []byte { return e.write("") }

// Line is the entry as one canonical JSON text, which is how it is stored and
// exported.
func (e Entry) Line() []byte { return e.write(`"hash":"` + e.Hash + `",`) }

func (e Entry) write(hash string) []byte {
	out := make([]byte, 0, len(e.Event)+256)
	out = append(out, `{"event":`...)
	out = append(out, e.Event...)
	out = append(out, ',')
	out = append(out, hash...)
	out = append(out, `"prev_hash":"`...)
	out = append(out, e.PrevHash...)
	out = append(out, `","seq":`...)
	out = strconv.AppendInt(out, e.Seq, 10)
	return append(out, '}')
}

// Head is where a journal ends.
type Head struct {
	Seq  int64  `json:"seq"`  // of the last entry
	Hash string `json:"hash"` // of the last entry
}

// Journal reads and appends to the tenants' journals.
type Journal struct{ Store record.Store }

// Head reads where a tenant's journal ends, and false when it has no entry.
func (j *Journal) Head(ctx context.Context, t identity.Tenant) (Head, bool, error) {
	item, found, err := j.Store.Get(ctx, key.JournalHead(t))
	if err != nil || !found {
		return Head{}, false, wrap(err, "read the head of the journal of %s", t)
	}
	head, err := readHead(item)
	return head, err == nil, wrap(err, "read the head of the journal of %s", t)
}

// Entries reads the entries from one number to another, both included. That one
// of them is not there is an error: the chain is broken.
func (j *Journal) Entries(ctx context.Context, t identity.Tenant, from, to int64) ([]Entry, error) {
	var keys []key.Key
	for seq := from; seq <= to; seq++ {
		keys = append(keys, key.JournalEntry(t, seq))
	}
	items, err := j.Store.GetMany(ctx, keys)
	if err != nil {
		return nil, wrap(err, "read the journal of %s", t)
	}
	entries := make([]Entry, len(keys))
	for i, k := range keys {
		item, found := items[k]
		if !found {
			return nil, fmt.Errorf("the journal of %s has no entry %d", t, from+int64(i))
		}
		if err := json.Unmarshal(item.Body, &entries[i]); err != nil {
			return nil, fmt.Errorf("entry %d of the journal of %s: %w", from+int64(i), t, err)
		}
	}
	return entries, nil
}

func readHead(item record.Item) (Head, error) {
	var head Head
	err := json.Unmarshal(item.Body, &head)
	return head, err
}

// wrap says what was being done; no error stays none.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}
