package bus

import (
	"context"
	"sync"
	"time"

	"github.com/robotmoney/mcp/infra/local/lambda"
)

// message waits in a line for its delivery.
type message struct {
	id   string
	body []byte
	// done is called once, when the message is delivered or given up.
	done func()
	// attempts made, the running one included.
	attempts int
	// added and first are when it came in and when it was first taken.
	added, first time.Time
	// visible is when it may be taken (again). A message that is being
	// delivered stays in the line, hidden until then: if its delivery takes
	// longer it is delivered a second time, as by SQS.
	visible time.Time
	reason  string
}

// line is a queue of messages with workers that deliver them in batches. It is
// what SQS and Lambda's queue of asynchronous invocations have in common.
type line struct {
	name    string
	letters string        // the queue for what is given up; empty for none
	batch   int           // most messages of one delivery
	window  time.Duration // how long to wait for a batch to fill
	workers int
	// most attempts; 0 means no end.
	most int
	// hide is how long a message stays out of sight after being taken for the
	// given attempt.
	hide func(attempt int) time.Duration
	// send delivers a batch and returns why each message that failed did; the
	// others are done.
	send    func(ctx context.Context, batch []*message) map[string]failure
	bury    func(DeadLetter)
	pending *pending

	mu       sync.Mutex
	messages []*message
	changed  chan struct{} // closed and replaced at every change
}

// failure of one message.
type failure struct {
	reason string
	// retry in this time; zero leaves it hidden for as long as it was to be.
	retry time.Duration
	// uncounted attempts cost none of the message's tries.
	uncounted bool
}

func (l *line) add(m *message) {
	l.pending.add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	m.added = time.Now()
	m.visible = m.added
	l.messages = append(l.messages, m)
	l.notify()
}

// notify wakes every waiting worker; the caller holds the lock.
func (l *line) notify() {
	if l.changed != nil {
		close(l.changed)
	}
	l.changed = make(chan struct{})
}

// start sets the workers to work once ready is closed.
func (l *line) start(ctx context.Context, ready <-chan struct{}, running *sync.WaitGroup) {
	l.mu.Lock()
	l.notify()
	l.mu.Unlock()
	for range l.workers {
		running.Go(func() {
			if !await(ctx, ready) {
				return
			}
			for {
				batch := l.receive(ctx)
				if batch == nil {
					return
				}
				failed := l.send(ctx, batch)
				if ctx.Err() != nil && len(failed) > 0 {
					return // interrupted, not refused: the next run delivers it
				}
				l.finish(batch, failed)
			}
		})
	}
}

// await waits for ready to be closed; false means that ctx ended first.
func await(ctx context.Context, ready <-chan struct{}) bool {
	select {
	case <-ready:
		return true
	case <-ctx.Done():
		return false
	}
}

// receive blocks until there is a batch; nil means that ctx ended.
func (l *line) receive(ctx context.Context) []*message {
	for {
		batch, exhausted, wait, changed := l.take(time.Now())
		for _, m := range exhausted {
			l.bury(DeadLetter{From: l.name, Queue: l.letters, Body: m.body, Attempts: m.attempts, Reason: m.reason})
			m.done()
			l.pending.add(-1)
		}
		if len(batch) > 0 {
			return batch
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		timer.Stop()
	}
}

// take picks the visible messages of one batch and hides them. Without a batch
// it says how long nothing will happen unless the line changes. Messages that
// have used up their attempts are removed and returned apart.
func (l *line) take(now time.Time) (batch, exhausted []*message, wait time.Duration, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wait = time.Hour
	kept := l.messages[:0]
	var size int
	full := false
	for _, m := range l.messages {
		if left := m.visible.Sub(now); left > 0 {
			wait = min(wait, left)
		} else if l.most > 0 && m.attempts >= l.most {
			exhausted = append(exhausted, m)
			continue
		} else if full = full || len(batch) == l.batch || len(batch) > 0 && size+cost(m) > lambda.MaxRequestBytes; !full {
			batch = append(batch, m)
			size += cost(m)
		}
		kept = append(kept, m)
	}
	clear(l.messages[len(kept):])
	l.messages = kept
	if len(batch) > 0 && len(batch) < l.batch && !full {
		// The window runs from the oldest message that waits.
		oldest := batch[0].visible
		for _, m := range batch {
			if m.visible.Before(oldest) {
				oldest = m.visible
			}
		}
		if left := oldest.Add(l.window).Sub(now); left > 0 {
			return nil, exhausted, min(wait, left), l.changed
		}
	}
	for i, m := range batch {
		m.attempts++
		if m.first.IsZero() {
			m.first = now
		}
		m.visible = now.Add(l.hide(m.attempts))
		// A copy, since another worker may take the message before this
		// delivery is over.
		taken := *m
		batch[i] = &taken
	}
	return batch, exhausted, wait, l.changed
}

// cost bounds what a message takes of an invocation's payload: as text inside
// JSON a body at most doubles, and SQS adds less than a kilobyte.
func cost(m *message) int { return 2*len(m.body) + 1000 }

// finish removes what was delivered and gives the rest back.
func (l *line) finish(batch []*message, failed map[string]failure) {
	taken := make(map[string]bool, len(batch))
	for _, m := range batch {
		taken[m.id] = true
	}
	l.mu.Lock()
	var done []*message // each once, also if it was delivered twice
	kept := l.messages[:0]
	for _, m := range l.messages {
		f, bad := failed[m.id]
		if taken[m.id] && !bad {
			done = append(done, m)
			continue
		}
		if bad {
			l.giveBack(m, f)
		}
		kept = append(kept, m)
	}
	clear(l.messages[len(kept):])
	l.messages = kept
	l.notify()
	l.mu.Unlock()
	for _, m := range done {
		m.done()
		l.pending.add(-1)
	}
}

// giveBack makes a failed message ready for its next attempt; the caller holds
// the lock.
func (l *line) giveBack(m *message, f failure) {
	m.reason = f.reason
	if f.uncounted {
		m.attempts--
	}
	if f.retry > 0 {
		m.visible = time.Now().Add(f.retry)
		if l.most > 0 && m.attempts >= l.most {
			m.visible = time.Now() // the last try is over, nothing to wait for
		}
	}
}
