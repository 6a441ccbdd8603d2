// Package execution takes approved payments through the gate and over a rail. It
// is the only way money moves, and it trusts nobody: not the event that wakes it,
// not the decision of yesterday, not a rail that says it is done.
//
// An execution is dispatched, then settled or failed. Each step is one
// transaction with its event, and each can be taken up where a dead process left
// it: what is sent again carries the same key, and what is written again says the
// same. What a rail does not say is not known, and what is not known has not
// failed.
package execution

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/trace"
)

// State is where an execution stands.
type State string

// The states. A receipt is first kept (settling), then what follows from it is
// written down, then it is over: a crash in between is finished by whoever comes
// next, from what was kept.
const (
	Dispatched State = "dispatched"
	Settling   State = "settling"
	Settled    State = "settled"
	Failed     State = "failed"
)

// Record is an execution as it is stored.
type Record struct {
	ID             string         `json:"id"` // exec_ and the rest of the intent's id: an intent has one
	TenantID       string         `json:"tenant_id"`
	IntentID       string         `json:"payment_intent_id"`
	Rail           string         `json:"rail"`
	IdempotencyKey string         `json:"idempotency_key"` // SHA-256 over tenant and intent, 64 hex digits
	State          State          `json:"state"`
	Order          Order          `json:"order"`
	Hold           *money.Written `json:"hold"` // reserved of the account, null for a payment that takes nothing from it
	Checks         []Check        `json:"gate_checks"`
	Receipt        *Receipt       `json:"receipt"` // null until the rail has said what became of it
	Balance        *Planned       `json:"balance"` // what the account holds after it, null where that is not known
	CreatedAt      string         `json:"created_at"`
	UpdatedAt      string         `json:"updated_at"`
	// ReceiptDue is until when the rail's receipt should be here, empty for a rail
	// that answers at once or is asked again. Nothing follows from it but an alarm.
	ReceiptDue string `json:"receipt_due,omitempty"`
	// Trace is of the request that led to it, whoever ends it: a receipt brings
	// none, and another payment's errand may settle this one.
	Trace trace.Parent `json:"traceparent,omitempty"`

	version int64
}

// Planned is the balance an account will have. It is decided once, so that who
// finishes a settlement for another writes the same.
type Planned struct {
	AsOf      string  `json:"as_of"`
	Current   string  `json:"current"`
	Available *string `json:"available"`
	Pending   *string `json:"pending"`
}

// Order is what a rail is asked to do, as it was at the gate.
type Order struct {
	TenantID       string           `json:"tenant_id"`
	IntentID       string           `json:"payment_intent_id"`
	ExecutionID    string           `json:"execution_id"`
	IdempotencyKey string           `json:"idempotency_key"`
	Payment        payments.Payment `json:"payment"`
	Debtor         Debtor           `json:"debtor"`
	Creditor       Creditor         `json:"creditor"`
	CreatedAt      string           `json:"created_at"` // RFC 3339, milliseconds
	// Prepared is what the rail made before the dispatch, in its own form. It is
	// sent again as it is.
	Prepared json.RawMessage `json:"prepared,omitempty"`
}

// Debtor is the tenant's own account.
type Debtor struct {
	AccountID   string  `json:"account_id"`
	Name        string  `json:"name"`
	Institution *string `json:"institution"`
	Number      *string `json:"number"` // the institution's own, such as an IBAN
}

// Creditor is the counterparty.
type Creditor struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Accounts []string `json:"accounts"`
	Address  *string  `json:"onchain_address"`
}

// Outcome is what a rail says of an order.
type Outcome string

// The outcomes.
const (
	Done     Outcome = "settled"
	Accepted Outcome = "accepted" // taken; the receipt comes later
	Refused  Outcome = "refused"  // for good: the money has not moved and will not
	Unknown  Outcome = "unknown"  // the rail did not say; it may have moved
)

// Receipt is what a rail says of an order.
type Receipt struct {
	ExecutionID    string            `json:"execution_id"`
	IntentID       string            `json:"payment_intent_id"`
	IdempotencyKey string            `json:"idempotency_key"`
	Rail           string            `json:"rail"`
	Outcome        Outcome           `json:"outcome"`
	Amount         string            `json:"amount"`
	Currency       string            `json:"currency"`
	Reference      string            `json:"reference"`        // the rail's own name for it
	At             string            `json:"at"`               // RFC 3339, milliseconds
	Reason         string            `json:"reason,omitempty"` // why it was refused or is not known
	Detail         map[string]string `json:"detail,omitempty"` // such as the transaction's hash on the chain
	// Again says that no receipt will come by itself: the order is to be sent
	// again, which asks what became of it.
	Again bool `json:"-"`
}

