package stack_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden conversations with what the server answers")

// A conversation is a txtar archive of requests and replies in turn. A request
// is an HTTP request without Host and Content-Length; `Authorization: Bearer
// NAME` names a token of the stack. A reply is the status, the headers that
// matter and the JSON body, with what differs from run to run replaced.
func TestGoldenConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { replay(t, file) })
	}
}

func replay(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		request, reply := archive.Files[i], &archive.Files[i+1]
		got := exchange(t, request.Data)
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

// shown are the headers of a reply that a conversation keeps.
var shown = []string{"Content-Type", "Www-Authenticate", "Allow", "Retry-After", "Access-Control-Allow-Origin"}

func exchange(t *testing.T, text []byte) []byte {
	t.Helper()
	head, body, _ := bytes.Cut(text, []byte("\n\n"))
	parsed, err := http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(head), strings.NewReader("\r\nHost: x\r\n\r\n"))))
	if err != nil {
		t.Fatalf("request: %v\n%s", err, head)
	}
	req, err := http.NewRequestWithContext(t.Context(), parsed.Method, origin(running.File().MCPURL)+parsed.URL.String(), bytes.NewReader(bytes.TrimSpace(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = parsed.Header
	if name, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
		if token := running.File().Tokens[name]; token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
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
	return steady(out.Bytes())
}

// steady replaces what differs from run to run: request ids, the port, and the
// times rows were written at.
func steady(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte(origin(running.File().MCPURL)), []byte("http://mcp.local"))
	for _, r := range []struct{ pattern, with string }{
		{`"request_id": "[^"]+"`, `"request_id": "REQUEST"`},
		{`\\"(created_at|updated_at)\\":\\"[^\\]+\\"`, `\"$1\":\"TIME\"`},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAll(text, []byte(r.with))
	}
	return text
}

func origin(url string) string { return strings.TrimSuffix(url, "/v1/agents/mcp") }
