package allowance_test

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// read opens the book of a subject as the table has it.
func read(t testing.TB, who allowance.Subject, without ...allowance.Hold) *allowance.Book {
	t.Helper()
	items, err := database.GetMany(t.Context(), who.Keys())
	noError(t, err)
	return allowance.Open(who, noon, items, without...)
}

// within is the verdict of a cap on what an agent spends in a day, given what was
// promised before and what is proposed; false when it is over.
func within(t testing.TB, book *allowance.Book, per policy.Per, limit, proposed string) (policy.Verdict, bool) {
	t.Helper()
	before, known := book.Spend(per, policy.Day, money.MustParse("USD"))
	if !known {
		t.Fatal("the sum is not known")
	}
	sum, err := before.Add(usd(t, proposed))
	noError(t, err)
	left, err := usd(t, limit).Sub(sum)
	noError(t, err)
	return policy.Verdict{Headroom: []policy.Headroom{{
		Rule: "cap", Window: policy.Day, Per: per, Limit: limit, Left: left.String(), Currency: "USD", Within: left.Sign() >= 0,
	}}}, left.Sign() >= 0
}

// take promises an amount in the table as it was judged by a book.
func take(t testing.TB, who allowance.Subject, book *allowance.Book, amount string, verdict policy.Verdict) error {
	moves := who.Moves()
	noError(t, moves.Take(book, hold(t, amount, noon), verdict))
	return database.Commit(t.Context(), record.Change{Adds: moves.Adds()})
}

// Two who read the same book and both fit alone: as much passes as fits together.
func TestTwoWriters(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second string
		conflict      bool
	}{
		{"together exactly the cap", "60.00", "40.00", false},
		{"together a cent over", "60.00", "40.01", true},
		{"each the whole cap", "100.00", "100.00", true},
		{"the first took all", "100.00", "0.01", true},
		{"far below", "1.00", "1.00", false},
	} {
		for _, per := range []policy.Per{policy.PerAgent, policy.PerCounterparty, policy.PerTenant} {
			t.Run(c.name+"/"+string(per), func(t *testing.T) {
				who := subject(t, "agt_1", "cp_1")
				book := read(t, who)
				first, _ := within(t, book, per, "100.00", c.first)
				second, _ := within(t, book, per, "100.00", c.second)
				noError(t, take(t, who, book, c.first, first))
				err := take(t, who, book, c.second, second)
				if !c.conflict {
					noError(t, err)
					return
				}
				conflicts(t, err)
				equal(t, "the sum after the refusal", spent(read(t, who), per, policy.Day), c.first)
			})
		}
	}
}

// What came before is not in the way, and what was given back in between does not
// help: the count that only grows is compared, so the second reads again.
func TestGuardAfterOthers(t *testing.T) {
	who := subject(t, "agt_1", "cp_1")
	noError(t, take(t, who, read(t, who), "30.00", policy.Verdict{}))
	book := read(t, who)
	verdict, _ := within(t, book, policy.PerAgent, "100.00", "50.00") // leaves 20
	noError(t, take(t, who, read(t, who), "20.00", policy.Verdict{})) // somebody uses them up
	moves := who.Moves()
	noError(t, moves.Release(hold(t, "20.00", noon), noon))
	noError(t, database.Commit(t.Context(), record.Change{Adds: moves.Adds()}))
	noError(t, take(t, who, book, "50.00", verdict))
	equal(t, "sum", spent(read(t, who), policy.PerAgent, policy.Day), "80.00")

	book = read(t, who)
	verdict, _ = within(t, book, policy.PerAgent, "100.00", "20.00") // leaves nothing
	noError(t, take(t, who, read(t, who), "0.01", policy.Verdict{}))
	moves = who.Moves()
	noError(t, moves.Release(hold(t, "0.01", noon), noon))
	noError(t, database.Commit(t.Context(), record.Change{Adds: moves.Adds()}))
	conflicts(t, take(t, who, book, "20.00", verdict))
}

// Of several caps on one count the narrowest binds; one that is exceeded binds
// nothing, because the decision does not rest on its room.
func TestNarrowestCapBinds(t *testing.T) {
	who := subject(t, "agt_1", "cp_1")
	room := func(window policy.Window, left string, within bool) policy.Headroom {
		return policy.Headroom{Rule: "r", Window: window, Per: policy.PerAgent, Left: left, Currency: "USD", Within: within}
	}
	for _, c := range []struct {
		name     string
		headroom []policy.Headroom
		want     string
	}{
		{"one", []policy.Headroom{room(policy.Day, "5.00", true)}, "500"},
		{"the first is narrower", []policy.Headroom{room(policy.Day, "5.00", true), room(policy.Week, "6.00", true)}, "500"},
		{"the second is narrower", []policy.Headroom{room(policy.Week, "6.00", true), room(policy.Day, "5.00", true)}, "500"},
		{"exceeded", []policy.Headroom{room(policy.Day, "-5.00", false)}, "<nil>"},
		{"exceeded beside one that holds", []policy.Headroom{room(policy.Day, "-5.00", false), room(policy.Week, "6.00", true)}, "600"},
		{"nothing left", []policy.Headroom{room(policy.Day, "0.00", true)}, "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			moves := who.Moves()
			noError(t, moves.Take(allowance.Open(who, noon, nil), hold(t, "1.00", noon), policy.Verdict{Headroom: c.headroom}))
			equal(t, "most", fmt.Sprint(moves.Adds()[0].Most["ever.out.USD"]), c.want)
		})
	}
	for _, left := range []string{"", "five", "1e3", "1.001"} {
		for _, currency := range []string{"USD", "", "XXX"} {
			bad := policy.Headroom{Rule: "r", Per: policy.PerAgent, Left: left, Currency: currency, Within: true}
			if err := who.Moves().Take(allowance.Open(who, noon, nil), hold(t, "1.00", noon), policy.Verdict{Headroom: []policy.Headroom{bad}}); err == nil {
				t.Errorf("headroom %q in %q bounds nothing, and nobody says so", left, currency)
			}
		}
	}
}

