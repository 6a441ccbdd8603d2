package press_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki/press"
)

// every is a slug of each kind of page that a ledger gives rise to.
var every = []string{
	"/accounts/acct_1", "/counterparties/cp_aws", "/obligations/obl_1", "/invoices/inv_1", "/monthly-summaries/2024-02", "/cash-flow/2024-02", "/cash-flow/2024-Q1",
}

// books are a few rows of every kind, around a leap day and the end of a quarter.
func (w *world) books(t testing.TB) {
	t.Helper()
	yen := transaction("tx_yen", "2024-02-29", "500")
	yen.Currency = "JPY"
	w.write(t, account("acct_1"), counterparty("cp_aws", "Amazon"), obligation("obl_1"), invoice("inv_1"),
		transaction("tx_1", "2024-02-28", "10.00"), transaction("tx_2", "2024-02-29", "61404.12"), transaction("tx_3", "2024-03-31", "3.00"),
		transaction("tx_4", "2024-04-01", "4.00"), yen,
		&ledger.Balance{AccountID: "acct_1", AsOf: "2024-02-29T23:59:59.999Z", Current: "7.00", Currency: "USD"})
}

// The slug stays, the id changes with each rendering, the same rows again are the
// same page.
func TestRenderOnce(t *testing.T) {
	w := newWorld(t)
	w.books(t)
	for _, slug := range every {
		w.rendered(t, press.Rendered, slug)
		first := w.page(t, slug)
		commits := w.store.commits
		w.now = w.now.Add(time.Hour)
		w.rendered(t, press.Same, slug[1:])
		equal(t, "commits of nothing new", w.store.commits, commits)
		equal(t, "page", w.page(t, slug), first)
	}
	before := w.page(t, "/accounts/acct_1")
	renamed := account("acct_1")
	renamed.Name = "Payroll"
	w.write(t, renamed)
	w.rendered(t, press.Rendered, "/accounts/acct_1")
	after := w.page(t, "/accounts/acct_1")
	if after.ID == before.ID || after.Slug != before.Slug || after.SourceRevision == before.SourceRevision || after.RenderedAt <= before.RenderedAt {
		t.Errorf("rendered anew: %+v after %+v", after, before)
	}
	for name, want := range map[string]int{before.ID: 0, after.ID: 1} {
		found, err := engine.Table().Query(t.Context(), record.Query{Index: 1, PK: key.PageByID(w.tenant, "").PK, Prefix: name, Limit: 1})
		noError(t, err)
		equal(t, "pages under "+name, len(found.Items), want)
	}
}

// A page whose rows went back to what they were is the page it was, byte for byte.
func TestSameRowsSameBytes(t *testing.T) {
	w, again := newWorld(t), newWorld(t)
	w.books(t)
	again.books(t)
	for _, slug := range every {
		w.rendered(t, press.Rendered, slug)
		again.rendered(t, press.Rendered, slug)
		if a, b := w.page(t, slug), again.page(t, slug); a.Body != b.Body || a.Title != b.Title {
			t.Errorf("%s: the same rows make\n%s\nand\n%s", slug, a.Body, b.Body)
		}
	}
}

func TestContents(t *testing.T) {
	w := newWorld(t)
	w.books(t)
	for slug, want := range map[string][]string{
		"/monthly-summaries/2024-02": {"# February 2024", "- Outflow: 500 JPY in 1 transaction", "- Outflow: 61414.12 USD in 2 transactions", "[`Amazon`](/counterparties/cp_aws): paid 61414.12 USD", "brain://ledger/transactions/tx_2"},
		"/cash-flow/2024-02":         {"- Net: -500 JPY", "- Net: -61414.12 USD", "- 2024-02-28: outflow 10.00 USD", "- 2024-02-29: outflow 500 JPY in 1 transaction; outflow 61404.12 USD"},
		"/cash-flow/2024-Q1":         {"- Outflow: 61417.12 USD in 3 transactions", "- 2024-03: outflow 3.00 USD"},
		"/cash-flow/2024-Q2":         {"- Outflow: 4.00 USD in 1 transaction"},
		"/counterparties/cp_aws":     {"- In all outflow 500 JPY", "- In all outflow 61421.12 USD in 4 transactions", "[obl_1](/obligations/obl_1)", "[inv_1](/invoices/inv_1)", "- 2024-04: outflow 4.00 USD"},
		"/accounts/acct_1":           {"- Current balance: 1.00 USD", "[cp_aws](/counterparties/cp_aws): in 5 of", "- 2024-02-29T23:59:59.999Z: 7.00 USD", "`memo of tx_4`"},
	} {
		w.rendered(t, press.Rendered, slug)
		for _, text := range want {
			if body := w.page(t, slug).Body; !strings.Contains(body, text) {
				t.Errorf("%s does not say %q:\n%s", slug, text, body)
			}
		}
	}
	for slug, not := range map[string]string{"/cash-flow/2024-Q1": "tx_4", "/monthly-summaries/2024-02": "tx_3", "/cash-flow/2024-Q2": "tx_3"} {
		if strings.Contains(w.page(t, slug).Body, not) {
			t.Errorf("%s tells of %s", slug, not)
		}
	}
}

