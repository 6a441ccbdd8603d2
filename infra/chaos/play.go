package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// calm is how long clients begin things before a fault and after it.
	calm = 1500 * time.Millisecond
	// rest is how long the queues may take to be empty after a fault. It is longer
	// than the longest wait of a message that has failed some times.
	rest = 100 * time.Second
	// sweeps is how often the outbox is swept until nothing waits, a second apart:
	// an event must be half a minute old.
	sweeps = 75
	// anchorings is how often a round of anchors is made until every root is final.
	anchorings = 60
)

// result is what was done and found.
type result struct {
	seed       uint64
	faults     []fault
	deeds      []Deed
	books      []Books
	violations []Violation
	killed     map[string]int
	took       time.Duration
}

// play makes one fault after the other and then reckons up.
func play(ctx context.Context, s *stage, chosen []fault, seed uint64) (*result, error) {
	acme, err := identity.OperatorTenant("acme")
	if err != nil {
		return nil, err
	}
	before, err := s.balance(ctx, acme)
	if err != nil {
		return nil, err
	}
	kept, agents := &book{}, []string{}
	for i, f := range chosen {
		began, seen := time.Now(), len(kept.all())
		t := &traffic{stage: s, book: kept, fault: f.name, seed: seed + uint64(i)}
		if err := t.cast(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		agents = append(agents, t.agents[:]...)
		if err := during(ctx, s, f, t, rand.New(rand.NewPCG(seed, uint64(100+i)))); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if err := s.quiet(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		fmt.Printf("%-14s %3d deeds in %s\n", f.name, len(kept.all())-seen, time.Since(began).Round(100*time.Millisecond))
	}
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	r := &result{seed: seed, faults: chosen, deeds: kept.all()}
	for _, name := range []string{"acme", "globex"} {
		b, err := s.gather(ctx, name, agents)
		if err != nil {
			return nil, err
		}
		if name == "acme" {
			b.Before = before
		} else {
			b.Promised = nil
		}
		r.books = append(r.books, b)
	}
	r.violations = judgeAll(r.deeds, r.books)
	return r, nil
}

// cast hires two agents that nobody has heard of, and gets everybody's tokens.
func (t *traffic) cast(ctx context.Context) error {
	file := t.stage.File()
	t.tokens = map[string]string{
		"mbr_ada": file.Tokens["member_admin"], "mbr_ben": file.Tokens["member_approver"],
		"agt_readonly": file.Tokens["agent_readonly"], "agt_globex": file.Tokens["other_tenant_agent"],
	}
	for i := range t.agents {
		t.agents[i] = fmt.Sprintf("agt_%s_%c", t.fault, 'a'+i)
		if err := t.stage.hire(ctx, t.agents[i]); err != nil {
			return err
		}
		var err error
		if t.tokens[t.agents[i]], err = t.stage.token(t.agents[i]); err != nil {
			return err
		}
	}
	return nil
}

// during has the traffic run while a fault begins, lasts and ends.
func during(ctx context.Context, s *stage, f fault, t *traffic, r *rand.Rand) error {
	until := make(chan struct{})
	t.until = until
	done := make(chan struct{})
	go func() { defer close(done); t.run(ctx) }()
	err := f.make(ctx, s, r)
	sleep(ctx, calm)
	close(until)
	<-done
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// make makes a fault, and ends it whatever happens meanwhile.
func (f fault) make(ctx context.Context, s *stage, r *rand.Rand) (err error) {
	sleep(ctx, calm)
	if f.end != nil {
		defer func() {
			if failed := f.end(ctx, s); err == nil {
				err = failed
			}
		}()
	}
	if f.begin != nil {
		if err := f.begin(ctx, s, r); err != nil {
			return err
		}
	}
	for end := time.Now().Add(lasts); time.Now().Before(end) && ctx.Err() == nil; {
		sleep(ctx, beat)
		if f.pulse != nil {
			if err := f.pulse(ctx, s, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// quiet waits until no event is under way.
func (s *stage) quiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rest)
	defer cancel()
	return s.Settled(ctx)
}

// settle waits until nothing is left to do: the outbox is swept, what follows
// from that is done, and every root is final on the chain.
func (s *stage) settle(ctx context.Context) error {
	for try := 0; ; try++ {
		if err := s.Fire("outbox"); err != nil {
			return err
		}
		if err := s.quiet(ctx); err != nil {
			return err
		}
		n := 0
		for shard := range key.OutboxShards {
			if err := s.each(ctx, record.Query{PK: key.OutboxPartition(shard)}, func(record.Item) error { n++; return nil }); err != nil {
				return err
			}
		}
		if n == 0 {
			break
		}
		if try == sweeps {
			break // what is left is said by a rule
		}
		sleep(ctx, time.Second)
	}
	for range anchorings {
		if err := s.Fire("anchor"); err != nil {
			return err
		}
		open, err := s.store.Query(ctx, record.Query{PK: key.AnchorsPartition, Limit: 1})
		if err != nil || len(open.Items) == 0 {
			return err
		}
		sleep(ctx, time.Second)
	}
	return nil
}

// tally counts the tries of a fault's deeds by what was told.
func (r *result) tally(name string) map[Outcome]int {
	n := map[Outcome]int{}
	for _, d := range r.deeds {
		if d.Fault == name {
			for _, t := range d.Tries {
				n[t.Outcome]++
			}
		}
	}
	return n
}

// codes counts the codes of a fault's refusals. That of a tool's stands in the
// journal.
func (r *result) codes(name string) map[string]int {
	known := map[string]string{}
	for _, b := range r.books {
		for _, e := range b.Events {
			if request(e) && e.Code != "" {
				known[e.RequestID] = e.Code
			}
		}
	}
	n := map[string]int{}
	for _, d := range r.deeds {
		for _, t := range d.Tries {
			if d.Fault != name || t.Code == "" {
				continue
			}
			code := t.Code
			if code == ofTheTool {
				code = or(known[t.RequestID], code)
			}
			n[code]++
		}
	}
	return n
}

func (r *result) print(out io.Writer) {
	for _, f := range r.faults {
		n, codes := r.tally(f.name), r.codes(f.name)
		fmt.Fprintf(out, "%-14s acknowledged %3d  refused %3d  open %3d  unknown %3d ", f.name, n[Acknowledged], n[Refused], n[Open], n[Unknown])
		for _, code := range slices.Sorted(maps.Keys(codes)) {
			fmt.Fprintf(out, " %s %d", code, codes[code])
		}
		fmt.Fprintln(out)
	}
	for _, v := range r.violations {
		fmt.Fprintln(out, "VIOLATION", v)
	}
	fmt.Fprintf(out, "%d deeds, %d rules, %d violations, %s\n", len(r.deeds), len(rules), len(r.violations), r.took.Round(time.Second))
}
func (r *result) document() []byte { return nil }
