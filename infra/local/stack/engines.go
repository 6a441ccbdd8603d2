package stack

import (
	"context"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/infra/local/template"
)

// engines installs and starts the DynamoDB engine with its table, and the chain
// with its contracts, side by side.
func (s *Stack) engines(ctx context.Context) error {
	binaries, err := engine.Install(ctx, filepath.Join(s.options.Repo, stackfile.Root, "npm"))
	if err != nil {
		return err
	}
	state := s.path(stackfile.State)
	// The engines outlive the group, so they get the stack's context.
	var starting errgroup.Group
	starting.Go(func() (err error) {
		s.dynamodb, err = engine.DynamoDB(ctx, engine.DynamoDBConfig{
			Binary: binaries.Dynoxide, DBPath: filepath.Join(state, "dynamodb.sqlite"), Log: s.logPath("dynamodb"),
			Tables: map[string]template.Table{tableName: s.template.Tables[0]},
		})
		return err
	})
	starting.Go(func() (err error) {
		s.chain, err = engine.Anvil(ctx, engine.AnvilConfig{Binary: binaries.Anvil, State: filepath.Join(state, "chain.json"), Log: s.logPath("anvil")})
		if err != nil {
			return err
		}
		s.network, err = openChain(ctx, s.chain.URL, state)
		return err
	})
	err = starting.Wait()
	if s.dynamodb != nil {
		s.closers = append(s.closers, func() { s.dynamodb.Close() })
	}
	if s.chain != nil {
		s.closers = append(s.closers, func() { s.chain.Close() })
	}
	return err
}