// What there is nothing to say about has no page, and neither has what is another
// tenant's, nor a slug that is none of ours.
func TestAbsent(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	other.books(t)
	record := identity.AgentRecord{ID: "agt_of_" + other.tenant.String(), TenantID: other.tenant.String(), Status: identity.Active, Name: "Finance"}
	store(t, key.AgentRecord(record.ID), record)
	slugs := append(slices.Clone(every), "/agents/"+record.ID, "/policies/active", "/policies/1", "/monthly-summaries/2024-13", "/cash-flow/2024-Q5", "/transactions/tx_1",
		"/accounts/cp_1", "/accounts", "/", "", "/accounts/acct_1/x", "../acct_1", "/policies/01", "/monthly-summaries/", "/x")
	for _, slug := range slugs {
		w.rendered(t, press.Absent, slug)
		equal(t, "page of "+slug, w.page(t, slug).ID, "")
	}
	other.rendered(t, press.Rendered, "/agents/"+record.ID)
}

func store(t *testing.T, k key.Key, v any) {
	t.Helper()
	body, err := json.Marshal(v)
	noError(t, err)
	noError(t, engine.Table().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: k, Body: body}, Blind: true}}}))
}

// A policy's version has a page, and the one in force another.
func TestPolicies(t *testing.T) {
	w := newWorld(t)
	document := json.RawMessage(`{"version":2,"lists":{},"rules":[{"id":"ask","applies_to":["any"],"when":{"amount.lte":{"amount":"5000.00","currency":"USD"}},"execute":"confirm","require":["approver"]}]}`)
	store(t, key.PolicyVersion(w.tenant, 2), map[string]any{"version": 2, "hash": "ab", "document": document, "signers": []string{"0x1"}, "activated_at": "2025-01-01T00:00:00.000Z"})
	w.rendered(t, press.Absent, "/policies/active")
	store(t, key.PolicyHead(w.tenant), map[string]any{"version": 2, "hash": "ab"})
	c := w.press.Touched(w.tenant)
	c.Policy(2)
	equal(t, "touched", fmt.Sprint(c.Slugs()), "[/policies/active /policies/2]")
	for _, slug := range c.Slugs() {
		w.rendered(t, press.Rendered, slug)
		body := w.page(t, slug).Body
		if !strings.Contains(body, "`ask`: confirm, needs approver") || strings.Contains(body, "5000") {
			t.Errorf("%s: %s", slug, body)
		}
	}
}

// touched are the pages a change touches, in order.
func (w *world) touched(t *testing.T, ids ...string) string {
	t.Helper()
	c := w.press.Touched(w.tenant)
	noError(t, c.Rows(t.Context(), ids))
	return strings.Join(slices.Sorted(slices.Values(c.Slugs())), " ")
}

// Exactly the pages that tell of a row are touched.
func TestTouched(t *testing.T) {
	w := newWorld(t)
	w.books(t)
	alone := transaction("tx_alone", "2024-12-31", "1")
	alone.CounterpartyID = nil
	w.write(t, alone, counterparty("cp_new", "New"))
	for ids, want := range map[string]string{
		"tx_2":       "/accounts/acct_1 /cash-flow/2024-02 /cash-flow/2024-Q1 /counterparties/cp_aws /monthly-summaries/2024-02",
		"tx_alone":   "/accounts/acct_1 /cash-flow/2024-12 /cash-flow/2024-Q4 /monthly-summaries/2024-12",
		"acct_1":     "/accounts/acct_1",
		"obl_1":      "/counterparties/cp_aws /obligations/obl_1",
		"inv_1":      "/counterparties/cp_aws /invoices/inv_1",
		"cp_aws":     "/counterparties/cp_aws /monthly-summaries/2024-02 /monthly-summaries/2024-03 /monthly-summaries/2024-04",
		"cp_new":     "/counterparties/cp_new",
		"tx_none":    "",
		"nonsense":   "",
		"pi_1":       "",
		"":           "",
		"tx_3 tx_4":  "/accounts/acct_1 /cash-flow/2024-03 /cash-flow/2024-04 /cash-flow/2024-Q1 /cash-flow/2024-Q2 /counterparties/cp_aws /monthly-summaries/2024-03 /monthly-summaries/2024-04",
		"obl_1 tx_x": "/counterparties/cp_aws /obligations/obl_1",
	} {
		equal(t, "touched by "+ids, w.touched(t, strings.Fields(ids)...), want)
	}
	c := w.press.Touched(w.tenant)
	c.About("2024-02", "cp_1", "agt_1", "2024-13", "tx_1", "x", "")
	equal(t, "about", fmt.Sprint(c.Slugs()), "[/monthly-summaries/2024-02 /cash-flow/2024-02 /cash-flow/2024-Q1 /counterparties/cp_1 /agents/agt_1]")
}

