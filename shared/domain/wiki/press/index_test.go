package press_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki/press"
)

// An index that lags behind hides no row of the change, and shows none where it is
// no longer.
func TestLaggingIndex(t *testing.T) {
	w := newWorld(t)
	w.books(t)
	old, _, err := engine.Table().Get(t.Context(), key.Ledger(w.tenant, id.Transaction, "tx_2"))
	noError(t, err)
	moved := transaction("tx_2", "2024-03-15", "61404.12")
	moved.AccountID = "acct_2"
	w.write(t, account("acct_2"), moved, transaction("tx_new", "2024-02-27", "9.00"))
	hidden := record.Item{}
	w.store.hidden = map[key.Key]record.Item{old.Key: hidden, key.Ledger(w.tenant, id.Transaction, "tx_new"): hidden}
	w.store.stale = map[key.Key]record.Item{old.Key: old}
	c := w.press.Touched(w.tenant)
	noError(t, c.Rows(t.Context(), []string{"tx_2", "tx_new"}))
	for slug, want := range map[string]string{"/accounts/acct_1": "tx_4 tx_3 tx_yen tx_1 tx_new", "/accounts/acct_2": "tx_2", "/monthly-summaries/2024-02": "tx_yen tx_1 tx_new"} {
		_, err := c.Render(t.Context(), slug)
		noError(t, err)
		equal(t, slug, recent(w.page(t, slug).Body), want)
	}
	w.store.hidden, w.store.stale = nil, nil
	for _, slug := range []string{"/accounts/acct_1", "/accounts/acct_2", "/monthly-summaries/2024-02"} {
		w.rendered(t, press.Same, slug)
	}
}

// recent are the ids under Recent Activity.
func recent(body string) string {
	_, rest, _ := strings.Cut(body, "## Recent Activity\n\n")
	rest, _, _ = strings.Cut(rest, "\n\n")
	var ids []string
	for line := range strings.SplitSeq(strings.TrimSpace(rest), "\n") {
		if at := strings.LastIndexByte(line, '('); at >= 0 {
			ids = append(ids, strings.TrimSuffix(line[at+1:], ")"))
		}
	}
	return strings.Join(ids, " ")
}

// frozen is a table one of whose indexes stands still: what was written since does
// not show in it.
type frozen struct {
	record.Store
	index int
	items []record.Item // of the index, in no order
}

func (f *frozen) Query(ctx context.Context, q record.Query) (record.Page, error) {
	if q.Index != f.index {
		return f.Store.Query(ctx, q)
	}
	var page record.Page
	for _, item := range f.items {
		if item.Index[q.Index-1].PK == q.PK {
			page.Items = append(page.Items, item)
		}
	}
	slices.SortFunc(page.Items, func(a, b record.Item) int {
		return strings.Compare(b.Index[q.Index-1].SK, a.Index[q.Index-1].SK) // newest first, as every list here
	})
	if len(page.Items) > q.Limit {
		page.Items, page.Next = page.Items[:q.Limit], &record.Cursor{}
	}
	return page, nil
}

// Rows that leave a long list make room for those behind them, and a row that goes
// far down does not come up too early: with an index that shows none of it yet, the
// pages are those of the rows.
func TestLongListInALaggingIndex(t *testing.T) {
	w := newWorld(t)
	w.write(t, account("acct_1"), account("acct_2"))
	var rows, moved []ledger.Row
	var ids []string
	for n := range 120 {
		date := noon.AddDate(0, 0, -n).Format(time.DateOnly)
		rows = append(rows, transaction(fmt.Sprintf("tx_%03d", n), date, "1"))
		if n%2 == 0 && n < 60 {
			x := transaction(fmt.Sprintf("tx_%03d", n), date, "1")
			x.AccountID = "acct_2"
			moved, ids = append(moved, x), append(ids, x.ID)
		}
	}
	late := transaction("tx_001", "2020-01-01", "1") // behind all others
	w.write(t, rows...)
	then := &frozen{Store: engine.Table(), index: 2}
	page, err := engine.Table().Query(t.Context(), record.Query{Index: 2, PK: key.LedgerListOf(w.tenant, id.Transaction, "acct_1", "", "").PK})
	noError(t, err)
	then.items = page.Items
	w.write(t, append(moved, late)...)
	w.store.Store = then
	c := w.press.Touched(w.tenant)
	noError(t, c.Rows(t.Context(), append(ids, "tx_001")))
	for _, slug := range []string{"/accounts/acct_1", "/accounts/acct_2"} {
		outcome, err := c.Render(t.Context(), slug)
		noError(t, err)
		equal(t, slug, outcome, press.Rendered)
	}
	w.store.Store = engine.Table() // the index has caught up
	for _, slug := range []string{"/accounts/acct_1", "/accounts/acct_2"} {
		w.rendered(t, press.Same, slug)
	}
}

// cost renders all pages and returns how many reads and items it took.
func (w *world) cost(t *testing.T) (reads, items int) {
	t.Helper()
	w.store.reads, w.store.items, w.store.unbounded = 0, 0, nil
	for _, slug := range every {
		w.rendered(t, press.Rendered, slug)
	}
	if len(w.store.unbounded) > 0 {
		t.Errorf("queries without a limit: %v", w.store.unbounded)
	}
	return w.store.reads, w.store.items
}

// A page of a tenant with many rows costs the reads that one of a tenant with few
// does, and a bounded number of items.
func TestCostDoesNotGrow(t *testing.T) {
	grown := func(n int) *world {
		w := newWorld(t)
		w.books(t)
		var rows []ledger.Row
		for i := range n {
			x := transaction(fmt.Sprintf("tx_many_%d", i), fmt.Sprintf("2024-02-%02d", 1+i%29), "1.00")
			o, v := obligation(fmt.Sprintf("obl_many_%d", i)), invoice(fmt.Sprintf("inv_many_%d", i))
			rows = append(rows, x, o, v)
		}
		w.write(t, rows...)
		return w
	}
	small, smallItems := grown(100).cost(t)
	large, largeItems := grown(600).cost(t)
	equal(t, "reads", large, small)
	equal(t, "items", largeItems, smallItems)
	if large > 80 || largeItems > 700 {
		t.Errorf("%d pages take %d reads of %d items", len(every), large, largeItems)
	}
}
