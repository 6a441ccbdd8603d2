package allowance_test

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// database is the table in the engine of this package's tests. They keep apart
// by their tenants.
var database *table.Table

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { database = e.Table() }))
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func conflicts(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, record.ErrConflict) {
		t.Errorf("error = %v, want a conflict", err)
	}
}

// noon is the middle of a bucket of each scale but for the hour's and the day's,
// where it is the border.
var noon = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)

var tenants atomic.Int32

func newTenant(t testing.TB) identity.Tenant {
	t.Helper()
	tenant, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	return tenant
}

func subject(t testing.TB, agent, counterparty string) allowance.Subject {
	return allowance.Subject{Tenant: newTenant(t), Agent: agent, Counterparty: counterparty, Class: policy.OutboundPayment}
}

func usd(t testing.TB, text string) money.Amount {
	t.Helper()
	a, err := money.ParseAmount(text, money.MustParse("USD"))
	noError(t, err)
	return a
}

func hold(t testing.TB, amount string, at time.Time) allowance.Hold {
	a := usd(t, amount)
	return allowance.NewHold(&a, at)
}

// shelf holds items as a table would, without one: what adds do to numbers is
// arithmetic.
type shelf map[key.Key]record.Item

// apply makes the operations and says whether their conditions held.
func (s shelf) apply(adds []record.Add) bool {
	for _, add := range adds {
		for name, most := range add.Most {
			n := s[add.Key].Numbers[name]
			if n == nil {
				n = new(big.Int)
			}
			if n.Cmp(most) > 0 {
				return false
			}
		}
	}
	for _, add := range adds {
		item := s[add.Key]
		numbers := map[string]*big.Int{}
		for name, n := range item.Numbers {
			numbers[name] = n
		}
		for name, delta := range add.Deltas {
			if numbers[name] == nil {
				numbers[name] = new(big.Int)
			}
			numbers[name] = new(big.Int).Add(numbers[name], delta)
		}
		for _, name := range add.Drop {
			delete(numbers, name)
		}
		item.Key, item.Numbers = add.Key, numbers
		s[add.Key] = item
	}
	return true
}

// take counts a promise that nothing bounds.
func (s shelf) take(t testing.TB, who allowance.Subject, h allowance.Hold, now time.Time) {
	t.Helper()
	moves := who.Moves()
	noError(t, moves.Take(allowance.Open(who, now, s), h, policy.Verdict{}))
	s.apply(moves.Adds())
}

// release gives a promise back.
func (s shelf) release(t testing.TB, who allowance.Subject, h allowance.Hold, now time.Time) {
	t.Helper()
	moves := who.Moves()
	noError(t, moves.Release(h, now))
	s.apply(moves.Adds())
}

// spent is what a window holds of dollars, in words.
func spent(b *allowance.Book, per policy.Per, window policy.Window) string {
	sum, known := b.Spend(per, window, money.MustParse("USD"))
	if !known {
		return "unknown"
	}
	return sum.String()
}

// windows are all of them, the shortest first.
var windows = []policy.Window{policy.Hour, policy.Day, policy.Week, policy.ThirtyDay}

// widths are how long a bucket of each window is.
var widths = map[policy.Window]time.Duration{
	policy.Hour: 5 * time.Minute, policy.Day: time.Hour, policy.Week: 6 * time.Hour, policy.ThirtyDay: 24 * time.Hour,
}

// counts says whether a promise of an instant counts in a window at another: as
// long as a part of its bucket is inside.
func counts(window policy.Window, at, now time.Time) bool {
	width := int64(widths[window] / time.Second)
	begin := now.Add(-policy.Windows[window]).Unix()
	return at.Unix()-at.Unix()%width >= begin-begin%width
}
