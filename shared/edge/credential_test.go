package edge_test

import (
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
)

const (
	metadata  = `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/v1/agents/mcp"`
	allScopes = `scope="audit:read execution:propose execution:read ledger:read payment_intent:approve payment_intent:propose raw:read raw:write wiki:read"`
	login     = `Bearer ` + metadata + `, ` + allScopes
	refresh   = login + `, error="invalid_token"`
)

func TestCredentials(t *testing.T) {
	for _, c := range []struct {
		name      string
		present   func(*world, *message)
		status    int
		code      string
		challenge string
	}{
		{"a token", func(*world, *message) {}, 200, "", ""},
		{"the scheme in another case", func(w *world, m *message) { m.with("authorization", "bEARER "+w.token()) }, 200, "", ""},
		{"blanks around it", func(w *world, m *message) { m.with("authorization", "  Bearer   "+w.token()+"  ") }, 200, "", ""},
		{"an API key", func(_ *world, m *message) { m.with("authorization", "").with("x-agent-api-key", "bak_good") }, 200, "", ""},
		{"none", func(_ *world, m *message) { m.with("authorization", "") }, 401, "auth_token_missing", login},
		{"another scheme", func(_ *world, m *message) { m.with("authorization", "Basic YTpi") }, 401, "auth_token_invalid", refresh},
		{"no token after the scheme", func(_ *world, m *message) { m.with("authorization", "Bearer ") }, 401, "auth_token_invalid", refresh},
		{"garbage", func(_ *world, m *message) { m.with("authorization", "Bearer x") }, 401, "auth_token_invalid", refresh},
		{"an API key as a token", func(_ *world, m *message) { m.with("authorization", "Bearer bak_good") }, 401, "auth_token_invalid", refresh},
		{"tampered with", func(w *world, m *message) { m.with("authorization", "Bearer "+w.token()+"A") }, 401, "auth_token_invalid", refresh},
		{"expired", func(w *world, m *message) { m.with("authorization", "Bearer "+w.token(expired)) }, 401, "auth_token_expired", refresh},
		{"meant for another", func(w *world, m *message) { m.with("authorization", "Bearer "+w.token(foreign)) }, 401, "auth_token_invalid", refresh},
		{"expired and meant for another", func(w *world, m *message) { m.with("authorization", "Bearer "+w.token(expired, foreign)) }, 401, "auth_token_invalid", refresh},
		{"an unknown API key", func(_ *world, m *message) { m.with("authorization", "").with("x-agent-api-key", "bak_bad") }, 401, "auth_token_invalid", refresh},
		{"an API key of another form", func(_ *world, m *message) { m.with("authorization", "").with("x-agent-api-key", "good") }, 401, "auth_token_invalid", refresh},
		{"an unknown capability token", func(_ *world, m *message) { m.with("authorization", "Bearer cap_x") }, 401, "auth_token_invalid", refresh},
		{"two kinds", func(_ *world, m *message) { m.with("x-agent-api-key", "bak_good") }, 400, "auth_multiple_credentials", ""},
		{"two kinds, both bad", func(_ *world, m *message) { m.with("authorization", "x").with("x-agent-api-key", "x") }, 400, "auth_multiple_credentials", ""},
		{"two tokens joined by a gateway", func(w *world, m *message) { m.with("authorization", "Bearer "+w.token()+",Bearer "+w.token()) }, 400, "auth_multiple_credentials", ""},
		{"two API keys joined by a gateway", func(_ *world, m *message) { m.with("authorization", "").with("x-agent-api-key", "bak_good, bak_good") }, 400, "auth_multiple_credentials", ""},
		{"of another tenant", func(w *world, m *message) {
			m.with("authorization", "Bearer "+w.token(func(c jwt.MapClaims) { c["tenant_id"] = "other" }))
		}, 403, "auth_tenant_mismatch", ""},
		{"of an unknown agent", func(w *world, m *message) {
			m.with("authorization", "Bearer "+w.token(func(c jwt.MapClaims) { c["sub"] = "agt_2" }))
		}, 403, "agent_not_registered", ""},
		{"of no member", func(w *world, m *message) {
			m.with("authorization", "Bearer "+w.token(func(c jwt.MapClaims) { c["principal_type"] = "user" }))
		}, 403, "actor_unresolved", ""},
		{"of another scope hash", func(w *world, m *message) {
			m.with("authorization", "Bearer "+w.token(func(c jwt.MapClaims) { c["scope_hash"] = "0x" + strings.Repeat("0", 64) }))
		}, 403, "agent_scope_hash_mismatch", ""},
		{"revoked on the chain", func(w *world, _ *message) { w.registry.holds.RevokedAt = 1 }, 403, "agent_not_registered_onchain", ""},
		{"never on the chain", func(w *world, _ *message) { w.registry.holds = identity.Registration{} }, 403, "agent_not_registered_onchain", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			m := w.post(ping)
			c.present(w, m)
			got := w.send(t, m)
			if got.status != c.status || got.code(t) != c.code {
				t.Errorf("%d %s, want %d %s", got.status, got.body, c.status, c.code)
			}
			if challenge := got.header.Get("WWW-Authenticate"); challenge != c.challenge {
				t.Errorf("challenge %s\nwant      %s", challenge, c.challenge)
			}
			if c.status != 200 && string(got.failure(t).ID) != "7" {
				t.Errorf("the id is lost: %s", got.body)
			}
			if (c.status == 401 || c.status == 400) && len(w.trail.calls) > 0 {
				t.Error("somebody unknown has written into a tenant's trail")
			}
		})
	}
}

