// Package proof answers what can be shown of an action: the events that tell of
// it, where the chain holds them, and what follows from them alone.
package proof

import (
	"context"
	"encoding/json"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/lazy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// actionForm is the id of an action: of an intent, a proposal, an authorization
// or an execution.
var actionForm = lazy.Pattern(`^[a-z]{2,6}_[A-Za-z0-9_-]{1,64}$`)

// Reader reads proofs.
type Reader struct{ Store record.Store }

// Proof returns an action's proof as JSON. A malformed, missing or foreign id
// is proof_not_found all the same.
func (r *Reader) Proof(ctx context.Context, t identity.Tenant, action string) (json.RawMessage, error) {
	missing := fault.New(fault.ProofNotFound, "There is no proof of such an action.")
	if !actionForm().MatchString(action) {
		return nil, missing
	}
	item, found, err := r.Store.Get(ctx, key.Proof(t, action))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, missing
	}
	return item.Body, nil
}
