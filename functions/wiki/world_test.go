package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki"
	"github.com/robotmoney/mcp/shared/domain/wiki/press"
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

// carrier is a bus that hands on what it took, as messages of the queue.
type carrier struct {
	mu     sync.Mutex
	bodies []string
}

func (c *carrier) Publish(_ context.Context, entries []audit.Entry) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		c.bodies = append(c.bodies, carried(audit.Source, e.Type, e.Detail))
	}
	return nil, nil
}

// took are the messages since the last call.
func (c *carrier) took() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	bodies := c.bodies
	c.bodies = nil
	return bodies
}

// carried is an event as the bus hands it on.
func carried(source, action string, detail []byte) string {
	raw, err := json.Marshal(map[string]any{
		"version": "0", "id": "7bf73129-1428-4cd3-a780-95db273d1602", "detail-type": action, "source": source, "account": "123456789012",
		"time": "2025-09-30T12:00:00Z", "region": "eu-central-1", "resources": []string{}, "detail": json.RawMessage(detail),
	})
	if err != nil {
		panic(err) // the detail was JSON before
	}
	return string(raw)
}

// told is a message of an event that a test makes up.
func told(t testing.TB, of identity.Tenant, action string, inputs, outputs map[string]any) string {
	t.Helper()
	e := audit.Event{ID: "evt_01K6D3Q6Y4R8M2N5T7V0000001", TenantID: of.String(), Layer: audit.LayerLedger, Action: action, Inputs: inputs, Outputs: outputs,
		CreatedAt: "2025-09-30T12:00:00.123Z", Schema: audit.Schema}
	entry, err := e.Entry()
	noError(t, err)
	return carried(audit.Source, action, entry.Detail)
}

var tenants atomic.Int32

// world is a tenant of its own whose ledger tells the queue.
type world struct {
	tenant identity.Tenant
	queue  *carrier
	writer *ledger.Writer
	trail  *audit.Trail
}

func newWorld(t testing.TB) *world {
	t.Helper()
	tenant, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	w := &world{tenant: tenant, queue: &carrier{}}
	w.trail = &audit.Trail{Bus: w.queue, Store: engine.Table(), IDs: id.NewSource(time.Now, rand.Reader), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	w.writer = &ledger.Writer{Store: engine.Table(), Trail: w.trail, Now: time.Now}
	return w
}

// write writes rows and returns the messages that tell of them.
func (w *world) write(t testing.TB, rows ...ledger.Row) []string {
	t.Helper()
	_, err := w.writer.Write(t.Context(), w.tenant, identity.Actor{Type: "operator", ID: "op"}, "req-1", rows...)
	noError(t, err)
	return w.queue.took()
}

// page reads a page; one that is not there is empty.
func (w *world) page(t testing.TB, slug string) wiki.Page {
	t.Helper()
	page, err := (&wiki.Reader{Store: engine.Table()}).Page(t.Context(), w.tenant, slug)
	if fault.Is(err, fault.WikiPageNotFound) {
		return wiki.Page{}
	}
	noError(t, err)
	return page
}

// slugs are the tenant's pages, in order.
func (w *world) slugs(t testing.TB) string {
	t.Helper()
	all, err := (&wiki.Reader{Store: engine.Table()}).Slugs(t.Context(), w.tenant, "", 1000)
	noError(t, err)
	return fmt.Sprint(all)
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
	c := &consumer{
		press: &press.Press{Store: store, IDs: id.NewSource(time.Now, rand.Reader), Now: time.Now},
		log:   slog.New(slog.NewJSONHandler(&out, nil)),
	}
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

func ptr(text string) *string { return &text }

func transaction(name, account, party, date, amount string) *ledger.Transaction {
	return &ledger.Transaction{
		Meta: ledger.Meta{ID: name, Provenance: "extracted", Confidence: 1}, AccountID: account, Amount: amount, Currency: "USD", Direction: "outflow",
		TransactionDate: date, CounterpartyID: &party, Status: "posted", Description: ptr("memo of " + name), ReconciliationStatus: "matched",
	}
}

func account(name string) *ledger.Account {
	return &ledger.Account{Meta: ledger.Meta{ID: name, Provenance: "extracted", Confidence: 1}, AccountType: "bank_checking", Name: name, Currency: "USD", Status: "active"}
}

func counterparty(name, called string) *ledger.Counterparty {
	return &ledger.Counterparty{
		Meta: ledger.Meta{ID: name, Provenance: "extracted", Confidence: 1}, Name: called, Type: "vendor", RiskLevel: "low", VerifiedStatus: "document_verified",
	}
}
