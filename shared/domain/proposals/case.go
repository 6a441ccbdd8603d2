// Package proposals is the path from what an agent wants to what may happen: what
// the ledger and the policy say of it, what people decide, and every state in
// between. A payment intent, an authorization and another action of an agent are
// three kinds of one thing, a case. Nothing in this package moves money.
package proposals

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/approval"
	"github.com/robotmoney/mcp/shared/domain/canonical"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Core is what every case has: where it stands, and what was decided about it.
type Core struct {
	ID               string              `json:"id"`
	TenantID         string              `json:"tenant_id"`
	AgentID          string              `json:"agent_id"`
	Status           Status              `json:"status"`
	PolicyDecisionID *string             `json:"policy_decision_id"`
	Approvals        []approval.Approval `json:"approvals"`
	CreatedAt        string              `json:"created_at"` // RFC 3339, milliseconds
	UpdatedAt        string              `json:"updated_at"`
	ExpiresAt        *string             `json:"expires_at"` // null when nothing waits
}

// Intent is a payment somebody proposed, as it is read.
type Intent struct {
	Core
	payments.Payment
	AuthorizationID *string `json:"authorization_id"` // what it used
}

// Authorization is a promise that a payment may be proposed: asked for before
// it is needed, used once.
type Authorization struct {
	Core
	payments.Payment
	Purpose    string  `json:"purpose"`
	ConsumedBy *string `json:"consumed_by"` // the intent that used it
}

// Case is an intent, an authorization or an action as the table holds it; its id
// says which.
type Case struct {
	Core
	*payments.Payment          // nil for an action
	AuthorizationID   *string  `json:"authorization_id,omitempty"`
	Purpose           string   `json:"purpose,omitempty"`
	ConsumedBy        *string  `json:"consumed_by,omitempty"`
	Action            *Action  `json:"action,omitempty"` // nil for a payment
	Standing          Standing `json:"standing"`

	version int64
}

// Standing is what is kept beside a case and not shown as part of it.
type Standing struct {
	Proposer Proposer       `json:"proposer"`
	Promise  allowance.Hold `json:"promise"`
	Ruling   Ruling         `json:"ruling"`
	RiskBand string         `json:"risk_band,omitempty"`
	Refused  string         `json:"refused_by,omitempty"` // the member who rejected it
	Noted    string         `json:"noted_by,omitempty"`   // the member who acknowledged it
}

// Proposer is who proposed, as of then: what a policy judged and what the gate
// holds the agent of the day against.
type Proposer struct {
	ID           string `json:"id"`
	Role         string `json:"role"`
	BehaviorHash string `json:"behavior_hash"`
	CreatedBy    string `json:"created_by"` // the member who made the agent
}

func proposer(p identity.Principal) Proposer {
	out := Proposer{ID: p.ID, BehaviorHash: p.Behavior.String()}
	if p.Agent != nil {
		out.Role, out.CreatedBy = p.Agent.Role, p.Agent.CreatedBy
	}
	return out
}

// agent is the proposer as a policy sees it. A zero hash was never known.
func (p Proposer) agent() policy.Agent {
	a := policy.Agent{ID: p.ID, Role: p.Role}
	if p.BehaviorHash != (identity.Hash{}).String() {
		a.BehaviorHash = p.BehaviorHash
	}
	return a
}

// Decision is what the policy said of a case, with all that led to it. It is kept
// beside the case.
type Decision struct {
	ID        string `json:"id"`
	TenantID  string `json:"tenant_id"`
	SubjectID string `json:"subject_id"`
	policy.Verdict
	HumanFloor    bool            `json:"human_floor"` // a person must approve although the policy would not ask for one
	PolicyVersion int64           `json:"policy_version"`
	PolicyHash    string          `json:"policy_hash"`
	PolicySigners []string        `json:"policy_signers"`
	FactsHash     string          `json:"ledger_snapshot_hash"` // of Facts
	Facts         json.RawMessage `json:"ledger_snapshot"`      // the ledger facts it read
	CreatedAt     string          `json:"created_at"`
}

// Ruling is the short form of the decision that counts, kept in the case itself so
// that a list need not read decisions.
type Ruling struct {
	Outcome       policy.Outcome `json:"outcome"`
	PolicyVersion int64          `json:"policy_version"`
	PolicyHash    string         `json:"policy_hash"`
	Matched       []string       `json:"matched_rules"`
	Approvers     []string       `json:"required_approvers"`
	HumanFloor    bool           `json:"human_floor"`
	FactsHash     string         `json:"ledger_snapshot_hash"`
}

func (d Decision) ruling() Ruling {
	return Ruling{d.Outcome, d.PolicyVersion, d.PolicyHash, d.Matched, d.Approvers, d.HumanFloor, d.FactsHash}
}

