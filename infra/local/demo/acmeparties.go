package demo

import "time"

// acmeParties are everybody acme deals with. Names with accents, aliases in
// other scripts, and parties of each risk and verification are there on purpose:
// searches, policies and reviews are tried against them.
func acmeParties() []party {
	var all []party
	for _, group := range [][]party{acmeVendors(), acmeMerchants(), acmeEmployees(), acmeBuyers(), acmeOthers()} {
		all = append(all, group...)
	}
	return all
}

func acmeVendors() []party {
	return []party{
		{id: "cp_aws", name: "Amazon Web Services", kind: "vendor", aliases: []string{"AWS", "AWS Inc", "Amazon Web Services EMEA SARL"}},
		{id: "cp_gcp", name: "Google Cloud", kind: "vendor", aliases: []string{"GCP", "Google Cloud Platform"}},
		{id: "cp_foundry_square", name: "Foundry Square Properties LLC", kind: "vendor", aliases: []string{"Foundry Sq"}},
		{id: "cp_evergreen_health", name: "Evergreen Health Plans", kind: "vendor"},
		{id: "cp_atlas_mutual", name: "Atlas Mutual Insurance", kind: "vendor", aliases: []string{"Atlas Mutual"}},
		{id: "cp_bay_power", name: "Bay Power & Light", kind: "vendor", aliases: []string{"BPL"}},
		{id: "cp_lumen_fiber", name: "Luminous Fiber", kind: "vendor"},
		{id: "cp_github", name: "GitHub", kind: "vendor", aliases: []string{"GITHUB.COM"}},
		{id: "cp_slack", name: "Slack", kind: "vendor", aliases: []string{"Slack Technologies"}},
		{id: "cp_datadog", name: "Datadog", kind: "vendor", aliases: []string{"Datadog Inc"}},
		{id: "cp_figma", name: "Figma", kind: "vendor"},
		{id: "cp_notion", name: "Notion", kind: "vendor", aliases: []string{"Notion Labs"}},
		{id: "cp_zoom", name: "Zoom", kind: "vendor", aliases: []string{"ZOOM.US"}},
		{id: "cp_cloudflare", name: "Cloudflare", kind: "vendor"},
		{id: "cp_hubspot", name: "HubSpot", kind: "vendor"},
		{id: "cp_linear", name: "Linear", kind: "vendor", aliases: []string{"LINEAR.APP"}},
		{id: "cp_trellis_crm", name: "Trellis CRM", kind: "vendor"},
		{id: "cp_jetbrains", name: "JetBrains", kind: "vendor", aliases: []string{"JetBrains s.r.o."}},
		{id: "cp_hetzner", name: "Hetzner Online", kind: "vendor", aliases: []string{"Hetzner"}},
		{id: "cp_fernwood", name: "Fernwood & Asher LLP", kind: "vendor", aliases: []string{"Fernwood Law"}},
		{id: "cp_ledgerwise", name: "Ledgerwise Accounting", kind: "vendor"},
		{id: "cp_brightline", name: "Brightline Media", kind: "vendor"},
		{id: "cp_signal_events", name: "Signal Events", kind: "vendor", risk: "medium"},
		{id: "cp_northstar_dev", name: "Northstar Development", kind: "vendor", changed: "2025-08-27"},
		{id: "cp_perez_studio", name: "Estudio Pérez & Ibáñez", kind: "vendor", aliases: []string{"Perez Studio"}},
		{id: "cp_talentbridge", name: "TalentBridge Partners", kind: "vendor"},
		{id: "cp_cleanco", name: "CleanCo Services", kind: "vendor"},
		{id: "cp_soren_olgaard", name: "Søren Ølgaard ApS", kind: "vendor", aliases: []string{"Soren Olgaard ApS"}},
		{id: "cp_sakura_design", name: "Sakura Design K.K.", kind: "vendor", aliases: []string{"株式会社さくらデザイン"}},
		{id: "cp_quantum_ledger", name: "Quantum Ledger Labs LLC", kind: "vendor", verified: "unverified", risk: "medium", since: on(2025, time.September, 26), provenance: "agent_contributed"},
		{id: "cp_harbor_trade", name: "Harbor Trade FZE", kind: "vendor", verified: "self_attested", risk: "high", changed: "2025-09-18"},
		{id: "cp_blackreef", name: "Blackreef Holdings Ltd", kind: "vendor", verified: "unverified", risk: "sanctioned"},
	}
}

func acmeMerchants() []party {
	return []party{
		{id: "cp_united", name: "United Airlines", kind: "merchant", aliases: []string{"UNITED"}},
		{id: "cp_alaska", name: "Alaska Airlines", kind: "merchant"},
		{id: "cp_amtrak", name: "Amtrak", kind: "merchant"},
		{id: "cp_harbor_hotel", name: "Harborview Hotel", kind: "merchant"},
		{id: "cp_hotel_sao_joao", name: "Hotel São João", kind: "merchant"},
		{id: "cp_uber", name: "Uber", kind: "merchant", aliases: []string{"UBER TRIP"}},
		{id: "cp_clipper", name: "Clipper Transit", kind: "merchant"},
		{id: "cp_bluebird_coffee", name: "Bluebird Coffee", kind: "merchant"},
		{id: "cp_la_cumbre", name: "Taquería La Cumbre", kind: "merchant"},
		{id: "cp_greenleaf", name: "Greenleaf Kitchen", kind: "merchant"},
		{id: "cp_pho_saigon", name: "Phở Sài Gòn", kind: "merchant", aliases: []string{"PHO SAIGON"}},
		{id: "cp_staples", name: "Staples", kind: "merchant"},
		{id: "cp_paperworks", name: "Paperworks", kind: "merchant"},
		{id: "cp_apple", name: "Apple", kind: "merchant", aliases: []string{"APPLE.COM/BILL"}},
		{id: "cp_central_computer", name: "Central Computer", kind: "merchant"},
		{id: "cp_google_ads", name: "Google Ads", kind: "merchant", aliases: []string{"GOOGLE *ADS"}},
		{id: "cp_linkedin", name: "LinkedIn", kind: "merchant"},
		{id: "cp_baeckerei_mueller", name: "Bäckerei Müller", kind: "merchant"},
		{id: "cp_deutsche_bahn", name: "Deutsche Bahn", kind: "merchant", aliases: []string{"DB Vertrieb GmbH"}},
	}
}