// Many writers against a cap on money and one on their number: all that fits
// passes, and not a cent or a proposal more.
func TestManyWriters(t *testing.T) {
	tenant := newTenant(t)
	var passed [6]int
	var all sync.WaitGroup
	for i := range passed {
		all.Go(func() { passed[i] = writeAll(t, tenant, i) })
	}
	all.Wait()
	total := 0
	for _, n := range passed {
		total += n
	}
	// 60 tries of 7 dollars: the money is for 28, the number of proposals for 25.
	equal(t, "passed", total, 25)
	book := read(t, allowance.Subject{Tenant: tenant, Agent: "agt_0", Counterparty: "cp_1", Class: policy.OutboundPayment})
	equal(t, "sum", spent(book, policy.PerTenant, policy.Day), "175.00")
	n, _ := book.Count(policy.PerTenant, policy.Day)
	equal(t, "count", n, 25)
}

// writeAll makes ten proposals of one of two agents, each until it is decided.
func writeAll(t testing.TB, tenant identity.Tenant, i int) (passed int) {
	who := allowance.Subject{Tenant: tenant, Agent: fmt.Sprintf("agt_%d", i%2), Counterparty: "cp_1", Class: policy.OutboundPayment}
	for range 10 {
		for try := 0; ; try++ {
			if try == 200 {
				t.Error("200 conflicts in a row: nothing passes")
				return passed
			}
			book := read(t, who)
			verdict, fits := within(t, book, policy.PerTenant, "200.00", "7.00")
			n, _ := book.Count(policy.PerTenant, policy.Day)
			if !fits || n+1 > 25 {
				break
			}
			verdict.Headroom = append(verdict.Headroom, policy.Headroom{
				Rule: "number", Window: policy.Day, Per: policy.PerTenant, Left: strconv.FormatInt(25-n-1, 10), Within: true,
			})
			err := take(t, who, book, "7.00", verdict)
			if err == nil {
				passed++
				break
			}
			if !errors.Is(err, record.ErrConflict) {
				t.Error(err)
				return passed
			}
		}
	}
	return passed
}

// The hundredth that waits fits and the next does not, also when many come at
// once; one that is settled makes room for one.
func TestMostOpen(t *testing.T) {
	who := subject(t, "agt_1", "cp_1")
	wait := func() error {
		moves := who.Moves()
		moves.Wait()
		return database.Commit(t.Context(), record.Change{Adds: moves.Adds()})
	}
	start := who.Moves()
	start.Wait()
	adds := start.Adds()
	adds[0].Deltas["open"], adds[0].Most = big.NewInt(allowance.MaxOpen-3), nil
	noError(t, database.Commit(t.Context(), record.Change{Adds: adds}))
	var errs [8]error
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = wait() })
	}
	all.Wait()
	passed := 0
	for _, err := range errs {
		if err == nil {
			passed++
			continue
		}
		conflicts(t, err)
	}
	equal(t, "passed", passed, 3)
	moves := who.Moves()
	moves.Settle()
	noError(t, database.Commit(t.Context(), record.Change{Adds: moves.Adds()}))
	noError(t, wait())
	conflicts(t, wait())
	equal(t, "open", read(t, who).Open(), allowance.MaxOpen)
}

// What the table does with a bound, a sum and what is forgotten in one write.
func TestTakeInTheTable(t *testing.T) {
	who := subject(t, "agt_1", "cp_1")
	old := noon.AddDate(0, 0, -40)
	moves := who.Moves()
	noError(t, moves.Take(allowance.Open(who, old, nil), hold(t, "9.00", old), policy.Verdict{}))
	noError(t, database.Commit(t.Context(), record.Change{Adds: moves.Adds()}))
	book := read(t, who)
	verdict, _ := within(t, book, policy.PerTenant, "100.00", "1.00")
	noError(t, take(t, who, book, "1.00", verdict))
	items, err := database.GetMany(t.Context(), who.Keys())
	noError(t, err)
	equal(t, "items", len(items), 3)
	for k, item := range items {
		equal(t, "counters of "+k.PK, len(item.Numbers), 4*2+2)
		equal(t, "ever of "+k.PK, item.Numbers["ever.out.USD"].String(), "1000")
	}
	equal(t, "sum", spent(read(t, who), policy.PerAgent, policy.ThirtyDay), "1.00")
}