// Decode reads a stored case.
func Decode(item record.Item) (Case, error) {
	c := Case{version: item.Version}
	if err := json.Unmarshal(item.Body, &c); err != nil {
		return c, fmt.Errorf("decode %s: %w", item.Key.PK, err)
	}
	if c.Approvals == nil {
		c.Approvals = []approval.Approval{}
	}
	if c.Payment != nil && c.EvidenceIDs == nil {
		c.EvidenceIDs = []string{}
	}
	return c, nil
}

// Intent is the case as an intent is shown.
func (c Case) Intent() Intent { return Intent{c.Core, *c.Payment, c.AuthorizationID} }

// Authorization is the case as an authorization is shown.
func (c Case) Authorization() Authorization {
	return Authorization{c.Core, *c.Payment, c.Purpose, c.ConsumedBy}
}

// kinds are the kinds of cases: what they are called, in messages and in events,
// the code of one that is not there, their life, and the state after the policy's
// decision.
var kinds = map[id.Prefix]struct {
	noun, event string
	missing     fault.Code
	life        life
	after       map[policy.Outcome]Status
}{
	id.PaymentIntent: {"payment intent", "payment_intent", fault.IntentNotFound, intentLife,
		map[policy.Outcome]Status{policy.Auto: Approved, policy.Confirm: Pending, policy.Reject: Rejected}},
	id.Authorization: {"authorization", "authorization", fault.AuthorizationNotFound, authorizationLife,
		map[policy.Outcome]Status{policy.Auto: Authorized, policy.Confirm: Pending, policy.Reject: Denied}},
	id.Proposal: {"proposal", "proposal", fault.ProposalNotFound, actionLife,
		map[policy.Outcome]Status{policy.Auto: Approved, policy.Confirm: Pending, policy.Reject: Rejected}},
}

// KindOf is the kind of case an id names, and false for an id of something else.
func KindOf(name string) (id.Prefix, bool) {
	prefix, _, _ := strings.Cut(name, "_")
	_, known := kinds[id.Prefix(prefix)]
	return id.Prefix(prefix), known
}

func (c Case) kind() id.Prefix {
	kind, _ := KindOf(c.ID)
	return kind
}

// noun is what the case is called.
func (c Case) noun() string { return kinds[c.kind()].noun }

// put is the operation that stores a case where it was read, or anew.
func (c Case) put(t identity.Tenant) (record.Put, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return record.Put{}, fmt.Errorf("encode %s: %w", c.ID, err)
	}
	item := record.Item{Key: key.Ledger(t, c.kind(), c.ID), Body: body}
	item.Index[0] = key.LedgerList(t, c.kind(), c.CreatedAt, c.ID)
	if c.kind() == id.PaymentIntent {
		item.Index[1] = key.LedgerListOf(t, id.PaymentIntent, c.AgentID, c.CreatedAt, c.ID)
	}
	if c.kind() != id.Authorization {
		item.Index[2] = key.Feed(t, c.CreatedAt, c.ID)
	}
	return record.Put{Item: item, Was: c.version}, nil
}

func (d Decision) put(t identity.Tenant, kind id.Prefix) (record.Put, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return record.Put{}, fmt.Errorf("encode decision %s: %w", d.ID, err)
	}
	return record.Put{Item: record.Item{Key: key.Decision(t, kind, d.SubjectID, d.ID), Body: body}}, nil
}

// subject is whom the case is counted for.
func (c Case) subject(t identity.Tenant) allowance.Subject {
	s := allowance.Subject{Tenant: t, Agent: c.AgentID, Class: policy.AgentAction}
	if c.Payment != nil {
		s.Counterparty, s.Class = c.DestinationCounterpartyID, c.ActionType.Class()
	}
	return s
}

// payee is the row of a payment's payee, no key for an action.
func (c Case) payee(t identity.Tenant) key.Key {
	if c.Payment == nil {
		return key.Key{}
	}
	return key.Ledger(t, id.Counterparty, c.DestinationCounterpartyID)
}

// amount is the money of a case, nil for an action.
func (c Case) amount() (*money.Amount, error) {
	if c.Payment == nil {
		return nil, nil
	}
	a, err := c.Money()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	return &a, nil
}

// hash is what an approval is bound to: what was proposed, and the payee's
// details as they are now. When they change after somebody has looked, what they
// looked at is not there any more.
func (c Case) hash(payee Payee) (string, error) {
	bound := map[string]any{"id": c.ID, "tenant_id": c.TenantID, "agent_id": c.AgentID}
	if c.Payment != nil {
		bound["payment"], bound["payee"] = c.Payment, payee
	} else {
		bound["action"] = c.Action
	}
	return digest(bound)
}

// digest is the SHA-256, in hexadecimal, of the canonical form of v.
func digest(v any) (string, error) {
	sum, err := canonical.Hash(v)
	if err != nil {
		return "", fmt.Errorf("hash: %w", err)
	}
	return hex.EncodeToString(sum[:]), nil
}
