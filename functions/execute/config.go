package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/robotmoney/mcp/shared/platform/awsclient"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
	"github.com/robotmoney/mcp/shared/platform/environment"
)

// config is the function's environment, read and checked once.
type config struct {
	aws        awsclient.Account
	table, bus string
	rpcURLs    []string
	chainID    uint64
	registry   chain.Address
	rail       string        // sandbox or bank: of what has no rail of its own
	receipt    time.Duration // how long a bank's receipt may take
	token      chain.Address // zero where payments on the chain go over the usual rail
	// The key of the account that pays tokens: its id in KMS, or the key itself,
	// which is for the local stack only.
	keyID string
	key   *tx.LocalKey
	// keyService is an endpoint in place of KMS; empty on AWS.
	keyService string
}

// The rails that RAIL may name.
const (
	sandbox = "sandbox"
	bank    = "bank"
)

// readConfig reads the environment; a variable that is missing or malformed stops
// the function before it takes a batch. RAIL has no default: a function that
// forgets it must not believe that it pays.
func readConfig(env func(string) string) (config, error) {
	vars := environment.From(env)
	c := config{
		aws: awsclient.Read(vars), table: vars.Need("TABLE_NAME"), bus: vars.Need("BUS_NAME"),
		rpcURLs: environment.List(vars.Need("RPC_URLS")), rail: vars.Need("RAIL"), keyID: vars.Get("RAIL_KEY_ID"), keyService: vars.Get("KMS_ENDPOINT"),
	}
	hours := vars.Need("RECEIPT_HOURS")
	chainID, registry := vars.Need("CHAIN_ID"), vars.Need("REGISTRY_ADDRESS")
	token, key := vars.Get("TOKEN_ADDRESS"), vars.Get("RAIL_KEY")
	if err := vars.Missing(); err != nil {
		return c, err
	}
	if c.rail != sandbox && c.rail != bank {
		return c, fmt.Errorf("RAIL %.40q: want %s or %s", c.rail, sandbox, bank)
	}
	n, err := strconv.ParseUint(hours, 10, 16)
	if err != nil || n == 0 {
		return c, fmt.Errorf("RECEIPT_HOURS %.40q: want a whole number of hours from 1", hours)
	}
	c.receipt = time.Duration(n) * time.Hour
	var failed error
	if c.chainID, err = strconv.ParseUint(chainID, 10, 64); err != nil {
		failed = fmt.Errorf("CHAIN_ID: %w", err)
	}
	if c.registry, err = chain.ParseAddress(registry); err != nil {
		failed = cmp.Or(failed, fmt.Errorf("REGISTRY_ADDRESS: %w", err))
	}
	if failed != nil || token == "" {
		return c, failed
	}
	if c.token, err = chain.ParseAddress(token); err != nil {
		return c, fmt.Errorf("TOKEN_ADDRESS: %w", err)
	}
	if key == "" && c.keyID == "" {
		return c, errors.New("RAIL_KEY_ID is missing: a token is configured and nobody can sign its transfers")
	}
	if key != "" {
		if c.key, err = tx.ParseLocalKey(key); err != nil {
			return c, fmt.Errorf("RAIL_KEY: %w", err)
		}
	}
	return c, nil
}
