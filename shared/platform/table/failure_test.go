package table_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// answer is a reply as DynamoDB writes it.
func answer(req *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Request: req, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
	}
}

// refuses answers every request in place of the engine.
func refuses(status int, body string) wire {
	return func(req *http.Request, _ func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		return answer(req, status, body), nil
	}
}

// errorBody is an exception as DynamoDB writes it; codes are the reasons of a
// cancelled transaction.
func errorBody(name string, codes ...string) string {
	reasons := []map[string]string{}
	for _, code := range codes {
		reasons = append(reasons, map[string]string{"Code": code})
	}
	body, _ := json.Marshal(map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + name, "message": name, "CancellationReasons": reasons})
	return string(body)
}

// TestConflictOrUnavailable: what DynamoDB says, and what it means to who
// decides. The local engine shows no TransactionConflict, so all of them are
// put in its place.
func TestConflictOrUnavailable(t *testing.T) {
	tb := func(status int, body string) func(record.Change) error {
		store := open(through(refuses(status, body)))
		return func(c record.Change) error { return store.Commit(t.Context(), c) }
	}
	two := record.Change{Puts: []record.Put{put(at(t, "a"), "x", 0), put(at(t, "b"), "x", 0)}}
	blind := record.Change{Puts: []record.Put{{Item: record.Item{Key: at(t, "a")}, Blind: true}}}
	remove := record.Change{Deletes: []key.Key{at(t, "a")}}
	const cancelled = "TransactionCanceledException"
	for name, c := range map[string]struct {
		status   int
		body     string
		change   record.Change
		conflict bool
	}{
		"condition of the first":            {400, errorBody(cancelled, "ConditionalCheckFailed", "None"), two, true},
		"condition of the last":             {400, errorBody(cancelled, "None", "ConditionalCheckFailed"), two, true},
		"another transaction":               {400, errorBody(cancelled, "None", "TransactionConflict"), two, true},
		"both":                              {400, errorBody(cancelled, "TransactionConflict", "ConditionalCheckFailed"), two, true},
		"another transaction, by the way":   {400, errorBody("TransactionConflictException"), blind, true},
		"another transaction at a delete":   {400, errorBody("TransactionConflictException"), remove, true},
		"condition outside a transaction":   {400, errorBody("ConditionalCheckFailedException"), blind, true},
		"throttled":                         {400, errorBody(cancelled, "ThrottlingError", "None"), two, false},
		"over the table's throughput":       {400, errorBody(cancelled, "ProvisionedThroughputExceeded", "None"), two, false},
		"malformed":                         {400, errorBody(cancelled, "ValidationError", "None"), two, false},
		"no reason":                         {400, errorBody(cancelled), two, false},
		"in progress":                       {400, errorBody("TransactionInProgressException"), two, false},
		"no permission":                     {400, errorBody("AccessDeniedException"), two, false},
		"no table":                          {400, errorBody("ResourceNotFoundException"), two, false},
		"validation":                        {400, errorBody("ValidationException"), blind, false},
		"the service fails":                 {500, errorBody("InternalServerError"), two, false},
		"a gateway's page":                  {502, "<html>", two, false},
		"a blind put is throttled":          {400, errorBody("ThrottlingException"), blind, false},
		"a delete meets a failing service":  {500, errorBody("InternalServerError"), remove, false},
		"an answer that is no JSON at all":  {200, "\x00", two, false},
		"the same token with other content": {400, errorBody("IdempotentParameterMismatchException"), two, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := tb(c.status, c.body)(c.change)
			if c.conflict {
				conflicts(t, err)
			} else {
				unavailable(t, err)
			}
		})
	}
}

