package mcp_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/surface/mcp"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

func mcpEra(header, method string, meta rpc.Object) rpc.Era {
	return mcp.EraOf(header, rpc.Message{Method: method, Meta: meta})
}

func TestNameHeader(t *testing.T) {
	const uri = "demo://bücher"
	for _, c := range []struct {
		name, method, member, value, header string
		good                                bool
	}{
		{"plain", "tools/call", "name", "demo.do", "demo.do", true},
		{"a prompt", "prompts/get", "name", "ask", "ask", true},
		{"a resource", "resources/read", "uri", "demo://text", "demo://text", true},
		{"base64 of plain", "tools/call", "name", "demo.do", sentinel("demo.do"), true},
		{"base64", "resources/read", "uri", uri, sentinel(uri), true},
		{"as it stands", "resources/read", "uri", uri, uri, true},
		{"missing", "tools/call", "name", "demo.do", "", false},
		{"missing for a prompt", "prompts/get", "name", "ask", "", false},
		{"missing for a resource", "resources/read", "uri", "demo://text", "", false},
		{"another", "tools/call", "name", "demo.do", "demo.done", false},
		{"another case", "tools/call", "name", "demo.do", "Demo.do", false},
		{"the other spelling", "tools/call", "name", "demo.do", "demo_do", false},
		{"base64 of another", "resources/read", "uri", uri, sentinel("demo://text"), false},
		{"base64 of nothing", "tools/call", "name", "demo.do", "=?base64??=", false},
		{"not closed", "tools/call", "name", "demo.do", "=?base64?ZGVtby5kbw==", false},
		{"without padding", "tools/call", "name", "demo.do", "=?base64?ZGVtby5kbw?=", false},
		{"with bits to spare", "tools/call", "name", "demo.do", "=?base64?ZGVtby5kbx==?=", false},
		{"the alphabet of URLs", "resources/read", "uri", "demo://a?~~", "=?base64?" + base64.URLEncoding.EncodeToString([]byte("demo://a?~~")) + "?=", false},
		{"a blank inside", "tools/call", "name", "demo.do", "=?base64?ZGVt by5kbw==?=", false},
		{"a line break inside", "tools/call", "name", "demo.do", "=?base64?ZGVt\nby5kbw==?=", false},
		{"no base64", "tools/call", "name", "demo.do", "=?base64?!!?=", false},
		{"no UTF-8", "tools/call", "name", "demo.do", sentinel("\xff\xfe"), false},
		{"another encoding", "tools/call", "name", "demo.do", "=?Base64?ZGVtby5kbw==?=", false},
		{"twice", "tools/call", "name", "demo.do", sentinel(sentinel("demo.do")), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := modern(c.method, map[string]any{c.member: c.value, "arguments": map[string]any{"topic": "x"}})
			d.req.Name = c.header
			got := newServer(t).send(d)
			// A good header reaches the rungs below, whatever they say.
			if refused := got.name() == string(rpc.HeaderMismatch); refused == c.good {
				t.Errorf("answered %d %s", got.Status, got.Body)
			}
		})
	}
	d := modern("tools/call", map[string]any{"arguments": map[string]any{}})
	d.req.Name = "demo.do"
	if got := newServer(t).send(d); got.code() != -32020 {
		t.Errorf("a header over a body that names nothing: %s", got.Body)
	}
	d = modern("tools/list", nil)
	d.req.Name = "whatever"
	if got := newServer(t).send(d); got.Result == nil {
		t.Errorf("a name over a method that has none: %s", got.Body)
	}
}

// FuzzDecodeName holds the reading of Mcp-Name against its definition, through
// whole requests: a header is taken if it is the URI, or the strict base64 of it.
func FuzzDecodeName(f *testing.F) {
	for _, seed := range [][2]string{
		{"demo://text", "demo://text"}, {"demo://bücher", sentinel("demo://bücher")}, {"", "=?base64??="}, {"a", "=?base64?YQ?="},
		{"a", "=?base64?YQ==?="}, {"a", "=?base64?YR==?="}, {"a", "=?base64?Y\nQ==?="}, {"=?base64?", "=?base64?"}, {"=?base64?YQ==?=", sentinel("=?base64?YQ==?=")}, {"\xff", sentinel("\xff")},
	} {
		f.Add(seed[0], seed[1])
	}
	s := newServer(f)
	f.Fuzz(func(t *testing.T, uri, header string) {
		if !utf8.ValidString(uri) { // no body has one
			return
		}
		taken := func(header string) bool {
			d := modern("resources/read", map[string]any{"uri": uri})
			d.req.Name = header
			s.trail.calls = nil
			return s.send(d).name() != string(rpc.HeaderMismatch)
		}
		if uri != "" && !taken(sentinel(uri)) {
			t.Errorf("%q in base64 is refused", uri)
		}
		want := header == uri && header != ""
		if inner, ok := strings.CutPrefix(header, "=?base64?"); ok {
			inner, ok = strings.CutSuffix(inner, "?=")
			want = ok && inner == base64.StdEncoding.EncodeToString([]byte(uri))
		}
		if got := taken(header); got != want {
			t.Errorf("header %q over %q is taken: %v, want %v", header, uri, got, want)
		}
	})
}
