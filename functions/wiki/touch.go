package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/rollups"
	"github.com/robotmoney/mcp/shared/domain/wiki/press"
)

// errUnread says that an event has not the form of its action. It quotes nothing:
// it ends in the log.
var errUnread = errors.New("the event does not say what it is about")

// touches adds what an event is about to a change, by its action. Others touch no
// page.
var touches = map[string]func(ctx context.Context, e event, c *press.Change) error{
	ledger.ActionChanged: rows, rollups.ActionRebuilt: rows, charter.ActionActivated: policy,
	"agent.activated": agent, "agent.quarantined": agent, "agent.revoked": agent,
}

// rows adds the rows an event of the ledger names, and what they have left.
func rows(ctx context.Context, e event, c *press.Change) error {
	var out struct {
		Rows    json.RawMessage `json:"rows"`
		Touched []string        `json:"touched"`
	}
	if json.Unmarshal(e.Outputs, &out) != nil {
		return errUnread
	}
	var names []string
	if e.Action == ledger.ActionChanged && json.Unmarshal(out.Rows, &names) != nil {
		return errUnread
	}
	c.About(out.Touched...)
	return c.Rows(ctx, names)
}

// policy adds a version of the policy that came into force.
func policy(_ context.Context, e event, c *press.Change) error {
	var in struct {
		Version int64 `json:"version"`
	}
	if json.Unmarshal(e.Inputs, &in) != nil || in.Version < 1 {
		return errUnread
	}
	c.Policy(in.Version)
	return nil
}

// agent adds the agent whose state changed.
func agent(_ context.Context, e event, c *press.Change) error {
	var in struct {
		AgentID string `json:"agent_id"`
	}
	if json.Unmarshal(e.Inputs, &in) != nil || in.AgentID == "" {
		return errUnread
	}
	c.About(in.AgentID)
	return nil
}
