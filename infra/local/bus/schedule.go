package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Schedule invokes a function at a rate.
type Schedule struct {
	// Name is what Fire takes.
	Name string
	// Expression is rate(N minutes|hours|days); cron is not understood here.
	Expression string
	Function   Invoker
	// Input replaces the scheduled event, if set.
	Input json.RawMessage
	// MaximumRetryAttempts, Backoff and DeadLetters as of a Target.
	MaximumRetryAttempts int
	Backoff              time.Duration
	DeadLetters          string
}

var rateForm = regexp.MustCompile(`^rate\(([1-9][0-9]{0,5}) (minute|hour|day)(s?)\)$`)

// ParseRate reads a rate expression as EventBridge does: the unit is singular
// after 1 and plural after anything else.
func ParseRate(expression string) (time.Duration, error) {
	m := rateForm.FindStringSubmatch(expression)
	if m == nil || (m[1] == "1") != (m[3] == "") {
		return 0, fmt.Errorf("schedule %q is not rate(1 minute), rate(N minutes), or the same of hours or days", expression)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0, fmt.Errorf("schedule %q: %w", expression, err)
	}
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[m[2]]
	return time.Duration(n) * unit, nil
}

// ticker adds a message to its line every so often.
type ticker struct {
	every time.Duration
	fire  func()
}

func (t ticker) run(ctx context.Context, ready <-chan struct{}) {
	if !await(ctx, ready) {
		return
	}
	tick := time.NewTicker(t.every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.fire()
		case <-ctx.Done():
			return
		}
	}
}

func (b *Bus) scheduleLines() ([]*line, []ticker, error) {
	var lines []*line
	var ticks []ticker
	for _, s := range b.config.Schedules {
		every, err := ParseRate(s.Expression)
		if err != nil {
			return nil, nil, fmt.Errorf("bus: %s: %w", s.Name, err)
		}
		if s.Function == nil || s.Name == "" || b.schedules[s.Name] != nil {
			return nil, nil, fmt.Errorf("bus: schedule %q needs a function and a name of its own", s.Name)
		}
		if len(s.Input) > 0 && !json.Valid(s.Input) {
			return nil, nil, fmt.Errorf("bus: the input of schedule %s is no JSON", s.Name)
		}
		l := b.directLine(s.Name, s.DeadLetters, s.Function, s.MaximumRetryAttempts, s.Backoff)
		b.schedules[s.Name] = l
		lines = append(lines, l)
		ticks = append(ticks, ticker{every, func() { l.add(b.scheduled(s)) }})
	}
	return lines, ticks, nil
}

// Fire runs a schedule now, apart from its rate. It does not wait for the
// function; Settle does.
func (b *Bus) Fire(name string) error {
	s, err := b.schedule(name)
	if err != nil {
		return err
	}
	b.schedules[name].add(b.scheduled(s))
	return nil
}

// Scheduled is the event that a schedule gives its function now, for who
// invokes it apart from the bus.
func (b *Bus) Scheduled(name string) (json.RawMessage, error) {
	s, err := b.schedule(name)
	if err != nil {
		return nil, err
	}
	return b.scheduled(s).body, nil
}

func (b *Bus) schedule(name string) (Schedule, error) {
	for _, s := range b.config.Schedules {
		if s.Name == name {
			return s, nil
		}
	}
	return Schedule{}, fmt.Errorf("bus: no schedule %q", name)
}

// scheduled is the message of one run. It is not kept over a restart: a run
// that was missed is missed, as the next one comes anyway.
func (b *Bus) scheduled(s Schedule) *message {
	m := &message{id: newID(), body: s.Input, done: func() {}}
	if len(m.body) == 0 {
		arn := fmt.Sprintf("arn:aws:events:%s:%s:rule/%s", b.config.Region, b.config.AccountID, s.Name)
		m.body = b.envelope(entry{Source: "aws.events", DetailType: "Scheduled Event", Detail: "{}", Resources: []string{arn}}).line
	}
	return m
}
