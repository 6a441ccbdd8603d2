package ledger_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// watched is a store that counts what is read of it. Where short is set, a page
// holds no more items than that, as one of large items would.
type watched struct {
	record.Store
	queries, items, batches, short int
}

func (w *watched) Query(ctx context.Context, q record.Query) (record.Page, error) {
	if w.short > 0 {
		q.Limit = min(q.Limit, w.short)
	}
	page, err := w.Store.Query(ctx, q)
	w.queries, w.items = w.queries+1, w.items+len(page.Items)
	return page, err
}

func (w *watched) GetMany(ctx context.Context, keys []key.Key) (map[key.Key]record.Item, error) {
	w.batches++
	return w.Store.GetMany(ctx, keys)
}

// watch counts the reads of a book from here on.
func (b *book) watch() *watched {
	w := &watched{Store: b.store}
	b.reader = &ledger.Reader{Store: w, Now: func() time.Time { return b.now }}
	return w
}

const (
	plenty  = 1 << 20 // a byte budget that is never used up
	examine = 1000    // most rows a call looks at
)

// lists is one list of a book, to be paged through.
type lists func(w listing.Window) (listing.Page, error)

// follow pages through a list and returns the ids it meets, in order, and how
// many calls that took. Each page keeps to its bounds, and each call to its
// share of the table.
func (b *book) follow(t *testing.T, list lists, limit, budget int) (ids []string, calls int) {
	t.Helper()
	for w := (listing.Window{Limit: limit, Budget: budget}); ; {
		seen := b.watch()
		page, err := list(w)
		noError(t, err)
		bytes := 0
		for _, row := range page.Rows {
			var named struct{ ID string }
			noError(t, json.Unmarshal(row, &named))
			ids, bytes = append(ids, named.ID), bytes+len(row)
		}
		if calls++; len(page.Rows) > limit || bytes > budget && len(page.Rows) > 1 || seen.items > examine {
			t.Fatalf("call %d: %d rows of %d, %d bytes of %d, %d items read", calls, len(page.Rows), limit, bytes, budget, seen.items)
		}
		if page.Next == "" {
			equal(t, "cut at the end", page.Cut, false)
			return ids, calls
		}
		if page.Next == w.After || calls > 5000 {
			t.Fatalf("call %d: paging does not end at %q", calls, page.Next)
		}
		w.After = page.Next
	}
}

func sameIDs(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %d rows, want %d\n%.200s\n%.200s", what, len(got), len(want), fmt.Sprint(got), fmt.Sprint(want))
	}
}

// crowd is what busy makes once.
var crowd struct {
	sync.Once
	book *book
	rows []*ledger.Transaction
}

// busy is a book of 1,300 transactions, in the order of their list: 1,000 of
// them in one account, 299 in a second, one in a third.
func busy(t *testing.T) (*book, []*ledger.Transaction) {
	t.Helper()
	crowd.Do(func() {
		crowd.book, crowd.rows = newBook(t), someTransactions()
		var rows []ledger.Row
		for _, x := range crowd.rows {
			rows = append(rows, x)
		}
		crowd.book.write(t, ledger.Written{New: len(rows)}, rows...)
	})
	return crowd.book, crowd.rows
}

func someTransactions() []*ledger.Transaction {
	random := rand.New(rand.NewSource(7))
	var all []*ledger.Transaction
	for i := range 1300 {
		x := transaction()
		x.ID, x.AccountID, x.Allocations, x.Category = fmt.Sprintf("tx_%04d", random.Intn(9)*1300+i), "acct_most", nil, nil
		if i >= 1000 {
			x.AccountID = "acct_some"
		}
		if i == 1299 {
			x.AccountID = "acct_one"
		}
		x.TransactionDate = noon.AddDate(0, 0, -random.Intn(20)).Format(time.DateOnly)
		x.CounterpartyID = []*string{nil, ptr("cp_a"), ptr("cp_b")}[random.Intn(3)]
		x.Direction = ledger.Directions[random.Intn(4)]
		x.Status = ledger.TransactionStatuses[random.Intn(5)] // none is disputed
		all = append(all, x)
	}
	slices.SortFunc(all, func(x, y *ledger.Transaction) int {
		return -cmp.Or(cmp.Compare(x.TransactionDate, y.TransactionDate), cmp.Compare(x.ID, y.ID))
	})
	return all
}

