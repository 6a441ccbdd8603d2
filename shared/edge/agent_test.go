package edge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
)

// Clients of one agent are configured with that agent's own path.
func TestAgentsOwnPath(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*world, *message)
		status int
		code   string
	}{
		{"with its API key", func(_ *world, m *message) { m.with("authorization", "").with("x-agent-api-key", "bak_good") }, 200, ""},
		{"with its token", func(*world, *message) {}, 200, ""},
		{"with no credential", func(_ *world, m *message) { m.with("authorization", "") }, 401, "auth_token_missing"},
		{"with an unknown key", func(_ *world, m *message) { m.with("authorization", "").with("x-agent-api-key", "bak_bad") }, 401, "auth_token_invalid"},
		{"with two credentials", func(_ *world, m *message) { m.with("x-agent-api-key", "bak_good") }, 400, "auth_multiple_credentials"},
		{"another agent's", func(_ *world, m *message) { m.path = "/agt_2/mcp" }, 403, "auth_tenant_mismatch"},
		{"another agent's, with an API key", func(_ *world, m *message) {
			m.with("authorization", "").with("x-agent-api-key", "bak_good").path = "/agt_2/mcp"
		}, 403, "auth_tenant_mismatch"},
		{"another tenant's agent", func(_ *world, m *message) { m.path = "/agt_3/mcp" }, 403, "auth_tenant_mismatch"},
		{"an agent nobody knows", func(_ *world, m *message) { m.path = "/agt_nobody/mcp" }, 403, "auth_tenant_mismatch"},
		{"in another case", func(_ *world, m *message) { m.path = "/agt_1X/mcp" }, 403, "auth_tenant_mismatch"},
		{"a member asks", func(w *world, m *message) {
			m.with("authorization", "Bearer "+w.token(func(c jwt.MapClaims) { c["sub"], c["principal_type"] = "mbr_1", "user" }))
		}, 403, "auth_tenant_mismatch"},
		{"quarantined", func(w *world, _ *message) { w.agent(identity.Quarantined) }, 403, "agent_not_registered"},
		{"from a foreign page", func(_ *world, m *message) { m.with("origin", "https://evil.example.com") }, 403, "origin_not_allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			others(w, t)
			m := w.post(ping)
			m.path = "/agt_1/mcp"
			c.change(w, m)
			got := w.send(t, m)
			if got.status != c.status || got.code(t) != c.code {
				t.Errorf("%d %s, want %d %s", got.status, got.body, c.status, c.code)
			}
			if c.status == 403 && got.header.Get("WWW-Authenticate") != "" {
				t.Errorf("a challenge that no login could meet: %v", got.header)
			}
			if c.code == "auth_tenant_mismatch" && (len(w.trail.calls) != 1 || w.trail.calls[0].Code != c.code || w.trail.calls[0].Tenant.String() != "acme") {
				t.Errorf("recorded %+v", w.trail.calls)
			}
		})
	}
}

// others are an agent of the same tenant, one of another, and a member.
func others(w *world, t *testing.T) {
	t.Helper()
	tenant, err := identity.OperatorTenant("acme")
	must(t, err)
	w.table.put(key.AgentRecord("agt_2"), identity.AgentRecord{ID: "agt_2", TenantID: "acme", Status: identity.Active, Scopes: granted})
	w.table.put(key.AgentRecord("agt_3"), identity.AgentRecord{ID: "agt_3", TenantID: "other", Status: identity.Active, Scopes: granted})
	w.table.put(key.MemberRecord(tenant, "mbr_1"), identity.MemberRecord{ID: "mbr_1", TenantID: "acme", Role: identity.Admin, Status: identity.Active})
}

// Whose an agent is, and whether there is one, cannot be told from the answer.
func TestAnothersPathSaysNothing(t *testing.T) {
	answers := map[string]bool{}
	for _, path := range []string{"/agt_2/mcp", "/agt_3/mcp", "/agt_nobody/mcp"} {
		w := newWorld(t)
		others(w, t)
		m := w.post(ping)
		m.path = path
		answers[w.send(t, m).body] = true
	}
	if len(answers) != 1 {
		t.Errorf("the answers differ: %v", answers)
	}
}

func TestPathsBesideAnAgents(t *testing.T) {
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/agt_1/mcp", 405},
		{"DELETE", "/agt_1/mcp", 405},
		{"OPTIONS", "/agt_1/mcp", 204},
		{"POST", "/agt_1/mcp", 200},
		{"POST", "/agt_1/mcp/", 404},
		{"POST", "/agt_1", 404},
		{"POST", "/agt_1/MCP", 404},
		{"POST", "/agt_1/x/mcp", 404},
		{"POST", "//agt_1/mcp", 404},
		{"POST", "/agt%5F1/mcp", 404},
		{"POST", "/agt_/mcp", 404},
		{"POST", "/agt_" + strings.Repeat("a", 65) + "/mcp", 404},
		{"POST", "/mbr_1/mcp", 404},
		{"POST", "/mcp", 404},
		{"POST", "//mcp", 404},
		{"GET", "/mbr_1/mcp", 404},
	} {
		w := newWorld(t)
		m := w.post(ping)
		m.method, m.path = c.method, c.path
		got := w.send(t, m)
		if got.status != c.status || (c.status == 405 && got.header.Get("Allow") != "POST, OPTIONS") {
			t.Errorf("%s %s: %d %s %v, want %d", c.method, c.path, got.status, got.body, got.header, c.status)
		}
	}
}

// The path changes who may ask, and nothing of what is offered.
func TestSameCatalogueOnAnAgentsPath(t *testing.T) {
	const body = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
	w := newWorld(t)
	own := w.post(body)
	own.path = "/agt_1/mcp"
	if a, b := w.send(t, own), w.send(t, w.post(body)); a.body != b.body || !json.Valid([]byte(a.body)) {
		t.Errorf("%s\nat the endpoint: %s", a.body, b.body)
	}
}
