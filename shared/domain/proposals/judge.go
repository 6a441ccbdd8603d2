package proposals

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/approval"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
)

// judge has the policy in force judge a case by what was read, the promises of
// without left out. A payment the ledger speaks against is rejected whatever the
// policy says; a new proposal never comes so far.
func (r *reading) judge(t identity.Tenant, c Case, amount *money.Amount, without ...allowance.Hold) policy.Verdict {
	verdict := r.evaluate(t, c, amount, r.book(t, c, without...))
	if r.problem != nil {
		verdict.Outcome, verdict.Approvers = policy.Reject, []string{}
		verdict.Trace = append([]policy.RuleTrace{{Execute: policy.Reject, Applies: true, Matched: true, Conditions: []policy.ConditionTrace{
			{Condition: "ledger", Passed: true, Reason: fault.Of(r.problem).Message},
		}}}, verdict.Trace...)
	}
	return verdict
}

// evaluate holds the facts of a case against the policy in force, with what was
// promised before it.
func (r *reading) evaluate(t identity.Tenant, c Case, amount *money.Amount, promised policy.Promised) policy.Verdict {
	facts := policy.Facts{Class: c.subject(t).Class, Amount: amount, Agent: c.Standing.Proposer.agent(), At: r.now, Promised: promised}
	if p := c.Payment; p != nil {
		linked := p.ObligationID != nil
		facts.Action, facts.SourceAccount, facts.ObligationLinked = string(p.ActionType), p.SourceAccountID, &linked
	} else {
		facts.Action, facts.Agent.Confidence = c.Action.Kind, c.Action.Confidence
	}
	if payee := r.facts.Payee; payee != nil {
		facts.Counterparty = &policy.Counterparty{ID: payee.ID, Type: payee.Type, RiskLevel: payee.RiskLevel, VerifiedStatus: payee.VerifiedStatus}
	}
	return r.policy.Evaluate(facts)
}

// floor says whether a person must approve although the policy would let the case
// pass.
func (r *reading) floor(c Case, verdict policy.Verdict) bool {
	if c.Payment == nil {
		return false
	}
	switch c.ActionType.Floor() {
	case payments.Never:
		return false
	case payments.Uncapped:
		return !slices.ContainsFunc(r.policy.Document.Rules, func(rule policy.Rule) bool {
			return rule.Execute == policy.Auto && rule.When.Capped() && slices.Contains(verdict.Matched, rule.ID)
		})
	}
	return true
}

// decide makes the decision about a case out of a verdict.
func (d *Desk) decide(r reading, c Case, verdict policy.Verdict) (Decision, error) {
	name, err := d.IDs.New(id.PolicyDecision)
	if err != nil {
		return Decision{}, fmt.Errorf("name a decision: %w", err)
	}
	form, sum, err := r.facts.hash()
	if err != nil {
		return Decision{}, err
	}
	decision := Decision{
		ID: name, TenantID: c.TenantID, SubjectID: c.ID, Verdict: verdict,
		PolicyVersion: r.policy.Version, PolicyHash: r.policy.Hash, PolicySigners: r.policy.Signers,
		FactsHash: sum, Facts: form, CreatedAt: stamp(r.now),
	}
	if decision.PolicySigners == nil {
		decision.PolicySigners = []string{}
	}
	if verdict.Outcome == policy.Auto && r.floor(c, verdict) {
		decision.Outcome, decision.Approvers, decision.HumanFloor = policy.Confirm, []string{policy.RoleSigner}, true
	}
	return decision, nil
}

// matter is a case as people decide about it.
func (c Case) matter(r reading, decision Decision, amount *money.Amount, hash string) approval.Matter {
	m := approval.Matter{
		Domain: c.domain(r.facts), Amount: amount, AgentCreator: c.Standing.Proposer.CreatedBy, Hash: hash,
		PolicyVersion: r.policy.Version, Required: decision.Approvers, Threshold: r.settings.SecondApprover, Approvals: c.Approvals,
	}
	if payee := r.facts.Payee; payee != nil && payee.MemberID != nil {
		m.PayeeMember = *payee.MemberID
	}
	return m
}

// domain is whose people decide: pay is payroll's whatever the rail.
func (c Case) domain(facts Snapshot) identity.Domain {
	switch {
	case c.Payment == nil:
		return c.Action.domain()
	case facts.Payee != nil && facts.Payee.Type == "employee", facts.Obligation != nil && facts.Obligation.Type == "payroll":
		return identity.Payroll
	}
	return c.ActionType.Domain()
}

// Risk bands, from the payee and the amount.
const (
	RiskLow      = "low"
	RiskStandard = "standard"
	RiskElevated = "elevated"
	RiskHigh     = "high"
)

// RiskBands lists them.
var RiskBands = []string{RiskLow, RiskStandard, RiskElevated, RiskHigh}

// unusual is how many times the largest payment of a year an amount must be over
// to stand out.
const unusual = 3

// risk is the band of a case, the worst that applies. largest is the most that was
// paid to the payee in twelve months.
func (r *reading) risk(amount *money.Amount, largest money.Amount, verdict policy.Verdict) string {
	payee := r.facts.Payee
	switch {
	case amount == nil:
	case payee.RiskLevel == "high" || payee.RiskLevel == "sanctioned" || r.changedLately(*payee):
		return RiskHigh
	case payee.VerifiedStatus == "unverified" || over(*amount, largest, unusual):
		return RiskElevated
	}
	if verdict.Outcome == policy.Auto {
		return RiskLow
	}
	return RiskStandard
}

// changedLately says that the payee's details changed within a day, or that
// nobody can say when.
func (r *reading) changedLately(payee Payee) bool {
	if payee.DetailsChangedAt == nil {
		return false
	}
	at, err := time.Parse(time.RFC3339, *payee.DetailsChangedAt)
	return err != nil || r.now.Sub(at) < 24*time.Hour
}

// over says whether an amount is more than n times another of its currency.
func over(amount, other money.Amount, n int) bool {
	sum, err := money.Zero(amount.Currency()), error(nil)
	for range n {
		if sum, err = sum.Add(other); err != nil {
			return false // n times the other is more than any amount
		}
	}
	order, err := amount.Cmp(sum)
	return err != nil || order > 0
}

// Explain is a decision in words, for a person and for a model.
func (r Ruling) Explain() string {
	rules := "no rule allows it"
	if len(r.Matched) > 0 {
		rules = "rules " + strings.Join(r.Matched, ", ")
	}
	switch {
	case r.HumanFloor:
		return fmt.Sprintf("Policy version %d would let it pass (%s), but payments of this type always need a person.", r.PolicyVersion, rules)
	case r.Outcome == policy.Confirm:
		return fmt.Sprintf("Policy version %d asks for confirmation by %s (%s).", r.PolicyVersion, strings.Join(r.Approvers, " and "), rules)
	case r.Outcome == policy.Auto:
		return fmt.Sprintf("Policy version %d allows it without a person (%s).", r.PolicyVersion, rules)
	case r.PolicyVersion == 0:
		return "No valid policy of the tenant is in force, so everything is denied."
	}
	return fmt.Sprintf("Policy version %d rejects it (%s).", r.PolicyVersion, rules)
}