func (b *book) transactions(t *testing.T, f ledger.TransactionFilter) lists {
	return func(w listing.Window) (listing.Page, error) {
		return b.reader.Transactions(t.Context(), b.tenant, f, w)
	}
}

// wanted are the ids of the transactions a filter names, found the plain way.
func wanted(all []*ledger.Transaction, f ledger.TransactionFilter) []string {
	var ids []string
	for _, x := range all {
		party := ""
		if x.CounterpartyID != nil {
			party = *x.CounterpartyID
		}
		if (f.AccountID == "" || x.AccountID == f.AccountID) && (f.CounterpartyID == "" || party == f.CounterpartyID) &&
			(f.Direction == "" || x.Direction == f.Direction) && (f.Status == "" || x.Status == f.Status) &&
			(f.Since == "" || x.TransactionDate >= f.Since) && (f.Until == "" || x.TransactionDate < f.Until) {
			ids = append(ids, x.ID)
		}
	}
	return ids
}

// Whatever is asked for, and however the pages fall, following the cursors
// visits each row once, in order, and ends.
func TestEachRowOnce(t *testing.T) {
	b, all := busy(t)
	const seed = 20250930
	random := rand.New(rand.NewSource(seed))
	pick := func(of ...string) string { return append(of, "", "")[random.Intn(len(of)+2)] }
	day := func() string { return noon.AddDate(0, 0, -random.Intn(22)).Format(time.DateOnly) }
	for i := range 50 {
		f := ledger.TransactionFilter{
			AccountID: pick("acct_most", "acct_some", "acct_one", "acct_none"), CounterpartyID: pick("cp_a", "cp_b", "cp_none"),
			Direction: pick(ledger.Directions...), Status: pick("posted", "pending", "disputed"), Since: pick(day()), Until: pick(day()),
		}
		limit, budget := []int{31, 97, 100, 200, 201, 1000}[random.Intn(6)], []int{plenty, 60_000, 20_000}[random.Intn(3)]
		got, _ := b.follow(t, b.transactions(t, f), limit, budget)
		sameIDs(t, fmt.Sprintf("seed %d, filter %d %+v by %d", seed, i, f, limit), got, wanted(all, f))
	}
}

