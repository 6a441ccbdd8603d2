package demo_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

var tenants = []string{demo.Acme, demo.Globex}

func TestDataIsTheSameEachTime(t *testing.T) {
	for _, tenant := range tenants {
		want := encode(t, demo.Data(tenant))
		pages := encode(t, demo.Slugs(demo.Data(tenant)))
		for range 5 {
			if got := demo.Data(tenant); !bytes.Equal(encode(t, got), want) {
				t.Fatalf("%s: other rows than before", tenant)
			} else if !bytes.Equal(encode(t, demo.Slugs(got)), pages) {
				t.Fatalf("%s: other pages than before", tenant)
			}
		}
	}
	if all := demo.Data("nobody").All(); len(all) != 0 {
		t.Errorf("a tenant nobody knows has %d rows", len(all))
	}
}

func TestSize(t *testing.T) {
	for tenant, want := range map[string]struct{ low, high, parties int }{demo.Acme: {2000, 3000, 60}, demo.Globex: {120, 200, 5}} {
		rows := demo.Data(tenant)
		if n := len(rows.Transactions); n < want.low || n > want.high {
			t.Errorf("%s: %d transactions, want %d to %d", tenant, n, want.low, want.high)
		}
		if n := len(rows.Counterparties); n < want.parties {
			t.Errorf("%s: %d counterparties, want at least %d", tenant, n, want.parties)
		}
	}
}

func TestIDs(t *testing.T) {
	owner := map[string]string{}
	for _, tenant := range tenants {
		for prefix, names := range ids(demo.Data(tenant)) {
			for _, name := range names {
				if err := id.Check(prefix, name); err != nil {
					t.Errorf("%s: %v", tenant, err)
				}
				if owner[name] != "" {
					t.Errorf("%s: %s is an id of %s too", tenant, name, owner[name])
				}
				owner[name] = tenant
			}
		}
	}
}

// TestDates: what banks book lies on their days and inside the books.
func TestDates(t *testing.T) {
	for _, tenant := range tenants {
		rows := demo.Data(tenant)
		kinds := map[string]string{}
		for _, a := range rows.Accounts {
			kinds[a.ID] = a.AccountType
		}
		for _, x := range rows.Transactions {
			made := day(t, x.TransactionDate)
			if made.Before(demo.First) || made.After(demo.Close) {
				t.Errorf("%s was made on %s", x.ID, x.TransactionDate)
			}
			kind := kinds[x.AccountID]
			if kind != "card" && kind != "onchain" && !demo.BankingDay(made) {
				t.Errorf("%s was made at a bank on %s, %s", x.ID, x.TransactionDate, made.Weekday())
			}
			if booked := x.Status == "posted" || x.Status == "cleared"; booked != (x.PostedDate != nil) {
				t.Errorf("%s is %s, posted %v", x.ID, x.Status, x.PostedDate)
			}
			if x.PostedDate == nil {
				continue
			}
			if posted := day(t, *x.PostedDate); posted.Before(made) || posted.After(demo.Close) || kind != "onchain" && !demo.BankingDay(posted) {
				t.Errorf("%s of %s was posted on %s, %s", x.ID, x.TransactionDate, *x.PostedDate, posted.Weekday())
			}
		}
	}
}

func TestBankingDay(t *testing.T) {
	for text, want := range map[string]bool{
		"2025-09-03": true, "2025-09-06": false, "2025-09-07": false, "2025-09-01": false, "2024-12-25": false, "2024-12-26": true, "2025-09-30": true,
	} {
		if got := demo.BankingDay(day(t, text)); got != want {
			t.Errorf("%s: banks book %v, want %v", text, got, want)
		}
	}
}

// TestReferences: every id that a row names is a row of the same tenant, in the
// same currency.
func TestReferences(t *testing.T) {
	for _, tenant := range tenants {
		rows := demo.Data(tenant)
		currency, party := map[string]string{}, map[string]bool{"": true}
		for _, a := range rows.Accounts {
			currency[a.ID] = a.Currency
		}
		for _, c := range rows.Counterparties {
			party[c.ID] = true
		}
		links := func(what, in string, linked []string, is string) {
			for _, name := range linked {
				if currency[name] != in {
					t.Errorf("%s in %s (%s) names transaction %s in %q", what, in, is, name, currency[name])
				}
			}
		}
		for _, x := range rows.Transactions {
			if x.Currency != currency[x.AccountID] || !party[deref(x.CounterpartyID)] {
				t.Errorf("%s in %s: account %s, counterparty %s", x.ID, x.Currency, x.AccountID, deref(x.CounterpartyID))
			}
			currency[x.ID] = x.Currency
		}
		for _, o := range rows.Obligations {
			links(o.ID, o.Currency, o.LinkedTransactionIDs, o.Type)
			if !party[o.CounterpartyID] || o.CounterpartyID == "" {
				t.Errorf("%s names counterparty %q", o.ID, o.CounterpartyID)
			}
		}
		for _, i := range rows.Invoices {
			links(i.ID, i.Currency, i.LinkedTransactionIDs, i.Status)
			if !party[i.CounterpartyID] || i.CounterpartyID == "" {
				t.Errorf("%s names counterparty %q", i.ID, i.CounterpartyID)
			}
		}
	}
}

