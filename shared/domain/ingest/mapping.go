package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/statement/csv"
)

// ActionMappingSaved is the event of a mapping that was saved.
const ActionMappingSaved = "raw.mapping_saved"

// Hints are what the source reference of an artifact says of how to read it. They
// only fill in what the file does not say.
type Hints struct {
	File     string `json:"file,omitempty"`     // its name, for people
	Mapping  string `json:"mapping,omitempty"`  // name of a mapping of the tenant's
	Account  string `json:"account,omitempty"`  // the bank's number of the account, or the id of a row
	Currency string `json:"currency,omitempty"` // of amounts without one
}

// hintsOf reads the hints out of a source reference. It is the contributor's own
// object: what is there under these names and is no text hints at nothing.
func hintsOf(source json.RawMessage) Hints {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(source, &members)
	text := func(name string) string {
		var s string
		_ = json.Unmarshal(members[name], &s)
		return strings.TrimSpace(s)
	}
	return Hints{File: text("file"), Mapping: text("mapping"), Account: text("account"), Currency: text("currency")}
}

const maxMappingName = 64

// CheckMappingName says what is wrong with the name of a mapping.
func CheckMappingName(name string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	if name == "" || len(name) > maxMappingName || strings.Trim(name, allowed) != "" {
		return fmt.Errorf("mapping name %.80q: want 1 to %d letters, digits, dots, hyphens or underscores", name, maxMappingName)
	}
	return nil
}

// SaveMapping stores a tenant's mapping under a name, in place of one that was
// there.
func (in *Intake) SaveMapping(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string, m csv.Mapping) error {
	if err := CheckMappingName(name); err != nil {
		return fault.New(fault.InvalidArgument, "%v.", err)
	}
	if err := m.Check(); err != nil {
		return fault.New(fault.InvalidArgument, "mapping %s: %v.", name, err)
	}
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode mapping %s: %w", name, err)
	}
	event, err := in.Trail.New(audit.Event{
		TenantID: t.String(), Layer: audit.LayerRaw, Actor: actor, Action: ActionMappingSaved, RequestID: requestID,
		Inputs: map[string]any{"mapping": name}, Outputs: map[string]any{"ok": true},
	})
	if err != nil {
		return err
	}
	change := record.Change{Puts: []record.Put{{Item: record.Item{Key: key.Mapping(t, name), Body: body}, Blind: true}}}
	return in.Trail.Commit(ctx, change, event)
}

// mapping is what the hints say of a table's columns: a mapping of the tenant's,
// the account and the currency.
func (in *Intake) mapping(ctx context.Context, t identity.Tenant, h Hints, given *csv.Mapping) (csv.Mapping, error) {
	var m csv.Mapping
	switch {
	case given != nil:
		m = *given
	case h.Mapping != "":
		if err := CheckMappingName(h.Mapping); err != nil {
			return m, fault.New(fault.InvalidArgument, "%v.", err)
		}
		item, found, err := in.Archive.Store.Get(ctx, key.Mapping(t, h.Mapping))
		if err != nil {
			return m, err
		}
		if !found {
			return m, fault.New(fault.InvalidArgument, "There is no mapping %q. Save it first, or leave it out.", h.Mapping)
		}
		if err := json.Unmarshal(item.Body, &m); err != nil {
			return m, fmt.Errorf("decode mapping %s: %w", h.Mapping, err)
		}
	}
	if m.Currency == "" {
		m.Currency = strings.ToUpper(h.Currency)
	}
	return m, nil
}
