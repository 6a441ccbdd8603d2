package ingest_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ingest"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/rollups"
	"github.com/robotmoney/mcp/shared/platform/blob"
)

// The engine that holds the table of this package's tests, and where the one for
// blobs listens. Tests keep apart by their tenants.
var (
	engine  *enginetest.Engine
	blobURL string
)

func TestMain(m *testing.M) {
	backend := s3mem.New()
	if err := backend.CreateBucket("artifacts"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s3 := httptest.NewServer(gofakes3.New(backend).Server())
	blobURL = s3.URL
	code := enginetest.Run(m, func(e *enginetest.Engine) { engine = e })
	s3.Close()
	os.Exit(code)
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

// events is a bus that takes everything and keeps what it took.
type events struct {
	mu      sync.Mutex
	entries []audit.Entry
}

func (e *events) Publish(_ context.Context, entries []audit.Entry) ([]string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.entries = append(e.entries, entries...)
	return nil, nil
}

// of are the events of an action so far.
func (e *events) of(t testing.TB, action string) []audit.Event {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	var found []audit.Event
	for _, entry := range e.entries {
		if entry.Type == action {
			var cloud struct{ Data audit.Event }
			noError(t, json.Unmarshal(entry.Detail, &cloud))
			found = append(found, cloud.Data)
		}
	}
	return found
}

// errCrash is how a process ends that crashes.
var errCrash = errors.New("the process is gone")

// store is the table; the process may be gone after so many changes.
type store struct {
	record.Store
	left    atomic.Int64 // changes until then, when it is above 0
	changes atomic.Int64
}

func (s *store) Commit(ctx context.Context, c record.Change) error {
	s.changes.Add(1)
	if s.left.Load() > 0 && s.left.Add(-1) == 0 {
		s.left.Store(1)
		return errCrash
	}
	return s.Store.Commit(ctx, c)
}

// world is the intake of a tenant of its own.
type world struct {
	tenant  identity.Tenant
	store   *store
	bus     *events
	archive *raw.Archive
	intake  *ingest.Intake
}

var (
	noon    = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)
	tenants atomic.Int32
)

func newWorld(t testing.TB) *world {
	t.Helper()
	tenant, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	w := &world{tenant: tenant, bus: &events{}, store: &store{Store: engine.Table()}}
	bucket := &blob.Bucket{Name: "artifacts", Region: enginetest.Region, Endpoint: blobURL, Credentials: enginetest.Credentials, HTTP: enginetest.Connections, Now: time.Now}
	now := func() time.Time { return noon }
	ids := id.NewSource(now, rand.Reader)
	trail := &audit.Trail{Bus: w.bus, Store: w.store, IDs: ids, Now: now, Log: slog.New(slog.DiscardHandler)}
	w.archive = &raw.Archive{Store: w.store, Blobs: bucket, Trail: trail, IDs: ids, Now: now}
	w.intake = &ingest.Intake{Archive: w.archive, Ledger: &ledger.Writer{Store: w.store, Trail: trail, Now: now}, Trail: trail, Now: now}
	return w
}

var operator = raw.Origin{Actor: identity.Actor{Type: "operator", ID: "import"}, Trusted: true}

// bring contributes a file and returns its artifact.
func (w *world) bring(t testing.TB, by raw.Origin, text, source string) raw.Artifact {
	t.Helper()
	c := raw.Contribution{Payload: []byte(text), MIMEType: "text/plain"}
	if source != "" {
		c.SourceRef = json.RawMessage(source)
	}
	receipt, err := w.archive.Contribute(t.Context(), w.tenant, by, "req_1", c)
	noError(t, err)
	return receipt.Artifact
}

// load brings a file as an operator and takes it in.
func (w *world) load(t testing.TB, text string) *ingest.Report {
	t.Helper()
	return w.take(t, w.bring(t, operator, text, ""))
}

func (w *world) take(t testing.TB, a raw.Artifact) *ingest.Report {
	t.Helper()
	out, err := w.intake.Take(t.Context(), w.tenant, "req_2", a.ID)
	noError(t, err)
	if out.Report == nil {
		t.Fatalf("artifact %s was not looked at, it is %s", a.ID, out.State)
	}
	if out.Report.Failure != nil {
		t.Fatalf("refused: %s", out.Report.Failure.Message)
	}
	return out.Report
}

// all are the tenant's rows of a kind.
func all[T any](t testing.TB, w *world, kind id.Prefix) []T {
	t.Helper()
	var rows []T
	for query := (record.Query{Index: 1, PK: key.LedgerList(w.tenant, kind, "", "").PK}); ; {
		page, err := w.store.Query(t.Context(), query)
		noError(t, err)
		for _, item := range page.Items {
			var row T
			noError(t, json.Unmarshal(item.Body, &row))
			rows = append(rows, row)
		}
		if page.Next == nil {
			return rows
		}
		query.After = page.Next
	}
}

// facts are the tenant's transactions a line each, sorted, with names in the place
// of ids and without what tells which file was first.
func (w *world) facts(t testing.TB) string {
	t.Helper()
	names := map[string]string{}
	for _, c := range all[ledger.Counterparty](t, w, id.Counterparty) {
		names[c.ID] = c.NormalizedName
	}
	for _, a := range all[ledger.Account](t, w, id.Account) {
		names[a.ID] = a.Name + "/" + a.Currency
	}
	text := func(p *string) string {
		if p == nil {
			return "-"
		}
		return *p
	}
	var lines []string
	for _, x := range all[ledger.Transaction](t, w, id.Transaction) {
		party := "-"
		if x.CounterpartyID != nil {
			party = names[*x.CounterpartyID]
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s %s [%s] %s", x.TransactionDate, names[x.AccountID], x.Direction, x.Amount, x.Currency, x.Status, party, text(x.Description)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// sound holds the rollups against the sum of the rows, of which there must be so
// many.
func (w *world) sound(t testing.TB, transactions int) {
	t.Helper()
	report, err := (&rollups.Book{Store: w.store.Store}).Check(t.Context(), w.tenant)
	noError(t, err)
	if report.Difference != nil {
		t.Errorf("rollups: %v", report.Difference)
	}
	equal(t, "transactions", report.Transactions, transactions)
}
