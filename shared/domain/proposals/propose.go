package proposals

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/approval"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Proposal is a payment an agent wants made.
type Proposal struct {
	payments.Payment
	AuthorizationID string // an authorization to use; empty for none
	IdempotencyKey  string // empty for none
	DryRun          bool   // only say what the policy would decide
}

// Request is what an agent asks an authorization for.
type Request struct {
	payments.Payment
	Purpose        string
	ExpiresIn      time.Duration
	IdempotencyKey string
}

// Bounds of how long an authorization lives, and of what it says it is for.
const (
	MinExpiry     = 60 * time.Second
	MaxExpiry     = 24 * time.Hour
	DefaultExpiry = 15 * time.Minute
	MaxPurpose    = 500 // characters
)

// Answer is a case with the decision about it.
type Answer struct {
	Case
	Decision Decision
	Hash     string // what an approval is bound to
	Replayed bool   // it was there before this call
	DryRun   bool   // nothing was written; the case has no id
}

// submission is something an agent proposes, on its way through the ledger and the
// policy.
type submission struct {
	who             identity.Principal
	call            string // the request's id
	kind            id.Prefix
	draft           Case // without id and times
	amount          *money.Amount
	largest         money.Amount  // that was paid to the payee in a year
	life            time.Duration // until it expires; 0 is as long as the tenant lets proposals wait
	mark            mark
	authorizationID string
	dryRun          bool
}

// Propose has the ledger and the policy judge a payment and keeps what comes of
// it: the intent, the decision, the counters, the idempotency mark and the events
// in one transaction. A policy that says no is an answer and no error; what
// cannot be a payment at all, or not from this ledger, is one.
func (d *Desk) Propose(ctx context.Context, who identity.Principal, requestID string, p Proposal) (Answer, error) {
	s := submission{who: who, call: requestID, kind: id.PaymentIntent, authorizationID: p.AuthorizationID, dryRun: p.DryRun}
	amount, err := p.Check()
	if err != nil {
		return Answer{}, err
	}
	s.amount, s.draft.Payment = &amount, &p.Payment
	if s.mark, err = markOf(who, "payment_intent.propose", p.IdempotencyKey, p.Payment, p.AuthorizationID); err != nil {
		return Answer{}, err
	}
	if !p.DryRun {
		if s.largest, err = d.largest(ctx, who.Tenant, p.DestinationCounterpartyID, amount.Currency()); err != nil {
			return Answer{}, err
		}
	}
	return again(func() (Answer, error) { return d.submit(ctx, s) })
}

// Authorize asks whether a payment may be proposed and holds its amount under the
// policy's caps until it is used or expires.
func (d *Desk) Authorize(ctx context.Context, who identity.Principal, requestID string, q Request) (Answer, error) {
	s := submission{who: who, call: requestID, kind: id.Authorization, life: q.ExpiresIn}
	amount, err := q.Check()
	if err != nil {
		return Answer{}, err
	}
	if q.ExpiresIn < MinExpiry || q.ExpiresIn > MaxExpiry {
		return Answer{}, against("expires_in: want %d to %d seconds.", int(MinExpiry.Seconds()), int(MaxExpiry.Seconds()))
	}
	s.amount, s.draft.Payment, s.draft.Purpose = &amount, &q.Payment, q.Purpose
	if s.mark, err = markOf(who, "authorizations.create", q.IdempotencyKey, q.Payment, q.Purpose, q.ExpiresIn.String()); err != nil {
		return Answer{}, err
	}
	return again(func() (Answer, error) { return d.submit(ctx, s) })
}

// submit is one try.
func (d *Desk) submit(ctx context.Context, s submission) (Answer, error) {
	t := s.who.Tenant
	c, err := d.open(s)
	if err != nil {
		return Answer{}, err
	}
	more := []key.Key{s.mark.key}
	if s.authorizationID != "" {
		more = append(more, key.Ledger(t, id.Authorization, s.authorizationID))
	}
	r, err := d.read(ctx, t, c, more...)
	if err != nil {
		return Answer{}, err
	}
	if !s.dryRun {
		if first, err := s.mark.used(r); err != nil || first != "" {
			return d.replay(ctx, t, s.kind, first, err)
		}
	}
	if r.problem != nil {
		return Answer{}, r.problem
	}
	used, err := s.authorization(r, c)
	if err != nil {
		return Answer{}, err
	}
	var given []allowance.Hold // back, in this change
	if used != nil {
		given = append(given, used.Standing.Promise)
	}
	verdict := r.judge(t, c, s.amount, given...)
	decision, err := d.decide(r, c, verdict)
	if err != nil {
		return Answer{}, err
	}
	answer, err := c.judged(r, decision, s, used)
	if err != nil {
		return Answer{}, err
	}
	if s.dryRun {
		answer.DryRun, answer.ID, answer.Decision.ID, answer.Decision.SubjectID, answer.PolicyDecisionID = true, "", "", "", nil
		return answer, nil
	}
	ch := d.change(t, s.who.Actor(), s.call, r.now)
	if used != nil && answer.Status.promises() {
		ch.consume(used, answer.ID)
		answer.AuthorizationID = &used.ID
	}
	return ch.create(ctx, answer, r, s, given...)
}

