// Package anchor publishes the roots over the tenants' journals on the chain, and
// keeps beside each entry that a proof needs the path to its root.
//
// A journal is cut into periods. A period is planned, then its root is published
// by a transaction (pending), then that block can be replaced no more (final).
// Every step is written down before the next begins, so a run that ends anywhere
// is taken up by the next one:
//
//   - A period is planned in one transaction with the mark of how far the journal
//     is cut, so every entry is in exactly one.
//   - A transaction is signed and kept before it is offered. Until its receipt is
//     there, it alone is offered again, byte for byte: the chain takes it once.
//   - One transaction is in flight at a time, so no two compete for a nonce.
//   - What the receipt says is kept in one transaction with the end of the flight.
//   - A pending root whose receipt is gone was in a block that is no more. It is
//     published again, unless it was by another transaction.
//   - Paths are written after their root is published, and once more when it is
//     final. Writing one twice writes the same.
package anchor

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// MaxBatch is how many roots the contract takes in one transaction.
	MaxBatch = 50
	// MaxPeriod is how many entries a period has at most: its tree is built in
	// memory, with about 600 bytes for each.
	MaxPeriod = 50_000
)

// Root is a root to publish.
type Root struct {
	Tenant      identity.Hash // as the chain names it
	Root        identity.Hash
	Start, End  uint64 // of the period, Unix seconds
	First, Last uint64 // entries
}

// Signed is a transaction that was signed, and what it takes to offer it again.
type Signed struct {
	Hash  identity.Hash `json:"hash"`
	Raw   string        `json:"raw"` // as it is offered, 0x and hexadecimal
	Nonce uint64        `json:"nonce"`
	Gas   uint64        `json:"gas"` // limit
	Fee   string        `json:"fee"` // the most a unit of gas may cost, wei
}

// Mined is what became of a transaction that is in a block.
type Mined struct {
	Hash     identity.Hash
	Block    uint64
	Reverted bool
	// Published has the roots that this transaction published, by tenant. Those
	// the contract skipped are not among them.
	Published map[identity.Hash]identity.Hash
}

// has says whether the transaction published a root.
func (m *Mined) has(r Root) bool {
	return m != nil && !m.Reverted && m.Published[r.Tenant] == r.Root
}

// Place is where roots are published.
type Place struct {
	ChainID  uint64 `json:"chain_id"`
	Contract string `json:"contract"` // an address
}

// Chain is the contract of the anchors. Every method but Place asks an endpoint;
// an answer is never guessed.
type Chain interface {
	Place() Place
	// Sign makes a transaction that publishes the roots. It fails with
	// ErrTooLarge when one transaction does not hold so many. Again replaces an
	// earlier transaction, nil none: it takes its nonce and a higher fee.
	Sign(ctx context.Context, roots []Root, again *Signed) (Signed, error)
	// Offer sends a transaction, which may have been sent before. ErrSpent says
	// that the chain has another one of its nonce, or it itself.
	Offer(ctx context.Context, s Signed) error
	// Find looks for the first of the transactions that is in a block.
	Find(ctx context.Context, hashes ...identity.Hash) (*Mined, error)
	// Wait is Find again and again, until there is one or patience ends; then it
	// returns nil.
	Wait(ctx context.Context, hashes ...identity.Hash) (*Mined, error)
	// Published says whether a root is published, and by which transaction.
	Published(ctx context.Context, r Root) (*Mined, error)
	// Finalized is the number of the last block that stays.
	Finalized(ctx context.Context) (uint64, error)
}

// What a Chain answers besides that it cannot be asked.
var (
	ErrTooLarge = errors.New("one transaction does not hold so many roots")
	ErrSpent    = errors.New("the transaction's nonce is used")
)

// Anchor publishes roots.
type Anchor struct {
	Store   record.Store
	Journal *journal.Journal
	Chain   Chain
	Now     func() time.Time
	Log     *slog.Logger
	Period  int           // entries a period has at most; 0 is MaxPeriod
	Stale   time.Duration // for so long a transaction may wait before it is replaced; 0 is DefaultStale
}

// DefaultStale is how long a transaction waits for a block before it is offered
// with a higher fee.
const DefaultStale = 10 * time.Minute

// Report is what a run did, and what it left.
type Report struct {
	Planned   int `json:"planned"`   // periods cut from journals
	Published int `json:"published"` // roots that came to be on the chain
	Final     int `json:"final"`     // roots that came to be final
	Replaced  int `json:"replaced"`  // pending roots whose block is no more
	Broken    int `json:"broken"`    // tenants whose journal cannot be anchored
	Open      int `json:"open"`      // periods whose root is not final
	// Oldest is the time of the first event whose root is not published; zero
	// when there is none.
	Oldest time.Time `json:"oldest,omitzero"`
}
