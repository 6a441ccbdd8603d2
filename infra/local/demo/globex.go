package demo

// The account of globex that most goes through.
const globexMain = "acct_gx01"

// globex is a consultancy of two. It shares no id with acme, so a row of one
// tenant that shows up at the other is seen at once.
func globex() company {
	return company{
		tenant: Globex, series: "GX",
		accounts: []account{
			{id: globexMain, kind: "bank_checking", institution: "Thames & Severn Bank", external: "****5101", name: "Current account", currency: "GBP", opening: 61_250_00},
			{id: "acct_gx02", kind: "bank_savings", institution: "Thames & Severn Bank", external: "****5102", name: "Deposit", currency: "GBP", opening: 20_000_00},
		},
		parties: []party{
			{id: "cp_gx_office", name: "Canal Street Offices", kind: "vendor"},
			{id: "cp_gx_azure", name: "Microsoft Azure", kind: "vendor", aliases: []string{"Azure"}},
			{id: "cp_gx_phone", name: "Orbit Telecom", kind: "vendor"},
			{id: "cp_gx_hmrc", name: "HM Revenue & Customs", kind: "tax_authority", aliases: []string{"HMRC"}},
			{id: "cp_gx_bank", name: "Thames & Severn Bank", kind: "bank"},
			{id: "cp_gx_rail", name: "Great Northern Rail", kind: "merchant"},
			{id: "cp_gx_council", name: "Borough Council", kind: "customer"},
			{id: "cp_gx_hospital", name: "St. Aidan's Hospital", kind: "customer"},
		},
		standing: []standing{
			{party: "cp_gx_office", account: globexMain, category: "rent", text: "Desk rent", owed: "rent", amount: 1_150_00, day: 1, rule: "FREQ=MONTHLY;BYMONTHDAY=1"},
			{party: "cp_gx_azure", account: globexMain, category: "cloud", owed: "bill", amount: 740_55, growth: 150, noise: 400, day: 9, due: 15},
			{party: "cp_gx_phone", account: globexMain, category: "utilities", owed: "subscription", amount: 64_00, day: 17, rule: "FREQ=MONTHLY;BYMONTHDAY=17"},
			{party: "cp_gx_hmrc", account: globexMain, category: "taxes", text: "VAT", owed: "tax", amount: 3_900_00, noise: 900, day: 7, months: midterm},
			{party: "cp_gx_bank", account: "acct_gx02", category: "interest", text: "Interest", income: true, amount: 61_40, noise: 300, day: 30, months: quarterly},
		},
		habits: []habit{
			{parties: []string{"cp_gx_rail"}, account: globexMain, category: "travel", least: 0, most: 2, from: 18_00, to: 240_00},
		},
		customers: []customer{
			{party: "cp_gx_council", account: globexMain, amount: 5_800_00, growth: 40, terms: 30, lag: [2]int{-2, 8}},
			{party: "cp_gx_hospital", account: globexMain, amount: 4_300_00, growth: 60, terms: 30, lag: [2]int{0, 15}, span: span{first: "2024-06"}},
		},
		moves: []move{
			{from: globexMain, to: "acct_gx02", text: "To deposit", sent: 2_000_00, received: 2_000_00, day: 22, months: quarterly},
		},
	}
}
