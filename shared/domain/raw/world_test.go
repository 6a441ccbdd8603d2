package raw_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/record"
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

// connections carry what a test hands on.
var connections = enginetest.Connections

// wire is the HTTP layer below a client. A test puts its own there: it may hand
// on, answer itself, or lose the answer.
type wire func(*http.Request) (*http.Response, error)

// Do sends a request.
func (w wire) Do(req *http.Request) (*http.Response, error) { return w(req) }

// losing drops the first n answers to requests that match.
func losing(n int32, match func(*http.Request) bool) wire {
	var left atomic.Int32
	left.Store(n)
	return func(req *http.Request) (*http.Response, error) {
		res, err := connections.Do(req)
		if err != nil || !match(req) || left.Add(-1) < 0 {
			return res, err
		}
		_ = res.Body.Close()
		return nil, errors.New("connection reset by peer")
	}
}

func writes(req *http.Request) bool {
	return strings.HasSuffix(req.Header.Get("X-Amz-Target"), ".TransactWriteItems")
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
	if !fault.Is(err, code) {
		t.Errorf("error = %v, want the code %s", err, code)
	}
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

// all returns what the bus took so far.
func (e *events) all() []audit.Entry {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.entries
}

// world is the archive of a tenant of its own.
type world struct {
	tenant  identity.Tenant
	store   record.Store
	bus     *events
	archive *raw.Archive
	mu      sync.Mutex
	clock   time.Time
}

var (
	noon    = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)
	tenants atomic.Int32
)

// parts are what a test puts between the archive and its engines.
type parts struct{ table, blob wire }

func newWorld(t *testing.T, p parts) *world {
	t.Helper()
	tenant, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	w := &world{tenant: tenant, bus: &events{}, clock: noon}
	bucket := &blob.Bucket{Name: "artifacts", Region: enginetest.Region, Endpoint: blobURL, Credentials: enginetest.Credentials, HTTP: connections, Now: time.Now, Timeout: 200 * time.Millisecond}
	if p.blob != nil {
		bucket.HTTP = p.blob
	}
	w.store = engine.Table(func(o *dynamodb.Options) {
		o.RetryMaxAttempts = 3 // tests lose as many answers
		if p.table != nil {
			o.HTTPClient = p.table
		}
	})
	ids := id.NewSource(w.now, rand.Reader)
	trail := &audit.Trail{Bus: w.bus, Store: w.store, IDs: ids, Now: w.now, Log: slog.New(slog.DiscardHandler)}
	w.archive = &raw.Archive{Store: w.store, Blobs: bucket, Trail: trail, IDs: ids, Now: w.now}
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

// passes moves the clock.
func (w *world) passes(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(d)
}

// agent is an authenticated agent of the world's tenant.
func (w *world) agent(t *testing.T, name string, trusted bool) raw.Origin {
	t.Helper()
	origin, err := raw.OriginOf(identity.Principal{
		Kind: identity.Agent, ID: name, Tenant: w.tenant, Agent: &identity.AgentRecord{ID: name, Role: "treasury", Trusted: trusted},
	})
	noError(t, err)
	return origin
}

func (w *world) contribute(by raw.Origin, text, idempotencyKey string) (raw.Receipt, error) {
	return w.archive.Contribute(context.Background(), w.tenant, by, "req_1", raw.Contribution{Payload: []byte(text), IdempotencyKey: idempotencyKey})
}

func (w *world) must(t *testing.T, by raw.Origin, text, idempotencyKey string) raw.Receipt {
	t.Helper()
	receipt, err := w.contribute(by, text, idempotencyKey)
	noError(t, err)
	return receipt
}

func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var members map[string]any
	noError(t, json.Unmarshal(text, &members))
	return members
}
