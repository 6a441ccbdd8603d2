package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/robotmoney/mcp/shared/domain/approval"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// View is what the gate looks at: an approved intent and everything it rests on,
// read consistently. What is not there is nil. The checks look at nothing else.
type View struct {
	Tenant       identity.Tenant
	Now          time.Time
	Case         proposals.Case
	Amount       money.Amount
	Agent        *identity.AgentRecord
	Registration identity.Registration
	Account      *ledger.Account
	Payee        *ledger.Counterparty
	Obligation   *ledger.Obligation
	Invoice      *ledger.Invoice
	Evidence     []Evidence
	Balance      *ledger.Balance // the latest
	Reserved     *big.Int        // of the account, in the smallest unit of the payment's currency
	Stored       *proposals.Decision
	Fresh        proposals.Decision
	Policy       charter.Active
	Matter       approval.Matter
	Approvers    map[string]identity.MemberRecord // who has approved, as they are now
	Marks        []Mark                           // of payments that look like this one

	ever   *big.Int                // all that was ever reserved, to notice what is reserved meanwhile
	marks  map[key.Key]record.Item // as they were read
	failed []string                // ids of the checks that have failed so far
}

// Evidence is something a payment rests on.
type Evidence struct {
	proposals.Reference
	Found bool
	// Of what kinds have it: the counterparty, the currency, and what is still
	// owed of it.
	Counterparty, Currency, Owed string
	Direction                    string // payable or receivable, of what is owed
	Settled                      string // paid, cancelled or disputed; empty while it is open
}

// Mark is left by a payment for what another must not be made for.
type Mark struct {
	Of          string `json:"of"`           // an id, or what the same payment would be
	ExecutionID string `json:"execution_id"` // who left it
	At          string `json:"at"`           // RFC 3339, milliseconds
	Window      bool   `json:"window"`       // it counts for a while and not for ever
}

// keys are what the gate reads beside an intent's own rows.
func keys(t identity.Tenant, c proposals.Case) []key.Key {
	all := []key.Key{key.AgentRecord(c.AgentID), key.Reserved(t, c.SourceAccountID)}
	for _, a := range c.Approvals {
		all = append(all, key.MemberRecord(t, a.MemberID))
	}
	for _, mark := range marksOf(t, *c.Payment) {
		all = append(all, mark.key)
	}
	return all
}

// look makes the gate's view of what was read, and reads the rest: the chain and
// the account's latest balance.
func (e *Executor) look(ctx context.Context, p proposals.View) (View, error) {
	c := p.Case
	v := View{
		Tenant: p.Tenant, Now: p.Now, Case: c, Amount: p.Amount, Stored: p.Stored, Fresh: p.Fresh, Policy: p.Policy, Matter: p.Matter,
		Approvers: map[string]identity.MemberRecord{}, marks: p.Items,
	}
	var err error
	if v.Registration, err = e.Registry.Registration(ctx, identity.AgentHash(p.Tenant.String(), c.AgentID)); err != nil {
		return v, err
	}
	if v.Balance, err = e.latest(ctx, p.Tenant, c.SourceAccountID); err != nil {
		return v, err
	}
	return v, v.fill(p)
}

