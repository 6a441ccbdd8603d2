package ledger_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// root is the repository's, seen from this package.
const root = "../../../"

// endpoint is where the DynamoDB engine of this package's tests listens. They
// keep apart by their tenants.
var endpoint string

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
	folder, err := os.MkdirTemp("", "ledger-*")
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
	endpoint = db.Endpoint
	return m.Run(), db.Close()
}

// open is the table, as the functions wire it but for the changes of a test.
func open(changes ...func(*dynamodb.Options)) *table.Table {
	return &table.Table{Name: "main", API: dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", BaseEndpoint: &endpoint, HTTPClient: connections,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	}, changes...)}
}

var connections = awshttp.New(20 * time.Second)

// loses drops the answers to the first n writes that were made, as a connection
// does that breaks in that moment.
type loses struct{ n atomic.Int32 }

// Do sends a request.
func (l *loses) Do(req *http.Request) (*http.Response, error) {
	res, err := connections.Do(req)
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
	b := &book{tenant: tenant, store: &store{Store: open(changes...)}, bus: &events{}, now: noon}
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
