package demo

import "time"

// The accounts of acme.
const (
	operating = "acct_8231" // named in documents: active, in USD, with ample money
	savings   = "acct_4410"
	card      = "acct_6075"
	euros     = "acct_3958"
	yen       = "acct_9033"
	onchain   = "acct_7702"
	formerly  = "acct_2207" // closed
)

var (
	quarterly = []time.Month{time.March, time.June, time.September, time.December}
	midterm   = []time.Month{time.February, time.May, time.August, time.November}
	yearly    = []time.Month{time.April}
)

// acme is a software company of ten. Cloud is its largest cost; in September
// 2025 no other category reaches what Amazon took.
func acme() company {
	return company{
		tenant: Acme, series: "INV", accounts: acmeAccounts(), parties: acmeParties(), staff: acmeStaff(), standing: acmeStanding(),
		habits: acmeHabits(), customers: acmeCustomers(), moves: acmeMoves(), singular: acmeSingular(), owed: acmeOwed(),
	}
}

func acmeAccounts() []account {
	return []account{
		{id: operating, kind: "bank_checking", institution: "Pacific Commerce Bank", external: "****8231", name: "Operating", currency: "USD", opening: 2_212_406_55},
		{id: savings, kind: "bank_savings", institution: "Pacific Commerce Bank", external: "****4410", name: "Reserve", currency: "USD", opening: 350_000_00},
		{id: card, kind: "card", institution: "Brightway Card", external: "****6075", name: "Company card", currency: "USD", opening: -9_418_27, limit: 75_000_00, issuer: "cp_brightway", paidFrom: operating},
		{id: euros, kind: "bank_checking", institution: "Rheinbank", external: "DE****3958", name: "Euro account", currency: "EUR", opening: 38_000_00},
		{id: yen, kind: "payment_processor", institution: "Wayfare Money", external: "JP****9033", name: "Yen balance", currency: "JPY", opening: 640_000},
		{id: onchain, kind: "onchain", institution: "Self custody", external: "0x313930b74d36697471E75CFF798AcbC1C4b83112", name: "USDC wallet", currency: "USDC", opening: 42_000_000000},
		{id: formerly, kind: "bank_checking", institution: "First Valley Bank", external: "****2207", name: "Former operating", currency: "USD", opening: 48_211_90, closed: on(2024, time.March, 15)},
	}
}

// acmeStaff is paid about 52,000 USD a month in September 2025.
func acmeStaff() []employee {
	return []employee{
		{party: "cp_ada_okafor", amount: 3_120_40},
		{party: "cp_ben_lindqvist", amount: 2_745_15},
		{party: "cp_vic_moreau", amount: 2_310_80},
		{party: "cp_ivy_tran", amount: 2_266_25},
		{party: "cp_jose_nunez", amount: 2_688_90},
		{party: "cp_hana_suzuki", amount: 2_574_35},
		{party: "cp_zoe_bronte", amount: 2_405_60},
		{party: "cp_omar_haddad", amount: 2_498_05},
		{party: "cp_lena_fischer", amount: 2_231_70, span: span{first: "2024-02"}},
		{party: "cp_tom_baker", amount: 1_640_20, span: span{first: "2024-09"}},
		{party: "cp_kim_sato", amount: 2_515_75, span: span{last: "2024-08"}},
	}
}

