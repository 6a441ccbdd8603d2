package main

import (
	"context"
	"fmt"
	"sync"
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
	length  time.Duration // of the mixed traffic, until its last answer
	samples []Sample
	memory  []Memory
	rest    time.Duration // until everything that was begun was done
	pairs   []pair
	entries int64 // in the journals of the crowd
	faults  []string
}

// pair is a quiet phase and the one with a flood that followed it.
type pair struct {
	quiet, beside Figures // of the other companies
	flood         Figures
}

// ratio is how much longer the slowest hundredth of the others waited.
func (p pair) ratio() float64 { return float64(p.beside.P99) / float64(max(p.quiet.P99, 1)) }

func (l *load) measure(ctx context.Context) (*result, error) {
	r := &result{settings: l.settings}
	say("warming up")
	l.mixed(ctx, 15*time.Second, l.companies, 0)
	say("mixed traffic for %.1f minutes, %.0f requests a second", l.minutes, l.rate)
	stop := watch(ctx, watched, func() Memory { return held(l.repo) })
	began := time.Now()
	r.samples = l.mixed(ctx, time.Duration(l.minutes*float64(time.Minute)), l.companies, 1)
	r.length, r.memory = time.Since(began), stop()
	for n := range l.settings.pairs {
		say("quiet and flooded, %d of %d", n+1, l.settings.pairs)
		p, err := l.pair(ctx, uint64(n))
		if err != nil {
			return nil, err
		}
		r.pairs = append(r.pairs, p)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	say("waiting for what was begun, and checking the books")
	var err error
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

// mixed sends the mix of some companies.
func (l *load) mixed(ctx context.Context, length time.Duration, companies []crowd.Company, n uint64) []Sample {
	url := l.stack.File().MCPURL
	plan := Plan(length, l.rate*float64(len(companies))/float64(len(l.companies)), companies, weights(), seed+n)
	return Run(ctx, plan, func(ctx context.Context, a Arrival) string {
		return traffic.Mix[a.Kind].Send(ctx, traffic.CallerOf(url, companies[a.Company], a.Agent))
	})
}

// pair measures the companies but the first, alone and beside the first one's
// flood. Both phases have the same arrivals.
func (l *load) pair(ctx context.Context, n uint64) (pair, error) {
	// A company's requests are counted by the minute: the flood begins in a fresh
	// one, so that what it is refused is refused for its rate alone.
	others, flooding := l.companies[1:], l.companies[:1]
	quiet := l.mixed(ctx, l.phase, others, 100+n)
	var beside, flood []Sample
	var both sync.WaitGroup
	both.Go(func() { beside = l.mixed(ctx, l.phase, others, 100+n) })
	both.Go(func() { flood = l.flooded(ctx, flooding, n) })
	both.Wait()
	p := pair{Of(quiet), Of(beside), Of(flood)}
	if p.flood.Errors["rate_limited"] == 0 {
		return p, fmt.Errorf("nothing of the flood of %d requests was refused for its rate: %v", p.flood.Count, p.flood.Errors)
	}
	return p, nil
}

// flooded sends reads of one company, as fast as it was told to.
func (l *load) flooded(ctx context.Context, company []crowd.Company, n uint64) []Sample {
	url := l.stack.File().MCPURL
	return Run(ctx, Plan(l.phase, l.flood, company, []int{1}, seed+200+n), func(ctx context.Context, a Arrival) string {
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
