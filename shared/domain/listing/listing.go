// Package listing walks along a partition in pages: as many rows as were asked
// for, no more bytes than an answer carries, no more items looked at than a call
// may cost, and a position from which the next page goes on.
package listing

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// MaxExamined is how many rows one call looks at for a filter that no index
	// serves: a rare match must not make a call read a whole tenant.
	MaxExamined = 1000
	// Chunk is how many rows a list reads at a time. A page's bytes are used up
	// long before a call's rows are, so reading all of them at once is waste.
	Chunk = 200
)

// Page is a part of a list. Next is the position after its last row, empty on
// the last page; a page may be short, or empty, and still have one.
type Page struct {
	Rows []json.RawMessage
	Next string
	Cut  bool // the rows did not fit the byte budget
}

// Window says which part of a list is wanted.
type Window struct {
	After  string // position of an earlier page's Next
	Limit  int    // most rows
	Budget int    // most bytes of rows, though never fewer than one row
}

// Listing is a walk along a partition.
type Listing struct {
	Query  record.Query // where it goes; Limit and After are the walk's
	Chunk  int          // most items of one query; 0 is the usual
	Sparse bool         // not every item is kept
	// Rows gives the row of each item, nil for one that is not kept.
	Rows func(ctx context.Context, items []record.Item) ([]json.RawMessage, error)
}

// Walk reads one window of the listing.
func (l Listing) Walk(ctx context.Context, store record.Store, t identity.Tenant, w Window) (Page, error) {
	query, f := l.Query, filling{window: w}
	query.After = l.after(t, w.After)
	for {
		query.Limit = f.wants(l)
		got, err := store.Query(ctx, query)
		if err != nil {
			return Page{}, err
		}
		rows, err := l.Rows(ctx, got.Items)
		if err != nil {
			return Page{}, err
		}
		for i, item := range got.Items {
			if !f.take(rows[i], l.position(item)) {
				return f.Page, nil
			}
		}
		if got.Next == nil {
			return f.Page, nil
		}
		if f.examined == MaxExamined || l.Sparse && f.full() {
			f.Next = f.last // whether anything more is kept, the next call finds out
			return f.Page, nil
		}
		query.After = got.Next
	}
}

// filling is a page while it is read.
type filling struct {
	Page
	window   Window
	bytes    int    // of the rows, with what stands between them
	examined int    // items looked at, kept or not
	last     string // position of the last of them
}

// full says whether the page has all the rows it may have.
func (f *filling) full() bool { return len(f.Rows) == f.window.Limit }

// wants is how many items to read next. Where every item is kept, one more than
// the page still takes tells whether there is a next page.
func (f *filling) wants(l Listing) int {
	left := min(cmp.Or(l.Chunk, Chunk), MaxExamined-f.examined)
	if l.Sparse {
		return left
	}
	return min(left, f.window.Limit-len(f.Rows)+1)
}

// take looks at one more item. It refuses a row the page has no room for, with
// which the next page begins.
func (f *filling) take(row json.RawMessage, position string) bool {
	if row != nil {
		size := len(row) + len(",")
		over := f.bytes+size > f.window.Budget && len(f.Rows) > 0
		if over || f.full() {
			f.Next, f.Cut = f.last, !f.full()
			return false
		}
		f.Rows, f.bytes = append(f.Rows, row), f.bytes+size
	}
	f.examined, f.last = f.examined+1, position
	return true
}

// position is an item's sort key on the walk.
func (l Listing) position(item record.Item) string {
	if l.Query.Index == 0 {
		return item.Key.SK
	}
	return item.Index[l.Query.Index-1].SK
}

// after rebuilds the cursor that a position is of, nil for none. In an index the
// sort key also names the row.
func (l Listing) after(t identity.Tenant, position string) *record.Cursor {
	if position == "" {
		return nil
	}
	place := key.Key{PK: l.Query.PK, SK: position}
	if l.Query.Index == 0 {
		return &record.Cursor{Key: place}
	}
	_, name := split(position)
	kind, _, _ := strings.Cut(name, "_")
	return &record.Cursor{Key: key.Ledger(t, id.Prefix(kind), name), Index: place}
}

// split takes a sort key apart whose last part is a row's id, which has no
// separator in it.
func split(sk string) (order, name string) {
	at := strings.LastIndexByte(sk, '#')
	return sk[:max(at, 0)], sk[at+1:]
}
