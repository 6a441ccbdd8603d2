package journal_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/journal/checker"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// engine holds the table of this package's tests. Tests keep apart by their
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

var tenants atomic.Int32

// tenant is one that has no journal yet.
func tenant(t testing.TB) identity.Tenant {
	t.Helper()
	name, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	return name
}

// text is the nth event of a tenant as it may come: members in no order,
// numbers and letters in some spelling.
func text(of identity.Tenant, n int) string {
	return fmt.Sprintf(`{"tenant_id":%q, "id":"evt_01K6D3Q6Y4R8M2N5T7V%07d", "schema":1.0, "layer":"agent", "action":"agent.mcp.tool_called",
		"actor":{"type":"agent","id":"agt_finance"}, "inputs":{"name":"ledger.transactions.list","arguments":"{\"n\":%d}","arguments_sha256":%q,"note":"\u00e9<&>\u2028\ud83d\ude02\ufffd"},
		"outputs":{"ok":true,"rate":2.50,"tiny":1e-7}, "request_id":"req_%d", "created_at":"2025-09-30T12:00:00.123Z"}`,
		of.String(), n, n, strings.Repeat("5e", 32), n)
}

func name(n int) string { return fmt.Sprintf("evt_01K6D3Q6Y4R8M2N5T7V%07d", n) }

func event(t testing.TB, raw string) journal.Event {
	t.Helper()
	e, err := journal.Parse([]byte(raw))
	noError(t, err)
	return e
}

// events are those from one number up to another.
func events(t testing.TB, of identity.Tenant, from, to int) []journal.Event {
	t.Helper()
	var all []journal.Event
	for n := from; n < to; n++ {
		all = append(all, event(t, text(of, n)))
	}
	return all
}

func appends(t testing.TB, store record.Store, of identity.Tenant, all []journal.Event) journal.Outcome {
	t.Helper()
	out, err := (&journal.Journal{Store: store}).Append(t.Context(), of, all)
	noError(t, err)
	return out
}

// sound stops the test unless a tenant's journal is without fault and holds so
// many entries. It returns their events' ids in order.
func sound(t testing.TB, of identity.Tenant, entries int) []string {
	t.Helper()
	report, err := checker.Store(t.Context(), engine.Table(), of)
	noError(t, err)
	if report.Fault != nil || report.Entries != int64(entries) {
		t.Fatalf("%d entries and fault %v, want %d and none", report.Entries, report.Fault, entries)
	}
	var ids []string
	if entries > 0 {
		all, err := (&journal.Journal{Store: engine.Table()}).Entries(t.Context(), of, 0, int64(entries)-1)
		noError(t, err)
		for _, entry := range all {
			ids = append(ids, event(t, string(entry.Event)).ID())
		}
	}
	return ids
}

// wire is the HTTP layer below the SDK. A test puts its own there: it may hand
// on, answer itself, or lose the answer.
type wire func(*http.Request) (*http.Response, error)

// Do sends a request.
func (w wire) Do(req *http.Request) (*http.Response, error) { return w(req) }

// through puts a wire into a client that tries each call so many times.
func through(w wire, tries int) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.HTTPClient, o.RetryMaxAttempts = w, tries
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = tries, time.Millisecond })
	}
}

// operation is what a request asks of the engine.
func operation(req *http.Request) string {
	_, name, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	return name
}

// put stores an item whatever is there, as somebody with a hand in the table
// does.
func put(ctx context.Context, t testing.TB, k key.Key, body string) {
	t.Helper()
	noError(t, engine.Table().Commit(ctx, record.Change{Puts: []record.Put{{Item: record.Item{Key: k, Body: []byte(body)}, Blind: true}}}))
}
