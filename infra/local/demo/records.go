package demo

import (
	"encoding/json"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// records are the items of a tenant that are no ledger rows.
func records(t identity.Tenant, rows Rows, addresses map[string]string) ([]record.Item, error) {
	var items []record.Item
	for _, m := range Members {
		if m.Tenant == t.String() {
			items = append(items, item(key.MemberRecord(t, m.Record.ID), m.Record))
		}
	}
	for _, a := range Agents {
		if a.Tenant != t.String() {
			continue
		}
		if a.Record.Address = addresses[a.Record.ID]; a.Record.Address == "" {
			return nil, fmt.Errorf("agent %s has no chain address", a.Record.ID)
		}
		items = append(items, item(key.AgentRecord(a.Record.ID), a.Record))
	}
	items = append(items, credentials(t)...)
	items = append(items, individuals(t)...)
	for _, page := range Pages(rows) {
		stored := item(key.Page(t, page.Slug), page)
		stored.Index[0] = key.PageByID(t, page.ID)
		items = append(items, stored)
	}
	if t.String() == Acme {
		i := intent()
		stored := item(key.Ledger(t, id.PaymentIntent, i.ID), i)
		// The list of intents, by the time they were made.
		stored.Index[0] = key.LedgerList(t, id.PaymentIntent, i.CreatedAt, i.ID)
		items = append(items, stored)
	}
	return items, nil
}

// item is a record under its key. What is written here are structs of strings,
// which always have a JSON form.
func item(k key.Key, v any) record.Item {
	body, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("demo: encode %T: %v", v, err))
	}
	return record.Item{Key: k, Body: body}
}

// intent is the payment that documents name: the agent asks to pay October's
// cloud bill, and it waits for people.
func intent() payments.Intent {
	const proposed = "2025-09-30T15:04:00.000Z"
	return payments.Intent{
		ID: "pi_a1b2c3", TenantID: Acme, AgentID: "agt_finance", Status: "pending_approval", ActionType: payments.ACHOutbound,
		SourceAccountID: operating, DestinationCounterpartyID: "cp_aws", Amount: "61404.12", Currency: "USD",
		ObligationID: ptr("obl_5521"), Memo: ptr("AWS, bill of October 2025"), CreatedAt: proposed, UpdatedAt: proposed,
	}
}
