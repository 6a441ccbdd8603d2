package render_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/wiki/render"
)

var update = flag.Bool("update", false, "rewrite the golden pages")

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func ptr(text string) *string { return &text }

// outside is what a test puts wherever a text from outside may stand.
type outside string

func meta(name string, o outside) ledger.Meta {
	return ledger.Meta{ID: name, TenantID: "acme", Provenance: "extracted", Confidence: 1, SourceIDs: []string{string(o)}, EvidenceIDs: []string{string(o)}, CreatedAt: "2025-09-01T00:00:00.000Z"}
}

func transaction(name, date, amount, currency, direction string, o outside) ledger.Transaction {
	return ledger.Transaction{
		Meta: meta(name, o), AccountID: "acct_8231", Amount: amount, Currency: currency, Direction: direction, TransactionDate: date, CounterpartyID: ptr("cp_aws"),
		Category: ptr(string(o)), Status: "posted", Description: ptr(string(o)), DescriptionRaw: ptr(string(o)), ReconciliationStatus: "unreconciled",
	}
}

func recent(o outside) []ledger.Transaction {
	disputed := transaction("tx_3", "2024-02-28", "7", "JPY", "inflow", o)
	disputed.Status, disputed.Description = "disputed", nil
	return []ledger.Transaction{
		transaction("tx_1", "2024-03-31", "61404.12", "USD", "outflow", o), transaction("tx_2", "2024-02-29", "0.50", "USD", "outflow", o), disputed,
	}
}

func sum(period, currency, direction, value, amount string, count int64) render.Sum {
	return render.Sum{Period: period, Currency: currency, Direction: direction, Value: value, Amount: amount, Count: count}
}

