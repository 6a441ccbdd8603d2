package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/infra/bench/measure"
	"github.com/robotmoney/mcp/infra/bench/report"
	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/domain/cursor"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/secret"
	"github.com/robotmoney/mcp/shared/platform/table"
	"github.com/robotmoney/mcp/shared/surface/brain"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// The sizes that are compared, and what a page may cost more of the large one.
const (
	fewRows      = 1_000
	manyRows     = 1_000_000
	manyNames    = 100_000
	listShare    = 1.2
	searchShare  = 2.0
	listsVersion = "1" // of what is filled in; another one fills anew
)

// lists compares a page of few rows with one of many, and a search among many
// names with a page. The rows are written straight to the engine, as the writer
// would have stored them: a million of them through it would take an hour.
func lists(ctx context.Context, b *bench) ([]report.Row, error) {
	client, stop, err := b.filled(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	store := &table.Table{API: client, Name: listsTable}
	tools := brain.LedgerTools(&ledger.Reader{Store: store, Now: time.Now}, cursor.Sealer{Key: secret.Fixed([]byte(strings.Repeat("k", 32)))})
	few, err := page(ctx, tools, "ledger.transactions.list", "few", `{"limit":10}`)
	if err != nil {
		return nil, err
	}
	many, err := page(ctx, tools, "ledger.transactions.list", "many", `{"limit":10}`)
	if err != nil {
		return nil, err
	}
	search, err := page(ctx, tools, "ledger.counterparties.list", "many", `{"limit":10,"q":"K0123"}`)
	if err != nil {
		return nil, err
	}
	costs, err := measure.Costs(rounds, few, many, search)
	if err != nil {
		return nil, err
	}
	return []report.Row{
		report.Share(fmt.Sprintf("ledger.transactions.list, 10 rows: of %d / of %d", manyRows, fewRows), costs[1].Nanoseconds, costs[0].Nanoseconds, listShare, report.Nanoseconds),
		report.Share(fmt.Sprintf("ledger.counterparties.list, a part of a name among %d / 10 rows of %d", manyNames, fewRows), costs[2].Nanoseconds, costs[0].Nanoseconds, searchShare, report.Nanoseconds),
	}, nil
}

// page makes an operation of a tool call that must give ten rows.
func page(ctx context.Context, tools []catalog.Tool, name, tenant, arguments string) (func() error, error) {
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
			structured, err := json.Marshal(out.Structured)
			if n := strings.Count(string(structured), `"tenant_id"`); err == nil && n != 10 {
				err = fmt.Errorf("%s of %s: %d rows, want 10", name, tenant, n)
			}
			return err
		}, nil
	}
	return nil, fmt.Errorf("no tool %s", name)
}

const listsTable = "lists"

// filled starts an engine whose table holds the rows. The file is kept between
// runs: filling it takes minutes.
func (b *bench) filled(ctx context.Context) (*dynamodb.Client, func(), error) {
	layout, err := template.Load(filepath.Join(b.repo, "template.yaml"), template.Options{Resolve: template.Logical, Parameters: map[string]string{
		"AWS::Region": stackfile.Region, "AWS::StackName": "bench", "Issuer": "", "JwksUrl": "", "RpcUrls": "", "ChainId": "1", "RegistryAddress": "", "AnchorAddress": "",
	}})
	if err != nil {
		return nil, nil, err
	}
	binaries, err := engine.Install(ctx, filepath.Join(b.repo, stackfile.Root, "npm"))
	if err != nil {
		return nil, nil, err
	}
	folder := b.installed("lists-" + listsVersion)
	database, err := engine.DynamoDB(ctx, engine.DynamoDBConfig{
		Binary: binaries.Dynoxide, DBPath: filepath.Join(folder, "lists.sqlite"), Tables: map[string]template.Table{listsTable: layout.Tables[0]},
	})
	if err != nil {
		return nil, nil, err
	}
	stop := func() { _ = database.Close() }
	client := dynamodb.NewFromConfig(stackfile.AWS(), func(o *dynamodb.Options) {
		o.HTTPClient, o.BaseEndpoint = awshttp.New(time.Minute), aws.String(database.Endpoint)
	})
	if err := fill(ctx, client, folder); err != nil {
		stop()
		return nil, nil, err
	}
	return client, stop, nil
}

