package checker_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/journal/checker"
	"github.com/robotmoney/mcp/shared/domain/key"
)

func TestSoundJournals(t *testing.T) {
	for _, entries := range []int{1, 2, 64, 99, 100, 101, 1100} { // around the windows, the blocks and all shards
		w := write(t, entries)
		report, err := checker.Store(t.Context(), engine.Table(), w.of)
		noError(t, err)
		equal(t, "fault", report.Fault, nil)
		equal(t, "entries", report.Entries, int64(entries))
		equal(t, "hash", report.Hash, member(t, w.lines[entries-1], "hash"))
	}
	report, err := checker.Store(t.Context(), engine.Table(), tenant(t))
	noError(t, err)
	equal(t, "an empty journal", report, checker.Report{Hash: journal.Origin})
}

func TestFaults(t *testing.T) {
	const entries = 130 // more than one window
	for name, c := range map[string]struct {
		plant func(t *testing.T, w *written)
		kind  checker.Kind
		seq   int64
	}{
		"an entry is missing": {func(t *testing.T, w *written) { w.remove(t, key.JournalEntry(w.of, 105)) }, checker.Gap, 105},
		"the first one is":    {func(t *testing.T, w *written) { w.remove(t, key.JournalEntry(w.of, 0)) }, checker.Gap, 0},
		"the last one is":     {func(t *testing.T, w *written) { w.remove(t, key.JournalEntry(w.of, 129)) }, checker.Gap, 129},
		"the first of two gaps": {func(t *testing.T, w *written) {
			w.remove(t, key.JournalEntry(w.of, 90))
			w.remove(t, key.JournalEntry(w.of, 20))
		}, checker.Gap, 20},

		"another letter":    {func(t *testing.T, w *written) { w.entry(t, 7, strings.Replace(w.lines[7], "é", "è", 1)) }, checker.Edit, 7},
		"another number":    {func(t *testing.T, w *written) { w.entry(t, 129, strings.Replace(w.lines[129], "129,", "130,", 1)) }, checker.Edit, 129},
		"another hash":      {func(t *testing.T, w *written) { w.entry(t, 7, swap(t, w.lines[7], "hash", w.lines[8])) }, checker.Edit, 7},
		"another prev_hash": {func(t *testing.T, w *written) { w.entry(t, 7, swap(t, w.lines[7], "prev_hash", w.lines[8])) }, checker.Edit, 7},
		"another seq":       {func(t *testing.T, w *written) { w.entry(t, 7, strings.Replace(w.lines[7], `"seq":7`, `"seq":8`, 1)) }, checker.Edit, 7},
		"one more member": {func(t *testing.T, w *written) {
			w.entry(t, 7, strings.Replace(w.lines[7], `"seq":7`, `"seq":7,"x":1`, 1))
		}, checker.Edit, 7},
		"a blank":             {func(t *testing.T, w *written) { w.entry(t, 7, w.lines[7]+" ") }, checker.Edit, 7},
		"an escape":           {func(t *testing.T, w *written) { w.entry(t, 7, strings.Replace(w.lines[7], "é", `\u00e9`, 1)) }, checker.Edit, 7},
		"no JSON":             {func(t *testing.T, w *written) { w.entry(t, 7, "gone") }, checker.Edit, 7},
		"nothing":             {func(t *testing.T, w *written) { w.entry(t, 7, "") }, checker.Edit, 7},
		"an earlier entry":    {func(t *testing.T, w *written) { w.entry(t, 7, w.lines[6]) }, checker.Edit, 7},
		"a later entry":       {func(t *testing.T, w *written) { w.entry(t, 7, w.lines[8]) }, checker.Edit, 7},
		"an event without id": {func(t *testing.T, w *written) { w.rewrite(t, 7, `{"tenant_id":"`+w.of.String()+`"}`) }, checker.Edit, 7},
		"no event at all":     {func(t *testing.T, w *written) { w.rewrite(t, 7, `[]`) }, checker.Edit, 7},

		"an entry of another history": {func(t *testing.T, w *written) {
			line, _ := forge(t, 7, member(t, w.lines[2], "hash"), event(w.of.String(), 7))
			w.entry(t, 7, line)
		}, checker.Fork, 7},
		"an entry with its own hash made anew": {func(t *testing.T, w *written) {
			line, _ := forge(t, 7, member(t, w.lines[6], "hash"), event(w.of.String(), 700))
			w.entry(t, 7, line)
		}, checker.Fork, 8},

		"an event twice":          {func(t *testing.T, w *written) { w.rewrite(t, 110, event(w.of.String(), 3)) }, checker.Double, 110},
		"another tenant's event":  {func(t *testing.T, w *written) { w.rewrite(t, 7, event("globex", 7)) }, checker.Tenant, 7},
		"an event without tenant": {func(t *testing.T, w *written) { w.rewrite(t, 7, `{"id":"evt_1"}`) }, checker.Edit, 7},

		"a head of another hash": {func(t *testing.T, w *written) { w.head(t, 129, member(t, w.lines[128], "hash")) }, checker.Head, 129},
		"a head put back":        {func(t *testing.T, w *written) { w.head(t, 110, member(t, w.lines[110], "hash")) }, checker.Head, 110},
		"a head put forward":     {func(t *testing.T, w *written) { w.head(t, 130, member(t, w.lines[129], "hash")) }, checker.Gap, 130},
		"no head":                {func(t *testing.T, w *written) { w.remove(t, key.JournalHead(w.of)) }, checker.Head, -1},
		"a head without seq":     {func(t *testing.T, w *written) { w.put(t, key.JournalHead(w.of), `{"hash":"00"}`) }, checker.Head, 0},
		"a negative head":        {func(t *testing.T, w *written) { w.head(t, -1, journal.Origin) }, checker.Head, 0},
		"a head that is none":    {func(t *testing.T, w *written) { w.put(t, key.JournalHead(w.of), `?`) }, checker.Head, 0},
		"an entry behind it":     {func(t *testing.T, w *written) { w.entry(t, 130, w.lines[129]) }, checker.Head, 129},
		"one far behind it":      {func(t *testing.T, w *written) { w.entry(t, 90_000, "{}") }, checker.Head, 129},

		"no mark":                 {func(t *testing.T, w *written) { w.remove(t, key.JournalMark(w.of, name(7))) }, checker.Mark, 7},
		"a mark of another entry": {func(t *testing.T, w *written) { w.mark(t, name(7), 8, name(7)) }, checker.Mark, 7},
		"a mark of a later entry": {func(t *testing.T, w *written) { w.mark(t, name(7), 500, name(7)) }, checker.Mark, 7},
		"a mark of other content": {func(t *testing.T, w *written) { w.mark(t, name(7), 7, name(8)) }, checker.Mark, 7},
		"a mark that is none":     {func(t *testing.T, w *written) { w.put(t, key.JournalMark(w.of, name(7)), "?") }, checker.Mark, 7},
		"a mark without entry":    {func(t *testing.T, w *written) { w.mark(t, "evt_kept_out", 8, name(8)) }, checker.Mark, 8},
		"a mark of no entry yet":  {func(t *testing.T, w *written) { w.mark(t, "evt_kept_out", 500, name(8)) }, checker.Mark, 500},
		"a mark in another place": {func(t *testing.T, w *written) { w.misplace(t, name(7)) }, checker.Mark, 7},
		"the earliest of two": {func(t *testing.T, w *written) {
			w.remove(t, key.JournalMark(w.of, name(90)))
			w.mark(t, name(17), 1, name(17))
		}, checker.Mark, 17},
		"entries come before them": {func(t *testing.T, w *written) { w.mark(t, name(7), 8, name(7)); w.entry(t, 120, "?") }, checker.Edit, 120},
	} {
		t.Run(name, func(t *testing.T) {
			w := write(t, entries)
			c.plant(t, w)
			report, err := checker.Store(t.Context(), engine.Table(), w.of)
			noError(t, err)
			if report.Fault == nil || report.Fault.Kind != c.kind || report.Fault.Seq != c.seq {
				t.Fatalf("fault = %v, want %s at %d", report.Fault, c.kind, c.seq)
			}
			if report.Fault.Detail == "" || strings.Contains(report.Fault.Detail, "é") {
				t.Errorf("detail: %s", report.Fault.Detail)
			}
		})
	}
}

