package proposals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/canonical"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/tenant"
)

// Payee is what money goes by: the details that a person approves and that must
// not have changed when the money leaves.
type Payee struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	Type             string   `json:"type"`
	RiskLevel        string   `json:"risk_level"`
	VerifiedStatus   string   `json:"verified_status"`
	LinkedAccounts   []string `json:"linked_accounts"`
	OnchainAddress   *string  `json:"onchain_address"`
	DetailsChangedAt *string  `json:"details_changed_at"`
	MemberID         *string  `json:"member_id"`
}

// Snapshot are the ledger facts a decision rests on, as they were read; what is not
// there is nil.
type Snapshot struct {
	Account    *accountFacts    `json:"account,omitempty"`
	Payee      *Payee           `json:"counterparty,omitempty"`
	Obligation *obligationFacts `json:"obligation,omitempty"`
	Invoice    *invoiceFacts    `json:"invoice,omitempty"`
}

type accountFacts struct {
	ID       string `json:"id"`
	Currency string `json:"currency"`
	Status   string `json:"status"`
}

type obligationFacts struct {
	ID             string `json:"id"`
	CounterpartyID string `json:"counterparty_id"`
	Direction      string `json:"direction"`
	Type           string `json:"type"`
	AmountDue      string `json:"amount_due"`
	Currency       string `json:"currency"`
	Settled        string `json:"settled"` // paid, cancelled, disputed, or empty while it is open
}

type invoiceFacts struct {
	ID             string `json:"id"`
	CounterpartyID string `json:"counterparty_id"`
	Direction      string `json:"direction"`
	AmountDue      string `json:"amount_due"`
	AmountPaid     string `json:"amount_paid"`
	Currency       string `json:"currency"`
	Status         string `json:"status"`
}

// hash is the snapshot's canonical form and its SHA-256.
func (s Snapshot) hash() (form json.RawMessage, sum string, err error) {
	if form, err = canonical.Marshal(s); err != nil {
		return nil, "", fmt.Errorf("ledger facts: %w", err)
	}
	of := sha256.Sum256(form)
	return form, hex.EncodeToString(of[:]), nil
}

// reading is everything that a case is judged by, read at one instant.
type reading struct {
	now      time.Time
	items    map[key.Key]record.Item
	facts    Snapshot
	problem  error // what the ledger says against the payment; nil for nothing
	settings tenant.Settings
	policy   charter.Active
}

// keys are the items that a case is judged by.
func (c Case) keys(t identity.Tenant) []key.Key {
	keys := append(charter.Keys(t), key.Settings(t))
	keys = append(keys, c.subject(t).Keys()...)
	p := c.Payment
	if p == nil {
		return keys
	}
	keys = append(keys, key.Ledger(t, id.Account, p.SourceAccountID), key.Ledger(t, id.Counterparty, p.DestinationCounterpartyID))
	if p.ObligationID != nil {
		keys = append(keys, key.Ledger(t, id.Obligation, *p.ObligationID))
	}
	if p.InvoiceID != nil {
		keys = append(keys, key.Ledger(t, id.Invoice, *p.InvoiceID))
	}
	for _, name := range p.EvidenceIDs {
		if kind, ok := payments.EvidenceKind(name); ok {
			keys = append(keys, evidenceKey(t, kind, name))
		}
	}
	return keys
}

func evidenceKey(t identity.Tenant, kind id.Prefix, name string) key.Key {
	if kind == id.RawArtifact {
		return key.Raw(t, name)
	}
	return key.Ledger(t, kind, name)
}

// read reads all of it and more in one batch.
func (d *Desk) read(ctx context.Context, t identity.Tenant, c Case, more ...key.Key) (reading, error) {
	r := reading{now: d.Now()}
	var err error
	if r.items, err = d.Store.GetMany(ctx, append(c.keys(t), more...)); err != nil {
		return r, err
	}
	if r.settings, err = tenant.Read(r.items[key.Settings(t)]); err != nil {
		return r, err
	}
	if r.policy, err = d.Policies.Load(ctx, t, r.items); err != nil {
		return r, err
	}
	if c.Payment != nil {
		r.problem, err = r.look(t, *c.Payment)
	}
	return r, err
}

// look fills in the ledger's facts and holds the payment against them. problem
// is for the caller; err is a row that cannot be read.
func (r *reading) look(t identity.Tenant, p payments.Payment) (problem, err error) {
	for _, see := range []func(identity.Tenant, payments.Payment) (problem, err error){r.account, r.counterparty, r.obligation, r.invoice, r.evidence} {
		said, err := see(t, p)
		if err != nil {
			return nil, err
		}
		if problem == nil {
			problem = said
		}
	}
	return problem, nil
}

// row decodes a ledger row that was read; false when there is none. An id that
// is malformed names none either.
func row[T any](r *reading, t identity.Tenant, kind id.Prefix, name string, into *T) (bool, error) {
	item, found := r.items[key.Ledger(t, kind, name)]
	if !found || id.Check(kind, name) != nil {
		return false, nil
	}
	if err := json.Unmarshal(item.Body, into); err != nil {
		return false, fmt.Errorf("decode %s: %w", name, err)
	}
	return true, nil
}

func missing(field, value string) error {
	return fault.New(fault.LedgerRowNotFound, "%s %.80q: there is no such row in the ledger. Ids come from the rows and lists read before.", field, value)
}

func against(format string, args ...any) error {
	return fault.New(fault.InvalidArgument, format, args...)
}

