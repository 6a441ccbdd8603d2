package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// breach is one way to fall off the ladder.
type breach struct {
	rung   string
	break_ func(*draft)
	status int
	code   int
	text   string   // what the message says of it
	hides  []string // later rungs that this breach takes the ground from
}

func unreadable(d *draft) { d.raw = `{"jsonrpc":"2.0","id":7,"id":7,"method":"ping"}` }

// The rungs both eras share, in their order.
func shared(modern bool) (first, last []breach) {
	pick := func(legacy, other int) int {
		if modern {
			return other
		}
		return legacy
	}
	first = []breach{
		{"9 unreadable", unreadable, 400, -32700, "stands twice", nil},
		{"10 no request", func(d *draft) { d.members["jsonrpc"] = "1.0" }, 400, -32600, "jsonrpc", nil},
	}
	last = []breach{
		{"15 unknown method", func(d *draft) { d.members["method"], d.req.Method = "tools/nope", "tools/nope" }, pick(200, 404), -32601, "tools/nope", nil},
		{"16 no scope", func(d *draft) { d.req.Principal = caller(identity.WikiRead) }, 403, pick(-32002, -31002), "ledger:read", nil},
		{"17 arguments no object", func(d *draft) { d.params["arguments"] = []int{1} }, pick(200, 400), -32602, "arguments", nil},
		{"18 a rule of the tool", func(d *draft) { d.params["arguments"] = map[string]any{"how": "argument"} }, 200, 0, "", nil},
	}
	return first, last
}

func modernLadder() []breach {
	first, last := shared(true)
	between := []breach{
		{"12 version header missing", func(d *draft) { d.req.Version = "" }, 400, -32020, "MCP-Protocol-Version is missing", nil},
		{"12 version in _meta missing", func(d *draft) { d.meta[metaVersion] = 5 }, 400, -32602, "protocolVersion", nil},
		{"12 versions differ", func(d *draft) { d.req.Version = "2026-07-29" }, 400, -32020, "different versions", nil},
		{"12 version not supported", func(d *draft) { d.req.Version, d.meta[metaVersion] = "2099-01-01", "2099-01-01" }, 400, -32022, "2099-01-01", nil},
		{"12 capabilities missing", func(d *draft) { delete(d.meta, metaCapabilities) }, 400, -32602, "clientCapabilities", nil},
		{"12 Mcp-Method differs", func(d *draft) { d.req.Method = "tools/list" }, 400, -32020, "Mcp-Method", nil},
		{"12 Mcp-Name differs", func(d *draft) { d.req.Name = "demo.other" }, 400, -32020, "Mcp-Name", []string{"15 unknown method"}},
	}
	return append(append(first, between...), last...)
}

func legacyLadder() []breach {
	first, last := shared(false)
	return append(first, last...)
}

func call(era func(string, map[string]any) *draft) *draft {
	return era("tools/call", map[string]any{"name": "demo.do", "arguments": map[string]any{}})
}

// Every rung is judged as it should, and a request that breaks two of them hears
// of the earlier one.
func TestLadderInOrder(t *testing.T) {
	for _, era := range []struct {
		name   string
		good   func(string, map[string]any) *draft
		ladder []breach
	}{{"legacy", legacy, legacyLadder()}, {"modern", modern, modernLadder()}} {
		if got := newServer(t).send(call(era.good)); got.Status != 200 || got.Result == nil || got.isError() {
			t.Fatalf("%s: the unbroken request is answered %d %s", era.name, got.Status, got.Body)
		}
		for i, first := range era.ladder {
			for _, second := range era.ladder[i:] {
				if contains(first.hides, second.rung) {
					continue
				}
				t.Run(era.name+"/"+first.rung+"/"+second.rung, func(t *testing.T) {
					d := call(era.good)
					second.break_(d)
					first.break_(d)
					got := newServer(t).send(d)
					if got.Status != first.status || got.code() != first.code {
						t.Fatalf("status %d and code %d, want %d and %d: %s", got.Status, got.code(), first.status, first.code, got.Body)
					}
					if first.code == 0 {
						if !got.isError() {
							t.Errorf("no result with isError: %s", got.Body)
						}
						return
					}
					if !strings.Contains(got.Error.Message, first.text) {
						t.Errorf("the message is %q, want it to speak of %q", got.Error.Message, first.text)
					}
					if got.Error.Data["request_id"] != "req-1" || got.name() == "" {
						t.Errorf("data is %v", got.Error.Data)
					}
				})
			}
		}
	}
}

func contains(list []string, one string) bool {
	for _, s := range list {
		if s == one {
			return true
		}
	}
	return false
}

func TestRepliesEchoTheID(t *testing.T) {
	for _, id := range []string{`0`, `""`, `9007199254740993`, `-1`, `"<&>"`, `"\u003c"`} {
		for method, want := range map[string]string{"ping": `{"jsonrpc":"2.0","id":` + id + `,"result"`, "nope": `{"jsonrpc":"2.0","id":` + id + `,"error"`} {
			d := legacy(method, nil)
			d.raw = `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`
			if got := newServer(t).send(d); !strings.HasPrefix(string(got.Body), want) {
				t.Errorf("%s, want it to begin with %s", got.Body, want)
			}
			d.raw = "[" + d.raw + "]"
			if got := newServer(t).send(d); !strings.HasPrefix(string(got.Body), "["+want) {
				t.Errorf("%s, want it to begin with [%s", got.Body, want)
			}
		}
	}
	// What cannot be read, or is no id, is not echoed.
	for _, raw := range []string{`{`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `[]`} {
		d := legacy("ping", nil)
		d.raw = raw
		if got := newServer(t).send(d); got.Status != 400 || got.Error == nil || strings.Contains(string(got.Body), `"id"`) {
			t.Errorf("%s is answered %d %s", raw, got.Status, got.Body)
		}
	}
}