// A call costs what its page holds, not what the tenant has.
func TestCostOfACall(t *testing.T) {
	b, _ := busy(t)
	for name, c := range map[string]struct {
		filter         ledger.TransactionFilter
		limit, budget  int
		queries, items int
		rows           int
		more           bool
	}{
		"a page":                     {ledger.TransactionFilter{}, 10, plenty, 1, 11, 10, true},
		"the usual page":             {ledger.TransactionFilter{}, 100, plenty, 1, 101, 100, true},
		"of an account":              {ledger.TransactionFilter{AccountID: "acct_most"}, 10, plenty, 1, 11, 10, true},
		"of a counterparty":          {ledger.TransactionFilter{CounterpartyID: "cp_a"}, 10, plenty, 1, 11, 10, true},
		"of an account with one":     {ledger.TransactionFilter{AccountID: "acct_one"}, 10, plenty, 1, 1, 1, false},
		"the last page, full":        {ledger.TransactionFilter{AccountID: "acct_some"}, 299, plenty, 2, 299, 299, false},
		"cut by its bytes":           {ledger.TransactionFilter{}, 1000, 5_000, 1, 200, 8, true},
		"no row, looked for":         {ledger.TransactionFilter{Status: "disputed"}, 10, plenty, 5, 1000, 0, true},
		"no row among just so many":  {ledger.TransactionFilter{AccountID: "acct_most", Status: "disputed"}, 10, plenty, 5, 1000, 0, true},
		"no row among few":           {ledger.TransactionFilter{AccountID: "acct_some", Status: "disputed"}, 10, plenty, 2, 299, 0, false},
		"found soon, looked no more": {ledger.TransactionFilter{Status: "posted"}, 10, plenty, 1, 200, 10, true},
		"ends before it begins":      {ledger.TransactionFilter{Since: "2025-09-20", Until: "2025-09-20"}, 10, plenty, 1, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			seen := b.watch()
			page, err := b.transactions(t, c.filter)(listing.Window{Limit: c.limit, Budget: c.budget})
			noError(t, err)
			equal(t, "queries", seen.queries, c.queries)
			equal(t, "items read", seen.items, c.items)
			equal(t, "rows", len(page.Rows), c.rows)
			equal(t, "more", page.Next != "", c.more)
			equal(t, "cut", page.Cut, c.budget != plenty)
		})
	}
	seen := b.watch()
	seen.short = 130
	page, err := b.transactions(t, ledger.TransactionFilter{Status: "disputed"})(listing.Window{Limit: 10, Budget: plenty})
	noError(t, err)
	equal(t, "rows of short pages", len(page.Rows), 0)
	equal(t, "items read of short pages", seen.items, examine)
	got, calls := b.follow(t, b.transactions(t, ledger.TransactionFilter{AccountID: "acct_most", Status: "disputed"}), 10, plenty)
	equal(t, "rows that are not there", len(got), 0)
	equal(t, "calls to find out", calls, 2)
}

// A page holds what fits its bytes, and one row whatever its size.
func TestByteBudget(t *testing.T) {
	b := newBook(t)
	rows := many(10)
	for i, row := range rows {
		row.(*ledger.Transaction).Description = ptr(strings.Repeat("x", 100*i))
	}
	b.write(t, ledger.Written{New: 10}, rows...)
	list := b.transactions(t, ledger.TransactionFilter{})
	whole, err := list(listing.Window{Limit: 10, Budget: plenty})
	noError(t, err)
	sizes := 0
	for n, row := range whole.Rows {
		sizes += len(row) + len(",")
		for budget, want := range map[int]int{sizes: n + 1, sizes - 1: max(n, 1), sizes + 1: n + 1} {
			page, err := list(listing.Window{Limit: 10, Budget: budget})
			noError(t, err)
			equal(t, fmt.Sprintf("rows in %d bytes", budget), len(page.Rows), want)
			equal(t, "cut", page.Cut, want < 10)
		}
	}
	for _, budget := range []int{0, 1, 900, 2_000, 5_000} {
		got, _ := b.follow(t, list, 10, budget)
		equal(t, fmt.Sprintf("rows in pages of %d bytes", budget), len(got), 10)
	}
}

// A page is full when its rows are there, also where bytes would be over next.
func TestFullIsNotCut(t *testing.T) {
	b := newBook(t)
	b.write(t, ledger.Written{New: 3}, many(3)...)
	page, err := b.transactions(t, ledger.TransactionFilter{})(listing.Window{Limit: 1, Budget: 1})
	noError(t, err)
	equal(t, "cut", page.Cut, false)
	equal(t, "more", page.Next != "", true)
}

