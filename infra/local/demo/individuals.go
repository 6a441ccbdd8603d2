package demo

import (
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	individual "github.com/robotmoney/mcp/shared/domain/member"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// The secrets of the demo's stored credentials. They are no secrets: only the
// demo's own data answers to them, and a real key is 256 random bits.
const (
	FinanceKey      = "bak_demo_finance"       // agt_finance, narrowed to reading ledger and wiki
	ProfileTicket   = "cap_demo_ivy_profile"   // mbr_ivy: her profile and her traits
	SpentTicket     = "cap_demo_ivy_spent"     // mbr_ivy: her profile, until the close
	PortfolioTicket = "cap_demo_vic_portfolio" // mbr_vic: his competencies and one ledger row
)

// never is when a credential of the demo ends: after everybody has stopped
// running it.
const never = "2099-12-31T00:00:00Z"

// credentials are the stored ones of a tenant.
func credentials(t identity.Tenant) []record.Item {
	if t.String() != Acme {
		return nil
	}
	ticket := func(secret, who, until string, uris ...string) record.Item {
		return item(key.Capability(secret), identity.CapabilityRecord{MemberID: who, TenantID: Acme, URIs: uris, ExpiresAt: until})
	}
	return []record.Item{
		item(key.APIKey(FinanceKey), identity.KeyRecord{AgentID: "agt_finance", TenantID: Acme, Scopes: identity.Scopes{identity.LedgerRead, identity.WikiRead}}),
		ticket(ProfileTicket, "mbr_ivy", never, "member://profile", "member://traits"),
		ticket(SpentTicket, "mbr_ivy", "2025-09-30T23:59:59Z", "member://profile"),
		ticket(PortfolioTicket, "mbr_vic", never, "member://competencies", "brain://ledger/transactions/tx_4127"),
	}
}

// individuals are what is kept about people: all of it about Ivy, whose
// assessment is done, and a beginning about Vic. Of the others nothing is known.
func individuals(t identity.Tenant) []record.Item {
	if t.String() != Acme {
		return nil
	}
	const adaptive, cognitive = "adaptive_capacity", "cognitive_style"
	const computed = "2025-09-10T14:22:00Z"
	part := func(who string, part individual.Part, document any) record.Item {
		return item(key.Individual(t, who, string(part)), document)
	}
	return []record.Item{
		part("mbr_ivy", individual.ProfilePart, individual.Assessment{Phase: "completed", Archetype: ptr("Pragmatist"), Engagement: ptr(3)}),
		part("mbr_ivy", individual.TraitsPart, individual.Traits{Traits: []individual.Trait{
			{Name: "pressure_response", Tier: "Strong", Category: adaptive, ComputedAt: computed},
			{Name: "ambiguity_tolerance", Tier: "Strong", Category: adaptive, ComputedAt: computed},
			{Name: "systems_thinking", Tier: "Moderate", Category: cognitive, ComputedAt: computed},
		}}),
		part("mbr_ivy", individual.CompetenciesPart, individual.Portfolio{
			Competencies: []individual.Competency{
				{Name: "Strategic Planning", Level: "advanced", EvidenceCount: 4, Verified: true, LastDemonstrated: ptr("2025-09-08T10:15:00Z")},
				{Name: "Technical Architecture", Level: "expert", EvidenceCount: 7, Verified: true, LastDemonstrated: ptr("2025-09-10T09:00:00Z")},
			},
			Badges: []individual.Badge{{Name: "Systems Thinker", AwardedAt: "2025-09-01T12:00:00Z", Category: cognitive}},
		}),
		part("mbr_vic", individual.ProfilePart, individual.Assessment{Phase: "in_progress"}),
		part("mbr_vic", individual.CompetenciesPart, individual.Portfolio{Competencies: []individual.Competency{
			{Name: "Budgeting", Level: "intermediate", EvidenceCount: 1, LastDemonstrated: ptr("2025-08-20T09:00:00Z")},
		}}),
	}
}
