package demo

import (
	"encoding/json"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/roster"
)

// records are the items of a tenant that are no ledger rows.
func records(t identity.Tenant, addresses map[string]string) ([]record.Item, error) {
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
