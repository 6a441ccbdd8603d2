package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmoney/mcp/infra/local/tap"
)

// place is one of the things that functions call, by the variable that says where
// it is.
type place string

// The places.
const (
	table  place = "DYNAMODB_ENDPOINT"
	events place = "EVENTS_ENDPOINT"
	blobs  place = "S3_ENDPOINT"
	chain  place = "RPC_URLS"
)

// valve stands before a place, and does to each call what it was told; nothing,
// until then.
type valve struct {
	mu   sync.Mutex
	does tap.Between
}

// set tells the valve what to do; nil opens it.
func (v *valve) set(does tap.Between) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.does = does
}

func (v *valve) between(ctx context.Context, call tap.Call, pass func() (tap.Answer, error)) (tap.Answer, error) {
	v.mu.Lock()
	does := v.does
	v.mu.Unlock()
	if does == nil {
		return pass()
	}
	return does(ctx, call, pass)
}

// counter counts what a disturbance has done: one that did nothing shows nothing.
type counter struct{ n atomic.Int64 }

func (c *counter) hit(n int) { c.n.Add(int64(n)) }

// errCut has a tap cut the connection.
var errCut = errors.New("chaos")

// cut lets no call through.
func (c *counter) cut(context.Context, tap.Call, func() (tap.Answer, error)) (tap.Answer, error) {
	c.hit(1)
	return tap.Answer{}, errCut
}

func every(tap.Call) bool { return true }

// writes are the calls of the table that change it.
func writes(call tap.Call) bool {
	return slices.Contains([]string{"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"}, call.Operation())
}

// loseEvery hands every call on and cuts the reply of every nth of those meant.
func (c *counter) loseEvery(n int64, meant func(tap.Call) bool) tap.Between {
	var seen atomic.Int64
	return func(_ context.Context, call tap.Call, pass func() (tap.Answer, error)) (tap.Answer, error) {
		answer, err := pass()
		if err == nil && meant(call) && seen.Add(1)%n == 0 {
			c.hit(1)
			err = errCut
		}
		return answer, err
	}
}

// refuse answers every call itself.
func (c *counter) refuse(status int, body string) tap.Between {
	return func(context.Context, tap.Call, func() (tap.Answer, error)) (tap.Answer, error) {
		c.hit(1)
		return tap.Answer{Status: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: []byte(body)}, nil
	}
}

const (
	// burst is how long a disturbance lasts that comes and goes: longer than a
	// client of AWS goes on trying. gap is what lies between two of them.
	burst = 2400 * time.Millisecond
	gap   = 1200 * time.Millisecond
)

// inBursts has a disturbance come and go.
func inBursts(does tap.Between) tap.Between {
	began := time.Now()
	return func(ctx context.Context, call tap.Call, pass func() (tap.Answer, error)) (tap.Answer, error) {
		if time.Since(began)%(burst+gap) >= burst {
			return pass()
		}
		return does(ctx, call, pass)
	}
}

// slow hands every call on after a while.
func slow(ctx context.Context, _ tap.Call, pass func() (tap.Answer, error)) (tap.Answer, error) {
	sleep(ctx, 40*time.Millisecond)
	return pass()
}

// full is a store of bytes that has no room: what is asked for is answered, what
// is to be stored is refused.
func (c *counter) full() tap.Between {
	said := []struct {
		status int
		code   string
	}{{http.StatusInsufficientStorage, "InsufficientStorage"}, {http.StatusServiceUnavailable, "SlowDown"}}
	var seen atomic.Int64
	return func(_ context.Context, call tap.Call, pass func() (tap.Answer, error)) (tap.Answer, error) {
		if call.Method != http.MethodPut {
			return pass()
		}
		c.hit(1)
		say := said[seen.Add(1)%int64(len(said))]
		return tap.Answer{
			Status: say.status, Header: http.Header{"Content-Type": {"application/xml"}},
			Body: []byte(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>` + say.code + `</Code><Message>chaos</Message></Error>`),
		}, nil
	}
}

// watch hands every call of the bus on and counts the replies that are missing,
// refuse or refuse a part.
func (c *counter) watch(_ context.Context, _ tap.Call, pass func() (tap.Answer, error)) (tap.Answer, error) {
	answer, err := pass()
	var said struct{ FailedEntryCount int }
	if err == nil && answer.Status == http.StatusOK {
		_ = json.Unmarshal(answer.Body, &said) // a body that is none refuses nothing
	}
	if err != nil || answer.Status != http.StatusOK || said.FailedEntryCount > 0 {
		c.hit(1)
	}
	return answer, err
}
