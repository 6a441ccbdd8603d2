package demo

import "github.com/robotmoney/mcp/shared/domain/ledger"

// usual is how well a kind of counterparty is known when the table says nothing
// else. Who is bought from with a card was never asked for papers.
var usual = map[string]string{
	"merchant": "self_attested", "vendor": "document_verified", "customer": "document_verified", "employee": "document_verified",
	"bank": "sanctions_cleared", "exchange": "sanctions_cleared", "tax_authority": "sanctions_cleared",
	"wallet": "unverified", "agent": "self_attested", "other": "unverified",
}

// meet writes the counterparties.
func (b *book) meet(parties []party) {
	for _, p := range parties {
		b.names[p.id] = p
		b.rows.Counterparties = append(b.rows.Counterparties, p.row())
	}
}

func (p party) row() *ledger.Counterparty {
	known, trust := First, 1.0
	if !p.since.IsZero() {
		known = p.since
	}
	c := &ledger.Counterparty{
		Name: p.name, Type: p.kind, Aliases: append([]string{}, p.aliases...), LinkedAccounts: []string{},
		RiskLevel: or(p.risk, "low"), VerifiedStatus: or(p.verified, usual[p.kind]),
		MemberID: optional(p.member), AgentID: optional(p.agent), OnchainAddress: optional(p.address),
	}
	if p.changed != "" {
		c.DetailsChangedAt = ptr(p.changed + "T11:20:00.000Z")
	}
	if p.provenance == "agent_contributed" {
		trust = 0.4
	}
	c.Meta = meta(p.id, known, or(p.provenance, "human_confirmed"), trust)
	return c
}

func or(value, usual string) string {
	if value == "" {
		return usual
	}
	return value
}

func optional(value string) *string {
	if value == "" {
		return nil
	}
	return &value
}
