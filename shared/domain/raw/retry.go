package raw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Retry has an artifact parsed again that could not be parsed, or whose parsing
// nobody has heard of: an operator says in source how to read it this time, such
// as a mapping, or changed nothing and the parser is a better one. An artifact
// that is in the ledger stays as it is. A source that is nil leaves the old one.
func (a *Archive) Retry(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string, source json.RawMessage) (Artifact, error) {
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
		if artifact.State == Extracted {
			return artifact, nil
		}
		if source != nil {
			// Who brought it stays in it, whatever the operator says.
			by := Origin{AgentID: artifact.AgentID, AgentRole: artifact.AgentRole, Registration: artifact.Registration}
			if artifact.SourceRef, err = attributed(source, by); err != nil {
				return artifact, err
			}
		}
		before := artifact.State
		artifact.State = Accepted
		err = a.move(ctx, t, actor, requestID, ActionAccepted, artifact, before, nil, item)
		if errors.Is(err, record.ErrConflict) && try < maxTries {
			continue
		}
		return artifact, err
	}
}
