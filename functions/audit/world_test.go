package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/journal/checker"
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

func tenant(t testing.TB) identity.Tenant {
	t.Helper()
	of, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	return of
}

// happened is the nth event of a tenant.
func happened(of identity.Tenant, n int) audit.Event {
	return audit.Event{
		ID: fmt.Sprintf("evt_01K6D3Q6Y4R8M2N5T7V%07d", n), TenantID: of.String(), Layer: audit.LayerAgent, Action: audit.ActionCall,
		Actor: identity.Actor{Type: "agent", ID: "agt_finance"}, Inputs: map[string]any{"method": "tools/call", "name": "ledger.account.get", "note": "é<&>"},
		Outputs: map[string]any{"ok": true}, RequestID: "req_1", CreatedAt: "2025-09-30T12:00:00.123Z", Schema: audit.Schema,
	}
}

// carried is an event as the bus hands it on, with members the test changes.
func carried(t testing.TB, e audit.Event, change func(envelope map[string]any)) string {
	t.Helper()
	entry, err := e.Entry()
	noError(t, err)
	body := map[string]any{
		"version": "0", "id": "7bf73129-1428-4cd3-a780-95db273d1602", "detail-type": entry.Type, "source": audit.Source, "account": "123456789012",
		"time": "2025-09-30T12:00:00Z", "region": "eu-central-1", "resources": []string{}, "detail": json.RawMessage(entry.Detail),
	}
	if change != nil {
		change(body)
	}
	raw, err := json.Marshal(body)
	noError(t, err)
	return string(raw)
}

// logged is a log that a test reads.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// deliver gives a batch to the function as Lambda does. The messages are numbered;
// it returns the numbers of those that failed, in order, and the log.
func deliver(ctx context.Context, t *testing.T, store record.Store, bodies ...string) (failed, log string) {
	t.Helper()
	var batch events.SQSEvent
	for i, body := range bodies {
		batch.Records = append(batch.Records, events.SQSMessage{MessageId: fmt.Sprint(i), Body: body, EventSource: "aws:sqs"})
	}
	payload, err := json.Marshal(batch)
	noError(t, err)
	var out logged
	c := &consumer{journal: &journal.Journal{Store: store}, log: slog.New(slog.NewJSONHandler(&out, nil))}
	raw, err := lambda.NewHandler(c.consume).Invoke(ctx, payload)
	noError(t, err)
	var report struct {
		Failures []struct {
			ID string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	noError(t, json.Unmarshal(raw, &report))
	if report.Failures == nil {
		t.Errorf("no list of failures: %s", raw)
	}
	ids := []string{}
	for _, f := range report.Failures {
		ids = append(ids, f.ID)
	}
	slices.Sort(ids)
	return fmt.Sprint(ids), out.buf.String()
}

// holds reports a journal that is not sound or has another number of entries.
func holds(t *testing.T, of identity.Tenant, entries int64) {
	t.Helper()
	report, err := checker.Store(t.Context(), engine.Table(), of)
	noError(t, err)
	if report.Fault != nil || report.Entries != entries {
		t.Errorf("journal of %s: %d entries and fault %v, want %d and none", of, report.Entries, report.Fault, entries)
	}
}
