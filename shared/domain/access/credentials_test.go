package access_test

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/issuer"
	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/platform/jwks"
)

const (
	issuerURL = "https://login.example.com/"
	endpoint  = "https://mcp.example.com/v1/agents/mcp"
)

// signIn gives a world an issuer, and a door that trusts it.
func signIn(t *testing.T, w *world) *issuer.Issuer {
	t.Helper()
	login, err := issuer.Open(t.TempDir())
	noError(t, err)
	server := httptest.NewServer(login)
	t.Cleanup(server.Close)
	w.door = w.process(&identity.Verifier{
		Issuer: issuerURL, Audience: []string{endpoint}, Keys: jwks.New(server.URL, w.now, slog.New(slog.DiscardHandler)), Now: w.now,
	})
	return login
}

// grantOf is what the issuer says of the agent.
func (w *world) grantOf(scopes identity.Scopes) issuer.Grant {
	return issuer.Grant{
		Issuer: issuerURL, Audience: endpoint, Kind: identity.Agent, Subject: w.agent.ID, Tenant: w.tenant.String(),
		Scopes: scopes, ScopeHash: grant.Hash(), Now: w.now(), Life: time.Hour,
	}
}

// enter verifies a credential and makes the checks.
func enter(t *testing.T, w *world, c access.Credential) (identity.Principal, error) {
	t.Helper()
	claimed, err := w.door.Verify(t.Context(), c)
	if err != nil {
		if claimed.Subject != "" {
			t.Errorf("claims of a refused credential: %+v", claimed)
		}
		return identity.Principal{}, err
	}
	return w.door.Admit(t.Context(), claimed, 1)
}

func TestTokens(t *testing.T) {
	w := newWorld(t)
	login := signIn(t, w)
	token, err := login.Token(w.grantOf(identity.Scopes{identity.WikiRead}))
	noError(t, err)
	claimed, err := w.door.Verify(t.Context(), access.Credential{Bearer: token})
	noError(t, err)
	equal(t, "table reads for a token", w.store.gets.Load()+w.store.queries.Load(), 0)
	equal(t, "actor", claimed.Actor(), identity.Actor{Type: "agent", ID: w.agent.ID})
	p, err := w.door.Admit(t.Context(), claimed, 1)
	noError(t, err)
	equal(t, "scopes", p.Scopes.String(), "wiki:read")

	user, err := login.Token(issuer.Grant{
		Issuer: issuerURL, Audience: endpoint, Kind: identity.User, Subject: w.member.ID, Tenant: w.tenant.String(), Scopes: identity.AllScopes, Now: w.now(), Life: time.Hour,
	})
	noError(t, err)
	p, err = enter(t, w, access.Credential{Bearer: user})
	noError(t, err)
	equal(t, "kind", p.Kind, identity.User)
	equal(t, "member", p.Member.ID, w.member.ID)

	w.pass(time.Hour + time.Minute)
	_, err = enter(t, w, access.Credential{Bearer: token})
	fails(t, "after an hour", err, fault.AuthTokenExpired)
}