// open makes a case of a draft. It is not judged yet.
func (d *Desk) open(s submission) (Case, error) {
	name, err := d.IDs.New(s.kind)
	if err != nil {
		return Case{}, fmt.Errorf("name a case: %w", err)
	}
	at, c := stamp(d.Now()), s.draft
	c.Core = Core{
		ID: name, TenantID: s.who.Tenant.String(), AgentID: s.who.ID, Status: Proposed, Approvals: []approval.Approval{}, CreatedAt: at, UpdatedAt: at,
	}
	c.Standing.Proposer = proposer(s.who)
	return c, nil
}

// judged puts a new case into the state that follows from the decision. The
// approvals of the authorization it uses count for it, also for the human floor.
func (c Case) judged(r reading, decision Decision, s submission, used *Case) (Answer, error) {
	if r.facts.Payee == nil {
		r.facts.Payee = &Payee{} // an action has none, and its hash asks for none
	}
	hash, err := c.hash(*r.facts.Payee)
	if err != nil {
		return Answer{}, err
	}
	c.PolicyDecisionID, c.Standing.Ruling = &decision.ID, decision.ruling()
	c.Standing.RiskBand = r.risk(s.amount, s.largest, decision.Verdict)
	c.Status = kinds[c.kind()].after[decision.Outcome]
	if c.Status == Pending && used != nil {
		approved, err := used.hash(*r.facts.Payee)
		if err != nil {
			return Answer{}, err
		}
		for _, a := range used.Approvals {
			if a.Hash != approved {
				continue // of a payee whose details have changed since
			}
			a.Hash = hash // they approved this payee and at least this amount
			c.Approvals = append(c.Approvals, a)
		}
		if c.matter(r, decision, s.amount, hash).Enough() {
			c.Status = Approved
		}
	}
	if c.expires() {
		at := stamp(r.now.Add(cmp.Or(s.life, r.settings.Pending())))
		c.ExpiresAt = &at
	}
	return Answer{Case: c, Decision: decision, Hash: hash}, nil
}

// authorization is the authorization a proposal uses, nil for none. What cannot
// be used is an error that says why; what is not the caller's is not there.
func (s submission) authorization(r reading, c Case) (*Case, error) {
	if s.authorizationID == "" {
		return nil, nil
	}
	gone := fault.New(fault.AuthorizationNotFound, "authorization_id: there is no such authorization. Ids come from the answers of authorizations.create.")
	item, found := r.items[key.Ledger(s.who.Tenant, id.Authorization, s.authorizationID)]
	if !found || id.Check(id.Authorization, s.authorizationID) != nil {
		return nil, gone
	}
	used, err := Decode(item)
	switch {
	case err != nil:
		return nil, err
	case used.AgentID != s.who.ID:
		return nil, gone
	case used.Status != Authorized:
		return nil, fault.New(fault.Conflict, "authorization_id: %s is %s. An authorization is used once, while it is authorized.", used.ID, used.Status).With("status", string(used.Status))
	case used.past(r.now):
		return nil, fault.New(fault.Conflict, "authorization_id: %s has expired. Ask for a new one.", used.ID)
	case used.DestinationCounterpartyID != c.DestinationCounterpartyID || used.SourceAccountID != c.SourceAccountID ||
		used.ActionType != c.ActionType || used.Currency != c.Currency || !equal(used.PayTo, c.PayTo) || !equal(used.EscrowID, c.EscrowID) ||
		!equal(used.JobTermsHash, c.JobTermsHash):
		return nil, against("authorization_id: %s is for %s in %s from %s to %s. Propose exactly that, or ask for another authorization.",
			used.ID, used.ActionType, used.Currency, used.SourceAccountID, used.DestinationCounterpartyID)
	case money.Written{Amount: used.Amount, Currency: used.Currency}.Above(*s.amount):
		return nil, against("amount %s %s: %s is for at most %s %s.", c.Amount, c.Currency, used.ID, used.Amount, used.Currency)
	}
	return &used, nil
}