// pages are one of each kind, with a text from outside wherever one may stand.
func pages(o outside) map[string]render.Facts {
	text := string(o)
	account := ledger.Account{
		Meta: meta("acct_8231", o), Institution: &text, AccountType: "bank_checking", Name: text, Currency: "USD",
		CurrentBalance: ptr("-12.50"), AvailableBalance: ptr("0.00"), BalanceAsOf: ptr("2024-03-31T23:59:59.999Z"), Status: "frozen",
	}
	party := ledger.Counterparty{
		Meta: meta("cp_aws", o), Name: text, Type: "vendor", Aliases: []string{text, text}, RiskLevel: "high", VerifiedStatus: "unverified",
		LinkedAccounts: []string{text}, DetailsChangedAt: ptr("2024-03-01T00:00:00.000Z"), MemberID: &text, AgentID: &text, OnchainAddress: &text,
	}
	party.Provenance, party.Confidence = "agent_contributed", 0.4
	owed := func(name, status string) ledger.Obligation {
		return ledger.Obligation{
			Meta: meta(name, o), Type: "bill", CounterpartyID: "cp_aws", Direction: "payable", AmountDue: "61404.12", MinimumDue: ptr("1.00"), Currency: "USD",
			DueDate: "2024-03-31", Recurrence: &text, Status: status, LinkedTransactionIDs: []string{"tx_1"},
		}
	}
	invoice := ledger.Invoice{
		Meta: meta("inv_1", o), InvoiceNumber: text, CounterpartyID: "cp_aws", Direction: "receivable", AmountDue: "10", AmountPaid: "12", Currency: "JPY",
		IssueDate: "2024-02-29", DueDate: "2024-03-31", Status: "partial", LinkedTransactionIDs: []string{"tx_3"},
	}
	months := []render.Sum{
		sum("2024-03", "USD", "outflow", "", "61404.12", 1), sum("2024-02", "JPY", "inflow", "", "7", 1), sum("2024-02", "USD", "outflow", "", "0.50", 1),
	}
	return map[string]render.Facts{
		"account":         render.Account{Row: account, Balances: []ledger.Balance{{AccountID: "acct_8231", AsOf: "2024-02-29T23:59:59.999Z", Current: "-12.50", Currency: "USD"}}, Recent: recent(o)},
		"account-unknown": render.Account{Row: ledger.Account{Meta: ledger.Meta{ID: "acct_2"}, AccountType: "card", Name: "\u200b", Currency: "JPY", Status: "active"}},
		"counterparty": render.Counterparty{Row: party, Months: months, Recent: recent(o), Invoices: []ledger.Invoice{invoice},
			Obligations: []ledger.Obligation{owed("obl_1", "upcoming"), owed("obl_2", "disputed"), owed("obl_3", "paid")}},
		"counterparty-long": render.Counterparty{Row: party, Months: months, Since: "2024-02"},
		"obligation":        render.Obligation{Row: owed("obl_5521", "overdue")},
		"obligation-paid":   render.Obligation{Row: owed("obl_5521", "paid")},
		"invoice":           render.Invoice{Row: invoice},
		"agent": render.Agent{Record: identity.AgentRecord{ID: "agt_finance", TenantID: "acme", Status: identity.Quarantined, Name: text, Role: text,
			Scopes: identity.Scopes{identity.LedgerRead, identity.WikiRead}, Address: text, CreatedBy: text, CreatedAt: text, Model: text, Trusted: true,
			Skills: []identity.Skill{{Name: text, Description: text, Version: text, Tags: []string{text}}}}},
		"policy": render.Policy{Version: 3, Hash: text, ActivatedAt: text, Signers: []string{text}, Document: document(text)},
		"policy-active": render.Policy{Version: 3, Hash: strings.Repeat("0", 64), ActivatedAt: "2024-03-01T00:00:00.000Z", Document: document(text),
			Active: true},
		"month": render.Month{Month: "2024-02", Totals: []render.Sum{
			sum("2024-02", "JPY", "inflow", "", "7", 1), sum("2024-02", "USD", "inflow", "", "3.00", 2), sum("2024-02", "USD", "outflow", "", "0.50", 1),
			sum("2024-02", "USD", "transfer", "", "100.00", 2),
		}, Categories: []render.Sum{sum("2024-02", "USD", "outflow", text, "0.40", 1), sum("2024-02", "USD", "outflow", "-", "0.10", 1), sum("2024-02", "USD", "inflow", text, "3.00", 2)},
			Parties:   []render.Sum{sum("2024-02", "USD", "outflow", "cp_aws", "0.50", 1), sum("2024-02", "USD", "inflow", "cp_nameless", "3.00", 2)},
			Uncounted: []string{"counterparties of JPY inflow"}, Names: map[string]string{"cp_aws": text}, Recent: recent(o), Largest: recent(o)[1:2]},
		"month-empty": render.Month{Month: "2024-03"},
		"cash-flow": render.CashFlow{Period: "2024-02", Totals: []render.Sum{
			sum("2024-02", "JPY", "inflow", "", "7", 1), sum("2024-02", "USD", "inflow", "", "3.00", 2), sum("2024-02", "USD", "outflow", "", "3.50", 1),
		}, Steps: []render.Sum{sum("2024-02-28", "JPY", "inflow", "", "7", 1), sum("2024-02-29", "USD", "inflow", "", "3.00", 2), sum("2024-02-28", "USD", "outflow", "", "3.50", 1)},
			Recent: recent(o)},
		"cash-flow-quarter": render.CashFlow{Period: "2024-Q1", Totals: months, Steps: months, Recent: recent(o)},
	}
}

func document(text string) []byte {
	const form = `{"version":3,"lists":{},"rules":[{"id":"small","description":TEXT,"applies_to":["outbound_payment"],"when":{"amount.lte":{"amount":"5000.00","currency":"USD"}},"execute":"confirm","require":["approver","admin"]}]}`
	return []byte(strings.ReplaceAll(form, "TEXT", quoted(text)))
}

// Each kind of page, as it is read.
func TestGolden(t *testing.T) {
	for name, facts := range pages("Widgets & Söhne") {
		t.Run(name, func(t *testing.T) {
			document, err := render.Markdown(facts)
			noError(t, err)
			path := filepath.Join("testdata", name+".md")
			if *update {
				noError(t, os.MkdirAll("testdata", 0o755))
				noError(t, os.WriteFile(path, []byte(document.Body), 0o644))
			}
			want, err := os.ReadFile(path)
			noError(t, err)
			if document.Body != string(want) {
				t.Errorf("got\n%s\nwant\n%s", document.Body, want)
			}
			if len(document.Revision) != 64 || document.Title == "" || strings.ContainsAny(document.Title, "`\n") {
				t.Errorf("revision %q, title %q", document.Revision, document.Title)
			}
		})
	}
	golden, err := filepath.Glob("testdata/*.md")
	noError(t, err)
	if len(golden) != len(pages("")) {
		t.Errorf("%d golden pages for %d kinds", len(golden), len(pages("")))
	}
}

