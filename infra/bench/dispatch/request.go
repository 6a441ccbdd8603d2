// Package dispatch holds the same small catalogue on our dispatcher and on the
// MCP Go SDK, and the requests both are measured with.
package dispatch

import (
	"fmt"
	"net/http"

	"github.com/robotmoney/mcp/shared/surface/mcp"
)

// Tools is how many tools the catalogue has, about as many as the surface will.
const Tools = 20

const description = "Repeats what it is given: a tool as small as a tool can be."

// ToolName names the nth tool.
func ToolName(n int) string { return fmt.Sprintf("bench.echo_%02d", n) }

// Request is a modern request: a JSON-RPC message and the headers that repeat
// what is in it.
type Request struct{ Method, Name, Body string }

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + mcp.ModernVersion + `",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// Call calls a tool in the middle of the catalogue.
var Call = Request{Method: "tools/call", Name: ToolName(Tools / 2), Body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + ToolName(Tools/2) +
	`","arguments":{"text":"a few words to repeat","count":3,"tags":["one","two"]},` + meta + `}}`}

// List lists the tools.
var List = Request{Method: "tools/list", Body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`}

// Read reads a resource.
func Read(uri string) Request {
	return Request{Method: "resources/read", Name: uri, Body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + uri + `",` + meta + `}}`}
}

// Headers sets the headers of the request, as a client sends them.
func (r Request) Headers(h http.Header, token string) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	if r.Method == "" { // an older version, which names nothing in headers
		h.Set("Mcp-Protocol-Version", "2025-11-25")
	} else {
		h.Set("Mcp-Protocol-Version", mcp.ModernVersion)
		h.Set("Mcp-Method", r.Method)
	}
	if r.Name != "" {
		h.Set("Mcp-Name", r.Name)
	}
	if token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
}

// Legacy reads a resource in the way of the older protocol versions.
func Legacy(uri string) Request {
	return Request{Body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + uri + `"}}`}
}
