package bus

import (
	"context"
	"sync"
	"time"
)

// faults are the ways in which the bus was told to misbehave.
type faults struct {
	mu     sync.Mutex
	refuse int
	lose   int
	delay  time.Duration
	half   bool
	count  int // entries seen since HalfAccept was switched on
}

// Refuse has the next n calls of PutEvents answered with ThrottlingException,
// nothing accepted. A negative n refuses until the next Refuse.
func (b *Bus) Refuse(n int) {
	b.faults.mu.Lock()
	defer b.faults.mu.Unlock()
	b.faults.refuse = n
}

// Delay has every call wait for d before anything is done; 0 ends it. A caller
// that leaves in the meantime has had nothing accepted.
func (b *Bus) Delay(d time.Duration) {
	b.faults.mu.Lock()
	defer b.faults.mu.Unlock()
	b.faults.delay = d
}

// HalfAccept has every other entry fail with InternalFailure, the first one
// seen to begin with, counted over all calls: a caller that sends its failed
// entries again gets them through.
func (b *Bus) HalfAccept(on bool) {
	b.faults.mu.Lock()
	defer b.faults.mu.Unlock()
	b.faults.half, b.faults.count = on, 0
}

// LoseReply has the next n calls accepted and then cut off without a reply, so
// that the caller cannot know; a repeat of it is accepted a second time. A
// negative n does so until the next LoseReply.
func (b *Bus) LoseReply(n int) {
	b.faults.mu.Lock()
	defer b.faults.mu.Unlock()
	b.faults.lose = n
}

// pause waits for the delay; false means that the caller left meanwhile.
func (f *faults) pause(ctx context.Context) bool {
	f.mu.Lock()
	delay := f.delay
	f.mu.Unlock()
	if delay <= 0 {
		return true
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (f *faults) refused() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return spend(&f.refuse)
}

func (f *faults) lost() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return spend(&f.lose)
}

// failsEntry is asked once for each entry that would be accepted.
func (f *faults) failsEntry() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.half {
		return false
	}
	f.count++
	return f.count%2 == 1
}

// spend uses up one of n times; a negative n never ends.
func spend(n *int) bool {
	if *n > 0 {
		*n--
		return true
	}
	return *n < 0
}
