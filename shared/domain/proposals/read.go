package proposals

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Intent returns an intent as JSON. A malformed, missing or foreign id is
// payment_intent_not_found all the same.
func (d *Desk) Intent(ctx context.Context, t identity.Tenant, name string) (json.RawMessage, error) {
	c, err := d.find(ctx, t, id.PaymentIntent, name)
	if err != nil {
		return nil, err
	}
	return json.Marshal(c.Intent())
}

// Authorization returns an authorization: an agent's own, or for a member any of
// the tenant's. What is another agent's is not there.
func (d *Desk) Authorization(ctx context.Context, who identity.Principal, name string) (Answer, error) {
	a, err := d.Look(ctx, who.Tenant, id.Authorization, name)
	if err == nil && who.Kind == identity.Agent && a.AgentID != who.ID {
		return Answer{}, absent(id.Authorization)
	}
	return a, err
}

// List lists an agent's own intents, the newest first; an empty status is any.
func (d *Desk) List(ctx context.Context, who identity.Principal, status Status, w listing.Window) (listing.Page, error) {
	l := listing.Listing{
		Query:  record.Query{Index: 2, PK: key.LedgerListOf(who.Tenant, id.PaymentIntent, who.ID, "", "").PK, Reverse: true},
		Sparse: status != "",
		Rows: func(_ context.Context, items []record.Item) ([]json.RawMessage, error) {
			rows := make([]json.RawMessage, len(items))
			for i, item := range items {
				c, err := Decode(item)
				if err != nil {
					return nil, err
				}
				if status != "" && c.Status != status {
					continue
				}
				if rows[i], err = json.Marshal(c.Intent()); err != nil {
					return nil, fmt.Errorf("encode intent %s: %w", c.ID, err)
				}
			}
			return rows, nil
		},
	}
	return l.Walk(ctx, d.Store, who.Tenant, w)
}

// history is how many payments to a payee are looked at for the largest one.
const history = 100

// largest is the most that was paid to a counterparty in one payment of a
// currency, in twelve months and among the latest hundred payments.
func (d *Desk) largest(ctx context.Context, t identity.Tenant, counterparty string, currency money.Currency) (money.Amount, error) {
	most := money.Zero(currency)
	if id.Check(id.Counterparty, counterparty) != nil {
		return most, nil
	}
	page, err := d.Store.Query(ctx, record.Query{
		Index: 3, PK: key.LedgerListOf(t, id.Transaction, counterparty, "", "").PK,
		From: d.Now().UTC().AddDate(-1, 0, 0).Format("2006-01-02"), Reverse: true, Limit: history,
	})
	if err != nil {
		return most, err
	}
	for _, item := range page.Items {
		var x ledger.Transaction
		if err := json.Unmarshal(item.Body, &x); err != nil {
			return most, fmt.Errorf("decode transaction: %w", err)
		}
		if x.Direction != "outflow" || x.Currency != currency.String() || x.Status == "failed" || x.Status == "reversed" {
			continue
		}
		paid, err := money.ParseAmount(x.Amount, currency)
		if err != nil {
			return most, fmt.Errorf("transaction %s: %w", x.ID, err)
		}
		if order, err := paid.Cmp(most); err == nil && order > 0 {
			most = paid
		}
	}
	return most, nil
}
