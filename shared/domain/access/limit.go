package access

import (
	"context"
	"sync"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

const (
	// DefaultRate is how many requests a tenant may make in a minute when
	// nothing else is set for it.
	DefaultRate = 600
	// maxLease is the most requests a process takes in advance. Leases double
	// from one, so that many idle processes do not use up a tenant's minute.
	maxLease = 16
)

// Counter counts a tenant's requests in a minute across all processes.
type Counter interface {
	// Lease adds n to the tenant's count of that minute and returns the new
	// count and the tenant's limit.
	Lease(ctx context.Context, t identity.Tenant, minute time.Time, n int) (used, limit int, err error)
	// FirstRefusal says, once per tenant and minute over all processes, that
	// nobody else was told so before.
	FirstRefusal(ctx context.Context, t identity.Tenant, minute time.Time) (bool, error)
}

// Limiter holds every tenant to its rate.
type Limiter struct {
	Counter Counter
	Now     func() time.Time
	// Refused is called at the first refusal of a tenant's minute, for the audit
	// trail. It must not block for long.
	Refused func(ctx context.Context, t identity.Tenant, minute time.Time, limit int)

	mu     sync.Mutex
	leases map[identity.Tenant]*lease
}

// lease is what a process may still serve of a tenant's minute.
type lease struct {
	mu     sync.Mutex
	minute time.Time
	left   int
	size   int // of the next lease
	limit  int // as of the last lease; 0 before the first
	full   bool
}

// Take counts n requests. Its error has the code rate_limited and says when to
// try again, or dependency_unavailable when the count cannot be had.
func (l *Limiter) Take(ctx context.Context, t identity.Tenant, n int) error {
	minute := l.Now().UTC().Truncate(time.Minute)
	own := l.lease(t)
	own.mu.Lock()
	defer own.mu.Unlock()
	if !own.minute.Equal(minute) {
		own.minute, own.left, own.size, own.full = minute, 0, 1, false
	}
	for range n {
		if own.left == 0 && !own.full {
			if err := l.renew(ctx, t, own); err != nil {
				return err
			}
		}
		if own.full {
			left := minute.Add(time.Minute).Sub(l.Now())
			wait := max(1, int((left+time.Second-1)/time.Second)) // whole seconds, not too few
			return fault.New(fault.RateLimited, "The tenant's requests of this minute are used up. Try again in %d s.", wait).After(wait)
		}
		own.left--
	}
	return nil
}

// Limit is how many requests a minute the tenant was held to when it was last
// counted, which costs no read: whoever asks has just been counted itself.
func (l *Limiter) Limit(t identity.Tenant) int {
	own := l.lease(t)
	own.mu.Lock()
	defer own.mu.Unlock()
	if own.limit == 0 {
		return DefaultRate
	}
	return own.limit
}

func (l *Limiter) renew(ctx context.Context, t identity.Tenant, own *lease) error {
	used, limit, err := l.Counter.Lease(ctx, t, own.minute, own.size)
	if err != nil {
		return err
	}
	own.limit = limit
	own.left = max(0, min(own.size, limit-(used-own.size)))
	own.size = min(2*own.size, maxLease)
	own.full = own.left == 0
	if !own.full {
		return nil
	}
	if first, err := l.Counter.FirstRefusal(ctx, t, own.minute); err == nil && first && l.Refused != nil {
		l.Refused(ctx, t, own.minute, limit)
	}
	return nil
}

func (l *Limiter) lease(t identity.Tenant) *lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leases == nil || len(l.leases) >= maxFiles {
		l.leases = map[identity.Tenant]*lease{}
	}
	if l.leases[t] == nil {
		l.leases[t] = &lease{}
	}
	return l.leases[t]
}
