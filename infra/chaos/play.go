package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// calm is how long clients begin things after a disturbance. Before it they begin
	// nothing: nobody knows the agents that were hired for it.
	calm = 3 * time.Second
	// stillness is how long the queues may take to be empty after a fault. It is longer
	// than the longest wait of a message that has failed some times.
	stillness = 100 * time.Second
	// sweeps is how often the outbox is swept until nothing waits, a second apart:
	// an event must be half a minute old.
	sweeps = 75
	// anchorings is how often a round of anchors is made until every root is final.
	anchorings = 60
)

// made is a disturbance that was made, and how often it did something.
type made struct {
	disturbance
	times int
}

// result is what was done and found.
type result struct {
	seed       uint64
	made       []made
	agents     []string // that were hired
	deeds      []Deed
	books      []Books
	violations []Violation
	took       time.Duration
}

// play makes one disturbance after the other and then reckons up.
func play(ctx context.Context, s *stage, chosen []disturbance, seed uint64) (*result, error) {
	acme, err := identity.OperatorTenant("acme")
	if err != nil {
		return nil, err
	}
	before, err := s.balance(ctx, acme)
	if err != nil {
		return nil, err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	worked := make(chan error, 1)
	go func() { worked <- s.bank.work(working) }()
	r, kept := &result{seed: seed}, &book{}
	for i, d := range chosen {
		began, seen := time.Now(), len(kept.all())
		t := &traffic{stage: s, url: s.File().MCPURL, book: kept, fault: d.name, seed: seed + uint64(i)}
		times, err := disturb(ctx, s, d, t, rand.New(rand.NewPCG(seed, uint64(100+i))))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		r.made, r.agents = append(r.made, made{d, times}), append(r.agents, t.agents[:]...)
		fmt.Printf("%-14s %3d deeds in %s\n", d.name, len(kept.all())-seen, time.Since(began).Round(100*time.Millisecond))
	}
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	stop()
	if err := <-worked; err != nil {
		return nil, err
	}
	r.deeds = kept.all()
	return r, r.reckon(ctx, s, before)
}

// disturb makes one disturbance under its own traffic, waits until nothing of
// either is under way, and says how often it did something.
func disturb(ctx context.Context, s *stage, d disturbance, t *traffic, r *rand.Rand) (times int, err error) {
	if err := t.cast(ctx); err != nil {
		return 0, err
	}
	s.n.Store(0)
	if err := during(ctx, s, d, t, r); err != nil {
		return 0, err
	}
	times = int(s.n.Load())
	return times, s.quiet(ctx)
}

// reckon reads the books of both companies and holds every rule against them.
func (r *result) reckon(ctx context.Context, s *stage, before cents) error {
	acme, err := s.gather(ctx, "acme", r.agents)
	if err != nil {
		return err
	}
	acme.Before, acme.Transfers = before, s.bank.paid()
	globex, err := s.gather(ctx, "globex", nil)
	if err != nil {
		return err
	}
	r.books = []Books{acme, globex}
	r.violations = append(judgeAll(r.deeds, r.books), r.judgeMade()...)
	return nil
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

// during has the traffic run while a disturbance lasts, and for a while after.
func during(ctx context.Context, s *stage, d disturbance, t *traffic, r *rand.Rand) error {
	until, done := make(chan struct{}), make(chan struct{})
	t.until = until
	err := d.make(ctx, s, r, func() {
		go func() { defer close(done); t.run(ctx) }()
	})
	sleep(ctx, calm)
	close(until)
	<-done
	return errors.Join(err, ctx.Err())
}

// make makes a disturbance, calls begun once it is there, and ends it whatever
// happens meanwhile.
func (d disturbance) make(ctx context.Context, s *stage, r *rand.Rand, begun func()) (err error) {
	if d.begin != nil {
		err = d.begin(ctx, s, r)
	}
	begun()
	for end := time.Now().Add(lasts); err == nil && time.Now().Before(end) && ctx.Err() == nil; {
		sleep(ctx, beat)
		if d.pulse != nil {
			err = d.pulse(ctx, s, r)
		}
	}
	if d.end != nil {
		err = errors.Join(err, d.end(ctx, s, r))
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// quiet waits until no event is under way, and no receipt of the bank.
func (s *stage) quiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stillness)
	defer cancel()
	for {
		if err := s.Settled(ctx); err != nil {
			return err
		}
		idle, err := s.bank.idle()
		if err != nil || idle && s.Bus().Settled() {
			return err
		}
		sleep(ctx, look)
	}
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
