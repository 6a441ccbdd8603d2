package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/record"
)

func TestRenamed(t *testing.T) {
	b := newBook(t)
	row := named([]string{"Northwind", "NW Traders"})[0].(*ledger.Counterparty)
	b.write(t, ledger.Written{New: 1}, row)
	b.finds(t, "wind", "", "cp_00")
	b.finds(t, "traders", "", "cp_00")
	row.Name, row.Aliases = "Southwind", nil
	b.write(t, ledger.Written{Changed: 1}, row)
	b.finds(t, "wind", "", "cp_00")
	b.finds(t, "south", "", "cp_00")
	for _, gone := range []string{"north", "traders", "nw"} {
		b.finds(t, gone, "", "")
	}
	equal(t, "suffixes", strings.Join(b.marks(t, "cp_00"), " "), "d hwind ind nd outhwind southwind thwind uthwind wind")
	row.Name = "Banana" // a part that another begins with is found by that one
	b.write(t, ledger.Written{Changed: 1}, row)
	equal(t, "suffixes", strings.Join(b.marks(t, "cp_00"), " "), "anana banana nana")
	b.finds(t, "ana", "", "cp_00")
	row.Aliases = []string{"Plantain Ltd"}
	b.write(t, ledger.Written{Changed: 1}, row)
	b.finds(t, "plantain", "", "cp_00")
	row.Aliases = nil // nothing is left of an alias that is removed
	b.write(t, ledger.Written{Changed: 1}, row)
	equal(t, "suffixes", strings.Join(b.marks(t, "cp_00"), " "), "anana banana nana")
	b.finds(t, "plantain", "", "")
	b.finds(t, "ltd", "", "")
	// Whatever changes, every mark is written with the row: the row, its three
	// marks, the revision and the event. What says the same as before writes nothing.
	row.RiskLevel = "high"
	b.store.most = 0
	b.write(t, ledger.Written{Changed: 1}, row)
	equal(t, "operations", b.store.most, 6)
	b.store.commits = 0
	b.write(t, ledger.Written{Same: 1}, row)
	equal(t, "commits", b.store.commits, 0)
}

// A search shows the row as it is stored, by whichever part it is found, after
// every kind of change.
func TestSearchShowsTheRowAsItIs(t *testing.T) {
	b := newBook(t)
	rows := named([]string{"Banana & Söhne <b>", "BB", "Ananas"}, []string{"Bandana"})
	row := rows[0].(*ledger.Counterparty)
	b.write(t, ledger.Written{New: 2}, rows...)
	for _, c := range []struct {
		what   string
		change func()
	}{
		{"risk", func() { row.RiskLevel = "sanctioned" }},
		{"verified", func() { row.VerifiedStatus = "document_verified" }},
		{"type", func() { row.Type = "bank" }},
		{"accounts", func() { row.LinkedAccounts = []string{"acct_1"} }},
		{"details", func() { row.DetailsChangedAt = ptr("2025-09-30T12:00:00.000Z") }},
		{"aliases", func() { row.Aliases = []string{"anan", "zzz banana"} }},
		{"name", func() { row.Name = "Banana <i>" }},
		{"case", func() { row.Name = strings.ToUpper(row.Name) }},
		{"nothing", func() {}},
	} {
		b.now = b.now.Add(time.Second)
		c.change()
		_, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", row)
		noError(t, err)
		want, err := b.reader.Row(t.Context(), b.tenant, id.Counterparty, row.ID)
		noError(t, err)
		for _, suffix := range append(b.marks(t, row.ID), "an", "b") {
			for _, kind := range []string{"", row.Type} {
				page, err := b.searching(t, suffix, kind)(listing.Window{Limit: 10, Budget: plenty})
				noError(t, err)
				if n := count(page.Rows, want); n != 1 {
					t.Errorf("after a change of %s: %q of type %q finds the row %d times in %s", c.what, suffix, kind, n, page.Rows)
				}
			}
		}
	}
	row.Type = "wallet"
	b.write(t, ledger.Written{Changed: 1}, row)
	b.finds(t, "anan", "wallet", "cp_00")
	b.finds(t, "anan", "bank", "")
}

// count is how many of the rows are this one, byte for byte.
func count(rows []json.RawMessage, want json.RawMessage) int {
	n := 0
	for _, row := range rows {
		if bytes.Equal(row, want) {
			n++
		}
	}
	return n
}

