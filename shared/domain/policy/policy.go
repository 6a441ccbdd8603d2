// Package policy is a company's own law about what its agents may do: a
// document of rules, and the pure function that judges a proposal by it. It
// reads nothing, asks nobody and has no clock: the same document and the same
// facts give the same verdict on every machine, on every day.
//
// Two sentences hold everywhere in it. Every rule is judged and the strictest
// that matches wins, so the order of rules means nothing. What cannot be decided
// never helps the proposer.
package policy

import (
	"time"

	"github.com/robotmoney/mcp/shared/domain/money"
)

// Outcome is what a policy says of a proposal.
type Outcome string

// The outcomes, from the laxest to the strictest.
const (
	Auto    Outcome = "auto"    // may proceed without a person
	Confirm Outcome = "confirm" // waits for the people the rules name
	Reject  Outcome = "reject"  // may not happen
)

// Class is a kind of thing a rule applies to.
type Class string

// The classes. Any is of rules alone: such a rule applies to everything.
const (
	OutboundPayment Class = "outbound_payment"
	InboundPayment  Class = "inbound_payment"
	OnchainTx       Class = "onchain_tx"
	LedgerWrite     Class = "ledger_write"
	AgentAction     Class = "agent_action"
	Any             Class = "any"
)

// The roles a rule may require. An admin is also good for an approver, and
// either is good for a signer.
const (
	RoleApprover = "approver"
	RoleAdmin    = "admin"
	RoleSigner   = "signer"
)

// Document is a policy as it is judged. What is hashed and signed is the text it
// was parsed from: an empty array of a condition is lost when a Document is
// written as JSON, and with it the condition.
type Document struct {
	Version int64               `json:"version"` // from 1, growing
	Lists   map[string][]string `json:"lists"`   // ids under a name, such as vendors.trusted
	Rules   []Rule              `json:"rules"`

	limits map[Sum]limit // the sums of the rules as Parse read them
}

// Rule is one sentence of a policy.
type Rule struct {
	ID            string   `json:"id"`
	Description   string   `json:"description,omitempty"`
	AppliesTo     []Class  `json:"applies_to"`
	When          When     `json:"when"` // all must hold; none always holds
	Execute       Outcome  `json:"execute"`
	Require       []string `json:"require,omitempty"` // roles; two entries mean two people
	EvidenceKinds []string `json:"required_evidence_kinds,omitempty"`
}

// When are a rule's conditions. One that is absent is no condition.
type When struct {
	CounterpartyIn       []string  `json:"counterparty.in,omitempty"`     // names of lists
	CounterpartyNotIn    []string  `json:"counterparty.not_in,omitempty"` // names of lists
	CounterpartyVerified []string  `json:"counterparty.verified_status.in,omitempty"`
	CounterpartyRisk     string    `json:"counterparty.risk_level.lte,omitempty"` // low, medium, high, sanctioned
	CounterpartyType     []string  `json:"counterparty.type.in,omitempty"`
	AmountLTE            *Sum      `json:"amount.lte,omitempty"`
	AmountGT             *Sum      `json:"amount.gt,omitempty"`
	ActionIn             []string  `json:"action.in,omitempty"`
	ActionNotIn          []string  `json:"action.not_in,omitempty"`
	AgentID              []string  `json:"agent.id.in,omitempty"`
	AgentRole            []string  `json:"agent.role.in,omitempty"`
	AgentConfidence      *float64  `json:"agent.confidence.gte,omitempty"` // 0 to 1
	AgentBehavior        []string  `json:"agent.behavior_hash.in,omitempty"`
	SourceAccount        []string  `json:"source_account.in,omitempty"`
	ObligationLinked     *bool     `json:"obligation.linked,omitempty"`
	TimeWindow           *Hours    `json:"time_window,omitempty"`
	SpendInWindow        *SpendCap `json:"spend_in_window,omitempty"`
	CountInWindow        *CountCap `json:"count_in_window,omitempty"`
}

// Sum is an amount of money as a document writes it.
type Sum = money.Written

// Hours are times of the week in a zone. From is inside and To is not; a To
// that is not after From is on the next day.
type Hours struct {
	Days []string `json:"days"` // mon to sun
	From string   `json:"from"` // 15:04
	To   string   `json:"to"`   // 15:04, 24:00 is the day's end
	Zone string   `json:"zone"` // IANA, such as Europe/Berlin
}

