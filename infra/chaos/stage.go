package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/local/issuer"
	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/infra/local/tap"
	"github.com/robotmoney/mcp/shared/domain/identity"
	store "github.com/robotmoney/mcp/shared/platform/table"
)

// stage is a stack of its own, with a valve before everything the functions call
// and a clock of each function's own.
type stage struct {
	*stack.Stack
	counter  // of what the disturbance of the moment has done
	folder   string
	valves   map[place]*valve
	store    *store.Table
	issuer   *issuer.Issuer
	bank     *bank
	operator string // the operator's program
	stops    []func()
}

// begin starts the stack. It ends with close.
func begin(ctx context.Context, repo, folder string, seed uint64) (*stage, error) {
	s := &stage{folder: folder, operator: filepath.Join(folder, "robotmoney"), valves: map[place]*valve{table: {}, events: {}, blobs: {}, chain: {}}}
	if err := os.MkdirAll(s.clocks(), 0o755); err != nil {
		return nil, err
	}
	if err := s.right(); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", s.operator, "./infra/robotmoney")
	build.Dir = repo
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the operator's program: %w\n%s", err, out)
	}
	var err error
	s.Stack, err = stack.Start(ctx, stack.Options{Repo: repo, Folder: folder, Fresh: true, Clocks: s.clocks(), Rail: "bank", Reroute: func(_, variable, address string) (string, error) {
		tapped, stop, err := tap.Start(address, s.valves[place(variable)].between)
		if err == nil {
			s.stops = append(s.stops, stop)
		}
		return tapped, err
	}})
	if err != nil {
		s.close()
		return nil, err
	}
	s.store = s.File().Store()
	if s.issuer, err = issuer.Open(filepath.Join(folder, stackfile.State)); err != nil {
		s.close()
		return nil, err
	}
	s.bank = newBank(s, seed)
	return s, nil
}

func (s *stage) close() {
	if s.Stack != nil {
		s.Stack.Close()
	}
	for _, stop := range s.stops {
		stop()
	}
}

// clocks is the folder of the files that say by how much clocks are wrong.
func (s *stage) clocks() string { return filepath.Join(s.folder, "clocks") }

// wrong sets a function's clock off.
func (s *stage) wrong(function string, by time.Duration) error {
	path := filepath.Join(s.clocks(), function)
	s.hit(1)
	// A reader sees the old offset or the new one.
	if err := os.WriteFile(path+".new", []byte(by.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// right sets every clock right again.
func (s *stage) right() error {
	files, err := filepath.Glob(filepath.Join(s.clocks(), "*"))
	for _, path := range files {
		if err == nil {
			err = os.Remove(path)
		}
	}
	return err
}

// operate runs the operator's program against the stack.
func (s *stage) operate(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, s.operator, args...)
	command.Dir = s.folder
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("robotmoney %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// scopes are what the agents here are granted.
var scopes = identity.Scopes{identity.ExecutionRead, identity.LedgerRead, identity.IntentPropose, identity.RawRead, identity.RawWrite}

// hire registers an agent of acme on the chain, and has what it contributes
// trusted. A fresh one has every cap before it, and is in nobody's cache.
func (s *stage) hire(ctx context.Context, name string) error {
	if err := s.operate(ctx, "agent", "register", name, "--tenant", "acme", "--name", name, "--role", "bill_management", "--created-by", "mbr_kim", "--scopes", words(scopes)); err != nil {
		return err
	}
	return s.operate(ctx, "agent", "trust", name)
}

func words(scopes identity.Scopes) string {
	var all []string
	for _, scope := range scopes {
		all = append(all, string(scope))
	}
	return strings.Join(all, ",")
}

// token is an access token of an agent that was hired.
func (s *stage) token(agent string) (string, error) {
	file := s.File()
	return s.issuer.Token(issuer.Grant{
		Issuer: file.Issuer, Audience: file.MCPURL, Kind: identity.Agent, Subject: agent, Tenant: "acme",
		Scopes: scopes, ScopeHash: scopes.Hash(), Now: time.Now(), Life: time.Hour,
	})
}

// functions are those whose processes and clocks are disturbed: all there are.
var functions = []string{"AnchorFunction", "AuditFunction", "ExecuteFunction", "IngestFunction", "McpFunction", "OutboxFunction", "WikiFunction"}
