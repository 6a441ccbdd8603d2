package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// data writes the demo data and registers its agents on the chain, unless an
// earlier run has done both.
func (s *Stack) data(ctx context.Context) error {
	s.records = map[string]identity.AgentRecord{}
	addresses := map[string]string{}
	for i, agent := range demo.Agents {
		address, err := agentAddress(i)
		if err != nil {
			return err
		}
		addresses[agent.Record.ID] = address.String()
		s.records[agent.Record.ID] = agent.Record
	}
	seeded := filepath.Join(s.path(stackfile.State), "seeded")
	if _, err := os.Stat(seeded); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var writing errgroup.Group
	trail := s.File().Trail()
	writing.Go(func() error { return s.seed(ctx, trail, addresses) })
	writing.Go(func() error { return s.register(ctx) })
	if err := writing.Wait(); err != nil {
		return err
	}
	policies, err := s.enact(ctx, trail)
	if err != nil {
		return err
	}
	office := demo.Office{Trail: trail, Policies: policies, Registry: s.network.registry, Source: func(now func() time.Time) *id.Source {
		return id.NewSource(now, rand.Reader)
	}}
	if err := office.Pay(ctx); err != nil {
		return fmt.Errorf("pay %s: %w", demo.Payment, err)
	}
	if err := s.chain.Save(ctx); err != nil {
		return err
	}
	return os.WriteFile(seeded, nil, 0o644)
}

func (s *Stack) seed(ctx context.Context, trail *audit.Trail, addresses map[string]string) error {
	if _, err := demo.Seed(ctx, demo.Deps{Store: trail.Store, Trail: trail, Addresses: addresses}); err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	return nil
}

func (s *Stack) register(ctx context.Context) error {
	for i, agent := range demo.Agents {
		address, err := agentAddress(i)
		if err != nil {
			return err
		}
		if err := s.network.register(ctx, agent.Record, address); err != nil {
			return fmt.Errorf("register %s: %w", agent.Record.ID, err)
		}
	}
	return nil
}

// agentAddress is the chain address of the nth demo agent. Its key signs
// nothing yet.
func agentAddress(n int) (chain.Address, error) {
	key, err := tx.NewLocalKey(identity.Keccak(fmt.Appendf(nil, "robotmoney demo agent %d", n)))
	if err != nil {
		return chain.Address{}, err
	}
	return key.Address(), nil
}
