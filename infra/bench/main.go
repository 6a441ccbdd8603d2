// Command bench measures the server against peers and floors in one run and
// says whether the targets are met. Figures of other machines or other runs say
// nothing about each other; the ratios inside a run do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/robotmoney/mcp/infra/bench/report"
)

// parts are the sections of the report, in its order.
var parts = []struct {
	name, title string
	run         func(context.Context, *bench) ([]report.Row, error)
}{
	{"dispatch", "The dispatcher and the edge, in process", dispatching},
	{"micro", "Small things, in process", small},
	{"lists", "Lists over many rows", lists},
	{"import", "Bank files to ledger rows", importing},
	{"money", "The money path", paying},
	{"trust", "The audit chain and proofs", trusting},
	{"read", "One warm read through the whole stack", reading},
	{"load", "Eight clients at once", load},
	{"program", "The function's program", program},
}

func main() {
	repo := flag.String("repo", ".", "folder of the root module")
	write := flag.Bool("write", false, "write docs/performance.md too")
	strict := flag.Bool("strict", false, "fail when a target is missed")
	only := flag.String("only", "", "comma list of parts to run: dispatch, micro, lists, import, money, trust, read, load, program")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	missed, err := run(ctx, *repo, *only, *write)
	if err == nil && missed > 0 && *strict {
		err = fmt.Errorf("%d targets missed", missed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, repo, only string, write bool) (missed int, err error) {
	if write && only != "" {
		return 0, errors.New("--write needs a run of every part")
	}
	if repo, err = filepath.Abs(repo); err != nil {
		return 0, err
	}
	b := &bench{repo: repo}
	defer b.close()
	var sections []section
	for _, part := range parts {
		if only != "" && !slices.Contains(strings.Split(only, ","), part.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring: %s\n", part.title)
		rows, err := part.run(ctx, b)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", part.name, err)
		}
		missed += report.Missed(rows)
		sections = append(sections, section{part.title, rows})
	}
	var all []report.Row
	for _, s := range sections {
		all = append(all, s.rows...)
	}
	report.Text(os.Stdout, all)
	if write {
		return missed, document(ctx, filepath.Join(repo, "docs", "performance.md"), sections)
	}
	return missed, nil
}
