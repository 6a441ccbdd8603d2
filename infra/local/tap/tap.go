// Package tap stands between a function's process and what it calls: the table
// engine, the bus, the store of bytes, a node of the chain. It sees every call, and
// may refuse one, hold it, or lose its reply.
package tap

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Call is what a function asked.
type Call struct {
	Method, Path string
	Header       http.Header
	Body         []byte
}

// Operation is the operation of a call to a service whose protocol names it in
// X-Amz-Target, such as GetItem; empty for others.
func (c Call) Operation() string {
	_, operation, _ := strings.Cut(c.Header.Get("X-Amz-Target"), ".")
	return operation
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Between decides what becomes of a call. pass hands it on, once. An error cuts
// the connection: the caller learns nothing of what happened behind it.
type Between func(ctx context.Context, call Call, pass func() (Answer, error)) (Answer, error)

// Start opens a tap before an address and returns its own. It ends with stop.
func Start(target string, between Between) (address string, stop func(), err error) {
	to, err := url.Parse(target)
	if err != nil {
		return "", nil, fmt.Errorf("tap before %q: %w", target, err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("tap before %s: %w", target, err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}
	t := &tap{target: to, between: between, transport: transport}
	server := &http.Server{Handler: t, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	stop = func() {
		_ = server.Close()
		transport.CloseIdleConnections()
	}
	return "http://" + listener.Addr().String(), stop, nil
}

type tap struct {
	target    *url.URL
	between   Between
	transport *http.Transport
}

// ServeHTTP takes one call.
func (t *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the caller is gone
	}
	call := Call{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header, Body: body}
	answer, err := t.between(r.Context(), call, func() (Answer, error) { return t.pass(r, body) })
	if err != nil {
		panic(http.ErrAbortHandler) // the way net/http has to cut a connection
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body)
}

// pass hands a call on. The caller's host stays: requests to the store of bytes
// are signed with it.
func (t *tap) pass(r *http.Request, body []byte) (Answer, error) {
	// A call that was handed on is done, whether or not its caller waits.
	out := r.Clone(context.WithoutCancel(r.Context()))
	out.URL.Scheme, out.URL.Host, out.RequestURI = t.target.Scheme, t.target.Host, ""
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response, err := t.transport.RoundTrip(out)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	reply, err := io.ReadAll(response.Body)
	return Answer{Status: response.StatusCode, Header: response.Header, Body: reply}, err
}
