package raw_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/raw/payload"
	"github.com/robotmoney/mcp/shared/domain/record"
)

func TestContribution(t *testing.T) {
	w := newWorld(t, parts{})
	by := w.agent(t, "agt_1", false)
	got, err := w.archive.Contribute(t.Context(), w.tenant, by, "req_7", raw.Contribution{
		Payload: []byte("date,amount\n"), MIMEType: "Text/CSV; charset=utf-8",
		SourceRef: json.RawMessage(`{"file":"a.csv","agent_id":"agt_other","agent_role":"boss","registration":"0x00","n":9007199254740993}`),
	})
	noError(t, err)
	noError(t, id.Check(id.RawArtifact, got.ID))
	equal(t, "sha256", got.SHA256, payload.Sum([]byte("date,amount\n")))
	equal(t, "size", got.Size, 12)
	equal(t, "type", got.MIMEType, "text/csv; charset=utf-8")
	equal(t, "state", got.State, raw.Quarantined)
	equal(t, "agent", got.AgentID, "agt_1")
	equal(t, "role", got.AgentRole, "treasury")
	registration := identity.AgentHash(w.tenant.String(), "agt_1").String()
	equal(t, "registration", got.Registration, registration)
	equal(t, "source", string(got.SourceRef), `{"agent_id":"agt_1","agent_role":"treasury","file":"a.csv","n":9007199254740993,"registration":"`+registration+`"}`)
	equal(t, "deduplicated", got.Deduplicated, false)
	equal(t, "created", got.CreatedAt, "2025-09-30T12:00:00.000Z")

	kept, err := w.archive.Artifact(t.Context(), w.tenant, got.ID)
	noError(t, err)
	equal(t, "kept", fmt.Sprint(kept), fmt.Sprint(got.Artifact))
	body, err := w.archive.Payload(t.Context(), w.tenant, kept)
	noError(t, err)
	equal(t, "bytes", string(body), "date,amount\n")

	equal(t, "events", len(w.bus.all()), 1)
	event := decode(t, w.bus.all()[0].Detail)["data"].(map[string]any)
	equal(t, "action", event["action"].(string), "raw.contributed")
	equal(t, "layer", event["layer"].(string), "raw")
	equal(t, "request", event["request_id"].(string), "req_7")
	equal(t, "inputs", fmt.Sprint(event["inputs"]), fmt.Sprint(map[string]any{"sha256": got.SHA256, "size_bytes": 12., "mime_type": got.MIMEType}))
	equal(t, "outputs", fmt.Sprint(event["outputs"]), fmt.Sprint(map[string]any{"raw_id": got.ID, "state": "quarantined"}))
	if bytes.Contains(w.bus.all()[0].Detail, []byte("date,amount")) {
		t.Error("the event holds the bytes")
	}
	for index, pk := range map[int]string{1: key.LedgerList(w.tenant, id.RawArtifact, "", "").PK, 2: key.LedgerListOf(w.tenant, id.RawArtifact, "agt_1", "", "").PK} {
		page, err := w.store.Query(t.Context(), record.Query{Index: index, PK: pk})
		noError(t, err)
		equal(t, fmt.Sprintf("rows in index %d", index), len(page.Items), 1)
	}
}

func TestTheSameBytesAreOneArtifact(t *testing.T) {
	w := newWorld(t, parts{})
	first := w.must(t, w.agent(t, "agt_1", false), "bytes", "")
	w.passes(time.Hour)
	// Whoever brings them, it stays the first one's; only somebody trusted ends its
	// quarantine, once.
	for _, c := range []struct {
		name   string
		by     raw.Origin
		state  raw.State
		events int
	}{
		{"the same agent", w.agent(t, "agt_1", false), raw.Quarantined, 1},
		{"another that nobody trusts", w.agent(t, "agt_3", false), raw.Quarantined, 1},
		{"another that is trusted", w.agent(t, "agt_2", true), raw.Accepted, 2},
		{"an operator", raw.Origin{Actor: identity.Actor{Type: "operator", ID: "import"}, Trusted: true}, raw.Accepted, 2},
		{"the same agent again", w.agent(t, "agt_1", false), raw.Accepted, 2},
	} {
		again := w.must(t, c.by, "bytes", "")
		equal(t, c.name+": deduplicated", again.Deduplicated, true)
		first.State = c.state
		equal(t, c.name+": artifact", fmt.Sprint(again.Artifact), fmt.Sprint(first.Artifact))
		equal(t, c.name+": events", len(w.bus.all()), c.events)
	}
	other := newWorld(t, parts{})
	if elsewhere := other.must(t, other.agent(t, "agt_1", false), "bytes", ""); elsewhere.Deduplicated || elsewhere.ID == first.ID {
		t.Errorf("another tenant shares %s", elsewhere.ID)
	}
}

