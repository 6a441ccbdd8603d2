package mcp_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/mcp"
)

func TestWhatIsNotRecordedIsNotServed(t *testing.T) {
	for name, refuse := range map[string]error{
		"away":             fault.New(fault.DependencyUnavailable, "neither took it"),
		"for other causes": errors.New("the secret cause"),
	} {
		for _, era := range []func(string, map[string]any) *draft{legacy, modern} {
			for _, d := range []*draft{
				call(era), era("resources/read", map[string]any{"uri": "demo://text"}), era("tools/list", nil),
				era("nope", nil), era("resources/read", map[string]any{"uri": "demo://secret"}), // refused anyhow
			} {
				s := newServer(t)
				s.trail.refuse = refuse
				got := s.send(d)
				if got.Status != 503 || got.code() != -32603 || got.name() != "dependency_unavailable" || string(got.ID) != "7" || got.Result != nil {
					t.Errorf("%s: %s is answered %d %s", name, d.members["method"], got.Status, got.Body)
				}
				if got.Err == nil || got.Err.Code != fault.DependencyUnavailable || strings.Contains(string(got.Body), "secret cause") {
					t.Errorf("%s: the edge is told %v, the caller %s", name, got.Err, got.Body)
				}
			}
		}
	}
}

func TestOneEventForEachRequest(t *testing.T) {
	for _, m := range methods {
		if m.name == "" {
			continue
		}
		for _, era := range []func(string, map[string]any) *draft{legacy, modern} {
			s := newServer(t)
			got := s.send(era(m.name, m.params))
			if len(s.trail.calls) != 1 {
				t.Errorf("%s leaves %d events", m.name, len(s.trail.calls))
				continue
			}
			event := s.trail.calls[0]
			if event.Method != m.name || event.RequestID != "req-1" || event.Tenant.String() != "acme" || event.Actor != (identity.Actor{Type: "agent", ID: "agt_1"}) {
				t.Errorf("%s: %+v", m.name, event)
			}
			if event.Code != got.name() {
				t.Errorf("%s: recorded as %q, answered as %q", m.name, event.Code, got.name())
			}
		}
	}
	d := legacy("ping", nil)
	d.raw = `{"jsonrpc":`
	s := newServer(t)
	s.send(d)
	if len(s.trail.calls) != 1 || s.trail.calls[0].Code != "parse_error" || s.trail.calls[0].Method != "" {
		t.Errorf("what cannot be read: %+v", s.trail.calls)
	}
}

// memory is a bus that keeps what it is given.
type memory struct{ events []audit.Event }

func (m *memory) Publish(_ context.Context, entries []audit.Entry) ([]string, error) {
	for _, entry := range entries {
		var record struct{ Data audit.Event }
		if err := json.Unmarshal(entry.Detail, &record); err != nil {
			return nil, err
		}
		m.events = append(m.events, record.Data)
	}
	return nil, nil
}

// recorded sends a draft to a dispatcher over the real trail and returns the
// one event it leaves.
func recorded(t *testing.T, d *draft) audit.Event {
	t.Helper()
	s, bus := newServer(t), &memory{}
	now := func() time.Time { return time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC) }
	log := slog.New(slog.DiscardHandler)
	var err error
	s.Dispatcher, err = mcp.New(s.catalog, &audit.Trail{Bus: bus, IDs: id.NewSource(now, rand.Reader), Now: now, Log: log}, log)
	must(t, err)
	s.send(d)
	if len(bus.events) != 1 {
		t.Fatalf("%d events", len(bus.events))
	}
	return bus.events[0]
}

func TestWhatAnEventHolds(t *testing.T) {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	arguments := func(text string) map[string]any {
		return map[string]any{"name": "demo.do", "arguments": json.RawMessage(text)}
	}
	for _, c := range []struct {
		name            string
		d               *draft
		action          string
		inputs, outputs string
	}{
		{"a call", legacy("tools/call", arguments(`{"x":1}`)), "agent.mcp.tool_called",
			`{"arguments":"{\"x\":1}","arguments_sha256":"` + hash(`{"x":1}`) + `","method":"tools/call","name":"demo.do"}`, `{"ok":true}`},
		{"a call by the other name", legacy("tools/call", map[string]any{"name": "demo_do"}), "agent.mcp.tool_called",
			`{"method":"tools/call","name":"demo_do"}`, `{"ok":true}`},
		{"a refused call", legacy("tools/call", arguments(`{"how":"missing"}`)), "agent.mcp.tool_called",
			`{"arguments":"{\"how\":\"missing\"}","arguments_sha256":"` + hash(`{"how":"missing"}`) + `","method":"tools/call","name":"demo.do"}`,
			`{"code":"ledger_row_not_found","ok":false}`},
		{"a read", modern("resources/read", map[string]any{"uri": "demo://rows/1"}), "agent.mcp.tool_called",
			`{"method":"resources/read","uri":"demo://rows/1"}`, `{"ok":true}`},
		{"a read without the scope", modern("resources/read", map[string]any{"uri": "demo://secret"}), "agent.mcp.tool_called",
			`{"method":"resources/read","uri":"demo://secret"}`, `{"code":"auth_scope_insufficient","ok":false}`},
		{"a prompt", modern("prompts/get", map[string]any{"name": "ask", "arguments": json.RawMessage(`{"topic":"x"}`)}), "agent.mcp.tool_called",
			`{"arguments":"{\"topic\":\"x\"}","arguments_sha256":"` + hash(`{"topic":"x"}`) + `","method":"prompts/get","name":"ask"}`, `{"ok":true}`},
		{"a list", modern("tools/list", nil), "agent.mcp.request", `{"method":"tools/list"}`, `{"ok":true}`},
		{"an unknown method", modern("nope", map[string]any{"arguments": 1}), "agent.mcp.request", `{"method":"nope"}`, `{"code":"method_not_found","ok":false}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			event := recorded(t, c.d)
			inputs, _ := json.Marshal(event.Inputs)
			outputs, _ := json.Marshal(event.Outputs)
			if event.Action != c.action || string(inputs) != c.inputs || string(outputs) != c.outputs {
				t.Errorf("%s\n in %s\nout %s\nwant %s\n in %s\nout %s", event.Action, inputs, outputs, c.action, c.inputs, c.outputs)
			}
			if event.RequestID != "req-1" || event.TenantID != "acme" || event.Layer != audit.LayerAgent {
				t.Errorf("%+v", event)
			}
		})
	}
}

func TestLongArgumentsAreCutAndPinned(t *testing.T) {
	for _, n := range []int{8<<10 - len(`{"x":""}`), 8<<10 - len(`{"x":""}`) + 1, 100_000} {
		for _, letter := range []string{"a", "é", "🤖"} {
			text := `{"x":"` + strings.Repeat(letter, n/len(letter)+1)[:n/len(letter)*len(letter)] + `"}`
			d := legacy("tools/call", nil)
			d.raw = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"demo.do","arguments":` + text + `}}`
			event := recorded(t, d)
			kept, _ := event.Inputs["arguments"].(string)
			sum := sha256.Sum256([]byte(text))
			if event.Inputs["arguments_sha256"] != hex.EncodeToString(sum[:]) {
				t.Error("the hash is not that of the whole")
			}
			if len(kept) > 8<<10 || len(kept) < min(len(text), 8<<10)-3 || !strings.HasPrefix(text, kept) || !utf8.ValidString(kept) {
				t.Errorf("%d of %d bytes are kept", len(kept), len(text))
			}
		}
	}
}
