// Package client speaks MCP to the endpoint as an agent's program does, one
// request a call, and says exactly what came back.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"
)

// Client speaks for one holder of a credential.
type Client struct {
	URL    string
	Token  string      // empty sends none
	Header http.Header // beside those that every request has
}

// connections are kept, as many as there ever are calls at once; a request waits
// longer than the endpoint's own deadline.
var connections = &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute}}

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
	request.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	maps.Copy(request.Header, c.Header)
	response, err := connections.Do(request)
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
	if err := json.Unmarshal(text, &envelope); err != nil {
		return reply, fmt.Errorf("%s: status %d, and the reply is no JSON: %w", method, reply.Status, err)
	}
	reply.Result, reply.Error = envelope.Result, envelope.Error
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
