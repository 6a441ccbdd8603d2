package mcp_test

import (
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/mcp"
)

// deciding is a server with a tool that is for people, and one for people and
// agents, each good with one of two scopes.
func deciding(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	either := []identity.Scope{identity.IntentApprove, identity.ExecutionRead}
	must(t, s.catalog.Mount(catalog.Provider{Name: "people", Tools: []catalog.Tool{
		{Name: "people.decide", InputSchema: json.RawMessage(`{"type":"object"}`), Scopes: either, AnyScope: true, PeopleOnly: true, Call: do},
		{Name: "people.look", InputSchema: json.RawMessage(`{"type":"object"}`), Scopes: either, AnyScope: true, Call: do},
		{Name: "people.both", InputSchema: json.RawMessage(`{"type":"object"}`), Scopes: either, PeopleOnly: true, Call: do},
	}}))
	var err error
	s.Dispatcher, err = mcp.New(s.catalog, s.trail, slog.New(slog.NewTextHandler(s.log, nil)))
	must(t, err)
	return s
}

// Who is asked for a decision is looked at before what they may do: an agent that
// was told to get a scope would get it and be refused again.
func TestDecisionsAreForPeople(t *testing.T) {
	agent, user := identity.Agent, identity.User
	for _, c := range []struct {
		name   string
		kind   identity.Kind
		scopes identity.Scopes
		tool   string
		status int
		code   string // empty is served
	}{
		{"an agent with every scope", agent, identity.AllScopes, "people.decide", 403, "actor_unresolved"},
		{"an agent with the scope", agent, identity.Scopes{identity.IntentApprove}, "people.decide", 403, "actor_unresolved"},
		{"an agent with none", agent, nil, "people.decide", 403, "actor_unresolved"},
		{"an agent, by the other spelling", agent, nil, "people_decide", 403, "actor_unresolved"},
		{"nobody's kind", "", identity.AllScopes, "people.decide", 403, "actor_unresolved"},
		{"a kind of another case", "User", identity.AllScopes, "people.decide", 403, "actor_unresolved"},
		{"a member with one scope", user, identity.Scopes{identity.IntentApprove}, "people.decide", 200, ""},
		{"a member with the other", user, identity.Scopes{identity.ExecutionRead}, "people.decide", 200, ""},
		{"a member with both", user, identity.Scopes{identity.ExecutionRead, identity.IntentApprove}, "people.decide", 200, ""},
		{"a member with others", user, identity.Scopes{identity.LedgerRead, identity.AuditRead}, "people.decide", 403, "auth_scope_insufficient"},
		{"a member with none", user, nil, "people.decide", 403, "auth_scope_insufficient"},
		{"an agent where agents may", agent, identity.Scopes{identity.ExecutionRead}, "people.look", 200, ""},
		{"an agent there without a scope", agent, identity.Scopes{identity.LedgerRead}, "people.look", 403, "auth_scope_insufficient"},
		{"a member with one scope where all are needed", user, identity.Scopes{identity.IntentApprove}, "people.both", 403, "auth_scope_insufficient"},
		{"a member with all", user, identity.Scopes{identity.ExecutionRead, identity.IntentApprove}, "people.both", 200, ""},
	} {
		for _, era := range []func(string, map[string]any) *draft{legacy, modern} {
			for _, arguments := range []any{map[string]any{}, []int{1}} {
				d := era("tools/call", map[string]any{"name": c.tool, "arguments": arguments})
				d.req.Principal = identity.Principal{Kind: c.kind, ID: "somebody", Tenant: caller().Tenant, Scopes: c.scopes}
				s := deciding(t)
				got := s.send(d)
				_, wellFormed := arguments.(map[string]any)
				if c.code == "" && !wellFormed {
					continue // refused later, and for that
				}
				if got.Status != c.status || got.name() != c.code || (c.code == "") != (got.Result != nil) {
					t.Errorf("%s: %d %s", c.name, got.Status, got.Body)
				}
				if len(s.trail.calls) != 1 || s.trail.calls[0].Code != c.code {
					t.Errorf("%s: recorded %+v", c.name, s.trail.calls)
				}
				if _, named := got.details()["required"]; named != (c.code == "auth_scope_insufficient") {
					t.Errorf("%s: the scopes are named where they could not help, or not where they could: %s", c.name, got.Body)
				}
			}
		}
	}
}

// details is data.details of an error, nil without one.
func (a answer) details() map[string]any {
	if a.Error == nil {
		return nil
	}
	details, _ := a.Error.Data["details"].(map[string]any)
	return details
}

// What no client should call any more, or never could, is not there in any
// spelling.
func TestNoMethodExecutes(t *testing.T) {
	for _, method := range []string{
		"tools/execute", "tools/run", "tools/dispatch", "execution/run", "payments/execute", "payment_intent.execute", "payment_intent/execute", "resources/write", "resources/delete",
		"prompts/run", "sampling/createMessage", "roots/list", "elicitation/create", "tasks/create", "completion/execute", "Tools/call", "tools/Call", "tools/call ", "tools//call",
	} {
		for _, era := range []func(string, map[string]any) *draft{legacy, modern} {
			d := era(method, map[string]any{"name": "demo.do", "arguments": map[string]any{}})
			if got := deciding(t).send(d); got.Result != nil || got.name() != "method_not_found" {
				t.Errorf("%q: %d %s", method, got.Status, got.Body)
			}
		}
	}
}