// many contributes at once and returns what each got.
func many(t *testing.T, w *world, n int, contribute func(i int) (raw.Receipt, error)) []raw.Receipt {
	t.Helper()
	receipts := make([]raw.Receipt, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			var err error
			if receipts[i], err = contribute(i); err != nil {
				t.Errorf("contribution %d: %v", i, err)
			}
		})
	}
	running.Wait()
	return receipts
}

func TestTheSameBytesAtOnceAreOneArtifact(t *testing.T) {
	w := newWorld(t, parts{})
	receipts := many(t, w, 24, func(i int) (raw.Receipt, error) {
		return w.contribute(w.agent(t, fmt.Sprintf("agt_%d", i%3), false), "bytes", "")
	})
	fresh := 0
	for _, r := range receipts {
		equal(t, "artifact", r.ID, receipts[0].ID)
		if !r.Deduplicated {
			fresh++
		}
	}
	equal(t, "that are new", fresh, 1)
	equal(t, "events", len(w.bus.all()), 1)
}

func TestIdempotencyKeys(t *testing.T) {
	w := newWorld(t, parts{})
	one, two := w.agent(t, "agt_1", false), w.agent(t, "agt_2", false)
	a := w.must(t, one, "a", "k1")
	b := w.must(t, one, "b", "")
	for _, step := range []struct {
		name     string
		by       raw.Origin
		text, to string
		conflict bool
		passes   time.Duration
	}{
		{"the key again", one, "a", a.ID, false, 0},
		{"the key for other bytes", one, "new", "", true, 0},
		{"the key for other bytes that are stored", one, "b", "", true, 0},
		{"another agent's key of that text", two, "b", b.ID, false, 0},
		{"which is then bound too", two, "a", "", true, 0},
		{"a day later", one, "new", "", true, 24 * time.Hour},
		{"when it is forgotten", one, "b", b.ID, false, 25 * time.Hour},
		{"and bound anew", one, "a", "", true, 0},
	} {
		t.Run(step.name, func(t *testing.T) {
			w.passes(step.passes)
			got, err := w.contribute(step.by, step.text, "k1")
			if step.conflict {
				fails(t, err, fault.Conflict)
				return
			}
			noError(t, err)
			equal(t, "artifact", got.ID, step.to)
			equal(t, "deduplicated", got.Deduplicated, true)
		})
	}
	equal(t, "events", len(w.bus.all()), 2)
}

// One key for different bytes at once binds to one of them.
func TestAKeyRacesForDifferentBytes(t *testing.T) {
	w := newWorld(t, parts{})
	by := w.agent(t, "agt_1", true)
	var mu sync.Mutex
	made, conflicts := map[string]bool{}, 0
	var running sync.WaitGroup
	for i := range 12 {
		running.Go(func() {
			r, err := w.contribute(by, fmt.Sprint("bytes ", i%4), "k")
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made[r.ID] = true
			case fault.Is(err, fault.Conflict):
				conflicts++
			default:
				t.Errorf("contribution %d: %v", i, err)
			}
		})
	}
	running.Wait()
	equal(t, "artifacts", len(made), 1)
	equal(t, "conflicts", conflicts, 9)
	equal(t, "events", len(w.bus.all()), 1)
}

func TestTheFirstTenAreQuarantined(t *testing.T) {
	w := newWorld(t, parts{})
	by := w.agent(t, "agt_1", false)
	for i := range 13 {
		want := raw.Quarantined
		if i >= 10 {
			want = raw.Accepted
		}
		equal(t, fmt.Sprintf("contribution %d", i), w.must(t, by, fmt.Sprint(i), "").State, want)
		w.must(t, by, fmt.Sprint(i), "") // what is there already does not count
	}
	equal(t, "of another agent", w.must(t, w.agent(t, "agt_2", false), "x", "").State, raw.Quarantined)
	equal(t, "of a trusted one", w.must(t, w.agent(t, "agt_3", true), "y", "").State, raw.Accepted)
	equal(t, "when trust is gone", w.must(t, w.agent(t, "agt_3", false), "z", "").State, raw.Quarantined)
}

func TestTheFirstTenAreCountedAtOnce(t *testing.T) {
	w := newWorld(t, parts{})
	quarantined := 0
	for _, r := range many(t, w, 30, func(i int) (raw.Receipt, error) {
		return w.contribute(w.agent(t, "agt_1", false), fmt.Sprint(i), fmt.Sprint("k", i))
	}) {
		if r.State == raw.Quarantined {
			quarantined++
		}
	}
	equal(t, "quarantined", quarantined, 10)
	equal(t, "events", len(w.bus.all()), 30)
}