// The same facts make the same bytes, other facts another revision.
func TestDeterministic(t *testing.T) {
	for name := range pages("a") {
		first, err := render.Markdown(pages("a")[name])
		noError(t, err)
		for range 20 {
			again, err := render.Markdown(pages("a")[name])
			noError(t, err)
			if again != first {
				t.Fatalf("%s: other bytes than before", name)
			}
		}
		other, err := render.Markdown(pages("b")[name])
		noError(t, err)
		if fixed := name == "account-unknown" || name == "month-empty"; (other.Revision == first.Revision) != fixed {
			t.Errorf("%s: other facts, revision %s", name, other.Revision)
		}
	}
}

// No line has two currencies in one amount, and each total is of its own rows.
func TestCurrenciesStayApart(t *testing.T) {
	many := render.CashFlow{Period: "2024-02", Totals: []render.Sum{
		sum("2024-02", "USD", "inflow", "", "1.00", 1), sum("2024-02", "EUR", "inflow", "", "2.00", 1), sum("2024-02", "JPY", "inflow", "", "4", 1),
		sum("2024-02", "KWD", "outflow", "", "8.000", 1), sum("2024-02", "USDC", "outflow", "", "16.000000", 1), sum("2024-02", "USD", "outflow", "", "32.00", 1),
	}}
	document, err := render.Markdown(many)
	noError(t, err)
	for _, line := range []string{
		"- Inflow: 2.00 EUR in 1 transaction", "- Inflow: 4 JPY in 1 transaction", "- Outflow: 8.000 KWD in 1 transaction", "- Inflow: 1.00 USD in 1 transaction",
		"- Outflow: 32.00 USD in 1 transaction", "- Outflow: 16.000000 USDC in 1 transaction",
		"- Net: 2.00 EUR", "- Net: 4 JPY", "- Net: -8.000 KWD", "- Net: -31.00 USD", "- Net: -16.000000 USDC",
		"- More KWD went out than came in", "- More USD went out than came in", "- More USDC went out than came in",
	} {
		if strings.Count(document.Body, line+"\n") != 1 {
			t.Errorf("not once %q in\n%s", line, document.Body)
		}
	}
	if n := strings.Count(document.Body, "Net: "); n != 5 {
		t.Errorf("%d nets of 5 currencies", n)
	}
}

// What the ledger's writer would have refused is an error and no number.
func TestDamagedFacts(t *testing.T) {
	account := pages("a")["account"].(render.Account)
	account.Row.CurrentBalance = ptr("12.345")
	invoice := pages("a")["invoice"].(render.Invoice)
	invoice.Row.AmountPaid = "x"
	for name, facts := range map[string]render.Facts{
		"a balance": account, "an invoice": invoice,
		"a currency":        render.CashFlow{Period: "2024-02", Totals: []render.Sum{sum("2024-02", "XXX", "inflow", "", "1", 1)}},
		"a month":           render.Month{Month: "2024-13"},
		"a period":          render.CashFlow{Period: "2024-Q5"},
		"a counterparty":    render.Counterparty{Months: []render.Sum{sum("2024-02", "USD", "inflow", "", "", 1), sum("2024-03", "USD", "inflow", "", "1", 1)}},
		"a policy":          render.Policy{Version: 1, Document: []byte(`{}`)},
		"a policy, no JSON": render.Policy{Version: 1, Document: []byte(`{`)},
	} {
		if document, err := render.Markdown(facts); err == nil {
			t.Errorf("%s: rendered\n%s", name, document.Body)
		}
	}
}

func TestMonths(t *testing.T) {
	for period, want := range map[string]string{
		"2024-02": "2024-02 in 2024-Q1", "2024-03": "2024-03 in 2024-Q1", "2024-04": "2024-04 in 2024-Q2", "2024-12": "2024-12 in 2024-Q4", "2025-01": "2025-01 in 2025-Q1",
		"2024-Q1": "2024-01 2024-02 2024-03 in 2024-Q1", "2024-Q2": "2024-04 2024-05 2024-06 in 2024-Q2", "2023-Q4": "2023-10 2023-11 2023-12 in 2023-Q4",
		"2024-Q0": "", "2024-Q5": "", "2024-00": "", "2024-13": "", "2024": "", "2024-02-29": "", "2024-q1": "", "": "", "abcd-ef": "", "2024/02": "",
	} {
		months, quarter, err := render.Months(period)
		got := strings.Join(months, " ") + " in " + quarter
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("%q is %q, want %q", period, got, want)
		}
	}
}
