package outbox_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	local "github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/outbox"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// TestSweep: whatever the bus does, an event leaves the outbox only when the bus
// has it, and the next sweep of a bus that is well leaves nothing.
func TestSweep(t *testing.T) {
	const n = 40
	for name, c := range map[string]struct {
		begin, end func(*local.Bus)
		published  int
		onTheBus   func(int) bool
	}{
		"takes all":        {func(*local.Bus) {}, func(*local.Bus) {}, n, is(n)},
		"refuses all":      {func(b *local.Bus) { b.Refuse(-1) }, func(b *local.Bus) { b.Refuse(0) }, 0, is(0)},
		"takes half":       {func(b *local.Bus) { b.HalfAccept(true) }, func(b *local.Bus) { b.HalfAccept(false) }, n / 2, is(n / 2)},
		"replies are lost": {func(b *local.Bus) { b.LoseReply(-1) }, func(b *local.Bus) { b.LoseReply(0) }, 0, atLeastOne},
	} {
		t.Run(name, func(t *testing.T) {
			r, all := setup(t), some(t, n)
			leave(t, all...)
			c.begin(r.bus)
			report, err := r.Sweep(t.Context())
			c.end(r.bus)
			equal(t, "fails", err != nil, c.published < n)
			equal(t, "published", report.Published, c.published)
			if got := len(r.taken(t)); !c.onTheBus(got) {
				t.Errorf("%d events on the bus", got)
			}
			equal(t, "of all", report.Published+report.Refused, n)
			equal(t, "left", len(waiting(t)), report.Refused)
			equal(t, "has an oldest", report.Oldest.IsZero(), report.Refused == 0)
			r.nowhereLost(t, all)

			report, err = r.Sweep(t.Context())
			noError(t, err)
			equal(t, "refused then", report.Refused, 0)
			equal(t, "left then", len(waiting(t)), 0)
			r.nowhereLost(t, all)
			for id, times := range r.times(t) {
				if times > 1 && name != "replies are lost" {
					t.Errorf("%s is on the bus %d times", id, times)
				}
			}
			equal(t, "different events on the bus", len(r.times(t)), n)
		})
	}
}

func is(want int) func(int) bool { return func(n int) bool { return n == want } }

func atLeastOne(n int) bool { return n > 0 }

// A bus that is away is asked once a shard and action, not once for all that
// waits: it has trouble enough.
func TestBusIsNotPressed(t *testing.T) {
	r := setup(t)
	leave(t, some(t, 400)...)
	r.bus.Refuse(-1)
	report, err := r.Sweep(t.Context())
	equal(t, "refused", report.Refused, 400)
	if err == nil || len(r.calls) > key.OutboxShards {
		t.Errorf("%d calls, error %v", len(r.calls), err)
	}
}

// The sweep leaves alone what its maker may still be at.
func TestGrace(t *testing.T) {
	r := setup(t)
	before := noon.Add(-outbox.DefaultGrace)
	leave(t, event(t, "evt_old", "a", before.Add(-time.Millisecond)), event(t, "evt_at", "a", before), event(t, "evt_young", "a", noon))
	report, err := r.Sweep(t.Context())
	noError(t, err)
	equal(t, "report", report, outbox.Report{Published: 1})
	equal(t, "left", len(waiting(t)), 2)

	r.Grace = 10 * time.Second
	report, err = r.Sweep(t.Context())
	noError(t, err)
	equal(t, "report of a shorter grace", report, outbox.Report{Published: 1})
	if _, there := waiting(t)["evt_young"]; !there {
		t.Error("the young one is gone")
	}
}

// What a clock that ran ahead has made is not left until its time comes: that may
// be long, and it may have waited long.
func TestAhead(t *testing.T) {
	r := setup(t)
	bound := noon.Add(outbox.DefaultGrace)
	leave(t, event(t, "evt_young", "a", bound), event(t, "evt_ahead", "a", bound.Add(time.Millisecond)), event(t, "evt_far", "b", noon.Add(26*time.Hour)))
	r.bus.Refuse(-1)
	report, err := r.Sweep(t.Context())
	equal(t, "fails", err != nil, true)
	equal(t, "report", report, outbox.Report{Refused: 2, Oldest: noon.Add(-outbox.DefaultGrace)})
	r.bus.Refuse(0)
	report, err = r.Sweep(t.Context())
	noError(t, err)
	equal(t, "report then", report, outbox.Report{Published: 2})
	left := waiting(t)
	if _, there := left["evt_young"]; !there || len(left) != 1 {
		t.Errorf("left: %d", len(left))
	}
}

// inOneShard are the first n names that lie in one partition.
func inOneShard(n int) (names []string) {
	shard := key.Outbox("evt_0", noon).PK
	for i := 0; len(names) < n; i++ {
		if name := fmt.Sprintf("evt_%d", i); key.Outbox(name, noon).PK == shard {
			names = append(names, name)
		}
	}
	return names
}