func TestCredentials(t *testing.T) {
	w := newWorld(t)
	login := signIn(t, w)
	token, err := login.Token(w.grantOf(grant))
	noError(t, err)
	for name, c := range map[string]struct {
		credential access.Credential
		code       fault.Code
	}{
		"token":                  {access.Credential{Bearer: token}, ""},
		"none":                   {access.Credential{}, fault.AuthTokenMissing},
		"two":                    {access.Credential{Bearer: token, APIKey: "bak_x"}, fault.AuthTooMany},
		"two, both invalid":      {access.Credential{Bearer: "x", APIKey: "x"}, fault.AuthTooMany},
		"garbage":                {access.Credential{Bearer: "garbage"}, fault.AuthTokenInvalid},
		"token as a key":         {access.Credential{APIKey: token}, fault.AuthTokenInvalid},
		"unknown key":            {access.Credential{APIKey: "bak_unknown"}, fault.AuthTokenInvalid},
		"key without its prefix": {access.Credential{APIKey: "unknown"}, fault.AuthTokenInvalid},
		"key as a token":         {access.Credential{Bearer: "bak_unknown"}, fault.AuthTokenInvalid},
		"unknown capability":     {access.Credential{Bearer: "cap_unknown"}, fault.AuthTokenInvalid},
		"capability as a key":    {access.Credential{APIKey: "cap_unknown"}, fault.AuthTokenInvalid},
		"prefix of a capability": {access.Credential{Bearer: "cap_"}, fault.AuthTokenInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := enter(t, w, c.credential)
			fails(t, "request", err, c.code)
			if err != nil && strings.Contains(fault.Of(err).Message, "unknown") {
				t.Errorf("the message quotes the credential: %v", err)
			}
		})
	}
}

func TestAPIKeys(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, w *world, rec *identity.KeyRecord)
		want   string // the scopes; "!" and a code refuses
	}{
		"the whole grant": {func(*testing.T, *world, *identity.KeyRecord) {}, "execution:propose ledger:read wiki:read"},
		"a subset": {func(_ *testing.T, _ *world, rec *identity.KeyRecord) {
			rec.Scopes = identity.Scopes{identity.WikiRead}
		}, "wiki:read"},
		"more than the grant": {func(_ *testing.T, _ *world, rec *identity.KeyRecord) {
			rec.Scopes = identity.AllScopes
		}, "execution:propose ledger:read wiki:read"},
		"no scopes":    {func(_ *testing.T, _ *world, rec *identity.KeyRecord) { rec.Scopes = nil }, ""},
		"still good":   {func(_ *testing.T, w *world, rec *identity.KeyRecord) { rec.ExpiresAt = at(w, time.Second) }, "execution:propose ledger:read wiki:read"},
		"at its end":   {func(_ *testing.T, w *world, rec *identity.KeyRecord) { rec.ExpiresAt = at(w, 0) }, "!" + string(fault.AuthTokenExpired)},
		"expired":      {func(_ *testing.T, w *world, rec *identity.KeyRecord) { rec.ExpiresAt = at(w, -time.Hour) }, "!" + string(fault.AuthTokenExpired)},
		"broken end":   {func(_ *testing.T, _ *world, rec *identity.KeyRecord) { rec.ExpiresAt = "tomorrow" }, "!" + string(fault.AuthTokenExpired)},
		"other tenant": {func(_ *testing.T, _ *world, rec *identity.KeyRecord) { rec.TenantID = "globex" }, "!" + string(fault.AuthTenantMismatch)},
		"other agent":  {func(_ *testing.T, _ *world, rec *identity.KeyRecord) { rec.AgentID = "agt_nobody" }, "!" + string(fault.AgentNotRegistered)},
		"quarantined": {func(t *testing.T, w *world, _ *identity.KeyRecord) {
			w.agent.Status = identity.Quarantined
			w.writeAgent(t)
		}, "!" + string(fault.AgentNotRegistered)},
		"revoked on the chain": {func(_ *testing.T, w *world, _ *identity.KeyRecord) { w.change(revoked) }, "!" + string(fault.AgentNotOnchain)},
		"the chain has another hash than the grant": {func(_ *testing.T, w *world, _ *identity.KeyRecord) {
			w.change(func(r *identity.Registration) { r.ScopeHash = identity.AllScopes.Hash() })
		}, "!" + string(fault.AgentScopeHash)},
		"the chain has the hash of the key's subset": {func(_ *testing.T, w *world, rec *identity.KeyRecord) {
			rec.Scopes = identity.Scopes{identity.WikiRead}
			w.change(func(r *identity.Registration) { r.ScopeHash = rec.Scopes.Hash() })
		}, "!" + string(fault.AgentScopeHash)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			secret := "bak_" + w.agent.ID
			rec := identity.KeyRecord{AgentID: w.agent.ID, TenantID: w.tenant.String(), Scopes: grant}
			c.change(t, w, &rec)
			write(t, key.APIKey(secret), rec, time.Time{})
			p, err := enter(t, w, access.Credential{APIKey: secret})
			if code, refused := strings.CutPrefix(c.want, "!"); refused {
				fails(t, "request", err, fault.Code(code))
				return
			}
			noError(t, err)
			equal(t, "agent", p.ID, w.agent.ID)
			equal(t, "scopes", p.Scopes.String(), c.want)
			equal(t, "reads of the key's record", w.store.gets.Load(), 1)
		})
	}
}