func TestEras(t *testing.T) {
	meta := func(version string) rpc.Object {
		return rpc.Object{{Name: metaVersion, Value: json.RawMessage(version)}}
	}
	for _, c := range []struct {
		name, header, method string
		meta                 rpc.Object
		want                 rpc.Era
	}{
		{"no header", "", "ping", nil, rpc.Legacy},
		{"2024-11-05", "2024-11-05", "ping", nil, rpc.Legacy},
		{"2025-03-26", "2025-03-26", "ping", nil, rpc.Legacy},
		{"2025-06-18", "2025-06-18", "ping", nil, rpc.Legacy},
		{"2025-11-25", "2025-11-25", "ping", nil, rpc.Legacy},
		{"2026-07-28", modernVersion, "ping", nil, rpc.Modern},
		{"unknown", "2099-01-01", "ping", nil, rpc.Modern},
		{"nonsense", "latest", "ping", nil, rpc.Modern},
		{"_meta alone", "", "ping", meta(`"2026-07-28"`), rpc.Modern},
		{"_meta against a legacy header", "2025-06-18", "ping", meta(`"2026-07-28"`), rpc.Modern},
		{"_meta that is no string", "", "ping", meta(`null`), rpc.Modern},
		{"initialize", modernVersion, "initialize", nil, rpc.Legacy},
		{"initialize of an unknown version", "2099-01-01", "initialize", nil, rpc.Legacy},
		{"initialize with _meta", "", "initialize", meta(`"2026-07-28"`), rpc.Modern},
	} {
		if got := mcpEra(c.header, c.method, c.meta); got != c.want {
			t.Errorf("%s: era %v, want %v", c.name, got, c.want)
		}
	}
}

func TestUnsupportedVersionNamesTheSupported(t *testing.T) {
	d := modern("server/discover", nil)
	d.req.Version, d.meta[metaVersion] = "2099-01-01", "2099-01-01"
	got := newServer(t).send(d)
	var supported []string
	for _, v := range got.Error.Data["supported"].([]any) {
		supported = append(supported, v.(string))
	}
	if !same(supported, []string{modernVersion, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) || got.Error.Data["requested"] != "2099-01-01" {
		t.Errorf("data is %v", got.Error.Data)
	}
}

func TestNotifications(t *testing.T) {
	for _, era := range []func(string, map[string]any) *draft{legacy, modern} {
		for _, method := range []string{"notifications/initialized", "notifications/cancelled", "tools/call", "nope"} {
			d := era(method, nil)
			delete(d.members, "id")
			d.req.Method, d.req.Name = "", "" // it is not judged
			s := newServer(t)
			if got := s.send(d); got.Status != 202 || len(got.Body) > 0 || got.Stream || got.Err != nil {
				t.Errorf("%s is answered %d %q", method, got.Status, got.Body)
			}
			if len(s.trail.calls) > 0 {
				t.Errorf("%s left an event", method)
			}
		}
	}
}

func TestBatches(t *testing.T) {
	ping := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }
	const note = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	for _, c := range []struct {
		name, version, body string
		status, code        int
		ids                 string // of the answers
		events              int
	}{
		{"no header", "", `[` + ping("1") + `,` + ping("2") + `]`, 200, 0, "1 2", 2},
		{"its own version", "2025-03-26", `[` + ping("1") + `]`, 200, 0, "1", 1},
		{"a notification between", "", `[` + note + `,` + ping(`"a"`) + `]`, 200, 0, `"a"`, 1},
		{"notifications alone", "", `[` + note + `,` + note + `]`, 202, 0, "", 0},
		{"errors inside", "", `[5,` + ping("1") + `,{"jsonrpc":"2.0","id":2,"method":"nope"}]`, 200, 0, "- 1 2", 3},
		{"empty", "", `[]`, 400, -32600, "", 1},
		{"too long", "", `[` + strings.Repeat(ping("1")+",", 50) + ping("1") + `]`, 400, -32600, "", 1},
		{"a name twice", "", `[` + ping("1") + `,{"id":1,"id":2}]`, 400, -32700, "", 1},
		{"2024-11-05", "2024-11-05", `[` + ping("1") + `]`, 400, -32600, "", 1},
		{"2025-06-18", "2025-06-18", `[` + ping("1") + `]`, 400, -32600, "", 1},
		{"2025-11-25", "2025-11-25", `[` + ping("1") + `]`, 400, -32600, "", 1},
		{"modern", modernVersion, `[` + ping("1") + `]`, 400, -32600, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := legacy("ping", nil)
			d.raw, d.req.Version = c.body, c.version
			d.req.Stream = true
			s := newServer(t)
			got := s.send(d)
			if got.Status != c.status || got.code() != c.code || len(s.trail.calls) != c.events {
				t.Fatalf("status %d, code %d, %d events; want %d, %d, %d: %s", got.Status, got.code(), len(s.trail.calls), c.status, c.code, c.events, got.Body)
			}
			if c.status != 200 {
				return
			}
			var answers []struct{ ID json.RawMessage }
			must(t, json.Unmarshal(got.Body, &answers))
			var ids []string
			for _, a := range answers {
				if a.ID == nil {
					a.ID = json.RawMessage("-")
				}
				ids = append(ids, string(a.ID))
			}
			if strings.Join(ids, " ") != c.ids {
				t.Errorf("answers to %v, want %s", ids, c.ids)
			}
		})
	}
}