func TestModernNumbers(t *testing.T) {
	const body = `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	for _, version := range []string{"2026-07-28", ""} {
		w := newWorld(t)
		m := w.post(body).with("authorization", "").with("mcp-protocol-version", version)
		if e := w.send(t, m).failure(t); e.Error.Code != -31001 {
			t.Errorf("version header %q: code %d", version, e.Error.Code)
		}
	}
	w := newWorld(t)
	if e := w.send(t, w.post(ping).with("authorization", "").with("mcp-protocol-version", "2025-11-25")).failure(t); e.Error.Code != -32001 {
		t.Errorf("legacy: code %d", e.Error.Code)
	}
}

func TestMissingScope(t *testing.T) {
	const audit = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"demo.audit"}}`
	w := newWorld(t)
	got := w.send(t, w.post(audit))
	want := `Bearer error="insufficient_scope", scope="audit:read ledger:read", ` + metadata
	if got.status != 403 || got.code(t) != "auth_scope_insufficient" || got.header.Get("WWW-Authenticate") != want {
		t.Errorf("%d %s\n%s\nwant %s", got.status, got.body, got.header.Get("WWW-Authenticate"), want)
	}
	// An expired token that lacks the scope as well is refreshed first.
	m := w.post(audit).with("authorization", "Bearer "+w.token(expired))
	if got := w.send(t, m); got.status != 401 || got.header.Get("WWW-Authenticate") != refresh {
		t.Errorf("expired: %d %s", got.status, got.header.Get("WWW-Authenticate"))
	}
	// In a batch the status is the batch's, and there is no challenge.
	if got := w.send(t, w.post("["+audit+"]")); got.status != 200 || got.header.Get("WWW-Authenticate") != "" || !strings.Contains(got.body, "auth_scope_insufficient") {
		t.Errorf("in a batch: %d %s", got.status, got.body)
	}
}

// A capability token that is used for what it cannot do is refused without a
// challenge: no scope would help.
func TestCapabilityTokenHasNoStepUp(t *testing.T) {
	w := newWorld(t)
	tenant, err := identity.OperatorTenant("acme")
	must(t, err)
	w.table.put(key.Capability("cap_good"), identity.CapabilityRecord{MemberID: "mbr_1", TenantID: "acme", URIs: []string{"demo://text"}, ExpiresAt: "2026-07-28T12:00:01Z"})
	w.table.put(key.MemberRecord(tenant, "mbr_1"), identity.MemberRecord{ID: "mbr_1", TenantID: "acme", Role: identity.Viewer, Status: identity.Active})
	m := w.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"demo.do"}}`).with("authorization", "Bearer cap_good")
	if got := w.send(t, m); got.status != 403 || got.code(t) != "auth_scope_insufficient" || got.header.Get("WWW-Authenticate") != "" {
		t.Errorf("%d %s %v", got.status, got.body, got.header)
	}
	m.body = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
	if got := w.send(t, m); got.status != 200 || !strings.Contains(got.body, `"tools":[]`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestRate(t *testing.T) {
	w := newWorld(t)
	w.counter.limit = 5
	for i := range 5 {
		if got := w.send(t, w.post(ping)); got.status != 200 {
			t.Fatalf("request %d: %d %s", i, got.status, got.body)
		}
	}
	got := w.send(t, w.post(ping))
	if got.status != 429 || got.header.Get("Retry-After") != "61" && got.header.Get("Retry-After") != "60" || got.code(t) != "rate_limited" {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
	if len(w.trail.calls) != 5 {
		t.Errorf("%d events; a refusal by rate leaves none of its own", len(w.trail.calls))
	}
	// Every message of a batch counts.
	w = newWorld(t)
	w.counter.limit = 3
	if got := w.send(t, w.post("["+ping+","+ping+","+ping+","+ping+"]")); got.status != 429 || got.failure(t).ID != nil {
		t.Errorf("a batch of four: %d %s", got.status, got.body)
	}
	if got := newWorld(t); got.send(t, got.post("["+ping+","+ping+"]")).status != 200 {
		t.Error("a batch of two is refused")
	}
}

func TestRetryAfter(t *testing.T) {
	w := newWorld(t)
	w.registry.away = chainAway
	if got := w.send(t, w.post(ping)); got.header.Get("Retry-After") != "1" {
		t.Errorf("chain away: %d %v", got.status, got.header)
	}
	w.registry.away = chainAway.After(9)
	if got := w.send(t, w.post(ping)); got.header.Get("Retry-After") != "9" {
		t.Errorf("chain away for longer: %d %v", got.status, got.header)
	}
	for _, status := range []func(*message){func(m *message) { m.with("authorization", "") }, func(m *message) { m.method = "GET" }, func(*message) {}} {
		w := newWorld(t)
		m := w.post(ping)
		status(m)
		if got := w.send(t, m); got.header.Get("Retry-After") != "" {
			t.Errorf("%d: Retry-After %s", got.status, got.header.Get("Retry-After"))
		}
	}
}
