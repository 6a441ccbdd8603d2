package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmoney/mcp/infra/local/client"
	"github.com/robotmoney/mcp/infra/local/crowd"
	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/traffic"
	"github.com/robotmoney/mcp/shared/domain/journal/checker"
	"github.com/robotmoney/mcp/shared/domain/rollups"
)

// watched is how often the memory is looked at.
const watched = 5 * time.Second

// load is a run on a stack with its crowd.
type load struct {
	settings
	repo      string
	stack     *stack.Stack
	companies []crowd.Company
}

// result is what a run has seen.
type result struct {
	settings
	most    float64       // requests a second that saturate the machine
	length  time.Duration // of the mixed traffic, until its last answer
	samples []Sample
	memory  []Memory
	rest    time.Duration // until everything that was begun was done
	pairs   []pair
	entries int64 // in the journals of the crowd
	faults  []string
}

// pair is a quiet phase and one with a flood, one right after the other.
type pair struct {
	quiet, beside []Sample // of the other companies
	flood         []Sample
}

// ratio is how much longer the slowest hundredth of the others waited beside the
// flood.
func (p pair) ratio() float64 { return float64(Of(p.beside).P99) / float64(max(Of(p.quiet).P99, 1)) }

// all are the pairs taken together.
func all(pairs []pair) (sum pair) {
	for _, p := range pairs {
		sum.quiet, sum.beside, sum.flood = append(sum.quiet, p.quiet...), append(sum.beside, p.beside...), append(sum.flood, p.flood...)
	}
	return sum
}

func (l *load) measure(ctx context.Context) (*result, error) {
	r := &result{}
	say("finding what saturates the machine")
	var err error
	if r.most, err = l.saturate(ctx); err != nil {
		return nil, err
	}
	if l.rate == 0 {
		l.rate = r.most / 2
	}
	r.settings = l.settings
	say("mixed traffic for %.1f minutes, %.0f requests a second", l.minutes, l.rate)
	stop := watch(ctx, watched, func() Memory { return held(l.repo) })
	began := time.Now()
	r.samples = l.mixed(ctx, time.Duration(l.minutes*float64(time.Minute)), l.rate, l.companies, 1)
	r.length, r.memory = time.Since(began), stop()
	for n := range l.settings.pairs {
		say("quiet and flooded, %d of %d", n+1, l.settings.pairs)
		p, err := l.pair(ctx, uint64(n), r.most)
		if err != nil {
			return nil, err
		}
		r.pairs = append(r.pairs, p)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	say("waiting for what was begun, and checking the books")
	if r.rest, err = rested(ctx, l.stack); err != nil {
		return nil, fmt.Errorf("what was begun is not done: %w", err)
	}
	return r, l.check(ctx, r)
}

// weights are those of the mix.
func weights() []int {
	var all []int
	for _, k := range traffic.Mix {
		all = append(all, k.Weight)
	}
	return all
}

// saturate finds out how many requests a second the machine serves at most: callers
// ask one after the other, and what they began counts until it is done.
func (l *load) saturate(ctx context.Context) (float64, error) {
	const callers, span = 16, 20 * time.Second
	url, plan := l.stack.File().MCPURL, Plan(span, 1000, l.companies, weights(), seed)
	began := time.Now()
	var next, served atomic.Int64
	var calling sync.WaitGroup
	for range callers {
		calling.Go(func() {
			for time.Since(began) < span && ctx.Err() == nil {
				a := plan[int(next.Add(1)-1)%len(plan)]
				if traffic.Mix[a.Kind].Send(ctx, traffic.CallerOf(url, l.companies[a.Company], a.Agent)) == "" {
					served.Add(1)
				}
			}
		})
	}
	calling.Wait()
	_, err := rested(ctx, l.stack)
	return float64(served.Load()) / time.Since(began).Seconds(), err
}

// mixed sends the mix of some companies.
func (l *load) mixed(ctx context.Context, length time.Duration, rate float64, companies []crowd.Company, n uint64) []Sample {
	url := l.stack.File().MCPURL
	plan := Plan(length, rate, companies, weights(), seed+n)
	return Run(ctx, plan, func(ctx context.Context, a Arrival) string {
		return traffic.Mix[a.Kind].Send(ctx, traffic.CallerOf(url, companies[a.Company], a.Agent))
	})
}

// aside is how much of what saturates the machine the others ask for beside the flood:
// a machine that is full says nothing of who takes what from whom.
const aside = 0.25

// pair measures the companies but the first, alone and beside the first one's
// flood, in turns with which comes first. A company's requests are counted by the
// minute, so both phases lie in one, and each flood is served what it is allowed.
func (l *load) pair(ctx context.Context, n uint64, most float64) (p pair, err error) {
	others, flooding := l.companies[1:], l.companies[:1]
	phases := []func(){
		func() { p.quiet = l.mixed(ctx, l.phase, aside*most, others, 100+n) },
		func() {
			var both sync.WaitGroup
			both.Go(func() { p.beside = l.mixed(ctx, l.phase, aside*most, others, 200+n) })
			both.Go(func() { p.flood = l.flooded(ctx, flooding, n) })
			both.Wait()
		},
	}
	timer := time.NewTimer(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return p, ctx.Err()
	}
	phases[n%2]()
	phases[1-n%2]()
	return p, ctx.Err()
}

// flooded sends reads of one company, as fast as it was told to.
func (l *load) flooded(ctx context.Context, company []crowd.Company, n uint64) []Sample {
	url := l.stack.File().MCPURL
	return Run(ctx, Plan(l.phase, l.flood, company, []int{1}, seed+300+n), func(ctx context.Context, a Arrival) string {
		c := client.Client{URL: url, Token: company[0].Agents[a.Agent].Token}
		reply, err := c.Call(ctx, "resources/read", map[string]any{"uri": "brain://ledger/accounts/acct_gx01"})
		return traffic.Code(reply, client.Tool{}, err)
	})
}

// check holds every company's journal and rollups against themselves: load must
// not cost correctness.
func (l *load) check(ctx context.Context, r *result) error {
	store := l.stack.File().Store()
	for _, c := range l.companies {
		journal, err := checker.Store(ctx, store, c.Tenant)
		if err != nil {
			return err
		}
		r.entries += journal.Entries
		if journal.Fault != nil {
			r.faults = append(r.faults, fmt.Sprintf("the journal of %s: %s", c.Tenant, journal.Fault))
		}
		sums, err := (&rollups.Book{Store: store}).Check(ctx, c.Tenant)
		if err != nil {
			return err
		}
		if sums.Difference != nil {
			r.faults = append(r.faults, fmt.Sprintf("the rollups of %s: %s", c.Tenant, sums.Difference))
		}
	}
	return nil
}