// fill decodes what was read.
func (v *View) fill(p proposals.View) error {
	c, t := v.Case, v.Tenant
	reserved := p.Items[key.Reserved(t, c.SourceAccountID)].Numbers
	v.Reserved, v.ever = number(reserved, held(c.Currency)), number(reserved, ever(c.Currency))
	failures := []error{
		decode(p.Items, key.AgentRecord(c.AgentID), &v.Agent),
		decode(p.Items, key.Ledger(t, id.Account, c.SourceAccountID), &v.Account),
		decode(p.Items, key.Ledger(t, id.Counterparty, c.DestinationCounterpartyID), &v.Payee),
	}
	if c.ObligationID != nil {
		failures = append(failures, decode(p.Items, key.Ledger(t, id.Obligation, *c.ObligationID), &v.Obligation))
	}
	if c.InvoiceID != nil {
		failures = append(failures, decode(p.Items, key.Ledger(t, id.Invoice, *c.InvoiceID), &v.Invoice))
	}
	for _, a := range c.Approvals {
		var member *identity.MemberRecord
		failures = append(failures, decode(p.Items, key.MemberRecord(t, a.MemberID), &member))
		if member != nil {
			v.Approvers[a.MemberID] = *member
		}
	}
	for _, ref := range p.Evidence {
		found, err := evidenceOf(t, p.Items, ref)
		failures = append(failures, err)
		v.Evidence = append(v.Evidence, found)
	}
	for _, place := range marksOf(t, *c.Payment) {
		var left *Mark
		failures = append(failures, decode(p.Items, place.key, &left))
		if left != nil {
			v.Marks = append(v.Marks, *left)
		}
	}
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// decode reads an item into a new value; without an item it stays nil.
func decode[T any](items map[key.Key]record.Item, k key.Key, into **T) error {
	item, found := items[k]
	if !found {
		return nil
	}
	*into = new(T)
	if err := json.Unmarshal(item.Body, *into); err != nil {
		return fmt.Errorf("decode %s: %w", k.PK, err)
	}
	return nil
}

// evidenceOf is a reference with what its row says.
func evidenceOf(t identity.Tenant, items map[key.Key]record.Item, ref proposals.Reference) (Evidence, error) {
	e := Evidence{Reference: ref}
	prefix, known := payments.EvidenceKind(ref.Ref)
	if !known {
		return e, nil
	}
	at := key.Ledger(t, prefix, ref.Ref)
	if prefix == id.RawArtifact {
		at = key.Raw(t, ref.Ref)
	}
	_, e.Found = items[at]
	var err error
	switch prefix {
	case id.Obligation:
		var o *ledger.Obligation
		if err = decode(items, at, &o); o != nil {
			e.Counterparty, e.Currency, e.Direction, e.Owed = o.CounterpartyID, o.Currency, o.Direction, o.AmountDue
			e.Settled = settled(o.Status)
		}
	case id.Invoice:
		var i *ledger.Invoice
		if err = decode(items, at, &i); i != nil {
			e.Counterparty, e.Currency, e.Direction, e.Owed = i.CounterpartyID, i.Currency, i.Direction, owed(*i)
			e.Settled = settled(i.Status)
		}
	case id.Transaction:
		var x *ledger.Transaction
		if err = decode(items, at, &x); x != nil {
			e.Currency = x.Currency
			if x.CounterpartyID != nil {
				e.Counterparty = *x.CounterpartyID
			}
		}
	case id.Counterparty:
		e.Counterparty = ref.Ref
	}
	return e, err
}

// settled is a status after which nothing is owed, empty while something is.
func settled(status string) string {
	if slices.Contains([]string{"paid", "cancelled", "disputed", "draft"}, status) {
		return status
	}
	return ""
}

// owed is what is left to pay of an invoice; nothing where that cannot be said.
func owed(i ledger.Invoice) string {
	due, err := money.Written{Amount: i.AmountDue, Currency: i.Currency}.Read()
	if err != nil {
		return "0"
	}
	paid, err := money.Written{Amount: i.AmountPaid, Currency: i.Currency}.Read()
	if err != nil {
		return "0"
	}
	left, err := due.Sub(paid)
	if err != nil || left.Sign() < 0 {
		return "0"
	}
	return left.String()
}

// latest is an account's latest balance, nil when none is known.
func (e *Executor) latest(ctx context.Context, t identity.Tenant, account string) (*ledger.Balance, error) {
	page, err := e.Store.Query(ctx, record.Query{PK: key.Balance(t, account, "").PK, Prefix: key.BalancePrefix, Reverse: true, Limit: 1})
	if err != nil || len(page.Items) == 0 {
		return nil, err
	}
	b := &ledger.Balance{}
	if err := json.Unmarshal(page.Items[0].Body, b); err != nil {
		return nil, fmt.Errorf("decode the balance of %s: %w", account, err)
	}
	return b, nil
}

// The counters of what is reserved of an account, by currency: what is held now,
// and what was ever held. The second only grows. Who found room commits under the
// condition that it has grown by no more than the room: what was released in
// between, because it was paid, has left the balance too.
func held(currency string) string { return "held." + currency }
func ever(currency string) string { return "ever." + currency }

// number is a counter, zero where there is none.
func number(numbers map[string]*big.Int, name string) *big.Int {
	if n := numbers[name]; n != nil {
		return n
	}
	return new(big.Int)
}

// minor is an amount in the smallest unit of its currency.
func minor(a money.Amount) *big.Int {
	n, _ := new(big.Int).SetString(a.Minor(), 10) // the digits of an amount
	return n
}
