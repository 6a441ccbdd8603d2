// Package agent is the provider of the beeos:// URIs: what the calling agent is
// configured with, and a prompt it can offer its user.
package agent

import (
	"context"
	"encoding/json"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

const jsonType = "application/json"

// Rate says how many requests a minute a tenant may make.
type Rate func(identity.Tenant) int

// Provider makes the provider. An agent reads about itself alone, out of the
// record its checks have just read: no further read, and no scope. People have
// no agent's configuration, so the filter hides it from them.
func Provider(rate Rate) catalog.Provider {
	return catalog.Provider{
		Name:   "agent",
		Filter: func(_ catalog.Summary, who identity.Principal) bool { return who.Agent != nil },
		Resources: []catalog.Resource{{
			URI: "beeos://agent/config", Name: "Agent Configuration", MIMEType: jsonType,
			Description: "Current agent configuration and capabilities",
			Read:        about(func(who identity.Principal) any { return configuration(who, rate(who.Tenant)) }),
		}, {
			URI: "beeos://agent/skills", Name: "Skill Registry", MIMEType: jsonType,
			Description: "List of all registered skills with metadata",
			Read:        about(func(who identity.Principal) any { return registry(who.Agent.Skills) }),
		}},
		Prompts: []catalog.Prompt{research()},
	}
}

// about makes the read of a document about the calling agent.
func about(document func(identity.Principal) any) func(context.Context, catalog.Call) (catalog.Contents, error) {
	return func(_ context.Context, call catalog.Call) (catalog.Contents, error) {
		if call.Principal.Agent == nil { // the filter has judged it
			return catalog.Contents{}, fault.New(fault.ResourceNotFound, "There is no such resource.")
		}
		return catalog.JSON(document(call.Principal))
	}
}

// config is the agent's configuration: what its tenant registered, what this
// call may use of it, and what bounds it.
type config struct {
	Name          string          `json:"name"`
	Model         *string         `json:"model"` // null where the tenant named none
	Skills        []string        `json:"skills"`
	AgentID       string          `json:"agent_id"`
	Role          string          `json:"role"`
	Scopes        []string        `json:"scopes"`           // the whole grant
	Effective     []string        `json:"effective_scopes"` // what the present credential may use of it
	Limits        limits          `json:"limits"`
	PolicyVersion *int            `json:"policy_version"` // null while the tenant has no active policy
	State         identity.Status `json:"state"`
}

// limits are what bounds the agent besides its scopes.
type limits struct {
	RequestsPerMinute int `json:"requests_per_minute"` // shared by all of the tenant's callers
}

func configuration(who identity.Principal, perMinute int) config {
	c := config{
		Name: who.Agent.Name, AgentID: who.Agent.ID, Role: who.Agent.Role, State: who.Agent.Status,
		Scopes: who.Agent.Scopes.Strings(), Effective: who.Scopes.Strings(),
		Skills: []string{}, Limits: limits{perMinute},
	}
	if who.Agent.Model != "" {
		c.Model = &who.Agent.Model
	}
	for _, skill := range who.Agent.Skills {
		c.Skills = append(c.Skills, skill.Name)
	}
	return c
}

// skills is the agent's skill registry.
type skills struct {
	Skills []skill `json:"skills"`
	Total  int     `json:"total_skills"`
}

// skill is an entry as it is shown: no list in it is null.
type skill identity.Skill

// MarshalJSON writes the skill with its tags as a list, also without any.
func (s skill) MarshalJSON() ([]byte, error) {
	if s.Tags == nil {
		s.Tags = []string{}
	}
	return json.Marshal(identity.Skill(s))
}

func registry(registered []identity.Skill) skills {
	out := skills{Skills: []skill{}, Total: len(registered)}
	for _, s := range registered {
		out.Skills = append(out.Skills, skill(s))
	}
	return out
}
