package render

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/policy"
)

// Agent is the facts of an agent's page. What the agent proposed is not on it: who
// may read pages may not read proposals.
type Agent struct {
	Record identity.AgentRecord `json:"record"`
}

func (f Agent) sheet() (*sheet, error) {
	a := f.Record
	s := named(a.Name, a.ID)
	s.add(truth, "Agent %s, %s", a.ID, a.Status)
	for _, fact := range []struct{ name, text string }{{"Role", a.Role}, {"Model", a.Model}, {"Address on the chain", a.Address}} {
		if fact.text != "" {
			s.add(truth, "%s: %s", fact.name, fence.Text(fact.text))
		}
	}
	s.add(truth, "Scopes: %s", fenced(a.Scopes.Strings()))
	if a.CreatedBy != "" {
		s.add(linked, "Made by %s", fence.Text(a.CreatedBy))
	}
	for _, skill := range some(a.Skills) {
		s.add(truth, "Says it can do %s: %s", fence.Text(skill.Name), fence.Text(skill.Description))
	}
	if a.Status != identity.Active {
		s.add(risks, "The agent is %s and may do nothing", a.Status)
	}
	if a.Trusted {
		s.add(risks, "A member vouches for what it contributes")
	}
	if a.CreatedAt != "" {
		s.add(timeline, "%s: made", fence.Text(a.CreatedAt))
	}
	return s, nil
}

// Policy is the facts of a policy's page.
type Policy struct {
	Version     int64           `json:"version"`
	Hash        string          `json:"hash"`
	ActivatedAt string          `json:"activated_at"`
	Signers     []string        `json:"signers"`
	Document    json.RawMessage `json:"document"` // as it was signed
	Active      bool            `json:"active"`   // the page is of the policy in force, whichever it is
}

// maxRules is how many rules a page names.
const maxRules = 100

// sheet names the rules and what they come to, and not the conditions: amounts at
// which nobody is asked are for those who may read decisions.
func (f Policy) sheet() (*sheet, error) {
	document, err := policy.Parse(f.Document)
	if err != nil {
		return nil, fmt.Errorf("policy %d: %w", f.Version, err)
	}
	s := titled("Policy, version %d", f.Version)
	if f.Active {
		s = titled("Active policy")
	}
	s.add(truth, "Version %d, %s", f.Version, plural(int64(len(document.Rules)), "rule"))
	for i, rule := range document.Rules {
		if i == maxRules {
			s.add(truth, "and %d more", len(document.Rules)-i)
			break
		}
		line := fence.Text(rule.ID) + ": " + string(rule.Execute)
		if len(rule.Require) > 0 {
			line += ", needs " + strings.Join(rule.Require, " and ")
		}
		if rule.Description != "" {
			line += ", " + fence.Text(rule.Description)
		}
		s.add(truth, "%s", line)
	}
	if f.Active {
		s.add(linked, "[Version %d](/policies/%d)", f.Version, f.Version)
	}
	if len(f.Signers) == 0 {
		s.add(risks, "No signer is recorded")
	}
	s.add(timeline, "%s: activated", fence.Text(f.ActivatedAt))
	s.add(evidence, "SHA-256 of the document: %s", fence.Text(f.Hash))
	if len(f.Signers) > 0 {
		s.add(evidence, "Signed by %s", fenced(f.Signers))
	}
	return s, nil
}
