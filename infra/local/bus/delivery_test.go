package bus_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/lambda"
)

// dead collects dead letters as "from attempts kind".
type dead struct {
	mu  sync.Mutex
	all []bus.DeadLetter
}

func (d *dead) letter(l bus.DeadLetter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, l)
}

func (d *dead) text(t *testing.T) string {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, l := range d.all {
		if l.Reason == "" {
			t.Error("a dead letter without a reason")
		}
		out = append(out, fmt.Sprintf("%s %d %s", l.From, l.Attempts, kinds(t, []string{string(l.Body)})))
	}
	return strings.Join(out, ", ")
}

func direct(f bus.Invoker, d *dead, retries int) bus.Config {
	return bus.Config{
		Rules: []bus.Rule{{Name: "r", Pattern: []byte(everything), Targets: []bus.Target{
			{Name: "target", Function: f, MaximumRetryAttempts: retries, Backoff: 2 * time.Second},
		}}},
		DeadLetter: d.letter,
	}
}

func queued(q bus.Queue, d *dead) bus.Config {
	q.Name = "queue"
	return bus.Config{
		Queues:     []bus.Queue{q},
		Rules:      []bus.Rule{{Name: "r", Pattern: []byte(everything), Targets: []bus.Target{{Name: "target", Queue: "queue"}}}},
		DeadLetter: d.letter,
	}
}

func seconds(n ...float64) []time.Duration {
	var out []time.Duration
	for _, s := range n {
		out = append(out, time.Duration(s*float64(time.Second)))
	}
	return out
}

func wantGaps(t *testing.T, f *function, begin time.Time, want []time.Duration) {
	t.Helper()
	if got := f.gaps(begin); !reflect.DeepEqual(got, want) {
		t.Errorf("waited %v, want %v", got, want)
	}
}

func TestDirectRetries(t *testing.T) {
	broken := func(int, []byte) (lambda.Result, error) { return lambda.Result{}, errors.New("no binary") }
	for _, c := range []struct {
		name    string
		answer  func(int, []byte) (lambda.Result, error)
		retries int
		waits   []time.Duration
		dead    string
	}{
		{"works at once", nil, 2, seconds(0), ""},
		{"works in the end", func(call int, p []byte) (lambda.Result, error) {
			if call < 3 {
				return failing(call, p)
			}
			return lambda.Result{}, nil
		}, 2, seconds(0, 2, 4), ""},
		{"never works", failing, 2, seconds(0, 2, 4), "target 3 x"},
		{"cannot even start", broken, 1, seconds(0, 2), "target 2 x"},
		{"no retry", failing, 0, seconds(0), "target 1 x"},
		{"throttled is no attempt", func(call int, p []byte) (lambda.Result, error) {
			if call <= 4 {
				return lambda.Result{}, &lambda.ServiceError{Status: http.StatusTooManyRequests, Code: "TooManyRequestsException"}
			}
			return failing(call, p)
		}, 1, seconds(0, 2, 2, 2, 2, 2), "target 2 x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, d := &function{answer: c.answer}, &dead{}
				b := start(t, "", direct(f, d, c.retries))
				begin := time.Now()
				put(t, b, "x")
				settle(t, b)
				wantGaps(t, f, begin, c.waits)
				equal(t, "dead letters", d.text(t), c.dead)
			})
		})
	}
}

// One event that always fails holds up no other.
func TestFailingEventDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, d := &function{}, &dead{}
		f.answer = func(call int, p []byte) (lambda.Result, error) {
			if strings.Contains(string(p), "bad") {
				return failing(call, p)
			}
			return lambda.Result{}, nil
		}
		b := start(t, "", direct(f, d, 2))
		put(t, b, "bad", "a", "b", "c")
		synctest.Wait()
		if n := len(f.calls()); n != 4 {
			t.Errorf("%d of 4 delivered before the first retry", n)
		}
		settle(t, b)
		equal(t, "dead letters", d.text(t), "target 3 bad")
	})
}

