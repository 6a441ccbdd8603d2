// Package stack starts the whole system on this machine: real engines, the real
// function binaries, and stand-ins for what only AWS has. What runs, and how, is
// read from template.yaml, so that local and deployed cannot drift apart.
package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/gateway"
	"github.com/robotmoney/mcp/infra/local/issuer"
	"github.com/robotmoney/mcp/infra/local/lambda"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// Options say where the stack runs.
type Options struct {
	Repo   string // the module's folder: the template, the sources, what is installed
	Folder string // holds .local with state, journal and stack.json; the same as Repo unless a test wants its own
	Port   int    // of the endpoint; 0 takes a free one
	Fresh  bool   // start over: forget all state
	// Template is the path of another template than Repo's, for tests of what
	// the stack makes of one.
	Template string
	// Reroute gives a function another address in the place of one of the stack's
	// (DYNAMODB_ENDPOINT, EVENTS_ENDPOINT, S3_ENDPOINT, RPC_URLS), for who wants to
	// stand between; nil gives each its own.
	Reroute func(function, variable, address string) (string, error)
	// Rail is how payments are carried, as the template's parameter of that name
	// says; empty is sandbox. Who chooses bank stands in for it: it reads the orders
	// from the bus and answers them there.
	Rail string
	// Clocks is a folder. Where it is given, the functions are built with a clock
	// that is wrong by what the file of a function's name in it says, such as -2h,
	// and right while there is none.
	Clocks string
}

// Stack is a running system.
type Stack struct {
	options   Options
	template  *template.Template
	listener  net.Listener
	issuer    *issuer.Issuer
	network   *network
	dynamodb  *engine.Database
	chain     *engine.Chain
	bus       *bus.Bus
	events    net.Listener
	blobs     net.Listener
	pools     map[string]*lambda.Pool
	built     chan struct{}                   // closed when the functions can run
	letters   sync.Mutex                      // of the dead-letter files
	records   map[string]identity.AgentRecord // of the demo agents, by id
	cursorKey string
	closers   []func()
	failed    chan error

	mu     sync.Mutex
	minted map[string]string // tokens, by the name of the holder
}

// IssuerPath is where the local issuer answers on the endpoint's own port. It
// is the one path there that is not the gateway's.
const IssuerPath = "/local/issuer"

// refresh is how often stack.json gets new tokens, which live an hour.
const refresh = 10 * time.Minute

// Start brings everything up and returns when the endpoint answers. What it
// started ends with Close, or when ctx does.
func Start(ctx context.Context, o Options) (*Stack, error) {
	s := &Stack{options: o, pools: map[string]*lambda.Pool{}, built: make(chan struct{}), failed: make(chan error, 1)}
	if err := s.start(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	if err := s.prepare(); err != nil {
		return err
	}
	var err error
	if s.template, err = s.read(stackfile.Stack{}); err != nil {
		return err
	}
	// The port is taken first: it is in every token and in the function's
	// environment.
	if s.listener, err = listen(ctx, s.options.Port); err != nil {
		return err
	}
	s.closers = append(s.closers, func() { s.listener.Close() })
	if s.issuer, err = issuer.Open(s.path(stackfile.State)); err != nil {
		return err
	}
	if s.cursorKey, err = keyIn(s.path(stackfile.State)); err != nil {
		return err
	}
	building, built := errgroup.WithContext(ctx)
	building.Go(func() error { return s.build(built) })
	if err := s.engines(ctx); err != nil {
		return errors.Join(err, building.Wait())
	}
	// Nothing is invoked before the functions are built, but the demo data's
	// events need the bus, and the bus the functions that read from it.
	for _, part := range []func(context.Context) error{s.addresses, s.blobStore, s.functions, s.eventBus, s.data} {
		if err := part(ctx); err != nil {
			return errors.Join(err, building.Wait())
		}
	}
	if err := building.Wait(); err != nil {
		return err
	}
	close(s.built)
	if err := s.serve(ctx); err != nil {
		return err
	}
	if s.options.Template == "" { // a test's own functions prove nothing
		if err := s.anchored(ctx); err != nil {
			return err
		}
	}
	if err := s.write(time.Now()); err != nil {
		return err
	}
	go s.keepFresh(ctx)
	return nil
}

// keyIn reads the key of cursors in the state folder, or makes one there: a
// cursor outlives a restart as a deployed one does.
func keyIn(state string) (string, error) {
	path := filepath.Join(state, "cursor.key")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(rand.Text() + rand.Text())
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("cursor key: %w", err)
	}
	return string(text), nil
}

// path is where something of the stack's lies.
func (s *Stack) path(name string) string { return filepath.Join(s.options.Folder, name) }

// prepare makes the folders, or empties them for a fresh start.
func (s *Stack) prepare() error {
	if s.options.Fresh {
		letters, err := filepath.Glob(s.letterPath("*"))
		if err != nil {
			return fmt.Errorf("start over: %w", err)
		}
		for _, name := range []string{stackfile.State, stackfile.Events, stackfile.Events + ".settled", stackfile.Path} {
			letters = append(letters, s.path(name))
		}
		for _, path := range letters {
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("start over: %w", err)
			}
		}
	}
	for _, name := range []string{stackfile.State, logs} {
		if err := os.MkdirAll(s.path(name), 0o755); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	return nil
}

// logs is where what the parts print goes.
var logs = filepath.Join(stackfile.Root, "log")

func (s *Stack) logPath(name string) string { return s.path(filepath.Join(logs, name+".log")) }

func listen(ctx context.Context, port int) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("port %d: %w (another stack? choose one with PORT=n)", port, err)
	}
	return listener, nil
}

// serve answers HTTP: the gateway with the routes of the template, and the
// issuer beside it.
func (s *Stack) serve(ctx context.Context) error {
	api := s.template.API
	if api == nil || len(api.Routes) != 1 || api.Routes[0].Key != "$default" {
		return errors.New("the template has no API with the one route $default, which is all the gateway knows")
	}
	route := api.Routes[0]
	front, err := gateway.New(gateway.Config{Function: s.pools[route.Function], ResponseMapping: route.ResponseMapping, Timeout: route.Timeout})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(IssuerPath+"/jwks.json", s.issuer)
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.route(mux, front, w, r) }),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 10240,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	s.closers = append(s.closers, func() { server.Close() })
	go s.watch(server, s.listener)
	return nil
}

// route keeps the issuer's path from the gateway and gives it every other, as
// it came: a mux would redirect a path it finds unclean.
func (s *Stack) route(mux http.Handler, front http.Handler, w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == IssuerPath+"/jwks.json" {
		mux.ServeHTTP(w, r)
		return
	}
	front.ServeHTTP(w, r)
}

func (s *Stack) watch(server *http.Server, listener net.Listener) {
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		select {
		case s.failed <- err:
		default:
		}
	}
}

// Failed receives the error of a part that ended by itself.
func (s *Stack) Failed() <-chan error { return s.failed }

// Close ends everything that was started, the last first.
func (s *Stack) Close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
	s.closers = nil
}

// keepFresh rewrites stack.json while the stack runs.
func (s *Stack) keepFresh(ctx context.Context) {
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if err := s.write(now); err != nil {
				slog.Warn("stack.json could not be rewritten", "error", err)
			}
		}
	}
}
