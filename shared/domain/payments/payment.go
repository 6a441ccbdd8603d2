package payments

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// Payment is what somebody wants to pay: the part that an authorization and an
// intent have in common. It never changes once it is proposed.
type Payment struct {
	ActionType                ActionType `json:"action_type"`
	SourceAccountID           string     `json:"source_account_id"`
	DestinationCounterpartyID string     `json:"destination_counterparty_id"`
	Amount                    string     `json:"amount"` // decimal in Currency, as many decimals as it has
	Currency                  string     `json:"currency"`
	ObligationID              *string    `json:"obligation_id"`
	InvoiceID                 *string    `json:"invoice_id"`
	EvidenceIDs               []string   `json:"evidence_ids"`
	Memo                      *string    `json:"memo"`
	PayTo                     *string    `json:"pay_to,omitempty"`         // x402_settle: an address with its checksum
	EscrowID                  *string    `json:"escrow_id,omitempty"`      // escrow_release
	JobTermsHash              *string    `json:"job_terms_hash,omitempty"` // escrow_release: 0x and 64 hexadecimal digits
}

// Bounds of what a proposal carries.
const (
	MaxMemo     = 500 // characters
	MaxEvidence = 20  // ids
	maxEscrow   = 128 // bytes
)

// EvidenceKinds are the kinds an evidence id may be of, by its prefix, as
// policies name them.
var EvidenceKinds = map[id.Prefix]string{
	id.Transaction: "transaction", id.Invoice: "invoice", id.Obligation: "obligation", id.RawArtifact: "raw_artifact",
	id.ParsedEvidence: "parsed_evidence", id.Account: "account", id.Counterparty: "counterparty",
}

// EvidenceKind is the prefix of an evidence id, and false for what is none.
func EvidenceKind(name string) (id.Prefix, bool) {
	prefix, _, _ := strings.Cut(name, "_")
	_, known := EvidenceKinds[id.Prefix(prefix)]
	return id.Prefix(prefix), known && id.Check(id.Prefix(prefix), name) == nil
}

// Check refuses what no ledger need be asked about, and writes the amount and the
// address in their one form.
func (p *Payment) Check() (money.Amount, error) {
	wrong := func(format string, args ...any) (money.Amount, error) {
		return money.Amount{}, fault.New(fault.InvalidArgument, format, args...)
	}
	a, known := action(p.ActionType)
	if !known {
		return wrong("action_type %.40q: want one of %s.", p.ActionType, strings.Join(Types(), ", "))
	}
	currency, err := money.Parse(p.Currency)
	if err != nil {
		return wrong("currency: %v.", err)
	}
	if (a.Currencies == usdc) != (p.Currency == usdc) {
		return wrong("currency %s: %s is made in %s.", p.Currency, a.Type, a.Currencies)
	}
	amount, err := money.ParseAmount(p.Amount, currency)
	if err != nil {
		return wrong("amount: %v.", err)
	}
	if amount.Sign() <= 0 {
		return wrong("amount %s %s: want more than zero.", amount, currency)
	}
	p.Amount = amount.String()
	if err := p.own(a); err != nil {
		return wrong("%v.", err)
	}
	if p.Memo != nil && utf8.RuneCountInString(*p.Memo) > MaxMemo {
		return wrong("memo: want at most %d characters.", MaxMemo)
	}
	if len(p.EvidenceIDs) > MaxEvidence {
		return wrong("evidence_ids: want at most %d, got %d.", MaxEvidence, len(p.EvidenceIDs))
	}
	if p.EvidenceIDs == nil {
		p.EvidenceIDs = []string{}
	}
	for i, name := range p.EvidenceIDs {
		if _, ok := EvidenceKind(name); !ok {
			return wrong("evidence_ids[%d] %.80q: want the id of a transaction, invoice, obligation, account, counterparty or raw artifact.", i, name)
		}
		if slices.Contains(p.EvidenceIDs[:i], name) {
			return wrong("evidence_ids[%d] %s is there twice.", i, name)
		}
	}
	return amount, nil
}

// own checks the fields that one type needs and no other takes.
func (p *Payment) own(a Action) error {
	for name, value := range map[string]*string{"pay_to": p.PayTo, "escrow_id": p.EscrowID, "job_terms_hash": p.JobTermsHash} {
		needed := slices.Contains(a.RequiredFields, name)
		switch {
		case needed && value == nil:
			return fmt.Errorf("%s is required for %s", name, a.Type)
		case !needed && value != nil:
			return fmt.Errorf("%s does not belong to %s", name, a.Type)
		}
	}
	if p.PayTo != nil {
		address, err := identity.ParseAddress(*p.PayTo)
		if err != nil {
			return fmt.Errorf("pay_to: %w", err)
		}
		if address.IsZero() {
			return fmt.Errorf("pay_to: the zero address belongs to nobody")
		}
		text := address.String()
		p.PayTo = &text
	}
	if p.EscrowID != nil && (*p.EscrowID == "" || len(*p.EscrowID) > maxEscrow) {
		return fmt.Errorf("escrow_id: want 1 to %d bytes", maxEscrow)
	}
	if p.JobTermsHash != nil {
		hash, err := identity.ParseHash(*p.JobTermsHash)
		if err != nil {
			return fmt.Errorf("job_terms_hash: %w", err)
		}
		text := hash.String()
		p.JobTermsHash = &text
	}
	return nil
}

// Direction is the direction that an obligation or invoice of the payment must
// have.
func (p Payment) Direction() string {
	if p.ActionType == ACHInbound {
		return "receivable"
	}
	return "payable"
}

// Money is the amount of a payment that was checked.
func (p Payment) Money() (money.Amount, error) {
	return money.Written{Amount: p.Amount, Currency: p.Currency}.Read()
}
