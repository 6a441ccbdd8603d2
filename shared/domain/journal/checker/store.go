package checker

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// window is how many entries are read at a time: what one batch takes.
const window = 100

// Store walks a tenant's journal in the table: every entry up to the head, that
// nothing lies behind it, and the mark of each event. What is appended
// meanwhile is left for the next check. The error says that the table could not
// be read.
func Store(ctx context.Context, store record.Store, t identity.Tenant) (Report, error) {
	c := &table{walk: newWalk(t), store: store, last: -1}
	for _, look := range []func(context.Context) (*Fault, error){c.head, c.entries, c.end, c.behind, c.marks} {
		fault, err := look(ctx)
		if err != nil {
			return c.report(nil), fmt.Errorf("check the journal of %s: %w", t, err)
		}
		if fault != nil {
			return c.report(fault), nil
		}
	}
	return c.report(nil), nil
}

// table is a walk along a journal in the table.
type table struct {
	*walk
	store record.Store
	last  int64  // the head's number when the walk began; -1 without entries
	hash  string // the head's hash
	grown int64  // the head's number when it was last read
}

// head reads where the journal should end.
func (c *table) head(ctx context.Context) (*Fault, error) {
	seq, hash, err := c.readHead(ctx)
	if err != nil {
		return nil, err
	}
	if hash == "" {
		return &Fault{0, Head, "the head cannot be read"}, nil
	}
	c.last, c.grown, c.hash = seq, seq, hash
	return nil, nil
}

// readHead returns the head's number and hash: those before the first entry
// where there is no head, and no hash where what is there is none.
func (c *table) readHead(ctx context.Context) (int64, string, error) {
	item, found, err := c.store.Get(ctx, key.JournalHead(c.tenant))
	if err != nil {
		return 0, "", err
	}
	if !found {
		return -1, c.prev, nil
	}
	var head struct {
		Seq  *int64
		Hash string
	}
	if err := json.Unmarshal(item.Body, &head); err != nil || head.Seq == nil || *head.Seq < 0 {
		return 0, "", nil
	}
	return *head.Seq, head.Hash, nil
}

// entries takes every entry up to the head.
func (c *table) entries(ctx context.Context) (*Fault, error) {
	for c.next <= c.last {
		var keys []key.Key
		for seq := c.next; seq <= c.last && len(keys) < window; seq++ {
			keys = append(keys, key.JournalEntry(c.tenant, seq))
		}
		items, err := c.store.GetMany(ctx, keys)
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			item, found := items[k]
			if !found {
				return &Fault{c.next, Gap, fmt.Sprintf("there is no such entry, and the head is %d", c.last)}, nil
			}
			at := c.next
			if fault := c.step(item.Body); fault != nil {
				if fault.Seq != at || fault.Kind == Gap { // it gives itself another number than its place
					return &Fault{at, Edit, fmt.Sprintf("another entry lies in its place (%s)", fault)}, nil
				}
				return fault, nil
			}
		}
	}
	return nil, nil
}

// end compares the head with the last entry.
func (c *table) end(context.Context) (*Fault, error) {
	if c.hash != c.prev {
		return &Fault{c.last, Head, fmt.Sprintf("the head has the hash %.64q and the last entry %s", c.hash, c.prev)}, nil
	}
	return nil, nil
}

// behind looks for entries that the head does not know of.
func (c *table) behind(ctx context.Context) (*Fault, error) {
	from := key.JournalEntry(c.tenant, c.last+1).SK
	for shard := range key.JournalShards {
		page, err := c.store.Query(ctx, record.Query{PK: key.JournalEntries(c.tenant, shard), From: from, Limit: 1})
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			var e struct{ Seq int64 }
			err := json.Unmarshal(item.Body, &e)
			if err == nil && item.Key == key.JournalEntry(c.tenant, e.Seq) {
				later, err := c.later(ctx, e.Seq)
				if err != nil {
					return nil, err
				}
				if later {
					continue
				}
			}
			return &Fault{c.last, Head, fmt.Sprintf("an entry %.20s lies behind the head", item.Key.SK)}, nil
		}
	}
	return nil, nil
}

// later says whether an entry was appended after the walk began.
func (c *table) later(ctx context.Context, seq int64) (bool, error) {
	if seq > c.grown {
		var err error
		if c.grown, _, err = c.readHead(ctx); err != nil {
			return false, err
		}
	}
	return c.last < seq && seq <= c.grown, nil
}

// marks compares every mark with the entries, and finds the entries without. Of
// several faults it names the one of the earliest entry.
func (c *table) marks(ctx context.Context) (*Fault, error) {
	var first *Fault
	found := func(fault *Fault) {
		if fault != nil && (first == nil || fault.Seq < first.Seq) {
			first = fault
		}
	}
	left := c.events
	for shard := range key.JournalShards {
		for q := (record.Query{PK: key.JournalMarks(c.tenant, shard)}); ; {
			page, err := c.store.Query(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, item := range page.Items {
				fault, err := c.mark(ctx, item)
				if err != nil {
					return nil, err
				}
				found(fault)
				if item.Key == key.JournalMark(c.tenant, item.Key.SK) {
					delete(left, item.Key.SK)
				}
			}
			if q.After = page.Next; q.After == nil {
				break
			}
		}
	}
	for event, at := range left {
		found(&Fault{at.seq, Mark, "event " + event + " has no mark"})
	}
	return first, nil
}

// mark compares one mark with the entry it points at.
func (c *table) mark(ctx context.Context, item record.Item) (*Fault, error) {
	var m struct {
		Seq *int64
		Sum string `json:"event_sha256"`
	}
	event := item.Key.SK
	if err := json.Unmarshal(item.Body, &m); err != nil || m.Seq == nil {
		return &Fault{c.events[event].seq, Mark, fmt.Sprintf("the mark of event %.80q cannot be read", event)}, nil
	}
	at, known := c.events[event]
	switch {
	case item.Key != key.JournalMark(c.tenant, event):
		return &Fault{*m.Seq, Mark, fmt.Sprintf("the mark of event %.80q lies where nobody looks", event)}, nil
	case known && at.seq != *m.Seq:
		return &Fault{at.seq, Mark, fmt.Sprintf("the mark of event %s points at %d", event, *m.Seq)}, nil
	case known && hex.EncodeToString(at.sum[:]) != m.Sum:
		return &Fault{at.seq, Mark, fmt.Sprintf("the mark of event %s is of another content", event)}, nil
	case known:
		return nil, nil
	}
	later, err := c.later(ctx, *m.Seq)
	if err != nil || later {
		return nil, err
	}
	return &Fault{*m.Seq, Mark, fmt.Sprintf("the mark of event %.80q points at an entry that does not hold it", event)}, nil
}
