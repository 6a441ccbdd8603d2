// Package chain reads an Ethereum chain over JSON-RPC with nothing but the
// standard library and Keccak: several endpoints in order, none of them trusted
// further than its answer can be checked. It holds no key and signs nothing;
// package tx writes.
package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
)

// The defaults of Config.
const (
	DefaultTimeout = 800 * time.Millisecond // two endpoints that hang must leave a request time to be refused
	DefaultRecheck = 60 * time.Second
)

// Config says which chain is read and through whom.
type Config struct {
	Endpoints []string         // http or https URLs, tried in this order; they may hold keys and are never printed
	ChainID   uint64           // what eth_chainId must answer before an endpoint is believed
	Timeout   time.Duration    // for one attempt on one endpoint, all its exchanges together; 0 means DefaultTimeout
	Recheck   time.Duration    // how long an endpoint that failed its chain id check is left alone; 0 means DefaultRecheck
	Now       func() time.Time // the wall clock
}

// Client asks the endpoints of one chain. It is safe for concurrent use and
// starts no goroutine of its own, so a frozen process loses nothing.
type Client struct {
	endpoints []*endpoint
	chainID   uint64
	timeout   time.Duration
	recheck   time.Duration
	now       func() time.Time
	requests  atomic.Uint64
}

// New makes a client. It makes no connection: a chain that is down must not
// keep a function from starting. Its errors name an endpoint by its index.
func New(config Config) (*Client, error) {
	if len(config.Endpoints) == 0 {
		return nil, errors.New("chain client: no endpoint")
	}
	if config.ChainID == 0 {
		return nil, errors.New("chain client: chain id 0")
	}
	if config.Now == nil {
		return nil, errors.New("chain client: no clock")
	}
	c := &Client{
		chainID: config.ChainID,
		timeout: orDefault(config.Timeout, DefaultTimeout),
		recheck: orDefault(config.Recheck, DefaultRecheck),
		now:     config.Now,
	}
	for i, address := range config.Endpoints {
		e, err := newEndpoint(i, address, c.timeout)
		if err != nil {
			return nil, fmt.Errorf("chain client: %w", err)
		}
		c.endpoints = append(c.endpoints, e)
	}
	return c, nil
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// ChainID is the chain every believed endpoint has confirmed to serve.
func (c *Client) ChainID() uint64 { return c.chainID }

// Accept judges a result. Its error means that this endpoint's answer is not
// believable, and the next endpoint is asked.
type Accept func(result json.RawMessage) error

// Read asks the endpoints in order until accept takes the result of one. A
// JSON-RPC error of one endpoint counts as a failure like a lost connection.
//
// When none is left the error has the code onchain_unavailable, and its cause
// holds the failure of each endpoint: errors.As finds the first *RPCError and
// errors.Is the end of ctx.
func (c *Client) Read(ctx context.Context, accept Accept, method string, params ...any) error {
	var failures []error
	for _, e := range c.endpoints {
		err := c.attempt(ctx, e, accept, method, params)
		if err == nil {
			return nil
		}
		failures = append(failures, fmt.Errorf("%s: %s: %w", e.name, method, err))
		if ctx.Err() != nil {
			break
		}
	}
	return fault.Because(errors.Join(failures...), fault.OnchainUnavailable,
		"The chain could not be read: no endpoint gave an answer that can be believed, and none is guessed. Try again in a few seconds.")
}

// attempt is everything that is done with one endpoint for one read.
func (c *Client) attempt(ctx context.Context, e *endpoint, accept Accept, method string, params []any) error {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if err := c.believe(ctx, limited, e); err != nil {
		return err
	}
	result, err := c.exchange(limited, e, method, params)
	if err != nil {
		return err
	}
	return accept(result)
}

// Call is an eth_call of a contract at the latest block. accept judges the
// returned bytes as Accept does: an address without code returns none, without
// any error, so it must insist on the length it expects.
func (c *Client) Call(ctx context.Context, to Address, data []byte, accept func(returned []byte) error) error {
	judge := func(result json.RawMessage) error {
		returned, err := ParseData(result)
		if err != nil {
			return err
		}
		return accept(returned)
	}
	call := map[string]string{"to": to.String(), "data": FormatData(data)}
	err := c.Read(ctx, judge, "eth_call", call, "latest")
	// A node that keeps no old states refuses a call of the latest block when the
	// next one comes in between. Asked once more, it answers.
	var answered *RPCError
	if errors.As(err, &answered) && answered.Code != reverted {
		return c.Read(ctx, judge, "eth_call", call, "latest")
	}
	return err
}

// reverted is the code of a call that the contract refused: it would again.
const reverted = 3
