package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// silence is how long a connection may lie unused. A frozen function's peers
// have hung up long before it thaws, and a request sent into a dead connection
// costs the whole attempt.
const silence = 20 * time.Second

// endpoint is one JSON-RPC server and what this process knows of it.
type endpoint struct {
	url     string
	name    string   // index and host: all that may be printed
	secrets []string // parts of the URL that a server may echo and a log must not hold
	http    *http.Client

	believed atomic.Bool   // it has named the right chain once
	turn     chan struct{} // holds one token while the chain id is asked; guards the next two
	checked  time.Time     // when the check last failed
	refused  error         // why, nil before the first check

	mu    sync.Mutex
	heard time.Time // last use, wall clock
}

func newEndpoint(index int, address string, timeout time.Duration) (*endpoint, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The parser's own error quotes the URL, which may hold a key.
		return nil, fmt.Errorf("endpoint %d: want an http or https URL with a host", index)
	}
	return &endpoint{
		url:     address,
		name:    fmt.Sprintf("endpoint %d (%s)", index, u.Hostname()),
		secrets: secretsOf(u),
		http:    newHTTPClient(timeout),
		turn:    make(chan struct{}, 1),
	}, nil
}

// secretsOf lists what providers put keys into: user info, path segments and
// query values. Short ones ("v3", "rpc") are no keys and would maim messages.
func secretsOf(u *url.URL) []string {
	parts := strings.FieldsFunc(u.EscapedPath(), func(r rune) bool { return r == '/' })
	parts = append(parts, strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' })...)
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	parts = append(parts, u.User.Username())
	if password, ok := u.User.Password(); ok {
		parts = append(parts, password)
	}
	var secrets []string
	for _, part := range parts {
		if len(part) >= 8 {
			secrets = append(secrets, part)
		}
	}
	return secrets
}

// redact takes the endpoint's secrets out of a text that the server wrote.
func (e *endpoint) redact(text string) string {
	for _, secret := range e.secrets {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}

// newHTTPClient has a transport of its own for each endpoint, so that dropping
// the idle connections of one leaves the others alone. It speaks HTTP/1.1 only:
// there a dead idle connection is noticed and replaced, while a dead HTTP/2
// connection swallows requests until a ping timer that a freeze stops too.
// Proxies of the environment are not used.
func newHTTPClient(timeout time.Duration) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: timeout}).DialContext,
			TLSHandshakeTimeout:    timeout,
			MaxIdleConnsPerHost:    8,
			IdleConnTimeout:        silence,
			MaxResponseHeaderBytes: 64 << 10,
			DisableCompression:     true, // the bound on a reply is a bound on what arrives
			Protocols:              protocols,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// wake drops idle connections after a silence. The monotonic clock may stand
// still while a function is frozen, so the wall clock is compared; one that went
// backwards tells nothing about the silence and counts as a long one.
func (e *endpoint) wake(now time.Time) {
	now = now.Round(0)
	e.mu.Lock()
	quiet := now.Sub(e.heard)
	e.heard = now
	e.mu.Unlock()
	if quiet > silence || quiet < 0 {
		e.http.CloseIdleConnections()
	}
}

// rest notes the end of an exchange, from which silence counts.
func (e *endpoint) rest(now time.Time) {
	e.mu.Lock()
	e.heard = now.Round(0)
	e.mu.Unlock()
}

// believe makes sure, once a process, that the endpoint serves our chain. An
// answer of another chain is well formed and wrong, so nothing else is asked
// before. caller is the context of the read, limited the one of this attempt:
// a caller that gives up says nothing about the endpoint.
func (c *Client) believe(caller, limited context.Context, e *endpoint) error {
	if e.believed.Load() {
		return nil
	}
	select {
	case e.turn <- struct{}{}:
	case <-limited.Done():
		return fmt.Errorf("wait for the chain id check: %w", limited.Err())
	}
	defer func() { <-e.turn }()
	if e.believed.Load() {
		return nil
	}
	if err := limited.Err(); err != nil {
		return fmt.Errorf("wait for the chain id check: %w", err)
	}
	if age := c.now().Round(0).Sub(e.checked); e.refused != nil && age >= 0 && age < c.recheck {
		return fmt.Errorf("not asked again yet: %w", e.refused)
	}
	err := c.checkChain(limited, e)
	switch {
	case err == nil:
		e.refused = nil
		e.believed.Store(true)
	case caller.Err() == nil:
		e.refused, e.checked = err, c.now().Round(0)
	}
	return err
}

// checkChain asks for the chain id.
func (c *Client) checkChain(ctx context.Context, e *endpoint) error {
	result, err := c.exchange(ctx, e, "eth_chainId", nil)
	if err != nil {
		return fmt.Errorf("check the chain id: %w", err)
	}
	var text string
	if err := json.Unmarshal(result, &text); err != nil {
		return errors.New("check the chain id: not a string")
	}
	id, err := ParseQuantity(text)
	if err != nil {
		return fmt.Errorf("check the chain id: %w", err)
	}
	if id != c.chainID {
		return fmt.Errorf("check the chain id: it serves chain %d, not %d", id, c.chainID)
	}
	return nil
}
