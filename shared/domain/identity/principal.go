package identity

import "github.com/robotmoney/mcp/shared/domain/money"

// Kind tells the two sorts of caller apart.
type Kind string

// The kinds of principal.
const (
	Agent Kind = "agent" // a program a tenant registered on the chain
	User  Kind = "user"  // a human member of a tenant
)

// Principal is an authenticated caller whose checks have passed.
type Principal struct {
	Kind   Kind
	ID     string
	Tenant Tenant
	Scopes Scopes // what this call may use: the token's scopes inside the grant
	Agent  *AgentRecord
	Member *MemberRecord
	// Behavior is the agent's behaviour hash on the chain, zero where it is not
	// known.
	Behavior Hash
	URIs     []string // what a capability token names; nil for every other credential
}

// Actor is who acted, as events name it: an agent, a user, or an operator or
// function by its name.
type Actor struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Actor names the principal in events.
func (p Principal) Actor() Actor { return Actor{string(p.Kind), p.ID} }

// Capability says whether the caller holds a capability token, which lists and
// reads the URIs it names and does nothing else.
func (p Principal) Capability() bool { return p.URIs != nil }

// Status is where a record stands in its life.
type Status string

// The states of agents and members. Only an active one passes the checks.
const (
	Active      Status = "active"
	Quarantined Status = "quarantined" // agent: stopped by an operator, can be activated again
	Revoked     Status = "revoked"     // agent: final, as on the chain
	Invited     Status = "invited"     // member: has not joined yet
	Deactivated Status = "deactivated" // member: has left
)

// AgentRecord is what a tenant registered about an agent. Scopes is the whole
// grant; its hash must equal the scope hash on the chain.
type AgentRecord struct {
	ID        string  `json:"id"`
	TenantID  string  `json:"tenant_id"`
	Status    Status  `json:"status"`
	Name      string  `json:"name"`
	Role      string  `json:"role"`
	Scopes    Scopes  `json:"scopes"`
	Address   string  `json:"address"`              // the agent's own chain address, EIP-55
	ToolNames string  `json:"tool_names,omitempty"` // "underscore" prints tool names without dots
	CreatedBy string  `json:"created_by"`           // the member who made it
	CreatedAt string  `json:"created_at"`           // RFC 3339
	Model     string  `json:"model,omitempty"`
	Skills    []Skill `json:"skills,omitempty"`
	Trusted   bool    `json:"trusted,omitempty"` // a member vouches for what it contributes
}

// Skill is something an agent says it can do. It grants nothing: what the agent
// may do are its scopes.
type Skill struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Version     string   `json:"version"`
	Tags        []string `json:"tags"`
}

// Role is what a member may do for the tenant.
type Role string

// The roles of members.
const (
	Viewer   Role = "viewer"
	Approver Role = "approver"
	Admin    Role = "admin"
)

// Domain is a field of work in which a member may approve.
type Domain string

// The approval domains.
const (
	AP             Domain = "ap" // what is owed to others
	AR             Domain = "ar" // what others owe
	Treasury       Domain = "treasury"
	Payroll        Domain = "payroll"
	Reconciliation Domain = "reconciliation"
)

// Domains lists every approval domain.
var Domains = []Domain{AP, AR, Treasury, Payroll, Reconciliation}

// MemberRecord is what a tenant knows about one of its people.
type MemberRecord struct {
	ID        string   `json:"id"`
	TenantID  string   `json:"tenant_id"`
	Name      string   `json:"name"`
	Role      Role     `json:"role"`
	Status    Status   `json:"status"`
	CreatedAt string   `json:"created_at"`                 // RFC 3339
	Domains   []Domain `json:"approval_domains,omitempty"` // where the member may approve; none is nowhere
	// Limits are the greatest amounts the member may approve, one for each
	// currency. An amount in a currency without one is over the limit.
	Limits []money.Written `json:"approval_limits,omitempty"`
	// SecondApprover is the amount above which somebody else must approve too,
	// nil for none of the member's own.
	SecondApprover *money.Written `json:"second_approver_above,omitempty"`
}

// Ceiling is the most a member of this role can hold, whatever the token says.
// A role that nobody knows holds nothing.
func (m MemberRecord) Ceiling() Scopes {
	switch m.Role {
	case Viewer:
		return reads
	case Approver, Admin:
		return decides
	}
	return nil
}

// KeyRecord is an agent API key. Only its SHA-256 is stored, as the item's key.
type KeyRecord struct {
	AgentID   string `json:"agent_id"`
	TenantID  string `json:"tenant_id"`
	Scopes    Scopes `json:"scopes"` // inside the agent's grant
	ExpiresAt string `json:"expires_at,omitempty"`
}

// CapabilityRecord is an opaque token bound to one individual and to the URIs
// it names.
type CapabilityRecord struct {
	MemberID  string   `json:"member_id"`
	TenantID  string   `json:"tenant_id"`
	URIs      []string `json:"uris"`
	ExpiresAt string   `json:"expires_at"` // RFC 3339
}
