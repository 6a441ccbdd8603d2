package main

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/platform/chain"
)

// config is the function's environment, read and checked once.
type config struct {
	region, accessKey, secretKey, sessionToken string

	function, table, bus, bucket     string
	dynamodbEndpoint, eventsEndpoint string // empty on AWS
	s3Endpoint                       string // empty on AWS
	rpcURLs                          []string
	chainID                          uint64
	registry                         chain.Address
	issuer, jwksURL, endpointURL     string
	cursorKey, cursorSecret          string // one of the two; the key itself only in the local stack
	origin                           string // the endpoint's scheme and host
	origins, providers               []string
}

// readConfig reads the environment; a variable that is missing or malformed
// stops the function before it takes a request.
func readConfig(env func(string) string) (config, error) {
	var missing []string
	need := func(name string) string {
		value := env(name)
		if value == "" {
			missing = append(missing, name)
		}
		return value
	}
	c := config{
		region: need("AWS_REGION"), accessKey: need("AWS_ACCESS_KEY_ID"), secretKey: need("AWS_SECRET_ACCESS_KEY"), sessionToken: env("AWS_SESSION_TOKEN"),
		function: env("AWS_LAMBDA_FUNCTION_NAME"), table: need("TABLE_NAME"), bus: need("BUS_NAME"), bucket: need("BLOB_BUCKET"),
		dynamodbEndpoint: env("DYNAMODB_ENDPOINT"), eventsEndpoint: env("EVENTS_ENDPOINT"), s3Endpoint: env("S3_ENDPOINT"),
		rpcURLs:   list(need("RPC_URLS")),
		cursorKey: env("CURSOR_KEY"),
		issuer:    need("ISSUER"), jwksURL: need("JWKS_URL"), endpointURL: need("ENDPOINT_URL"),
		origins: list(env("ALLOWED_ORIGINS")), providers: list(env("PROVIDERS")),
	}
	if c.cursorKey == "" {
		c.cursorSecret = need("CURSOR_KEY_SECRET")
	}
	chainID, registry := need("CHAIN_ID"), need("REGISTRY_ADDRESS")
	if missing != nil {
		return c, fmt.Errorf("missing environment: %s", strings.Join(missing, ", "))
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

// list splits a comma list; an empty text is an empty list.
func list(text string) []string {
	var items []string
	for _, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
