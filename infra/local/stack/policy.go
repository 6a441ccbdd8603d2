package stack

import (
	"context"
	"fmt"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// enactTries is how often a policy is tried again while the chain cannot be read.
const enactTries = 5

// enact signs and activates the demo tenants' policies, as their signers would
// with the operator's program. A policy that is in force stays.
func (s *Stack) enact(ctx context.Context, trail *audit.Trail) (*charter.Register, error) {
	domain := charter.Domain{ChainID: s.network.client.ChainID(), Registry: s.network.deployed.Registry}
	register := &charter.Register{Store: trail.Store, Chain: tx.PolicySigners{Registry: s.network.registry}, Domain: domain, Trail: trail}
	for _, name := range []string{demo.Acme, demo.Globex} {
		// The chain has just written blocks, and its node may be a moment behind.
		for try := 0; ; try++ {
			err := enact(ctx, register, name)
			if err == nil {
				break
			}
			if !fault.Is(err, fault.OnchainUnavailable) || try == enactTries {
				return nil, fmt.Errorf("policy of %s: %w", name, err)
			}
		}
	}
	return register, nil
}

func enact(ctx context.Context, register *charter.Register, name string) error {
	t, err := identity.OperatorTenant(name)
	if err != nil {
		return err
	}
	items, err := register.Store.GetMany(ctx, charter.Keys(t))
	if err != nil || len(items) > 0 {
		return err
	}
	raw, err := demo.Policy(name)
	if err != nil {
		return err
	}
	key, err := tx.ParseLocalKey(stackfile.SignerKeys[name])
	if err != nil {
		return fmt.Errorf("signer key: %w", err)
	}
	return demo.Enact(ctx, register, t, raw, key)
}
