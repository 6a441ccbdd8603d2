package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// The events of the bank rail. The bus lets only the function execute put the
// first under its source, and only a tenant's rail the second under its own.
const (
	OrderSource   = "robotmoney.execute"
	OrderCreated  = "payment_order.created"
	ReceiptSource = "robotmoney.rail"
	OrderReceipt  = "payment_order.receipt"
)

// Orders carries payment orders to the tenants' own rails.
type Orders interface {
	// Put returns nil only once the order is taken for delivery.
	Put(ctx context.Context, source string, entry audit.Entry) error
}

// Bank hands each order to the tenant's own rail through the bus, where it may
// arrive more than once: the rail tells by the idempotency key. The receipt comes
// back as an event.
type Bank struct {
	Orders  Orders
	Receipt time.Duration // how long it may take until the receipt comes
}

// Within is how long a receipt may take.
func (b Bank) Within() time.Duration { return b.Receipt }

// Name is bank.
func (Bank) Name() string { return "bank" }

// Prepare refuses what no bank can carry.
func (Bank) Prepare(_ context.Context, order Order) (json.RawMessage, []record.Put, error) {
	if order.Payment.Currency == "USDC" {
		return nil, nil, &Refusal{"a bank carries no USDC"}
	}
	return nil, nil, nil
}

// Send puts the order on the bus. Sent again it is the same event, byte for byte:
// the audit trail takes an event once.
func (b Bank) Send(ctx context.Context, order Order) (Receipt, error) {
	entry, err := order.entry()
	if err != nil {
		return Receipt{}, err
	}
	if err := b.Orders.Put(ctx, OrderSource, entry); err != nil {
		return Receipt{}, fmt.Errorf("put the payment order: %w", err)
	}
	return order.receipt(b.Name(), Accepted), nil
}

// entry is the order as the bus carries it, a CloudEvents record like every event.
// It names no state: it may be read long after the payment is over.
func (o Order) entry() (audit.Entry, error) {
	at, err := time.Parse(audit.TimeForm, o.CreatedAt)
	if err != nil {
		return audit.Entry{}, fmt.Errorf("time of %s: %w", o.ExecutionID, err)
	}
	event := audit.Event{
		ID: renamed(o.ExecutionID, id.Event), TenantID: o.TenantID, Layer: audit.LayerExecution, Actor: actor, Action: OrderCreated,
		Inputs: map[string]any{
			"id": o.IntentID, "execution_id": o.ExecutionID, "idempotency_key": o.IdempotencyKey,
			"payment": o.Payment, "debtor": o.Debtor, "creditor": o.Creditor,
		},
		Outputs: map[string]any{"ok": true}, CreatedAt: o.CreatedAt, Schema: audit.Schema,
	}
	detail, err := json.Marshal(map[string]any{
		"specversion": "1.0", "id": event.ID, "source": OrderSource, "type": event.Action, "subject": event.TenantID,
		"time": event.CreatedAt, "datacontenttype": "application/json", "data": event,
	})
	if err != nil {
		return audit.Entry{}, fmt.Errorf("encode the payment order of %s: %w", o.ExecutionID, err)
	}
	return audit.Entry{ID: event.ID, Type: event.Action, At: at, Detail: detail}, nil
}

// ReceiptOf reads the data of a receipt event: who is meant is in its inputs, what
// became of the order in its outputs. Whether any of it is so is another question.
func ReceiptOf(data []byte) (Receipt, error) {
	var event struct {
		Inputs struct {
			ID             string `json:"id"`
			ExecutionID    string `json:"execution_id"`
			IdempotencyKey string `json:"idempotency_key"`
			Amount         string `json:"amount"`
			Currency       string `json:"currency"`
		} `json:"inputs"`
		Outputs struct {
			Status    Outcome `json:"status"`
			Reference string  `json:"reference"`
			At        string  `json:"at"`
			Reason    string  `json:"reason"`
		} `json:"outputs"`
	}
	if err := json.Unmarshal(data, &event); err != nil {
		return Receipt{}, &Dispute{"it cannot be read"}
	}
	in, out := event.Inputs, event.Outputs
	switch {
	case id.Check(id.Execution, in.ExecutionID) != nil || id.Check(id.PaymentIntent, in.ID) != nil:
		return Receipt{}, &Dispute{"it names no execution"}
	case out.Status != Done && out.Status != Refused:
		return Receipt{}, &Dispute{"it says neither settled nor refused"}
	case len(out.Reference) > maxReference || len(out.Reason) > maxReason:
		return Receipt{}, &Dispute{"its reference or reason is too long"}
	}
	return Receipt{
		ExecutionID: in.ExecutionID, IntentID: in.ID, IdempotencyKey: in.IdempotencyKey, Rail: Bank{}.Name(), Outcome: out.Status,
		Amount: in.Amount, Currency: in.Currency, Reference: out.Reference, At: out.At, Reason: out.Reason,
	}, nil
}

// Bounds of what a rail's texts take in an event, in bytes.
const (
	maxReference = 256
	maxReason    = 500
)
