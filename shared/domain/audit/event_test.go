package audit_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// called keeps the outer event of a call and reads it off the bus.
func called(t *testing.T, call audit.Call) audit.Event {
	t.Helper()
	trail, b, _ := setup()
	noError(t, trail.Called(t.Context(), call))
	equal(t, "events", len(b.batches), 1)
	equal(t, "events of one request", len(b.batches[0]), 1)
	var cloud struct {
		SpecVersion, ID, Source, Type, Subject, Time, DataContentType string
		Data                                                          audit.Event
	}
	entry := b.batches[0][0]
	noError(t, json.Unmarshal(entry.Detail, &cloud))
	equal(t, "CloudEvents", cloud.SpecVersion, "1.0")
	equal(t, "id", cloud.ID, cloud.Data.ID)
	equal(t, "id of the entry", entry.ID, cloud.Data.ID)
	equal(t, "source", cloud.Source, "robotmoney.mcp")
	equal(t, "type", cloud.Type, cloud.Data.Action)
	equal(t, "type of the entry", entry.Type, cloud.Data.Action)
	equal(t, "subject", cloud.Subject, cloud.Data.TenantID)
	equal(t, "time", cloud.Time, "2025-09-30T12:00:00.123Z")
	equal(t, "time of the entry", entry.At, time.Date(2025, 9, 30, 12, 0, 0, 123_000_000, time.UTC))
	equal(t, "content type", cloud.DataContentType, "application/json")
	return cloud.Data
}

func acme(t *testing.T) identity.Tenant {
	t.Helper()
	tenant, err := identity.OperatorTenant("acme")
	noError(t, err)
	return tenant
}

func TestOuterEvents(t *testing.T) {
	arguments := []byte(`{"account_id":"acct_8231"}`)
	sum := sha256.Sum256(arguments)
	hash := hex.EncodeToString(sum[:])
	for name, c := range map[string]struct {
		call                    audit.Call
		action, inputs, outputs string
	}{
		"tool": {
			audit.Call{Method: "tools/call", Name: "ledger.account.get", Arguments: arguments}, "agent.mcp.tool_called",
			`{"arguments":"{\"account_id\":\"acct_8231\"}","arguments_sha256":"` + hash + `","method":"tools/call","name":"ledger.account.get"}`, `{"ok":true}`,
		},
		"refused tool": {
			audit.Call{Method: "tools/call", Name: "ledger.account.get", Arguments: arguments, Code: "auth_scope_insufficient"}, "agent.mcp.tool_called",
			`{"arguments":"{\"account_id\":\"acct_8231\"}","arguments_sha256":"` + hash + `","method":"tools/call","name":"ledger.account.get"}`,
			`{"code":"auth_scope_insufficient","ok":false}`,
		},
		"tool without arguments": {
			audit.Call{Method: "tools/call", Name: "wiki.question"}, "agent.mcp.tool_called", `{"method":"tools/call","name":"wiki.question"}`, `{"ok":true}`,
		},
		"resource": {
			audit.Call{Method: "resources/read", URI: "brain://ledger/accounts/acct_8231"}, "agent.mcp.tool_called",
			`{"method":"resources/read","uri":"brain://ledger/accounts/acct_8231"}`, `{"ok":true}`,
		},
		"prompt": {
			audit.Call{Method: "prompts/get", Name: "wiki.question.bills_due", Arguments: []byte(`{}`)}, "agent.mcp.tool_called",
			`{"arguments":"{}","arguments_sha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","method":"prompts/get","name":"wiki.question.bills_due"}`, `{"ok":true}`,
		},
		"another method": {
			audit.Call{Method: "tools/list", Arguments: []byte(`{"cursor":"secret"}`)}, "agent.mcp.request", `{"method":"tools/list"}`, `{"ok":true}`,
		},
		"unknown method": {
			audit.Call{Method: "tools/steal", Name: "x", URI: "y", Code: "method_not_found"}, "agent.mcp.request", `{"method":"tools/steal"}`, `{"code":"method_not_found","ok":false}`,
		},
		"method that could not be read": {audit.Call{Code: "parse_error"}, "agent.mcp.request", `{"method":""}`, `{"code":"parse_error","ok":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			c.call.RequestID, c.call.Tenant, c.call.Actor = "req-1", acme(t), identity.Actor{Type: "agent", ID: "agt_1"}
			e := called(t, c.call)
			noError(t, id.Check(id.Event, e.ID))
			equal(t, "action", e.Action, c.action)
			equal(t, "tenant", e.TenantID, "acme")
			equal(t, "layer", e.Layer, audit.LayerAgent)
			equal(t, "actor", e.Actor, identity.Actor{Type: "agent", ID: "agt_1"})
			equal(t, "request", e.RequestID, "req-1")
			equal(t, "created", e.CreatedAt, "2025-09-30T12:00:00.123Z")
			equal(t, "schema", e.Schema, 1)
			equal(t, "inputs", asJSON(t, e.Inputs), c.inputs)
			equal(t, "outputs", asJSON(t, e.Outputs), c.outputs)
		})
	}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	noError(t, err)
	return string(raw)
}

// Arguments are kept up to 8 KiB, in whole characters, and pinned by the hash of
// all of them.
func TestLongArguments(t *testing.T) {
	const most = 8 << 10
	for name, c := range map[string]struct {
		text string
		kept int
	}{
		"one less":                  {strings.Repeat("a", most-1), most - 1},
		"just so many":              {strings.Repeat("a", most), most},
		"one more":                  {strings.Repeat("a", most+1), most},
		"a megabyte":                {strings.Repeat("a", 1<<20), most},
		"cut within two bytes":      {strings.Repeat("a", most-1) + "éé", most - 1},
		"cut within three bytes":    {strings.Repeat("a", most-2) + "€€", most - 2},
		"cut within four bytes":     {strings.Repeat("a", most-3) + "💶💶", most - 3},
		"cut after four bytes":      {strings.Repeat("a", most-4) + "💶💶", most},
		"two bytes all the way":     {strings.Repeat("é", most), most},
		"three bytes all the way":   {strings.Repeat("€", most), most - most%3},
		"ends with a whole one":     {strings.Repeat("a", most-2) + "é", most},
		"an accent on its own base": {strings.Repeat("a", most-1) + "e\u0301", most},
	} {
		t.Run(name, func(t *testing.T) {
			e := called(t, audit.Call{Method: "tools/call", Name: "x", Tenant: acme(t), Arguments: []byte(c.text)})
			kept := e.Inputs["arguments"].(string)
			equal(t, "bytes kept", len(kept), c.kept)
			equal(t, "they are the first", strings.HasPrefix(c.text, kept), true)
			equal(t, "UTF-8", utf8.ValidString(kept), true)
			sum := sha256.Sum256([]byte(c.text))
			equal(t, "hash of all", e.Inputs["arguments_sha256"].(string), hex.EncodeToString(sum[:]))
		})
	}
}

// Whatever a caller sends, its event fits beside nine others on the bus.
func TestHostileNames(t *testing.T) {
	for name, text := range map[string]string{
		"long":          strings.Repeat("x", 1<<20),
		"quotes":        strings.Repeat(`"`, 1<<20),
		"control":       strings.Repeat("\x00", 1<<20),
		"no UTF-8":      strings.Repeat("\xff", 1<<20),
		"continuations": strings.Repeat("\x80", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			for _, call := range []audit.Call{
				{Method: text}, {Method: "tools/call", Name: text, Arguments: []byte(text)}, {Method: "resources/read", URI: text},
			} {
				call.Tenant = acme(t)
				if size := len(asJSON(t, called(t, call))); size > 100<<10 {
					t.Errorf("an event of %d bytes", size)
				}
			}
		})
	}
}