// Rail carries orders. Send is called again after a crash, a lost answer or a
// redelivered event, and must not pay twice for one idempotency key. An error, or
// no outcome, is Unknown.
type Rail interface {
	Name() string
	Send(ctx context.Context, order Order) (Receipt, error)
}

// Preparer is a rail that makes something before it can send, which is kept with
// the dispatch. The puts are written in the dispatch's transaction: when one of
// their conditions fails, nothing was prepared. A *Refusal says that the order can
// never be carried.
type Preparer interface {
	Prepare(ctx context.Context, order Order) (prepared json.RawMessage, puts []record.Put, err error)
}

// Refusal is a rail's definite no.
type Refusal struct{ Reason string }

// Error is the reason.
func (r *Refusal) Error() string { return r.Reason }

// Rails are the rails there are.
type Rails struct {
	Usual   Rail // of every payment that has no other
	Onchain Rail // of payments on the chain; nil gives them the usual one
}

// of is the rail of a type of payment.
func (r Rails) of(t payments.ActionType) Rail {
	if t.Class() == policy.OnchainTx && r.Onchain != nil {
		return r.Onchain
	}
	return r.Usual
}

// named is the rail an execution was dispatched to, which may not be the one its
// type would take today.
func (r Rails) named(name string) (Rail, error) {
	for _, rail := range []Rail{r.Usual, r.Onchain} {
		if rail != nil && rail.Name() == name {
			return rail, nil
		}
	}
	return nil, fmt.Errorf("there is no rail %q any more", name)
}

// receipt is a receipt of an order with what every one has.
func (o Order) receipt(rail string, outcome Outcome) Receipt {
	return Receipt{
		ExecutionID: o.ExecutionID, IntentID: o.IntentID, IdempotencyKey: o.IdempotencyKey, Rail: rail, Outcome: outcome,
		Amount: o.Payment.Amount, Currency: o.Payment.Currency,
	}
}

// NameOf is the id of an intent's execution.
func NameOf(intent string) string { return renamed(intent, id.Execution) }

// renamed is an id with another prefix, the rest being the same: what belongs
// together is found without being looked up, and made again it is the same.
func renamed(name string, prefix id.Prefix) string {
	_, rest, _ := strings.Cut(name, "_")
	return string(prefix) + "_" + rest
}

// KeyOf is the idempotency key of an intent's execution.
func KeyOf(t identity.Tenant, intent string) string {
	sum := sha256.Sum256([]byte(t.String() + "/" + intent))
	return hex.EncodeToString(sum[:])
}

// flow is what a payment does to the account it names.
type flow struct {
	direction string // of the ledger's transaction
	sign      int    // what it does to the balance; 0 is nothing
}

// flowOf is the flow of a type. What the ERP is told was paid elsewhere: the
// money has left already.
func flowOf(t payments.ActionType) flow {
	switch t {
	case payments.ACHInbound:
		return flow{"inflow", 1}
	case payments.ERPWriteback:
		return flow{"adjustment", 0}
	}
	return flow{"outflow", -1}
}

// put is the operation that stores a record where it was read, or anew.
func (r Record) put(t identity.Tenant) (record.Put, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return record.Put{}, fmt.Errorf("encode %s: %w", r.ID, err)
	}
	return record.Put{Item: record.Item{Key: key.Execution(t, r.ID), Body: body}, Was: r.version}, nil
}

// read reads an execution, false when there is none.
func (e *Executor) read(ctx context.Context, t identity.Tenant, name string) (Record, bool, error) {
	item, found, err := e.Store.Get(ctx, key.Execution(t, name))
	if err != nil || !found {
		return Record{}, false, err
	}
	r := Record{version: item.Version}
	if err := json.Unmarshal(item.Body, &r); err != nil {
		return Record{}, false, fmt.Errorf("decode %s: %w", name, err)
	}
	return r, true, nil
}
