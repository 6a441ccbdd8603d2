package proposals

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
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

// replay answers with what the first call made, as it stands now.
func (d *Desk) replay(ctx context.Context, t identity.Tenant, kind id.Prefix, name string, err error) (Answer, error) {
	if err != nil {
		return Answer{}, err
	}
	a, err := d.Look(ctx, t, kind, name)
	a.Replayed = true
	return a, err
}

// Look reads a case with the decision that counts and the hash an approval of it
// is bound to now.
func (d *Desk) Look(ctx context.Context, t identity.Tenant, kind id.Prefix, name string) (Answer, error) {
	c, err := d.find(ctx, t, kind, name)
	if err != nil {
		return Answer{}, err
	}
	var decision key.Key
	var keys []key.Key
	if c.Payment != nil {
		keys = append(keys, c.payee(t))
	}
	if c.PolicyDecisionID != nil {
		decision = key.Decision(t, kind, c.ID, *c.PolicyDecisionID)
		keys = append(keys, decision)
	}
	items, err := d.Store.GetMany(ctx, keys)
	if err != nil {
		return Answer{}, err
	}
	ruling := c.Standing.Ruling
	a := Answer{Case: c, Decision: Decision{Verdict: policy.Verdict{
		Outcome: ruling.Outcome, Matched: nonNil(ruling.Matched), Approvers: nonNil(ruling.Approvers),
		EvidenceKinds: []string{}, Headroom: []policy.Headroom{}, Trace: []policy.RuleTrace{},
	}}}
	if item, found := items[decision]; found {
		if err := json.Unmarshal(item.Body, &a.Decision); err != nil {
			return Answer{}, fmt.Errorf("decode decision of %s: %w", name, err)
		}
	}
	a.Hash, err = c.hashOf(items[c.payee(t)])
	return a, err
}

// hashOf is the hash of a case given the row its payee has now.
func (c Case) hashOf(item record.Item) (string, error) {
	if c.Payment == nil || item.Version == 0 {
		return c.hash(Payee{})
	}
	var row ledger.Counterparty
	if err := json.Unmarshal(item.Body, &row); err != nil {
		return "", fmt.Errorf("decode the payee of %s: %w", c.ID, err)
	}
	return c.hash(*payee(row))
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return slices.Clone(list)
}