func (r *reading) account(t identity.Tenant, p payments.Payment) (problem, err error) {
	var a ledger.Account
	found, err := row(r, t, id.Account, p.SourceAccountID, &a)
	if err != nil || !found {
		return missing("source_account_id", p.SourceAccountID), err
	}
	r.facts.Account = &accountFacts{a.ID, a.Currency, a.Status}
	switch {
	case a.Status != "active":
		return against("source_account_id: account %s is %s. Use an active one.", a.ID, a.Status), nil
	case a.Currency != p.Currency:
		return against("currency %s: account %s is in %s. Propose in the account's currency, or from another account.", p.Currency, a.ID, a.Currency), nil
	}
	return nil, nil
}

func (r *reading) counterparty(t identity.Tenant, p payments.Payment) (problem, err error) {
	var c ledger.Counterparty
	found, err := row(r, t, id.Counterparty, p.DestinationCounterpartyID, &c)
	if err != nil || !found {
		return missing("destination_counterparty_id", p.DestinationCounterpartyID), err
	}
	r.facts.Payee = payee(c)
	return nil, nil
}

func payee(c ledger.Counterparty) *Payee {
	linked := c.LinkedAccounts
	if linked == nil {
		linked = []string{}
	}
	return &Payee{c.ID, c.Name, c.Type, c.RiskLevel, c.VerifiedStatus, linked, c.OnchainAddress, c.DetailsChangedAt, c.MemberID}
}

func (r *reading) obligation(t identity.Tenant, p payments.Payment) (problem, err error) {
	if p.ObligationID == nil {
		return nil, nil
	}
	var o ledger.Obligation
	found, err := row(r, t, id.Obligation, *p.ObligationID, &o)
	if err != nil || !found {
		return missing("obligation_id", *p.ObligationID), err
	}
	f := &obligationFacts{ID: o.ID, CounterpartyID: o.CounterpartyID, Direction: o.Direction, Type: o.Type, AmountDue: o.AmountDue, Currency: o.Currency}
	switch o.Status {
	case "paid", "cancelled", "disputed":
		f.Settled = o.Status
	}
	r.facts.Obligation = f
	switch {
	case o.Direction != p.Direction():
		return against("obligation_id: %s is %s, and %s needs one that is %s.", o.ID, o.Direction, p.ActionType, p.Direction()), nil
	case f.Settled != "":
		return against("obligation_id: %s is %s and not open any more.", o.ID, f.Settled), nil
	case o.CounterpartyID != p.DestinationCounterpartyID:
		return against("obligation_id: %s is owed to another counterparty than %s.", o.ID, p.DestinationCounterpartyID), nil
	}
	return fits(p, "obligation_id: "+o.ID, o.AmountDue, o.Currency), nil
}

func (r *reading) invoice(t identity.Tenant, p payments.Payment) (problem, err error) {
	if p.InvoiceID == nil {
		return nil, nil
	}
	var i ledger.Invoice
	found, err := row(r, t, id.Invoice, *p.InvoiceID, &i)
	if err != nil || !found {
		return missing("invoice_id", *p.InvoiceID), err
	}
	r.facts.Invoice = &invoiceFacts{i.ID, i.CounterpartyID, i.Direction, i.AmountDue, i.AmountPaid, i.Currency, i.Status}
	switch {
	case i.Direction != p.Direction():
		return against("invoice_id: %s is %s, and %s needs one that is %s.", i.ID, i.Direction, p.ActionType, p.Direction()), nil
	case i.Status == "paid" || i.Status == "cancelled" || i.Status == "disputed" || i.Status == "draft":
		return against("invoice_id: %s is %s.", i.ID, i.Status), nil
	case i.CounterpartyID != p.DestinationCounterpartyID:
		return against("invoice_id: %s is of another counterparty than %s.", i.ID, p.DestinationCounterpartyID), nil
	}
	left, err := unpaid(i)
	if err != nil {
		return nil, err
	}
	return fits(p, "invoice_id: "+i.ID, left, i.Currency), nil
}

// unpaid is what is left of an invoice that was paid in part.
func unpaid(i ledger.Invoice) (string, error) {
	due, err := money.Written{Amount: i.AmountDue, Currency: i.Currency}.Read()
	if err != nil {
		return "", fmt.Errorf("invoice %s: %w", i.ID, err)
	}
	paid, err := money.Written{Amount: i.AmountPaid, Currency: i.Currency}.Read()
	if err != nil {
		return "", fmt.Errorf("invoice %s: %w", i.ID, err)
	}
	left, err := due.Sub(paid)
	if err != nil {
		return "", fmt.Errorf("invoice %s: %w", i.ID, err)
	}
	if left.Sign() < 0 {
		left = money.Zero(due.Currency())
	}
	return left.String(), nil
}

// fits says what is wrong with paying so much of what is owed.
func fits(p payments.Payment, what, due, currency string) error {
	if currency != p.Currency {
		return against("%s is in %s, the payment in %s.", what, currency, p.Currency)
	}
	paid, err := p.Money()
	if err != nil {
		return against("amount: %v.", err)
	}
	if (money.Written{Amount: due, Currency: currency}).Above(paid) {
		return against("amount %s %s is more than %s, for which %s %s is owed.", p.Amount, p.Currency, what, due, currency)
	}
	return nil
}

func (r *reading) evidence(t identity.Tenant, p payments.Payment) (problem, err error) {
	for i, name := range p.EvidenceIDs {
		kind, ok := payments.EvidenceKind(name)
		if _, found := r.items[evidenceKey(t, kind, name)]; !ok || !found {
			return missing(fmt.Sprintf("evidence_ids[%d]", i), name), nil
		}
	}
	return nil, nil
}

// book is what was promised before, without the promises that this change gives
// back.
func (r *reading) book(t identity.Tenant, c Case, without ...allowance.Hold) *allowance.Book {
	return allowance.Open(c.subject(t), r.now, r.items, without...)
}
