package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/robotmoney/mcp/functions/anchor/contract"
	"github.com/robotmoney/mcp/shared/domain/anchor"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
	"github.com/robotmoney/mcp/shared/platform/clock"
	"github.com/robotmoney/mcp/shared/platform/kms"
	"github.com/robotmoney/mcp/shared/platform/metric"
)

const (
	// rpcTimeout bounds one attempt on one endpoint: nobody waits for an answer
	// of ours, so a slow node is no reason to give up.
	rpcTimeout = 10 * time.Second
	// poll and patience are for receipts: a block comes every twelve seconds. One
	// that does not come in time is the next round's.
	poll     = time.Second
	patience = 60 * time.Second
	// idle is how long a connection may lie unused before it is not used again.
	idle = 20 * time.Second
)

// wire builds the function out of its parts. Metrics are lines of out.
func wire(c config, log *slog.Logger, out io.Writer) (*round, error) {
	client, err := chain.New(chain.Config{Endpoints: c.rpcURLs, ChainID: c.chainID, Timeout: rpcTimeout, Now: clock.Now})
	if err != nil {
		return nil, err
	}
	signer, err := publisher(c)
	if err != nil {
		return nil, err
	}
	store := c.aws.Clients().Table(c.table)
	return &round{
		anchor: &anchor.Anchor{
			Store: store, Journal: &journal.Journal{Store: store}, Now: clock.Now, Log: log,
			Chain: contract.New(contract.Config{Client: client, Contract: c.contract, Signer: signer, Poll: poll, Patience: patience}),
		},
		meter: metric.Meter{Out: out, Now: clock.Now, Function: c.aws.Function}, now: clock.Now, log: log,
	}, nil
}

// publisher opens the publisher's key when it is first needed, and keeps it.
func publisher(c config) (func(context.Context) (tx.Signer, error), error) {
	if c.publisherKey != "" {
		local, err := tx.ParseLocalKey(c.publisherKey)
		return func(context.Context) (tx.Signer, error) { return local, nil }, err
	}
	service := &kms.Service{
		Region: c.aws.Region, Endpoint: c.keyServiceEndpoint, HTTP: awshttp.New(idle), Now: clock.Now,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: c.aws.AccessKey, SecretAccessKey: c.aws.SecretKey, SessionToken: c.aws.SessionToken}, nil
		}),
	}
	var opened tx.Signer // rounds do not overlap in one process
	return func(ctx context.Context) (tx.Signer, error) {
		if opened != nil {
			return opened, nil
		}
		signer, err := service.Open(ctx, c.publisherKeyID)
		if err != nil {
			return nil, err
		}
		opened = signer
		return opened, nil
	}, nil
}
