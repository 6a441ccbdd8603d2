package proposals

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// Action is something an agent proposes that moves no money.
type Action struct {
	Kind       string          `json:"kind"`
	Type       string          `json:"type"`   // one of Types
	Fields     json.RawMessage `json:"fields"` // the object as it came, the kind among its members
	Evidence   []Reference     `json:"evidence"`
	Confidence *float64        `json:"confidence"` // 0 to 1
}

// Reference is what an action rests on.
type Reference struct {
	Kind string `json:"kind"`
	Ref  string `json:"ref"`
}

// Deed is a request to propose an action.
type Deed struct {
	Kind           string
	Fields         json.RawMessage
	Evidence       []Reference
	Confidence     *float64
	IdempotencyKey string
}

// Types are the public types of proposals.
var Types = []string{
	"vendor_risk", "payment", "collections", "treasury", "cash_forecast", "dispute", "compliance", "revenue_intel", "reconciliation",
	"subscription", "fraud_anomaly", "personal_budget", "financial_health", "purchase_advisor", "tax_prep", "travel_finance",
	"bill_management", "debt_optimization", "savings", "invoice_integrity",
}

// PaymentType is the type of every payment.
const PaymentType = "payment"

// typeOf is the type of the kinds of actions that are known.
var typeOf = map[string]string{
	"flag_transaction": "fraud_anomaly", "freeze_card": "fraud_anomaly",
	"block_payment": "vendor_risk", "flag_vendor_risk": "vendor_risk",
	"propose_match": "reconciliation", "flag_discrepancy": "reconciliation", "categorize_transaction": "reconciliation",
	"draft_followup":    "collections",
	"generate_forecast": "cash_forecast", "alert_shortfall": "cash_forecast",
	"recommend_cash_sweep": "treasury", "alert_low_balance": "treasury",
	"flag_duplicate_invoice": "invoice_integrity",
}

// TypeOf is the type of an action: that of its kind, the kind itself where it is a
// type, else the role of the agent, else reconciliation.
func TypeOf(kind, role string) string {
	if known, ok := typeOf[kind]; ok {
		return known
	}
	for _, name := range []string{kind, role} {
		if slices.Contains(Types, name) {
			return name
		}
	}
	return "reconciliation"
}

// domains are the fields of work of the types; what is not here is
// reconciliation's.
var domains = map[string]identity.Domain{
	"vendor_risk": identity.AP, "bill_management": identity.AP, "invoice_integrity": identity.AP, "subscription": identity.AP,
	"dispute": identity.AP, "payment": identity.AP, "purchase_advisor": identity.AP, "travel_finance": identity.AP, "fraud_anomaly": identity.AP,
	"collections": identity.AR, "revenue_intel": identity.AR,
	"treasury": identity.Treasury, "cash_forecast": identity.Treasury, "savings": identity.Treasury, "debt_optimization": identity.Treasury,
}

// domain is whose people decide about the action.
func (a Action) domain() identity.Domain {
	if d, known := domains[a.Type]; known {
		return d
	}
	return identity.Reconciliation
}

// Act has the policy judge an action and keeps what comes of it. It changes
// nothing in the ledger: that it was approved is all that follows.
func (d *Desk) Act(ctx context.Context, who identity.Principal, requestID string, deed Deed) (Answer, error) {
	s := submission{who: who, call: requestID, kind: id.Proposal}
	role := ""
	if who.Agent != nil {
		role = who.Agent.Role
	}
	if deed.Evidence == nil {
		deed.Evidence = []Reference{}
	}
	s.draft.Action = &Action{deed.Kind, TypeOf(deed.Kind, role), deed.Fields, deed.Evidence, deed.Confidence}
	var err error
	if s.mark, err = markOf(who, "agent.action.propose", deed.IdempotencyKey, s.draft.Action); err != nil {
		return Answer{}, err
	}
	return again(func() (Answer, error) { return d.submit(ctx, s) })
}
