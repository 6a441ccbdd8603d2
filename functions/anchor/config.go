package main

import (
	"fmt"
	"strconv"

	"github.com/robotmoney/mcp/shared/platform/awsclient"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/environment"
)

// config is the function's environment, read and checked once.
type config struct {
	aws                awsclient.Account
	table              string
	rpcURLs            []string
	chainID            uint64
	contract           chain.Address
	publisherKeyID     string // of the publisher's key in KMS
	publisherKey       string // or the key itself: only in the local stack
	keyServiceEndpoint string // in place of KMS; empty on AWS
}

// readConfig reads the environment; a variable that is missing or malformed
// stops the function before it does anything.
func readConfig(env func(string) string) (config, error) {
	vars := environment.From(env)
	c := config{
		aws: awsclient.Read(vars), table: vars.Need("TABLE_NAME"), rpcURLs: environment.List(vars.Need("RPC_URLS")),
		publisherKey: vars.Get("PUBLISHER_KEY"), keyServiceEndpoint: vars.Get("KMS_ENDPOINT"),
	}
	if c.publisherKey == "" {
		c.publisherKeyID = vars.Need("PUBLISHER_KEY_ID")
	}
	chainID, contract := vars.Need("CHAIN_ID"), vars.Need("ANCHOR_ADDRESS")
	if err := vars.Missing(); err != nil {
		return c, err
	}
	var err error
	if c.chainID, err = strconv.ParseUint(chainID, 10, 64); err != nil {
		return c, fmt.Errorf("CHAIN_ID: %w", err)
	}
	if c.contract, err = chain.ParseAddress(contract); err != nil {
		return c, fmt.Errorf("ANCHOR_ADDRESS: %w", err)
	}
	return c, nil
}