// TestVariety: there is something of everything to ask for.
func TestVariety(t *testing.T) {
	rows := demo.Data(demo.Acme)
	seen := map[string]int{}
	for _, a := range rows.Accounts {
		seen["account "+a.AccountType+" "+a.Status]++
	}
	for _, c := range rows.Counterparties {
		seen["party "+c.Type]++
		seen["risk "+c.RiskLevel]++
		seen["verified "+c.VerifiedStatus]++
	}
	for _, x := range rows.Transactions {
		seen["tx "+x.Status]++
		seen["tx "+x.Direction]++
		seen["tx in "+x.Currency]++
		seen["tx "+x.ReconciliationStatus]++
	}
	for _, o := range rows.Obligations {
		seen["owed "+o.Type+" "+o.Status]++
		if o.Type == "subscription" && o.Status == "upcoming" && strings.HasPrefix(deref(o.Recurrence), "FREQ=") {
			seen["subscriptions"]++
		}
		if o.DueDate < "2025-10-01" && o.Status == "upcoming" {
			seen["overdue "+o.Direction]++
		}
		if strings.HasPrefix(o.DueDate, "2025-10") && o.Type == "bill" {
			seen["bills of October"]++
		}
	}
	for _, i := range rows.Invoices {
		seen["invoice "+i.Status]++
	}
	want := map[string]int{"subscriptions": 8, "bills of October": 5, "overdue payable": 2, "overdue receivable": 3}
	for _, one := range strings.Split("account bank_checking active, account bank_checking closed, account bank_savings active, account card active, account onchain active,"+
		" party vendor, party customer, party employee, party tax_authority, party agent, risk high, risk sanctioned, verified unverified, verified document_verified,"+
		" tx pending, tx failed, tx reversed, tx disputed, tx posted, tx cleared, tx transfer, tx inflow, tx outflow, tx adjustment, tx in EUR, tx in JPY, tx in USDC, tx unreconciled, tx matched,"+
		" owed rent upcoming, owed tax paid, owed card_statement upcoming, owed subscription cancelled, invoice paid, invoice partial, invoice sent, invoice draft, invoice disputed, invoice cancelled", ",") {
		want[strings.TrimSpace(one)] = 1
	}
	for what, least := range want {
		if seen[what] < least {
			t.Errorf("%d of %q, want at least %d", seen[what], what, least)
		}
	}
}

// TestPeople: the demo's checks approve what agents propose, so nobody who
// approves has made an agent.
func TestPeople(t *testing.T) {
	roles := map[string]identity.Role{}
	for _, m := range demo.Members {
		if err := id.Check(id.Member, m.Record.ID); err != nil || m.Record.TenantID != m.Tenant {
			t.Errorf("member %+v: %v", m, err)
		}
		if m.Record.Status == identity.Active {
			roles[m.Record.ID] = m.Record.Role
		}
	}
	for name, want := range map[string]identity.Role{"mbr_ada": identity.Admin, "mbr_ben": identity.Approver, "mbr_vic": identity.Viewer, "mbr_ivy": identity.Viewer} {
		if roles[name] != want {
			t.Errorf("%s is %q, want an active %s", name, roles[name], want)
		}
	}
	granted := map[string]string{}
	for _, a := range demo.Agents {
		granted[a.Record.ID] = a.Record.Scopes.String()
		if err := id.Check(id.Agent, a.Record.ID); err != nil || a.Record.TenantID != a.Tenant {
			t.Errorf("agent %+v: %v", a, err)
		}
		if role := roles[a.Record.CreatedBy]; a.Tenant == demo.Acme && role != "" {
			t.Errorf("%s was made by an active %s", a.Record.ID, role)
		}
		if a.Record.Scopes.Has(identity.IntentApprove) {
			t.Errorf("%s may approve", a.Record.ID)
		}
		if set, err := identity.ParseScopes(a.Record.Scopes.Strings()); err != nil || !slices.Equal(set, a.Record.Scopes) {
			t.Errorf("scopes of %s are no sorted set: %v %v", a.Record.ID, a.Record.Scopes, err)
		}
	}
	if len(strings.Fields(granted["agt_finance"])) != len(identity.AllScopes)-1 || granted["agt_globex"] != granted["agt_finance"] || granted["agt_readonly"] != "ledger:read wiki:read" {
		t.Errorf("granted: %v", granted)
	}
}

func TestAddresses(t *testing.T) {
	rows := demo.Data(demo.Acme)
	for _, c := range rows.Counterparties {
		if c.OnchainAddress != nil {
			if _, err := chain.ParseAddress(*c.OnchainAddress); err != nil {
				t.Errorf("%s: %v", c.ID, err)
			}
		}
	}
	for _, a := range rows.Accounts {
		if a.AccountType == "onchain" {
			if _, err := chain.ParseAddress(*a.ExternalAccountID); err != nil {
				t.Errorf("%s: %v", a.ID, err)
			}
		}
	}
}

func ids(rows demo.Rows) map[id.Prefix][]string {
	out := map[id.Prefix][]string{}
	for _, row := range rows.All() {
		switch r := row.(type) {
		case *ledger.Account:
			out[id.Account] = append(out[id.Account], r.ID)
		case *ledger.Counterparty:
			out[id.Counterparty] = append(out[id.Counterparty], r.ID)
		case *ledger.Transaction:
			out[id.Transaction] = append(out[id.Transaction], r.ID)
		case *ledger.Obligation:
			out[id.Obligation] = append(out[id.Obligation], r.ID)
		case *ledger.Invoice:
			out[id.Invoice] = append(out[id.Invoice], r.ID)
		}
	}
	return out
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func day(t *testing.T, text string) time.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
