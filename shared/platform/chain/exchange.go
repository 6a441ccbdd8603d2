package chain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// maxReply bounds a reply in bytes. The largest we ask for, a receipt, is a few
// KiB; a server that sends more fills our memory, not our need.
const maxReply = 1 << 20

// maxMessage bounds what is kept of a server's error text, in bytes.
const maxMessage = 256

// RPCError is the error a JSON-RPC server answered with. Message is shortened
// and free of the endpoint's keys; Data is as sent, or nil.
type RPCError struct {
	Code    int
	Message string
	Data    json.RawMessage
}

// Error quotes the server's message.
func (e *RPCError) Error() string { return fmt.Sprintf("JSON-RPC error %d: %q", e.Code, e.Message) }

type request struct {
	Version string `json:"jsonrpc"`
	ID      uint64 `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// exchange is one request and its reply on one endpoint. Its errors hold no URL.
func (c *Client) exchange(ctx context.Context, e *endpoint, method string, params []any) (json.RawMessage, error) {
	if params == nil {
		params = []any{}
	}
	id := c.requests.Add(1)
	body, err := json.Marshal(request{"2.0", id, method, params})
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	e.wake(c.now())
	defer func() { e.rest(c.now()) }()
	answer, err := e.post(ctx, body)
	if err != nil {
		return nil, err
	}
	return e.read(answer, id)
}

// post sends body and returns the bounded body of a 200 answer.
func (e *endpoint) post(ctx context.Context, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("make the request: the URL is not valid")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	// Present and nil: net/http sends no such header, and may send the request
	// again when a kept connection turns out dead. Reads are safe to repeat, and
	// so is a signed transaction: the chain takes its nonce once.
	req.Header["X-Idempotency-Key"] = nil
	resp, err := e.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("send: %w", withoutURL(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("HTTP status %d", resp.StatusCode)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	if err != nil {
		return nil, fmt.Errorf("receive: %w", withoutURL(err))
	}
	if len(answer) > maxReply {
		return nil, fmt.Errorf("the reply is longer than %d bytes", maxReply)
	}
	return answer, nil
}

// withoutURL unwraps the error that net/http puts the whole URL into.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// read takes the reply apart. It must be ours (the id); a result beside an error
// counts for nothing.
func (e *endpoint) read(answer []byte, id uint64) (json.RawMessage, error) {
	var r reply
	if err := json.Unmarshal(answer, &r); err != nil {
		return nil, errors.New("the reply is not a JSON-RPC object")
	}
	if r.Version != "2.0" || string(r.ID) != strconv.FormatUint(id, 10) {
		return nil, errors.New("the reply is not JSON-RPC 2.0 for this request")
	}
	switch {
	case len(r.Error) > 0 && string(r.Error) != "null":
		return nil, e.rpcError(r.Error)
	case len(r.Result) == 0:
		return nil, errors.New("the reply has neither a result nor an error")
	}
	return r.Result, nil
}

func (e *endpoint) rpcError(raw json.RawMessage) error {
	var answered struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &answered); err != nil {
		return errors.New("the reply's error is not a JSON-RPC error")
	}
	message := e.redact(answered.Message)
	if len(message) > maxMessage {
		message = message[:maxMessage]
	}
	return &RPCError{Code: answered.Code, Message: message, Data: answered.Data}
}
