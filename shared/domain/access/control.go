// Package access decides who may come in: it verifies a credential, counts the
// request against the tenant's rate, and makes the checks of an agent or a
// member, each in its order. It fails closed: what cannot be checked does not
// pass.
package access

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// chainLife is how long an answer of the registry counts: a revoked agent is
	// served at most so much longer.
	chainLife = 60 * time.Second

	keyPrefix        = "bak_" // agent API keys
	capabilityPrefix = "cap_" // capability tokens
)

// Credential is what a request presents. Both fields at once are refused.
type Credential struct {
	Bearer string // a JWT, or a capability token by its prefix
	APIKey string
}

// Claimed is a caller whose credential verified and whose checks have not been
// made: good for the audit trail, not for a single read.
type Claimed struct {
	identity.Claims
	granted bool     // an API key: the chain is held against the grant alone
	uris    []string // a capability token: the URIs it names
}

// Actor names the caller in events.
func (c Claimed) Actor() identity.Actor { return identity.Actor{Type: string(c.Kind), ID: c.Subject} }

// Control is the door. Make it with New.
type Control struct {
	tokens *identity.Verifier
	store  record.Store
	chain  identity.Registry
	limits *Limiter
	log    *slog.Logger
	now    func() time.Time
	files  files
	flight singleflight.Group
}

// New makes a door out of its parts.
func New(tokens *identity.Verifier, store record.Store, chain identity.Registry, limits *Limiter, log *slog.Logger, now func() time.Time) *Control {
	return &Control{tokens: tokens, store: store, chain: chain, limits: limits, log: log, now: now, files: files{store: store, now: now}}
}

// Verify says whose credential it is. Nothing is read for a JWT but the
// issuer's keys; an API key or a capability token is one read of its record.
func (c *Control) Verify(ctx context.Context, cred Credential) (Claimed, error) {
	switch {
	case cred.APIKey != "" && cred.Bearer != "":
		return Claimed{}, fault.New(fault.AuthTooMany, "Two credentials came with the request. Send either Authorization or X-Agent-API-Key.")
	case cred.APIKey != "":
		return c.apiKey(ctx, cred.APIKey)
	case strings.HasPrefix(cred.Bearer, capabilityPrefix):
		return c.capability(ctx, cred.Bearer)
	case cred.Bearer != "":
		claims, err := c.tokens.Verify(ctx, cred.Bearer)
		return Claimed{Claims: claims}, err
	}
	return Claimed{}, fault.New(fault.AuthTokenMissing, "No access token came with the request. Send Authorization: Bearer with a token of the authorization server.")
}

func (c *Control) apiKey(ctx context.Context, secret string) (Claimed, error) {
	refused := fault.New(fault.AuthTokenInvalid, "The agent API key is not accepted.")
	if !strings.HasPrefix(secret, keyPrefix) {
		return Claimed{}, refused
	}
	rec, err := lookup[identity.KeyRecord](ctx, c.store, key.APIKey(secret), refused)
	if err != nil {
		return Claimed{}, err
	}
	if err := c.alive(rec.ExpiresAt); err != nil {
		return Claimed{}, err
	}
	return c.claimed(identity.Agent, rec.AgentID, rec.TenantID, Claimed{granted: true, Claims: identity.Claims{Scopes: rec.Scopes}})
}

func (c *Control) capability(ctx context.Context, secret string) (Claimed, error) {
	refused := fault.New(fault.AuthTokenInvalid, "The capability token is not accepted.")
	rec, err := lookup[identity.CapabilityRecord](ctx, c.store, key.Capability(secret), refused)
	if err != nil {
		return Claimed{}, err
	}
	if rec.ExpiresAt == "" {
		return Claimed{}, refused
	}
	if err := c.alive(rec.ExpiresAt); err != nil {
		return Claimed{}, err
	}
	// A slice that is not nil, also for a token that names nothing.
	return c.claimed(identity.User, rec.MemberID, rec.TenantID, Claimed{uris: append([]string{}, rec.URIs...)})
}

// lookup reads the record behind a secret; one that is not there is refused.
func lookup[T any](ctx context.Context, store record.Store, k key.Key, refused error) (T, error) {
	var rec T
	item, found, err := store.Get(ctx, k)
	if err != nil {
		return rec, err
	}
	if !found {
		return rec, refused
	}
	return rec, json.Unmarshal(item.Body, &rec)
}

// alive refuses a stored credential after its time; an empty time is never.
func (c *Control) alive(expires string) error {
	if expires == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, expires)
	if err != nil || !c.now().Before(at) {
		return fault.Because(err, fault.AuthTokenExpired, "The credential has expired. Ask for a new one.")
	}
	return nil
}

func (c *Control) claimed(kind identity.Kind, subject, tenant string, out Claimed) (Claimed, error) {
	t, err := identity.OperatorTenant(tenant) // an operator wrote it into the credential's record
	if err != nil {
		return Claimed{}, err
	}
	out.Kind, out.Subject, out.Tenant = kind, subject, t
	return out, nil
}

// Admit counts the requests (a batch holds several) against the tenant's rate
// and makes the checks of the principal. The rate is judged before anything else and before the chain
// is asked; the two reads it takes on a cold start run side by side.
func (c *Control) Admit(ctx context.Context, claimed Claimed, requests int) (identity.Principal, error) {
	f, err := c.within(ctx, claimed, requests)
	if err != nil {
		return identity.Principal{}, err
	}
	if f.revoked[claimed.TokenID] {
		return identity.Principal{}, fault.New(fault.AuthTokenInvalid, "The access token has been revoked. Get a new one from the authorization server.")
	}
	if claimed.Kind == identity.User {
		return c.member(f, claimed)
	}
	return c.agent(ctx, f, claimed)
}