// swap gives a line the other line's value of a member.
func swap(t *testing.T, line, name, other string) string {
	t.Helper()
	return strings.Replace(line, `"`+name+`":"`+member(t, line, name), `"`+name+`":"`+member(t, other, name), 1)
}

func (w *written) head(t *testing.T, seq int, hash string) {
	t.Helper()
	w.put(t, key.JournalHead(w.of), fmt.Sprintf(`{"hash":%q,"seq":%d}`, hash, seq))
}

// mark makes an event's mark point at an entry, with the hash of an event.
func (w *written) mark(t *testing.T, event string, seq int, content string) {
	t.Helper()
	item, found, err := engine.Table().Get(t.Context(), key.JournalMark(w.of, content))
	noError(t, err)
	equal(t, "there is a mark", found, true)
	w.put(t, key.JournalMark(w.of, event), fmt.Sprintf(`{"event_sha256":%q,"seq":%d}`, member(t, string(item.Body), "event_sha256"), seq))
}

// misplace moves an event's mark to where nobody looks for it.
func (w *written) misplace(t *testing.T, event string) {
	t.Helper()
	right := key.JournalMark(w.of, event)
	item, _, err := engine.Table().Get(t.Context(), right)
	noError(t, err)
	for shard := range key.JournalShards {
		if wrong := (key.Key{PK: key.JournalMarks(w.of, shard), SK: event}); wrong != right {
			w.remove(t, right)
			w.put(t, wrong, string(item.Body))
			return
		}
	}
}

