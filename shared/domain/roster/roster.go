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
	return r.amend(ctx, t, actor, requestID, name, func(rec *identity.AgentRecord) (audit.Event, error) {
		before := rec.Status
		switch {
		case before == to:
			return audit.Event{}, nil
		case !slices.Contains(transitions[before], to):
			return audit.Event{}, fault.New(fault.Conflict, "Agent %s is %s and cannot become %s.", name, before, to)
		}
		rec.Status = to
		return audit.Event{
			Action: actions[to], BeforeState: map[string]any{"status": before}, AfterState: map[string]any{"status": to},
		}, nil
	})
}

// amend changes the record of a tenant's agent together with the event that change
// returns; without an action nothing is written. The change is made anew when
// somebody else changed the record in between.
func (r *Roster) amend(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string, change func(*identity.AgentRecord) (audit.Event, error)) (identity.AgentRecord, error) {
	for try := 1; ; try++ {
		rec, item, err := r.agent(ctx, name)
		if err != nil {
			return rec, err
		}
		if rec.TenantID != t.String() {
			return identity.AgentRecord{}, fault.New(fault.AgentNotRegistered, "There is no agent %.80q.", name)
		}
		event, err := change(&rec)
		if err != nil || event.Action == "" {
			return rec, err
		}
		was := item.Version
		if item.Body, err = json.Marshal(rec); err != nil {
			return rec, fmt.Errorf("encode agent %s: %w", name, err)
		}
		event.Inputs = map[string]any{"agent_id": name}
		err = r.enter(ctx, t, actor, requestID, event, record.Put{Item: item, Was: was})
		if errors.Is(err, record.ErrConflict) && try < maxTries {
			continue
		}
		return rec, err
	}
}

// enter commits one item with the event that tells of it.
func (r *Roster) enter(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, e audit.Event, put record.Put) error {
	e.TenantID, e.Layer, e.Actor, e.RequestID, e.Outputs = t.String(), audit.LayerIdentity, actor, requestID, map[string]any{"ok": true}
	event, err := r.Trail.New(e)
	if err != nil {
		return err
	}
	return r.Trail.Commit(ctx, record.Change{Puts: []record.Put{put}}, event)
}
