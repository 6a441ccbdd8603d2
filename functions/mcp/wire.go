package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/cursor"
	"github.com/robotmoney/mcp/shared/domain/evidence"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/member"
	"github.com/robotmoney/mcp/shared/domain/proof"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/question"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/wiki"
	"github.com/robotmoney/mcp/shared/edge"
	"github.com/robotmoney/mcp/shared/platform/bedrock"
	"github.com/robotmoney/mcp/shared/platform/blob"
	"github.com/robotmoney/mcp/shared/platform/bus"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
	"github.com/robotmoney/mcp/shared/platform/clock"
	"github.com/robotmoney/mcp/shared/platform/jwks"
	"github.com/robotmoney/mcp/shared/platform/metric"
	"github.com/robotmoney/mcp/shared/platform/secret"
	"github.com/robotmoney/mcp/shared/platform/table"
	"github.com/robotmoney/mcp/shared/surface/agent"
	"github.com/robotmoney/mcp/shared/surface/brain"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/mcp"
	individual "github.com/robotmoney/mcp/shared/surface/member"
)

// recheck is how long a chain endpoint that failed its first check is left
// alone. A node that only hiccuped on a cold start must not shut an agent out
// for long.
const recheck = 2 * time.Second

// wire builds the function out of its parts.
func wire(c config, log *slog.Logger) (*edge.Server, error) {
	now := clock.Now
	cloud := clients(c)
	meter := metric.Meter{Out: os.Stdout, Now: now, Function: c.aws.Function}
	trail := &audit.Trail{Bus: cloud.events, Store: cloud.store, IDs: id.NewSource(now, rand.Reader), Now: now, Log: log,
		Lost: func() { meter.Count("AuditRefused") }}

	node, err := chain.New(chain.Config{Endpoints: c.rpcURLs, ChainID: c.chainID, Recheck: recheck, Now: now})
	if err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	tokens := &identity.Verifier{
		Issuer: c.issuer, Audience: []string{c.endpointURL, c.origin}, Keys: jwks.New(c.jwksURL, now, log), Now: now,
	}
	limits := &access.Limiter{Counter: &table.Rate{Table: cloud.store, Default: access.DefaultRate}, Now: now, Refused: refusals(trail, log)}
	registry := chain.NewRegistry(node, c.registry)
	door := access.New(tokens, cloud.store, registry, limits, log, now)
	policies := &charter.Register{Store: cloud.store, Chain: tx.PolicySigners{Registry: registry}, Domain: charter.Domain{ChainID: c.chainID, Registry: c.registry}}

	offered, err := mount(c.providers, map[string]func() catalog.Provider{
		"brain":  func() catalog.Provider { return company(cloud, policies, trail, now) },
		"agent":  func() catalog.Provider { return agent.Provider(limits.Limit) },
		"member": func() catalog.Provider { return individual.Provider(&member.Reader{Store: cloud.store}) },
	})
	if err != nil {
		return nil, err
	}
	surface, err := mcp.New(offered, trail, log)
	if err != nil {
		return nil, err
	}
	observe := func(op edge.Operation) {
		meter.Length("mcp.server.operation.duration", op.Took, metric.Dimension{Name: "mcp.method.name", Value: op.Method}, metric.Dimension{Name: "outcome", Value: string(op.Outcome)})
	}
	return edge.New(edge.Config{EndpointURL: c.endpointURL, Issuer: c.issuer, Origins: c.origins, Observe: observe}, door, surface, now, log)
}

// outside is what the function reaches on AWS.
type outside struct {
	store   *table.Table
	events  *bus.Bus
	blobs   *blob.Bucket
	cursors cursor.Sealer                         // its key lies in Secrets Manager
	model   func(question.Rules) question.Planner // on Bedrock; nil leaves planning to the rules
}

// clients makes the AWS clients.
func clients(c config) outside {
	made := c.aws.Clients()
	cursors := cursor.Sealer{Key: secret.Fixed([]byte(c.cursorKey))}
	if c.cursorKey == "" {
		cursors.Key = made.Secret(c.cursorSecret)
	}
	out := outside{store: made.Table(c.table), events: made.Bus(c.bus), blobs: made.Bucket(c.bucket, clock.Now), cursors: cursors}
	if c.model != "" {
		out.model = func(rules question.Rules) question.Planner {
			region, credentials, client := made.Signing()
			return &bedrock.Planner{Model: c.model, Region: region, Credentials: credentials, HTTP: client, Now: clock.Now, Rules: rules}
		}
	}
	return out
}

// company is the provider of a company's own data.
func company(cloud outside, policies *charter.Register, trail *audit.Trail, now func() time.Time) catalog.Provider {
	store := cloud.store
	books := &ledger.Reader{Store: store, Now: now}
	return brain.Provider(brain.Sources{
		Ledger: books, Revision: books.Revision, Desk: &proposals.Desk{Store: store, Policies: policies, Trail: trail, IDs: trail.IDs, Now: now},
		Pages: &wiki.Reader{Store: store}, Proofs: &proof.Reader{Store: store}, Evidence: &evidence.Resolver{Store: store, Now: now},
		Raw: &raw.Archive{Store: store, Blobs: cloud.blobs, Trail: trail, IDs: trail.IDs, Now: now}, Cursors: cloud.cursors,
		Model: cloud.model,
	})
}

// mount puts the named providers on a catalogue, in the order of the names.
func mount(names []string, providers map[string]func() catalog.Provider) (*catalog.Catalog, error) {
	offered := &catalog.Catalog{}
	for _, name := range names {
		make, known := providers[name]
		if !known {
			return nil, fmt.Errorf("PROVIDERS: there is no provider %q", name)
		}
		if err := offered.Mount(make()); err != nil {
			return nil, err
		}
	}
	return offered, nil
}

// refusals records, once a minute and tenant, that requests were refused by
// rate.
func refusals(trail *audit.Trail, log *slog.Logger) func(context.Context, identity.Tenant, time.Time, int) {
	return func(ctx context.Context, t identity.Tenant, minute time.Time, limit int) {
		event, err := trail.New(audit.RateLimited(t, minute, limit))
		if err == nil {
			err = trail.Record(ctx, event)
		}
		if err != nil {
			log.WarnContext(ctx, "refusals by rate could not be recorded", "tenant", t.String(), "error", err)
		}
	}
}