// What is appended while a check runs is no fault.
func TestWhileAppending(t *testing.T) {
	of, done := tenant(t), make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; n < 600; n += 3 {
			extend(t, &journal.Journal{Store: engine.Table()}, of, n, n+3)
		}
	}()
	for last := int64(0); ; {
		report, err := checker.Store(t.Context(), engine.Table(), of)
		noError(t, err)
		if report.Fault != nil || report.Entries < last {
			t.Fatalf("%d entries after %d, and fault %v", report.Entries, last, report.Fault)
		}
		last = report.Entries
		select {
		case <-done:
			if last == 600 {
				return
			}
		default:
		}
	}
}

// wire is the HTTP layer below the SDK.
type wire func(*http.Request) (*http.Response, error)

// Do sends a request.
func (w wire) Do(req *http.Request) (*http.Response, error) { return w(req) }

// A table that fails is neither a sound journal nor a fault of it.
func TestTableThatFails(t *testing.T) {
	w := write(t, 130)
	for nth := 1; ; nth++ {
		calls := 0
		store := engine.Table(func(o *dynamodb.Options) {
			o.RetryMaxAttempts = 1
			o.HTTPClient = wire(func(req *http.Request) (*http.Response, error) {
				if calls++; calls == nth {
					return nil, errors.New("connection reset by peer")
				}
				return enginetest.Connections.Do(req)
			})
		})
		report, err := checker.Store(t.Context(), store, w.of)
		equal(t, "fault", report.Fault, nil)
		if calls < nth {
			noError(t, err)
			equal(t, "calls", calls, 1+2+16+16) // the head, two windows, what lies behind, the marks
			return
		}
		if !fault.Is(err, fault.DependencyUnavailable) {
			t.Fatalf("call %d: error = %v", nth, err)
		}
	}
}
