package payments

import (
	"context"
	"encoding/json"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Intent is a payment somebody proposed, as it is read.
type Intent struct {
	ID                        string     `json:"id"`
	TenantID                  string     `json:"tenant_id"`
	AgentID                   string     `json:"agent_id"`
	Status                    string     `json:"status"`
	ActionType                ActionType `json:"action_type"`
	SourceAccountID           string     `json:"source_account_id"`
	DestinationCounterpartyID string     `json:"destination_counterparty_id"`
	Amount                    string     `json:"amount"` // decimal in Currency
	Currency                  string     `json:"currency"`
	ObligationID              *string    `json:"obligation_id"`
	InvoiceID                 *string    `json:"invoice_id"`
	Memo                      *string    `json:"memo"`
	PolicyDecisionID          *string    `json:"policy_decision_id"`
	CreatedAt                 string     `json:"created_at"` // RFC 3339, milliseconds
	UpdatedAt                 string     `json:"updated_at"`
}

// Reader reads intents.
type Reader struct{ Store record.Store }

// Intent returns an intent as JSON. A malformed, missing or foreign id is
// payment_intent_not_found all the same.
func (r *Reader) Intent(ctx context.Context, t identity.Tenant, name string) (json.RawMessage, error) {
	missing := fault.New(fault.IntentNotFound, "There is no such payment intent. Ids come from the answers of earlier proposals.")
	if id.Check(id.PaymentIntent, name) != nil {
		return nil, missing
	}
	item, found, err := r.Store.Get(ctx, key.Ledger(t, id.PaymentIntent, name))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, missing
	}
	return item.Body, nil
}
