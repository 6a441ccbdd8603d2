package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	local "github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/tap"
	"github.com/robotmoney/mcp/shared/domain/fault"
)

// step is a part of a disturbance.
type step func(ctx context.Context, s *stage, r *rand.Rand) error

// disturbance is a way in which what the functions stand on misbehaves. What it
// does not need is nil.
type disturbance struct {
	name  string
	means string // what it stands for
	begin step
	pulse step // again and again while it lasts
	end   step
	codes []string // what may be refused with them while it lasts; nothing else may
	shows string   // the one of them that must be seen; empty where all may go well
}

const (
	// lasts is how long a fault is on, and beat how often it pulses meanwhile.
	lasts = 10 * time.Second
	beat  = 1200 * time.Millisecond
	// down is how long the table engine stays away when it was killed. A client of
	// AWS tries again three times within about a second.
	down = 1500 * time.Millisecond
)

// The codes of what could not be reached, and of too many requests.
const (
	unreachable = string(fault.DependencyUnavailable)
	chainless   = string(fault.OnchainUnavailable)
	counted     = string(fault.RateLimited)
)

// disturbances are all there are, in the order in which they are made. The first is
// none: what is seen without a fault is what the others are held against.
var disturbances = []disturbance{
	{name: "none", means: "Nothing is wrong."},
	{
		name: "table-restart", means: "The table engine is killed (SIGKILL), is away for 1.5 s and comes back on its file, again and again.",
		codes: []string{unreachable}, shows: unreachable, pulse: restart,
	},
	{
		name: "table-reply", means: "For 2.4 s out of 3.6 s every write to the table is made and its reply cut off. A count of the rate is such a write: repeated it counts again, so that there may be too many requests.",
		codes: []string{unreachable, counted}, shows: unreachable,
		begin: at(table, func(s *stage) tap.Between { return inBursts(s.loseEvery(1, writes)) }), end: open(table),
	},
	{
		name: "table-refuses", means: "For 2.4 s out of 3.6 s every call of the table is answered with InternalServerError, nothing done.", codes: []string{unreachable}, shows: unreachable,
		begin: at(table, func(s *stage) tap.Between {
			return inBursts(s.refuse(http.StatusInternalServerError, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"chaos"}`))
		}), end: open(table),
	},
	{
		name: "bus-refuses", means: "The bus throttles every call of PutEvents.",
		begin: bus(func(b *local.Bus) { b.Refuse(-1) }), end: bus(func(b *local.Bus) { b.Refuse(0) }),
	},
	{
		name: "bus-half", means: "The bus takes every other entry.",
		begin: bus(func(b *local.Bus) { b.HalfAccept(true) }), end: bus(func(b *local.Bus) { b.HalfAccept(false) }),
	},
	{
		name: "bus-reply", means: "The bus takes every call and cuts the reply off.",
		begin: bus(func(b *local.Bus) { b.LoseReply(-1) }), end: bus(func(b *local.Bus) { b.LoseReply(0) }),
	},
	{
		name: "bank-silent", means: "The bank pays and says nothing; all its receipts come afterwards, some of them twice.",
		begin: func(_ context.Context, s *stage, _ *rand.Rand) error { s.bank.hush(true); return nil },
		end:   func(_ context.Context, s *stage, _ *rand.Rand) error { s.bank.hush(false); return nil },
	},
	{
		name: "rpc-down", means: "No node of the chain answers: connections are cut.", codes: []string{chainless}, shows: chainless,
		begin: at(chain, func(s *stage) tap.Between { return s.cut }), end: open(chain),
	},
	{
		name: "clock-jumps", means: "The clock of each function jumps, apart from the others: the endpoint's by up to 50 min ahead, those of the others by up to 26 h, ahead or behind. The store of bytes refuses what is signed with another time than its own.",
		codes: []string{unreachable}, begin: jump, pulse: jump, end: right,
	},
	{
		name: "clock-behind", means: "The endpoint's clock is two hours behind: every token is from its future.",
		codes: []string{string(fault.AuthTokenInvalid)}, shows: string(fault.AuthTokenInvalid), begin: off(-2 * time.Hour), end: right,
	},
	{
		name: "clock-ahead", means: "The endpoint's clock is two hours ahead: every token has expired.",
		codes: []string{string(fault.AuthTokenExpired)}, shows: string(fault.AuthTokenExpired), begin: off(2 * time.Hour), end: right,
	},
	{
		name: "kill", means: "Processes of every function are killed (SIGKILL), those in the middle of a call first. The table answers 40 ms late, so that there is a middle.",
		begin: at(table, func(*stage) tap.Between { return slow }), pulse: kill, end: open(table),
	},
	{
		name: "blobs-full", means: "The store of bytes takes nothing: 507 InsufficientStorage and 503 SlowDown in turn.",
		codes: []string{unreachable}, shows: unreachable,
		begin: at(blobs, func(s *stage) tap.Between { return s.full() }), end: open(blobs),
	},
	{
		name: "blobs-reply", means: "Every other call of the store of bytes is carried out and its reply cut off.", codes: []string{unreachable},
		begin: at(blobs, func(s *stage) tap.Between { return s.loseEvery(2, every) }), end: open(blobs),
	},
	{
		name: "together", means: "A little of everything at one time: replies of the table, the bus, the store of bytes and the chain are cut, the bus takes half, clocks jump, processes are killed.",
		codes: []string{unreachable, chainless, counted}, begin: together, end: apart,
		pulse: func(ctx context.Context, s *stage, r *rand.Rand) error {
			if err := jump(ctx, s, r); err != nil {
				return err
			}
			return kill(ctx, s, r)
		},
	},
}

// together makes a little of everything at one time.
func together(ctx context.Context, s *stage, r *rand.Rand) error {
	s.Bus().HalfAccept(true)
	for where, does := range map[place]tap.Between{table: s.loseEvery(9, writes), events: s.loseEvery(4, every), blobs: s.loseEvery(3, every), chain: s.loseEvery(3, every)} {
		s.valves[where].set(does)
	}
	return jump(ctx, s, r)
}

// apart ends all of it.
func apart(ctx context.Context, s *stage, r *rand.Rand) error {
	s.Bus().HalfAccept(false)
	for _, valve := range s.valves {
		valve.set(nil)
	}
	return right(ctx, s, r)
}

// at has the valve before something do what it is told.
func at(where place, does func(s *stage) tap.Between) step {
	return func(_ context.Context, s *stage, _ *rand.Rand) error {
		s.valves[where].set(does(s))
		return nil
	}
}

// open has it do nothing any more.
func open(where place) step {
	return at(where, func(*stage) tap.Between { return nil })
}

// bus tells the bus to misbehave, and counts each reply that is not as it should
// be.
func bus(tell func(*local.Bus)) step {
	return func(_ context.Context, s *stage, _ *rand.Rand) error {
		s.valves[events].set(s.watch)
		tell(s.Bus())
		return nil
	}
}

// off sets the endpoint's clock off.
func off(by time.Duration) step {
	return func(_ context.Context, s *stage, _ *rand.Rand) error { return s.wrong("McpFunction", by) }
}

// right sets every clock right.
func right(_ context.Context, s *stage, _ *rand.Rand) error { return s.right() }

// restart kills the table engine and brings it back.
func restart(ctx context.Context, s *stage, _ *rand.Rand) error {
	s.Table().Kill()
	s.hit(1)
	sleep(ctx, down)
	// It outlives the pulse: the stack's own end ends it.
	return s.Table().Restart(context.WithoutCancel(ctx))
}

// kill kills processes of each function.
func kill(_ context.Context, s *stage, r *rand.Rand) error {
	for _, function := range functions {
		s.hit(s.Function(function).Kill(1 + r.IntN(2)))
	}
	return nil
}

// jump sets every clock to a new offset. Beyond 50 minutes ahead the endpoint
// would take no token, which is a disturbance of its own.
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
