package proposals_test

import (
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// lives are the three state machines, written down a second time: what may
// follow what. What is not here must be impossible.
var lives = map[id.Prefix]map[proposals.Status][]proposals.Status{
	id.PaymentIntent: {
		proposals.Pending:        {proposals.AwaitingSecond, proposals.Approved, proposals.Rejected, proposals.Cancelled, proposals.Expired},
		proposals.AwaitingSecond: {proposals.Approved, proposals.Rejected, proposals.Cancelled, proposals.Expired},
		proposals.Approved:       {proposals.Dispatching, proposals.Paused, proposals.Rejected, proposals.Failed},
		proposals.Paused:         {proposals.Approved, proposals.Cancelled},
		proposals.Dispatching:    {proposals.Executed, proposals.Failed},
		proposals.Proposed:       {proposals.Pending, proposals.Approved, proposals.Rejected, proposals.Cancelled},
	},
	id.Authorization: {
		proposals.Pending:        {proposals.Authorized, proposals.AwaitingSecond, proposals.Denied, proposals.Expired},
		proposals.AwaitingSecond: {proposals.Authorized, proposals.Denied, proposals.Expired},
		proposals.Authorized:     {proposals.Consumed, proposals.Expired, proposals.Revoked},
	},
	id.Proposal: {
		proposals.Proposed:       {proposals.Pending, proposals.Approved, proposals.Rejected},
		proposals.Pending:        {proposals.AwaitingSecond, proposals.Approved, proposals.Rejected, proposals.Acknowledged, proposals.Expired},
		proposals.AwaitingSecond: {proposals.Approved, proposals.Rejected, proposals.Acknowledged, proposals.Expired},
		proposals.Approved:       {proposals.Pending},
		proposals.Acknowledged:   {proposals.Pending},
	},
}