func TestRateLimited(t *testing.T) {
	trail, _, _ := setup()
	e, err := trail.New(audit.RateLimited(acme(t), time.Date(2025, 9, 30, 14, 0, 0, 0, time.FixedZone("", 7200)), 600))
	noError(t, err)
	equal(t, "action", e.Action, "agent.mcp.rate_limited")
	equal(t, "tenant", e.TenantID, "acme")
	equal(t, "inputs", asJSON(t, e.Inputs), `{"limit":600,"minute":"2025-09-30T12:00:00.000Z"}`)
	equal(t, "outputs", asJSON(t, e.Outputs), `{"code":"rate_limited","ok":false}`)
	noError(t, id.Check(id.Event, e.ID))
}

// The form of an event is what the chain hashes: a field without a value is left
// out, and no name changes.
func TestFormOfAnEvent(t *testing.T) {
	bare := audit.Event{ID: "evt_1", TenantID: "acme", Layer: "agent", Action: "a", RequestID: "r", CreatedAt: "2025-09-30T12:00:00.000Z", Schema: 1}
	equal(t, "bare", asJSON(t, bare), `{"id":"evt_1","tenant_id":"acme","layer":"agent","actor":{"type":"","id":""},"action":"a","inputs":null,"outputs":null,`+
		`"request_id":"r","created_at":"2025-09-30T12:00:00.000Z","schema":1}`)
	bare.PolicyDecisionID, bare.BeforeState, bare.AfterState = "pd_1", map[string]any{"s": 1}, map[string]any{"s": 2}
	equal(t, "whole", asJSON(t, bare), `{"id":"evt_1","tenant_id":"acme","layer":"agent","actor":{"type":"","id":""},"action":"a","inputs":null,"outputs":null,`+
		`"policy_decision_id":"pd_1","before_state":{"s":1},"after_state":{"s":2},"request_id":"r","created_at":"2025-09-30T12:00:00.000Z","schema":1}`)
}

func TestEventsThatCannotBe(t *testing.T) {
	trail, b, s := setup()
	for name, e := range map[string]audit.Event{
		"no time":        {ID: "evt_1", Action: "a"},
		"time of others": {ID: "evt_1", Action: "a", CreatedAt: "2025-09-30 12:00"},
		"no JSON":        {ID: "evt_1", Action: "a", CreatedAt: "2025-09-30T12:00:00.000Z", Inputs: map[string]any{"f": func() {}}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := trail.Record(t.Context(), e); err == nil {
				t.Error("recorded")
			}
			if err := trail.Commit(t.Context(), changeOf(t), e); err == nil {
				t.Error("committed")
			}
		})
	}
	trail.IDs = id.NewSource(trail.Now, iotest.ErrReader(errors.New("no entropy")))
	if err := trail.Called(t.Context(), audit.Call{Method: "ping"}); err == nil {
		t.Error("an event without an id")
	}
	equal(t, "calls of the bus", len(b.batches), 0)
	equal(t, "commits", s.commits, 0)
}