// acmeStanding: the software lines are the subscriptions; each is one obligation
// with a rule.
func acmeStanding() []standing {
	return []standing{
		{
			party: "cp_aws", account: operating, category: "cloud", text: "AWS Inc", owed: "bill", amount: 24_180_37, growth: 405, noise: 250, day: 3, due: 15,
			parts: []part{{"production", 6_830}, {"staging", 1_940}, {"development", 1_230}},
			pins:  map[string]pin{"2025-09": {"tx_4127", 61_404_12}, "2025-10": {"obl_5521", 61_404_12}},
		},
		{party: "cp_gcp", account: operating, category: "cloud", owed: "bill", amount: 6_240_18, growth: -520, noise: 300, day: 5, due: 20, span: span{last: "2024-12"}},
		{party: "cp_foundry_square", account: operating, category: "rent", text: "Office rent", owed: "rent", amount: 12_950_00, step: 650, day: 1, rule: "FREQ=MONTHLY;BYMONTHDAY=1"},
		{party: "cp_evergreen_health", account: operating, category: "insurance", text: "Health plan", owed: "bill", amount: 8_120_00, step: 720, day: 8, due: 10},
		{party: "cp_atlas_mutual", account: operating, category: "insurance", text: "Liability and cyber policy", owed: "bill", amount: 6_480_00, step: 300, day: 18, due: 20, months: quarterly},
		{party: "cp_irs", account: operating, category: "taxes", text: "Quarterly payroll and income tax", owed: "tax", amount: 27_300_00, growth: 110, noise: 150, day: 15, months: quarterly},
		{party: "cp_ftb", account: operating, category: "taxes", text: "State tax", owed: "tax", amount: 7_450_00, growth: 105, noise: 150, day: 15, months: quarterly},
		{party: "cp_bay_power", account: operating, category: "utilities", owed: "bill", amount: 412_60, noise: 2200, day: 12, due: 16},
		{party: "cp_lumen_fiber", account: operating, category: "utilities", text: "Office internet", owed: "subscription", amount: 389_00, day: 9, rule: "FREQ=MONTHLY;BYMONTHDAY=9"},
		{party: "cp_pacific_commerce", account: operating, category: "bank_fees", text: "Account service fee", amount: 45_00, day: 28},
		{party: "cp_pacific_commerce", account: savings, category: "interest", text: "Interest paid", income: true, amount: 1_148_22, growth: 120, noise: 80, day: 31},
		{party: "cp_first_valley", account: formerly, category: "bank_fees", text: "Monthly fee", amount: 15_00, day: 20, span: span{last: "2024-02"}},
		{party: "cp_rheinbank", account: euros, category: "bank_fees", text: "Kontoführung", amount: 12_90, day: 27},
		{party: "cp_hetzner", account: euros, category: "hosting", text: "Build servers", owed: "subscription", amount: 214_20, day: 6, rule: "FREQ=MONTHLY;BYMONTHDAY=6"},

		{party: "cp_github", account: card, category: "software", owed: "subscription", amount: 441_00, step: 900, day: 2, rule: "FREQ=MONTHLY;BYMONTHDAY=2"},
		{party: "cp_slack", account: card, category: "software", owed: "subscription", amount: 187_50, day: 4, rule: "FREQ=MONTHLY;BYMONTHDAY=4"},
		{party: "cp_datadog", account: card, category: "software", owed: "subscription", amount: 1_890_00, growth: 260, day: 7, rule: "FREQ=MONTHLY;BYMONTHDAY=7"},
		{party: "cp_figma", account: card, category: "software", owed: "subscription", amount: 225_00, day: 11, rule: "FREQ=MONTHLY;BYMONTHDAY=11"},
		{party: "cp_notion", account: card, category: "software", owed: "subscription", amount: 160_00, day: 13, rule: "FREQ=MONTHLY;BYMONTHDAY=13"},
		{party: "cp_zoom", account: card, category: "software", owed: "subscription", amount: 219_90, day: 16, rule: "FREQ=MONTHLY;BYMONTHDAY=16"},
		{party: "cp_cloudflare", account: card, category: "software", owed: "subscription", amount: 250_00, step: 1_000, day: 18, rule: "FREQ=MONTHLY;BYMONTHDAY=18"},
		{party: "cp_hubspot", account: card, category: "software", owed: "subscription", amount: 890_00, day: 21, rule: "FREQ=MONTHLY;BYMONTHDAY=21"},
		{party: "cp_linear", account: card, category: "software", owed: "subscription", amount: 96_00, day: 23, rule: "FREQ=MONTHLY;BYMONTHDAY=23"},
		{party: "cp_trellis_crm", account: card, category: "software", text: "Trellis CRM, replaced", owed: "subscription", amount: 310_00, day: 24, rule: "FREQ=MONTHLY;BYMONTHDAY=24", span: span{last: "2024-11"}},
		{party: "cp_jetbrains", account: card, category: "software", text: "All products, ten seats", owed: "subscription", amount: 6_490_00, day: 14, months: yearly, rule: "FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=14"},
	}
}

