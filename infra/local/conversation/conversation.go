// Package conversation replays recorded HTTP conversations against a server, for
// tests. With -update it records anew what the server answers.
package conversation

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden conversations with what the server answers")

// shown are the headers of a reply that a conversation keeps.
var shown = []string{"Content-Type", "Www-Authenticate", "Allow", "Retry-After", "Access-Control-Allow-Origin"}

// Server is who is talked to.
type Server struct {
	// Send answers a request, whose URL has a path and no host. It may replace
	// what stands for a secret in its headers.
	Send func(*http.Request) (*http.Response, error)
	// Steady replaces what differs from run to run in the text of a reply.
	Steady func([]byte) []byte
}

// Replay sends the requests of a file in turn and holds the replies against the
// recorded ones. The file is a txtar archive of requests and replies: a request
// is an HTTP request without Host and Content-Length; a reply is the status, the
// headers that matter and the JSON body, indented.
func Replay(t *testing.T, file string, server Server) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Files) == 0 || len(archive.Files)%2 != 0 {
		t.Fatalf("%s: %d parts, want requests and replies in pairs", file, len(archive.Files))
	}
	for i := 0; i < len(archive.Files); i += 2 {
		request, reply := archive.Files[i], &archive.Files[i+1]
		got, err := server.exchange(request.Data)
		if err != nil {
			t.Fatalf("%s: %v", request.Name, err)
		}
		if *update {
			reply.Data = got
			continue
		}
		if !bytes.Equal(got, reply.Data) {
			t.Errorf("%s: got\n%s\nwant\n%s", request.Name, got, reply.Data)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// exchange sends one request and writes its reply as a file keeps it.
func (s Server) exchange(text []byte) ([]byte, error) {
	head, body, _ := bytes.Cut(text, []byte("\n\n"))
	req, err := http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(head), strings.NewReader("\r\nHost: x\r\n\r\n"))))
	if err != nil {
		return nil, fmt.Errorf("read request: %w\n%s", err, head)
	}
	body = bytes.TrimSpace(body)
	req.RequestURI, req.Host = "", ""
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	res, err := s.Send(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("read reply: %w", err)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%d\n", res.StatusCode)
	for _, name := range shown {
		if value := res.Header.Get(name); value != "" {
			fmt.Fprintf(&out, "%s: %s\n", name, value)
		}
	}
	out.WriteByte('\n')
	if len(raw) > 0 {
		if json.Indent(&out, raw, "", "  ") != nil {
			out.Write(raw)
		}
		out.WriteByte('\n')
	}
	return s.Steady(out.Bytes()), nil
}