// within returns the principal's file if the tenant is within its rate. Only
// where the file must be read is there anything to gain from reading and
// counting at once.
func (c *Control) within(ctx context.Context, claimed Claimed, requests int) (*file, error) {
	partition := key.AgentPartition(claimed.Subject)
	if claimed.Kind == identity.User {
		partition = key.MemberPartition(claimed.Tenant, claimed.Subject)
	}
	if f := c.files.copy(partition); f != nil && f.young(c.now()) {
		return f, c.limits.Take(ctx, claimed.Tenant, requests)
	}
	limited := make(chan error, 1)
	go func() { limited <- c.limits.Take(ctx, claimed.Tenant, requests) }()
	f, err := c.files.get(ctx, partition)
	if limit := <-limited; limit != nil {
		return nil, limit
	}
	return f, err
}

// agent makes the three checks of an agent in their order: its record is
// active, its tenant is the token's, and the chain says the same as both.
func (c *Control) agent(ctx context.Context, f *file, claimed Claimed) (identity.Principal, error) {
	var rec identity.AgentRecord
	found, err := f.decode(&rec)
	switch {
	case err != nil:
		return identity.Principal{}, err
	case !found || rec.Status != identity.Active:
		return identity.Principal{}, fault.New(fault.AgentNotRegistered, "The agent is not registered or not active. Its tenant's operator can register or activate it.")
	case rec.TenantID != claimed.Tenant.String():
		return identity.Principal{}, fault.New(fault.AuthTenantMismatch, "The agent belongs to another tenant than the token.")
	}
	grant := rec.Scopes.Hash()
	if claimed.granted {
		claimed.ScopeHash = grant
	}
	answer, err := c.registration(ctx, f, claimed)
	if err != nil {
		return identity.Principal{}, err
	}
	switch {
	case answer.TenantID != identity.TenantHash(claimed.Tenant.String()):
		return identity.Principal{}, fault.New(fault.AuthTenantMismatch, "The registry holds the agent for another tenant.")
	case answer.ScopeHash != claimed.ScopeHash || answer.ScopeHash != grant:
		return identity.Principal{}, fault.New(fault.AgentScopeHash, "The scope hash of the token, of the grant and of the registry are not the same. The agent must be registered anew with its present scopes.")
	}
	return identity.Principal{
		Kind: identity.Agent, ID: rec.ID, Tenant: claimed.Tenant, Scopes: claimed.Scopes.Intersect(rec.Scopes), Agent: &rec,
		Behavior: answer.Behavior,
	}, nil
}

// member checks that the user is an active member, and caps the token's scopes
// by the member's role.
func (c *Control) member(f *file, claimed Claimed) (identity.Principal, error) {
	var rec identity.MemberRecord
	found, err := f.decode(&rec)
	if err != nil {
		return identity.Principal{}, err
	}
	if !found || rec.Status != identity.Active {
		return identity.Principal{}, fault.New(fault.ActorUnresolved, "The user is not an active member of the tenant.")
	}
	return identity.Principal{
		Kind: identity.User, ID: rec.ID, Tenant: claimed.Tenant, Scopes: claimed.Scopes.Intersect(rec.Ceiling()), Member: &rec, URIs: claimed.uris,
	}, nil
}

// registration returns what the chain says of the agent: from the file while it
// is fresh, else from the registry itself, asked once for all that wait.
func (c *Control) registration(ctx context.Context, f *file, claimed Claimed) (*chainAnswer, error) {
	if f.chain.fresh(c.now()) {
		return f.chain, nil
	}
	agent := identity.AgentHash(claimed.Tenant.String(), claimed.Subject)
	got, err, _ := c.flight.Do(agent.String(), func() (any, error) {
		// Who read the file before another caller's answer came in need not ask.
		if known := c.files.copy(key.AgentPartition(claimed.Subject)); known != nil && known.chain.fresh(c.now()) {
			return known.chain, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readLimit)
		defer cancel()
		asked := wall(c.now())
		reg, err := c.chain.Registration(ctx, agent)
		if err != nil {
			return nil, err
		}
		if !reg.Active() {
			return nil, fault.New(fault.AgentNotOnchain, "The registry contract does not hold the agent, or its registration was revoked.")
		}
		answer := &chainAnswer{TenantID: reg.TenantID, ScopeHash: reg.ScopeHash, Behavior: reg.BehaviorHash, expires: asked.Add(chainLife)}
		c.cache(ctx, claimed.Subject, answer)
		return answer, nil
	})
	if err != nil {
		return nil, err
	}
	return got.(*chainAnswer), nil
}

// cache keeps an answer in the process and beside the agent's record. A table
// that does not take it costs the next process one more call, nothing else.
func (c *Control) cache(ctx context.Context, agent string, answer *chainAnswer) {
	c.files.answer(key.AgentPartition(agent), answer)
	body, err := json.Marshal(answer)
	if err == nil {
		item := record.Item{Key: key.AgentChain(agent), Expires: answer.expires, Body: body}
		err = c.store.Commit(ctx, record.Change{Puts: []record.Put{{Item: item, Blind: true}}})
	}
	if err != nil {
		c.log.WarnContext(ctx, "the registry's answer could not be cached", "agent", agent, "error", err)
	}
}
