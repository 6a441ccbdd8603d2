package bus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/lambda"
)

var noon = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)

// everything matches what the tests send.
const everything = `{"source":["robotmoney.mcp"]}`

// function keeps what it was invoked with and when, and answers as told.
type function struct {
	mu     sync.Mutex
	events []string
	at     []time.Time
	answer func(call int, payload []byte) (lambda.Result, error) // nil: success
}

func (f *function) Invoke(_ context.Context, payload []byte) (lambda.Result, error) {
	f.mu.Lock()
	f.events, f.at = append(f.events, string(payload)), append(f.at, time.Now())
	call := len(f.events)
	f.mu.Unlock()
	if f.answer == nil {
		return lambda.Result{}, nil
	}
	return f.answer(call, payload)
}

func (f *function) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.events...)
}

// gaps are the times between invocations, and before the first since start.
func (f *function) gaps(start time.Time) []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []time.Duration
	for _, at := range f.at {
		out = append(out, at.Sub(start))
		start = at
	}
	return out
}

func failing(int, []byte) (lambda.Result, error) {
	return lambda.Result{FunctionError: lambda.Unhandled, Payload: []byte(`{"errorMessage":"no"}`)}, nil
}

// start opens a bus on file, or on one of its own where file is empty.
func start(t *testing.T, file string, c bus.Config) *bus.Bus {
	t.Helper()
	c.Name, c.EventsFile, c.Now = "main", file, func() time.Time { return noon }
	if file == "" {
		c.EventsFile = filepath.Join(t.TempDir(), "events.jsonl")
	}
	b, err := bus.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeBus(t, b) })
	return b
}

func closeBus(t *testing.T, b *bus.Bus) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func settle(t *testing.T, b *bus.Bus) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
	defer cancel()
	if err := b.Settle(ctx); err != nil {
		t.Fatal(err)
	}
}

// call is one raw PutEvents call, without a network.
func call(b http.Handler, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("X-Amz-Target", "AWSEvents.PutEvents")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local")
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w
}

// put sends one event for each detail type and wants them accepted.
func put(t *testing.T, b http.Handler, types ...string) {
	t.Helper()
	for _, kind := range types {
		entry := map[string]string{"Source": "robotmoney.mcp", "DetailType": kind, "Detail": `{"k":1}`, "EventBusName": "main"}
		body, err := json.Marshal(map[string]any{"Entries": []any{entry}})
		if err != nil {
			t.Fatal(err)
		}
		if w := call(b, string(body)); w.Code != 200 || !strings.Contains(w.Body.String(), `"FailedEntryCount":0`) {
			t.Fatalf("put %s: %d %s", kind, w.Code, w.Body)
		}
	}
}

// kinds are the detail types of envelopes or of the envelopes in SQS events,
// a batch in brackets.
func kinds(t *testing.T, payloads []string) string {
	t.Helper()
	var out []string
	for _, p := range payloads {
		var e struct {
			Kind    string `json:"detail-type"`
			Records []struct {
				Body string `json:"body"`
			}
		}
		if err := json.Unmarshal([]byte(p), &e); err != nil {
			t.Fatal(err)
		}
		if e.Records == nil {
			out = append(out, e.Kind)
			continue
		}
		var batch []string
		for _, r := range e.Records {
			batch = append(batch, kinds(t, []string{r.Body}))
		}
		out = append(out, "["+strings.Join(batch, " ")+"]")
	}
	return strings.Join(out, " ")
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > 0 && !bytes.HasSuffix(raw, []byte("\n")) {
		t.Errorf("%s ends within a line", filepath.Base(file))
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
}

func TestBadConfiguration(t *testing.T) {
	f := &function{}
	file := filepath.Join(t.TempDir(), "events.jsonl")
	with := func(change func(*bus.Config)) bus.Config {
		c := bus.Config{Name: "main", EventsFile: file}
		change(&c)
		return c
	}
	queue := func(q bus.Queue) bus.Config { return with(func(c *bus.Config) { c.Queues = []bus.Queue{q} }) }
	rule := func(pattern string, targets ...bus.Target) bus.Config {
		return with(func(c *bus.Config) {
			c.Rules = []bus.Rule{{Name: "r", Pattern: []byte(pattern), Targets: targets}}
		})
	}
	slow, err := lambda.New(t.Context(), lambda.Function{Name: "slow", Binary: "bootstrap", Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]bus.Config{
		"no name":            {EventsFile: file},
		"no file":            {Name: "main"},
		"file in no folder":  {Name: "main", EventsFile: filepath.Join(t.TempDir(), "none", "events")},
		"queue without name": queue(bus.Queue{Function: f}),
		"queue unconsumed":   queue(bus.Queue{Name: "q"}),
		"batch too large":    queue(bus.Queue{Name: "q", Function: f, BatchSize: 10_001, BatchingWindow: time.Second}),
		"large, no window":   queue(bus.Queue{Name: "q", Function: f, BatchSize: 11}),
		"window too long":    queue(bus.Queue{Name: "q", Function: f, BatchingWindow: time.Hour}),
		"hidden too shortly": queue(bus.Queue{Name: "q", Function: slow}),
		"queue twice":        with(func(c *bus.Config) { c.Queues = []bus.Queue{{Name: "q", Function: f}, {Name: "q", Function: f}} }),
		"bad pattern":        rule(`{`),
		"target to nothing":  rule(everything, bus.Target{Name: "t"}),
		"target to two": with(func(c *bus.Config) {
			c.Queues = []bus.Queue{{Name: "q", Function: f}}
			c.Rules = rule(everything, bus.Target{Function: f, Queue: "q"}).Rules
		}),
		"unknown queue": rule(everything, bus.Target{Name: "t", Queue: "none"}),
		"bad rate": with(func(c *bus.Config) {
			c.Schedules = []bus.Schedule{{Name: "s", Expression: "rate(1 minutes)", Function: f}}
		}),
		"schedule to nothing": with(func(c *bus.Config) { c.Schedules = []bus.Schedule{{Name: "s", Expression: "rate(1 minute)"}} }),
		"schedule input": with(func(c *bus.Config) {
			c.Schedules = []bus.Schedule{{Name: "s", Expression: "rate(1 minute)", Function: f, Input: []byte("{")}}
		}),
	} {
		if b, err := bus.New(t.Context(), c); err == nil {
			t.Errorf("%s: accepted", name)
			closeBus(t, b)
		}
	}
}
