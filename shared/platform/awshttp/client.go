// Package awshttp is the HTTP client the AWS clients use.
package awshttp

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// New returns a client whose requests carry a body that is in memory and can be
// sent again. The SDK's own body is closed as soon as it has been read; on a
// fast endpoint the transport then drops a connection whose reply is on its way,
// and the SDK's retry applies a write twice without an error.
//
// Give it to each service client by its own option: set for the whole
// configuration it fails where AWS_CA_BUNDLE is set.
//
// idle bounds how long a connection may lie unused: a frozen function's is dead
// when it thaws.
func New(idle time.Duration) *Client {
	return &Client{next: awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.IdleConnTimeout = idle
		t.MaxIdleConnsPerHost = 64
	}).WithDialerOptions(func(d *net.Dialer) { d.Timeout = 2 * time.Second })}
}

// Client sends requests with buffered bodies.
type Client struct{ next *awshttp.BuildableClient }

// Do sends one request.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil && req.Body != http.NoBody {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, fmt.Errorf("buffer request body: %w", err)
		}
		_ = req.Body.Close()
		buffered := func() (io.ReadCloser, error) {
			if len(body) == 0 {
				return http.NoBody, nil // another empty body would be sent in chunks
			}
			return io.NopCloser(bytes.NewReader(body)), nil
		}
		req.ContentLength, req.GetBody = int64(len(body)), buffered
		req.Body, _ = buffered()
	}
	return c.next.Do(req)
}
