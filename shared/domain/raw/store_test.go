package raw_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/raw/payload"
)

// answers is a store that says the same to everything.
func answers(status int, body string, asked *atomic.Int32) wire {
	return func(req *http.Request) (*http.Response, error) {
		asked.Add(1)
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
	}
}

// Whatever the store does, a contribution it did not take leaves nothing in the
// table and on the bus, and the same call succeeds once the store is back.
func TestTheBlobStoreIsAway(t *testing.T) {
	var asked atomic.Int32
	for name, c := range map[string]struct {
		wire     wire
		attempts int32
	}{
		"refuses":     {answers(403, `<Error><Code>AccessDenied</Code></Error>`, &asked), 1},
		"no bucket":   {answers(404, `<Error><Code>NoSuchBucket</Code></Error>`, &asked), 1},
		"other bytes": {answers(400, `<Error><Code>BadDigest</Code></Error>`, &asked), 1},
		"slow down":   {answers(503, `<Error><Code>SlowDown</Code></Error>`, &asked), 3},
		"fails":       {answers(500, `not xml`, &asked), 3},
		"redirects":   {answers(307, ``, &asked), 1},
		"not there": {func(*http.Request) (*http.Response, error) {
			asked.Add(1)
			return nil, errors.New("connection refused")
		}, 3},
		"slow": {func(req *http.Request) (*http.Response, error) {
			asked.Add(1)
			<-req.Context().Done()
			return nil, req.Context().Err()
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			w := newWorld(t, parts{blob: c.wire})
			by := w.agent(t, "agt_1", false)
			_, err := w.contribute(by, "bytes", "k")
			fails(t, err, fault.DependencyUnavailable)
			equal(t, "attempts", asked.Load(), c.attempts)
			equal(t, "events", len(w.bus.all()), 0)
			left, err := w.store.GetMany(t.Context(), []key.Key{
				key.RawContent(w.tenant, payload.Sum([]byte("bytes"))), key.RawCount(w.tenant, "agt_1"), key.Replay(w.tenant, "agt_1", "raw.contribute", "k"),
			})
			noError(t, err)
			equal(t, "items left", len(left), 0)
			back := newWorld(t, parts{})
			back.tenant = w.tenant
			equal(t, "deduplicated", back.must(t, by, "bytes", "k").Deduplicated, false)
		})
	}
}

// A store that loses the answer is asked again; the bytes are stored once.
func TestTheBlobStoreLosesAnswers(t *testing.T) {
	w := newWorld(t, parts{blob: losing(2, func(req *http.Request) bool { return req.Method == http.MethodPut })})
	got := w.must(t, w.agent(t, "agt_1", false), "bytes", "")
	body, err := w.archive.Payload(t.Context(), w.tenant, got.Artifact)
	noError(t, err)
	equal(t, "bytes", string(body), "bytes")
}

// The table fails after the blob is stored: nothing speaks of the blob, and the
// same call finishes.
func TestTheTableIsAway(t *testing.T) {
	var down atomic.Bool
	down.Store(true)
	w := newWorld(t, parts{table: func(req *http.Request) (*http.Response, error) {
		if down.Load() && writes(req) {
			return nil, errors.New("connection refused")
		}
		return connections.Do(req)
	}})
	by := w.agent(t, "agt_1", false)
	_, err := w.contribute(by, "bytes", "k")
	fails(t, err, fault.DependencyUnavailable)
	equal(t, "events", len(w.bus.all()), 0)
	down.Store(false)
	got := w.must(t, by, "bytes", "k")
	equal(t, "deduplicated", got.Deduplicated, false)
	equal(t, "events", len(w.bus.all()), 1)
}

// Bytes that were changed, cut or lengthened behind our back are never handed
// out as an artifact's.
func TestChangedBytesAreNoticed(t *testing.T) {
	stored := []byte("bytes")
	for _, found := range []string{"Bytes", "byte", "bytes and more", ""} {
		w := newWorld(t, parts{blob: func(req *http.Request) (*http.Response, error) {
			if req.Method != http.MethodGet {
				return connections.Do(req)
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte(found)))}, nil
		}})
		got := w.must(t, w.agent(t, "agt_1", false), string(stored), "")
		if body, err := w.archive.Payload(t.Context(), w.tenant, got.Artifact); err == nil {
			t.Errorf("%q was taken for %q", body, stored)
		}
	}
}

// Many artifacts of one trusted agent share no item, so they never meet.
func TestTrustedContributionsDoNotMeet(t *testing.T) {
	var written atomic.Int32
	w := newWorld(t, parts{table: func(req *http.Request) (*http.Response, error) {
		if writes(req) {
			written.Add(1)
		}
		return connections.Do(req)
	}})
	many(t, w, 20, func(i int) (raw.Receipt, error) { return w.contribute(w.agent(t, "agt_1", true), fmt.Sprint(i), "") })
	equal(t, "transactions", written.Load(), 20)
}
