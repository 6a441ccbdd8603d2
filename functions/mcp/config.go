package main

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/robotmoney/mcp/shared/platform/awsclient"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/environment"
)

// config is the function's environment, read and checked once.
type config struct {
	aws                          awsclient.Account
	table, bus, bucket           string
	rpcURLs                      []string
	chainID                      uint64
	registry                     chain.Address
	issuer, jwksURL, endpointURL string
	cursorKey, cursorSecret      string // one of the two; the key itself only in the local stack
	origin                       string // the endpoint's scheme and host
	origins, providers           []string
	model                        string // a Bedrock model that plans questions; empty is the rules alone
}

// readConfig reads the environment; a variable that is missing or malformed
// stops the function before it takes a request.
func readConfig(env func(string) string) (config, error) {
	vars := environment.From(env)
	c := config{
		aws:   awsclient.Read(vars),
		table: vars.Need("TABLE_NAME"), bus: vars.Need("BUS_NAME"), bucket: vars.Need("BLOB_BUCKET"),
		rpcURLs:   environment.List(vars.Need("RPC_URLS")),
		cursorKey: vars.Get("CURSOR_KEY"),
		model:     vars.Get("BEDROCK_MODEL_ID"),
		issuer:    vars.Need("ISSUER"), jwksURL: vars.Need("JWKS_URL"), endpointURL: vars.Need("ENDPOINT_URL"),
		origins: environment.List(vars.Get("ALLOWED_ORIGINS")), providers: environment.List(vars.Get("PROVIDERS")),
	}
	if c.cursorKey == "" {
		c.cursorSecret = vars.Need("CURSOR_KEY_SECRET")
	}
	chainID, registry := vars.Need("CHAIN_ID"), vars.Need("REGISTRY_ADDRESS")
	if err := vars.Missing(); err != nil {
		return c, err
	}
	var err error
	if c.chainID, err = strconv.ParseUint(chainID, 10, 64); err != nil {
		return c, fmt.Errorf("CHAIN_ID: %w", err)
	}
	if c.registry, err = chain.ParseAddress(registry); err != nil {
		return c, fmt.Errorf("REGISTRY_ADDRESS: %w", err)
	}
	endpoint, err := url.Parse(c.endpointURL)
	if err != nil {
		return c, fmt.Errorf("ENDPOINT_URL: %w", err)
	}
	c.origin = endpoint.Scheme + "://" + endpoint.Host
	if c.providers == nil {
		c.providers = []string{"brain"}
	}
	return c, nil
}