// fill writes the rows of both tenants, as far as no earlier run has: each stage
// leaves a mark when it is done.
func fill(ctx context.Context, client *dynamodb.Client, folder string) error {
	for stage, f := range []struct {
		tenant, what string
		n            int
		items        func(t identity.Tenant, i int) ([]item, error)
	}{{"few", "transactions", fewRows, transaction}, {"many", "transactions", manyRows, transaction}, {"many", "counterparties", manyNames, counterparty}} {
		done := filepath.Join(folder, fmt.Sprintf("stage-%d", stage))
		if _, err := os.Stat(done); err == nil {
			continue
		}
		fmt.Fprintf(os.Stderr, "filling %d %s, once; a million take some minutes\n", f.n, f.what)
		t, err := identity.OperatorTenant(f.tenant)
		if err != nil {
			return err
		}
		const workers = 4
		group, ctx := errgroup.WithContext(ctx)
		for worker := range workers {
			group.Go(func() error {
				batch := &batch{client: client}
				for i := worker; i < f.n; i += workers {
					items, err := f.items(t, i)
					if err != nil {
						return err
					}
					if err := batch.add(ctx, items...); err != nil {
						return err
					}
				}
				return batch.flush(ctx)
			})
		}
		if err := group.Wait(); err != nil {
			return fmt.Errorf("fill %s of %s: %w", f.what, f.tenant, err)
		}
		if err := os.WriteFile(done, nil, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// item is what is stored under a key, as the table encodes it.
type item map[string]types.AttributeValue

func stored(k key.Key, body any, places ...key.Key) (item, error) {
	out := item{"pk": text(k.PK), "sk": text(k.SK), "version": &types.AttributeValueMemberN{Value: "1"}}
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		out["body"] = text(string(raw))
	}
	for i, place := range places {
		out[fmt.Sprintf("gsi%dpk", i+1)], out[fmt.Sprintf("gsi%dsk", i+1)] = text(place.PK), text(place.SK)
	}
	return out, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// transaction is the ith of a tenant's: one every few minutes over ten years.
func transaction(t identity.Tenant, i int) ([]item, error) {
	name := fmt.Sprintf("tx_%08d", i)
	day := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i%3650).Format(time.DateOnly)
	account, party := fmt.Sprintf("acct_%d", i%10), fmt.Sprintf("cp_%d", i%1000)
	row := &ledger.Transaction{
		Meta:      ledger.Meta{ID: name, TenantID: t.String(), SourceIDs: []string{}, EvidenceIDs: []string{}, Provenance: "extracted", Confidence: 1, CreatedAt: day + "T00:00:00.000Z", UpdatedAt: day + "T00:00:00.000Z"},
		AccountID: account, Amount: "12.34", Currency: "USD", Direction: "outflow", TransactionDate: day, CounterpartyID: &party,
		Allocations: []ledger.Allocation{}, Status: "posted", ReconciliationStatus: "matched",
	}
	one, err := stored(key.Ledger(t, id.Transaction, name), row,
		key.LedgerList(t, id.Transaction, day, name), key.LedgerListOf(t, id.Transaction, account, day, name), key.LedgerListOf(t, id.Transaction, party, day, name))
	return []item{one}, err
}

// counterparty is the ith of a tenant's, with the marks of its name. The names
// are short, so that a hundred thousand have some seven hundred thousand marks.
func counterparty(t identity.Tenant, i int) ([]item, error) {
	name := fmt.Sprintf("k%06d", i)
	row := &ledger.Counterparty{
		Meta: ledger.Meta{ID: "cp_" + name, TenantID: t.String(), SourceIDs: []string{}, EvidenceIDs: []string{}, Provenance: "extracted", Confidence: 1},
		Name: strings.ToUpper(name), NormalizedName: name, Type: "vendor", Aliases: []string{}, RiskLevel: "low", VerifiedStatus: "unverified", LinkedAccounts: []string{},
	}
	one, err := stored(key.Ledger(t, id.Counterparty, row.ID), row, key.LedgerList(t, id.Counterparty, name, row.ID))
	if err != nil {
		return nil, err
	}
	items := []item{one}
	for at := range name {
		mark, err := stored(key.Suffix(t, name[at:], row.ID), nil)
		if err != nil {
			return nil, err
		}
		items = append(items, mark)
	}
	return items, nil
}

// batch collects items and writes as many as one call takes.
type batch struct {
	client  *dynamodb.Client
	pending []types.WriteRequest
}

func (b *batch) add(ctx context.Context, items ...item) error {
	for _, one := range items {
		b.pending = append(b.pending, types.WriteRequest{PutRequest: &types.PutRequest{Item: one}})
		if len(b.pending) == 25 {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *batch) flush(ctx context.Context) error {
	for len(b.pending) > 0 {
		out, err := b.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{listsTable: b.pending}})
		if err != nil {
			return err
		}
		b.pending = out.UnprocessedItems[listsTable]
	}
	b.pending = nil
	return nil
}
