// Command load puts many companies' agents on a stack of its own and measures what
// they wait: mixed traffic for ten minutes, and then one company that floods the
// endpoint beside the others. Everything is on this machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/robotmoney/mcp/infra/local/crowd"
	"github.com/robotmoney/mcp/infra/local/stack"
)

// seed makes the arrivals the same in each run.
const seed = 20251001

// settings are what a run may be told.
type settings struct {
	size    crowd.Size
	minutes float64 // of mixed traffic
	rate    float64 // requests a second, of all companies together; 0 is half of what saturates the machine
	flood   float64 // requests a second of the company that floods
	pairs   int     // of a quiet phase and one with a flood
	phase   time.Duration
	write   bool
}

func main() {
	var s settings
	flag.IntVar(&s.size.Companies, "tenants", 20, "companies")
	agents := flag.Int("agents", 200, "agents, of all companies together")
	flag.Float64Var(&s.minutes, "minutes", 10, "how long the mixed traffic is measured")
	flag.Float64Var(&s.rate, "rate", 0, "requests a second, of all companies together; 0 is half of what saturates the machine")
	flag.Float64Var(&s.flood, "flood", 30, "requests a second of the one company that floods; its rate allows 10")
	flag.IntVar(&s.pairs, "pairs", 4, "how often a quiet phase and one with the flood follow each other")
	flag.DurationVar(&s.phase, "phase", 28*time.Second, "how long each of them is")
	flag.BoolVar(&s.write, "write", false, "write docs/load.md")
	flag.Parse()
	s.size.Agents = *agents / s.size.Companies
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	repo, err := os.Getwd()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	say("starting a stack")
	running, err := stack.Start(ctx, stack.Options{Repo: repo, Folder: folder})
	if err != nil {
		return err
	}
	defer running.Close()
	say("making %d companies with %d agents each", s.size.Companies, s.size.Agents)
	companies, err := crowd.Make(ctx, folder, s.size)
	if err != nil {
		return err
	}
	if _, err := rested(ctx, running); err != nil {
		return err
	}
	l := &load{settings: s, repo: repo, stack: running, companies: companies}
	r, err := l.measure(ctx)
	if err != nil {
		return err
	}
	if err := r.print(os.Stdout); err != nil {
		return err
	}
	if s.write {
		if err := r.document(filepath.Join(repo, "docs", "load.md")); err != nil {
			return err
		}
	}
	if !r.passed() {
		return fmt.Errorf("a target is missed")
	}
	return nil
}

func say(format string, a ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", a...)
}