// Oldest first, ten at a time, over more than one page; and what goes over the
// wire is what was stored, byte for byte.
func TestOrderAndBytes(t *testing.T) {
	r := setup(t)
	names := inOneShard(125)
	for i, name := range names {
		at := late.Add(time.Duration(-i) * time.Second).Format(audit.TimeForm)
		// As no encoder of ours writes it: the sweep must not write it anew.
		body := fmt.Sprintf(` {"id":%q, "data" : {"x":1.0e0,"s":"<\u00e9é&>","dup":1,"dup":2},"type":"a","source":"robotmoney.mcp","time":%q}  `, name, at)
		put(t, key.Outbox(name, late.Add(time.Duration(-i)*time.Second)), []byte(body))
	}
	stored := waiting(t)
	report, err := r.Sweep(t.Context())
	noError(t, err)
	equal(t, "report", report, outbox.Report{Published: len(names)})
	slices.Reverse(names)
	var got []string
	for _, c := range r.calls {
		if len(c.Entries) > 10 {
			t.Errorf("a call of %d entries", len(c.Entries))
		}
		for _, e := range c.Entries {
			got = append(got, e.Detail)
			equal(t, "source", e.Source, "robotmoney.mcp")
			equal(t, "type", e.DetailType, "a")
			equal(t, "bus", e.EventBusName, "main")
		}
	}
	equal(t, "calls", len(r.calls), 13) // ten of a page of 100, three of the rest
	equal(t, "entries", len(got), len(names))
	for i, name := range names {
		equal(t, fmt.Sprintf("detail %d", i), got[i], string(stored[name].Body))
	}
}

// A call of the bus has a megabyte at most, whatever ten entries come to.
func TestLargeEvents(t *testing.T) {
	r := setup(t)
	for _, name := range inOneShard(7) {
		body := fmt.Sprintf(`{"id":%q,"type":"a","source":"robotmoney.mcp","time":%q,"data":%q}`, name, late.Format(audit.TimeForm), strings.Repeat("x", 300_000))
		put(t, key.Outbox(name, late), []byte(body))
	}
	report, err := r.Sweep(t.Context())
	noError(t, err)
	equal(t, "report", report, outbox.Report{Published: 7})
	equal(t, "calls", len(r.calls), 3)
}

// An item that is no event stays where it is, is counted and named in the log,
// and keeps no other from the bus.
func TestPoison(t *testing.T) {
	good := func(change ...string) string {
		body := fmt.Sprintf(`{"id":"evt_poison","type":"a","source":"robotmoney.mcp","time":%q}`, late.Format(audit.TimeForm))
		return strings.NewReplacer(change...).Replace(body)
	}
	for name, body := range map[string]string{
		"nothing":                "",
		"no JSON":                "evt",
		"cut off":                good("}", ""),
		"followed by something":  good() + "{}",
		"null":                   "null",
		"a list":                 "[" + good() + "]",
		"without an id":          good(`"id":"evt_poison",`, ""),
		"another's id":           good("evt_poison", "evt_other"),
		"an id that is a number": good(`"evt_poison"`, "1"),
		"without a type":         good(`"type":"a",`, ""),
		"a type too long":        good(`"type":"a"`, `"type":"`+strings.Repeat("a", 129)+`"`),
		"without a time":         good(`,"time"`, `,"tome"`),
		"another time":           good(":00.000Z", ":01.000Z"),
		"a time of another form": good(".000Z", "Z"),
		"another's source":       good("robotmoney.mcp", "robotmoney.rail"),
		"without a source":       good("source", "sauce"),
	} {
		t.Run(name, func(t *testing.T) {
			r, all := setup(t), some(t, 20)
			leave(t, all...)
			put(t, key.Outbox("evt_poison", late), []byte(body))
			report, err := r.Sweep(t.Context())
			equal(t, "report", report, outbox.Report{Published: 20, Unreadable: 1, Oldest: late})
			if err == nil || !strings.Contains(err.Error(), "1 items of the outbox cannot be read") {
				t.Errorf("error %v", err)
			}
			equal(t, "left", len(waiting(t)), 1)
			equal(t, "as it was", string(waiting(t)["evt_poison"].Body), body)
			equal(t, "on the bus", len(r.times(t)), 20)
			equal(t, "in the log", strings.Count(r.log.String(), "#evt_poison"), 1)
		})
	}
}

