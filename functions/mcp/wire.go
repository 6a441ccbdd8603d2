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
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/cursor"
	"github.com/robotmoney/mcp/shared/domain/evidence"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/member"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proof"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/wiki"
	"github.com/robotmoney/mcp/shared/edge"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/blob"
	"github.com/robotmoney/mcp/shared/platform/bus"
	"github.com/robotmoney/mcp/shared/platform/chain"
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
	cloud := clients(c)
	trail := &audit.Trail{Bus: cloud.events, Store: cloud.store, IDs: id.NewSource(now, rand.Reader), Now: now, Log: log,
		Lost: func() { metric.Count(os.Stdout, now(), c.function, "AuditRefused") }}

	node, err := chain.New(chain.Config{Endpoints: c.rpcURLs, ChainID: c.chainID, Recheck: recheck, Now: now})
	if err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	tokens := &identity.Verifier{
		Issuer: c.issuer, Audience: []string{c.endpointURL, c.origin}, Keys: jwks.New(c.jwksURL, now, log), Now: now,
	}
	limits := &access.Limiter{Counter: &table.Rate{Table: cloud.store, Default: access.DefaultRate}, Now: now, Refused: refusals(trail, log)}
	door := access.New(tokens, cloud.store, chain.NewRegistry(node, c.registry), limits, log, now)

	offered, err := mount(c.providers, map[string]func() catalog.Provider{
		"brain":  func() catalog.Provider { return company(cloud, trail, now) },
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
	return edge.New(edge.Config{EndpointURL: c.endpointURL, Issuer: c.issuer, Origins: c.origins}, door, surface, now, log)
}

// outside is what the function reaches on AWS.
type outside struct {
	store   *table.Table
	events  *bus.Bus
	blobs   *blob.Bucket
	cursors cursor.Sealer // its key lies in Secrets Manager
}

// clients makes the AWS clients. The credentials are in every function's
// environment, so the SDK's chain of other places is not linked at all.
func clients(c config) outside {
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
	cursors := cursor.Sealer{Key: secret.Fixed([]byte(c.cursorKey))}
	if c.cursorKey == "" {
		keys := secretsmanager.NewFromConfig(base, func(o *secretsmanager.Options) { o.HTTPClient = client })
		cursors.Key = (&secret.Key{API: keys, ARN: c.cursorSecret}).Get
	}
	return outside{
		store: &table.Table{API: db, Name: c.table}, events: &bus.Bus{API: events, Name: c.bus}, cursors: cursors,
		blobs: &blob.Bucket{Name: c.bucket, Region: c.region, Endpoint: c.s3Endpoint, Credentials: base.Credentials, HTTP: client, Now: time.Now},
	}
}

func endpoint(url string) *string {
	if url == "" {
		return nil
	}
	return &url
}

// company is the provider of a company's own data.
func company(cloud outside, trail *audit.Trail, now func() time.Time) catalog.Provider {
	store := cloud.store
	return brain.Provider(brain.Sources{
		Ledger: &ledger.Reader{Store: store, Now: now}, Intents: &payments.Reader{Store: store},
		Pages: &wiki.Reader{Store: store}, Proofs: &proof.Reader{Store: store}, Evidence: &evidence.Resolver{Store: store, Now: now},
		Raw: &raw.Archive{Store: store, Blobs: cloud.blobs, Trail: trail, IDs: trail.IDs, Now: now}, Cursors: cloud.cursors,
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
