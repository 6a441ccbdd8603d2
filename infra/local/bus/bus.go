// Package bus is EventBridge, its queues and its schedules on this machine.
//
// A Bus answers PutEvents as the AWS SDK calls it, writes every accepted entry
// to a file, one JSON envelope a line, before it replies, and delivers it at
// least once to the targets of the matching rules: to a function directly, with
// retries, or through a queue, in batches, with a visibility timeout. What
// cannot be delivered goes to a dead-letter callback.
//
// Acceptance survives a restart: a second file lists the events whose delivery
// is over, and New delivers the others again. A function may therefore see an
// event twice, as on AWS. Both files are written by plain appends that reach
// the kernel before the reply; they are not forced to the disk.
//
// Faults (Refuse, Delay, HalfAccept, LoseReply) make it misbehave as the real
// service does on a bad day, to test its callers.
package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/robotmoney/mcp/infra/local/lambda"
)

// Invoker runs a function; *lambda.Pool is one.
type Invoker interface {
	Invoke(ctx context.Context, payload []byte) (lambda.Result, error)
}

// Config describes the bus and what hangs on it: what template.yaml says.
type Config struct {
	// Name of the bus. Entries for any other bus are accepted and dropped, as
	// EventBridge does.
	Name string
	// EventsFile receives the accepted envelopes; beside it, with ".settled"
	// added, lies the list of those delivered. Both are created if missing.
	EventsFile string
	Rules      []Rule
	Queues     []Queue
	Schedules  []Schedule
	// Ready holds all deliveries and schedules back until it is closed: events
	// are taken before the functions that want them can run. Nil holds nothing.
	Ready <-chan struct{}
	// DeadLetter is told of each message that was given up. Calls do not
	// overlap for one target or queue worker but may between them.
	DeadLetter func(DeadLetter)
	// Region and AccountID appear in events; empty means us-east-1 and
	// 000000000000.
	Region, AccountID string
	// Now is the clock of events; nil means time.Now. Waiting uses real time.
	Now func() time.Time
	// Log receives failed deliveries; nil discards them.
	Log *slog.Logger
}

// Rule sends the events that match its pattern to its targets.
type Rule struct {
	Name string
	// Pattern as in EventBridge; see ParsePattern for what is understood.
	Pattern []byte
	Targets []Target
}

// Target of a rule: either Function or Queue is set.
type Target struct {
	// Name in logs and dead letters.
	Name string
	// Function is invoked asynchronously with the envelope.
	Function Invoker
	// MaximumRetryAttempts after a failed invocation, 0 to 2 on AWS. Being
	// throttled is no attempt: AWS waits then, for hours.
	MaximumRetryAttempts int
	// Backoff before the first retry, doubled for each further one; zero means
	// 1 s where AWS waits a minute.
	Backoff time.Duration
	// Queue names one of Config.Queues.
	Queue string
	// DeadLetters names the queue for what Function failed on for good; empty
	// for none. A queue has its own.
	DeadLetters string
}

// DeadLetter is a message that was given up.
type DeadLetter struct {
	// From names the target, queue or schedule.
	From string
	// Queue is the dead-letter queue it belongs into, as From's configuration
	// names it; empty for none: AWS drops it then.
	Queue string
	// Body is the envelope of the event.
	Body []byte
	// Attempts that were made.
	Attempts int
	// Reason of the last failure.
	Reason string
}

// Bus is the http.Handler of the EventBridge endpoint; see the package.
type Bus struct {
	config    Config
	rules     []route
	schedules map[string]*line
	journal   *journal
	faults    faults
	pending   pending
	cancel    context.CancelFunc
	running   sync.WaitGroup
	// accepting keeps the order of the file and of the lines the same.
	accepting sync.Mutex
}

// route is a rule ready for use.
type route struct {
	pattern Pattern
	lines   []*line
}

// New checks the configuration, opens the files, starts the deliveries and
// hands out again what a former run accepted and did not settle. When ctx ends
// the deliveries end; Close closes the files too.
func New(ctx context.Context, c Config) (*Bus, error) {
	c = c.withDefaults()
	if c.Name == "" || c.EventsFile == "" {
		return nil, errors.New("bus: a name and an events file are needed")
	}
	ctx, cancel := context.WithCancel(ctx)
	b := &Bus{config: c, schedules: map[string]*line{}, cancel: cancel}
	lines, ticks, err := b.build()
	if err != nil {
		cancel()
		return nil, err
	}
	b.journal, err = openJournal(c.EventsFile)
	if err != nil {
		cancel()
		return nil, err
	}
	unsettled, err := b.journal.unsettled()
	if err != nil {
		cancel()
		_ = b.journal.close()
		return nil, err
	}
	for _, e := range unsettled {
		if err := b.deliver(e); err != nil {
			cancel()
			_ = b.journal.close()
			return nil, err
		}
	}
	for _, l := range lines {
		l.start(ctx, c.Ready, &b.running)
	}
	for _, t := range ticks {
		b.running.Go(func() { t.run(ctx, c.Ready) })
	}
	return b, nil
}