// While a counterparty changes, its names too, a search finds it once each time,
// and never as it was before a change that was made when the search began.
func TestSearchBesideChanges(t *testing.T) {
	b := newBook(t)
	const rounds = 40
	row := named([]string{"Banana"})[0].(*ledger.Counterparty)
	b.write(t, ledger.Written{New: 1}, row)
	var made atomic.Int32 // the last round whose change was acknowledged
	done := make(chan error, 1)
	go func() {
		for round := range rounds {
			row.Aliases = []string{fmt.Sprintf("a%d an ann", round), "Anna"}[round%2:]
			row.OnchainAddress = ptr(fmt.Sprint(round + 1))
			if _, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", row); err != nil {
				done <- err
				return
			}
			made.Store(int32(round + 1))
		}
		done <- nil
	}()
	reader := &ledger.Reader{Store: b.store, Now: time.Now}
	for searches, left := 0, true; left; searches++ {
		select {
		case err := <-done:
			noError(t, err)
			left = false
		default:
		}
		least := int(made.Load())
		page, err := reader.Counterparties(t.Context(), b.tenant, "an", "", listing.Window{Limit: 10, Budget: plenty})
		noError(t, err)
		if len(page.Rows) != 1 {
			t.Fatalf("search %d finds it %d times: %s", searches, len(page.Rows), page.Rows)
		}
		var c ledger.Counterparty
		noError(t, json.Unmarshal(page.Rows[0], &c))
		if got, err := strconv.Atoi(value(c.OnchainAddress)); err != nil && least > 0 || got < least {
			t.Fatalf("search %d shows round %d, made was %d (%v)", searches, got, least, err)
		}
	}
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// Writers that name one counterparty at once leave the marks of the last name
// and no other, and each holds the row that is stored.
func TestMarksOfManyWriters(t *testing.T) {
	b := newBook(t)
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			random := rand.New(rand.NewSource(int64(w)))
			for range 8 {
				row := named([]string{fmt.Sprintf("Banana %d", random.Intn(50)), fmt.Sprintf("anna %d", random.Intn(50))})[0]
				for tries := 0; ; tries++ {
					_, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", row)
					if errors.Is(err, record.ErrConflict) && tries < 100 {
						continue
					}
					if err != nil {
						t.Error(err)
					}
					break
				}
			}
		})
	}
	all.Wait()
	want, err := b.reader.Row(t.Context(), b.tenant, id.Counterparty, "cp_00")
	noError(t, err)
	marks := b.marks(t, "cp_00")
	for _, suffix := range marks {
		page, err := b.searching(t, suffix, "")(listing.Window{Limit: 10, Budget: plenty})
		noError(t, err)
		equal(t, fmt.Sprintf("stored rows found by %q", suffix), count(page.Rows, want), len(page.Rows))
		equal(t, fmt.Sprintf("rows found by %q", suffix), len(page.Rows), 1)
	}
	alone := newBook(t)
	var last ledger.Counterparty
	noError(t, json.Unmarshal(want, &last))
	alone.write(t, ledger.Written{New: 1}, &last)
	sameIDs(t, "marks", marks, alone.marks(t, "cp_00"))
}

// changing is a store in which something happens after the first query.
type changing struct {
	record.Store
	then func()
}

func (c *changing) Query(ctx context.Context, q record.Query) (record.Page, error) {
	page, err := c.Store.Query(ctx, q)
	if then := c.then; then != nil {
		c.then = nil
		then()
	}
	return page, err
}

// A call that reads on after a counterparty got a later name shows it once.
func TestRenamedBetweenTwoReads(t *testing.T) {
	b := newBook(t)
	var names [][]string
	for i := range 150 {
		names = append(names, []string{fmt.Sprintf("bank%03d", i)})
	}
	rows := named(names...)
	b.write(t, ledger.Written{New: len(rows)}, rows...)
	row := rows[0].(*ledger.Counterparty)
	store := &changing{Store: b.store, then: func() {
		row.Name = "bankzzz"
		b.write(t, ledger.Written{Changed: 1}, row)
	}}
	reader := &ledger.Reader{Store: store, Now: time.Now}
	page, err := reader.Counterparties(t.Context(), b.tenant, "bank", "vendor", listing.Window{Limit: 500, Budget: plenty})
	noError(t, err)
	equal(t, "it was renamed", store.then == nil, true)
	equal(t, "rows", len(page.Rows), len(rows))
}
