package stack

import (
	"context"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// engines installs and starts the DynamoDB engine with its table, and the chain
// with its contracts, side by side.
func (s *Stack) engines(ctx context.Context) error {
	binaries, err := engine.Install(ctx, filepath.Join(s.options.Repo, stackfile.Root, "npm"))
	if err != nil {
		return err
	}
	state := s.path(stackfile.State)
	dynamodbLog, err := s.log("dynamodb")
	if err != nil {
		return err
	}
	anvilLog, err := s.log("anvil")
	if err != nil {
		return err
	}
	var database, node *engine.Engine
	// The engines outlive the group, so they get the stack's context.
	var starting errgroup.Group
	starting.Go(func() (err error) {
		if database, err = engine.DynamoDB(ctx, binaries, filepath.Join(state, "dynamodb.sqlite"), dynamodbLog); err != nil {
			return err
		}
		return engine.CreateTable(ctx, engine.Client(database.URL), tableName, s.template.Tables[0])
	})
	starting.Go(func() (err error) {
		if node, err = engine.Anvil(ctx, binaries, filepath.Join(state, "anvil.json"), anvilLog); err != nil {
			return err
		}
		s.network, err = openChain(ctx, node.URL, state)
		return err
	})
	err = starting.Wait()
	for _, e := range []*engine.Engine{database, node} {
		if e != nil {
			s.closers = append(s.closers, e.Close)
		}
	}
	if err != nil {
		return err
	}
	s.dynamodbURL, s.rpcURL = database.URL, node.URL
	return s.eventBus(ctx)
}