func acmeHabits() []habit {
	return []habit{
		{parties: []string{"cp_united", "cp_alaska", "cp_amtrak"}, account: card, category: "travel", least: 3, most: 7, from: 88_00, to: 940_00},
		{parties: []string{"cp_harbor_hotel", "cp_hotel_sao_joao"}, account: card, category: "travel", least: 1, most: 4, from: 164_00, to: 1_180_00},
		{parties: []string{"cp_uber", "cp_clipper"}, account: card, category: "travel", least: 5, most: 10, from: 4_20, to: 88_00},
		{parties: []string{"cp_bluebird_coffee", "cp_la_cumbre", "cp_greenleaf", "cp_pho_saigon"}, account: card, category: "meals", least: 9, most: 16, from: 6_40, to: 210_00},
		{parties: []string{"cp_staples", "cp_paperworks"}, account: card, category: "office", least: 3, most: 6, from: 9_90, to: 420_00},
		{parties: []string{"cp_apple", "cp_central_computer"}, account: card, category: "equipment", least: 0, most: 2, from: 149_00, to: 2_899_00},
		{parties: []string{"cp_google_ads", "cp_linkedin"}, account: card, category: "marketing", least: 3, most: 5, from: 240_00, to: 2_400_00},

		{parties: []string{"cp_fernwood"}, account: operating, category: "professional_services", least: 0, most: 2, from: 1_400_00, to: 9_200_00, net: 30},
		{parties: []string{"cp_ledgerwise"}, account: operating, category: "professional_services", least: 1, most: 1, from: 2_200_00, to: 3_900_00, net: 15},
		{parties: []string{"cp_brightline", "cp_signal_events"}, account: operating, category: "marketing", least: 1, most: 2, from: 2_800_00, to: 9_600_00, net: 30},
		{parties: []string{"cp_northstar_dev", "cp_perez_studio"}, account: operating, category: "contractors", least: 2, most: 4, from: 1_900_00, to: 6_800_00, net: 14},
		{parties: []string{"cp_talentbridge"}, account: operating, category: "recruiting", least: 0, most: 1, from: 7_500_00, to: 16_000_00, net: 30},
		{parties: []string{"cp_cleanco"}, account: operating, category: "office", least: 1, most: 2, from: 280_00, to: 460_00, net: 10},

		{parties: []string{"cp_soren_olgaard"}, account: euros, category: "contractors", least: 1, most: 1, from: 3_700_00, to: 4_700_00, net: 14},
		{parties: []string{"cp_baeckerei_mueller", "cp_deutsche_bahn"}, account: euros, category: "travel", least: 1, most: 3, from: 28_00, to: 320_00},
		{parties: []string{"cp_sakura_design"}, account: yen, category: "contractors", least: 1, most: 1, from: 88_000, to: 164_000, net: 30},
		{parties: []string{"cp_agent_scout", "cp_agent_oracle"}, account: onchain, category: "data", least: 5, most: 9, from: 50_000, to: 6_400000},
		{parties: []string{"cp_wallet_bounty"}, account: onchain, category: "bounties", least: 0, most: 2, from: 150_000000, to: 2_400_000000},
	}
}