// Window is how far back a cap looks.
type Window string

// The windows.
const (
	Hour      Window = "1h"
	Day       Window = "24h"
	Week      Window = "7d"
	ThirtyDay Window = "30d"
)

// Windows are all of them with their lengths.
var Windows = map[Window]time.Duration{Hour: time.Hour, Day: 24 * time.Hour, Week: 7 * 24 * time.Hour, ThirtyDay: 30 * 24 * time.Hour}

// Per is whose promises a cap counts.
type Per string

// The subjects of caps.
const (
	PerAgent        Per = "agent"
	PerCounterparty Per = "counterparty"
	PerTenant       Per = "tenant"
)

// SpendCap bounds what is promised in a window, the proposal itself included:
// it holds while the sum is at most LTE, or once it is above GT.
type SpendCap struct {
	Window Window `json:"window"`
	Per    Per    `json:"per"`
	LTE    *Sum   `json:"lte,omitempty"`
	GT     *Sum   `json:"gt,omitempty"`
}

// CountCap bounds how many proposals are promised in a window, this one included.
type CountCap struct {
	Window Window `json:"window"`
	Per    Per    `json:"per"`
	LTE    *int64 `json:"lte,omitempty"`
	GT     *int64 `json:"gt,omitempty"`
}

// Facts are what a proposal is judged by. What is nil or empty is not known,
// and what is not known cannot be decided.
type Facts struct {
	Class            Class
	Action           string        // the action type of a payment, the kind of another action
	Amount           *money.Amount // nil where no money is promised
	Agent            Agent
	Counterparty     *Counterparty
	SourceAccount    string
	ObligationLinked *bool
	At               time.Time
	Promised         Promised
}

// Agent is who proposes.
type Agent struct {
	ID, Role, BehaviorHash string
	Confidence             *float64
}

// Counterparty is who is paid, or pays.
type Counterparty struct{ ID, Type, RiskLevel, VerifiedStatus string }

// Promised says what was promised before in a window, without the proposal that
// is judged; false when it is not known.
type Promised interface {
	Spend(per Per, window Window, currency money.Currency) (money.Amount, bool)
	Count(per Per, window Window) (int64, bool)
}

// Verdict is a judgement with everything that led to it.
type Verdict struct {
	Outcome       Outcome     `json:"outcome"`
	Matched       []string    `json:"matched_rules"`      // every rule that matches, in the document's order
	Approvers     []string    `json:"required_approvers"` // a role for each person needed, sorted; none unless confirm
	EvidenceKinds []string    `json:"required_evidence_kinds"`
	Headroom      []Headroom  `json:"headroom"`
	Trace         []RuleTrace `json:"trace"`
}

// Headroom is what a cap leaves after the proposal, negative when it is over.
type Headroom struct {
	Rule     string `json:"rule"`
	Window   Window `json:"window"`
	Per      Per    `json:"per"`
	Limit    string `json:"limit"` // decimal in Currency, or a count
	Left     string `json:"left"`
	Currency string `json:"currency,omitempty"` // empty for a count
	// Within says that the promise stands inside the limit: a decision that rests
	// on it must be refused once the headroom is gone.
	Within bool `json:"within"`
}

// RuleTrace is why a rule matched or did not.
type RuleTrace struct {
	Rule       string           `json:"rule"`
	Execute    Outcome          `json:"execute"` // as judged: auto with require is confirm
	Applies    bool             `json:"applies"`
	Matched    bool             `json:"matched"`
	Conditions []ConditionTrace `json:"conditions"`
}

// ConditionTrace is one condition of a rule. Undecided ones count against the
// proposer, so Passed of an undecided condition is true in a reject rule.
type ConditionTrace struct {
	Condition string `json:"condition"` // its name in the document
	Passed    bool   `json:"passed"`
	Undecided bool   `json:"undecided,omitempty"`
	Reason    string `json:"reason"`
}

// Capped says whether the conditions bound the money that may pass.
func (w When) Capped() bool {
	return w.AmountLTE != nil || w.SpendInWindow != nil && w.SpendInWindow.LTE != nil
}