// The row a cursor stands at may go elsewhere; what comes after its place is
// still what the next page shows.
func TestCursorAfterChanges(t *testing.T) {
	b := newBook(t)
	rows := many(6) // tx_000 is the newest
	b.write(t, ledger.Written{New: 6}, rows...)
	list := b.transactions(t, ledger.TransactionFilter{})
	first, err := list(listing.Window{Limit: 2, Budget: plenty})
	noError(t, err)
	again := func(want ...string) {
		t.Helper()
		rest, err := list(listing.Window{After: first.Next, Limit: 10, Budget: plenty})
		noError(t, err)
		var got []string
		for _, row := range rest.Rows {
			var x ledger.Transaction
			noError(t, json.Unmarshal(row, &x))
			got = append(got, x.ID)
		}
		sameIDs(t, "after the cursor", got, want)
	}
	again("tx_002", "tx_003", "tx_004", "tx_005")
	again("tx_002", "tx_003", "tx_004", "tx_005")
	rows[1].(*ledger.Transaction).TransactionDate = "2020-01-01" // the cursor's own row
	rows[3].(*ledger.Transaction).TransactionDate = "2030-01-01"
	b.write(t, ledger.Written{Changed: 2}, rows[1], rows[3])
	again("tx_002", "tx_004", "tx_005", "tx_001")
}

func TestFilterOfNoID(t *testing.T) {
	b := newBook(t)
	for _, f := range []ledger.TransactionFilter{
		{AccountID: "Operating"}, {AccountID: "cp_aws"}, {AccountID: "acct_"}, {AccountID: "acct_1#2"}, {AccountID: "acct_\x00"},
		{CounterpartyID: "AWS"}, {CounterpartyID: "acct_8231"}, {AccountID: "acct_8231", CounterpartyID: "cp_\u202e"},
	} {
		_, err := b.transactions(t, f)(listing.Window{Limit: 10, Budget: plenty})
		fails(t, err, fault.InvalidArgument)
	}
}

// Each obligation is listed under the status of the day, by its due date.
func TestObligations(t *testing.T) {
	b := newBook(t)
	var rows []ledger.Row
	for i, o := range []struct{ due, status, kind, direction string }{
		{"2025-09-29", "upcoming", "bill", "payable"}, {"2025-09-30", "upcoming", "rent", "payable"}, {"2025-10-07", "overdue", "bill", "receivable"},
		{"2025-10-08", "due", "tax", "payable"}, {"2025-01-01", "paid", "bill", "payable"}, {"2026-01-01", "disputed", "bill", "payable"},
	} {
		row := obligation()
		row.ID, row.DueDate, row.Status, row.Type, row.Direction = fmt.Sprintf("obl_%d", i), o.due, o.status, o.kind, o.direction
		rows = append(rows, row)
	}
	b.write(t, ledger.Written{New: 6}, rows...)
	for _, c := range []struct {
		filter ledger.ObligationFilter
		want   string
	}{
		{ledger.ObligationFilter{}, "obl_4 obl_0 obl_1 obl_2 obl_3 obl_5"},
		{ledger.ObligationFilter{Status: "overdue"}, "obl_0"},
		{ledger.ObligationFilter{Status: "due"}, "obl_1 obl_2"},
		{ledger.ObligationFilter{Status: "upcoming"}, "obl_3"},
		{ledger.ObligationFilter{Status: "paid"}, "obl_4"},
		{ledger.ObligationFilter{Status: "cancelled"}, ""},
		{ledger.ObligationFilter{Type: "bill"}, "obl_4 obl_0 obl_2 obl_5"},
		{ledger.ObligationFilter{Direction: "receivable"}, "obl_2"},
		{ledger.ObligationFilter{DueBefore: "2025-10-07"}, "obl_4 obl_0 obl_1"},
		{ledger.ObligationFilter{DueBefore: "2025-10-08", Type: "bill", Direction: "payable"}, "obl_4 obl_0"},
		{ledger.ObligationFilter{DueBefore: "2025-01-01"}, ""},
	} {
		for _, limit := range []int{1, 2, 500} {
			got, _ := b.follow(t, func(w listing.Window) (listing.Page, error) {
				return b.reader.Obligations(t.Context(), b.tenant, c.filter, w)
			}, limit, plenty)
			equal(t, fmt.Sprintf("%+v by %d", c.filter, limit), strings.Join(got, " "), c.want)
		}
	}
}