func acmeCustomers() []customer {
	return []customer{
		{party: "cp_helios", account: operating, amount: 24_000_00, growth: 120, terms: 30, lag: [2]int{-4, 3}},
		{party: "cp_quayside", account: operating, amount: 18_500_00, growth: 110, terms: 30, lag: [2]int{-2, 6}},
		{party: "cp_vantage", account: operating, amount: 16_200_00, growth: 140, terms: 15, lag: [2]int{-3, 2}},
		{party: "cp_orchard", account: operating, amount: 14_750_00, growth: 90, terms: 45, lag: [2]int{0, 9}, fates: map[string]fate{"2024-05": halves, "2025-02": halves}},
		{party: "cp_bluefin", account: operating, amount: 8_900_00, terms: 30, lag: [2]int{4, 14}, fates: map[string]fate{"2025-06": unpaid, "2025-07": unpaid, "2025-08": unpaid}, span: span{last: "2025-08"}},
		{party: "cp_kestrel", account: operating, amount: 12_300_00, growth: 100, terms: 30, lag: [2]int{-1, 5}},
		{party: "cp_lakeshore", account: operating, amount: 11_800_00, growth: 80, terms: 30, lag: [2]int{2, 12}, fates: map[string]fate{"2025-07": partial}},
		{party: "cp_meridian", account: operating, amount: 10_400_00, growth: 130, terms: 15, lag: [2]int{-2, 4}},
		{party: "cp_nordwind", account: operating, amount: 9_600_00, growth: 110, terms: 30, lag: [2]int{-3, 3}, fates: map[string]fate{"2024-10": cancelled}},
		{party: "cp_pinecrest", account: operating, amount: 7_200_00, growth: 60, terms: 30, lag: [2]int{0, 8}, fates: map[string]fate{"2025-08": partial}},
		{party: "cp_redwood_bio", account: operating, amount: 15_900_00, growth: 150, terms: 30, lag: [2]int{-5, 1}, span: span{first: "2024-03"}},
		{party: "cp_sunfield", account: operating, amount: 6_450_00, growth: 70, terms: 30, lag: [2]int{5, 20}, fates: map[string]fate{"2025-05": disputed}},
		{party: "cp_tidewater", account: operating, amount: 13_100_00, growth: 120, terms: 45, lag: [2]int{-2, 6}, span: span{first: "2024-07"}},
		{party: "cp_umbra", account: operating, amount: 5_300_00, growth: 50, terms: 15, lag: [2]int{0, 5}, fates: map[string]fate{"2025-09": draft}},
		{party: "cp_westgate", account: operating, amount: 8_000_00, growth: 100, terms: 30, lag: [2]int{-1, 7}, span: span{first: "2025-01"}},
		{party: "cp_cafe_zurich", account: euros, amount: 7_800_00, growth: 60, terms: 30, lag: [2]int{-2, 6}},
		{party: "cp_midori", account: yen, amount: 480_000, growth: 0, terms: 30, lag: [2]int{-1, 4}},
		{party: "cp_nimbus_dao", account: onchain, amount: 6_500_000000, terms: 15, lag: [2]int{-2, 2}},
	}
}

func acmeMoves() []move {
	return []move{
		{from: operating, to: savings, text: "Monthly reserve", sent: 5_000_00, received: 5_000_00, day: 20},
		{from: formerly, to: operating, text: "Closing transfer", sent: 48_136_90, received: 48_136_90, on: on(2024, time.March, 15)},
		{from: euros, to: operating, text: "Euro conversion", sent: 9_000_00, received: 9_783_00, day: 22, months: midterm},
		{from: yen, to: operating, text: "Yen conversion", sent: 900_000, received: 6_030_00, day: 24, months: midterm},
		{from: onchain, to: operating, text: "USDC redemption", sent: 12_000_000000, received: 12_000_00, day: 26, months: midterm},
	}
}

