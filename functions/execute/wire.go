package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/bus"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
	"github.com/robotmoney/mcp/shared/platform/clock"
	"github.com/robotmoney/mcp/shared/platform/kms"
	"github.com/robotmoney/mcp/shared/platform/metric"
)

const (
	// recheck is how long a chain endpoint that failed its first check is left
	// alone.
	recheck = 2 * time.Second
	// blockTime is about how long a block takes, and looks how many of them one
	// message waits for before it is delivered again.
	blockTime = time.Second
	looks     = 8
	// idle is how long a connection may lie unused before it is not used again.
	idle = 20 * time.Second
)

// wire builds the function out of its parts. Metrics are lines of out.
func wire(c config, log *slog.Logger, out io.Writer) (*consumer, error) {
	now, made := clock.Now, c.aws.Clients()
	store, events := made.Table(c.table), made.Bus(c.bus)
	node, err := chain.New(chain.Config{Endpoints: c.rpcURLs, ChainID: c.chainID, Recheck: recheck, Now: now})
	if err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	meter := metric.Meter{Out: out, Now: now, Function: c.aws.Function}
	registry := chain.NewRegistry(node, c.registry)
	trail := &audit.Trail{Bus: events, Store: store, IDs: id.NewSource(now, rand.Reader), Now: now, Log: log, Lost: func() { meter.Count("AuditRefused") }}
	policies := &charter.Register{Store: store, Chain: tx.PolicySigners{Registry: registry}, Domain: charter.Domain{ChainID: c.chainID, Registry: c.registry}}
	return &consumer{log: log, meter: meter, executor: &execution.Executor{
		Desk:   &proposals.Desk{Store: store, Policies: policies, Trail: trail, IDs: trail.IDs, Now: now},
		Ledger: &ledger.Writer{Store: store, Trail: trail, Now: now}, Store: store, Registry: registry,
		Rails: rails(c, store, events, node, now), Now: now, Log: log, Alarm: func(name string) { meter.Count(name) },
	}}, nil
}

// rails are the rails that the configuration names.
func rails(c config, store record.Store, events *bus.Bus, node *chain.Client, now func() time.Time) execution.Rails {
	usual := map[string]execution.Rail{
		sandbox: execution.Sandbox{Now: now},
		bank:    execution.Bank{Orders: orders{events.API, events.Name}, Receipt: c.receipt},
	}
	made := execution.Rails{Usual: usual[c.rail]}
	if !c.token.IsZero() {
		made.Onchain = execution.Onchain{Chain: &token{client: node, signer: payer(c, now), address: c.token, block: blockTime}, Store: store, Now: now, Looks: looks}
	}
	return made
}

// payer is the key that pays tokens, opened when it is first needed: without KMS
// everything else is executed all the same.
func payer(c config, now func() time.Time) func(context.Context) (tx.Signer, error) {
	if c.key != nil {
		return func(context.Context) (tx.Signer, error) { return c.key, nil }
	}
	service := &kms.Service{
		Region: c.aws.Region, Endpoint: c.keyService, HTTP: awshttp.New(idle), Now: now,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: c.aws.AccessKey, SecretAccessKey: c.aws.SecretKey, SessionToken: c.aws.SessionToken}, nil
		}),
	}
	var mu sync.Mutex
	var opened tx.Signer
	return func(ctx context.Context) (tx.Signer, error) {
		mu.Lock()
		defer mu.Unlock()
		if opened != nil {
			return opened, nil
		}
		signer, err := service.Open(ctx, c.keyID)
		if err != nil {
			return nil, err
		}
		opened = signer
		return opened, nil
	}
}

// orders puts payment orders on the bus, under a source of their own.
type orders struct {
	api  bus.API
	name string
}

// Put puts one order on the bus.
func (o orders) Put(ctx context.Context, source string, entry audit.Entry) error {
	out, err := o.api.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{{
		EventBusName: &o.name, Source: &source, DetailType: &entry.Type, Detail: aws.String(string(entry.Detail)), Time: &entry.At,
	}}})
	if err != nil {
		return fmt.Errorf("put an order: %w", err)
	}
	if len(out.Entries) != 1 || out.Entries[0].ErrorCode != nil || aws.ToString(out.Entries[0].EventId) == "" {
		return fmt.Errorf("put an order: the bus did not take it")
	}
	return nil
}
