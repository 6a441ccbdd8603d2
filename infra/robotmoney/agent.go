package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os/user"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
)

// view is an agent as `agent` commands print it.
type view struct {
	Record  identity.AgentRecord `json:"record"`
	Onchain onchain              `json:"onchain"`
}

type onchain struct {
	AgentID       identity.Hash `json:"agent_id"`
	Registered    bool          `json:"registered"`
	RegisteredAt  string        `json:"registered_at,omitempty"`
	RevokedAt     string        `json:"revoked_at,omitempty"`
	ScopeHash     identity.Hash `json:"scope_hash"`
	ScopesMatch   bool          `json:"scopes_match"` // the chain holds the hash of the record's scopes
	TenantMatches bool          `json:"tenant_matches"`
}

func agentShow(ctx context.Context, c *call) error {
	if err := c.parse(1); err != nil {
		return err
	}
	t, err := c.connect(ctx)
	if err != nil {
		return err
	}
	return c.show(ctx, t)
}

func (c *call) show(ctx context.Context, t *target) error {
	rec, err := t.roster.Agent(ctx, c.args[0])
	if err != nil {
		return err
	}
	hash := identity.AgentHash(rec.TenantID, rec.ID)
	reg, err := t.registry.Registration(ctx, hash)
	if err != nil {
		return err
	}
	v := view{rec, onchain{
		AgentID: hash, Registered: reg.Active(), RegisteredAt: moment(reg.RegisteredAt), RevokedAt: moment(reg.RevokedAt), ScopeHash: reg.ScopeHash,
		ScopesMatch: reg.ScopeHash == rec.Scopes.Hash(), TenantMatches: reg.TenantID == identity.TenantHash(rec.TenantID),
	}}
	return c.print(v,
		[2]string{"agent", rec.ID}, [2]string{"tenant", rec.TenantID}, [2]string{"name", rec.Name}, [2]string{"status", string(rec.Status)},
		[2]string{"scopes", rec.Scopes.String()}, [2]string{"on chain", state(reg)}, [2]string{"chain id", hash.String()},
		[2]string{"scope hash", reg.ScopeHash.String()}, [2]string{"scopes match", fmt.Sprint(v.Onchain.ScopesMatch)})
}

func state(reg identity.Registration) string {
	switch {
	case reg.RegisteredAt == 0:
		return "not registered"
	case reg.RevokedAt != 0:
		return "revoked " + moment(reg.RevokedAt)
	}
	return "registered " + moment(reg.RegisteredAt)
}

func moment(unix uint64) string {
	if unix == 0 {
		return ""
	}
	return time.Unix(int64(unix), 0).UTC().Format(time.RFC3339)
}

func agentQuarantine(ctx context.Context, c *call) error {
	return c.setStatus(ctx, identity.Quarantined, nil)
}

func agentActivate(ctx context.Context, c *call) error {
	return c.setStatus(ctx, identity.Active, nil)
}

// agentRevoke revokes on the chain first: from there on every process refuses
// the agent once its cached answer has run out, whatever becomes of the record.
func agentRevoke(ctx context.Context, c *call) error {
	return c.setStatus(ctx, identity.Revoked, func(ctx context.Context, t *target, rec identity.AgentRecord) error {
		hash := identity.AgentHash(rec.TenantID, rec.ID)
		reg, err := t.registry.Registration(ctx, hash)
		if err != nil {
			return err
		}
		if !reg.Active() { // revoked before; only the record is left to do
			return nil
		}
		admin, err := t.admin(rec.TenantID)
		if err != nil {
			return err
		}
		_, err = admin.RevokeAgent(ctx, hash)
		return err
	})
}

// setStatus moves an agent, after what must come first, and shows it.
func (c *call) setStatus(ctx context.Context, to identity.Status, before func(context.Context, *target, identity.AgentRecord) error) error {
	if err := c.parse(1); err != nil {
		return err
	}
	t, err := c.connect(ctx)
	if err != nil {
		return err
	}
	rec, err := t.roster.Agent(ctx, c.args[0])
	if err != nil {
		return err
	}
	tenant, err := identity.OperatorTenant(rec.TenantID)
	if err != nil {
		return err
	}
	if before != nil {
		if err := before(ctx, t, rec); err != nil {
			return err
		}
	}
	actor, requestID, err := operator()
	if err != nil {
		return err
	}
	if _, err := t.roster.SetStatus(ctx, tenant, actor, requestID, rec.ID, to); err != nil {
		return err
	}
	return c.show(ctx, t)
}

// operator names who runs the command, for the audit trail.
func operator() (identity.Actor, string, error) {
	who, err := user.Current()
	if err != nil {
		return identity.Actor{}, "", errors.New("cannot tell which user runs this")
	}
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return identity.Actor{}, "", err
	}
	return identity.Actor{Type: "operator", ID: who.Username}, hex.EncodeToString(id[:]), nil
}