// past says that the time of a case that expires is over.
func (c Case) past(now time.Time) bool {
	if c.ExpiresAt == nil {
		return false
	}
	at, err := time.Parse(audit.TimeForm, *c.ExpiresAt)
	return err != nil || !now.Before(at)
}

func equal(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// consume uses an authorization up.
func (c *change) consume(used *Case, intent string) {
	before := used.Status
	c.move(used, Consumed)
	used.ConsumedBy = &intent
	c.put(used.put(c.tenant))
	c.tell(*used, "consumed", before, map[string]any{"authorization_id": used.ID}, map[string]any{"ok": true, "payment_intent_id": intent})
}

// create writes a new case with everything that comes with it. given are the
// promises that are given back in the same change.
func (c *change) create(ctx context.Context, a Answer, r reading, s submission, given ...allowance.Hold) (Answer, error) {
	book := r.book(c.tenant, a.Case, given...)
	if a.Status.waits() && book.Open() >= allowance.MaxOpen {
		return Answer{}, tooMany()
	}
	if a.Status.promises() {
		counters := c.counters(a.subject(c.tenant))
		a.Standing.Promise = allowance.NewHold(s.amount, r.now)
		c.keep(counters.Take(book, a.Standing.Promise, a.Decision.Verdict))
		if a.Status.waits() {
			counters.Wait()
		}
	}
	if a.ExpiresAt != nil {
		c.put(record.Put{Item: record.Item{Key: c.due(a.Case)}, Blind: true}, nil)
	}
	c.put(a.put(c.tenant))
	c.put(a.Decision.put(c.tenant, a.kind()))
	c.put(s.mark.put(r, a.ID))
	c.announce(a)
	return a, c.commit(ctx)
}

// tooMany refuses one more proposal that waits.
func tooMany() error {
	return fault.New(fault.Conflict, "The agent has %d proposals that wait for people, which is the most. Cancel some, or wait until they are decided.", allowance.MaxOpen)
}

// announce tells what was proposed, and what became of it at once.
func (c *change) announce(a Answer) {
	k := a.Case
	inputs := map[string]any{"agent": k.Standing.Proposer}
	if k.Payment != nil {
		inputs["payment"] = k.Payment
	}
	if k.Action != nil {
		inputs["action"] = k.Action
	}
	if k.AuthorizationID != nil {
		inputs["authorization_id"] = *k.AuthorizationID
	}
	if k.Purpose != "" {
		inputs["purpose"] = k.Purpose
	}
	c.tell(k, born[k.kind()], "", inputs, map[string]any{
		"ok": true, "id": k.ID, "status": k.Status, "expires_at": k.ExpiresAt, "hash": a.Hash, "decision": a.Decision.record(), "approvals": k.Approvals,
	})
	if then, tells := became[k.Status]; tells {
		c.tell(k, then, Proposed, map[string]any{"id": k.ID}, map[string]any{"ok": true, "by": "policy"})
	}
}

// born is the event of a new case, and became that of a state it may be in at
// once or come into later.
var (
	born   = map[id.Prefix]string{id.PaymentIntent: "proposed", id.Authorization: "created", id.Proposal: "proposed"}
	became = map[Status]string{
		Approved: "approved", Authorized: "approved", Rejected: "rejected", Denied: "rejected", Cancelled: "cancelled",
		Expired: "expired", Paused: "paused", Revoked: "revoked", Acknowledged: "acknowledged",
	}
)

// record is a decision as events keep it: without the trace, which the stored
// decision has.
func (d Decision) record() map[string]any {
	return map[string]any{
		"id": d.ID, "outcome": d.Outcome, "matched_rules": d.Matched, "required_approvers": d.Approvers, "human_floor": d.HumanFloor,
		"required_evidence_kinds": d.EvidenceKinds, "policy_version": d.PolicyVersion, "policy_hash": d.PolicyHash,
		"policy_signers": d.PolicySigners, "ledger_snapshot_hash": d.FactsHash,
	}
}
