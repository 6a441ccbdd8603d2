package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/bench/dispatch"
	"github.com/robotmoney/mcp/infra/bench/measure"
	"github.com/robotmoney/mcp/infra/bench/process"
	"github.com/robotmoney/mcp/infra/bench/report"
	"github.com/robotmoney/mcp/infra/local/gateway"
	"github.com/robotmoney/mcp/infra/local/lambda"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/audit"
)

const (
	// readRounds of readBatch operations each; a round's figure is the median
	// operation, so that a pause of the machine counts in none.
	readRounds = 21
	readBatch  = 40
	// readShare is how much of the sum of its floors a warm read may take.
	readShare = 1.5
)

// reading sets a warm resources/read through the local gateway against its
// floors: the way there and back (the same request to a function that answers a
// constant), one GetItem and one PutEvents.
func reading(ctx context.Context, b *bench) ([]report.Row, error) {
	file, err := b.started(ctx)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
	ask := func(url string) func() ([]byte, error) {
		return func() ([]byte, error) { return post(ctx, client, url, file.Tokens["agent"], request) }
	}
	read := ask(file.MCPURL)
	reply, err := read()
	if err != nil {
		return nil, err
	}
	get := b.getItem(file)
	put, err := putEvents(file)
	if err != nil {
		return nil, err
	}
	both, err := json.Marshal(map[string]any{"get": get["get"], "put": put["put"]})
	if err != nil {
		return nil, err
	}
	var constants [2]func() ([]byte, error)
	for i, name := range []string{"echo", "clients"} {
		url, end, err := b.constant(ctx, name, append(environment(file), "BENCH_BODY="+string(reply), "BENCH_ORDER="+string(both)))
		if err != nil {
			return nil, err
		}
		defer end()
		constants[i] = ask(url)
	}
	calls, err := b.clients(ctx, file)
	if err != nil {
		return nil, err
	}
	defer calls.Close()
	figures, err := measure.Turns(readRounds, typical(read), typical(constants[0]), ordered(calls, get), ordered(calls, put), typical(constants[1]))
	if err != nil {
		return nil, err
	}
	sums, ratios := make([]float64, readRounds), make([]float64, readRounds)
	for i := range readRounds {
		sums[i] = figures[1][i] + figures[2][i] + figures[3][i]
		ratios[i] = figures[0][i] / sums[i]
	}
	// The ratio is the median of the rounds' ratios: both sides of each had the
	// same moment of the machine.
	sum := measure.Median(sums)
	return []report.Row{
		report.Share("warm resources/read, time: through the gateway / sum of the three floors below", measure.Median(ratios)*sum, sum, readShare, report.Nanoseconds),
		report.Share("warm resources/read, time: through the gateway / a function that makes the same two calls and answers a constant", measure.Median(figures[0]), measure.Median(figures[4]), 0, report.Nanoseconds),
		report.Alone("floor: a function that answers a constant, same gateway", measure.Median(figures[1]), report.Nanoseconds),
		report.Alone("floor: GetItem of the row, same table", measure.Median(figures[2]), report.Nanoseconds),
		report.Alone("floor: PutEvents of one audit event, same bus", measure.Median(figures[3]), report.Nanoseconds),
	}, nil
}

// typical makes a round of a read: its figure is the median one. That the reply
// is the row is looked at outside of the time.
func typical(read func() ([]byte, error)) func() (float64, error) {
	return func() (float64, error) {
		times := make([]float64, readBatch)
		for i := range times {
			began := time.Now()
			body, err := read()
			times[i] = float64(time.Since(began))
			if err == nil {
				err = check(body)
			}
			if err != nil {
				return 0, err
			}
		}
		return measure.Median(times), nil
	}
}

// post sends a request and returns the body of a 200.
func post(ctx context.Context, client *http.Client, url, token string, r dispatch.Request) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	r.Headers(req.Header, token)
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d: %s", res.StatusCode, body)
	}
	return body, nil
}

// constant starts a gateway in front of a function that answers a constant and
// returns its URL.
func (b *bench) constant(ctx context.Context, name string, env []string) (url string, end func(), err error) {
	binary, err := b.build(ctx, b.module(), "./functions/"+name, name)
	if err != nil {
		return "", nil, err
	}
	pool, err := lambda.New(ctx, lambda.Function{Name: name, Binary: binary, Env: env, MemoryMB: 512, Region: stackfile.Region})
	if err != nil {
		return "", nil, err
	}
	front, err := gateway.New(gateway.Config{Function: pool})
	if err != nil {
		pool.Close()
		return "", nil, err
	}
	server := httptest.NewServer(front)
	return server.URL + "/v1/agents/mcp", func() { server.Close(); pool.Close() }, nil
}

// clients starts the function that has only the AWS clients: the floors of a
// function's calls are measured in a process of their own, as a function is one.
func (b *bench) clients(ctx context.Context, file stackfile.Stack) (*process.Process, error) {
	binary, err := b.build(ctx, b.module(), "./functions/clients", "clients")
	if err != nil {
		return nil, err
	}
	return process.Start(ctx, binary, append(environment(file), region))
}

// ordered makes a round of one of its operations.
func ordered(p *process.Process, what map[string]any) func() (float64, error) {
	what["times"] = readBatch
	return func() (float64, error) {
		event, err := json.Marshal(what)
		if err != nil {
			return 0, err
		}
		answer, err := p.Invoke(event)
		if err != nil {
			return 0, err
		}
		return strconv.ParseFloat(string(answer), 64)
	}
}

// getItem reads the row as the function does.
func (b *bench) getItem(file stackfile.Stack) map[string]any {
	return map[string]any{"get": map[string]string{"table": file.Table, "pk": b.row.PK, "sk": b.row.SK}}
}

// putEvents puts an event of the size the function puts for a read.
func putEvents(file stackfile.Stack) (map[string]any, error) {
	event := audit.Event{
		ID: "evt_01JDZ0Q6Y4R8M2N5T7V9WXA3BC", TenantID: tenantID, Layer: audit.LayerAgent, Action: audit.ActionCall,
		Inputs:  map[string]any{"method": request.Method, "uri": request.Name},
		Outputs: map[string]any{"ok": true}, RequestID: "8f8e5a0e-5f0c-4f0a-9f59-4b0a6f1c9e11",
		CreatedAt: "2026-07-28T12:00:00.000Z", Schema: audit.Schema,
	}
	entry, err := event.Entry()
	return map[string]any{"put": map[string]string{"bus": file.Bus, "source": audit.Source, "type": entry.Type, "detail": string(entry.Detail)}}, err
}
