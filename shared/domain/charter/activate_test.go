package charter_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// TestActivate: versions grow, by any step, and each is told of.
func TestActivate(t *testing.T) {
	w := newWorld(t)
	for _, version := range []int64{1, 2, 7, 1 << 40} {
		before := w.bus.entries.Load()
		v := w.activate(t, version, w.ann)
		w.inForce(t, version)
		equal(t, "events", w.bus.entries.Load()-before, 1)
		equal(t, "signers", strings.Join(v.Signers, " "), w.ann.Address().String())
		equal(t, "at", v.ActivatedAt, "2025-09-30T12:00:00.000Z")
	}
}

// TestQuorum: as many of the tenant's signers as the tenant wants, each once.
func TestQuorum(t *testing.T) {
	for _, c := range []struct {
		name   string
		quorum int
		by     func(*world) []*tx.LocalKey
		code   fault.Code
	}{
		{"one of one", 0, func(w *world) []*tx.LocalKey { return []*tx.LocalKey{w.ann} }, ""},
		{"nobody", 0, func(*world) []*tx.LocalKey { return nil }, fault.InvalidArgument},
		{"a stranger", 0, func(w *world) []*tx.LocalKey { return []*tx.LocalKey{w.dan} }, fault.InvalidArgument},
		{"a stranger beside a signer", 0, func(w *world) []*tx.LocalKey { return []*tx.LocalKey{w.ann, w.dan} }, fault.InvalidArgument},
		{"two of two", 2, func(w *world) []*tx.LocalKey { return []*tx.LocalKey{w.ann, w.bob} }, ""},
		{"three of two", 2, func(w *world) []*tx.LocalKey { return []*tx.LocalKey{w.cat, w.ann, w.bob} }, ""},
		{"one of two", 2, func(w *world) []*tx.LocalKey { return []*tx.LocalKey{w.ann} }, fault.InvalidArgument},
		{"one twice of two", 2, func(w *world) []*tx.LocalKey { return []*tx.LocalKey{w.ann, w.ann} }, fault.InvalidArgument},
		{"one twice and another", 2, func(w *world) []*tx.LocalKey { return []*tx.LocalKey{w.ann, w.ann, w.bob} }, ""},
		{"a quorum below one is one", -3, func(*world) []*tx.LocalKey { return nil }, fault.InvalidArgument},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.quorum(t, c.quorum)
			raw := law(1, "100.00")
			_, err := w.register.Activate(t.Context(), w.tenant, actor, "req", raw, w.sign(t, 1, raw, c.by(w)...))
			fails(t, c.name, err, c.code)
			if c.code == "" {
				w.inForce(t, 1)
			} else {
				w.denied(t, w.another(), "no policy")
			}
		})
	}
}

// The same signature in its other form, with the group's other s, is not another
// person's.
func TestMalleatedSignature(t *testing.T) {
	w := newWorld(t)
	w.quorum(t, 2)
	raw := law(1, "100.00")
	one := w.sign(t, 1, raw, w.ann)[0]
	other := append(charter.Signature{}, one...)
	copy(other[32:64], negated(one[32:64]))
	other[64] = 27 + 28 - one[64]
	_, err := w.register.Activate(t.Context(), w.tenant, actor, "req", raw, []charter.Signature{one, other})
	fails(t, "one person in two forms", err, fault.InvalidArgument)
}

// TestRefusals: what is not activated, and that nothing is written then.
func TestRefusals(t *testing.T) {
	unbounded := []byte(`{"version":2,"lists":{},"rules":[{"id":"all","applies_to":["any"],"execute":"auto","when":{}}]}`)
	unlisted := []byte(`{"version":2,"lists":{},"rules":[{"id":"a","applies_to":["any"],"execute":"confirm","when":{"counterparty.in":["nobody"]}}]}`)
	for _, c := range []struct {
		name string
		raw  []byte
		as   int64 // the version that was signed
		code fault.Code
		says string
	}{
		{"the same version", law(1, "900.00"), 1, fault.Conflict, "Versions only grow"},
		{"an unbounded rule", unbounded, 2, fault.InvalidArgument, "without a bound"},
		{"a list that is not there", unlisted, 2, fault.InvalidArgument, "no list"},
		{"an unknown key", []byte(`{"version":2,"rules":[],"more":1}`), 2, fault.InvalidArgument, "more"},
		{"no JSON", []byte(`{`), 2, fault.InvalidArgument, "policy"},
		{"version 0", law(0, "1.00"), 0, fault.InvalidArgument, "version"},
		{"signed as another version", law(2, "1.00"), 3, fault.InvalidArgument, "not signed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.activate(t, 1, w.ann)
			signed := c.raw
			if c.name == "no JSON" {
				signed = law(2, "1.00")
			}
			commits := w.store.commits.Load()
			_, err := w.register.Activate(t.Context(), w.tenant, actor, "req", c.raw, w.sign(t, c.as, signed, w.ann))
			fails(t, c.name, err, c.code)
			if !strings.Contains(fault.Of(err).Message, c.says) {
				t.Errorf("%q does not say %q", fault.Of(err).Message, c.says)
			}
			equal(t, "changes", w.store.commits.Load(), commits)
			w.inForce(t, 1)
		})
	}
}

// An older version is not above the mark, also when the head was set back.
func TestGrowsAboveTheMark(t *testing.T) {
	w := newWorld(t)
	w.activate(t, 1, w.ann)
	w.activate(t, 5, w.ann)
	w.put(t, key.PolicyHead(w.tenant), stored(t, 1, law(1, "100.00")))
	raw := law(4, "400.00")
	_, err := w.another().Activate(t.Context(), w.tenant, actor, "req", raw, w.sign(t, 4, raw, w.ann))
	fails(t, "below the mark", err, fault.Conflict)
	w.activate(t, 6, w.ann)
	w.inForce(t, 6)
}

// TestTwoActivations: of many at once one wins each version, and what is in force
// is the highest that anybody was told of.
func TestTwoActivations(t *testing.T) {
	for _, same := range []bool{true, false} {
		t.Run(fmt.Sprintf("the same version: %t", same), func(t *testing.T) {
			w := newWorld(t)
			w.activate(t, 1, w.ann)
			var errs [4]error
			var all sync.WaitGroup
			for i := range errs {
				version := int64(2)
				if !same {
					version += int64(i)
				}
				raw := law(version, fmt.Sprintf("%d.00", 10+i))
				signatures := w.sign(t, version, raw, w.ann)
				r := w.another()
				all.Go(func() { _, errs[i] = r.Activate(t.Context(), w.tenant, actor, "req", raw, signatures) })
			}
			all.Wait()
			won, highest := 0, int64(0)
			for i, err := range errs {
				switch {
				case err == nil:
					won++
					highest = max(highest, map[bool]int64{true: 2, false: int64(2 + i)}[same])
				case !errors.Is(err, record.ErrConflict) && !fault.Is(err, fault.Conflict):
					t.Errorf("error = %v", err)
				}
			}
			if won == 0 || same && won > 1 {
				t.Errorf("%d won", won)
			}
			w.inForce(t, highest)
		})
	}
}

// negated is a number of 32 bytes taken from the group's order.
func negated(s []byte) []byte {
	order, _ := new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)
	return order.Sub(order, new(big.Int).SetBytes(s)).FillBytes(make([]byte, 32))
}
