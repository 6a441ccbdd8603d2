// Package record is what the domain asks of a table: items under keys, reads
// that see every write, and changes that happen whole or not at all.
package record

import (
	"context"
	"errors"
	"math/big"
	"time"

	"github.com/robotmoney/mcp/shared/domain/key"
)

// Item is what lies under a key. Body is the JSON the domain wrote, byte for
// byte; the table looks at nothing inside it.
type Item struct {
	Key     key.Key
	Index   [3]key.Key // places in the three indexes; a zero key is no place
	Version int64      // counts the writes from 1; 0 was never stored
	Expires time.Time  // when the item stops counting; zero is never
	Body    []byte
	Numbers map[string]*big.Int // counters, moved by Add alone
}

// Query reads the items of one partition in sort key order.
type Query struct {
	Index   int    // 0 the table itself, 1 to 3 an index
	PK      string // the partition
	Prefix  string // only sort keys that start so; empty is all
	From    string // only sort keys not below; ignored with Prefix
	To      string // only sort keys not above; ignored with Prefix
	Reverse bool   // newest first
	Limit   int    // at most so many items; 0 is one page of 1 MB
	After   *Cursor
}

// Cursor is the last key a page read: where the next begins.
type Cursor struct {
	Key   key.Key
	Index key.Key // the same item's place in the queried index
}

// Page is one answer to a query. Next is nil on the last page.
type Page struct {
	Items []Item
	Next  *Cursor
}

// Put stores an item if its version is still Was (0: if there is none). Blind
// stores it whatever is there, for caches and marks that say the same thing
// each time.
type Put struct {
	Item  Item
	Was   int64
	Blind bool
}

// Add moves counters by signed deltas; an item that is not there starts at
// zero. Deltas commute: what else moves the counter never makes a change fail
// for good, but for the counters in Most.
type Add struct {
	Key    key.Key
	Deltas map[string]*big.Int
	Most   map[string]*big.Int // counters that must be at most so much before the deltas; one that is not there is zero
	Drop   []string            // counters that are forgotten
}

// Change is a mutation as a value: what domain code decides and the table
// commits as one transaction or refuses as a whole. One item appears in it at
// most once, and it holds at most MaxOperations operations.
type Change struct {
	Puts    []Put
	Adds    []Add
	Deletes []key.Key
}

// MaxOperations is how many items one transaction may touch on DynamoDB.
const MaxOperations = 100

// Len is how many items the change touches.
func (c Change) Len() int { return len(c.Puts) + len(c.Adds) + len(c.Deletes) }

// ErrConflict says that a condition of a change did not hold: nothing was
// written, and who decided must read again and decide anew.
var ErrConflict = errors.New("the item has changed since it was read")

// Store is the table. Reads of the table itself are strongly consistent, reads
// of an index are not. A failure to reach it has the code
// dependency_unavailable.
type Store interface {
	// Get returns the item under the key, and false when there is none.
	Get(ctx context.Context, k key.Key) (Item, bool, error)
	// GetMany returns the items that are there under the keys, in any number.
	GetMany(ctx context.Context, keys []key.Key) (map[key.Key]Item, error)
	// Query returns one page of a partition.
	Query(ctx context.Context, q Query) (Page, error)
	// Commit makes the whole change or none of it; ErrConflict when a version
	// was not what the change expects, or a counter above its most.
	Commit(ctx context.Context, c Change) error
}
