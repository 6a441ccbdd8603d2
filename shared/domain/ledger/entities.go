package ledger

import (
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// Account is where money lies: at a bank, on a card, on the chain. Source: the
// tenant's statements and feeds.
type Account struct {
	Meta
	Institution       *string `json:"institution"`
	ExternalAccountID *string `json:"external_account_id"`
	AccountType       string  `json:"account_type"`
	Name              string  `json:"name"`
	Currency          string  `json:"currency"`
	CurrentBalance    *string `json:"current_balance"`   // decimal, negative when overdrawn
	AvailableBalance  *string `json:"available_balance"` // decimal
	BalanceAsOf       *string `json:"balance_as_of"`     // RFC 3339
	Status            string  `json:"status"`
}

// AccountTypes and AccountStatuses are the vocabularies of an account.
var (
	AccountTypes    = []string{"bank_checking", "bank_savings", "card", "loan", "line_of_credit", "onchain", "payment_processor"}
	AccountStatuses = []string{"active", "closed", "frozen", "pending"}
)

func (a *Account) kind() id.Prefix { return id.Account }

func (a *Account) check() error {
	if a.Name == "" {
		return errNoName
	}
	return first(a.Meta.check(id.Account),
		oneOf("account_type", a.AccountType, AccountTypes), oneOf("status", a.Status, AccountStatuses),
		text("name", &a.Name), text("institution", a.Institution, a.ExternalAccountID),
		instants("balance_as_of", a.BalanceAsOf), amounts(a.Currency, money.ParseSigned, a.CurrentBalance, a.AvailableBalance))
}

func (a *Account) key(t identity.Tenant) key.Key { return key.Ledger(t, id.Account, a.ID) }

func (a *Account) places(t identity.Tenant) [3]key.Key {
	return [3]key.Key{key.LedgerList(t, id.Account, "", a.ID)}
}

// Balance is what an account held at an instant. It has no id of its own: the
// account and the instant name it.
type Balance struct {
	Meta      `json:"-"`
	AccountID string  `json:"account_id"`
	AsOf      string  `json:"as_of"` // RFC 3339, milliseconds
	Current   string  `json:"current"`
	Available *string `json:"available"`
	Pending   *string `json:"pending"`
	Currency  string  `json:"currency"`
}

func (b *Balance) kind() id.Prefix { return id.Account }

func (b *Balance) check() error {
	b.Meta.ID = b.AccountID // what errors and events call it
	return first(id.Check(id.Account, b.AccountID), instants("as_of", &b.AsOf),
		amounts(b.Currency, money.ParseSigned, &b.Current, b.Available, b.Pending))
}

func (b *Balance) key(t identity.Tenant) key.Key { return key.Balance(t, b.AccountID, b.AsOf) }

func (b *Balance) places(identity.Tenant) [3]key.Key { return [3]key.Key{} }

// Transaction is money that moved, or is about to.
type Transaction struct {
	Meta
	AccountID             string       `json:"account_id"`
	ExternalTransactionID *string      `json:"external_transaction_id"`
	Amount                string       `json:"amount"` // decimal, never negative; the direction has the sign
	Currency              string       `json:"currency"`
	Direction             string       `json:"direction"`
	TransactionDate       string       `json:"transaction_date"` // YYYY-MM-DD
	PostedDate            *string      `json:"posted_date"`
	CounterpartyID        *string      `json:"counterparty_id"`
	Category              *string      `json:"category"`
	Allocations           []Allocation `json:"allocations"` // add up to the amount, or none
	Status                string       `json:"status"`
	DescriptionRaw        *string      `json:"description_raw"`
	Description           *string      `json:"description"`
	ReconciliationStatus  string       `json:"reconciliation_status"`
	ChainTxHash           *string      `json:"chain_tx_hash"`
}

// Allocation is a part of a transaction's amount and what it is for.
type Allocation struct {
	Label  string `json:"label"`
	Amount string `json:"amount"`
}

// The vocabularies of a transaction.
var (
	Directions                 = []string{"inflow", "outflow", "transfer", "adjustment"}
	TransactionStatuses        = []string{"pending", "posted", "cleared", "failed", "reversed", "disputed"}
	ReconciliationStatuses     = []string{"unreconciled", "matched", "reconciled"}
	maxAllocations         int = 50
)

func (x *Transaction) kind() id.Prefix { return id.Transaction }

func (x *Transaction) check() error {
	return first(x.Meta.check(id.Transaction), refers(id.Account, &x.AccountID), refers(id.Counterparty, x.CounterpartyID),
		oneOf("direction", x.Direction, Directions), oneOf("status", x.Status, TransactionStatuses),
		oneOf("reconciliation_status", x.ReconciliationStatus, ReconciliationStatuses),
		date("transaction_date", &x.TransactionDate), date("posted_date", x.PostedDate),
		text("category", x.Category), label("category", x.Category), text("description", x.DescriptionRaw, x.Description),
		text("external_transaction_id", x.ExternalTransactionID, x.ChainTxHash),
		amounts(x.Currency, money.ParseAmount, &x.Amount), x.checkAllocations())
}

func (x *Transaction) checkAllocations() error {
	if x.Allocations == nil {
		x.Allocations = []Allocation{}
	}
	if len(x.Allocations) > maxAllocations {
		return fmt.Errorf("allocations: %d of them, want at most %d", len(x.Allocations), maxAllocations)
	}
	c, err := money.Parse(x.Currency)
	if err != nil || len(x.Allocations) == 0 {
		return err
	}
	sum := money.Zero(c)
	for i := range x.Allocations {
		if err := text("allocation label", &x.Allocations[i].Label); err != nil {
			return err
		}
		part, err := money.ParseAmount(x.Allocations[i].Amount, c)
		if err != nil {
			return fmt.Errorf("allocation %d: %w", i, err)
		}
		x.Allocations[i].Amount = part.String()
		if sum, err = sum.Add(part); err != nil {
			return fmt.Errorf("allocation %d: %w", i, err)
		}
	}
	if sum.String() != x.Amount {
		return fmt.Errorf("allocations add up to %s, the amount is %s", sum, x.Amount)
	}
	return nil
}

func (x *Transaction) key(t identity.Tenant) key.Key { return key.Ledger(t, id.Transaction, x.ID) }

func (x *Transaction) places(t identity.Tenant) [3]key.Key {
	places := [3]key.Key{
		key.LedgerList(t, id.Transaction, x.TransactionDate, x.ID),
		key.LedgerListOf(t, id.Transaction, x.AccountID, x.TransactionDate, x.ID),
	}
	if x.CounterpartyID != nil {
		places[2] = key.LedgerListOf(t, id.Transaction, *x.CounterpartyID, x.TransactionDate, x.ID)
	}
	return places
}

// Counterparty is whom money comes from or goes to.
type Counterparty struct {
	Meta
	Name             string   `json:"name"`
	NormalizedName   string   `json:"normalized_name"` // Fold of the name, set by the writer
	Type             string   `json:"type"`
	Aliases          []string `json:"aliases"`
	RiskLevel        string   `json:"risk_level"`
	VerifiedStatus   string   `json:"verified_status"`
	LinkedAccounts   []string `json:"linked_accounts"`
	DetailsChangedAt *string  `json:"details_changed_at"` // RFC 3339
	MemberID         *string  `json:"member_id"`          // when the payee is a member
	AgentID          *string  `json:"agent_id"`
	OnchainAddress   *string  `json:"onchain_address"`
}

// The vocabularies of a counterparty.
var (
	CounterpartyTypes = []string{"merchant", "vendor", "customer", "employer", "employee", "bank", "wallet", "exchange", "tax_authority", "agent", "other"}
	RiskLevels        = []string{"low", "medium", "high", "sanctioned"}
	VerifiedStatuses  = []string{"unverified", "self_attested", "document_verified", "sanctions_cleared"}
)

func (c *Counterparty) kind() id.Prefix { return id.Counterparty }

func (c *Counterparty) check() error {
	c.NormalizedName = Fold(c.Name)
	c.Aliases, c.LinkedAccounts = list(c.Aliases), list(c.LinkedAccounts)
	if c.Name == "" {
		return errNoName
	}
	return first(c.Meta.check(id.Counterparty), oneOf("type", c.Type, CounterpartyTypes),
		oneOf("risk_level", c.RiskLevel, RiskLevels), oneOf("verified_status", c.VerifiedStatus, VerifiedStatuses),
		text("name", &c.Name, c.MemberID, c.AgentID, c.OnchainAddress), texts("aliases", c.Aliases),
		texts("linked_accounts", c.LinkedAccounts), instants("details_changed_at", c.DetailsChangedAt))
}

func (c *Counterparty) key(t identity.Tenant) key.Key { return key.Ledger(t, id.Counterparty, c.ID) }

func (c *Counterparty) places(t identity.Tenant) [3]key.Key {
	return [3]key.Key{key.LedgerList(t, id.Counterparty, start(c.NormalizedName, maxLabel), c.ID)}
}

// start is at most n bytes of text, in whole runes: a key must be UTF-8.
func start(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}
