package proposals

import (
	"slices"

	"github.com/robotmoney/mcp/shared/domain/fault"
)

// Status is where a case stands.
type Status string

// The states of intents, those that only authorizations have, and that only other
// actions have.
const (
	Proposed       Status = "proposed"
	Pending        Status = "pending_approval"
	AwaitingSecond Status = "awaiting_second_approval"
	Approved       Status = "approved"
	Paused         Status = "paused"
	Dispatching    Status = "dispatching"
	Executed       Status = "executed"
	Failed         Status = "failed"
	Rejected       Status = "rejected"
	Cancelled      Status = "cancelled"
	Expired        Status = "expired"

	Authorized Status = "authorized"
	Denied     Status = "denied"
	Consumed   Status = "consumed"
	Revoked    Status = "revoked"

	Acknowledged Status = "acknowledged"
)

// life is a state machine as a table: what may follow what. A state without an
// entry is final.
type life map[Status][]Status

// intentLife is the life of an intent. What is not in it is impossible: every
// change goes through it, and is written under the condition that the state it
// was judged by is still the one in the table.
var intentLife = life{
	Proposed:       {Pending, Approved, Rejected, Cancelled},
	Pending:        {AwaitingSecond, Approved, Rejected, Cancelled, Expired},
	AwaitingSecond: {Approved, Rejected, Cancelled, Expired},
	Approved:       {Dispatching, Paused, Rejected, Failed},
	Paused:         {Approved, Cancelled},
	Dispatching:    {Executed, Failed},
}

// authorizationLife is the life of an authorization.
var authorizationLife = life{
	Pending:        {Authorized, AwaitingSecond, Denied, Expired},
	AwaitingSecond: {Authorized, Denied, Expired},
	Authorized:     {Consumed, Expired, Revoked},
}

// actionLife is the life of an action that is no payment. What people decided about
// one may be taken back, because nothing has followed from it.
var actionLife = life{
	Proposed:       {Pending, Approved, Rejected},
	Pending:        {AwaitingSecond, Approved, Rejected, Acknowledged, Expired},
	AwaitingSecond: {Approved, Rejected, Acknowledged, Expired},
	Approved:       {Pending},
	Acknowledged:   {Pending},
}

// Statuses are the states an intent can be in, for lists.
var Statuses = []Status{Proposed, Pending, AwaitingSecond, Approved, Paused, Dispatching, Executed, Failed, Rejected, Cancelled, Expired}

// AuthorizationStatuses are those of an authorization.
var AuthorizationStatuses = []Status{Pending, AwaitingSecond, Authorized, Denied, Consumed, Expired, Revoked}

// FeedStatuses are those of what the feed of proposals shows.
var FeedStatuses = append(slices.Clone(Statuses), Acknowledged)

// may says whether a state can follow another.
func (l life) may(from, to Status) bool { return slices.Contains(l[from], to) }

// step refuses a state that cannot follow.
func (l life) step(what string, from, to Status) error {
	if l.may(from, to) {
		return nil
	}
	return fault.New(fault.Conflict, "The %s is %s and cannot become %s.", what, from, to).With("status", string(from))
}

// waits says that people must still decide.
func (s Status) waits() bool { return s == Proposed || s == Pending || s == AwaitingSecond }

// lapsed are the states in which nothing is promised any more.
var lapsed = []Status{Rejected, Cancelled, Expired, Failed, Denied, Consumed, Revoked}

// promises says whether the amount still counts under the policy's caps. A
// consumed authorization does not: its intent does.
func (s Status) promises() bool { return !slices.Contains(lapsed, s) }
