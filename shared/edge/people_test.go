package edge_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// deciding offers a tool that is for people and takes one of two scopes.
func deciding() catalog.Provider {
	return catalog.Provider{Name: "people", Tools: []catalog.Tool{{
		Name: "people.decide", InputSchema: json.RawMessage(`{"type":"object"}`), PeopleOnly: true, AnyScope: true,
		Scopes: []identity.Scope{identity.IntentApprove, identity.ExecutionRead},
		Call: func(context.Context, catalog.Call, json.RawMessage) (catalog.Output, error) {
			return catalog.Output{Content: []catalog.Block{catalog.TextBlock("decided")}}, nil
		},
	}}}
}

// An agent that asks to decide is refused without a challenge, with whatever
// credential it comes: no login and no further scope would make a person of it.
// A member who lacks the scopes is told which would do.
func TestAgentsAreNotChallengedToDecide(t *testing.T) {
	body := func(spelled, era string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + spelled + `","arguments":{}` + era + `}}`
	}
	const modern = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	member := func(scopes ...string) func(*world, *message) {
		return func(w *world, m *message) {
			m.with("authorization", "Bearer "+w.token(func(c jwt.MapClaims) {
				c["sub"], c["principal_type"], c["scopes"] = "mbr_1", "user", scopes
				delete(c, "scope_hash")
			}))
		}
	}
	for _, c := range []struct {
		name      string
		as        func(*world, *message)
		status    int
		code      string
		challenge string // part of it; empty is none
	}{
		{"an agent", func(*world, *message) {}, 403, "actor_unresolved", ""},
		{"an agent at its own path", func(_ *world, m *message) { m.path = "/agt_1/mcp" }, 403, "actor_unresolved", ""},
		{"an agent with its API key", func(_ *world, m *message) { m.with("authorization", "").with("x-agent-api-key", "bak_good") }, 403, "actor_unresolved", ""},
		{"an agent by the other spelling", func(_ *world, m *message) { m.body = body("people_decide", "") }, 403, "actor_unresolved", ""},
		{"an agent in the modern era", func(_ *world, m *message) {
			m.with("mcp-protocol-version", "2026-07-28").with("mcp-method", "tools/call").with("mcp-name", "people.decide").body = body("people.decide", modern)
		}, 403, "actor_unresolved", ""},
		{"an agent with an expired token", func(w *world, m *message) { m.with("authorization", "Bearer "+w.token(expired)) }, 401, "auth_token_expired", "invalid_token"},
		{"a member with one scope", member("payment_intent:approve"), 200, "", ""},
		{"a member with the other", member("execution:read"), 200, "", ""},
		{"a member without", member("ledger:read"), 403, "auth_scope_insufficient", `scope="payment_intent:approve execution:read"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorldOf(t, endpoint, deciding())
			tenant, err := identity.OperatorTenant("acme")
			must(t, err)
			w.table.put(key.MemberRecord(tenant, "mbr_1"), identity.MemberRecord{ID: "mbr_1", TenantID: "acme", Role: identity.Admin, Status: identity.Active})
			m := w.post(body("people.decide", ""))
			c.as(w, m)
			got := w.send(t, m)
			if got.status != c.status || got.code(t) != c.code {
				t.Fatalf("%d %s, want %d %s", got.status, got.body, c.status, c.code)
			}
			challenge := got.header.Get("WWW-Authenticate")
			if (challenge == "") != (c.challenge == "") || !strings.Contains(challenge, c.challenge) {
				t.Errorf("challenge %q, want one with %q", challenge, c.challenge)
			}
			if c.code == "actor_unresolved" && (len(w.trail.calls) != 1 || w.trail.calls[0].Code != c.code) {
				t.Errorf("recorded %+v", w.trail.calls)
			}
		})
	}
}

// There is no way in but the endpoint and an agent's own path: no route of ours
// takes an intent further.
func TestNoRouteExecutes(t *testing.T) {
	for _, path := range []string{
		"/v1/agents/execute", "/v1/execute", "/execute", "/v1/payment-intents/pi_1/execute", "/v1/payment-intents/pi_1", "/v1/agents/mcp/execute", "/v1/agents/mcp/", "/v1/rails/sandbox", "/v1/proposals/pi_1/approve",
		"/v1/agents/mcp/../execute", "/agt_1/execute", "/agt_1/mcp/execute", "/invoke", "/2015-03-31/functions/function/invocations",
	} {
		w := newWorldOf(t, endpoint, deciding())
		m := w.post(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
		m.path = path
		if got := w.send(t, m); got.status != 404 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}
