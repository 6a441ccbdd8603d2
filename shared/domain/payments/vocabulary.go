// Package payments says what a payment is: the ways to pay, what each needs, and
// what no ledger need be asked about.
package payments

import (
	"slices"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/policy"
)

// ActionType is a way to move money, or to record that it moved.
type ActionType string

// The action types.
const (
	ACHOutbound     ActionType = "ach_outbound"
	ACHInbound      ActionType = "ach_inbound"
	Wire            ActionType = "wire"
	CardPayment     ActionType = "card_payment"
	ERPWriteback    ActionType = "erp_writeback"
	OnchainTransfer ActionType = "onchain_transfer"
	X402Settle      ActionType = "x402_settle"
	EscrowRelease   ActionType = "escrow_release"
)

// Action says what a proposal of a type needs.
type Action struct {
	Type           ActionType `json:"action_type"`
	Description    string     `json:"description"`
	RequiredFields []string   `json:"required_fields"`
	OptionalFields []string   `json:"optional_fields"`
	Currencies     string     `json:"currencies"`  // ISO 4217, or USDC
	HumanFloor     string     `json:"human_floor"` // when a person must approve whatever the policy says

	class  policy.Class
	domain identity.Domain // whose people approve it
}

var (
	always   = []string{"source_account_id", "destination_counterparty_id", "amount", "currency"}
	optional = []string{"obligation_id", "invoice_id", "evidence_ids", "authorization_id", "memo", "idempotency_key", "dry_run"}
)

const (
	iso  = "ISO 4217"
	usdc = "USDC"
)

// The human floors.
const (
	Never    = "none"
	Always   = "one recorded human approval, always"
	Uncapped = "one recorded human approval, unless a signed rule permits it under a cap"
)

// Vocabulary is every action type with what it needs. Whoever validates a
// proposal and whoever describes one read this table; there is no second.
var Vocabulary = []Action{
	{ACHOutbound, "Pay a counterparty by ACH from an own account.", always, optional, iso, Never, policy.OutboundPayment, identity.AP},
	{ACHInbound, "Collect from a counterparty by ACH into an own account.", always, optional, iso, Never, policy.InboundPayment, identity.AR},
	{Wire, "Pay a counterparty by wire. Final once sent.", always, optional, iso, Always, policy.OutboundPayment, identity.AP},
	{CardPayment, "Pay a counterparty with a card account.", always, optional, iso, Never, policy.OutboundPayment, identity.AP},
	{ERPWriteback, "Record in the ERP what was paid elsewhere.", always, optional, iso, Never, policy.LedgerWrite, identity.Reconciliation},
	{OnchainTransfer, "Transfer tokens to a counterparty's address.", always, optional, usdc, Always, policy.OnchainTx, identity.Treasury},
	{X402Settle, "Settle an HTTP 402 payment request.", append(always[:4:4], "pay_to"), optional, usdc, Uncapped, policy.OnchainTx, identity.Treasury},
	{EscrowRelease, "Release an escrow whose job terms are met.", append(always[:4:4], "escrow_id", "job_terms_hash"), optional, usdc, Always, policy.OnchainTx, identity.Treasury},
}

// action finds a type in the vocabulary.
func action(t ActionType) (Action, bool) {
	at := slices.IndexFunc(Vocabulary, func(a Action) bool { return a.Type == t })
	if at < 0 {
		return Action{}, false
	}
	return Vocabulary[at], true
}

// Class is what a policy's rules call payments of the type.
func (t ActionType) Class() policy.Class {
	a, _ := action(t)
	return a.class
}

// Domain is the field of work whose people approve payments of the type.
func (t ActionType) Domain() identity.Domain {
	a, _ := action(t)
	return a.domain
}

// Floor is when a person must approve payments of the type whatever the policy
// says: Never, Always, or unless a rule permits them under a cap.
func (t ActionType) Floor() string {
	a, _ := action(t)
	return a.HumanFloor
}

// Types names the action types.
func Types() []string {
	var names []string
	for _, a := range Vocabulary {
		names = append(names, string(a.Type))
	}
	return names
}