// An action that this function may not put fails with its whole call. The
// events of others go through, also those behind it.
func TestActionThatIsNotAllowed(t *testing.T) {
	r := setup(t, func(o *eventbridge.Options) {
		next := o.HTTPClient
		o.HTTPClient = wire(func(req *http.Request) (*http.Response, error) {
			body := new(strings.Builder)
			if err := copyBody(body, req); err != nil {
				return nil, err
			}
			if strings.Contains(body.String(), `"DetailType":"forbidden"`) {
				return refusal(req, "AccessDeniedException"), nil
			}
			return next.Do(req)
		})
	})
	for i, name := range inOneShard(60) {
		leave(t, event(t, name, []string{"forbidden", "allowed", "too"}[i%3], late.Add(time.Duration(i)*time.Second/100)))
	}
	report, err := r.Sweep(t.Context())
	equal(t, "report", report, outbox.Report{Published: 40, Refused: 20, Oldest: late})
	if err == nil || !strings.Contains(err.Error(), "publish forbidden: ") || strings.Contains(err.Error(), "allowed:") {
		t.Errorf("error %v", err)
	}
	equal(t, "left", len(waiting(t)), 20)
}

// Sweeps that meet, and a maker of events beside them, lose nothing; what
// reaches the bus twice is the same event.
func TestSweepsThatMeet(t *testing.T) {
	r := setup(t)
	all := some(t, 200)
	leave(t, all...)
	trail := &audit.Trail{
		Bus: r.Bus, Store: r.Store, IDs: id.NewSource(func() time.Time { return late }, rand.Reader), Now: func() time.Time { return late },
		Log: slog.New(slog.DiscardHandler),
	}
	var meeting sync.WaitGroup
	for range 4 {
		meeting.Go(func() {
			if _, err := r.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	made := make([]audit.Entry, 10)
	for i := range made {
		e, err := trail.New(audit.Event{TenantID: "acme", Action: "raw.contributed"})
		noError(t, err)
		made[i], err = e.Entry()
		noError(t, err)
		meeting.Go(func() {
			if err := trail.Commit(t.Context(), record.Change{}, e); err != nil {
				t.Error(err)
			}
		})
	}
	meeting.Wait()
	_, err := r.Sweep(t.Context()) // what a conflict of removals left
	noError(t, err)
	equal(t, "left", len(waiting(t)), 0)
	equal(t, "different events on the bus", len(r.times(t)), len(all)+len(made))
	r.nowhereLost(t, append(all, made...))
}

// The time is up in the middle: what the bus has by then is removed, and the
// rest is there for the next sweep.
func TestTimeIsUp(t *testing.T) {
	r, all := setup(t), some(t, 400)
	leave(t, all...)
	ctx, cancel := context.WithCancel(t.Context())
	r.Bus = &ending{next: r.Bus, calls: 5, end: cancel}
	report, err := r.Sweep(ctx)
	if err == nil {
		t.Error("no error of a sweep that was cut off")
	}
	if report.Published < 1 || report.Published == len(all) {
		t.Errorf("report %+v", report)
	}
	equal(t, "left", len(waiting(t)), len(all)-report.Published)
	equal(t, "taken", len(r.times(t)) >= report.Published, true)
	r.nowhereLost(t, all)
}

// ending is a bus during whose nth call the time is up.
type ending struct {
	next  audit.Bus
	end   func()
	mu    sync.Mutex
	calls int
}

func (e *ending) Publish(ctx context.Context, entries []audit.Entry) ([]string, error) {
	refused, err := e.next.Publish(ctx, entries)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.calls--; e.calls == 0 {
		e.end()
	}
	return refused, err
}

// A bus that hangs takes no more than the sweep's time, one that is over before
// it begins nothing at all.
func TestBusThatHangs(t *testing.T) {
	r, all := setup(t), some(t, 30)
	leave(t, all...)
	r.bus.Delay(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	report, err := r.Sweep(ctx)
	if err == nil || report.Published != 0 {
		t.Errorf("report %+v, error %v", report, err)
	}
	equal(t, "left", len(waiting(t)), len(all))

	report, err = r.Sweep(ctx)
	if err == nil {
		t.Error("no error of a sweep that did nothing")
	}
	equal(t, "report", report, outbox.Report{Unread: key.OutboxShards})
}

// TestTableThatFails: published events that cannot be removed are said to be
// kept, and a shard that cannot be read is said to be unread.
func TestTableThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		fails string
		check func(t *testing.T, report outbox.Report)
	}{
		"reads": {"Query", func(t *testing.T, report outbox.Report) {
			equal(t, "report", report, outbox.Report{Unread: key.OutboxShards})
		}},
		"removals": {"DeleteItem TransactWriteItems", func(t *testing.T, report outbox.Report) {
			equal(t, "report", report, outbox.Report{Kept: 30, Oldest: late})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, all := setup(t), some(t, 30)
			leave(t, all...)
			r.Store = engine.Table(through(func(req *http.Request) (*http.Response, error) {
				if strings.Contains(c.fails, operation(req)) {
					return refusal(req, "AccessDeniedException"), nil
				}
				return enginetest.Connections.Do(req)
			}))
			report, err := r.Sweep(t.Context())
			if err == nil {
				t.Error("no error")
			}
			c.check(t, report)
			equal(t, "left", len(waiting(t)), len(all))
			r.nowhereLost(t, all)
		})
	}
}
