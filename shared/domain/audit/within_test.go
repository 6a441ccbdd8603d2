package audit_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// committed keeps the changes that were committed; fail refuses the next ones.
type committed struct {
	record.Store
	changes []record.Change
	fail    int
}

func (c *committed) Commit(_ context.Context, change record.Change) error {
	if c.fail > 0 {
		c.fail--
		return record.ErrConflict
	}
	c.changes = append(c.changes, change)
	return nil
}

// heard is a bus that takes everything.
type heard struct{ types []string }

func (h *heard) Publish(_ context.Context, entries []audit.Entry) ([]string, error) {
	for _, e := range entries {
		h.types = append(h.types, e.Type)
	}
	return nil, nil
}

func TestWithin(t *testing.T) {
	tenant, err := identity.OperatorTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Date(2025, 9, 30, 12, 0, 0, 0, time.UTC) }
	call := audit.Call{RequestID: "r", Tenant: tenant, Actor: identity.Actor{Type: "agent", ID: "agt_1"}, Method: "tools/call", Name: "raw.contribute"}
	change := record.Change{Puts: []record.Put{{Item: record.Item{Key: key.Key{PK: "a", SK: "1"}}}}}
	for _, c := range []struct {
		name  string
		fail  int
		do    func(ctx context.Context, trail *audit.Trail) error
		heard string // types of the events on the bus, in order
		puts  int    // in the first change
	}{
		{"nothing changes", 0, func(ctx context.Context, trail *audit.Trail) error { return trail.Called(ctx, call) }, "agent.mcp.tool_called", 0},
		{"a change takes the call along", 0, func(ctx context.Context, trail *audit.Trail) error {
			inner, err := trail.New(audit.Event{Action: "raw.contributed"})
			return errors.Join(err, trail.Commit(ctx, change, inner), trail.Called(ctx, call))
		}, "raw.contributed agent.mcp.tool_called", 3},
		{"the second change does not take it again", 0, func(ctx context.Context, trail *audit.Trail) error {
			return errors.Join(trail.Commit(ctx, change), trail.Commit(ctx, change), trail.Called(ctx, call))
		}, "agent.mcp.tool_called", 2},
		{"a change that failed has not taken it", 1, func(ctx context.Context, trail *audit.Trail) error {
			if err := trail.Commit(ctx, change); !errors.Is(err, record.ErrConflict) {
				return errors.New("no conflict")
			}
			return trail.Called(ctx, call)
		}, "agent.mcp.tool_called", 0},
		{"tried again it takes it once", 1, func(ctx context.Context, trail *audit.Trail) error {
			_ = trail.Commit(ctx, change)
			return errors.Join(trail.Commit(ctx, change), trail.Called(ctx, call))
		}, "agent.mcp.tool_called", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, bus := &committed{fail: c.fail}, &heard{}
			trail := &audit.Trail{Bus: bus, Store: store, IDs: id.NewSource(now, rand.Reader), Now: now, Log: slog.New(slog.DiscardHandler)}
			if err := c.do(audit.Within(t.Context(), call), trail); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(bus.types, " "); got != c.heard {
				t.Errorf("on the bus %q, want %q", got, c.heard)
			}
			puts := 0
			if len(store.changes) > 0 {
				puts = len(store.changes[0].Puts)
			}
			if puts != c.puts {
				t.Errorf("%d puts in the transaction, want %d", puts, c.puts)
			}
			if len(change.Puts) != 1 {
				t.Error("the caller's change grew")
			}
		})
	}
}
