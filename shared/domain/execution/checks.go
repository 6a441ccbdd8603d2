package execution

import (
	"slices"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/approval"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
)

// seen is what a check observed.
type seen = map[string]any

// agentIdentity: the agent is active, the tenant's, and stands on the chain as
// the tenant's.
func agentIdentity(v View) (bool, seen) {
	o := seen{"agent_id": v.Case.AgentID, "record": "", "onchain": "missing"}
	recorded := v.Agent != nil && v.Agent.ID == v.Case.AgentID && v.Agent.TenantID == v.Tenant.String()
	if v.Agent != nil {
		o["record"] = string(v.Agent.Status)
	}
	switch r := v.Registration; {
	case r.RegisteredAt == 0:
	case r.RevokedAt != 0:
		o["onchain"] = "revoked"
	case r.TenantID != identity.TenantHash(v.Tenant.String()) || r.AgentID != identity.AgentHash(v.Tenant.String(), v.Case.AgentID):
		o["onchain"] = "of another"
	default:
		o["onchain"] = "active"
	}
	return recorded && v.Agent.Status == identity.Active && o["onchain"] == "active", o
}

// agentBehavior: the agent still is what it was when it proposed. Where that was
// not known, no rule may have rested on it.
func agentBehavior(v View) (bool, seen) {
	was, zero := v.Case.Standing.Proposer.BehaviorHash, identity.Hash{}.String()
	o := seen{"proposed_with": was, "onchain": v.Registration.BehaviorHash.String()}
	if was != zero && was != "" {
		return was == v.Registration.BehaviorHash.String(), o
	}
	o["rules_on_behavior"] = []string{}
	for _, rule := range v.matched() {
		if rule.When.AgentBehavior != nil {
			o["rules_on_behavior"] = append(o["rules_on_behavior"].([]string), rule.ID)
		}
	}
	return v.Registration.RegisteredAt != 0 && len(o["rules_on_behavior"].([]string)) == 0, o
}

// matched are the rules in force that carried the stored decision or carry the
// one of now; of those that reject there is nothing to be inside of.
func (v View) matched() []policy.Rule {
	names := slices.Clone(v.Fresh.Matched)
	if v.Stored != nil {
		names = append(names, v.Stored.Matched...)
	}
	var rules []policy.Rule
	for _, rule := range v.Policy.Document.Rules {
		if slices.Contains(names, rule.ID) && rule.Execute != policy.Reject {
			rules = append(rules, rule)
		}
	}
	return rules
}

// agentAuthorized: the agent may still propose payments, by its grant and by the
// scopes the chain pins.
func agentAuthorized(v View) (bool, seen) {
	o := seen{"scope": string(identity.IntentPropose), "granted": false, "onchain": v.Registration.ScopeHash.String()}
	if v.Agent == nil {
		return false, o
	}
	o["granted"], o["grant"] = v.Agent.Scopes.Has(identity.IntentPropose), v.Agent.Scopes.Hash().String()
	return o["granted"] == true && v.Agent.Scopes.Hash() == v.Registration.ScopeHash, o
}

// actionAllowed: the payment is one of the vocabulary and whole.
func actionAllowed(v View) (bool, seen) {
	p := *v.Case.Payment
	p.EvidenceIDs = slices.Clone(p.EvidenceIDs)
	o := seen{"action_type": string(p.ActionType)}
	if _, err := p.Check(); err != nil {
		o["problem"] = fault.Of(err).Message
		return false, o
	}
	return true, o
}

func sourceAccount(v View) (bool, seen) {
	o := seen{"account_id": v.Case.SourceAccountID, "status": "missing", "currency": "", "wanted": v.Case.Currency}
	if v.Account == nil {
		return false, o
	}
	o["status"], o["currency"] = v.Account.Status, v.Account.Currency
	return v.Account.Status == "active" && v.Account.Currency == v.Case.Currency, o
}

// counterpartyAllowed: the payee is there and not sanctioned. Where its address on
// the chain is known, nobody names another one for it.
func counterpartyAllowed(v View) (bool, seen) {
	o := seen{"counterparty_id": v.Case.DestinationCounterpartyID, "risk_level": "missing"}
	if v.Payee == nil {
		return false, o
	}
	o["risk_level"] = v.Payee.RiskLevel
	named, known := v.Case.PayTo, v.Payee.OnchainAddress
	if named != nil && known != nil && !strings.EqualFold(*named, *known) {
		o["pay_to"], o["onchain_address"] = *named, *known
		return false, o
	}
	return v.Payee.RiskLevel != "sanctioned" && v.Payee.RiskLevel != "", o
}

