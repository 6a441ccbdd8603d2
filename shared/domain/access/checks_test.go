package access_test

import (
	"testing"

	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
)

// What can be wrong with an agent, in the order of the checks.
var wrongs = []struct {
	name    string
	spoil   func(t *testing.T, w *world, token *access.Claimed)
	code    fault.Code
	onChain bool // found out by asking the registry
}{
	{"token revoked", func(t *testing.T, w *world, token *access.Claimed) {
		write(t, key.Revoked(key.AgentPartition(w.agent.ID), token.TokenID), nil, w.now())
	}, fault.AuthTokenInvalid, false},
	{"quarantined", func(t *testing.T, w *world, _ *access.Claimed) {
		w.agent.Status = identity.Quarantined
		w.writeAgent(t)
	}, fault.AgentNotRegistered, false},
	{"record of another tenant", func(t *testing.T, w *world, _ *access.Claimed) {
		w.agent.TenantID = "globex"
		w.writeAgent(t)
	}, fault.AuthTenantMismatch, false},
	{"revoked on the chain", func(_ *testing.T, w *world, _ *access.Claimed) {
		w.change(revoked)
	}, fault.AgentNotOnchain, true},
	{"chain has another tenant", func(_ *testing.T, w *world, _ *access.Claimed) {
		w.change(func(r *identity.Registration) { r.TenantID = identity.TenantHash("globex") })
	}, fault.AuthTenantMismatch, true},
	{"chain has another scope hash", func(_ *testing.T, w *world, _ *access.Claimed) {
		w.change(func(r *identity.Registration) { r.ScopeHash = identity.AllScopes.Hash() })
	}, fault.AgentScopeHash, true},
}

// change changes what the chain holds of the agent.
func (w *world) change(change func(*identity.Registration)) {
	w.chain.mu.Lock()
	defer w.chain.mu.Unlock()
	id := identity.AgentHash(w.tenant.String(), w.agent.ID)
	r := w.chain.holds[id]
	change(&r)
	w.chain.holds[id] = r
}

// TestOrderOfTheChecks spoils one thing, then that and everything that is looked
// at after it: the first wrong thing is what the caller is told.
func TestOrderOfTheChecks(t *testing.T) {
	for i, wrong := range wrongs {
		for _, also := range []bool{false, true} {
			name := wrong.name
			if also {
				name += " and all that follows"
			}
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				token := w.token()
				for j := i; j < len(wrongs) && (j == i || also); j++ {
					wrongs[j].spoil(t, w, &token)
				}
				p, err := w.door.Admit(t.Context(), token, 1)
				fails(t, "first request", err, wrong.code)
				equal(t, "principal", p.ID, "")
				equal(t, "times the chain was asked", w.chain.count(), map[bool]int{false: 0, true: 1}[wrong.onChain])
			})
		}
	}
}

func TestAgent(t *testing.T) {
	w := newWorld(t)
	p := w.admits(t, "all is well", w.door, "")
	equal(t, "kind", p.Kind, identity.Agent)
	equal(t, "id", p.ID, w.agent.ID)
	equal(t, "tenant", p.Tenant, w.tenant)
	equal(t, "scopes", p.Scopes.String(), "execution:propose ledger:read wiki:read")
	equal(t, "record", p.Agent.ID, w.agent.ID)
	equal(t, "capability", p.Capability(), false)
}

func TestAgentRecords(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, w *world, token *access.Claimed)
		code  fault.Code
	}{
		"no record": {func(_ *testing.T, _ *world, token *access.Claimed) { token.Subject = "agt_nobody" }, fault.AgentNotRegistered},
		"revoked": {func(t *testing.T, w *world, _ *access.Claimed) {
			w.agent.Status = identity.Revoked
			w.writeAgent(t)
		}, fault.AgentNotRegistered},
		"unknown state": {func(t *testing.T, w *world, _ *access.Claimed) {
			w.agent.Status = "ACTIVE"
			w.writeAgent(t)
		}, fault.AgentNotRegistered},
		"token of another tenant": {func(t *testing.T, _ *world, token *access.Claimed) {
			other, err := identity.OperatorTenant("globex")
			noError(t, err)
			token.Tenant = other
		}, fault.AuthTenantMismatch},
		"never on the chain": {func(_ *testing.T, w *world, _ *access.Claimed) {
			w.change(func(r *identity.Registration) { *r = identity.Registration{} })
		}, fault.AgentNotOnchain},
		"token with another scope hash": {func(_ *testing.T, _ *world, token *access.Claimed) {
			token.ScopeHash = identity.AllScopes.Hash()
		}, fault.AgentScopeHash},
		"token without a scope hash": {func(_ *testing.T, _ *world, token *access.Claimed) { token.ScopeHash = identity.Hash{} }, fault.AgentScopeHash},
		"grant widened behind the chain's back": {func(t *testing.T, w *world, _ *access.Claimed) {
			w.agent.Scopes = identity.AllScopes
			w.writeAgent(t)
		}, fault.AgentScopeHash},
		"grant and token widened, the chain not": {func(t *testing.T, w *world, token *access.Claimed) {
			w.agent.Scopes = identity.AllScopes
			w.writeAgent(t)
			token.ScopeHash = identity.AllScopes.Hash()
		}, fault.AgentScopeHash},
		"chain and token widened, the grant not": {func(_ *testing.T, w *world, token *access.Claimed) {
			w.change(func(r *identity.Registration) { r.ScopeHash = identity.AllScopes.Hash() })
			token.ScopeHash = identity.AllScopes.Hash()
		}, fault.AgentScopeHash},
		"another token of the agent is revoked": {func(t *testing.T, w *world, _ *access.Claimed) {
			write(t, key.Revoked(key.AgentPartition(w.agent.ID), "t-9"), nil, w.now())
		}, ""},
		"user's token with the agent's name": {func(_ *testing.T, _ *world, token *access.Claimed) { token.Kind = identity.User }, fault.ActorUnresolved},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			token := w.token()
			c.spoil(t, w, &token)
			_, err := w.door.Admit(t.Context(), token, 1)
			fails(t, "request", err, c.code)
		})
	}
}

