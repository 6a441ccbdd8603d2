package proposals

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/approval"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Choice is a person's decision about a case.
type Choice struct {
	Name     string // an id of a case
	Decision string // one of Choices
	Hash     string // of what the person was shown; empty when they do not say
	Note     string
}

// Decided is what a decision led to.
type Decided struct {
	Answer
	EventID string // of the decision's audit event; empty for a decision that was made before
	ByRule  bool   // the policy of today refused what the person approved
}

// MaxNote is how long a note may be, in characters.
const MaxNote = 500

// Decide records a person's decision about something of the feed. An approval
// counts only after the ledger and the policy of this moment have judged the case
// again, and together with the approvals that are still of the same thing under
// the same policy.
func (d *Desk) Decide(ctx context.Context, who identity.Principal, requestID string, choice Choice) (Decided, error) {
	if err := approval.Person(who); err != nil {
		return Decided{}, err
	}
	return again(func() (Decided, error) {
		c, err := d.proposal(ctx, who.Tenant, choice.Name)
		if err != nil {
			return Decided{}, err
		}
		return d.choose(ctx, who, requestID, c, choice)
	})
}

// DecideAuthorization records a person's approval or rejection of an
// authorization.
func (d *Desk) DecideAuthorization(ctx context.Context, who identity.Principal, requestID string, choice Choice) (Decided, error) {
	if err := approval.Person(who); err != nil {
		return Decided{}, err
	}
	return again(func() (Decided, error) {
		c, err := d.find(ctx, who.Tenant, id.Authorization, choice.Name)
		if err != nil {
			return Decided{}, err
		}
		return d.choose(ctx, who, requestID, c, choice)
	})
}

// settled are the states that show that a decision was made and holds, which makes
// its repetition harmless.
var settled = map[string][]Status{
	Approve:     {Approved, Paused, Dispatching, Executed, Failed, Authorized, Consumed},
	Reject:      {Rejected, Denied, Revoked},
	Acknowledge: {Acknowledged},
}

// choose is one try of a decision about a case that was just read.
func (d *Desk) choose(ctx context.Context, who identity.Principal, requestID string, c Case, choice Choice) (Decided, error) {
	if c.decidedBy(who.ID, choice.Decision) {
		a, err := d.Look(ctx, who.Tenant, c.kind(), c.ID)
		a.Replayed = true
		return Decided{Answer: a}, err
	}
	amount, err := c.amount()
	if err != nil {
		return Decided{}, err
	}
	r, err := d.read(ctx, who.Tenant, c)
	if err != nil {
		return Decided{}, err
	}
	hash, err := c.hashOf(r.items[c.payee(who.Tenant)])
	if err != nil {
		return Decided{}, err
	}
	decision, err := d.decide(r, c, r.judge(who.Tenant, c, amount, c.Standing.Promise))
	if err != nil {
		return Decided{}, err
	}
	m := c.matter(r, decision, amount, hash)
	judge := approval.Object
	if choice.Decision == Approve {
		judge = approval.Approve
	}
	if err := judge(who, m); err != nil {
		return Decided{}, err
	}
	switch {
	case choice.Hash != "" && choice.Hash != hash:
		return Decided{}, fault.New(fault.Conflict, "The %s is not what was shown: its hash is %s now. Look at it again before you decide.", c.noun(), hash).With("hash", hash)
	case c.past(r.now):
		return Decided{}, fault.New(fault.Conflict, "The %s has expired.", c.noun()).With("status", string(Expired))
	case !slices.Contains(c.available(), choice.Decision):
		return Decided{}, fault.New(fault.Conflict, "The %s is %s; what can be decided about it now: %s.", c.noun(), c.Status, cmp.Or(strings.Join(c.available(), ", "), "nothing")).With("status", string(c.Status))
	}
	ch := d.change(who.Tenant, who.Actor(), requestID, r.now)
	a := Answer{Case: c, Decision: decision, Hash: hash}
	byRule := false
	switch choice.Decision {
	case Approve:
		byRule = ch.approve(&a, *who.Member, m, choice)
	case Undo:
		ch.undo(&a, who.ID, r, choice)
	default:
		ch.refuse(&a, who.ID, choice)
	}
	ch.put(a.put(ch.tenant))
	return Decided{Answer: a, EventID: ch.events[0].ID, ByRule: byRule}, ch.commit(ctx)
}

