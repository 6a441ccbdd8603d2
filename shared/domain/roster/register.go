package roster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/tenant"
)

// The events of tenants and of agents' registration, trust and keys.
const (
	ActionTenantCreated   = "tenant.created"
	ActionAgentRegistered = "agent.registered"
	ActionAgentTrusted    = "agent.trusted"
	ActionAgentDistrusted = "agent.distrusted"
	ActionKeyCreated      = "agent.key_created"
)

// CreateTenant writes a company's settings, once. A company that is there is a
// conflict.
func (r *Roster) CreateTenant(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, s tenant.Settings) error {
	if err := s.Check(); err != nil {
		return fault.New(fault.InvalidArgument, "%v.", err)
	}
	body, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode settings of %s: %w", t, err)
	}
	err = r.enter(ctx, t, actor, requestID, audit.Event{Action: ActionTenantCreated, Inputs: map[string]any{"tenant_id": t.String()}},
		record.Put{Item: record.Item{Key: key.Settings(t), Body: body}})
	if errors.Is(err, record.ErrConflict) {
		return fault.New(fault.Conflict, "There is a tenant %s already.", t)
	}
	return err
}

// Register enters an agent's record, active. The chain must hold its
// registration, or the door lets it in no more than before. A taken id is a
// conflict.
func (r *Roster) Register(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, rec identity.AgentRecord) (identity.AgentRecord, error) {
	if err := id.Check(id.Agent, rec.ID); err != nil {
		return rec, fault.New(fault.InvalidArgument, "%v.", err)
	}
	if rec.Name == "" || len(rec.Scopes) == 0 {
		return rec, fault.New(fault.InvalidArgument, "An agent needs a name and at least one scope.")
	}
	if rec.Scopes.Has(identity.IntentApprove) {
		return rec, fault.New(fault.InvalidArgument, "No agent is granted %s: deciding is for people.", identity.IntentApprove)
	}
	rec.TenantID, rec.Status, rec.CreatedAt = t.String(), identity.Active, r.Trail.Now().UTC().Format(audit.TimeForm)
	body, err := json.Marshal(rec)
	if err != nil {
		return rec, fmt.Errorf("encode agent %s: %w", rec.ID, err)
	}
	err = r.enter(ctx, t, actor, requestID, audit.Event{Action: ActionAgentRegistered, Inputs: map[string]any{
		"agent_id": rec.ID, "scopes": rec.Scopes, "scope_hash": rec.Scopes.Hash(), "created_by": rec.CreatedBy,
	}}, record.Put{Item: record.Item{Key: key.AgentRecord(rec.ID), Body: body}})
	if errors.Is(err, record.ErrConflict) {
		return rec, fault.New(fault.Conflict, "There is an agent %s already.", rec.ID)
	}
	return rec, err
}

// Trust says whether a member vouches for what an agent contributes. What the
// agent brought before stays as it is; see raw.Archive.Accept.
func (r *Roster) Trust(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string, trusted bool) (identity.AgentRecord, error) {
	return r.amend(ctx, t, actor, requestID, name, func(rec *identity.AgentRecord) (audit.Event, error) {
		if rec.Trusted == trusted {
			return audit.Event{}, nil
		}
		rec.Trusted = trusted
		if trusted {
			return audit.Event{Action: ActionAgentTrusted}, nil
		}
		return audit.Event{Action: ActionAgentDistrusted}, nil
	})
}

// AddKey enters an agent API key under its hash. Its scopes are inside the
// agent's grant; an expiry of zero is never.
func (r *Roster) AddKey(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, secret, agent string, scopes identity.Scopes, expires time.Time) error {
	rec, err := r.Agent(ctx, agent)
	if err != nil {
		return err
	}
	if rec.TenantID != t.String() {
		return fault.New(fault.AgentNotRegistered, "There is no agent %.80q.", agent)
	}
	if missing := rec.Scopes.Missing(scopes); len(missing) > 0 {
		return fault.New(fault.InvalidArgument, "The agent is not granted %s, so its key cannot be.", identity.Scopes(missing))
	}
	k := identity.KeyRecord{AgentID: agent, TenantID: t.String(), Scopes: scopes}
	if !expires.IsZero() {
		k.ExpiresAt = expires.UTC().Format(time.RFC3339)
	}
	body, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("encode key of %s: %w", agent, err)
	}
	return r.enter(ctx, t, actor, requestID, audit.Event{Action: ActionKeyCreated, Inputs: map[string]any{
		"agent_id": agent, "scopes": scopes, "expires_at": k.ExpiresAt,
	}}, record.Put{Item: record.Item{Key: key.APIKey(secret), Body: body}})
}
