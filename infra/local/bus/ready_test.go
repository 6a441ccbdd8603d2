package bus_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotmoney/mcp/infra/local/bus"
)

// With a backoff a failed message does not wait for the visibility timeout, and
// never longer than that.
func TestQueueBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, d := &function{answer: failing}, &dead{}
		b := start(t, "", queued(bus.Queue{
			Function: f, VisibilityTimeout: 5 * time.Second, Backoff: 2 * time.Second, MaxReceiveCount: 4, DeadLetters: "letters",
		}, d))
		begin := time.Now()
		put(t, b, "x")
		settle(t, b)
		wantGaps(t, f, begin, seconds(0, 2, 4, 5))
		equal(t, "dead letters", d.text(t), "queue 4 x")
		equal(t, "their queue", d.all[0].Queue, "letters")
	})
}

// What is given up says which queue it belongs into.
func TestDeadLettersOfFunctions(t *testing.T) {
	f, d := &function{answer: failing}, &dead{}
	c := direct(f, d, 0)
	c.Rules[0].Targets[0].DeadLetters = "of the target"
	c.Schedules = []bus.Schedule{{Name: "often", Expression: "rate(1 day)", Function: f, DeadLetters: "of the schedule"}}
	b := start(t, "", c)
	put(t, b, "x")
	settle(t, b)
	if err := b.Fire("often"); err != nil {
		t.Fatal(err)
	}
	settle(t, b)
	if len(d.all) != 2 {
		t.Fatalf("dead letters %+v", d.all)
	}
	equal(t, "queue", d.all[0].Queue, "of the target")
	equal(t, "queue", d.all[1].Queue, "of the schedule")
}

// Before the functions are ready events are taken and none is delivered, nor
// does a schedule run; then all are, once.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, d, ready := &function{}, &dead{}, make(chan struct{})
		c := direct(f, d, 0)
		c.Ready = ready
		c.Schedules = []bus.Schedule{{Name: "often", Expression: "rate(1 minute)", Function: f, Input: []byte(`{"detail-type":"tick"}`)}}
		b := start(t, "", c)
		put(t, b, "a")
		time.Sleep(90 * time.Second)
		synctest.Wait()
		equal(t, "calls before", len(f.calls()), 0)
		equal(t, "settled before", b.Settled(), false)
		close(ready)
		settle(t, b)
		equal(t, "calls", kinds(t, f.calls()), "a")
		equal(t, "settled", b.Settled(), true)
		time.Sleep(61 * time.Second)
		equal(t, "calls a minute later", kinds(t, f.calls()), "a tick")
	})
}

// A bus that never became ready closes all the same, and delivers next time.
func TestCloseBeforeReady(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	f, d := &function{}, &dead{}
	c := direct(f, d, 0)
	c.Ready = make(chan struct{})
	b := start(t, file, c)
	put(t, b, "a")
	closeBus(t, b)
	b = start(t, file, direct(f, d, 0))
	settle(t, b)
	equal(t, "calls", kinds(t, f.calls()), "a")
}
