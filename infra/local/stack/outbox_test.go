package stack_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// detail is what of a line of the journal the bus was given.
func detail(t *testing.T, line string) (text, name string) {
	t.Helper()
	var e struct{ Detail json.RawMessage }
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatal(err)
	}
	return string(e.Detail), eventID(t, string(e.Detail))
}

func eventID(t *testing.T, body string) string {
	t.Helper()
	var e struct{ ID string }
	if err := json.Unmarshal([]byte(body), &e); err != nil || e.ID == "" {
		t.Fatalf("%v: an event without an id: %s", err, body)
	}
	return e.ID
}

// A bus that is away during a mutation loses none of its events: half a minute
// later the sweep publishes each, as it was stored.
func TestTheSweepPublishesWhatTheBusRefused(t *testing.T) {
	payload := "swept " + time.Now().Format(time.RFC3339Nano)
	sum := sha256.Sum256([]byte(payload))
	hash := hex.EncodeToString(sum[:])
	running.Bus().Refuse(-1)
	a := call(t, "agent", "tools/call", map[string]any{"name": "raw.contribute", "arguments": map[string]string{"payload": payload, "mime_type": "text/plain"}})
	left := waiting(t, hash)
	_ = running.Fire("outbox") // they are too young for it; its error, if any, is of older ones
	running.Bus().Refuse(0)
	if a.status != 200 || bytes.Contains(a.body.Result, []byte(`"isError":true`)) {
		t.Fatalf("status %d: %s", a.status, a.body.Result)
	}
	if len(left) != 2 || len(waiting(t, hash)) != 2 || len(eventsOf(t, hash)) != 0 {
		t.Fatalf("%d events in the outbox, %d after a sweep, %d on the bus", len(left), len(waiting(t, hash)), len(eventsOf(t, hash)))
	}
	t.Parallel() // the rest is waiting for the grace to be over
	for end := time.Now().Add(45 * time.Second); len(waiting(t, hash)) > 0; time.Sleep(500 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the events are still in the outbox")
		}
		if err := running.Fire("outbox"); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{}
	for _, body := range left {
		want[eventID(t, body)] = body
	}
	got := map[string]string{}
	for _, line := range eventsOf(t, hash) {
		text, id := detail(t, line)
		got[id] = text
	}
	if len(got) != 2 {
		t.Errorf("%d different events on the bus, want 2", len(got))
	}
	for id, body := range want {
		if got[id] != body {
			t.Errorf("event %s is on the bus as %s, stored was %s", id, got[id], body)
		}
	}
}

// The event of the schedule, as the events folder has it, is answered with what
// was done.
func TestEventOfTheOutbox(t *testing.T) {
	event, err := os.ReadFile("../../../events/schedule-outbox.json")
	if err != nil {
		t.Fatal(err)
	}
	result, err := running.Function("OutboxFunction").Invoke(t.Context(), event)
	if err != nil || result.FunctionError != "" {
		t.Fatalf("%v %s", err, result.Payload)
	}
	var answer map[string]any
	if err := json.Unmarshal(result.Payload, &answer); err != nil {
		t.Fatalf("%v: %s", err, result.Payload)
	}
	for _, name := range []string{"published", "refused", "kept", "unreadable", "expired"} {
		if _, there := answer[name]; !there {
			t.Errorf("no %s in %s", name, result.Payload)
		}
	}
	log, err := os.ReadFile(filepath.Join(folder, stackfile.Root, "log", "outbox.log"))
	if err != nil || !strings.Contains(string(log), `"OutboxAge":`) {
		t.Errorf("no measure of the age: %v", err)
	}
}
