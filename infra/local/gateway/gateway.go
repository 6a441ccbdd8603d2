// Package gateway is an API Gateway HTTP API on this machine: one `$default`
// route on the `$default` stage, in front of one function.
//
// A request becomes an event of payload format 2.0, the function's answer
// becomes the response, and what the gateway does on its own account is done
// too: its limits, its error bodies, the headers it renames and the response
// parameter mapping of the template that brings one of them back. It has no
// CORS configuration, so OPTIONS reaches the function.
//
// Behaviour that AWS does not document is marked "observed" where people
// reported it, and "assumed" where this package had to choose.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/robotmoney/mcp/infra/local/lambda"
)

const (
	// MaxBodyBytes is the gateway's limit of a request body.
	MaxBodyBytes = 10 << 20
	// MaxTimeout is the longest an HTTP API waits for its integration.
	MaxTimeout = 30 * time.Second
)

// Invoker runs the function; *lambda.Pool is one.
type Invoker interface {
	Invoke(ctx context.Context, payload []byte) (lambda.Result, error)
}

// Config describes the API: what template.yaml says of it.
type Config struct {
	// Function answers every request.
	Function Invoker
	// ResponseMapping holds, by the status the function answered, the response
	// parameters of the integration as the template writes them, such as
	// 401: {"overwrite:header.WWW-Authenticate": "$response.header.X-RM-Challenge"}.
	ResponseMapping map[int]map[string]string
	// Timeout of the integration; zero means MaxTimeout, more is refused.
	Timeout time.Duration
	// AccountID and APIID appear in the event; empty means 000000000000 and
	// "local".
	AccountID, APIID string
	// Now is the clock of the events; nil means time.Now.
	Now func() time.Time
}

// Gateway is the http.Handler. It keeps no state between requests. Give the
// http.Server around it a ReadHeaderTimeout and a MaxHeaderBytes of 10,240,
// which is what the real gateway takes.
type Gateway struct {
	config  Config
	mapping map[int][]parameter
}

// New checks the configuration, above all the response mapping: a parameter
// that the real gateway would refuse is an error here.
func New(c Config) (*Gateway, error) {
	if c.Function == nil {
		return nil, errors.New("gateway: no function")
	}
	if c.Timeout == 0 {
		c.Timeout = MaxTimeout
	}
	if c.Timeout < 50*time.Millisecond || c.Timeout > MaxTimeout {
		return nil, fmt.Errorf("gateway: timeout %s is outside 50 ms to 30 s", c.Timeout)
	}
	if c.AccountID == "" {
		c.AccountID = "000000000000"
	}
	if c.APIID == "" {
		c.APIID = "local"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	mapping, err := parseMapping(c.ResponseMapping)
	if err != nil {
		return nil, err
	}
	return &Gateway{config: c, mapping: mapping}, nil
}

// ServeHTTP answers one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	requestID := newRequestID()
	w.Header().Set("Apigw-Requestid", requestID)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodyBytes))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			fail(w, http.StatusRequestEntityTooLarge, "Request Entity Too Large")
			return
		}
		fail(w, http.StatusBadRequest, "Bad Request")
		return
	}
	event, err := g.event(r, body, requestID)
	if err != nil {
		fail(w, http.StatusInternalServerError, "Internal Server Error")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), g.config.Timeout)
	defer cancel()
	result, err := g.config.Function.Invoke(ctx, event)
	if err != nil {
		g.failInvoke(w, err)
		return
	}
	if result.FunctionError != "" {
		fail(w, http.StatusInternalServerError, "Internal Server Error")
		return
	}
	answer, err := parseAnswer(result.Payload)
	if err != nil {
		fail(w, http.StatusInternalServerError, "Internal Server Error")
		return
	}
	g.write(w, answer)
}

// failInvoke answers for a function that did not run or did not end in time.
// Observed: an HTTP API says 503 in both cases, unlike a REST API with its 504.
func (g *Gateway) failInvoke(w http.ResponseWriter, err error) {
	var service *lambda.ServiceError
	switch {
	case errors.As(err, &service) && service.Status == http.StatusRequestEntityTooLarge:
		// Assumed: a body under the gateway's limit whose event is over Lambda's.
		fail(w, http.StatusRequestEntityTooLarge, "Request Entity Too Large")
	case lambda.Throttled(err), errors.Is(err, context.DeadlineExceeded), errors.Is(err, lambda.ErrClosed):
		fail(w, http.StatusServiceUnavailable, "Service Unavailable")
	default:
		fail(w, http.StatusInternalServerError, "Internal Server Error")
	}
}

// fail writes the gateway's own error body.
func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"message":%q}`, message)
}
