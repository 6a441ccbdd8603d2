package ledger_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// engine holds the table of this package's tests. They keep apart by their
// tenants.
var engine *enginetest.Engine

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { engine = e }))
}

// loses drops the answers to the first n writes that were made, as a connection
// does that breaks in that moment.
type loses struct{ n atomic.Int32 }

// Do sends a request.
func (l *loses) Do(req *http.Request) (*http.Response, error) {
	res, err := enginetest.Connections.Do(req)
	write := req.Header.Get("X-Amz-Target") == "DynamoDB_20120810.TransactWriteItems"
	if err != nil || !write || res.StatusCode != http.StatusOK || l.n.Add(-1) < 0 {
		return res, err
	}
	_ = res.Body.Close()
	return nil, errors.New("connection reset by peer")
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func fails(t *testing.T, err error, code fault.Code) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != code {
		t.Errorf("error = %v, want the code %s", err, code)
	}
}

// store is the table, watched: it counts commits and keeps the largest.
type store struct {
	record.Store
	mu      sync.Mutex
	commits int
	most    int
}

func (s *store) Commit(ctx context.Context, c record.Change) error {
	s.mu.Lock()
	s.commits, s.most = s.commits+1, max(s.most, c.Len())
	s.mu.Unlock()
	return s.Store.Commit(ctx, c)
}

// events is a bus that takes everything.
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

// book is the ledger of a tenant of its own.
type book struct {
	tenant identity.Tenant
	store  *store
	bus    *events
	now    time.Time
	writer *ledger.Writer
	reader *ledger.Reader
}

var (
	noon    = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)
	tenants atomic.Int32
	actor   = identity.Actor{Type: "user", ID: "mbr_1"}
)

func newBook(t *testing.T, changes ...func(*dynamodb.Options)) *book {
	t.Helper()
	tenant, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	b := &book{tenant: tenant, store: &store{Store: engine.Table(changes...)}, bus: &events{}, now: noon}
	now := func() time.Time { return b.now }
	trail := &audit.Trail{Bus: b.bus, Store: b.store, IDs: id.NewSource(time.Now, rand.Reader), Now: now, Log: slog.New(slog.DiscardHandler)}
	b.writer = &ledger.Writer{Store: b.store, Trail: trail, Now: now}
	b.reader = &ledger.Reader{Store: b.store, Now: now}
	return b
}

// write writes rows and wants so many new, changed and same.
func (b *book) write(t *testing.T, want ledger.Written, rows ...ledger.Row) {
	t.Helper()
	got, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", rows...)
	noError(t, err)
	equal(t, "written", got, want)
}
