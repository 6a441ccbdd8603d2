// Command cost counts what each kind of request uses of AWS, with all that follows
// from it, and what a million of them cost.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"

	"github.com/robotmoney/mcp/infra/local/crowd"
	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/infra/local/tap"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/infra/local/traffic"
)

// sent is how often each kind is sent while it is counted: each company asks each
// of the mix's questions once before the answers are kept.
const (
	companies = 3
	sent      = 12
)

// working are the functions whose work follows from requests. The others run by
// the clock and are counted by the month.
var working = map[string]string{"McpFunction": "mcp", "ExecuteFunction": "execute", "AuditFunction": "audit", "WikiFunction": "wiki", "IngestFunction": "ingest"}

func main() {
	write := flag.Bool("write", false, "write docs/cost.md")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *write); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, write bool) error {
	repo, err := os.Getwd()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "cost")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	m, err := start(ctx, repo, folder)
	if err != nil {
		return err
	}
	defer m.close()
	var used []Use
	for _, kind := range traffic.Mix {
		u, err := m.measure(ctx, kind)
		if err != nil {
			return fmt.Errorf("%s: %w", kind.Name, err)
		}
		used = append(used, u)
	}
	text := report(used)
	fmt.Print(text)
	if !write {
		return nil
	}
	return document(filepath.Join(repo, "docs", "cost.md"), text)
}

// meter is a stack of whose functions every call is counted.
type meter struct {
	stack   *stack.Stack
	folder  string
	crowd   []crowd.Company
	counter *counter
	stops   []func()

	mu    sync.Mutex
	units Units
	wrong error
}

func start(ctx context.Context, repo, folder string) (*meter, error) {
	layout, err := template.Load(filepath.Join(repo, "template.yaml"), template.Options{Resolve: template.Logical, Parameters: map[string]string{
		"AWS::Region": stackfile.Region, "AWS::StackName": "cost", "Issuer": "", "JwksUrl": "", "RpcUrls": "", "ChainId": "1", "RegistryAddress": "", "AnchorAddress": "",
	}})
	if err != nil {
		return nil, err
	}
	m := &meter{folder: folder}
	if m.counter, err = newCounter(layout); err != nil {
		return nil, err
	}
	m.stack, err = stack.Start(ctx, stack.Options{Repo: repo, Folder: folder, Reroute: m.reroute})
	if err != nil {
		return nil, err
	}
	if m.crowd, err = crowd.Make(ctx, folder, crowd.Size{Companies: companies, Agents: 1}); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *meter) close() {
	m.stack.Close()
	for _, stop := range m.stops {
		stop()
	}
}

// reroute puts a tap between a function that works and what AWS has a price for.
func (m *meter) reroute(function, variable, address string) (string, error) {
	if _, works := working[function]; !works || variable == "RPC_URLS" {
		return address, nil
	}
	tapped, stop, err := tap.Start(address, func(ctx context.Context, call tap.Call, pass func() (tap.Answer, error)) (tap.Answer, error) {
		finish, wrong := changed(ctx, address, call)
		answer, err := pass()
		if err == nil {
			changes, late := finish()
			m.saw(call, answer, changes, errors.Join(wrong, late))
		}
		return answer, err
	})
	if err == nil {
		m.stops = append(m.stops, stop)
	}
	return tapped, err
}

func (m *meter) saw(call tap.Call, answer tap.Answer, changes []change, wrong error) {
	u, err := m.counter.count(call, answer, changes)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.units.add(u)
	m.wrong = errors.Join(m.wrong, wrong, err)
}

// Use is what some requests of a kind have used.
type Use struct {
	Kind        string
	Weight      int // how often among a hundred that are sent
	Sent        int // how often it was sent
	Requests    int // to the endpoint: of a payment that a member decides, two
	Units       Units
	Invocations map[string]int // by function
	Took        map[string]time.Duration
}

// measure sends a kind, waits until all that follows from it is done, and counts
// from the moment before.
func (m *meter) measure(ctx context.Context, kind traffic.Kind) (Use, error) {
	url := m.stack.File().MCPURL
	send := func(n int) error {
		if code := kind.Send(ctx, traffic.CallerOf(url, m.crowd[n%companies], 0)); code != "" {
			return fmt.Errorf("refused: %s", code)
		}
		return nil
	}
	for n := range companies { // nobody is cold
		if err := send(n); err != nil {
			return Use{}, err
		}
	}
	before, err := m.now(ctx)
	if err != nil {
		return Use{}, err
	}
	for n := range sent {
		if err := send(n); err != nil {
			return Use{}, err
		}
	}
	after, err := m.now(ctx)
	if err != nil {
		return Use{}, err
	}
	u := after.since(before)
	u.Kind, u.Weight, u.Sent, u.Requests = kind.Name, kind.Weight, sent, u.Invocations["McpFunction"]
	return u, m.wrong
}

// now waits until nothing is under way and reads everything that is counted.
func (m *meter) now(ctx context.Context) (Use, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := m.stack.Bus().Settle(ctx); err != nil {
		return Use{}, err
	}
	m.mu.Lock()
	u := Use{Units: m.units, Invocations: map[string]int{}, Took: map[string]time.Duration{}}
	m.mu.Unlock()
	for function, folder := range working {
		u.Invocations[function], u.Took[function] = m.stack.Function(function).Served()
		log, err := os.Stat(filepath.Join(m.folder, stackfile.Root, "log", folder+".log"))
		if err != nil {
			return Use{}, err
		}
		u.Units.LogBytes += log.Size()
	}
	return u, nil
}

// since is what was used after a moment.
func (u Use) since(before Use) Use {
	out := Use{Units: u.Units, Invocations: map[string]int{}, Took: map[string]time.Duration{}}
	b := before.Units
	out.Units.add(Units{-b.HalfReads, -b.Writes, -b.Events, -b.Messages, -b.Stored, -b.Fetched, -b.LogBytes})
	for function := range u.Invocations {
		out.Invocations[function] = u.Invocations[function] - before.Invocations[function]
		out.Took[function] = u.Took[function] - before.Took[function]
	}
	return out
}
