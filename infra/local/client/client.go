// Package client speaks MCP to the endpoint as an agent's program does, one
// request a call, and says exactly what came back.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Client speaks for one holder of a token.
type Client struct {
	URL   string
	Token string
	HTTP  *http.Client // http.DefaultClient when nil
}

// Reply is an answer of the endpoint, refusals among them.
type Reply struct {
	Status int
	Header http.Header
	Result json.RawMessage
	Error  *Error
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int
	Message string
	Data    struct {
		Code string // stable
	}
}

// Refusal is the stable code of a reply that is an error, empty for one that is
// none.
func (r Reply) Refusal() string {
	switch {
	case r.Error == nil && r.Status < 300:
		return ""
	case r.Error == nil || r.Error.Data.Code == "":
		return fmt.Sprintf("http_%d", r.Status)
	}
	return r.Error.Data.Code
}

// Tool is what a tool answered.
type Tool struct {
	IsError    bool
	Content    []struct{ Type, Text string }
	Structured json.RawMessage `json:"structuredContent"`
}

// Text is the first block.
func (t Tool) Text() string {
	if len(t.Content) == 0 {
		return ""
	}
	return t.Content[0].Text
}

// Call makes a request. An error means that no whole reply came, and says nothing
// of what became of the request.
func (c Client) Call(ctx context.Context, method string, params any) (Reply, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return Reply{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "Authorization": {"Bearer " + c.Token}}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return Reply{}, fmt.Errorf("%s: %w", method, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return Reply{}, fmt.Errorf("%s: %w", method, err)
	}
	reply := Reply{Status: response.StatusCode, Header: response.Header}
	var envelope struct {
		Result json.RawMessage
		Error  *Error
	}
	if json.Unmarshal(text, &envelope) == nil {
		reply.Result, reply.Error = envelope.Result, envelope.Error
	}
	return reply, nil
}

// Use calls a tool. A call that is refused before the tool sees it has a reply and
// no answer of the tool.
func (c Client) Use(ctx context.Context, name string, arguments any) (Reply, Tool, error) {
	reply, err := c.Call(ctx, "tools/call", map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		return reply, Tool{}, fmt.Errorf("%s: %w", name, err)
	}
	var tool Tool
	if reply.Result != nil {
		if err := json.Unmarshal(reply.Result, &tool); err != nil {
			return reply, tool, fmt.Errorf("%s: read the result: %w", name, err)
		}
	}
	return reply, tool, nil
}

// Connections are kept ones, enough for so many requests at once.
func Connections(n int) *http.Client {
	return &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: n, IdleConnTimeout: time.Minute}}
}
