package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/bench/measure"
	"github.com/robotmoney/mcp/infra/bench/report"
	"github.com/robotmoney/mcp/infra/bench/rows"
	"github.com/robotmoney/mcp/shared/domain/cursor"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/platform/secret"
	"github.com/robotmoney/mcp/shared/platform/table"
	"github.com/robotmoney/mcp/shared/surface/brain"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// The sizes that are compared, and what a page may cost more of the large one.
const (
	fewRows     = 1_000
	manyRows    = 1_000_000
	manyNames   = 100_000
	pageRows    = 10
	listShare   = 1.2
	searchShare = 2.0
)

// filling says which rows the table holds. What a maker makes is part of the
// folder's name: count filledVersion up when it changes.
const filledVersion = "2"

var filling = []struct {
	tenant, what string
	n            int
	rows         rows.Maker
}{
	{"few", "transactions", fewRows, rows.Transaction},
	{"many", "transactions", manyRows, rows.Transaction},
	{"names", "counterparties", manyNames, rows.Counterparty},
}

// lists compares a page of few rows with one of many, and a search among many
// names with a page. The rows are written straight to the engine, as the writer
// would have stored them: a million of them through it would take an hour.
func lists(ctx context.Context, b *bench) ([]report.Row, error) {
	client, stop, err := b.filled(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	reads := &reads{API: client}
	seal := cursor.Sealer{Key: secret.Fixed([]byte(strings.Repeat("k", 32)))}
	tools := brain.LedgerTools(&ledger.Reader{Store: &table.Table{API: reads, Name: tableName}, Now: time.Now}, seal)
	var operations []func() error
	var counts []report.Row
	for _, p := range []struct {
		what, tool, tenant, arguments string
		rows                          int
	}{
		{fmt.Sprintf("reads of the list of %d", fewRows), "ledger.transactions.list", "few", `{"limit":10}`, pageRows},
		{fmt.Sprintf("reads of the list of %d", manyRows), "ledger.transactions.list", "many", `{"limit":10}`, pageRows},
		{"reads of the search", "ledger.counterparties.list", "names", `{"limit":10,"q":"9876"}`, pageRows},
		{"reads of the search that finds nothing", "ledger.counterparties.list", "names", `{"limit":10,"q":"987z"}`, 0},
		{"reads of the search with a type", "ledger.counterparties.list", "names", `{"limit":10,"q":"987","type":"vendor"}`, pageRows},
	} {
		operation, err := page(ctx, tools, p.tool, p.tenant, p.arguments, p.rows)
		if err != nil {
			return nil, err
		}
		*reads = reads.anew()
		if err := operation(); err != nil {
			return nil, err
		}
		operations, counts = append(operations, operation), append(counts, report.Row{What: p.what, Ours: reads.String()})
	}
	costs, err := measure.Costs(rounds, operations...)
	if err != nil {
		return nil, err
	}
	few, many, search, nothing, typed := costs[0].Nanoseconds, costs[1].Nanoseconds, costs[2].Nanoseconds, costs[3].Nanoseconds, costs[4].Nanoseconds
	return append([]report.Row{
		report.Share(fmt.Sprintf("ledger.transactions.list, %d rows: of %d / of %d", pageRows, manyRows, fewRows), many, few, listShare, report.Nanoseconds),
		report.Share(fmt.Sprintf("ledger.counterparties.list, %d rows: part of a name among %d / transactions.list of %d", pageRows, manyNames, fewRows), search, few, searchShare, report.Nanoseconds),
		report.Share(fmt.Sprintf("the same, a text that no name holds / transactions.list of %d", fewRows), nothing, few, searchShare, report.Nanoseconds),
		report.Share(fmt.Sprintf("the same, of one type, which reads a whole chunk / transactions.list of %d", fewRows), typed, few, 0, report.Nanoseconds),
	}, counts...), nil
}

// page makes an operation of a tool call that must give so many rows.
func page(ctx context.Context, tools []catalog.Tool, name, tenant, arguments string, rows int) (func() error, error) {
	t, err := identity.OperatorTenant(tenant)
	if err != nil {
		return nil, err
	}
	for _, tool := range tools {
		if tool.Name != name {
			continue
		}
		return func() error {
			out, err := tool.Call(ctx, catalog.Call{Principal: identity.Principal{Tenant: t}}, json.RawMessage(arguments))
			if err != nil {
				return err
			}
			structured, _ := out.Structured.(json.RawMessage)
			if n := strings.Count(string(structured), `"tenant_id"`); n != rows {
				err = fmt.Errorf("%s of %s: %d rows, want %d", name, tenant, n, rows)
			}
			return err
		}, nil
	}
	return nil, fmt.Errorf("no tool %s", name)
}

// reads counts what a tool reads, one call at a time.
type reads struct {
	table.API
	queries, batches, items int
}

func (r *reads) anew() reads { return reads{API: r.API} }

// Query counts a query and the items of its answer.
func (r *reads) Query(ctx context.Context, in *dynamodb.QueryInput, changes ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := r.API.Query(ctx, in, changes...)
	if err == nil {
		r.queries, r.items = r.queries+1, r.items+len(out.Items)
	}
	return out, err
}

// BatchGetItem counts a batch and the items that are there.
func (r *reads) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, changes ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := r.API.BatchGetItem(ctx, in, changes...)
	if err == nil {
		r.batches++
		for _, items := range out.Responses {
			r.items += len(items)
		}
	}
	return out, err
}

func (r *reads) String() string {
	return fmt.Sprintf("%d Query, %d BatchGetItem, %d items", r.queries, r.batches, r.items)
}

// filled starts an engine whose table holds the rows. The file is kept between
// runs: filling it takes minutes.
func (b *bench) filled(ctx context.Context) (*dynamodb.Client, func(), error) {
	folder := b.installed("lists-" + filledVersion)
	client, stop, err := b.engine(ctx, filepath.Join(folder, "lists.sqlite"))
	if err != nil {
		return nil, nil, err
	}
	if err := fill(ctx, client, folder); err != nil {
		stop()
		return nil, nil, err
	}
	return client, stop, nil
}

// fill writes the rows of every tenant, as far as no earlier run has: each
// tenant leaves a mark when it is done.
func fill(ctx context.Context, client *dynamodb.Client, folder string) error {
	for _, f := range filling {
		done := filepath.Join(folder, f.tenant+".filled")
		if _, err := os.Stat(done); err == nil {
			continue
		}
		fmt.Fprintf(os.Stderr, "filling %d %s of the tenant %s, once; a million rows take some minutes\n", f.n, f.what, f.tenant)
		t, err := identity.OperatorTenant(f.tenant)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := rows.Fill(ctx, client, tableName, t, f.n, f.rows); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "filled in %s\n", time.Since(began).Round(time.Second))
		if err := os.WriteFile(done, nil, 0o644); err != nil {
			return err
		}
	}
	return nil
}