func TestBatches(t *testing.T) {
	for _, c := range []struct {
		name   string
		size   int
		window time.Duration
		send   string
		want   string
		waits  []time.Duration
	}{
		{"full without waiting", 3, 5 * time.Second, "a b c", "[a b c]", seconds(0)},
		{"the rest after the window", 3, 5 * time.Second, "a b c d", "[a b c] [d]", seconds(0, 5)},
		{"alone after the window", 10, 5 * time.Second, "a", "[a]", seconds(5)},
		{"one by one", 1, 0, "a b", "[a] [b]", seconds(0, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, d := &function{}, &dead{}
				b := start(t, "", queued(bus.Queue{Function: f, BatchSize: c.size, BatchingWindow: c.window, Concurrency: 1}, d))
				begin := time.Now()
				put(t, b, strings.Fields(c.send)...)
				settle(t, b)
				equal(t, "batches", kinds(t, f.calls()), c.want)
				wantGaps(t, f, begin, c.waits)
			})
		})
	}
}

// The window runs from the first message: later ones do not prolong it.
func TestWindowIsNotProlonged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, d := &function{}, &dead{}
		b := start(t, "", queued(bus.Queue{Function: f, BatchSize: 10, BatchingWindow: 5 * time.Second}, d))
		begin := time.Now()
		for _, kind := range []string{"a", "b", "c"} {
			put(t, b, kind)
			time.Sleep(2 * time.Second)
		}
		settle(t, b)
		equal(t, "batches", kinds(t, f.calls()), "[a b c]")
		wantGaps(t, f, begin, seconds(5))
	})
}

func TestSQSEvent(t *testing.T) {
	f, d := &function{}, &dead{}
	b := start(t, "", queued(bus.Queue{Function: f, BatchSize: 1}, d))
	put(t, b, "x")
	settle(t, b)
	var got events.SQSEvent
	if err := json.Unmarshal([]byte(f.calls()[0]), &got); err != nil {
		t.Fatal(err)
	}
	r := got.Records[0]
	equal(t, "source", r.EventSource, "aws:sqs")
	equal(t, "arn", r.EventSourceARN, "arn:aws:sqs:us-east-1:000000000000:queue")
	equal(t, "receive count", r.Attributes["ApproximateReceiveCount"], "1")
	equal(t, "kind", kinds(t, []string{r.Body}), "x")
	if len(r.MessageId) != 36 || r.ReceiptHandle == "" || len(r.Md5OfBody) != 32 || r.AWSRegion != "us-east-1" || len(r.Attributes["SentTimestamp"]) != 13 {
		t.Errorf("record %+v", r)
	}
}

// report answers that the messages of these kinds failed.
func report(t *testing.T, payload []byte, failed ...string) []byte {
	t.Helper()
	var event events.SQSEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		t.Error(err)
	}
	var response events.SQSEventResponse
	for _, r := range event.Records {
		for _, f := range failed {
			if kinds(t, []string{r.Body}) == f {
				response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: r.MessageId})
			}
		}
	}
	raw, err := json.Marshal(response)
	if err != nil {
		t.Error(err)
	}
	return raw
}

