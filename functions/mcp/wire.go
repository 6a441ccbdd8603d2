package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proof"
	"github.com/robotmoney/mcp/shared/domain/wiki"
	"github.com/robotmoney/mcp/shared/edge"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/bus"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/jwks"
	"github.com/robotmoney/mcp/shared/platform/metric"
	"github.com/robotmoney/mcp/shared/platform/table"
	"github.com/robotmoney/mcp/shared/surface/brain"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/mcp"
)

// idle is how long a connection may lie unused before it is not used again: a
// function may have been frozen in between, and the other side gone.
const idle = 20 * time.Second

// recheck is how long a chain endpoint that failed its first check is left
// alone. A node that only hiccuped on a cold start must not shut an agent out
// for long.
const recheck = 2 * time.Second

// wire builds the function out of its parts.
func wire(c config, log *slog.Logger) (*edge.Server, error) {
	now := time.Now
	store, events := clients(c)
	trail := &audit.Trail{Bus: events, Store: store, IDs: id.NewSource(now, rand.Reader), Now: now, Log: log,
		Lost: func() { metric.Count(os.Stdout, now(), c.function, "AuditRefused") }}

	node, err := chain.New(chain.Config{Endpoints: c.rpcURLs, ChainID: c.chainID, Recheck: recheck, Now: now})
	if err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	tokens := &identity.Verifier{
		Issuer: c.issuer, Audience: []string{c.endpointURL, c.origin}, Keys: jwks.New(c.jwksURL, now, log), Now: now,
	}
	limits := &access.Limiter{Counter: &table.Rate{Table: store, Default: access.DefaultRate}, Now: now, Refused: refusals(trail, log)}
	door := access.New(tokens, store, chain.NewRegistry(node, c.registry), limits, log, now)

	offered, err := mount(c.providers, store, now)
	if err != nil {
		return nil, err
	}
	surface, err := mcp.New(offered, trail, log)
	if err != nil {
		return nil, err
	}
	return edge.New(edge.Config{EndpointURL: c.endpointURL, Issuer: c.issuer, Origins: c.origins}, door, surface, now, log)
}

// clients makes the AWS clients. The credentials are in every function's
// environment, so the SDK's chain of other places is not linked at all.
func clients(c config) (*table.Table, *bus.Bus) {
	base := aws.Config{
		Region: c.region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: c.accessKey, SecretAccessKey: c.secretKey, SessionToken: c.sessionToken}, nil
		}),
	}
	client := awshttp.New(idle)
	db := dynamodb.NewFromConfig(base, func(o *dynamodb.Options) {
		o.HTTPClient, o.BaseEndpoint = client, endpoint(c.dynamodbEndpoint)
	})
	events := eventbridge.NewFromConfig(base, func(o *eventbridge.Options) {
		o.HTTPClient, o.BaseEndpoint = client, endpoint(c.eventsEndpoint)
	})
	return &table.Table{API: db, Name: c.table}, &bus.Bus{API: events, Name: c.bus}
}

func endpoint(url string) *string {
	if url == "" {
		return nil
	}
	return &url
}

// mount puts the named providers on a catalogue.
func mount(names []string, store *table.Table, now func() time.Time) (*catalog.Catalog, error) {
	providers := map[string]func() catalog.Provider{
		"brain": func() catalog.Provider {
			return brain.Provider(brain.Sources{
				Ledger: &ledger.Reader{Store: store, Now: now}, Intents: &payments.Reader{Store: store},
				Pages: &wiki.Reader{Store: store}, Proofs: &proof.Reader{Store: store},
			})
		},
	}
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
