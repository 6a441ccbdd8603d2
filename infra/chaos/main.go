// Command chaos makes faults under a running system and then compares what its
// clients were told with what there is: nothing acknowledged is lost, nothing is
// there twice, no cap was passed, the chain is whole. Docs: docs/chaos.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// document is what -write rewrites.
var document = filepath.Join("docs", "chaos.md")

func main() {
	only := flag.String("only", "", "faults to make, comma-separated; empty makes all")
	seed := flag.Uint64("seed", 1, "of what the clients and the faults choose by lot")
	folder := flag.String("folder", filepath.Join(stackfile.Root, "chaos"), "where the stack keeps its state")
	write := flag.Bool("write", false, "rewrite "+document)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, *only, *seed, *folder, *write)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, seed uint64, folder string, write bool) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	repo, err := os.Getwd()
	if err != nil {
		return err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	began := time.Now()
	fmt.Println("Starting a stack whose clocks can be wrong.")
	s, err := begin(ctx, repo, folder, seed)
	if err != nil {
		return err
	}
	defer s.close()
	result, err := play(ctx, s, chosen, seed)
	if err != nil {
		return err
	}
	result.took = time.Since(began)
	result.print(os.Stdout)
	if write {
		text, err := result.document()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(repo, document), text, 0o644); err != nil {
			return err
		}
	}
	if n := len(result.violations); n > 0 {
		return fmt.Errorf("%d violations", n)
	}
	return nil
}

// choose finds faults by their names.
func choose(only string) ([]disturbance, error) {
	if only == "" {
		return disturbances, nil
	}
	var chosen []disturbance
	for name := range strings.SplitSeq(only, ",") {
		found := false
		for _, f := range disturbances {
			if f.name == name {
				chosen, found = append(chosen, f), true
			}
		}
		if !found {
			var names []string
			for _, f := range disturbances {
				names = append(names, f.name)
			}
			return nil, fmt.Errorf("there is no fault %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	return chosen, nil
}