func TestQueueFailures(t *testing.T) {
	for _, c := range []struct {
		name    string
		partial bool
		answer  func(t *testing.T, call int, payload []byte) (lambda.Result, error)
		want    string
		waits   []time.Duration
		dead    string
	}{
		{"whole batch again", false, func(_ *testing.T, call int, p []byte) (lambda.Result, error) {
			if call == 1 {
				return failing(call, p)
			}
			return lambda.Result{}, nil
		}, "[a b c] [a b c]", seconds(1, 31), ""},
		{"only the failed one again", true, func(t *testing.T, call int, p []byte) (lambda.Result, error) {
			if call == 1 {
				return lambda.Result{Payload: report(t, p, "b")}, nil
			}
			return lambda.Result{Payload: []byte(`{"batchItemFailures":[]}`)}, nil
		}, "[a b c] [b]", seconds(1, 31), ""},
		{"given up after three", true, func(t *testing.T, _ int, p []byte) (lambda.Result, error) {
			return lambda.Result{Payload: report(t, p, "b")}, nil
		}, "[a b c] [b] [b]", seconds(1, 31, 31), "queue 3 b"},
		{"report without being asked", false, func(t *testing.T, _ int, p []byte) (lambda.Result, error) {
			return lambda.Result{Payload: report(t, p, "b")}, nil
		}, "[a b c]", seconds(1), ""},
		{"null report", true, func(*testing.T, int, []byte) (lambda.Result, error) {
			return lambda.Result{Payload: []byte(`null`)}, nil
		}, "[a b c]", seconds(1), ""},
		{"unknown message in the report", true, func(_ *testing.T, call int, _ []byte) (lambda.Result, error) {
			if call == 1 {
				return lambda.Result{Payload: []byte(`{"batchItemFailures":[{"itemIdentifier":"who"}]}`)}, nil
			}
			return lambda.Result{}, nil
		}, "[a b c] [a b c]", seconds(1, 31), ""},
		{"no JSON in the report", true, func(_ *testing.T, call int, _ []byte) (lambda.Result, error) {
			if call == 1 {
				return lambda.Result{Payload: []byte(`"ok"`)}, nil
			}
			return lambda.Result{}, nil
		}, "[a b c] [a b c]", seconds(1, 31), ""},
		{"throttled until it is given up", false, func(*testing.T, int, []byte) (lambda.Result, error) {
			return lambda.Result{}, &lambda.ServiceError{Status: http.StatusTooManyRequests}
		}, "[a b c] [a b c] [a b c]", seconds(1, 31, 31), "queue 3 a, queue 3 b, queue 3 c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, d := &function{}, &dead{}
				f.answer = func(call int, p []byte) (lambda.Result, error) { return c.answer(t, call, p) }
				b := start(t, "", queued(bus.Queue{
					Function: f, BatchSize: 4, BatchingWindow: time.Second, MaxReceiveCount: 3,
					VisibilityTimeout: 30 * time.Second, ReportBatchItemFailures: c.partial, Concurrency: 1,
				}, d))
				begin := time.Now()
				put(t, b, "a", "b", "c")
				settle(t, b)
				equal(t, "batches", kinds(t, f.calls()), c.want)
				wantGaps(t, f, begin, c.waits)
				equal(t, "dead letters", d.text(t), c.dead)
			})
		})
	}
}

// A delivery that outlasts the visibility timeout is made a second time.
func TestVisibilityTimeoutDeliversAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, d := &function{}, &dead{}
		f.answer = func(call int, _ []byte) (lambda.Result, error) {
			if call == 1 {
				time.Sleep(45 * time.Second)
			}
			return lambda.Result{}, nil
		}
		b := start(t, "", queued(bus.Queue{Function: f, BatchSize: 1, Concurrency: 2}, d))
		begin := time.Now()
		put(t, b, "x")
		settle(t, b)
		wantGaps(t, f, begin, seconds(0, 30))
	})
}

