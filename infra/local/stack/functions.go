package stack

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/lambda"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/infra/local/template"
)

// The names the stack gives to what CloudFormation would name.
const (
	tableName = "robotmoney-local"
	busName   = "robotmoney-local"
)

// read reads the template with the stack's own parameters. What is not known
// before the engines run is empty the first time, when only the table matters.
func (s *Stack) read(file stackfile.Stack) (*template.Template, error) {
	path := cmp.Or(s.options.Template, filepath.Join(s.options.Repo, "template.yaml"))
	return template.Load(path, template.Options{Resolve: resolve, Parameters: map[string]string{
		"AWS::Region": stackfile.Region, "AWS::StackName": "robotmoney-local",
		"Issuer": file.Issuer, "JwksUrl": file.JWKSURL, "EndpointUrl": file.MCPURL,
		"RpcUrls": file.RPCURL, "ChainId": strconv.FormatUint(file.ChainID, 10),
		"RegistryAddress": file.Registry, "AnchorAddress": file.Anchor, "Rail": cmp.Or(s.options.Rail, "sandbox"),
	}})
}

// resolve names the template's resources as they are called here.
func resolve(r template.Reference) (string, error) {
	switch {
	case r.Resource == "Table" && r.Attribute == "":
		return tableName, nil
	case r.Resource == "Bus" && r.Attribute == "":
		return busName, nil
	case r.Resource == "BlobBucket" && r.Attribute == "":
		return bucketName, nil
	}
	return template.Logical(r)
}

// binary is where a function's program for this machine lies.
func (s *Stack) binary(f template.Function) string {
	folder := "functions"
	if s.options.Clocks != "" {
		folder = "functions-wrong-clock" // never found by a stack that runs what is deployed
	}
	return filepath.Join(s.options.Repo, stackfile.Root, folder, filepath.Base(f.CodeURI), "bootstrap")
}

// build compiles the functions for this machine, with the flags they are
// deployed with; with one tag more where their clocks are to be wrong.
func (s *Stack) build(ctx context.Context) error {
	tags := "lambda.norpc"
	if s.options.Clocks != "" {
		tags += ",chaos"
	}
	for _, f := range s.template.Functions {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", tags, "-ldflags", "-s -w", "-o", s.binary(f), "./"+f.CodeURI)
		cmd.Dir = s.options.Repo
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", f.CodeURI, err, out)
		}
	}
	return nil
}

// addresses takes the ports of the parts that stand in every function's
// environment, before any of them answers.
func (s *Stack) addresses(ctx context.Context) error {
	for _, listener := range []*net.Listener{&s.events, &s.blobs} {
		var err error
		if *listener, err = listen(ctx, 0); err != nil {
			return err
		}
		s.closers = append(s.closers, func() { (*listener).Close() })
	}
	return nil
}

// functions makes a pool of processes for each function, with the environment
// of the template. A process starts with the first event for it.
func (s *Stack) functions(ctx context.Context) error {
	var err error
	if s.template, err = s.read(s.File()); err != nil {
		return err
	}
	for _, f := range s.template.Functions {
		log, err := s.log(filepath.Base(f.CodeURI))
		if err != nil {
			return err
		}
		env, err := s.environment(f)
		if err != nil {
			return err
		}
		pool, err := lambda.New(ctx, lambda.Function{
			Name: f.LogicalID, Binary: s.binary(f), Env: env, Timeout: f.Timeout,
			MaxProcesses: f.ReservedConcurrency, MemoryMB: f.MemoryMB, Region: stackfile.Region, Log: log,
		})
		if err != nil {
			return err
		}
		s.pools[f.LogicalID] = pool
		s.closers = append(s.closers, pool.Close)
	}
	return nil
}

// environment is a function's as the template has it, pointed at this machine.
func (s *Stack) environment(f template.Function) ([]string, error) {
	file := s.File()
	local := map[string]string{
		"AWS_ACCESS_KEY_ID": stackfile.AccessKey, "AWS_SECRET_ACCESS_KEY": stackfile.SecretKey,
		"DYNAMODB_ENDPOINT": file.DynamoDBEndpoint, "EVENTS_ENDPOINT": file.EventsEndpoint,
		"S3_ENDPOINT": file.S3Endpoint,
	}
	// Keys that lie in a service of AWS are handed over themselves, to the functions
	// that would fetch them.
	for _, secret := range []struct{ fetched, name, value string }{
		{"CURSOR_KEY_SECRET", "CURSOR_KEY", s.cursorKey}, {"PUBLISHER_KEY_ID", "PUBLISHER_KEY", stackfile.PublisherKey},
	} {
		if _, wanted := f.Environment[secret.fetched]; wanted {
			local[secret.name] = secret.value
		}
	}
	if s.options.Clocks != "" {
		local["CHAOS_CLOCK_FILE"] = filepath.Join(s.options.Clocks, f.LogicalID)
	}
	all := maps.Clone(f.Environment)
	maps.Copy(all, local)
	var env []string
	for name, value := range all {
		if s.options.Reroute != nil && slices.Contains(reroutable, name) {
			var err error
			if value, err = s.options.Reroute(f.LogicalID, name, value); err != nil {
				return nil, err
			}
		}
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env, nil
}

// reroutable are the variables that say where a function finds what it calls.
var reroutable = []string{"DYNAMODB_ENDPOINT", "EVENTS_ENDPOINT", "S3_ENDPOINT", "RPC_URLS"}

// log opens the file a part prints to.
func (s *Stack) log(name string) (*os.File, error) {
	file, err := os.OpenFile(s.logPath(name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", name, err)
	}
	s.closers = append(s.closers, func() { file.Close() })
	return file, nil
}

// Function is the pool of a function, by its name in the template.
func (s *Stack) Function(name string) *lambda.Pool { return s.pools[name] }

// Table is the engine of the table, for who wants to kill it and start it again.
func (s *Stack) Table() *engine.Database { return s.dynamodb }

// Bus is the event bus, for tests that want it to misbehave.
func (s *Stack) Bus() *bus.Bus { return s.bus }
