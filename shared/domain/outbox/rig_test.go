package outbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	local "github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/outbox"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/bus"
)

// engine holds the table of this package's tests. They share its one outbox, so
// none runs beside another and each leaves it empty.
var engine *enginetest.Engine

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { engine = e }))
}

// noon is the time of every sweep, and late long enough before it.
var (
	noon = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)
	late = noon.Add(-time.Minute)
)

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

// wire is the HTTP layer of an SDK client: it may answer itself, or hand on and
// lose the answer.
type wire func(*http.Request) (*http.Response, error)

// Do sends a request.
func (w wire) Do(req *http.Request) (*http.Response, error) { return w(req) }

// rig is a sweeper between the real table and the local stack's bus, over HTTP.
type rig struct {
	*outbox.Sweeper
	bus  *local.Bus
	file string
	log  *bytes.Buffer

	mu    sync.Mutex
	calls []call
}

// call is one PutEvents as it went over the wire.
type call struct {
	Entries []struct{ Source, DetailType, Detail, EventBusName string }
}

// setup makes a rig. Each of its clients tries once: what the SDK does between
// tries is not ours.
func setup(t *testing.T, changes ...func(*eventbridge.Options)) *rig {
	t.Helper()
	r := &rig{file: filepath.Join(t.TempDir(), "events.jsonl"), log: &bytes.Buffer{}}
	var err error
	r.bus, err = local.New(t.Context(), local.Config{Name: "main", EventsFile: r.file})
	noError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.note(req)
		r.bus.ServeHTTP(w, req)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		noError(t, r.bus.Close())
		clean(t)
	})
	options := eventbridge.Options{
		Region: enginetest.Region, Credentials: enginetest.Credentials, HTTPClient: enginetest.Connections, BaseEndpoint: &server.URL, RetryMaxAttempts: 1,
	}
	r.Sweeper = &outbox.Sweeper{
		Bus: &bus.Bus{Name: "main", API: eventbridge.New(options, changes...)}, Store: engine.Table(), Now: func() time.Time { return noon },
		Log: slog.New(slog.NewTextHandler(&guarded{w: r.log}, nil)),
	}
	return r
}

// guarded is a writer for many.
type guarded struct {
	mu sync.Mutex
	w  io.Writer
}

func (g *guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.w.Write(p)
}

func (r *rig) note(req *http.Request) {
	body, err := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(body))
	var c call
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err != nil {
		panic(err) // the SDK sends JSON
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
}

// event is an event of an action that happened at a time.
func event(t *testing.T, name, action string, at time.Time) audit.Entry {
	t.Helper()
	e, err := audit.Event{ID: name, TenantID: "acme", Layer: audit.LayerRaw, Action: action, CreatedAt: at.Format(audit.TimeForm), Schema: audit.Schema}.Entry()
	noError(t, err)
	return e
}

// leave puts events into the outbox, as one who did not come to publish them.
func leave(t *testing.T, entries ...audit.Entry) {
	t.Helper()
	for _, e := range entries {
		put(t, key.Outbox(e.ID, e.At), e.Detail)
	}
}

func put(t *testing.T, k key.Key, body []byte) {
	t.Helper()
	noError(t, engine.Table().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: k, Body: body}, Blind: true}}}))
}

// some are n events of one action, spread over the shards.
func some(t *testing.T, n int) []audit.Entry {
	t.Helper()
	var all []audit.Entry
	for i := range n {
		all = append(all, event(t, fmt.Sprintf("evt_%03d", i), "raw.contributed", late.Add(time.Duration(i)*time.Millisecond)))
	}
	return all
}

// waiting are the items of the outbox, by their ids.
func waiting(t *testing.T) map[string]record.Item {
	t.Helper()
	found := map[string]record.Item{}
	for shard := range key.OutboxShards {
		q := record.Query{PK: key.OutboxPartition(shard)}
		for {
			page, err := engine.Table().Query(context.Background(), q)
			noError(t, err)
			for _, item := range page.Items {
				_, name, _ := strings.Cut(item.Key.SK, "#")
				found[name] = item
			}
			if q.After = page.Next; q.After == nil {
				break
			}
		}
	}
	return found
}

func clean(t *testing.T) {
	t.Helper()
	for _, item := range waiting(t) {
		noError(t, engine.Table().Commit(context.Background(), record.Change{Deletes: []key.Key{item.Key}}))
	}
}

// taken are the details the bus has, in its order.
func (r *rig) taken(t *testing.T) (details []string) {
	t.Helper()
	file, err := os.ReadFile(r.file)
	noError(t, err)
	for line := range bytes.Lines(file) {
		var e struct{ Detail json.RawMessage }
		noError(t, json.Unmarshal(line, &e))
		details = append(details, string(e.Detail))
	}
	return details
}

// times says how often the bus has each event.
func (r *rig) times(t *testing.T) map[string]int {
	t.Helper()
	count := map[string]int{}
	for _, detail := range r.taken(t) {
		var e struct{ ID string }
		noError(t, json.Unmarshal([]byte(detail), &e))
		count[e.ID]++
	}
	return count
}

// nowhereLost checks that each event is on the bus or in the outbox, whole.
func (r *rig) nowhereLost(t *testing.T, all []audit.Entry) {
	t.Helper()
	left, taken := waiting(t), r.taken(t)
	for _, e := range all {
		if item, there := left[e.ID]; there {
			equal(t, "body of "+e.ID, string(item.Body), string(e.Detail))
		} else if !slices.Contains(taken, string(e.Detail)) {
			t.Errorf("%s is lost", e.ID)
		}
	}
}

// through is a table client whose requests take a wire.
func through(w wire) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = w, aws.NopRetryer{} }
}

// operation is what a request to the table asks for.
func operation(req *http.Request) string {
	_, name, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	return name
}

// refusal is an exception as AWS writes it.
func refusal(req *http.Request, name string) *http.Response {
	body := fmt.Sprintf(`{"__type":%q,"message":"no"}`, name)
	return &http.Response{
		StatusCode: http.StatusBadRequest, Request: req, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}},
	}
}

// copyBody writes a request's body to w and leaves it to be sent.
func copyBody(w io.Writer, req *http.Request) error {
	body, err := io.ReadAll(req.Body)
	if err == nil {
		req.Body = io.NopCloser(bytes.NewReader(body))
		_, err = w.Write(body)
	}
	return err
}
