package dispatch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// arguments and answer are the tool's for the SDK, which makes schemas of them
// and holds every call against those.
type arguments struct {
	Text  string   `json:"text" jsonschema:"What is repeated."`
	Count int      `json:"count,omitempty" jsonschema:"How often it was meant."`
	Tags  []string `json:"tags,omitempty" jsonschema:"Words that go with it."`
}

type answer struct {
	Text  string   `json:"text" jsonschema:"What is repeated."`
	Count int      `json:"count" jsonschema:"How often it was meant."`
	Tags  []string `json:"tags" jsonschema:"Words that go with it."`
}

// SDK is the MCP Go SDK's server over the same catalogue: stateless, answering
// in JSON, called in process.
type SDK struct{ handler http.Handler }

// NewSDK makes the SDK's side.
func NewSDK() *SDK {
	server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	for n := range Tools {
		mcp.AddTool(server, &mcp.Tool{Name: ToolName(n), Description: description},
			func(_ context.Context, _ *mcp.CallToolRequest, in arguments) (*mcp.CallToolResult, answer, error) {
				return nil, answer(in), nil // the SDK writes the text block of it
			})
	}
	return &SDK{mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, Logger: slog.New(slog.DiscardHandler)})}
}

// Serve answers one request. The request and the writer around it are as cheap
// as they can be: what is measured is the SDK's.
func (s *SDK) Serve(r Request) ([]byte, error) {
	req, err := http.NewRequest(http.MethodPost, "http://mcp.example/mcp", io.NopCloser(strings.NewReader(r.Body)))
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(len(r.Body))
	r.Headers(req.Header, "")
	w := writer{header: http.Header{}}
	s.handler.ServeHTTP(&w, req)
	if w.status != http.StatusOK && w.status != 0 {
		return nil, fmt.Errorf("status %d: %s", w.status, w.body.Bytes())
	}
	return w.body.Bytes(), nil
}

// writer is a http.ResponseWriter that keeps what is written.
type writer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *writer) Header() http.Header         { return w.header }
func (w *writer) WriteHeader(status int)      { w.status = status }
func (w *writer) Write(p []byte) (int, error) { return w.body.Write(p) }