// counterpartyVerified: somebody has looked at the payee, and as closely as the
// rules want that let the payment pass.
func counterpartyVerified(v View) (bool, seen) {
	o := seen{"verified_status": "missing", "outside": []string{}}
	if v.Payee == nil {
		return false, o
	}
	outside := []string{}
	for _, rule := range v.matched() {
		if want := rule.When.CounterpartyVerified; want != nil && !slices.Contains(want, v.Payee.VerifiedStatus) {
			outside = append(outside, rule.ID)
		}
	}
	o["verified_status"], o["outside"] = v.Payee.VerifiedStatus, outside
	return v.Payee.VerifiedStatus != "unverified" && v.Payee.VerifiedStatus != "" && len(outside) == 0, o
}

// amountWithinLimit: the policy of now does not reject, this payment counted once.
func amountWithinLimit(v View) (bool, seen) {
	room := []string{}
	for _, h := range v.Fresh.Headroom {
		text := h.Rule + ": " + h.Left
		if h.Currency != "" {
			text += " " + h.Currency
		}
		room = append(room, text+" left of "+h.Limit+" in "+string(h.Window)+" per "+string(h.Per))
	}
	o := seen{"outcome": string(v.Fresh.Outcome), "matched_rules": list(v.Fresh.Matched), "headroom": room, "amount": v.Case.Amount, "currency": v.Case.Currency}
	return allowed(v.Fresh.Outcome), o
}

// allowed is an outcome that lets a payment pass, people or not.
func allowed(o policy.Outcome) bool { return o == policy.Auto || o == policy.Confirm }

// ledgerBound: what the decision was made on is still so.
func ledgerBound(v View) (bool, seen) {
	o := seen{"decided_on": "", "now": v.Fresh.FactsHash}
	if v.Stored == nil {
		return false, o
	}
	o["decided_on"] = v.Stored.FactsHash
	return v.Stored.FactsHash != "" && v.Stored.FactsHash == v.Fresh.FactsHash, o
}

// balanceSufficient: what the account holds, less what other payments will take,
// covers this one. What comes in, or has left elsewhere, takes nothing.
func balanceSufficient(v View) (bool, seen) {
	if flowOf(v.Case.ActionType).sign >= 0 {
		return true, seen{"needed": false, "reason": "not needed"}
	}
	o := seen{"needed": true, "amount": v.Case.Amount, "currency": v.Case.Currency, "available": "", "reserved": "", "as_of": ""}
	room, available, ok := v.room()
	if !ok {
		return false, o
	}
	o["available"], o["as_of"] = available.String(), v.Balance.AsOf
	if reserved, err := money.FromMinor(v.Reserved.String(), v.Amount.Currency()); err == nil {
		o["reserved"] = reserved.String()
	}
	return room.Sign() >= 0, o
}

// room is what the payment would leave of the account; false where the balance is
// not known in the payment's currency.
func (v View) room() (room, available money.Amount, ok bool) {
	if v.Balance == nil || v.Balance.Currency != v.Case.Currency || v.Reserved == nil {
		return room, available, false
	}
	text := v.Balance.Current
	if v.Balance.Available != nil {
		text = *v.Balance.Available
	}
	available, err := money.ParseSigned(text, v.Amount.Currency())
	if err != nil {
		return room, available, false
	}
	reserved, err := money.FromMinor(v.Reserved.String(), v.Amount.Currency())
	if err != nil {
		return room, available, false
	}
	if room, err = available.Sub(reserved); err != nil {
		return room, available, false
	}
	room, err = room.Sub(v.Amount)
	return room, available, err == nil
}

// evidencePresent: each kind the decision asks for is among what the payment
// rests on, and is there.
func evidencePresent(v View) (bool, seen) {
	wanted := slices.Clone(v.Fresh.EvidenceKinds)
	if v.Stored != nil {
		wanted = append(wanted, v.Stored.EvidenceKinds...)
	}
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	present, lacking := []string{}, []string{}
	for _, e := range v.Evidence {
		if e.Found {
			present = append(present, e.Kind)
		}
	}
	for _, kind := range wanted {
		if !slices.Contains(present, kind) {
			lacking = append(lacking, kind)
		}
	}
	return v.Stored != nil && len(lacking) == 0, seen{"required": list(wanted), "present": present, "missing": lacking}
}

// evidenceSupports: what the payment rests on speaks of this payee, this currency
// and at least this amount.
func evidenceSupports(v View) (bool, seen) {
	against := []string{}
	for _, e := range v.Evidence {
		for _, what := range v.contradicts(e) {
			against = append(against, e.Ref+": "+what)
		}
	}
	return len(against) == 0, seen{"looked_at": len(v.Evidence), "against": against}
}

// contradicts says in what a piece of evidence speaks of something else.
func (v View) contradicts(e Evidence) []string {
	if !e.Found {
		return []string{"is not there"}
	}
	var against []string
	if e.Counterparty != "" && e.Counterparty != v.Case.DestinationCounterpartyID {
		against = append(against, "payee")
	}
	if e.Currency != "" && e.Currency != v.Case.Currency {
		against = append(against, "currency")
	}
	if e.Direction == "" {
		return against
	}
	if e.Direction != v.Case.Direction() {
		against = append(against, "direction")
	}
	if e.Settled != "" {
		against = append(against, "is "+e.Settled)
	}
	if e.Currency == v.Case.Currency && (money.Written{Amount: e.Owed, Currency: e.Currency}).Above(v.Amount) {
		against = append(against, "amount, "+e.Owed+" is owed")
	}
	return against
}

