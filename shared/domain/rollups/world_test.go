package rollups_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/rollups"
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

// bus takes everything and keeps it.
type bus struct {
	mu      sync.Mutex
	entries []audit.Entry
}

func (b *bus) Publish(_ context.Context, entries []audit.Entry) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = append(b.entries, entries...)
	return nil, nil
}

// world is the ledger of a tenant of its own.
type world struct {
	tenant identity.Tenant
	bus    *bus
	writer *ledger.Writer
	book   *rollups.Book
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
	now := func() time.Time { return noon }
	w := &world{tenant: tenant, bus: &bus{}}
	trail := &audit.Trail{Bus: w.bus, Store: engine.Table(), IDs: id.NewSource(time.Now, rand.Reader), Now: now, Log: slog.New(slog.DiscardHandler)}
	w.writer = &ledger.Writer{Store: trail.Store, Trail: trail, Now: now}
	w.book = &rollups.Book{Store: trail.Store, Trail: trail}
	return w
}

func (w *world) write(t testing.TB, rows ...ledger.Row) {
	t.Helper()
	_, err := w.writer.Write(t.Context(), w.tenant, actor, "req-1", rows...)
	noError(t, err)
}

// checked checks the tenant and wants so many transactions and no difference.
func (w *world) checked(t testing.TB, transactions int) rollups.Report {
	t.Helper()
	report, err := w.book.Check(t.Context(), w.tenant)
	noError(t, err)
	if report.Difference != nil || report.Transactions != transactions {
		t.Fatalf("check: %d transactions and %v, want %d and no difference", report.Transactions, report.Difference, transactions)
	}
	return report
}

// rebuilt rebuilds and wants so many corrections.
func (w *world) rebuilt(t testing.TB, corrected int) {
	t.Helper()
	done, err := w.book.Rebuild(t.Context(), w.tenant, actor, "req-2")
	noError(t, err)
	equal(t, "corrected", done.Corrected, corrected)
}

// commit changes the table past the writer.
func commit(t testing.TB, c record.Change) {
	t.Helper()
	noError(t, engine.Table().Commit(t.Context(), c))
}

func transaction(name, date, amount string) *ledger.Transaction {
	category, counterparty := "Cloud", "cp_aws"
	return &ledger.Transaction{
		Meta: ledger.Meta{ID: name, Provenance: "extracted", Confidence: 1}, AccountID: "acct_1", Amount: amount, Currency: "USD", Direction: "outflow",
		TransactionDate: date, Category: &category, CounterpartyID: &counterparty, Status: "posted", ReconciliationStatus: "matched",
	}
}
