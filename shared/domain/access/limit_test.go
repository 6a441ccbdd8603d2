package access_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/table"
)

var start = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)

// tenantOf is a tenant that has counted nothing yet.
func tenantOf(t *testing.T, name string) identity.Tenant {
	t.Helper()
	tenant, err := identity.OperatorTenant(fmt.Sprintf("%s-%d", name, worlds.Add(1)))
	noError(t, err)
	return tenant
}

// counter counts in the process and keeps what it was asked for.
type counter struct {
	mu     sync.Mutex
	limit  int
	used   int
	leases []int
	told   int
	err    error
	gates  map[int]chan struct{} // the nth lease waits for its gate to be closed
}

func (c *counter) Lease(_ context.Context, _ identity.Tenant, _ time.Time, n int) (used, limit int, err error) {
	c.mu.Lock()
	c.leases = append(c.leases, n)
	c.used += n
	used, err = c.used, c.err
	gate := c.gates[len(c.leases)]
	c.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return used, c.limit, err
}

func (c *counter) FirstRefusal(context.Context, identity.Tenant, time.Time) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told++
	return c.told == 1, nil
}

// Leases double up to sixteen, so that an idle process holds little and a busy
// one seldom writes.
func TestLeasesDouble(t *testing.T) {
	c, clock := &counter{limit: 600}, &clock{at: start}
	l := &access.Limiter{Counter: c, Now: clock.now}
	acme := tenantOf(t, "acme")
	for range 64 {
		noError(t, l.Take(t.Context(), acme, 1))
	}
	equal(t, "leases", fmt.Sprint(c.leases), "[1 2 4 8 16 16 16 16]")
	clock.pass(time.Minute)
	noError(t, l.Take(t.Context(), acme, 1))
	equal(t, "the next minute begins small", c.leases[len(c.leases)-1], 1)
}

func TestLimit(t *testing.T) {
	for _, limit := range []int{0, 1, 2, 15, 16, 17, 600} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			c, clock := &counter{limit: limit}, &clock{at: start.Add(30 * time.Second)}
			acme, told := tenantOf(t, "acme"), 0
			l := &access.Limiter{Counter: c, Now: clock.now, Refused: func(_ context.Context, tenant identity.Tenant, minute time.Time, n int) {
				told++
				equal(t, "tenant told of", tenant, acme)
				equal(t, "minute told of", minute, start)
				equal(t, "limit told of", n, limit)
			}}
			for range limit {
				noError(t, l.Take(t.Context(), acme, 1))
			}
			for range 20 {
				err := l.Take(t.Context(), acme, 1)
				fails(t, "above the limit", err, fault.RateLimited)
				if wait := fault.Of(err).Retry; wait < 30 || wait > 31 {
					t.Errorf("wait = %d s with half a minute to go", wait)
				}
			}
			equal(t, "times it was told", told, 1)
			asked := len(c.leases)
			fails(t, "once more", l.Take(t.Context(), acme, 1), fault.RateLimited)
			equal(t, "leases of a process that is refused", len(c.leases), asked)
		})
	}
}

// A batch counts each of its messages, and one that does not fit is refused as
// a whole.
func TestBatches(t *testing.T) {
	c, clock := &counter{limit: 10}, &clock{at: start}
	l := &access.Limiter{Counter: c, Now: clock.now}
	acme := tenantOf(t, "acme")
	noError(t, l.Take(t.Context(), acme, 4))
	noError(t, l.Take(t.Context(), acme, 5))
	fails(t, "two more", l.Take(t.Context(), acme, 2), fault.RateLimited)
	noError(t, l.Take(t.Context(), acme, 0))
	clock.pass(time.Minute)
	c.used = 0
	noError(t, l.Take(t.Context(), acme, 10))
	fails(t, "one more", l.Take(t.Context(), acme, 1), fault.RateLimited)
}

func TestCounterAway(t *testing.T) {
	c := &counter{limit: 600, err: fault.Because(errors.New("down"), fault.DependencyUnavailable, "The data store cannot be reached.")}
	l := &access.Limiter{Counter: c, Now: (&clock{at: start}).now}
	acme := tenantOf(t, "acme")
	fails(t, "request", l.Take(t.Context(), acme, 1), fault.DependencyUnavailable)
	c.err = nil
	fails(t, "the next", l.Take(t.Context(), acme, 1), "")
}

// processes are several instances of the function that count in the real table.
func processes(n int, now func() time.Time, refused *atomic.Int32) []*access.Limiter {
	var all []*access.Limiter
	for range n {
		all = append(all, &access.Limiter{
			Counter: &table.Rate{Table: database, Default: access.DefaultRate}, Now: now,
			Refused: func(context.Context, identity.Tenant, time.Time, int) { refused.Add(1) },
		})
	}
	return all
}

