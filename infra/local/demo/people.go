package demo

import (
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// Agent is an agent of a tenant. The record has no chain address: the stack
// makes the agents' keys and hands the addresses to Seed.
type Agent struct {
	Tenant string
	Record identity.AgentRecord
}

// Member is one of a tenant's people.
type Member struct {
	Tenant string
	Record identity.MemberRecord
}

// joined is when the members and agents were entered.
const joined = "2023-10-01T06:00:00.000Z"

// everything is what an agent can be granted; deciding is for people.
func everything() identity.Scopes {
	return identity.Scopes{
		identity.AuditRead, identity.ExecutionPropose, identity.ExecutionRead, identity.LedgerRead,
		identity.IntentPropose, identity.RawRead, identity.RawWrite, identity.WikiRead,
	}
}

// Members are the people of both tenants. Kim made acme's agents and has left:
// who made an agent may not approve what it proposes, so nobody who approves may
// have made one.
var Members = []Member{
	approving(member(Acme, "mbr_ada", "Ada Okafor", identity.Admin, identity.Active), "1000000", identity.Domains...),
	approving(member(Acme, "mbr_ben", "Ben Lindqvist", identity.Approver, identity.Active), "10000", identity.AP, identity.AR, identity.Reconciliation),
	approving(member(Acme, "mbr_dee", "Dee Castellanos", identity.Admin, identity.Active), "1000000", identity.Domains...),
	member(Acme, "mbr_vic", "Vic Moreau", identity.Viewer, identity.Active),
	member(Acme, "mbr_ivy", "Ivy Trần", identity.Viewer, identity.Active),
	member(Acme, "mbr_kim", "Kim Sato", identity.Admin, identity.Deactivated),
	approving(member(Globex, "mbr_gil", "Gil Ashworth", identity.Admin, identity.Active), "100000", identity.Domains...),
}

// Agents are the agents of both tenants, for the stack to register on the chain
// and to make tokens for.
var Agents = []Agent{
	skilled(agent(Acme, "agt_finance", "Finance agent", "bill_management", "mbr_kim", everything()), "gpt-4o", []identity.Skill{
		{Name: "bill_review", Description: "Match bills with what was ordered and received", Version: "1.2.0", Tags: []string{"payables"}},
		{Name: "payment_proposal", Description: "Propose payments with the evidence they rest on", Version: "1.0.1", Tags: []string{"payables", "payments"}},
	}),
	agent(Acme, "agt_readonly", "Reporting agent", "financial_health", "mbr_kim", identity.Scopes{identity.LedgerRead, identity.WikiRead}),
	agent(Acme, "agt_payables", "Payables agent", "bill_management", "mbr_kim", everything()),
	agent(Globex, "agt_globex", "Globex finance agent", "bill_management", "mbr_gil", everything()),
}

func skilled(a Agent, model string, skills []identity.Skill) Agent {
	a.Record.Model, a.Record.Skills = model, skills
	return a
}

// approving lets a member approve payments up to a limit, in dollars and in USDC,
// in some fields of work.
func approving(m Member, limit string, domains ...identity.Domain) Member {
	m.Record.Domains = domains
	for _, currency := range []string{"USD", "USDC"} {
		m.Record.Limits = append(m.Record.Limits, money.Written{Amount: limit, Currency: currency})
	}
	return m
}

func member(tenant, id, name string, role identity.Role, status identity.Status) Member {
	return Member{tenant, identity.MemberRecord{ID: id, TenantID: tenant, Name: name, Role: role, Status: status, CreatedAt: joined}}
}

func agent(tenant, id, name, role, by string, scopes identity.Scopes) Agent {
	return Agent{tenant, identity.AgentRecord{
		ID: id, TenantID: tenant, Status: identity.Active, Name: name, Role: role, Scopes: scopes, CreatedBy: by, CreatedAt: joined,
	}}
}
