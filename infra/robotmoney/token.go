package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/local/issuer"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// token mints a token of the local issuer. An agent's has the scopes of its
// grant and a user's every scope unless fewer are asked for; what a member's
// role does not allow the endpoint takes away again.
func token(ctx context.Context, c *call) error {
	principal := c.flags.String("principal", "", "id of an agent (agt_...) or a member (mbr_...)")
	tenant := c.flags.String("tenant", "acme", "tenant of a member; an agent's is in its record")
	scopes := c.flags.String("scopes", "", "comma list; empty means all the principal has")
	ttl := c.flags.Duration("ttl", time.Hour, "how long it lives; the endpoint accepts at most 1h")
	if err := c.parse(0); err != nil {
		return err
	}
	if *principal == "" {
		return usageError("--principal is missing")
	}
	t, err := c.connect(ctx)
	if err != nil {
		return err
	}
	if !t.local {
		return errors.New("only the local stack's issuer can be asked; get tokens of a deployment from its authorization server")
	}
	stack, err := stackfile.Read(".")
	if err != nil {
		return err
	}
	keys, err := issuer.Open(stackfile.State)
	if err != nil {
		return err
	}
	grant := issuer.Grant{
		Issuer: stack.Issuer, Audience: stack.MCPURL, Kind: identity.User, Subject: *principal, Tenant: *tenant,
		Scopes: identity.AllScopes, Now: time.Now(), Life: *ttl,
	}
	if id.Check(id.Agent, *principal) == nil {
		rec, err := t.roster.Agent(ctx, *principal)
		if err != nil {
			return err
		}
		grant.Kind, grant.Tenant, grant.Scopes, grant.ScopeHash = identity.Agent, rec.TenantID, rec.Scopes, rec.Scopes.Hash()
	}
	if *scopes != "" {
		if grant.Scopes, err = identity.ParseScopes(strings.Split(*scopes, ",")); err != nil {
			return usageError(err.Error())
		}
	}
	signed, err := keys.Token(grant)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(map[string]any{"token": signed, "principal": *principal, "tenant": grant.Tenant, "scopes": grant.Scopes, "expires_at": grant.Now.Add(*ttl).UTC().Format(time.RFC3339)})
	}
	_, err = c.out.Write([]byte(signed + "\n"))
	return err
}
