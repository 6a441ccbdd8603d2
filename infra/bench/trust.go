package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/bench/desk"
	"github.com/robotmoney/mcp/infra/bench/measure"
	"github.com/robotmoney/mcp/infra/bench/report"
	"github.com/robotmoney/mcp/infra/verify/verify"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/merkle"
	"github.com/robotmoney/mcp/shared/domain/proof"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// The sizes and targets of the audit chain and of proofs.
const (
	appendSize   = 98 // events a call: as many as one read and two transactions hold
	appendRate   = 2_000
	appendRounds = 21
	appendBatch  = 3
	treeLeaves   = 100_000
	treeBound    = 150_000_000 // ns
	treeRounds   = 31
	proofRounds  = 21
	proofBatch   = 20
	verifyBound  = 50_000_000 // ns
	verifyRounds = 200
	provenID     = "pi_a1b2c3" // the demo's payment: it has been through everything
)

// trusting measures what an event costs to be kept for ever, and a proof to be
// read and to be checked.
func trusting(ctx context.Context, b *bench) ([]report.Row, error) {
	file, err := b.started(ctx)
	if err != nil {
		return nil, err
	}
	store := &table.Table{API: file.Database(), Name: file.Table}
	rows, err := appending(ctx, store)
	if err != nil {
		return nil, err
	}
	grown, err := growing()
	if err != nil {
		return nil, err
	}
	shown, err := proving(ctx, store)
	return append(append(rows, grown...), shown...), err
}

// appending enters events at the end of one tenant's journal, call after call,
// beside its calls alone. What a call of the queue brings is text, so reading it
// is part of the time.
func appending(ctx context.Context, store *table.Table) ([]report.Row, error) {
	tenant, err := identity.OperatorTenant("bench-journal")
	if err != nil {
		return nil, err
	}
	last := &asked{API: store.API}
	j, told := &journal.Journal{Store: &table.Table{API: last, Name: store.Name}}, 0
	enter := func() error {
		last.changes = nil
		events := make([]journal.Event, appendSize)
		for i := range events {
			var err error
			if events[i], err = journal.Parse(happened(tenant, told)); err != nil {
				return err
			}
			told++
		}
		out, err := j.Append(ctx, tenant, events)
		if err == nil && out.Appended != appendSize {
			err = fmt.Errorf("%d of %d events were appended", out.Appended, appendSize)
		}
		return err
	}
	if err := enter(); err != nil { // the floor repeats its calls
		return nil, fmt.Errorf("append to a journal: %w", err)
	}
	batch := func(operation func() error) func() (float64, error) {
		return func() (float64, error) { return measure.Call(appendBatch, operation) }
	}
	figures, err := measure.Turns(appendRounds, batch(enter), batch(last.floor(ctx)))
	if err != nil {
		return nil, fmt.Errorf("append to a journal: %w", err)
	}
	call, floor := measure.Median(figures[0]), measure.Median(figures[1])
	return []report.Row{
		report.Least(fmt.Sprintf("journal of one tenant, events appended in calls of %d", appendSize), appendSize/call*1e9, appendRate, report.PerSecond),
		report.Share("the same, time of one call / one BatchGetItem and two transactions of the same items", call, floor, 0, report.Nanoseconds),
	}, nil
}

// happened is the nth event of a tenant, as large as that of a tool call.
func happened(of identity.Tenant, n int) []byte {
	return fmt.Appendf(nil, `{"id":"evt_01K6D3Q6Y4R8M2N5T7V%07d","tenant_id":%q,"layer":"agent","actor":{"type":"agent","id":"agt_finance"},"action":"agent.mcp.tool_called",`+
		`"inputs":{"method":"tools/call","name":"ledger.transactions.list","arguments":"{\"counterparty_id\":\"cp_aws\",\"limit\":%d}","arguments_sha256":"%064x"},`+
		`"outputs":{"ok":true},"request_id":"req_%d","created_at":"2025-09-30T12:00:00.123Z","schema":1}`, n, of, n, n, n)
}