// acmeEmployees: some of them are members, who may then not approve their own pay.
func acmeEmployees() []party {
	return []party{
		{id: "cp_ada_okafor", name: "Ada Okafor", kind: "employee", member: "mbr_ada"},
		{id: "cp_ben_lindqvist", name: "Ben Lindqvist", kind: "employee", member: "mbr_ben"},
		{id: "cp_vic_moreau", name: "Vic Moreau", kind: "employee", member: "mbr_vic"},
		{id: "cp_ivy_tran", name: "Ivy Trần", kind: "employee", member: "mbr_ivy"},
		{id: "cp_jose_nunez", name: "José Núñez", kind: "employee"},
		{id: "cp_hana_suzuki", name: "Hana Suzuki", kind: "employee", aliases: []string{"鈴木 花"}},
		{id: "cp_zoe_bronte", name: "Zoë Brontë", kind: "employee"},
		{id: "cp_omar_haddad", name: "Omar Haddad", kind: "employee"},
		{id: "cp_lena_fischer", name: "Lena Fischer", kind: "employee"},
		{id: "cp_tom_baker", name: "Tom Baker", kind: "employee"},
		{id: "cp_kim_sato", name: "Kim Sato", kind: "employee", member: "mbr_kim"},
	}
}

func acmeBuyers() []party {
	return []party{
		{id: "cp_helios", name: "Helios Robotics", kind: "customer"},
		{id: "cp_quayside", name: "Quayside Logistics", kind: "customer"},
		{id: "cp_vantage", name: "Vantage Analytics", kind: "customer"},
		{id: "cp_orchard", name: "Orchard Health", kind: "customer"},
		{id: "cp_bluefin", name: "Bluefin Retail", kind: "customer", risk: "medium"},
		{id: "cp_kestrel", name: "Kestrel Air Freight", kind: "customer"},
		{id: "cp_lakeshore", name: "Lakeshore Credit Union", kind: "customer"},
		{id: "cp_meridian", name: "Meridian Software", kind: "customer"},
		{id: "cp_nordwind", name: "Nordwind Energy", kind: "customer"},
		{id: "cp_pinecrest", name: "Pinecrest Schools", kind: "customer"},
		{id: "cp_redwood_bio", name: "Redwood Bio", kind: "customer"},
		{id: "cp_sunfield", name: "Sunfield Farms", kind: "customer"},
		{id: "cp_tidewater", name: "Tidewater Ports", kind: "customer"},
		{id: "cp_umbra", name: "Umbra Games", kind: "customer"},
		{id: "cp_westgate", name: "Westgate Media", kind: "customer"},
		{id: "cp_cafe_zurich", name: "Café Zürich GmbH", kind: "customer", aliases: []string{"Cafe Zuerich"}},
		{id: "cp_midori", name: "Midori Soft K.K.", kind: "customer", aliases: []string{"株式会社みどりソフト"}},
		{id: "cp_nimbus_dao", name: "Nimbus DAO", kind: "customer", verified: "self_attested", address: "0x2d187b65Ac871f8378794D7065b79897c00e4ff3"},
	}
}

func acmeOthers() []party {
	return []party{
		{id: "cp_irs", name: "Internal Revenue Service", kind: "tax_authority", aliases: []string{"IRS USATAXPYMT", "IRS"}},
		{id: "cp_ftb", name: "Franchise Tax Board", kind: "tax_authority", aliases: []string{"FTB"}},
		{id: "cp_delaware", name: "Delaware Division of Corporations", kind: "tax_authority"},
		{id: "cp_pacific_commerce", name: "Pacific Commerce Bank", kind: "bank"},
		{id: "cp_first_valley", name: "First Valley Bank", kind: "bank"},
		{id: "cp_rheinbank", name: "Rheinbank", kind: "bank"},
		{id: "cp_brightway", name: "Brightway Card", kind: "bank"},
		{id: "cp_agent_scout", name: "Scout Data Agent", kind: "agent", agent: "agt_scout", address: "0x50a21fe9D0D2630E9766623848456E0Ca904ff94"},
		{id: "cp_agent_oracle", name: "Price Oracle Agent", kind: "agent", agent: "agt_oracle", address: "0xBd03EB1A12df7072ea65178Cd2563Dddbe0A7be6"},
		{id: "cp_wallet_bounty", name: "Bounty wallet", kind: "wallet", address: "0x0FeF14901848599744a93A9b6b2DB4268571c209"},
	}
}
