package checker_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/canonical"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// engine holds the table of this package's tests. Tests keep apart by their
// tenants.
var engine *enginetest.Engine

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { engine = e }))
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

var tenants atomic.Int32

func tenant(t testing.TB) identity.Tenant {
	t.Helper()
	of, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	return of
}

func name(n int) string { return fmt.Sprintf("evt_01K6D3Q6Y4R8M2N5T7V%07d", n) }

func event(of string, n int) string {
	return fmt.Sprintf(`{"action":"raw.contributed","id":%q,"inputs":{"bytes":%d,"note":"é<"},"tenant_id":%q}`, name(n), n, of)
}

// written is a journal somebody may tamper with: its tenant and its lines.
type written struct {
	of    identity.Tenant
	lines []string
}

// write makes a sound journal of so many entries.
func write(t testing.TB, entries int) *written {
	t.Helper()
	w := &written{of: tenant(t)}
	j := &journal.Journal{Store: engine.Table()}
	extend(t, j, w.of, 0, entries)
	all, err := j.Entries(t.Context(), w.of, 0, int64(entries)-1)
	noError(t, err)
	for _, entry := range all {
		w.lines = append(w.lines, string(entry.Line()))
	}
	return w
}

// extend appends events from one number up to another.
func extend(t testing.TB, j *journal.Journal, of identity.Tenant, from, to int) {
	t.Helper()
	var events []journal.Event
	for n := from; n < to; n++ {
		e, err := journal.Parse([]byte(event(of.String(), n)))
		noError(t, err)
		events = append(events, e)
	}
	_, err := j.Append(t.Context(), of, events)
	noError(t, err)
}

func (w *written) put(t testing.TB, k key.Key, body string) {
	t.Helper()
	noError(t, engine.Table().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: k, Body: []byte(body)}, Blind: true}}}))
}

func (w *written) remove(t testing.TB, k key.Key) {
	t.Helper()
	noError(t, engine.Table().Commit(t.Context(), record.Change{Deletes: []key.Key{k}}))
}

// entry puts a line in an entry's place.
func (w *written) entry(t testing.TB, seq int, line string) {
	t.Helper()
	w.put(t, key.JournalEntry(w.of, int64(seq)), line)
}

// forge makes the line of an entry whose hash is its own.
func forge(t testing.TB, seq int, prev, event string) (line, hash string) {
	t.Helper()
	members := map[string]any{"seq": seq, "prev_hash": prev, "event": json.RawMessage(event)}
	sum, err := canonical.Hash(members)
	noError(t, err)
	members["hash"] = hex.EncodeToString(sum[:])
	form, err := canonical.Marshal(members)
	noError(t, err)
	return string(form), members["hash"].(string)
}

// member reads a member of a line.
func member(t testing.TB, line, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	noError(t, json.Unmarshal([]byte(line), &members))
	var text string
	if json.Unmarshal(members[name], &text) == nil {
		return text
	}
	return string(members[name])
}

// rewrite replaces the event of an entry and makes every hash from there to the
// head anew, as somebody does who has the whole table in hand.
func (w *written) rewrite(t testing.TB, from int, event string) {
	t.Helper()
	prev := member(t, w.lines[from-1], "hash")
	for seq := from; seq < len(w.lines); seq++ {
		if seq > from {
			event = member(t, w.lines[seq], "event")
		}
		var line string
		line, prev = forge(t, seq, prev, event)
		w.entry(t, seq, line)
	}
	w.put(t, key.JournalHead(w.of), fmt.Sprintf(`{"seq":%d,"hash":%q}`, len(w.lines)-1, prev))
}
