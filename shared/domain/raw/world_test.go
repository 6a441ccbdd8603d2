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
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/blob"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// root is the repository's, seen from this package.
const root = "../../../"

// Where the engines of this package's tests listen. Tests keep apart by their
// tenants.
var tableURL, blobURL string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	binaries, err := engine.Install(ctx, root+".local/npm")
	if err != nil {
		return 0, err
	}
	stack, err := template.Load(root+"template.yaml", template.Options{Parameters: map[string]string{
		"Issuer": "http://127.0.0.1/", "JwksUrl": "http://127.0.0.1/jwks.json", "RpcUrls": "http://127.0.0.1/", "ChainId": "31337",
		"RegistryAddress": "0x0000000000000000000000000000000000000001", "AnchorAddress": "0x0000000000000000000000000000000000000002",
	}})
	if err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp("", "raw-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	db, err := engine.DynamoDB(ctx, engine.DynamoDBConfig{
		Binary: binaries.Dynoxide, DBPath: filepath.Join(folder, "db.sqlite"), Tables: map[string]template.Table{"main": stack.Tables[0]},
	})
	if err != nil {
		return 0, err
	}
	tableURL = db.Endpoint
	backend := s3mem.New()
	if err := backend.CreateBucket("artifacts"); err != nil {
		return 0, err
	}
	s3 := httptest.NewServer(gofakes3.New(backend).Server())
	defer s3.Close()
	blobURL = s3.URL
	return m.Run(), db.Close()
}

var (
	connections = awshttp.New(20 * time.Second)
	credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
	})
)

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
	options := dynamodb.Options{Region: "eu-central-1", BaseEndpoint: &tableURL, HTTPClient: connections, Credentials: credentials, RetryMaxAttempts: 3}
	if p.table != nil {
		options.HTTPClient = p.table
	}
	bucket := &blob.Bucket{Name: "artifacts", Region: "eu-central-1", Endpoint: blobURL, Credentials: credentials, HTTP: connections, Now: time.Now, Timeout: 200 * time.Millisecond}
	if p.blob != nil {
		bucket.HTTP = p.blob
	}
	w.store = &table.Table{Name: "main", API: dynamodb.New(options)}
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