// growing builds the tree over the entries of a period.
func growing() ([]report.Row, error) {
	leaves := make([]merkle.Hash, treeLeaves)
	for i := range leaves {
		binary.BigEndian.PutUint64(leaves[i][:], uint64(i))
	}
	var root merkle.Hash
	tree := func() error { root = merkle.Root(leaves); return nil }
	alone, err := measure.Work(treeRounds, tree)
	if err != nil {
		return nil, err
	}
	clock, err := measure.Call(treeRounds, tree)
	if err != nil {
		return nil, err
	}
	paths, err := measure.Work(treeRounds, func() error {
		top, paths := merkle.Paths(leaves)
		if last := treeLeaves - 1; top != root || !merkle.Verify(leaves[last], paths[last], root) {
			return errors.New("the paths do not lead to the root")
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("build a tree: %w", err)
	}
	what := fmt.Sprintf("Merkle tree of %d leaves", treeLeaves)
	return []report.Row{
		report.Most(what+", its root, processor time", alone, treeBound, report.Nanoseconds),
		report.Alone("the same by the clock", clock, report.Nanoseconds),
		report.Alone(what+", its root and the path of every leaf, processor time", paths, report.Nanoseconds),
	}, nil
}

// asked keeps what was asked of the table, for a floor to repeat: the last query,
// the last batch, and the transactions since somebody forgot them.
type asked struct {
	table.API
	mu      sync.Mutex
	query   *dynamodb.QueryInput
	batch   *dynamodb.BatchGetItemInput
	changes []*dynamodb.TransactWriteItemsInput
}

// Query keeps a query.
func (a *asked) Query(ctx context.Context, in *dynamodb.QueryInput, more ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	a.mu.Lock()
	a.query = in
	a.mu.Unlock()
	return a.API.Query(ctx, in, more...)
}

// BatchGetItem keeps a batch.
func (a *asked) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, more ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	a.mu.Lock()
	a.batch = in
	a.mu.Unlock()
	return a.API.BatchGetItem(ctx, in, more...)
}

// TransactWriteItems keeps a transaction.
func (a *asked) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, more ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	a.mu.Lock()
	a.changes = append(a.changes, in)
	a.mu.Unlock()
	return a.API.TransactWriteItems(ctx, in, more...)
}

// aside are the transactions that are kept now, under keys of their own.
func (a *asked) aside() []dynamodb.TransactWriteItemsInput {
	changes := make([]dynamodb.TransactWriteItemsInput, len(a.changes))
	for i, change := range a.changes {
		changes[i].TransactItems = desk.Aside(change)
	}
	return changes
}

// floor repeats the batch and the transactions that are kept now, the latter under
// keys of their own.
func (a *asked) floor(ctx context.Context) func() error {
	batch, changes := *a.batch, a.aside()
	return func() error {
		if _, err := a.API.BatchGetItem(ctx, &batch); err != nil {
			return fmt.Errorf("read: %w", err)
		}
		for i := range changes {
			if _, err := a.API.TransactWriteItems(ctx, &changes[i]); err != nil {
				return fmt.Errorf("write: %w", err)
			}
		}
		return nil
	}
}

// proving reads a proof, counts what that takes, and checks the proof.
func proving(ctx context.Context, store *table.Table) ([]report.Row, error) {
	tenant, err := identity.OperatorTenant(tenantID)
	if err != nil {
		return nil, err
	}
	calls := &desk.Calls{API: store.API}
	last := &asked{API: calls}
	reader := &proof.Reader{Store: &table.Table{API: last, Name: store.Name}}
	raw, err := reader.Proof(ctx, tenant, provenID)
	if err != nil {
		return nil, err
	}
	if failed := verify.Proof(ctx, raw, verify.Options{}).Failed(); len(failed) > 0 {
		return nil, fmt.Errorf("the proof does not hold: %v", failed)
	}
	n := calls.Take()
	if n != (desk.Counts{Queries: n.Queries}) {
		return nil, fmt.Errorf("a proof takes other calls than queries: %v", n)
	}
	read := func() error { _, err := reader.Proof(ctx, tenant, provenID); return err }
	floor := func() error { _, err := store.API.Query(ctx, last.query); return err }
	batch := func(operation func() error) func() (float64, error) {
		return func() (float64, error) { return measure.Call(proofBatch, operation) }
	}
	figures, err := measure.Turns(proofRounds, batch(read), batch(floor))
	if err != nil {
		return nil, fmt.Errorf("read a proof: %w", err)
	}
	checked, err := measure.Call(verifyRounds, func() error {
		if report := verify.Proof(ctx, raw, verify.Options{}); !report.Holds() {
			return errors.New("the proof does not hold")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []report.Row{
		report.Most("a proof read: queries, and no other call; its reader has no client of the chain", float64(n.Queries), 1, func(n float64) string { return fmt.Sprintf("%.0f", n) }),
		report.Share("a proof read, time: the proof of an executed payment / the same query alone", measure.Median(figures[0]), measure.Median(figures[1]), 0, report.Nanoseconds),
		report.Most(fmt.Sprintf("that proof (%s) checked without asking the chain, time", report.Bytes(float64(len(raw)))), checked, verifyBound, report.Nanoseconds),
	}, nil
}
