package raw

import (
	"context"
	"encoding/json"

	"github.com/robotmoney/mcp/shared/domain/identity"
)

// Retry has an artifact parsed again that could not be parsed, or whose parsing
// nobody has heard of: an operator says in source how to read it this time, such
// as a mapping, or changed nothing and the parser is a better one. An artifact
// that is in the ledger stays as it is. A source that is nil leaves the old one.
func (a *Archive) Retry(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string, source json.RawMessage) (Artifact, error) {
	return a.amend(ctx, t, actor, requestID, name, func(artifact *Artifact) (string, map[string]any, error) {
		if artifact.State == Extracted {
			return "", nil, nil
		}
		if source != nil {
			// Who brought it stays in it, whatever the operator says.
			by := Origin{AgentID: artifact.AgentID, AgentRole: artifact.AgentRole, Registration: artifact.Registration}
			var err error
			if artifact.SourceRef, err = attributed(source, by); err != nil {
				return "", nil, err
			}
		}
		artifact.State = Accepted
		return ActionAccepted, nil, nil
	})
}