// flood makes requests at all processes at once until each refuses, and returns
// how many were let through.
func flood(t *testing.T, all []*access.Limiter, tenant identity.Tenant, batch int) int {
	t.Helper()
	var through atomic.Int64
	var waiting sync.WaitGroup
	begin := make(chan struct{})
	for _, process := range all {
		for range 4 {
			waiting.Go(func() {
				<-begin
				for {
					err := process.Take(t.Context(), tenant, batch)
					if err != nil {
						fails(t, "request", err, fault.RateLimited)
						return
					}
					through.Add(int64(batch))
				}
			})
		}
	}
	close(begin)
	waiting.Wait()
	return int(through.Load())
}

// Many processes at once never let more through than the limit, and in the end
// no less. Another tenant's minute is its own.
func TestManyProcesses(t *testing.T) {
	clock := &clock{at: start}
	var refused atomic.Int32
	all := processes(8, clock.now, &refused)
	acme, globex := tenantOf(t, "flood-acme"), tenantOf(t, "flood-globex")
	noError(t, all[0].Take(t.Context(), globex, 1))
	for i := range 3 {
		equal(t, fmt.Sprintf("through in minute %d", i), flood(t, all, acme, 1), access.DefaultRate)
		equal(t, "times the refusal was told", refused.Load(), int32(i+1))
		noError(t, all[1].Take(t.Context(), globex, 1))
		clock.pass(time.Minute)
	}
}

// Batches of several processes count each message: what is let through stays at
// or under the limit.
func TestManyProcessesInBatches(t *testing.T) {
	clock := &clock{at: start}
	var refused atomic.Int32
	through := flood(t, processes(8, clock.now, &refused), tenantOf(t, "flood-batches"), 7)
	if through > access.DefaultRate || through < access.DefaultRate/2 {
		t.Errorf("%d let through, want at most %d and not much less", through, access.DefaultRate)
	}
}

// TestClocks: processes whose clocks differ, or step back, share one count and
// never begin a minute over that has been used up.
func TestClocks(t *testing.T) {
	var refused atomic.Int32
	ahead, behind := &clock{at: start.Add(time.Minute)}, &clock{at: start}
	a, b := processes(1, ahead.now, &refused), processes(1, behind.now, &refused)
	acme := tenantOf(t, "clocks")
	equal(t, "through, the clock ahead", flood(t, a, acme, 1), access.DefaultRate)
	equal(t, "through, the clock behind", flood(t, b, acme, 1), 0)
	ahead.pass(-time.Minute)
	equal(t, "through, the clock set back", flood(t, a, acme, 1), 0)
	ahead.pass(time.Minute)
	equal(t, "through, the clock set forward again", flood(t, a, acme, 1), 0)
	equal(t, "times the refusal was told", refused.Load(), 1)
	ahead.pass(time.Minute)
	equal(t, "through in a new minute", flood(t, a, acme, 1), access.DefaultRate)
}

// The rate is judged before anything else, and the chain is not asked.
func TestRateIsJudgedFirst(t *testing.T) {
	w := newWorld(t)
	limits := &access.Limiter{Counter: &counter{limit: 1}, Now: w.now}
	door := access.New(nil, w.store, w.chain, limits, nil, w.now)
	token := w.token()
	for i := range wrongs {
		wrongs[i].spoil(t, w, &token)
	}
	_, err := door.Admit(t.Context(), token, 2)
	fails(t, "request", err, fault.RateLimited)
	w.store.away.Store(true)
	_, err = door.Admit(t.Context(), token, 1)
	fails(t, "with the table away", err, fault.RateLimited)
	equal(t, "calls of the chain", w.chain.count(), 0)
}

// The limit is known to whoever was just counted; before, it is the default.
func TestLimitIsKnown(t *testing.T) {
	c, clock := &counter{limit: 42}, &clock{at: start}
	l := &access.Limiter{Counter: c, Now: clock.now}
	acme := tenantOf(t, "acme")
	equal(t, "before the first request", l.Limit(acme), access.DefaultRate)
	noError(t, l.Take(t.Context(), acme, 1))
	equal(t, "after it", l.Limit(acme), 42)
	equal(t, "of another tenant", l.Limit(tenantOf(t, "other")), access.DefaultRate)
	c.limit = 43
	clock.pass(time.Minute)
	noError(t, l.Take(t.Context(), acme, 1))
	equal(t, "after it was changed", l.Limit(acme), 43)
}
