package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/platform/awsclient"
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

// line is the bus: it takes everything and keeps it as the queue delivers it.
type line struct{ bodies map[string][]string }

func (l *line) Publish(_ context.Context, entries []audit.Entry) ([]string, error) {
	for _, e := range entries {
		body, err := json.Marshal(map[string]any{"source": audit.Source, "detail-type": e.Type, "detail": json.RawMessage(e.Detail)})
		if err != nil {
			return nil, err
		}
		l.bodies[e.Type] = append(l.bodies[e.Type], string(body))
	}
	return nil, nil
}

var tenants atomic.Int32

// world is the function and a tenant of its own.
type world struct {
	tenant   identity.Tenant
	bus      *line
	consumer *consumer
	log      *bytes.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	tenant, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	w := &world{tenant: tenant, bus: &line{bodies: map[string][]string{}}, log: &bytes.Buffer{}}
	c := config{aws: awsclient.Account{Region: enginetest.Region, AccessKey: "local", SecretKey: "local", S3: blobURL}, table: enginetest.TableName, bus: "main", bucket: "artifacts"}
	w.consumer = wire(c, slog.New(slog.NewJSONHandler(w.log, nil)), &bytes.Buffer{})
	// The table is the engine's and the bus is watched; the rest is as it is wired.
	in := w.consumer.intake
	in.Archive.Store, in.Ledger.Store, in.Trail.Store, in.Trail.Bus = engine.Table(), engine.Table(), engine.Table(), w.bus
	in.Archive.Blobs.(*blob.Bucket).HTTP = enginetest.Connections
	return w
}

// bring contributes a file as an operator.
func (w *world) bring(t *testing.T, text string) raw.Artifact {
	t.Helper()
	origin := raw.Origin{Actor: identity.Actor{Type: "operator", ID: "import"}, Trusted: true}
	receipt, err := w.consumer.intake.Archive.Contribute(t.Context(), w.tenant, origin, "req_1", raw.Contribution{Payload: []byte(text), MIMEType: "text/csv"})
	noError(t, err)
	return receipt.Artifact
}

// deliver hands the function messages and returns those that failed, by their
// places.
func (w *world) deliver(ctx context.Context, t *testing.T, bodies ...string) string {
	t.Helper()
	var batch events.SQSEvent
	for i, body := range bodies {
		batch.Records = append(batch.Records, events.SQSMessage{MessageId: strconv.Itoa(i), Body: body})
	}
	out, err := w.consumer.consume(ctx, batch)
	noError(t, err)
	failed := []string{}
	for _, f := range out.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	return fmt.Sprint(failed)
}

// state is where an artifact stands.
func (w *world) state(t *testing.T, a raw.Artifact) raw.State {
	t.Helper()
	now, err := w.consumer.intake.Archive.Artifact(t.Context(), w.tenant, a.ID)
	noError(t, err)
	return now.State
}