// acmeSingular is what happens once: what failed, came back, is disputed or was
// still on its way at the close.
func acmeSingular() []posting {
	return []posting{
		{account: operating, party: "cp_northstar_dev", category: "contractors", text: "Invoice payment returned, account closed", made: on(2024, time.February, 14), amount: 3_150_00, status: "failed"},
		{account: operating, party: "cp_signal_events", category: "marketing", text: "Wire rejected by the beneficiary's bank", made: on(2025, time.June, 11), amount: 8_800_00, status: "failed"},
		{account: card, party: "cp_staples", category: "office", text: "Charged twice", made: on(2024, time.May, 8), amount: 249_00, status: "reversed"},
		{account: card, party: "cp_harbor_hotel", category: "travel", text: "Stay cancelled", made: on(2025, time.August, 19), amount: 612_40, status: "reversed"},
		{account: card, party: "cp_harbor_hotel", category: "travel", text: "No-show charge", made: on(2025, time.July, 22), amount: 318_00, status: "disputed"},
		{account: card, category: "office", text: "Unknown merchant", made: on(2025, time.September, 11), amount: 1_289_00, status: "disputed"},
		{account: operating, party: "cp_pacific_commerce", category: "refund", text: "Fee returned", made: on(2024, time.August, 6), amount: 45_00, income: true},
		{account: card, party: "cp_apple", category: "refund", text: "Laptop returned", made: on(2025, time.April, 17), amount: 2_199_00, income: true},
		{account: operating, text: "Bank correction", made: on(2024, time.December, 31), amount: 37, signed: AdjustmentIn},
		{account: euros, text: "Rounding correction", made: on(2025, time.March, 31), amount: 4, signed: AdjustmentOut},
		{account: operating, party: "cp_fernwood", category: "professional_services", text: "Retainer", made: on(2025, time.September, 29), amount: 4_200_00, status: "pending"},
		{account: operating, party: "cp_brightline", category: "marketing", text: "Campaign deposit", made: on(2025, time.September, 30), amount: 2_750_00, status: "pending"},
		{account: operating, party: "cp_lakeshore", category: "sales", text: "Deposit on its way", made: on(2025, time.September, 30), amount: 5_000_00, income: true, status: "pending"},
		{account: card, party: "cp_united", category: "travel", text: "Tickets for October", made: on(2025, time.September, 30), amount: 1_046_30},
	}
}

func acmeOwed() []owed {
	return []owed{
		{id: "obl_fernwood_late", kind: "bill", party: "cp_fernwood", currency: "USD", due: "2025-09-12", amount: 6_240_00},
		{id: "obl_brightline_late", kind: "bill", party: "cp_brightline", currency: "USD", due: "2025-09-22", amount: 2_118_40},
		{id: "obl_harbor_disputed", kind: "dispute", party: "cp_harbor_trade", currency: "USD", due: "2025-08-29", amount: 12_750_00, status: "disputed"},
		{id: "obl_signal_cancelled", kind: "bill", party: "cp_signal_events", currency: "USD", due: "2025-07-18", amount: 8_800_00, status: "cancelled"},
		{id: "obl_quantum_first", kind: "bill", party: "cp_quantum_ledger", currency: "USD", due: "2025-10-20", amount: 7_900_00, provenance: "agent_contributed"},
		{id: "obl_northstar_october", kind: "bill", party: "cp_northstar_dev", currency: "USD", due: "2025-10-06", amount: 4_960_00},
		{id: "obl_soren_october", kind: "bill", party: "cp_soren_olgaard", currency: "EUR", due: "2025-10-08", amount: 4_300_00},
		{id: "obl_sakura_october", kind: "bill", party: "cp_sakura_design", currency: "JPY", due: "2025-10-10", amount: 128_000},
		{id: "obl_delaware_franchise", kind: "tax", party: "cp_delaware", currency: "USD", due: "2025-10-31", amount: 1_450_00},
		{id: "obl_tenant_deposit", kind: "other", party: "cp_foundry_square", currency: "USD", due: "2026-12-31", amount: 25_900_00, receivable: true},
	}
}
