package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmoney/mcp/infra/bench/dispatch"
	"github.com/robotmoney/mcp/infra/bench/measure"
	"github.com/robotmoney/mcp/infra/bench/report"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

const (
	clients    = 8
	loadRounds = 7
	loadTime   = 2 * time.Second // of one side in one round
	loadTimes  = 5               // how many times the peer's rate ours must be
)

// load sets the rate of reads against that of a server made with the TypeScript
// SDK: through the local gateway, with everything a request meets there, and of
// our surface served as the peer's is.
func load(ctx context.Context, b *bench) ([]report.Row, error) {
	file, err := b.started(ctx)
	if err != nil {
		return nil, err
	}
	peer, end, err := b.server(ctx, file, "node", filepath.Join(b.module(), "peer.mjs"))
	if err != nil {
		return nil, err
	}
	defer end()
	binary, err := b.build(ctx, b.module(), "./plain", "plain")
	if err != nil {
		return nil, err
	}
	plain, end, err := b.server(ctx, file, binary)
	if err != nil {
		return nil, err
	}
	defer end()
	echo, end, err := b.constantReply(ctx, file)
	if err != nil {
		return nil, err
	}
	defer end()
	token := file.Tokens["agent"]
	legacy := dispatch.Legacy(request.Name) // all that version of the SDK speaks
	sides := []func() (float64, error){
		flood(ctx, file.MCPURL, token, request), flood(ctx, peer, "", legacy), flood(ctx, plain, "", request), flood(ctx, echo, token, request),
	}
	if _, err := measure.Turns(1, sides...); err != nil { // warms up
		return nil, err
	}
	figures, err := measure.Turns(loadRounds, sides...)
	if err != nil {
		return nil, err
	}
	rate, peerRate := measure.Median(figures[0]), measure.Median(figures[1])
	return []report.Row{
		report.Times("resources/read, 8 connections: through the gateway, with token and audit event / TypeScript SDK 1.32.2", rate, peerRate, loadTimes, report.PerSecond),
		report.Times("resources/read, 8 connections: our surface on plain HTTP, like the peer / TypeScript SDK 1.32.2", measure.Median(figures[2]), peerRate, loadTimes, report.PerSecond),
		report.Times("ceiling: a function that answers a constant, same gateway, 8 connections / TypeScript SDK 1.32.2", measure.Median(figures[3]), peerRate, 0, report.PerSecond),
	}, nil
}

// constantReply starts the echo function with the reply to the read.
func (b *bench) constantReply(ctx context.Context, file stackfile.Stack) (url string, end func(), err error) {
	reply, err := post(ctx, http.DefaultClient, file.MCPURL, file.Tokens["agent"], request)
	if err != nil {
		return "", nil, err
	}
	return b.constant(ctx, "echo", []string{"BENCH_BODY=" + string(reply)})
}

// flood sends a request over and over on so many connections and returns how
// many were answered in a second.
func flood(ctx context.Context, url, token string, r dispatch.Request) func() (float64, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	return func() (float64, error) {
		var answered atomic.Int64
		var wrong atomic.Pointer[error]
		var sending sync.WaitGroup
		began := time.Now()
		for range clients {
			sending.Go(func() {
				for time.Since(began) < loadTime && wrong.Load() == nil {
					body, err := post(ctx, client, url, token, r)
					if err == nil {
						err = check(body)
					}
					if err != nil {
						wrong.Store(&err)
						return
					}
					answered.Add(1)
				}
			})
		}
		sending.Wait()
		took := time.Since(began)
		if err := wrong.Load(); err != nil {
			return 0, *err
		}
		return float64(answered.Load()) / took.Seconds(), nil
	}
}

// server starts a server that prints its URL, and returns that.
func (b *bench) server(ctx context.Context, file stackfile.Stack, name string, args ...string) (url string, end func(), err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "NODE_ENV=production", "NODE_NO_WARNINGS=1", "BENCH_MODULES="+b.installed("npm"),
		"DYNAMODB_ENDPOINT="+file.DynamoDBEndpoint, "TABLE_NAME="+file.Table, "ROW_PK="+b.row.PK, "ROW_SK="+b.row.SK, "BENCH_TENANT="+tenantID)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("start %s: %w", name, err)
	}
	end = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		end()
		return "", nil, fmt.Errorf("%s ended before it was ready", name)
	}
	return strings.TrimSpace(line), end, nil
}
