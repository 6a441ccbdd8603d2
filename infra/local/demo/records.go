package demo

import (
	"encoding/json"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/approval"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/roster"
)

// records are the items of a tenant that are no ledger rows.
func records(t identity.Tenant, rows Rows, addresses map[string]string) ([]record.Item, error) {
	var items []record.Item
	for _, m := range Members {
		if m.Tenant == t.String() {
			stored, err := roster.MemberItem(t, m.Record)
			if err != nil {
				return nil, err
			}
			items = append(items, stored)
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
		stored.Index = [3]key.Key{
			key.LedgerList(t, id.PaymentIntent, i.CreatedAt, i.ID),
			key.LedgerListOf(t, id.PaymentIntent, i.AgentID, i.CreatedAt, i.ID),
			key.Feed(t, i.CreatedAt, i.ID),
		}
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
func intent() proposals.Case {
	const proposed = "2025-09-30T15:04:00.000Z"
	return proposals.Case{
		Core: proposals.Core{
			ID: "pi_a1b2c3", TenantID: Acme, AgentID: "agt_finance", Status: proposals.Pending,
			Approvals: []approval.Approval{}, CreatedAt: proposed, UpdatedAt: proposed,
		},
		Payment: &payments.Payment{
			ActionType: payments.ACHOutbound, SourceAccountID: operating, DestinationCounterpartyID: "cp_aws", Amount: "61404.12", Currency: "USD",
			ObligationID: ptr("obl_5521"), EvidenceIDs: []string{}, Memo: ptr("AWS, bill of October 2025"),
		},
		Standing: proposals.Standing{
			Proposer: proposals.Proposer{ID: "agt_finance", Role: "bill_management", CreatedBy: "mbr_kim"},
			Ruling:   proposals.Ruling{Outcome: policy.Confirm, PolicyVersion: 1, Matched: []string{"large-trusted"}, Approvers: []string{"approver", "approver"}},
			RiskBand: proposals.RiskStandard,
		},
	}
}
