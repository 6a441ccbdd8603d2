package allowance

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Moves collects what one change does to the counters of a subject: one
// operation for each item, however many promises it takes and gives back.
type Moves struct {
	subject Subject
	adds    map[key.Key]*record.Add
}

// Moves starts a change of a subject's counters.
func (s Subject) Moves() *Moves { return &Moves{s, map[key.Key]*record.Add{}} }

// Adds are the operations, for the change's transaction.
func (m *Moves) Adds() []record.Add {
	var adds []record.Add
	for _, k := range m.subject.Keys() {
		if add := m.adds[k]; add != nil && len(add.Deltas) > 0 {
			// A counter is moved or forgotten, not both.
			add.Drop = slices.DeleteFunc(add.Drop, func(name string) bool { return add.Deltas[name] != nil })
			adds = append(adds, *add)
		}
	}
	return adds
}

func (m *Moves) add(k key.Key) *record.Add {
	if m.adds[k] == nil {
		m.adds[k] = &record.Add{Key: k, Deltas: map[string]*big.Int{}, Most: map[string]*big.Int{}}
	}
	return m.adds[k]
}

func (m *Moves) move(k key.Key, name string, delta *big.Int) {
	deltas := m.add(k).Deltas
	if deltas[name] == nil {
		deltas[name] = new(big.Int)
	}
	if deltas[name].Add(deltas[name], delta).Sign() == 0 {
		delete(deltas, name)
	}
}

// Take counts a promise. The verdict's headroom becomes the condition: the change
// fails with record.ErrConflict when others have used up the room since the book
// was read.
func (m *Moves) Take(b *Book, hold Hold, verdict policy.Verdict) error {
	at, minor, err := hold.parse()
	if err != nil {
		return err
	}
	for _, p := range per {
		k, counts := m.subject.key(p)
		if !counts {
			continue
		}
		m.count(k, hold, at, minor, big.NewInt(1), time.Time{})
		m.move(k, counter(ever, m.subject.Class, number), big.NewInt(1))
		if minor != nil {
			m.move(k, counter(ever, m.subject.Class, hold.Currency), minor)
		}
		add := m.add(k)
		add.Drop = append(add.Drop, b.outdated(k)...)
	}
	return m.guard(b, verdict)
}

// guard turns each headroom a decision rests on into a bound of the count that
// only grows.
func (m *Moves) guard(b *Book, verdict policy.Verdict) error {
	for _, room := range verdict.Headroom {
		k, counts := m.subject.key(room.Per)
		if !room.Within || !counts {
			continue
		}
		what, left := number, new(big.Int)
		if room.Currency == "" {
			if _, ok := left.SetString(room.Left, 10); !ok {
				return fmt.Errorf("headroom of rule %s: %q is no count", room.Rule, room.Left)
			}
		} else {
			currency, err := money.Parse(room.Currency)
			if err != nil {
				return fmt.Errorf("headroom of rule %s: %w", room.Rule, err)
			}
			amount, err := money.ParseSigned(room.Left, currency)
			if err != nil {
				return fmt.Errorf("headroom of rule %s: %w", room.Rule, err)
			}
			what, left = room.Currency, minorOf(amount)
		}
		name := counter(ever, m.subject.Class, what)
		if seen := b.items[k].Numbers[name]; seen != nil {
			left = new(big.Int).Add(left, seen)
		}
		most := m.add(k).Most
		if most[name] == nil || left.Cmp(most[name]) < 0 {
			most[name] = left
		}
	}
	return nil
}

// Release gives a promise back. A bucket that has left its window is left alone:
// it counts for nothing any more and may be forgotten already.
func (m *Moves) Release(hold Hold, now time.Time) error {
	at, minor, err := hold.parse()
	if err != nil || at.IsZero() {
		return err
	}
	for _, p := range per {
		if k, counts := m.subject.key(p); counts {
			m.count(k, hold, at, minor, big.NewInt(-1), now)
		}
	}
	return nil
}

// count moves the buckets a hold lies in, up or down. Buckets that have left
// their window at now are passed over; the zero time passes none over.
func (m *Moves) count(k key.Key, hold Hold, at time.Time, minor, sign *big.Int, now time.Time) {
	for _, s := range scales {
		if !now.IsZero() && s.index(at) < s.first(now) {
			continue
		}
		bucket := s.name(s.index(at))
		m.move(k, counter(bucket, m.subject.Class, number), sign)
		if minor != nil {
			m.move(k, counter(bucket, m.subject.Class, hold.Currency), new(big.Int).Mul(sign, minor))
		}
	}
}

// Wait counts one more proposal of the agent that waits for people, as long as
// there are fewer than MaxOpen.
func (m *Moves) Wait() {
	k, _ := m.subject.key(policy.PerAgent)
	m.move(k, open, big.NewInt(1))
	m.add(k).Most[open] = big.NewInt(MaxOpen - 1)
}

// Settle counts one fewer.
func (m *Moves) Settle() {
	k, _ := m.subject.key(policy.PerAgent)
	m.move(k, open, big.NewInt(-1))
}

// outdated are counters of an item whose bucket left its window a while ago. The
// while is for clocks that are behind: what they still count must stay.
func (b *Book) outdated(k key.Key) []string {
	var names []string
	for name := range b.items[k].Numbers {
		for _, s := range scales {
			bucket, rest, _ := strings.Cut(name, ".")
			if index, ours := s.parse(bucket+"."+rest, "."+rest); ours && index < s.first(b.now)-2 {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxDrops)]
}
