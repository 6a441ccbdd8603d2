package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// enter enters rows and wants so many new, changed and same.
func (b *book) enter(t *testing.T, want ledger.Written, rows ...ledger.Row) {
	t.Helper()
	seen, err := b.writer.Look(t.Context(), b.tenant, rows...)
	noError(t, err)
	got, err := b.writer.Enter(t.Context(), b.tenant, actor, "req-1", seen, rows...)
	noError(t, err)
	equal(t, "entered", got, want)
}

// What is there stays as it is, whatever a row says that is entered.
func TestEnterLeavesWhatIsThere(t *testing.T) {
	b := newBook(t)
	b.enter(t, ledger.Written{New: 2}, account(), counterparty())
	other := account()
	other.Name = "Renamed"
	commits := b.store.commits
	b.enter(t, ledger.Written{Same: 2}, other, counterparty())
	equal(t, "commits of nothing new", b.store.commits, commits)
	var got ledger.Account
	b.row(t, id.Account, "acct_8231", &got)
	equal(t, "name", got.Name, "Operating")
}

// Which stored rows give way.
func TestEnterReplaces(t *testing.T) {
	row := func(status, provenance string, confidence float64) *ledger.Transaction {
		x := transaction()
		x.Status, x.Provenance, x.Confidence = status, provenance, confidence
		return x
	}
	for name, c := range map[string]struct {
		was, is *ledger.Transaction
		changes bool
	}{
		"booked now":                      {row("pending", "extracted", 1), row("posted", "extracted", 1), true},
		"pending again":                   {row("posted", "extracted", 1), row("pending", "extracted", 1), false},
		"an agent's, extracted now":       {row("posted", "agent_contributed", 0.5), row("posted", "extracted", 1), true},
		"extracted, an agent's now":       {row("posted", "extracted", 1), row("posted", "agent_contributed", 0.5), false},
		"pending, booked by an agent":     {row("pending", "extracted", 1), row("posted", "agent_contributed", 0.5), false},
		"an agent's that is booked now":   {row("pending", "agent_contributed", 0.5), row("posted", "agent_contributed", 0.5), true},
		"an agent's, by another's word":   {row("posted", "agent_contributed", 0.5), row("posted", "customer_asserted", 0.5), false},
		"somebody's, extracted once more": {row("posted", "human_confirmed", 1), row("posted", "extracted", 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			c.was.ReconciliationStatus = "matched"
			b.enter(t, ledger.Written{New: 1}, c.was)
			c.is.Category, c.is.ReconciliationStatus = nil, "unreconciled"
			want := ledger.Written{Same: 1}
			if c.changes {
				want = ledger.Written{Changed: 1}
			}
			b.enter(t, want, c.is)
			var got ledger.Transaction
			b.row(t, id.Transaction, c.was.ID, &got)
			if *got.Category != *transaction().Category || got.ReconciliationStatus != "matched" {
				t.Errorf("what people made of it is lost: %+v", got)
			}
		})
	}
}

// Rows that were read long ago are looked at again where somebody wrote since.
func TestEnterAfterOthers(t *testing.T) {
	b := newBook(t)
	rows := many(120)
	seen, err := b.writer.Look(t.Context(), b.tenant, rows...)
	noError(t, err)
	b.write(t, ledger.Written{New: 10}, rows[40:50]...)
	got, err := b.writer.Enter(t.Context(), b.tenant, actor, "req-1", seen, rows...)
	noError(t, err)
	equal(t, "entered", got, ledger.Written{New: 110, Same: 10})
	b.enter(t, ledger.Written{Same: 120}, many(120)...)
}

