package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/roster"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/blob"
	"github.com/robotmoney/mcp/shared/platform/bus"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// target is the system a command acts on.
type target struct {
	store    *table.Table
	roster   *roster.Roster
	trail    *audit.Trail
	policies *charter.Register
	desk     *proposals.Desk
	archive  *raw.Archive
	registry *chain.Registry
	contract chain.Address
	client   *chain.Client
	local    bool
	env      func(string) string
}

// connect finds the system: the one the environment names, else the local
// stack of this folder.
func (c *call) connect(ctx context.Context) (*target, error) {
	stack := stackfile.Stack{
		RPCURL: c.env("RPC_URLS"), Registry: c.env("REGISTRY_ADDRESS"),
		Table: c.env("TABLE_NAME"), Bus: c.env("BUS_NAME"), DynamoDBEndpoint: c.env("DYNAMODB_ENDPOINT"), EventsEndpoint: c.env("EVENTS_ENDPOINT"),
		Bucket: c.env("BLOB_BUCKET"), S3Endpoint: c.env("S3_ENDPOINT"),
	}
	local := stack.Table == ""
	cloud := stackfile.AWS()
	var err error
	if local {
		stack, err = stackfile.Read(".")
	} else if cloud, err = config.LoadDefaultConfig(ctx); err == nil {
		stack.ChainID, err = strconv.ParseUint(c.env("CHAIN_ID"), 10, 64)
	}
	if err != nil {
		return nil, err
	}
	t := &target{local: local, env: c.env}
	if t.contract, err = chain.ParseAddress(stack.Registry); err != nil {
		return nil, fmt.Errorf("registry address: %w", err)
	}
	if t.client, err = dial(stack); err != nil {
		return nil, err
	}
	t.registry = chain.NewRegistry(t.client, t.contract)
	client := awshttp.New(time.Minute)
	store := &table.Table{Name: stack.Table, API: dynamodb.NewFromConfig(cloud, func(o *dynamodb.Options) {
		o.HTTPClient, o.BaseEndpoint = client, optional(stack.DynamoDBEndpoint)
	})}
	events := &bus.Bus{Name: stack.Bus, API: eventbridge.NewFromConfig(cloud, func(o *eventbridge.Options) {
		o.HTTPClient, o.BaseEndpoint = client, optional(stack.EventsEndpoint)
	})}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	trail := &audit.Trail{Bus: events, Store: store, IDs: id.NewSource(time.Now, rand.Reader), Now: time.Now, Log: log}
	t.store = store
	t.roster, t.trail = &roster.Roster{Store: store, Trail: trail}, trail
	t.policies = &charter.Register{
		Store: store, Trail: trail, Chain: tx.PolicySigners{Registry: t.registry}, Domain: charter.Domain{ChainID: stack.ChainID, Registry: t.contract},
	}
	t.archive = &raw.Archive{Store: store, Trail: trail, IDs: trail.IDs, Now: time.Now, Blobs: &blob.Bucket{
		Name: stack.Bucket, Region: cloud.Region, Endpoint: stack.S3Endpoint, Credentials: cloud.Credentials, HTTP: client, Now: time.Now, Timeout: time.Minute,
	}}
	t.desk = &proposals.Desk{Store: store, Policies: t.policies, Trail: trail, IDs: trail.IDs, Now: time.Now}
	return t, nil
}

// dial reaches the chain. An operator's command may wait longer for a slow node
// than a request may.
func dial(stack stackfile.Stack) (*chain.Client, error) {
	return chain.New(chain.Config{Endpoints: strings.Split(stack.RPCURL, ","), ChainID: stack.ChainID, Timeout: 10 * time.Second, Now: time.Now})
}

func optional(url string) *string {
	if url == "" {
		return nil
	}
	return &url
}

// admin changes the registry as a tenant's signer.
func (t *target) admin(tenant string) (*tx.RegistryAdmin, error) {
	sender, err := t.sender()
	if err != nil {
		return nil, err
	}
	signer, err := t.key("ROBOTMONEY_SIGNER_KEY", stackfile.SignerKey(tenant))
	if err != nil {
		return nil, err
	}
	return tx.NewRegistryAdmin(sender, t.contract, signer), nil
}

// sender pays for what is written on the chain.
func (t *target) sender() (*tx.Transactor, error) {
	key, err := t.key("ROBOTMONEY_SENDER_KEY", stackfile.DeployerKey)
	if err != nil {
		return nil, err
	}
	return tx.NewTransactor(tx.Config{Client: t.client, Signer: key, Poll: 250 * time.Millisecond})
}

// key reads a private key from the environment; the local stack has its own.
func (t *target) key(name, local string) (*tx.LocalKey, error) {
	text := t.env(name)
	if text == "" && t.local {
		text = local
	}
	if text == "" {
		return nil, fmt.Errorf("set %s to a private key: what is written on the chain is signed with it", name)
	}
	key, err := tx.ParseLocalKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return key, nil
}
