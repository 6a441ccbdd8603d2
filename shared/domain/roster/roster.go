// Package roster keeps the records of a tenant's agents and people: who is there,
// and what they may do.
package roster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// transitions says which state may follow which. A revoked agent is revoked on
// the chain too, for good: nothing follows.
var transitions = map[identity.Status][]identity.Status{
	identity.Active:      {identity.Quarantined, identity.Revoked},
	identity.Quarantined: {identity.Active, identity.Revoked},
}

// actions are the events of a new state.
var actions = map[identity.Status]string{
	identity.Active:      "agent.activated",
	identity.Quarantined: "agent.quarantined",
	identity.Revoked:     "agent.revoked",
}

// maxTries is how often a change is decided anew after somebody else changed
// the record in between.
const maxTries = 5

// Roster reads and changes records.
type Roster struct {
	Store record.Store
	Trail *audit.Trail
}

// Agent returns an agent's record. A missing one is agent_not_registered.
func (r *Roster) Agent(ctx context.Context, name string) (identity.AgentRecord, error) {
	rec, _, err := r.agent(ctx, name)
	return rec, err
}

func (r *Roster) agent(ctx context.Context, name string) (identity.AgentRecord, record.Item, error) {
	item, found, err := r.Store.Get(ctx, key.AgentRecord(name))
	if err != nil {
		return identity.AgentRecord{}, item, err
	}
	if !found {
		return identity.AgentRecord{}, item, fault.New(fault.AgentNotRegistered, "There is no agent %.80q.", name)
	}
	var rec identity.AgentRecord
	if err := json.Unmarshal(item.Body, &rec); err != nil {
		return rec, item, fmt.Errorf("decode agent %s: %w", name, err)
	}
	return rec, item, nil
}

// SetStatus moves an agent of a tenant to another state, together with the
// event that tells of it. The same state again changes nothing; one that may
// not follow is a conflict.
func (r *Roster) SetStatus(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string, to identity.Status) (identity.AgentRecord, error) {
	for try := 1; ; try++ {
		rec, item, err := r.agent(ctx, name)
		if err != nil {
			return rec, err
		}
		switch {
		case rec.TenantID != t.String():
			return identity.AgentRecord{}, fault.New(fault.AgentNotRegistered, "There is no agent %.80q.", name)
		case rec.Status == to:
			return rec, nil
		case !slices.Contains(transitions[rec.Status], to):
			return rec, fault.New(fault.Conflict, "Agent %s is %s and cannot become %s.", name, rec.Status, to)
		}
		err = r.move(ctx, t, actor, requestID, &rec, item, to)
		if errors.Is(err, record.ErrConflict) && try < maxTries {
			continue
		}
		return rec, err
	}
}

func (r *Roster) move(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, rec *identity.AgentRecord, item record.Item, to identity.Status) error {
	before := rec.Status
	rec.Status = to
	body, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("encode agent %s: %w", rec.ID, err)
	}
	event, err := r.Trail.New(audit.Event{
		TenantID: t.String(), Layer: audit.LayerIdentity, Actor: actor, Action: actions[to], RequestID: requestID,
		Inputs: map[string]any{"agent_id": rec.ID}, Outputs: map[string]any{"ok": true},
		BeforeState: map[string]any{"status": before}, AfterState: map[string]any{"status": to},
	})
	if err != nil {
		return err
	}
	was := item.Version
	item.Body = body
	return r.Trail.Commit(ctx, record.Change{Puts: []record.Put{{Item: item, Was: was}}}, event)
}