// The same rows entered at one time are there once, with their rollups.
func TestEnterAtOnce(t *testing.T) {
	b := newBook(t)
	var group errgroup.Group
	for range 4 {
		group.Go(func() error {
			rows := many(60)
			seen, err := b.writer.Look(t.Context(), b.tenant, rows...)
			if err == nil {
				_, err = b.writer.Enter(t.Context(), b.tenant, actor, "req-1", seen, rows...)
			}
			return err
		})
	}
	noError(t, group.Wait())
	told := map[string]int{}
	for _, name := range b.bus.told(t) {
		told[name]++
	}
	equal(t, "rows told of", len(told), 60)
	for name, n := range told {
		equal(t, "events of "+name, n, 1)
	}
}

func TestEnterRefuses(t *testing.T) {
	b := newBook(t)
	bad := account()
	bad.Currency = "EUX"
	_, err := b.writer.Enter(t.Context(), b.tenant, actor, "req-1", ledger.Seen{}, counterparty(), bad)
	fails(t, err, fault.InvalidArgument)
	_, err = b.writer.Enter(t.Context(), b.tenant, actor, "req-1", ledger.Seen{}, account(), account())
	fails(t, err, fault.InvalidArgument)
	equal(t, "commits", b.store.commits, 0)
	equal(t, "checked alone", ledger.Check(bad) != nil, true)
}

// A balance becomes the account's own unless a later one is known.
func TestRenew(t *testing.T) {
	day := func(d int) string {
		return time.Date(2026, time.January, d, 23, 59, 59, 999e6, time.UTC).Format("2006-01-02T15:04:05.000Z")
	}
	trusted, untrusted := ledger.Meta{Provenance: "extracted"}, ledger.Meta{Provenance: "agent_contributed"}
	b := newBook(t)
	b.write(t, ledger.Written{New: 1}, account())
	for i, c := range []struct {
		by           ledger.Meta
		day          int
		amount, then string
	}{
		{trusted, 10, "10.00", "10.00"}, {trusted, 9, "9.00", "10.00"}, {trusted, 10, "11.00", "11.00"}, {untrusted, 12, "99.00", "11.00"}, {trusted, 12, "-12.00", "-12.00"},
	} {
		_, err := b.writer.Renew(t.Context(), b.tenant, actor, "req-1", c.by, &ledger.Balance{AccountID: "acct_8231", AsOf: day(c.day), Current: c.amount, Currency: "USD"})
		noError(t, err)
		var got ledger.Account
		b.row(t, id.Account, "acct_8231", &got)
		equal(t, fmt.Sprintf("balance after %d", i), *got.CurrentBalance, c.then)
	}
	for _, wrong := range []*ledger.Balance{
		{AccountID: "acct_none", AsOf: day(1), Current: "1.00", Currency: "USD"}, {AccountID: "acct_8231", AsOf: day(1), Current: "1.00", Currency: "EUR"},
	} {
		if _, err := b.writer.Renew(t.Context(), b.tenant, actor, "req-1", trusted, wrong); err == nil {
			t.Errorf("no error for %+v", wrong)
		}
	}
}

// Who is called so, by name or alias, and who only sounds like it.
func TestNamed(t *testing.T) {
	b := newBook(t)
	of := func(name, called string, aliases ...string) ledger.Row {
		c := counterparty()
		c.ID, c.Name, c.Aliases = name, called, aliases
		return c
	}
	b.write(t, ledger.Written{New: 4}, of("cp_1", "Acme GmbH"), of("cp_2", "Acme GmbH Holding", "ACME"), of("cp_3", "The Acme"), of("cp_4", "Müller & Söhne, a name that goes on for more than a mark holds", "M"))
	for called, want := range map[string]string{
		"acme gmbh": "cp_1", "ACME   GMBH": "cp_1", "acme": "cp_2", "Acme Gmb": "", "gmbh": "", "Holding": "", "the acme": "cp_3", "m": "cp_4", "": "",
		"MULLER & SOHNE, a name that goes on for more than a mark holds": "cp_4", "Müller & Söhne, a name that goes on for more than a mark": "",
	} {
		got, err := b.reader.Named(t.Context(), b.tenant, called)
		noError(t, err)
		equal(t, called, got, want)
	}
}