// at is a time as records have it.
func at(w *world, in time.Duration) string { return w.now().Add(in).Format(time.RFC3339) }

// Neither secret lies in the table, nor does anything it could be found by.
func TestSecretsAreHashed(t *testing.T) {
	for name, k := range map[string]key.Key{"key": key.APIKey("bak_secret"), "capability": key.Capability("cap_secret")} {
		if strings.Contains(k.PK+k.SK, "secret") || !strings.Contains(k.PK, "#") || len(k.PK) < 64 {
			t.Errorf("%s lies under %v", name, k)
		}
	}
	if key.APIKey("x") == key.Capability("x") || key.APIKey("x") == key.APIKey("y") {
		t.Error("two secrets lie under one key")
	}
}

func TestCapabilities(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, w *world, rec *identity.CapabilityRecord)
		code   fault.Code
		uris   int
	}{
		"names two":      {func(*testing.T, *world, *identity.CapabilityRecord) {}, "", 2},
		"names nothing":  {func(_ *testing.T, _ *world, rec *identity.CapabilityRecord) { rec.URIs = nil }, "", 0},
		"at its end":     {func(_ *testing.T, w *world, rec *identity.CapabilityRecord) { rec.ExpiresAt = at(w, 0) }, fault.AuthTokenExpired, 0},
		"without an end": {func(_ *testing.T, _ *world, rec *identity.CapabilityRecord) { rec.ExpiresAt = "" }, fault.AuthTokenInvalid, 0},
		"no member":      {func(_ *testing.T, _ *world, rec *identity.CapabilityRecord) { rec.MemberID = "mbr_nobody" }, fault.ActorUnresolved, 0},
		"other tenant":   {func(_ *testing.T, _ *world, rec *identity.CapabilityRecord) { rec.TenantID = "globex" }, fault.ActorUnresolved, 0},
		"member has left": {func(t *testing.T, w *world, _ *identity.CapabilityRecord) {
			w.member.Status = identity.Deactivated
			w.writeMember(t)
		}, fault.ActorUnresolved, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.member.Role = identity.Admin
			w.writeMember(t)
			secret := "cap_" + w.tenant.String()
			rec := identity.CapabilityRecord{
				MemberID: w.member.ID, TenantID: w.tenant.String(), URIs: []string{"member://a", "member://b"}, ExpiresAt: at(w, time.Hour),
			}
			c.change(t, w, &rec)
			write(t, key.Capability(secret), rec, time.Time{})
			p, err := enter(t, w, access.Credential{Bearer: secret})
			fails(t, "request", err, c.code)
			if c.code != "" {
				return
			}
			equal(t, "kind", p.Kind, identity.User)
			equal(t, "capability", p.Capability(), true)
			equal(t, "URIs", len(p.URIs), c.uris)
			equal(t, "scopes, whatever the role", p.Scopes.String(), "")
		})
	}
}

func TestTableAwayAtTheDoor(t *testing.T) {
	w := newWorld(t)
	w.store.away.Store(true)
	for _, c := range []access.Credential{{APIKey: "bak_x"}, {Bearer: "cap_x"}} {
		_, err := enter(t, w, c)
		fails(t, "request", err, fault.DependencyUnavailable)
	}
}
