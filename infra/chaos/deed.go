package main

import (
	"cmp"
	"slices"
	"sync"
)

// Kind is what a client wanted done.
type Kind string

// The kinds of deeds.
const (
	Propose    Kind = "propose"
	Approve    Kind = "approve"
	Reject     Kind = "reject"
	Cancel     Kind = "cancel"
	Contribute Kind = "contribute"
	Read       Kind = "read"
)

// Outcome is what a client knows of a try.
type Outcome string

// The outcomes. A refusal that says that something could not be reached is open: it
// may have been reached, so it is repeated like a reply that did not come.
const (
	Acknowledged Outcome = "acknowledged"
	Refused      Outcome = "refused"
	Open         Outcome = "open"
	Unknown      Outcome = "unknown"
)

// Try is one request.
type Try struct {
	Outcome   Outcome
	Code      string // of a refusal; of a tool's it is looked up in the journal
	RequestID string // empty where no reply came
}

// Deed is one thing that a client wanted done, with every try of it. Tries after
// the first repeat it as it was, with its idempotency key.
type Deed struct {
	Fault  string // that was on when it began
	Kind   Kind
	Tenant string
	Caller string // an agent or a member
	Key    string // the idempotency key, which is the memo of a payment too; unique
	Target string // the intent that is decided about or taken back
	SHA256 string // of what is contributed
	Rows   int    // transactions in what is contributed
	Amount cents  // of a payment
	Tries  []Try
	// What the acknowledgement said.
	ID       string
	Status   string
	Repeated bool // it was there before the try that was acknowledged
}

// last is what the client knows in the end.
func (d Deed) last() Try { return d.Tries[len(d.Tries)-1] }

// has says whether a try had an outcome.
func (d Deed) has(o Outcome) bool {
	return slices.ContainsFunc(d.Tries, func(t Try) bool { return t.Outcome == o })
}

// acknowledged says that the client was told that it is done.
func (d Deed) acknowledged() bool { return d.has(Acknowledged) }

// never says that the client was told each time that nothing was done.
func (d Deed) never() bool {
	return !slices.ContainsFunc(d.Tries, func(t Try) bool { return t.Outcome != Refused })
}

// book is what the clients keep of what they did, apart from the system.
type book struct {
	mu    sync.Mutex
	deeds []Deed
}

func (b *book) add(d Deed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deeds = append(b.deeds, d)
}

func (b *book) all() []Deed {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.SortedStableFunc(slices.Values(b.deeds), func(x, y Deed) int { return cmp.Compare(x.Key, y.Key) })
}