// decidedBy says whether a person has made this very decision and it holds.
func (c Case) decidedBy(member, decision string) bool {
	if !slices.Contains(settled[decision], c.Status) {
		return false
	}
	switch decision {
	case Approve:
		return slices.ContainsFunc(c.Approvals, func(a approval.Approval) bool { return a.MemberID == member })
	case Acknowledge:
		return c.Standing.Noted == member
	}
	return c.Standing.Refused == member
}

// no is the state a rejection leads to: what was promised already is revoked.
func (c Case) no() Status {
	switch {
	case c.kind() != id.Authorization:
		return Rejected
	case c.Status == Authorized:
		return Revoked
	}
	return Denied
}

// refuse ends a case by a person's rejection, or sets an action aside as seen.
func (ch *change) refuse(a *Answer, member string, choice Choice) {
	before := a.Status
	if choice.Decision == Acknowledge {
		ch.move(&a.Case, Acknowledged)
		a.Standing.Noted = member
	} else {
		ch.move(&a.Case, a.no())
		a.Standing.Refused = member
	}
	ch.decided(*a, before, choice)
	ch.tell(a.Case, became[a.Status], before, map[string]any{"id": a.ID}, map[string]any{"ok": true, "by": member})
}

// undo lets people decide about an action anew.
func (ch *change) undo(a *Answer, member string, r reading, choice Choice) {
	before := a.Status
	if r.book(ch.tenant, a.Case).Open() >= allowance.MaxOpen {
		ch.keep(tooMany())
	}
	ch.move(&a.Case, Pending)
	a.Approvals, a.Standing.Noted = []approval.Approval{}, ""
	at := stamp(r.now.Add(r.settings.Pending()))
	a.ExpiresAt = &at
	ch.put(record.Put{Item: record.Item{Key: ch.due(a.Case)}, Blind: true}, nil)
	ch.decided(*a, before, choice)
}

// approve adds a person's approval, unless the policy of now stands against it,
// which it says.
func (ch *change) approve(a *Answer, who identity.MemberRecord, m approval.Matter, choice Choice) (byRule bool) {
	before, by := a.Status, who.ID
	a.PolicyDecisionID, a.Standing.Ruling = &a.Decision.ID, a.Decision.ruling()
	ch.put(a.Decision.put(ch.tenant, a.kind()))
	if byRule = a.Decision.Outcome == policy.Reject; byRule {
		by = "policy"
		ch.move(&a.Case, a.no())
	} else {
		a.Approvals = append(slices.Clone(a.Approvals), m.By(who, stamp(ch.now), choice.Note))
		m.Approvals = a.Approvals
		switch {
		case m.Enough():
			ch.move(&a.Case, kinds[a.kind()].after[policy.Auto])
		case before != AwaitingSecond:
			ch.move(&a.Case, AwaitingSecond)
		}
	}
	ch.decided(*a, before, choice)
	if then, tells := became[a.Status]; tells {
		ch.tell(a.Case, then, before, map[string]any{"id": a.ID}, map[string]any{"ok": true, "by": by, "approvals": a.Approvals})
	}
	return byRule
}

// ActionDecided is the event of a person's decision about a proposal.
const ActionDecided = "proposal.decided"

// decided tells of a person's decision: before what it led to.
func (ch *change) decided(a Answer, before Status, choice Choice) {
	outputs := map[string]any{"ok": true, "status": a.Status, "approvals": a.Approvals}
	if choice.Decision == Approve { // only then the policy's decision of now is kept
		outputs["decision"] = a.Decision.record()
	}
	ch.tell(a.Case, "decided", before, map[string]any{"id": a.ID, "decision": choice.Decision, "hash": a.Hash, "note": choice.Note}, outputs)
	if a.kind() != id.Authorization {
		ch.events[len(ch.events)-1].Action = ActionDecided
	}
}
