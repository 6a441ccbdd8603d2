package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

var engine *enginetest.Engine

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { engine = e }))
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

// ends is something that expires.
type ends struct {
	n     int
	err   error
	calls int
}

func (e *ends) Expire(ctx context.Context) (int, error) {
	e.calls++
	return e.n, errors.Join(e.err, ctx.Err())
}

// setup wires the function to a bus of its own and to the table, as its
// environment says. What it prints as metrics goes into the buffer.
func setup(t *testing.T) (*round, *bus.Bus, *bytes.Buffer) {
	t.Helper()
	b, err := bus.New(t.Context(), bus.Config{Name: "main", EventsFile: filepath.Join(t.TempDir(), "events.jsonl")})
	noError(t, err)
	server := httptest.NewServer(b)
	t.Cleanup(func() {
		server.Close()
		noError(t, b.Close())
	})
	env := variables(map[string]string{"EVENTS_ENDPOINT": server.URL, "DYNAMODB_ENDPOINT": *engine.Client().Options().BaseEndpoint})
	c, err := readConfig(func(name string) string { return env[name] })
	noError(t, err)
	var out bytes.Buffer
	return wire(c, slog.New(slog.DiscardHandler), &out), b, &out
}

// variables are a whole environment with changes.
func variables(changes map[string]string) map[string]string {
	env := map[string]string{
		"AWS_LAMBDA_FUNCTION_NAME": "OutboxFunction", "AWS_REGION": enginetest.Region, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
		"TABLE_NAME": enginetest.TableName, "BUS_NAME": "main",
	}
	for name, value := range changes {
		env[name] = value
	}
	return env
}

// leave puts an event into the outbox that is so old.
func leave(t *testing.T, name string, age time.Duration) {
	t.Helper()
	e, err := audit.Event{ID: name, TenantID: "acme", Action: "a", CreatedAt: time.Now().UTC().Add(-age).Format(audit.TimeForm)}.Entry()
	noError(t, err)
	item := record.Item{Key: key.Outbox(e.ID, e.At), Body: e.Detail}
	noError(t, engine.Table().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: item, Blind: true}}}))
}

// age is the age of the outbox in what was printed, -1 when there is none.
func age(t *testing.T, out *bytes.Buffer) int { return measured(t, out, "OutboxAge") }

// measured is a measure in what was printed, -1 when there is none.
func measured(t *testing.T, out *bytes.Buffer, name string) int {
	t.Helper()
	for line := range bytes.Lines(out.Bytes()) {
		var fields map[string]any
		noError(t, json.Unmarshal(line, &fields))
		equal(t, "name in the metric", fields["FunctionName"].(string), "OutboxFunction")
		if n, there := fields[name].(float64); there {
			return int(n)
		}
	}
	return -1
}

func TestRound(t *testing.T) {
	r, b, out := setup(t)
	intents, authorizations := &ends{n: 3}, &ends{n: 4}
	r.expirers = []Expirer{intents, authorizations}
	leave(t, "evt_1", 90*time.Second)

	b.Refuse(-1)
	done, err := r.handle(t.Context(), schedule{ID: "1"})
	if err == nil || !strings.Contains(err.Error(), "1 events were not published") {
		t.Errorf("error %v", err)
	}
	equal(t, "refused", done.Refused, 1)
	equal(t, "expired all the same", done.Expired, 7)
	if got := age(t, out); got < 90 || got > 120 {
		t.Errorf("age %d, want that of the event", got)
	}

	out.Reset()
	b.Refuse(0)
	done, err = r.handle(t.Context(), schedule{ID: "2"})
	noError(t, err)
	answer, err := json.Marshal(done)
	noError(t, err)
	equal(t, "answer", string(answer), `{"published":1,"kept":0,"refused":0,"unreadable":0,"unread_shards":0,"expired":7}`)
	equal(t, "age", age(t, out), 0)
}

// One expirer that fails keeps neither the others nor the sweep from its turn.
func TestExpirersThatFail(t *testing.T) {
	r, _, _ := setup(t)
	first, second := &ends{n: 1, err: errors.New("the first is broken")}, &ends{n: 2}
	r.expirers = []Expirer{first, second}
	leave(t, "evt_2", time.Minute)
	done, err := r.handle(t.Context(), schedule{})
	if err == nil || !strings.Contains(err.Error(), "the first is broken") {
		t.Errorf("error %v", err)
	}
	equal(t, "published", done.Published, 1)
	equal(t, "expired", done.Expired, 3)
	equal(t, "calls of the second", second.calls, 1)
}

// Without a look at the outbox there is no age: an age of 0 would call off the
// alarm. Nor is there time left: the function's own end comes a little later.
func TestTimeIsUp(t *testing.T) {
	r, _, out := setup(t)
	ctx, cancel := context.WithTimeout(t.Context(), margin)
	defer cancel()
	if _, err := r.handle(ctx, schedule{}); err == nil {
		t.Error("no error")
	}
	equal(t, "age", age(t, out), -1)
}

// A receipt that is overdue is measured and named in each round until it has come;
// without a look there is no measure, because one of 0 would call off the alarm.
func TestReceipts(t *testing.T) {
	r, _, out := setup(t)
	var log bytes.Buffer
	r.log = slog.New(slog.NewJSONHandler(&log, nil))
	acme, err := identity.OperatorTenant("acme")
	noError(t, err)
	due := time.Date(2025, time.October, 1, 12, 0, 0, 0, time.UTC)
	at := due
	r.receipts.Now, r.now = func() time.Time { return at }, func() time.Time { return at }
	mark := key.Receipt(acme, due, "exec_1")
	noError(t, engine.Table().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: mark}, Blind: true}}}))
	round := func(what string, want int) {
		t.Helper()
		out.Reset()
		log.Reset()
		_, err := r.handle(t.Context(), schedule{})
		noError(t, err)
		equal(t, what, measured(t, out, "ReceiptOverdue"), want)
		equal(t, what+" is named", strings.Contains(log.String(), `"execution":"exec_1"`), want > 0)
	}
	round("in its time", 0)
	at = due.Add(90 * time.Second)
	round("overdue", 90)
	round("overdue still", 90)
	noError(t, engine.Table().Commit(t.Context(), record.Change{Deletes: []key.Key{mark}}))
	round("come at last", 0)

	out.Reset()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.handle(ctx, schedule{}); err == nil {
		t.Error("no error of a round without time")
	}
	equal(t, "without a look", measured(t, out, "ReceiptOverdue"), -1)
}

func TestReadConfig(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "TABLE_NAME", "BUS_NAME"} {
		env := variables(map[string]string{name: ""})
		_, err := readConfig(func(name string) string { return env[name] })
		if err == nil || err.Error() != "missing environment: "+name {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
