package press_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki"
	"github.com/robotmoney/mcp/shared/domain/wiki/press"
)

// engine holds the table of this package's tests. They keep apart by their
// tenants.
var engine *enginetest.Engine

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { engine = e }))
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// silent is a bus that takes everything.
type silent struct{}

func (silent) Publish(context.Context, []audit.Entry) ([]string, error) { return nil, nil }

// watched is the table, watched: it counts what is asked of it and how much comes
// back, and can do something before a change is made or hide rows from indexes.
type watched struct {
	record.Store
	mu            sync.Mutex
	reads, items  int
	commits       int
	unbounded     []string
	before        func()
	hidden, stale map[key.Key]record.Item // from indexes; and how indexes show some
}

func (w *watched) Get(ctx context.Context, k key.Key) (record.Item, bool, error) {
	w.count(1, 1)
	return w.Store.Get(ctx, k)
}

func (w *watched) GetMany(ctx context.Context, keys []key.Key) (map[key.Key]record.Item, error) {
	w.count(1, len(keys))
	return w.Store.GetMany(ctx, keys)
}

func (w *watched) Query(ctx context.Context, q record.Query) (record.Page, error) {
	page, err := w.Store.Query(ctx, q)
	w.count(1, len(page.Items))
	w.mu.Lock()
	if q.Limit == 0 {
		w.unbounded = append(w.unbounded, q.PK)
	}
	w.mu.Unlock()
	if q.Index > 0 {
		page.Items = slices.DeleteFunc(page.Items, func(item record.Item) bool { _, hidden := w.hidden[item.Key]; return hidden })
		for _, item := range w.stale {
			if item.Index[q.Index-1].PK == q.PK {
				page.Items = append(page.Items, item)
			}
		}
	}
	return page, err
}

func (w *watched) Commit(ctx context.Context, c record.Change) error {
	w.mu.Lock()
	w.commits++
	before := w.before
	w.before = nil
	w.mu.Unlock()
	if before != nil {
		before()
	}
	return w.Store.Commit(ctx, c)
}

func (w *watched) count(reads, items int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads, w.items = w.reads+reads, w.items+items
}

// world is a tenant of its own, with its ledger and its pages.
type world struct {
	tenant identity.Tenant
	store  *watched
	now    time.Time
	writer *ledger.Writer
	press  *press.Press
}

var (
	noon    = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)
	tenants atomic.Int32
	actor   = identity.Actor{Type: "operator", ID: "op"}
)

func newWorld(t testing.TB) *world {
	t.Helper()
	tenant, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	w := &world{tenant: tenant, store: &watched{Store: engine.Table()}, now: noon}
	now := func() time.Time { return w.now }
	ids := id.NewSource(time.Now, rand.Reader)
	trail := &audit.Trail{Bus: silent{}, Store: engine.Table(), IDs: ids, Now: now, Log: slog.New(slog.DiscardHandler)}
	w.writer = &ledger.Writer{Store: engine.Table(), Trail: trail, Now: now}
	w.press = &press.Press{Store: w.store, IDs: ids, Now: now}
	return w
}

func (w *world) write(t testing.TB, rows ...ledger.Row) {
	t.Helper()
	_, err := w.writer.Write(t.Context(), w.tenant, actor, "req-1", rows...)
	noError(t, err)
}

// rendered renders a page and wants an outcome.
func (w *world) rendered(t testing.TB, want press.Outcome, slug string) {
	t.Helper()
	got, err := w.press.Render(t.Context(), w.tenant, slug)
	noError(t, err)
	equal(t, "outcome of "+slug, got, want)
}

// page reads a page; one that is not there has an empty id.
func (w *world) page(t testing.TB, slug string) wiki.Page {
	t.Helper()
	page, err := (&wiki.Reader{Store: engine.Table()}).Page(t.Context(), w.tenant, slug)
	if fault.Is(err, fault.WikiPageNotFound) {
		return wiki.Page{}
	}
	noError(t, err)
	return page
}

func ptr(text string) *string { return &text }

func meta(name string) ledger.Meta {
	return ledger.Meta{ID: name, Provenance: "extracted", Confidence: 1}
}

func transaction(name, date, amount string) *ledger.Transaction {
	return &ledger.Transaction{
		Meta: meta(name), AccountID: "acct_1", Amount: amount, Currency: "USD", Direction: "outflow", TransactionDate: date, Category: ptr("Cloud"),
		CounterpartyID: ptr("cp_aws"), Status: "posted", Description: ptr("memo of " + name), ReconciliationStatus: "matched",
	}
}

func counterparty(name, called string) *ledger.Counterparty {
	return &ledger.Counterparty{Meta: meta(name), Name: called, Type: "vendor", RiskLevel: "low", VerifiedStatus: "document_verified"}
}

func account(name string) *ledger.Account {
	return &ledger.Account{Meta: meta(name), AccountType: "bank_checking", Name: "Operating", Currency: "USD", CurrentBalance: ptr("1.00"), Status: "active"}
}

func obligation(name string) *ledger.Obligation {
	return &ledger.Obligation{Meta: meta(name), Type: "bill", CounterpartyID: "cp_aws", Direction: "payable", AmountDue: "10", Currency: "USD", DueDate: "2025-10-15", Status: "upcoming"}
}

func invoice(name string) *ledger.Invoice {
	return &ledger.Invoice{Meta: meta(name), InvoiceNumber: "2025-1", CounterpartyID: "cp_aws", Direction: "receivable", AmountDue: "10", AmountPaid: "0", Currency: "USD",
		IssueDate: "2025-09-01", DueDate: "2025-09-30", Status: "sent"}
}
