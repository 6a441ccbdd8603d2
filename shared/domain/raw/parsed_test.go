package raw_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/raw"
)

var importer = identity.Actor{Type: "operator", ID: "import"}

// What parsers make of an artifact is kept under ids of evidence that its own id
// gives, and the last word of it counts.
func TestParsed(t *testing.T) {
	w := newWorld(t, parts{})
	a := w.must(t, raw.Origin{Actor: importer, Trusted: true}, "a,b", "")
	got, err := w.archive.Parsed(t.Context(), w.tenant, a.ID, raw.Report)
	noError(t, err)
	equal(t, "before anything was parsed", got == nil, true)
	for _, n := range []int{1, 2} {
		noError(t, w.archive.KeepParsed(t.Context(), w.tenant, a.ID, raw.Report, map[string]int{"entries": n}))
	}
	got, err = w.archive.Parsed(t.Context(), w.tenant, a.ID, raw.Report)
	noError(t, err)
	equal(t, "report", string(got), `{"entries":2}`)
	noError(t, id.Check(id.ParsedEvidence, raw.EvidenceID(a.ID, "12")))
	other := newWorld(t, parts{})
	got, err = other.archive.Parsed(t.Context(), other.tenant, a.ID, raw.Report)
	noError(t, err)
	equal(t, "of another tenant", got == nil, true)
}

// Pieces are stored whole, however many or large they are: in as many transactions
// as they need and no more.
func TestKeepAll(t *testing.T) {
	for _, c := range []struct {
		name                  string
		pieces, bytes, writes int
	}{
		{"none", 0, 0, 0},
		{"as many as fit", 100, 10, 1},
		{"more", 102, 10, 2},
		{"as large as fits", 5, 350_000, 1},
		{"larger", 12, 350_000, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var written atomic.Int32
			w := newWorld(t, parts{table: func(req *http.Request) (*http.Response, error) {
				if writes(req) {
					written.Add(1)
				}
				return connections.Do(req)
			}})
			var pieces []raw.Piece
			for n := range c.pieces {
				pieces = append(pieces, raw.Piece{Name: strconv.Itoa(n + 1), Content: fmt.Sprintf("%0*d", c.bytes, n)})
			}
			noError(t, w.archive.KeepAll(t.Context(), w.tenant, "raw_1", pieces))
			equal(t, "transactions", int(written.Load()), c.writes)
			for _, piece := range pieces {
				got, err := w.archive.Parsed(t.Context(), w.tenant, "raw_1", piece.Name)
				noError(t, err)
				equal(t, "piece "+piece.Name, string(got), fmt.Sprintf("%q", piece.Content))
			}
		})
	}
}

// Only what is not in the ledger is tried again, and who brought it stays in it.
func TestRetry(t *testing.T) {
	w := newWorld(t, parts{})
	agent := w.agent(t, "agt_1", true)
	a := w.must(t, agent, `{"x":1}`, "")
	retry := func(source string) raw.Artifact {
		t.Helper()
		again, err := w.archive.Retry(t.Context(), w.tenant, importer, "req_2", a.ID, json.RawMessage(source))
		noError(t, err)
		return again
	}
	accepted := func() (n int) {
		for _, e := range w.bus.all() {
			if e.Type == raw.ActionAccepted {
				n++
			}
		}
		return n
	}
	_, err := w.archive.Advance(t.Context(), w.tenant, importer, "req_2", a.ID, raw.Failed, nil)
	noError(t, err)
	again := retry(`{"mapping":"bank","agent_id":"agt_forged"}`)
	equal(t, "state", again.State, raw.Accepted)
	source := decode(t, again.SourceRef)
	equal(t, "source", source["mapping"].(string)+" "+source["agent_id"].(string), "bank agt_1")
	equal(t, "announced", accepted(), 1)
	// One that nobody has heard of is announced once more.
	equal(t, "source that stays", string(retryNothing(t, w, a.ID).SourceRef), string(again.SourceRef))
	equal(t, "announced", accepted(), 2)
	_, err = w.archive.Advance(t.Context(), w.tenant, importer, "req_3", a.ID, raw.Extracted, nil)
	noError(t, err)
	equal(t, "state", retry(`{}`).State, raw.Extracted)
	equal(t, "announced", accepted(), 2)
	_, err = w.archive.Retry(t.Context(), w.tenant, importer, "req_4", "raw_none", nil)
	fails(t, err, fault.RawArtifactNotFound)
}

func retryNothing(t *testing.T, w *world, name string) raw.Artifact {
	t.Helper()
	again, err := w.archive.Retry(t.Context(), w.tenant, importer, "req_2", name, nil)
	noError(t, err)
	return again
}

// An operator brings more than an agent may, and no more than that.
func TestSizeOfAnImport(t *testing.T) {
	w := newWorld(t, parts{})
	bring := func(by raw.Origin, n int) error {
		_, err := w.archive.Contribute(t.Context(), w.tenant, by, "req_1", raw.Contribution{Payload: make([]byte, n)})
		return err
	}
	operator := raw.Origin{Actor: importer, Trusted: true}
	noError(t, bring(operator, raw.MaxImport/8))
	fails(t, bring(operator, raw.MaxImport+1), fault.InvalidArgument)
	fails(t, bring(w.agent(t, "agt_1", true), raw.MaxImport/8), fault.InvalidArgument)
}