// approvalDetermined: there is a policy in force that says who must approve, or
// that nobody can.
func approvalDetermined(v View) (bool, seen) {
	o := seen{
		"outcome": string(v.Fresh.Outcome), "human_floor": v.Fresh.HumanFloor, "required_approvers": list(v.Fresh.Approvers), "policy": "in force",
	}
	if v.Policy.Invalid != "" {
		o["policy"] = v.Policy.Invalid
		return false, o
	}
	switch v.Fresh.Outcome {
	case policy.Auto, policy.Reject:
		return true, o
	}
	return v.Fresh.Outcome == policy.Confirm && len(v.Fresh.Approvers) > 0, o
}

// approvalGranted: the people the policy of now wants have approved what is there
// now, and still are people who may. The human floor is one of the reasons why
// the outcome is confirm. Of what is rejected now, the people are looked for who
// were wanted before: that it is rejected, check 7 says.
func approvalGranted(v View) (bool, seen) {
	outcome, m := v.Fresh.Outcome, v.Matter
	if outcome == policy.Reject && v.Stored != nil {
		outcome, m.Required = v.Stored.Outcome, v.Stored.Approvers
	}
	m.Approvals = v.standing()
	by := []string{}
	for _, a := range m.Standing() {
		by = append(by, a.MemberID)
	}
	o := seen{"required": outcome != policy.Auto, "recorded": len(v.Case.Approvals), "standing": by, "policy_version": v.Policy.Version}
	if outcome == policy.Auto {
		return true, o
	}
	o["needed"] = m.Needed()
	return outcome == policy.Confirm && m.Enough(), o
}

// standing are the approvals of people who are still active and may still decide,
// in the role they have now.
func (v View) standing() []approval.Approval {
	var standing []approval.Approval
	for _, a := range v.Matter.Approvals {
		member, known := v.Approvers[a.MemberID]
		if !known || member.Status != identity.Active || member.Role != identity.Approver && member.Role != identity.Admin {
			continue
		}
		a.Role = member.Role
		standing = append(standing, a)
	}
	return standing
}

// window is for how long a payment of the same amount to the same payee, and a
// change of the payee's details, stand in the way.
const window = 24 * time.Hour

// noDuplicate: nothing of this was paid before, and the payee's details are not
// new.
func noDuplicate(v View) (bool, seen) {
	before := []string{}
	for _, mark := range v.Marks {
		if mark.counts(v.Now) {
			before = append(before, mark.Of+" by "+mark.ExecutionID)
		}
	}
	if v.Obligation != nil && v.Obligation.Status == "paid" {
		before = append(before, v.Obligation.ID+" is paid")
	}
	if v.Invoice != nil && v.Invoice.Status == "paid" {
		before = append(before, v.Invoice.ID+" is paid")
	}
	o := seen{"paid_before": before, "details_changed_at": "", "window_hours": int(window / time.Hour)}
	fresh := false
	if v.Payee != nil && v.Payee.DetailsChangedAt != nil {
		o["details_changed_at"] = *v.Payee.DetailsChangedAt
		at, err := time.Parse(time.RFC3339, *v.Payee.DetailsChangedAt)
		fresh = err != nil || v.Now.Sub(at) < window
	}
	return len(before) == 0 && !fresh, o
}

// counts says whether a mark still stands in the way. A time nobody can read has
// not passed.
func (m Mark) counts(now time.Time) bool {
	at, err := time.Parse(time.RFC3339, m.At)
	return !m.Window || err != nil || now.Sub(at) < window
}

// decisionRecorded: the decision is there, is of this intent, and was made by the
// policy in force.
func decisionRecorded(v View) (bool, seen) {
	o := seen{"decision_id": "", "active_version": v.Policy.Version, "active_hash": v.Policy.Hash, "decided_version": int64(0), "decided_hash": ""}
	if v.Case.PolicyDecisionID != nil {
		o["decision_id"] = *v.Case.PolicyDecisionID
	}
	d := v.Stored
	if d == nil {
		return false, o
	}
	o["decided_version"], o["decided_hash"] = d.PolicyVersion, d.PolicyHash
	ours := d.ID == o["decision_id"] && d.SubjectID == v.Case.ID && d.TenantID == v.Tenant.String()
	return ours && v.Policy.Invalid == "" && d.PolicyVersion == v.Policy.Version && d.PolicyHash == v.Policy.Hash, o
}

// list is a list that is never null.
func list(items []string) []string {
	if items == nil {
		return []string{}
	}
	return items
}
