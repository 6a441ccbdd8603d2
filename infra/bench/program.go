package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/robotmoney/mcp/infra/bench/dispatch"
	"github.com/robotmoney/mcp/infra/bench/measure"
	"github.com/robotmoney/mcp/infra/bench/process"
	"github.com/robotmoney/mcp/infra/bench/report"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

const (
	zipBound    = 6 << 20
	startRounds = 25
	startShare  = 1.3
	memoryBound = 64 << 20
	memoryReads = 10_000
)

// program measures the program itself: what is uploaded, how long a cold start
// of it takes, and what memory it has after many requests.
func program(ctx context.Context, b *bench) ([]report.Row, error) {
	file, err := b.started(ctx)
	if err != nil {
		return nil, err
	}
	uploaded, err := b.build(ctx, b.repo, "./functions/mcp", "mcp-arm64", "GOOS=linux", "GOARCH=arm64")
	if err != nil {
		return nil, err
	}
	size, err := zipped(uploaded)
	if err != nil {
		return nil, err
	}
	function, err := b.build(ctx, b.repo, "./functions/mcp", "mcp")
	if err != nil {
		return nil, err
	}
	floor, err := b.build(ctx, b.module(), "./functions/clients", "clients")
	if err != nil {
		return nil, err
	}
	// The stack starts the function with the first request.
	if _, err := post(ctx, http.DefaultClient, file.MCPURL, file.Tokens["agent"], request); err != nil {
		return nil, err
	}
	env, err := process.Environment(filepath.Join(b.repo, stackfile.Root, "functions", "mcp", "bootstrap"))
	if err != nil {
		return nil, err
	}
	starts, err := measure.Turns(startRounds, start(ctx, function, env), start(ctx, floor, append(environment(file), region)))
	if err != nil {
		return nil, err
	}
	fresh, used, err := memory(ctx, function, env, file.MCPURL, file.Tokens["agent"])
	if err != nil {
		return nil, err
	}
	return []report.Row{
		report.Most("zip of the function mcp, arm64", size, zipBound, report.Bytes),
		report.Share("exec to ready: the function / one that has only the AWS clients", measure.Median(starts[0]), measure.Median(starts[1]), startShare, report.Nanoseconds),
		report.Alone("RSS when ready", fresh, report.Bytes),
		report.Most(fmt.Sprintf("RSS after %d reads in one process", memoryReads), used, memoryBound, report.Bytes),
	}, nil
}

// zipped returns the size of the zip that holds a program.
func zipped(path string) (float64, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	entry, err := w.Create("bootstrap")
	if err != nil {
		return 0, err
	}
	if _, err := entry.Write(content); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return float64(archive.Len()), nil
}

// start makes a round of a cold start: from exec to the first call for work.
func start(ctx context.Context, binary string, env []string) func() (float64, error) {
	return func() (float64, error) {
		p, err := process.Start(ctx, binary, env)
		if err != nil {
			return 0, err
		}
		defer p.Close()
		return float64(p.Ready), nil
	}
}

// memory reads so often in one process and returns its memory before and after.
func memory(ctx context.Context, binary string, env []string, url, token string) (before, after float64, err error) {
	p, err := process.Start(ctx, binary, env)
	if err != nil {
		return 0, 0, err
	}
	defer p.Close()
	if before, err = p.RSS(); err != nil {
		return 0, 0, err
	}
	event, err := dispatch.Event(url, token, request)
	if err != nil {
		return 0, 0, err
	}
	for range memoryReads {
		raw, err := p.Invoke(event)
		if err != nil {
			return 0, 0, err
		}
		var response struct {
			StatusCode int
			Body       string
		}
		if err := json.Unmarshal(raw, &response); err != nil || response.StatusCode != http.StatusOK {
			return 0, 0, fmt.Errorf("response %s (%w)", raw, err)
		}
		if err := check([]byte(response.Body)); err != nil {
			return 0, 0, err
		}
	}
	after, err = p.RSS()
	return before, after, err
}
