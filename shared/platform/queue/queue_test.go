package queue_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/shared/platform/queue"
)

const sound = `{"source":"robotmoney.mcp","detail-type":"raw.contributed","replay-name":"again",` +
	`"detail":{"id":"evt_1","data":{"action":"raw.contributed","id":"evt_1","outputs":{"raw_id":"raw_1"},"tenant_id":"acme"}}}`

// What is opened is what its envelope says; every other body is refused, with a
// reason that quotes none of it.
func TestOpen(t *testing.T) {
	d, err := queue.Open(sound, queue.Ours)
	if err != nil || d.Source != "robotmoney.mcp" || d.Replay != "again" || d.Event.ID() != "evt_1" || d.Event.Tenant().String() != "acme" || !strings.Contains(string(d.Data), `"raw_1"`) {
		t.Fatalf("%+v, %v", d, err)
	}
	for _, c := range []struct{ old, new, says string }{
		{sound, "secret", "no event of the bus"},
		{`"source":"robotmoney.mcp"`, `"source":"secret.mcp"`, "source is none of ours"},
		{`"data":`, `"dada":`, "no CloudEvents record"},
		{`"detail-type":"raw.contributed"`, `"detail-type":"secret"`, "detail-type is not"},
		{`"detail":{"id":"evt_1"`, `"detail":{"id":"evt_secret"`, "id is not the event's"},
		{`"tenant_id":"acme"`, `"tenant_id":"SECRET"`, "tenant_id"},
	} {
		if _, err := queue.Open(strings.Replace(sound, c.old, c.new, 1), queue.Ours); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(strings.ToLower(err.Error()), "secret") {
			t.Errorf("%s: error = %v, want %q", c.new, err, c.says)
		}
	}
}

// A message is named once, whoever adds it, and no failure is an empty list.
func TestFailures(t *testing.T) {
	var f queue.Failures
	if got, err := json.Marshal(f.Response()); err != nil || string(got) != `{"batchItemFailures":[]}` {
		t.Errorf("none: %s, %v", got, err)
	}
	var adding sync.WaitGroup
	for range 20 {
		adding.Go(func() { f.Add("1", "2") })
	}
	adding.Wait()
	if got := f.Response().BatchItemFailures; len(got) != 2 {
		t.Errorf("failures = %v", got)
	}
}
