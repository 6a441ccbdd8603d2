// Package allowance counts what agents have been promised: what was authorized,
// waits for people, was approved or is paid, by agent, by counterparty and for
// the whole tenant. A policy's caps are held against these counts, and a
// proposal moves them in the transaction that writes it.
//
// One item per subject holds, for each window a policy may name, a row of time
// buckets. A bucket counts as a whole as long as a part of it is inside the
// window, so a promise is never forgotten early. Beside the buckets lies a count
// that only grows. Who decided that something fits commits under the condition
// that this count has grown by no more than the room that was left: then
// whatever came in between still fits, in whatever bucket it went, and many
// agents at once hardly ever meet.
package allowance

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Subject is whom a promise counts for. Payments in, payments out, payments on
// the chain and other actions are counted apart: what comes in uses up nothing
// of what may go out.
type Subject struct {
	Tenant       identity.Tenant
	Agent        string
	Counterparty string // empty for what has none
	Class        policy.Class
}

// Hold is a promise as its holder remembers it, to give it back one day. The
// zero Hold counts for nothing.
type Hold struct {
	Amount   string `json:"amount,omitempty"` // decimal in Currency; empty where only the number counts
	Currency string `json:"currency,omitempty"`
	At       string `json:"at,omitempty"` // RFC 3339: the buckets it lies in
}

// scale is a row of buckets.
type scale struct {
	window policy.Window
	letter string
	bucket time.Duration
}

// scales are the buckets of each window, small against it. They are in stored
// names: changing one forgets what was counted.
var scales = []scale{
	{policy.Hour, "h", 5 * time.Minute},
	{policy.Day, "d", time.Hour},
	{policy.Week, "w", 6 * time.Hour},
	{policy.ThirtyDay, "m", 24 * time.Hour},
}

// codes are the classes in names of counters, short because there are many.
var codes = map[policy.Class]string{
	policy.OutboundPayment: "out", policy.InboundPayment: "in", policy.OnchainTx: "chain", policy.LedgerWrite: "erp", policy.AgentAction: "act",
}

const (
	number = "n"    // what a counter of proposals has in the place of a currency
	ever   = "ever" // the count that only grows, in the place of a bucket
	open   = "open" // proposals that wait, of an agent
	// MaxOpen is how many proposals of one agent may wait at a time.
	MaxOpen = 100
	// maxDrops bounds how many old counters one change forgets: an expression has
	// a greatest size, and the next change forgets more.
	maxDrops = 60
)

// index is the bucket an instant lies in.
func (s scale) index(at time.Time) int64 { return at.Unix() / int64(s.bucket/time.Second) }

// first is the oldest bucket of which a part is inside the window.
func (s scale) first(now time.Time) int64 { return s.index(now.Add(-policy.Windows[s.window])) }

// counter names a counter: the bucket (or ever), the class, what is counted.
func counter(bucket string, class policy.Class, what string) string {
	return bucket + "." + codes[class] + "." + what
}

func (s scale) name(index int64) string { return s.letter + strconv.FormatInt(index, 10) }

// per are the subjects in the order their items are written.
var per = []policy.Per{policy.PerAgent, policy.PerCounterparty, policy.PerTenant}

// key is the item of a subject, and false where there is none to count for.
func (s Subject) key(p policy.Per) (key.Key, bool) {
	switch p {
	case policy.PerAgent:
		return key.Promises(s.Tenant, string(p), s.Agent), s.Agent != ""
	case policy.PerCounterparty:
		return key.Promises(s.Tenant, string(p), s.Counterparty), s.Counterparty != ""
	}
	return key.Promises(s.Tenant, string(p), ""), true
}

// Keys are the items to read for the subject.
func (s Subject) Keys() []key.Key {
	var keys []key.Key
	for _, p := range per {
		if k, counts := s.key(p); counts {
			keys = append(keys, k)
		}
	}
	return keys
}

// Book is what was promised, as it was read at one instant.
type Book struct {
	subject Subject
	now     time.Time
	items   map[key.Key]record.Item
	without []Hold // promises that are about to be given back
}