// No page that is left out would have changed: after any write, rendering what it
// touches leaves every page as rendering all of them does.
func TestNothingElseIsTouched(t *testing.T) {
	w := newWorld(t)
	w.books(t)
	all := append(slices.Clone(every), "/cash-flow/2024-Q2", "/monthly-summaries/2024-03", "/monthly-summaries/2024-04", "/cash-flow/2024-03", "/cash-flow/2024-04",
		"/accounts/acct_2", "/counterparties/cp_2")
	w.write(t, account("acct_2"), counterparty("cp_2", "Two"))
	for _, slug := range all {
		w.rendered(t, press.Rendered, slug)
	}
	moved := transaction("tx_2", "2024-04-01", "61404.12")
	moved.AccountID, moved.CounterpartyID = "acct_2", ptr("cp_2")
	paid, other := obligation("obl_1"), invoice("inv_1")
	paid.Status, other.CounterpartyID = "paid", "cp_2"
	reversed := transaction("tx_1", "2024-02-28", "10.00")
	reversed.Status = "reversed"
	for name, c := range map[string]struct {
		row  ledger.Row
		ids  string
		left []string // what the event of the ledger names beside the row
	}{
		"a transaction that moves": {moved, "tx_2", []string{"acct_1", "2024-02", "cp_aws"}},
		"a bill that is paid":      {paid, "obl_1", nil},
		"an invoice of another":    {other, "inv_1", []string{"cp_aws"}},
		"a name":                   {counterparty("cp_aws", "AWS"), "cp_aws", nil},
		"a reversal":               {reversed, "tx_1", nil},
	} {
		w.write(t, c.row)
		change := w.press.Touched(w.tenant)
		change.About(c.left...)
		noError(t, change.Rows(t.Context(), strings.Fields(c.ids)))
		rendered := 0
		for _, slug := range change.Slugs() {
			outcome, err := change.Render(t.Context(), slug)
			noError(t, err)
			if outcome == press.Rendered {
				rendered++
			}
		}
		if rendered == 0 {
			t.Errorf("%s: no page has changed", name)
		}
		for _, slug := range all {
			w.rendered(t, press.Same, slug)
		}
	}
}

// A page of older rows does not take the place of one of newer rows.
func TestOlderNeverReplacesNewer(t *testing.T) {
	w := newWorld(t)
	w.write(t, account("acct_1"))
	w.rendered(t, press.Rendered, "/accounts/acct_1")
	name := func(n string) {
		row := account("acct_1")
		row.Name = n
		w.write(t, row)
	}
	name("Second")
	newest := ""
	w.store.before = func() { // the page of "Second" is made, and about to be stored
		name("Third")
		w.rendered(t, press.Rendered, "/accounts/acct_1")
		newest = w.page(t, "/accounts/acct_1").ID
	}
	w.rendered(t, press.Same, "/accounts/acct_1") // refused, read again: it is there
	page := w.page(t, "/accounts/acct_1")
	equal(t, "title", page.Title, "Third")
	equal(t, "id", page.ID, newest)
}

// Many at once, while the row changes: the last page is of the last row.
func TestRenderAtOnce(t *testing.T) {
	w := newWorld(t)
	w.write(t, account("acct_1"))
	var all sync.WaitGroup
	for n := range 6 {
		all.Go(func() {
			for i := range 5 {
				row := account("acct_1")
				row.Name = fmt.Sprintf("%d.%d", n, i)
				if _, err := w.writer.Write(t.Context(), w.tenant, actor, "req-1", row); err != nil && !errors.Is(err, record.ErrConflict) {
					t.Error(err)
				}
				for { // delivered again, as the queue does
					_, err := w.press.Render(t.Context(), w.tenant, "/accounts/acct_1")
					if !errors.Is(err, record.ErrConflict) {
						if err != nil {
							t.Error(err)
						}
						break
					}
				}
			}
		})
	}
	all.Wait()
	w.rendered(t, press.Same, "/accounts/acct_1")
	var row ledger.Account
	item, _, err := engine.Table().Get(t.Context(), key.Ledger(w.tenant, id.Account, "acct_1"))
	noError(t, err)
	noError(t, json.Unmarshal(item.Body, &row))
	equal(t, "title", w.page(t, "/accounts/acct_1").Title, row.Name)
}

// A table that is away is an error, and no page is half written.
func TestStoreFails(t *testing.T) {
	w := newWorld(t)
	w.books(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, slug := range every {
		if outcome, err := w.press.Render(ctx, w.tenant, slug); err == nil || outcome != press.Absent {
			t.Errorf("%s: %v, %v", slug, outcome, err)
		}
	}
	damaged := key.Ledger(w.tenant, id.Obligation, "obl_1")
	noError(t, engine.Table().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: damaged, Body: []byte("?")}, Blind: true}}}))
	if _, err := w.press.Render(t.Context(), w.tenant, "/obligations/obl_1"); err == nil || !strings.Contains(err.Error(), "decode") {
		t.Errorf("a damaged row: %v", err)
	}
	if err := w.press.Touched(w.tenant).Rows(t.Context(), []string{"obl_1"}); err == nil {
		t.Error("a damaged row was read")
	}
}