func TestReadsOfATableThatFails(t *testing.T) {
	for name, w := range map[string]wire{
		"fails":     refuses(500, errorBody("InternalServerError")),
		"throttles": refuses(400, errorBody("ThrottlingException")),
		"is gone": func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			return nil, errors.New("connection refused")
		},
	} {
		t.Run(name, func(t *testing.T) {
			tb := open(through(w))
			_, found, err := tb.Get(t.Context(), at(t, "a"))
			unavailable(t, err)
			equal(t, "found", found, false)
			_, err = tb.GetMany(t.Context(), []key.Key{at(t, "a")})
			unavailable(t, err)
			_, err = tb.Query(t.Context(), record.Query{PK: partition(t)})
			unavailable(t, err)
			unavailable(t, tb.Commit(t.Context(), record.Change{Puts: []record.Put{put(at(t, "a"), "x", 0)}}))
			if message := fault.Of(err).Message; strings.Contains(message, "refused") || strings.Contains(message, "Throttling") {
				t.Errorf("the caller is told of the inside: %s", message)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	hangs := wire(func(req *http.Request, _ func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, _, err := open(through(hangs)).Get(ctx, at(t, "a"))
	unavailable(t, err)
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Error("it came back before its time")
	}
}

// leavesOut answers batch reads of all but the first keep keys of each call.
func leavesOut(keep int, calls *atomic.Int32) wire {
	return func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		calls.Add(1)
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		var in struct {
			RequestItems map[string]struct {
				Keys           []json.RawMessage
				ConsistentRead bool
			}
		}
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, err
		}
		left := in.RequestItems[name]
		if !left.ConsistentRead {
			return nil, errors.New("the read is not consistent")
		}
		n := min(keep, len(left.Keys))
		asked := left
		asked.Keys, left.Keys = left.Keys[:n], left.Keys[n:]
		if n == 0 {
			body, err := json.Marshal(map[string]any{"Responses": map[string]any{}, "UnprocessedKeys": map[string]any{name: left}})
			return answer(req, 200, string(body)), err
		}
		body, err := json.Marshal(map[string]any{"RequestItems": map[string]any{name: asked}})
		if err != nil {
			return nil, err
		}
		shorter := req.Clone(req.Context())
		shorter.Body, shorter.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		res, err := next(shorter)
		if err != nil || len(left.Keys) == 0 {
			return res, err
		}
		var out map[string]any
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
			return nil, err
		}
		_ = res.Body.Close()
		out["UnprocessedKeys"] = map[string]any{name: left}
		body, err = json.Marshal(out)
		return answer(req, 200, string(body)), err
	}
}

func TestUnprocessedKeys(t *testing.T) {
	var keys []key.Key
	var puts []record.Put
	for i := range 80 {
		keys = append(keys, at(t, fmt.Sprintf("%02d", i)))
		puts = append(puts, put(keys[i], "x", 0))
	}
	commit(t, puts...)
	for name, c := range map[string]struct {
		keep, want int
		calls      int32
	}{
		"all at once":        {100, 80, 1},
		"half":               {40, 80, 2},
		"a few":              {9, 80, 9},
		"as many as allowed": {8, 80, 10},
		"too few":            {7, -1, 10},
		"none, for ever":     {0, -1, 10},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			got, err := open(through(leavesOut(c.keep, &calls))).GetMany(t.Context(), keys)
			equal(t, "calls", calls.Load(), c.calls)
			if c.want < 0 {
				unavailable(t, err)
				equal(t, "items of a read that is not whole", len(got), 0)
				return
			}
			noError(t, err)
			equal(t, "items", len(got), c.want)
		})
	}
}

// loses hands writes to the engine and drops the answers to the first n that
// were made, as a connection does that breaks in that moment.
func loses(n int32) (wire, *atomic.Int32) {
	var made atomic.Int32
	return func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		res, err := next(req)
		if err != nil || res.StatusCode != http.StatusOK || made.Add(1) > n {
			return res, err
		}
		_ = res.Body.Close()
		return nil, errors.New("connection reset by peer")
	}, &made
}

// TestLostReply: the SDK sends the write again, and it counts once.
func TestLostReply(t *testing.T) {
	one := func(k key.Key) record.Add {
		return record.Add{Key: k, Deltas: map[string]*big.Int{"n": big.NewInt(1)}}
	}
	for name, change := range map[string]func(t *testing.T) record.Change{
		"add alone": func(t *testing.T) record.Change { return record.Change{Adds: []record.Add{one(at(t, "n"))}} },
		"add, new and changed": func(t *testing.T) record.Change {
			commit(t, put(at(t, "old"), "x", 0))
			return record.Change{
				Puts: []record.Put{put(at(t, "new"), "x", 0), put(at(t, "old"), "y", 1)}, Adds: []record.Add{one(at(t, "n"))},
			}
		},
		"add and delete": func(t *testing.T) record.Change {
			commit(t, put(at(t, "old"), "x", 0))
			return record.Change{Adds: []record.Add{one(at(t, "n"))}, Deletes: []key.Key{at(t, "old")}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := change(t)
			w, made := loses(2)
			noError(t, open(through(w)).Commit(t.Context(), c))
			equal(t, "answers", made.Load(), 3)
			item, _, err := open().Get(t.Context(), at(t, "n"))
			noError(t, err)
			equal(t, "count", item.Numbers["n"].String(), "1")
		})
	}
	t.Run("blind put", func(t *testing.T) {
		w, _ := loses(1)
		blind := record.Put{Item: record.Item{Key: at(t, "a"), Body: []byte("x")}, Blind: true}
		noError(t, open(through(w)).Commit(t.Context(), record.Change{Puts: []record.Put{blind}}))
		holds(t, at(t, "a"), "x v1")
	})
	t.Run("new row alone", func(t *testing.T) {
		w, _ := loses(1)
		noError(t, open(through(w)).Commit(t.Context(), record.Change{Puts: []record.Put{put(at(t, "a"), "x", 0)}}))
		holds(t, at(t, "a"), "x v1")
	})
}

// Two commits of one change are two writes: the token belongs to the call and
// not to what it says.
func TestTwiceIsTwice(t *testing.T) {
	change := record.Change{Adds: []record.Add{{Key: at(t, "n"), Deltas: map[string]*big.Int{"n": big.NewInt(1)}}}}
	noError(t, open().Commit(t.Context(), change))
	noError(t, open().Commit(t.Context(), change))
	item, _, err := open().Get(t.Context(), at(t, "n"))
	noError(t, err)
	equal(t, "count", item.Numbers["n"].String(), "2")
}