// A token narrows a grant and never widens it.
func TestEffectiveScopes(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		scopes identity.Scopes
		want   string
	}{
		"the whole grant":  {grant, "execution:propose ledger:read wiki:read"},
		"less":             {identity.Scopes{identity.WikiRead}, "wiki:read"},
		"none":             {nil, ""},
		"more":             {identity.AllScopes, "execution:propose ledger:read wiki:read"},
		"others only":      {identity.Scopes{identity.IntentApprove, identity.RawWrite}, ""},
		"some and another": {identity.Scopes{identity.IntentApprove, identity.WikiRead}, "wiki:read"},
	} {
		t.Run(name, func(t *testing.T) {
			token := w.token()
			token.Scopes = c.scopes
			p, err := w.door.Admit(t.Context(), token, 1)
			noError(t, err)
			equal(t, "scopes", p.Scopes.String(), c.want)
		})
	}
}

func TestMembers(t *testing.T) {
	all := identity.AllScopes
	const reads = "audit:read execution:read ledger:read raw:read wiki:read"
	const decides = "audit:read execution:read ledger:read payment_intent:approve raw:read wiki:read"
	for name, c := range map[string]struct {
		member identity.MemberRecord
		token  identity.Scopes
		want   string // "!" refuses
	}{
		"viewer":                {identity.MemberRecord{Role: identity.Viewer, Status: identity.Active}, all, reads},
		"approver":              {identity.MemberRecord{Role: identity.Approver, Status: identity.Active}, all, decides},
		"admin":                 {identity.MemberRecord{Role: identity.Admin, Status: identity.Active}, all, decides},
		"admin, narrow token":   {identity.MemberRecord{Role: identity.Admin, Status: identity.Active}, identity.Scopes{identity.WikiRead}, "wiki:read"},
		"viewer wants to write": {identity.MemberRecord{Role: identity.Viewer, Status: identity.Active}, identity.Scopes{identity.RawWrite, identity.IntentApprove}, ""},
		"unknown role":          {identity.MemberRecord{Role: "owner", Status: identity.Active}, all, ""},
		"invited":               {identity.MemberRecord{Role: identity.Admin, Status: identity.Invited}, all, "!"},
		"deactivated":           {identity.MemberRecord{Role: identity.Admin, Status: identity.Deactivated}, all, "!"},
		"no state":              {identity.MemberRecord{Role: identity.Admin}, all, "!"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.member.Role, w.member.Status = c.member.Role, c.member.Status
			w.writeMember(t)
			p, err := w.door.Admit(t.Context(), w.userToken(c.token...), 1)
			if c.want == "!" {
				fails(t, "request", err, fault.ActorUnresolved)
				return
			}
			noError(t, err)
			equal(t, "kind", p.Kind, identity.User)
			equal(t, "id", p.ID, "mbr_1")
			equal(t, "scopes", p.Scopes.String(), c.want)
			equal(t, "times the chain was asked", w.chain.count(), 0)
		})
	}
}

// A member of one tenant is nobody in another, and a revoked token of a member
// is refused.
func TestMembersOfOthers(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.member.ID = "mbr_of_" + w.tenant.String()
	w.writeMember(t)
	token := w.userToken(identity.WikiRead)
	_, err := w.door.Admit(t.Context(), token, 1)
	noError(t, err)
	token.Tenant = other.tenant
	_, err = w.door.Admit(t.Context(), token, 1)
	fails(t, "in another tenant", err, fault.ActorUnresolved)

	write(t, key.Revoked(key.MemberPartition(w.tenant, w.member.ID), "t-2"), nil, w.now())
	_, err = w.process(nil).Admit(t.Context(), w.userToken(identity.WikiRead), 1)
	fails(t, "revoked token", err, fault.AuthTokenInvalid)
}