// Open makes a book of items that were read under the subject's keys. The holds
// of without are left out of every sum: they are given back in the same change.
func Open(s Subject, now time.Time, items map[key.Key]record.Item, without ...Hold) *Book {
	return &Book{s, now, items, without}
}

// Open is how many of the agent's proposals wait.
func (b *Book) Open() int64 {
	k, _ := b.subject.key(policy.PerAgent)
	if n := b.items[k].Numbers[open]; n != nil {
		return n.Int64()
	}
	return 0
}

// Spend is what was promised in a window in one currency; false for a subject
// that the proposal has none of, or a sum no amount can hold.
func (b *Book) Spend(p policy.Per, window policy.Window, currency money.Currency) (money.Amount, bool) {
	sum, known := b.sum(p, window, currency.String())
	if !known {
		return money.Amount{}, false
	}
	amount, err := money.FromMinor(sum.String(), currency)
	return amount, err == nil
}

// Count is how many proposals were promised in a window.
func (b *Book) Count(p policy.Per, window policy.Window) (int64, bool) {
	sum, known := b.sum(p, window, number)
	if !known || !sum.IsInt64() {
		return 0, false
	}
	return sum.Int64(), true
}

// sum adds the buckets of a window, those of a clock ahead of ours included.
func (b *Book) sum(p policy.Per, window policy.Window, what string) (*big.Int, bool) {
	k, counts := b.subject.key(p)
	at := slices.IndexFunc(scales, func(s scale) bool { return s.window == window })
	if !counts || at < 0 {
		return nil, false
	}
	s, total := scales[at], new(big.Int)
	first, tail := s.first(b.now), counter("", b.subject.Class, what)
	for name, n := range b.items[k].Numbers {
		if index, ours := s.parse(name, tail); ours && index >= first {
			total.Add(total, n)
		}
	}
	for _, hold := range b.without {
		if at, minor, err := hold.parse(); err == nil && !at.IsZero() && s.index(at) >= first {
			if back := hold.of(what, minor); back != nil {
				total.Sub(total, back)
			}
		}
	}
	return total, true
}

// parse reads a bucket's counter with the given tail.
func (s scale) parse(name, tail string) (int64, bool) {
	bucket, ours := strings.CutSuffix(name, tail)
	digits, scaled := strings.CutPrefix(bucket, s.letter)
	if !ours || !scaled {
		return 0, false
	}
	index, err := strconv.ParseInt(digits, 10, 64)
	return index, err == nil
}

// NewHold is the promise of an amount, or of one action where there is none.
func NewHold(amount *money.Amount, now time.Time) Hold {
	h := Hold{At: now.UTC().Format(time.RFC3339)}
	if amount != nil {
		h.Amount, h.Currency = amount.String(), amount.Currency().String()
	}
	return h
}

// parse reads what was stored: when it counted, and how much in the currency's
// smallest unit. A hold that counts for nothing has the zero time.
func (h Hold) parse() (at time.Time, minor *big.Int, err error) {
	if h.At == "" {
		return time.Time{}, nil, nil
	}
	if at, err = time.Parse(time.RFC3339, h.At); err != nil {
		return at, nil, fmt.Errorf("hold: %w", err)
	}
	if h.Currency == "" {
		return at, nil, nil
	}
	currency, err := money.Parse(h.Currency)
	if err != nil {
		return at, nil, fmt.Errorf("hold: %w", err)
	}
	amount, err := money.ParseAmount(h.Amount, currency)
	if err != nil {
		return at, nil, fmt.Errorf("hold: %w", err)
	}
	return at, minorOf(amount), nil
}

// of is what the hold is in a counter of something, nil if nothing.
func (h Hold) of(what string, minor *big.Int) *big.Int {
	switch what {
	case number:
		return big.NewInt(1)
	case h.Currency:
		return minor
	}
	return nil
}

func minorOf(a money.Amount) *big.Int {
	n, _ := new(big.Int).SetString(a.Minor(), 10) // the digits of an amount
	return n
}
