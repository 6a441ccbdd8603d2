package raw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// The events of an artifact's further states.
const (
	ActionAccepted  = "raw.accepted"
	ActionExtracted = "raw.extracted"
	ActionFailed    = "raw.failed"
)

// stages says which state may follow which, and the event of it.
var stages = map[State]map[State]string{
	Quarantined: {Accepted: ActionAccepted},
	Accepted:    {Extracted: ActionExtracted, Failed: ActionFailed},
}

// Accept lets everything of an agent that waits in quarantine be parsed, once a
// member vouches for the agent, and says how much that was.
func (a *Archive) Accept(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, agent string) (int, error) {
	accepted := 0
	for query := (record.Query{Index: 2, PK: key.LedgerListOf(t, id.RawArtifact, agent, "", "").PK}); ; {
		page, err := a.Store.Query(ctx, query)
		if err != nil {
			return accepted, err
		}
		for _, item := range page.Items {
			var artifact Artifact
			if err := json.Unmarshal(item.Body, &artifact); err != nil {
				return accepted, fmt.Errorf("decode artifact %s: %w", item.Key.PK, err)
			}
			if artifact.State != Quarantined {
				continue
			}
			if _, err := a.Advance(ctx, t, actor, requestID, artifact.ID, Accepted, nil); err != nil {
				return accepted, err
			}
			accepted++
		}
		if page.Next == nil {
			return accepted, nil
		}
		query.After = page.Next
	}
}

// Advance moves an artifact into its next state, with an event whose outputs say
// more. The state it is in already is no change; one that may not follow is a
// conflict.
func (a *Archive) Advance(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string, to State, outputs map[string]any) (Artifact, error) {
	return a.amend(ctx, t, actor, requestID, name, func(artifact *Artifact) (string, map[string]any, error) {
		action, may := stages[artifact.State][to]
		if artifact.State == to {
			return "", nil, nil
		}
		if !may {
			return "", nil, fault.New(fault.Conflict, "Artifact %s is %s and cannot become %s.", name, artifact.State, to)
		}
		artifact.State = to
		return action, outputs, nil
	})
}

// amend changes an artifact together with the event that change names; without
// one nothing is written. The change is made anew when somebody else changed the
// artifact in between.
func (a *Archive) amend(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string, change func(*Artifact) (action string, outputs map[string]any, err error)) (Artifact, error) {
	for try := 1; ; try++ {
		item, found, err := a.Store.Get(ctx, key.Raw(t, name))
		if err != nil {
			return Artifact{}, err
		}
		var artifact Artifact
		if !found {
			return artifact, fault.New(fault.RawArtifactNotFound, "There is no raw artifact %.80q.", name)
		}
		if err := json.Unmarshal(item.Body, &artifact); err != nil {
			return artifact, fmt.Errorf("decode artifact %s: %w", name, err)
		}
		before := artifact.State
		action, outputs, err := change(&artifact)
		if err != nil || action == "" {
			return artifact, err
		}
		err = a.move(ctx, t, actor, requestID, action, artifact, before, outputs, item)
		if errors.Is(err, record.ErrConflict) && try < maxTries {
			continue
		}
		return artifact, err
	}
}

func (a *Archive) move(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, action string, artifact Artifact, before State, outputs map[string]any, item record.Item) error {
	moved, err := put(item, item.Version, artifact)
	if err != nil {
		return err
	}
	said := map[string]any{"ok": true}
	for name, value := range outputs {
		said[name] = value
	}
	event, err := a.Trail.New(audit.Event{
		TenantID: t.String(), Layer: audit.LayerRaw, Actor: actor, Action: action, RequestID: requestID,
		Inputs: map[string]any{"raw_id": artifact.ID, "sha256": artifact.SHA256}, Outputs: said,
		BeforeState: map[string]any{"state": before}, AfterState: map[string]any{"state": artifact.State},
	})
	if err != nil {
		return err
	}
	return a.Trail.Commit(ctx, record.Change{Puts: []record.Put{moved}}, event)
}
