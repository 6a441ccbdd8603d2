// Package payments holds what agents may propose: the vocabulary of payment
// actions, and the intents that come of it.
package payments

// ActionType names a way to pay.
type ActionType string

// The ways to pay, in the order they are listed.
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
}

var (
	always   = []string{"source_account_id", "destination_counterparty_id", "amount", "currency"}
	optional = []string{"obligation_id", "invoice_id", "evidence_ids", "authorization_id", "memo", "idempotency_key", "dry_run"}
)

const (
	iso   = "ISO 4217"
	usdc  = "USDC"
	never = "none"
	once  = "one recorded human approval, always"
)

// Vocabulary is every action type with what it needs. Whoever validates a
// proposal and whoever describes one read this table; there is no second.
var Vocabulary = []Action{
	{ACHOutbound, "Pay a counterparty by ACH from an own account.", always, optional, iso, never},
	{ACHInbound, "Collect from a counterparty by ACH into an own account.", always, optional, iso, never},
	{Wire, "Pay a counterparty by wire. Final once sent.", always, optional, iso, once},
	{CardPayment, "Pay a counterparty with a card account.", always, optional, iso, never},
	{ERPWriteback, "Record in the ERP what was paid elsewhere.", always, optional, iso, never},
	{OnchainTransfer, "Transfer tokens to a counterparty's address.", always, optional, usdc, once},
	{X402Settle, "Settle an HTTP 402 payment request.", append(always[:4:4], "pay_to"), optional, usdc, "one recorded human approval, unless a signed rule permits it under a cap"},
	{EscrowRelease, "Release an escrow whose job terms are met.", append(always[:4:4], "escrow_id", "job_terms_hash"), optional, usdc, once},
}
