package allowance_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// A promise counts for whole windows and at most one bucket longer, to the
// second. The bucket it lies in decides, not the promise's own age.
func TestWindowsAndTheirBorders(t *testing.T) {
	for _, window := range windows {
		length, width := policy.Windows[window], widths[window]
		begin := noon.Truncate(width) // of a bucket: all widths divide a day
		for _, c := range []struct {
			name    string
			at, now time.Time
			counted bool
		}{
			{"at once", begin, begin, true},
			{"the window is over, to the second", begin, begin.Add(length), true},
			{"first second of the bucket, the whole bucket inside", begin, begin.Add(length - time.Second), true},
			{"first second of the bucket, its last second inside", begin, begin.Add(length + width - time.Second), true},
			{"first second of the bucket, the bucket outside", begin, begin.Add(length + width), false},
			{"last second of the bucket, its last second inside", begin.Add(width - time.Second), begin.Add(length + width - time.Second), true},
			{"last second of the bucket, the bucket outside", begin.Add(width - time.Second), begin.Add(length + width), false},
			{"the next bucket stays", begin.Add(width), begin.Add(length + width), true},
			{"a clock ahead by a second", begin.Add(time.Second), begin, true},
			{"a clock ahead by a bucket", begin.Add(width), begin, true},
			{"a clock ahead by a window", begin.Add(length), begin, true},
		} {
			t.Run(fmt.Sprintf("%s/%s", window, c.name), func(t *testing.T) {
				who, s := subject(t, "agt_1", "cp_1"), shelf{}
				s.take(t, who, hold(t, "12.34", c.at), c.at)
				want := map[bool]string{true: "12.34", false: "0.00"}[c.counted]
				for _, per := range []policy.Per{policy.PerAgent, policy.PerCounterparty, policy.PerTenant} {
					equal(t, "sum of "+string(per), spent(allowance.Open(who, c.now, s), per, window), want)
				}
				equal(t, "this table and the other tests' rule", counts(window, c.at, c.now), c.counted)
			})
		}
	}
}

// What one subject promised is not another's: other agents, payees, tenants,
// classes and currencies count apart.
func TestSubjectsCountApart(t *testing.T) {
	who, s := subject(t, "agt_1", "cp_1"), shelf{}
	s.take(t, who, hold(t, "5.00", noon), noon)
	other := func(change func(*allowance.Subject)) allowance.Subject {
		o := who
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		subject                     allowance.Subject
		agent, counterparty, tenant string
	}{
		"the same":         {who, "5.00", "5.00", "5.00"},
		"another agent":    {other(func(o *allowance.Subject) { o.Agent = "agt_2" }), "0.00", "5.00", "5.00"},
		"another payee":    {other(func(o *allowance.Subject) { o.Counterparty = "cp_2" }), "5.00", "0.00", "5.00"},
		"no payee":         {other(func(o *allowance.Subject) { o.Counterparty = "" }), "5.00", "unknown", "5.00"},
		"no agent":         {other(func(o *allowance.Subject) { o.Agent = "" }), "unknown", "5.00", "5.00"},
		"another class":    {other(func(o *allowance.Subject) { o.Class = policy.InboundPayment }), "0.00", "0.00", "0.00"},
		"another tenant":   {other(func(o *allowance.Subject) { o.Tenant = newTenant(t) }), "0.00", "0.00", "0.00"},
		"a longer agent":   {other(func(o *allowance.Subject) { o.Agent = "agt_11" }), "0.00", "5.00", "5.00"},
		"names turned":     {other(func(o *allowance.Subject) { o.Agent, o.Counterparty = "cp_1", "agt_1" }), "0.00", "0.00", "5.00"},
		"an unknown class": {other(func(o *allowance.Subject) { o.Class = "gift" }), "0.00", "0.00", "0.00"},
	} {
		t.Run(name, func(t *testing.T) {
			book := allowance.Open(c.subject, noon, s)
			equal(t, "agent", spent(book, policy.PerAgent, policy.Day), c.agent)
			equal(t, "counterparty", spent(book, policy.PerCounterparty, policy.Day), c.counterparty)
			equal(t, "tenant", spent(book, policy.PerTenant, policy.Day), c.tenant)
		})
	}
	euros, known := allowance.Open(who, noon, s).Spend(policy.PerAgent, policy.Day, money.MustParse("EUR"))
	equal(t, "euros", fmt.Sprint(euros, known), "0.00 true")
	_, known = allowance.Open(who, noon, s).Spend(policy.PerAgent, "2h", money.MustParse("USD"))
	equal(t, "a window there is none of", known, false)
	n, known := allowance.Open(who, noon, s).Count(policy.PerTenant, policy.Hour)
	equal(t, "count", fmt.Sprint(n, known), "1 true")
}