// Two rules, two targets: the event is settled when both have it.
func TestRestartDeliversWhatWasNotSettled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	synctest.Test(t, func(t *testing.T) {
		f, d := &function{}, &dead{}
		f.answer = func(call int, p []byte) (lambda.Result, error) {
			if strings.Contains(string(p), "open") {
				return failing(call, p)
			}
			return lambda.Result{}, nil
		}
		b := start(t, file, direct(f, d, 2))
		put(t, b, "done", "open-1", "open-2")
		synctest.Wait()
		closeBus(t, b)
		equal(t, "dead letters", d.text(t), "")
	})
	before := lines(t, file)
	// A run that was killed left half a line: nobody was told it is accepted.
	if err := appendTo(file, `{"version":"0","id":"half`); err != nil {
		t.Fatal(err)
	}
	f, d := &function{}, &dead{}
	b := start(t, file, queued(bus.Queue{Function: f, BatchSize: 1, Concurrency: 1}, d))
	settle(t, b)
	equal(t, "delivered again, in order", kinds(t, f.calls()), "[open-1] [open-2]")
	put(t, b, "new")
	settle(t, b)
	closeBus(t, b)
	equal(t, "events kept", strings.Join(lines(t, file)[:3], "\n"), strings.Join(before, "\n"))

	f = &function{}
	b = start(t, file, direct(f, d, 0))
	settle(t, b)
	equal(t, "delivered a third time", len(f.calls()), 0)
}

func TestEventThatNobodyWantsIsSettled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	b := start(t, file, bus.Config{})
	put(t, b, "x")
	closeBus(t, b)
	f, d := &function{}, &dead{}
	b = start(t, file, direct(f, d, 0))
	settle(t, b)
	equal(t, "delivered to a rule that came later", len(f.calls()), 0)
}

func TestDamagedEventsFileIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if err := appendTo(file, "no event\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.New(t.Context(), bus.Config{Name: "main", EventsFile: file}); err == nil {
		t.Error("accepted")
	}
}

func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, own, d := &function{}, &function{answer: failing}, &dead{}
		b := start(t, "", bus.Config{DeadLetter: d.letter, Schedules: []bus.Schedule{
			{Name: "anchor", Expression: "rate(5 minutes)", Function: f},
			{Name: "outbox", Expression: "rate(1 hour)", Function: own, Input: []byte(`{"detail-type":"own"}`), MaximumRetryAttempts: 1},
		}})
		begin := time.Now()
		time.Sleep(16 * time.Minute)
		wantGaps(t, f, begin, seconds(300, 300, 300))
		var e events.EventBridgeEvent
		if err := json.Unmarshal([]byte(f.calls()[0]), &e); err != nil {
			t.Fatal(err)
		}
		equal(t, "type", e.DetailType, "Scheduled Event")
		equal(t, "source", e.Source, "aws.events")
		equal(t, "resource", strings.Join(e.Resources, ","), "arn:aws:events:us-east-1:000000000000:rule/anchor")
		if err := b.Fire("outbox"); err != nil {
			t.Fatal(err)
		}
		settle(t, b)
		equal(t, "fired", kinds(t, own.calls()), "own own")
		equal(t, "dead letters", d.text(t), "outbox 2 own")
		if err := b.Fire("none"); err == nil {
			t.Error("fired a schedule that is not there")
		}
		event, err := b.Scheduled("anchor")
		if err != nil || kinds(t, []string{string(event)}) != "Scheduled Event" {
			t.Errorf("event of the schedule %s, %v", event, err)
		}
		if _, err := b.Scheduled("none"); err == nil {
			t.Error("an event of a schedule that is not there")
		}
	})
}

// The whole way with a real bootstrap: SDK, bus, queue, Runtime API.
func TestRealFunction(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "bootstrap")
	build := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", binary, "../lambda/testdata/fn")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pool, err := lambda.New(t.Context(), lambda.Function{Name: "fn", Binary: binary, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	d := &dead{}
	c := queued(bus.Queue{Function: pool, BatchSize: 5}, d)
	c.Schedules = []bus.Schedule{{Name: "bad", Expression: "rate(1 day)", Function: pool, Input: []byte(`{"do":"exit","n":1}`)}}
	b := start(t, "", c)
	send(t, client(t, b, 1), entry("a", `{}`), entry("b", `{}`))
	if err := b.Fire("bad"); err != nil {
		t.Fatal(err)
	}
	settle(t, b)
	if len(d.all) != 1 || !strings.Contains(d.all[0].Reason, "exit status 1") {
		t.Errorf("dead letters %+v", d.all)
	}
}

func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