func (c Config) withDefaults() Config {
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	if c.AccountID == "" {
		c.AccountID = "000000000000"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Ready == nil {
		ready := make(chan struct{})
		close(ready)
		c.Ready = ready
	}
	return c
}

// build makes the lines of queues, targets and schedules, none running yet.
func (b *Bus) build() ([]*line, []ticker, error) {
	var lines []*line
	queues := map[string]*line{}
	for _, q := range b.config.Queues {
		l, err := b.queueLine(q)
		if err != nil {
			return nil, nil, err
		}
		if queues[q.Name] != nil {
			return nil, nil, fmt.Errorf("bus: queue %s is there twice", q.Name)
		}
		queues[q.Name] = l
		lines = append(lines, l)
	}
	for _, r := range b.config.Rules {
		pattern, err := ParsePattern(r.Pattern)
		if err != nil {
			return nil, nil, fmt.Errorf("bus: rule %s: %w", r.Name, err)
		}
		built := route{pattern: pattern}
		for _, t := range r.Targets {
			l := queues[t.Queue]
			if (t.Function == nil) == (l == nil) {
				return nil, nil, fmt.Errorf("bus: target %s of rule %s needs a function or a known queue, not both", t.Name, r.Name)
			}
			if l == nil {
				l = b.targetLine(t)
				lines = append(lines, l)
			}
			built.lines = append(built.lines, l)
		}
		b.rules = append(b.rules, built)
	}
	more, ticks, err := b.scheduleLines()
	return append(lines, more...), ticks, err
}

// Close stops deliveries and waits for them. What is not settled by then is
// delivered by the next run. It may be called more than once.
func (b *Bus) Close() error {
	b.cancel()
	b.running.Wait()
	b.accepting.Lock()
	defer b.accepting.Unlock()
	return b.journal.close()
}

// Settle waits until every accepted event is delivered or given up.
func (b *Bus) Settle(ctx context.Context) error { return b.pending.wait(ctx) }

// Settled says whether that is so now.
func (b *Bus) Settled() bool { return b.pending.none() }

// deliver puts an event on the line of each target it matches; with none, or
// after the last of them, the event is settled.
func (b *Bus) deliver(e envelope) error {
	var lines []*line
	for _, r := range b.rules {
		if r.pattern.match(e.fields) {
			lines = append(lines, r.lines...)
		}
	}
	if len(lines) == 0 {
		return b.journal.settle(e.id)
	}
	var left sync.Mutex
	remaining := len(lines)
	done := func() {
		left.Lock()
		remaining--
		last := remaining == 0
		left.Unlock()
		if last {
			if err := b.journal.settle(e.id); err != nil {
				b.config.Log.Error("an event will be delivered again", "id", e.id, "error", err)
			}
		}
	}
	for _, l := range lines {
		l.add(&message{id: newID(), body: e.line, done: done})
	}
	return nil
}

// bury gives a message to the dead-letter callback.
func (b *Bus) bury(d DeadLetter) {
	b.config.Log.Error("dead letter", "from", d.From, "queue", d.Queue, "attempts", d.Attempts, "reason", d.Reason)
	if b.config.DeadLetter != nil {
		b.config.DeadLetter(d)
	}
}

// pending counts messages that are not settled.
type pending struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // closed when n falls to 0; nil while nobody waits
}

func (p *pending) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n += n
	if p.n == 0 && p.zero != nil {
		close(p.zero)
		p.zero = nil
	}
}

func (p *pending) none() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n == 0
}

func (p *pending) wait(ctx context.Context) error {
	for {
		p.mu.Lock()
		if p.n == 0 {
			p.mu.Unlock()
			return nil
		}
		if p.zero == nil {
			p.zero = make(chan struct{})
		}
		zero, n := p.zero, p.n
		p.mu.Unlock()
		select {
		case <-zero:
		case <-ctx.Done():
			return fmt.Errorf("bus: %d messages are not settled: %w", n, ctx.Err())
		}
	}
}