// An action without money counts as one and as no sum.
func TestHoldWithoutMoney(t *testing.T) {
	who, s := subject(t, "agt_1", ""), shelf{}
	who.Class = policy.AgentAction
	h := allowance.NewHold(nil, noon)
	s.take(t, who, h, noon)
	book := allowance.Open(who, noon, s)
	n, _ := book.Count(policy.PerAgent, policy.Day)
	equal(t, "count", n, 1)
	equal(t, "sum", spent(book, policy.PerAgent, policy.Day), "0.00")
	s.release(t, who, h, noon)
	n, _ = allowance.Open(who, noon, s).Count(policy.PerAgent, policy.Day)
	equal(t, "count after the release", n, 0)
}

// A sum that no amount can hold is not known, which helps nobody who proposes.
func TestSumTooLarge(t *testing.T) {
	who, s := subject(t, "agt_1", "cp_1"), shelf{}
	most := strings.Repeat("9", 36) + ".99"
	s.take(t, who, hold(t, most, noon), noon)
	equal(t, "one", spent(allowance.Open(who, noon, s), policy.PerAgent, policy.Day), most)
	s.take(t, who, hold(t, "0.01", noon), noon)
	equal(t, "one cent more", spent(allowance.Open(who, noon, s), policy.PerAgent, policy.Day), "unknown")
}

// What is given back is gone from every window it was still counted in; buckets
// that left their window are not touched.
func TestRelease(t *testing.T) {
	for name, after := range map[string]time.Duration{
		"at once": 0, "in the hour": 30 * time.Minute, "after the hour": 2 * time.Hour, "after the day": 30 * time.Hour,
		"after the week": 9 * 24 * time.Hour, "after the thirty days": 40 * 24 * time.Hour, "by a clock behind": -time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			who, s := subject(t, "agt_1", "cp_1"), shelf{}
			stays, goes := hold(t, "1.00", noon), hold(t, "2.50", noon)
			s.take(t, who, stays, noon)
			s.take(t, who, goes, noon)
			later := noon.Add(after)
			moves := who.Moves()
			noError(t, moves.Release(goes, later))
			for _, add := range moves.Adds() {
				for counter, delta := range add.Deltas {
					if strings.HasPrefix(counter, "ever") {
						t.Errorf("%s is moved by %s: it only grows", counter, delta)
					}
				}
			}
			s.apply(moves.Adds())
			for _, window := range windows {
				want := "1.00"
				if !counts(window, noon, later) {
					want = "0.00"
				}
				equal(t, string(window), spent(allowance.Open(who, later, s), policy.PerTenant, window), want)
				// A bucket outside keeps what it had: it may be forgotten already, and a
				// counter below zero would make room.
				for _, item := range s {
					for counter, n := range item.Numbers {
						if n.Sign() < 0 {
							t.Errorf("%s = %s", counter, n)
						}
					}
				}
			}
		})
	}
}

func TestNothingToRelease(t *testing.T) {
	moves := subject(t, "agt_1", "cp_1").Moves()
	noError(t, moves.Release(allowance.Hold{}, noon))
	equal(t, "operations", len(moves.Adds()), 0)
	for _, broken := range []allowance.Hold{{At: "yesterday"}, {At: "2025-09-30T12:00:00Z", Currency: "XXX", Amount: "1"}, {At: "2025-09-30T12:00:00Z", Currency: "USD", Amount: "-1.00"}} {
		if moves.Release(broken, noon) == nil || moves.Take(allowance.Open(subject(t, "agt_1", ""), noon, nil), broken, policy.Verdict{}) == nil {
			t.Errorf("%+v can be counted", broken)
		}
	}
}

// A promise that moves from one holder to another in one change, as an
// authorization's does to its intent, is counted once before, after and in the
// book that decides; what nets to nothing is not written at all.
func TestMovedPromise(t *testing.T) {
	who, s := subject(t, "agt_1", "cp_1"), shelf{}
	old := hold(t, "10.00", noon)
	s.take(t, who, old, noon)
	later := noon.Add(time.Minute)
	book := allowance.Open(who, later, s, old)
	equal(t, "without it", spent(book, policy.PerAgent, policy.Hour), "0.00")
	n, _ := book.Count(policy.PerAgent, policy.Hour)
	equal(t, "count without it", n, 0)
	equal(t, "long after", spent(allowance.Open(who, later.Add(3*time.Hour), s, old), policy.PerAgent, policy.Hour), "0.00")

	moves := who.Moves()
	noError(t, moves.Release(old, later))
	noError(t, moves.Take(book, hold(t, "10.00", later), policy.Verdict{}))
	for _, add := range moves.Adds() {
		for counter := range add.Deltas {
			if !strings.HasPrefix(counter, "ever") {
				t.Errorf("%s is moved although it nets to nothing", counter)
			}
		}
	}
	s.apply(moves.Adds())
	for _, window := range windows {
		equal(t, string(window), spent(allowance.Open(who, later, s), policy.PerAgent, window), "10.00")
	}
}