// The answer to the write is lost: the SDK repeats it under its token, and when
// even that fails the same call finds what was stored.
func TestLostAnswers(t *testing.T) {
	for name, lost := range map[string]int32{"once": 1, "until the SDK gives up": 3} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, parts{table: losing(lost, writes)})
			by := w.agent(t, "agt_1", false)
			first, err := w.contribute(by, "bytes", "k")
			if lost == 1 {
				noError(t, err)
				equal(t, "deduplicated", first.Deduplicated, false)
			} else {
				fails(t, err, fault.DependencyUnavailable)
			}
			again := w.must(t, by, "bytes", "k")
			equal(t, "deduplicated", again.Deduplicated, true)
			equal(t, "state", again.State, raw.Quarantined)
			item, _, err := w.store.Get(t.Context(), key.RawCount(w.tenant, "agt_1"))
			noError(t, err)
			equal(t, "count", string(item.Body), `{"contributed":1}`)
		})
	}
}

func TestRefusedContributions(t *testing.T) {
	w := newWorld(t, parts{})
	by := w.agent(t, "agt_1", false)
	one := []byte("x")
	for name, c := range map[string]raw.Contribution{
		"nothing":              {},
		"too much":             {Payload: make([]byte, payload.Max+1)},
		"no type":              {Payload: one, MIMEType: "csv"},
		"a type with a break":  {Payload: one, MIMEType: "text/csv\r\nx: y"},
		"a long type":          {Payload: one, MIMEType: "text/" + strings.Repeat("x", 300)},
		"a list as source":     {Payload: one, SourceRef: json.RawMessage(`[]`)},
		"null as source":       {Payload: one, SourceRef: json.RawMessage(`null`)},
		"broken source":        {Payload: one, SourceRef: json.RawMessage(`{"a":`)},
		"a large source":       {Payload: one, SourceRef: json.RawMessage(`{"a":"` + strings.Repeat("x", 9000) + `"}`)},
		"a long key":           {Payload: one, IdempotencyKey: strings.Repeat("k", 256)},
		"a type without a sub": {Payload: one, MIMEType: "text/"},
	} {
		_, err := w.archive.Contribute(t.Context(), w.tenant, by, "req_1", c)
		if !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	most, err := w.archive.Contribute(t.Context(), w.tenant, by, "req_1", raw.Contribution{Payload: bytes.Repeat([]byte("m"), payload.Max)})
	noError(t, err)
	body, err := w.archive.Payload(t.Context(), w.tenant, most.Artifact)
	noError(t, err)
	equal(t, "size", len(body), payload.Max)
	for _, p := range []identity.Principal{{Kind: identity.User, ID: "mbr_1", Member: &identity.MemberRecord{}}, {Kind: identity.Agent, ID: "agt_1"}} {
		_, err := raw.OriginOf(p)
		fails(t, err, fault.ActorUnresolved)
	}
}

func TestAnArtifactIsItsTenants(t *testing.T) {
	w, other := newWorld(t, parts{}), newWorld(t, parts{})
	got := w.must(t, w.agent(t, "agt_1", false), "bytes", "")
	var messages []string
	for _, name := range []string{got.ID, "raw_none", "", "raw_", "acct_1", "raw_../../x", got.SHA256, strings.Repeat("x", 5000)} {
		_, err := other.archive.Artifact(t.Context(), other.tenant, name)
		fails(t, err, fault.RawArtifactNotFound)
		messages = append(messages, fault.Of(err).Message)
	}
	for _, m := range messages {
		equal(t, "answer", m, messages[0])
	}
}

// An operator's import has no agent, also none that its source names.
func TestAnOperatorIsNoAgent(t *testing.T) {
	w := newWorld(t, parts{})
	operator := raw.Origin{Actor: identity.Actor{Type: "operator", ID: "import"}, Trusted: true}
	got, err := w.archive.Contribute(t.Context(), w.tenant, operator, "req_1", raw.Contribution{
		Payload: []byte("x"), SourceRef: json.RawMessage(`{"agent_id":"agt_1","agent_role":"r","registration":"0x","file":"a"}`),
	})
	noError(t, err)
	equal(t, "source", string(got.SourceRef), `{"file":"a"}`)
	equal(t, "agent", got.AgentID+got.AgentRole+got.Registration, "")
	equal(t, "state", got.State, raw.Accepted)
}

// A write that was made and is answered with a conflict finds itself: it is new
// and not somebody else's.
func TestAWriteThatMeetsItself(t *testing.T) {
	var told atomic.Bool
	w := newWorld(t, parts{table: func(req *http.Request) (*http.Response, error) {
		res, err := connections.Do(req)
		if err != nil || !writes(req) || told.Swap(true) {
			return res, err
		}
		_ = res.Body.Close()
		res.StatusCode, res.Header = http.StatusBadRequest, http.Header{"Content-Type": {"application/x-amz-json-1.0"}}
		res.Body = io.NopCloser(strings.NewReader(`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[{"Code":"TransactionConflict"}]}`))
		return res, nil
	}})
	got := w.must(t, w.agent(t, "agt_1", false), "bytes", "k")
	equal(t, "deduplicated", got.Deduplicated, false)
	equal(t, "state", got.State, raw.Quarantined)
}
