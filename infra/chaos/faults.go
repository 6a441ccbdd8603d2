package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/robotmoney/mcp/infra/local/tap"
)

// fault is a way in which what the functions stand on misbehaves. What a fault
// does not need is nil.
type fault struct {
	name  string
	means string // what it stands for
	begin func(ctx context.Context, s *stage, r *rand.Rand) error
	pulse func(ctx context.Context, s *stage, r *rand.Rand) error // again and again while it lasts
	end   func(ctx context.Context, s *stage) error
}

const (
	// lasts is how long a fault is on, and beat how often it pulses meanwhile.
	lasts = 11 * time.Second
	beat  = 1200 * time.Millisecond
	// down is how long the table engine stays away when it was killed. A client of
	// AWS tries again three times within about a second.
	down = 1500 * time.Millisecond
)

// faults are all there are, in the order in which they are made. The first is
// none: what is seen without a fault is what the others are held against.
var faults = []fault{
	{name: "none", means: "Nothing is wrong."},
	{
		name: "table-restart", means: "The table engine is killed (SIGKILL), is away for 1.5 s and comes back on its file, again and again.",
		pulse: restart,
	},
	{
		name: "table-reply", means: "Every third write to the table is made and its reply cut off.",
		begin: func(_ context.Context, s *stage, _ *rand.Rand) error { s.table.set(loseEvery(3, writes)); return nil },
		end:   func(_ context.Context, s *stage) error { s.table.set(nil); return nil },
	},
	{
		name: "table-refuses", means: "Every third call of the table is answered with InternalServerError, nothing done.",
		begin: func(_ context.Context, s *stage, _ *rand.Rand) error {
			s.table.set(refuseEvery(3, http.StatusInternalServerError, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"chaos"}`))
			return nil
		},
		end: func(_ context.Context, s *stage) error { s.table.set(nil); return nil },
	},
	{
		name: "bus-refuses", means: "The bus throttles every call of PutEvents.",
		begin: func(_ context.Context, s *stage, _ *rand.Rand) error { s.Bus().Refuse(-1); return nil },
		end:   func(_ context.Context, s *stage) error { s.Bus().Refuse(0); return nil },
	},
	{
		name: "bus-half", means: "The bus takes every other entry.",
		begin: func(_ context.Context, s *stage, _ *rand.Rand) error { s.Bus().HalfAccept(true); return nil },
		end:   func(_ context.Context, s *stage) error { s.Bus().HalfAccept(false); return nil },
	},
	{
		name: "bus-reply", means: "The bus takes every call and cuts the reply off.",
		begin: func(_ context.Context, s *stage, _ *rand.Rand) error { s.Bus().LoseReply(-1); return nil },
		end:   func(_ context.Context, s *stage) error { s.Bus().LoseReply(0); return nil },
	},
	{
		name: "rpc-down", means: "No node of the chain answers: connections are cut.",
		begin: func(_ context.Context, s *stage, _ *rand.Rand) error { s.chain.set(cut); return nil },
		end:   func(_ context.Context, s *stage) error { s.chain.set(nil); return nil },
	},
	{
		name: "clock-jumps", means: "The clock of each function jumps, apart from the others: the endpoint's by up to 50 min ahead, those of the others by up to 26 h, ahead or behind.",
		begin: jump, pulse: jump,
		end: func(_ context.Context, s *stage) error { return s.right() },
	},
	{
		name: "clock-behind", means: "The endpoint's clock is two hours behind: every token is from its future.",
		begin: func(_ context.Context, s *stage, _ *rand.Rand) error { return s.wrong("McpFunction", -2*time.Hour) },
		end:   func(_ context.Context, s *stage) error { return s.right() },
	},
	{
		name: "clock-ahead", means: "The endpoint's clock is two hours ahead: every token has expired.",
		begin: func(_ context.Context, s *stage, _ *rand.Rand) error { return s.wrong("McpFunction", 2*time.Hour) },
		end:   func(_ context.Context, s *stage) error { return s.right() },
	},
	{
		name: "kill", means: "Processes of every function are killed (SIGKILL), those in the middle of a call first.",
		pulse: func(_ context.Context, s *stage, r *rand.Rand) error {
			for _, function := range functions {
				s.Function(function).Kill(1 + r.IntN(2))
			}
			return nil
		},
	},
	{
		name: "blobs-full", means: "The store of bytes takes nothing: 507 InsufficientStorage and 503 SlowDown in turn.",
		begin: func(_ context.Context, s *stage, _ *rand.Rand) error { s.blobs.set(full()); return nil },
		end:   func(_ context.Context, s *stage) error { s.blobs.set(nil); return nil },
	},
	{
		name: "blobs-reply", means: "Every other call of the store of bytes is carried out and its reply cut off.",
		begin: func(_ context.Context, s *stage, _ *rand.Rand) error { s.blobs.set(loseEvery(2, all)); return nil },
		end:   func(_ context.Context, s *stage) error { s.blobs.set(nil); return nil },
	},
}

// errCut has a tap cut the connection.
var errCut = errors.New("chaos")

func cut(context.Context, tap.Call, func() (tap.Answer, error)) (tap.Answer, error) {
	return tap.Answer{}, errCut
}

func all(tap.Call) bool { return true }

// writes are the calls of the table that change it.
func writes(call tap.Call) bool {
	return slices.Contains([]string{"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"}, call.Operation())
}

// loseEvery hands every call on and cuts the reply of every nth of those meant.
func loseEvery(n int64, meant func(tap.Call) bool) tap.Between {
	var seen atomic.Int64
	return func(_ context.Context, call tap.Call, pass func() (tap.Answer, error)) (tap.Answer, error) {
		answer, err := pass()
		if err == nil && meant(call) && seen.Add(1)%n == 0 {
			err = errCut
		}
		return answer, err
	}
}

// refuseEvery answers every nth call itself.
func refuseEvery(n int64, status int, body string) tap.Between {
	var seen atomic.Int64
	return func(_ context.Context, _ tap.Call, pass func() (tap.Answer, error)) (tap.Answer, error) {
		if seen.Add(1)%n != 0 {
			return pass()
		}
		return tap.Answer{Status: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: []byte(body)}, nil
	}
}

// full is a store of bytes that has no room: what is asked for is answered, what
// is to be stored is refused.
func full() tap.Between {
	said := []struct {
		status int
		code   string
	}{{http.StatusInsufficientStorage, "InsufficientStorage"}, {http.StatusServiceUnavailable, "SlowDown"}}
	var seen atomic.Int64
	return func(_ context.Context, call tap.Call, pass func() (tap.Answer, error)) (tap.Answer, error) {
		if call.Method != http.MethodPut {
			return pass()
		}
		say := said[seen.Add(1)%int64(len(said))]
		return tap.Answer{
			Status: say.status, Header: http.Header{"Content-Type": {"application/xml"}},
			Body: []byte(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>` + say.code + `</Code><Message>chaos</Message></Error>`),
		}, nil
	}
}

// restart kills the table engine and brings it back.
func restart(ctx context.Context, s *stage, _ *rand.Rand) error {
	s.Table().Kill()
	select {
	case <-time.After(down):
	case <-ctx.Done():
	}
	// It outlives the pulse: the stack's own end ends it.
	return s.Table().Restart(context.WithoutCancel(ctx))
}

// jump sets every clock to a new offset. Beyond 50 minutes ahead the endpoint
// would take no token, which is a fault of its own.
func jump(_ context.Context, s *stage, r *rand.Rand) error {
	for _, function := range functions {
		by := time.Duration(r.IntN(53)-26) * time.Hour
		if function == "McpFunction" {
			by = time.Duration(r.IntN(51)) * time.Minute
		}
		if err := s.wrong(function, by); err != nil {
			return err
		}
	}
	return nil
}