// Counters of buckets that left their window are forgotten by later promises, a
// bounded number at a time, and never one that still counts.
func TestPruning(t *testing.T) {
	who, s := subject(t, "agt_1", "cp_1"), shelf{}
	for minute := 0; minute < 24*60; minute += 5 {
		at := noon.Add(time.Duration(minute) * time.Minute)
		s.take(t, who, hold(t, "1.00", at), at)
	}
	end := noon.Add(40 * 24 * time.Hour)
	for range 100 {
		moves := who.Moves()
		noError(t, moves.Take(allowance.Open(who, end, s), hold(t, "1.00", end), policy.Verdict{}))
		for _, add := range moves.Adds() {
			if len(add.Drop) > 60 {
				t.Fatalf("%d counters are forgotten at once", len(add.Drop))
			}
		}
		s.apply(moves.Adds())
	}
	for k, item := range s {
		// Two in each of the four buckets of now, two that only grow.
		equal(t, "counters left of "+k.PK, len(item.Numbers), 4*2+2)
	}
	equal(t, "the sum of now", spent(allowance.Open(who, end, s), policy.PerAgent, policy.ThirtyDay), "100.00")
}

// A bucket just outside may be inside for a clock that is behind: it stays.
func TestPruningLeavesAMargin(t *testing.T) {
	for _, window := range windows {
		who, s := subject(t, "agt_1", "cp_1"), shelf{}
		width := widths[window]
		at := noon.Truncate(width)
		s.take(t, who, hold(t, "1.00", at), at)
		for _, past := range []int{1, 2, 3} {
			now := at.Add(policy.Windows[window] + time.Duration(past)*width)
			book := allowance.Open(who, now, s)
			moves := who.Moves()
			noError(t, moves.Take(book, hold(t, "1.00", now), policy.Verdict{}))
			gone := false
			for _, add := range moves.Adds() {
				for _, name := range add.Drop {
					gone = gone || strings.HasPrefix(name, letters[window]+fmt.Sprint(at.Unix()/int64(width/time.Second))+".")
				}
			}
			equal(t, fmt.Sprintf("%s: forgotten %d buckets after", window, past), gone, past == 3)
		}
	}
}

// letters begin the names of each window's buckets. They are stored: another
// letter, or another width, forgets what was counted.
var letters = map[policy.Window]string{policy.Hour: "h", policy.Day: "d", policy.Week: "w", policy.ThirtyDay: "m"}

// The stored names, written out: what is in a table today must count tomorrow.
func TestStoredNames(t *testing.T) {
	who := subject(t, "agt_1", "cp_1")
	moves := who.Moves()
	noError(t, moves.Take(allowance.Open(who, noon, nil), hold(t, "7.00", noon), policy.Verdict{}))
	moves.Wait()
	adds := moves.Adds()
	equal(t, "items", len(adds), 3)
	unix := noon.Unix()
	want := map[string]string{"ever.out.n": "1", "ever.out.USD": "700", "open": "1"}
	for window, letter := range letters {
		name := letter + fmt.Sprint(unix/int64(widths[window]/time.Second))
		want[name+".out.n"], want[name+".out.USD"] = "1", "700"
	}
	for name, n := range want {
		equal(t, name, fmt.Sprint(adds[0].Deltas[name]), n)
	}
	equal(t, "counters of the agent", len(adds[0].Deltas), len(want))
	equal(t, "counters of the tenant", len(adds[2].Deltas), len(want)-1)
	equal(t, "most open", fmt.Sprint(adds[0].Most["open"]), "99")
}

// Each class has a name of its own in the counters.
func TestClassesHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for _, class := range []policy.Class{policy.OutboundPayment, policy.InboundPayment, policy.OnchainTx, policy.LedgerWrite, policy.AgentAction} {
		who := subject(t, "agt_1", "")
		who.Class = class
		moves := who.Moves()
		noError(t, moves.Take(allowance.Open(who, noon, nil), allowance.NewHold(nil, noon), policy.Verdict{}))
		for name := range moves.Adds()[0].Deltas {
			if strings.Contains(name, "..") || seen[name] {
				t.Errorf("%s: %s", class, name)
			}
			seen[name] = true
		}
	}
}

// What waits is counted for the agent alone.
func TestOpen(t *testing.T) {
	who, s := subject(t, "agt_1", "cp_1"), shelf{}
	for range 3 {
		moves := who.Moves()
		moves.Wait()
		equal(t, "items", len(moves.Adds()), 1)
		s.apply(moves.Adds())
	}
	moves := who.Moves()
	moves.Settle()
	s.apply(moves.Adds())
	equal(t, "open", allowance.Open(who, noon, s).Open(), 2)
	other := who
	other.Agent = "agt_2"
	equal(t, "another agent's", allowance.Open(other, noon, s).Open(), 0)
	k := key.Promises(who.Tenant, "agent", "agt_1")
	s[k] = record.Item{Key: k, Numbers: map[string]*big.Int{"open": big.NewInt(allowance.MaxOpen)}}
	full := who.Moves()
	full.Wait()
	equal(t, "one too many is counted", s.apply(full.Adds()), false)
}
