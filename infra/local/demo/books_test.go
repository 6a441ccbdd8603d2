package demo_test

import (
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// TestBalances: at every month's end an account holds what it held before the
// books opened, and everything booked since.
func TestBalances(t *testing.T) {
	for _, tenant := range tenants {
		rows := demo.Data(tenant)
		opening, checked := map[string]money.Amount{}, 0
		for _, b := range rows.Balances {
			day := b.AsOf[:len("2006-01-02")]
			if day < "2023-10-01" {
				opening[b.AccountID] = signed(t, b.Current, b.Currency)
				continue
			}
			checked++
			want := booked(t, rows, b.AccountID, day, opening[b.AccountID])
			if b.Current != want.String() {
				t.Errorf("%s held %s on %s, its bookings make %s", b.AccountID, b.Current, day, want)
			}
		}
		if checked < 24 || len(opening) != len(rows.Accounts) {
			t.Errorf("%s: %d balances, %d openings of %d accounts", tenant, checked, len(opening), len(rows.Accounts))
		}
		for _, a := range rows.Accounts {
			if want := booked(t, rows, a.ID, "2025-09-30", opening[a.ID]); *a.CurrentBalance != want.String() {
				t.Errorf("%s has %s, its bookings make %s", a.ID, *a.CurrentBalance, want)
			}
		}
	}
}

// booked adds up what an account posted until a day.
func booked(t *testing.T, rows demo.Rows, account, until string, sum money.Amount) money.Amount {
	t.Helper()
	for _, x := range rows.Transactions {
		if x.AccountID != account || x.PostedDate == nil || *x.PostedDate > until {
			continue
		}
		a := signed(t, x.Amount, x.Currency)
		switch {
		case x.Direction == "outflow", *x.Category == demo.TransferOut, *x.Category == demo.AdjustmentOut:
			a = a.Neg()
		case x.Direction == "inflow", *x.Category == demo.TransferIn, *x.Category == demo.AdjustmentIn:
		default:
			t.Fatalf("%s has no sign: %s, %s", x.ID, x.Direction, *x.Category)
		}
		var err error
		if sum, err = sum.Add(a); err != nil {
			t.Fatal(err)
		}
	}
	return sum
}

// TestTransfers: between own accounts in one currency, what leaves arrives.
func TestTransfers(t *testing.T) {
	legs := map[string]money.Amount{}
	for _, x := range demo.Data(demo.Acme).Transactions {
		if x.Direction != "transfer" || strings.Contains(*x.Description, "onversion") || strings.Contains(*x.Description, "redemption") {
			continue
		}
		a := signed(t, x.Amount, x.Currency)
		if *x.Category == demo.TransferOut {
			a = a.Neg()
		}
		at := x.TransactionDate + *x.Description
		if sum, ok := legs[at]; ok {
			a = add(t, a, sum)
		}
		legs[at] = a
	}
	if len(legs) < 40 {
		t.Errorf("%d transfers", len(legs))
	}
	for at, sum := range legs {
		if sum.Sign() != 0 {
			t.Errorf("transfer %s leaves %s", at, sum)
		}
	}
}

// TestInvoices: what is paid of an invoice is what its payments come to, and its
// status says the same.
func TestInvoices(t *testing.T) {
	for _, tenant := range tenants {
		rows := demo.Data(tenant)
		amounts := map[string]money.Amount{}
		for _, x := range rows.Transactions {
			amounts[x.ID] = signed(t, x.Amount, x.Currency)
		}
		numbers := map[string]bool{}
		for _, i := range rows.Invoices {
			due, paid := signed(t, i.AmountDue, i.Currency), money.Zero(money.MustParse(i.Currency))
			for _, name := range i.LinkedTransactionIDs {
				paid = add(t, paid, amounts[name])
			}
			if paid.String() != i.AmountPaid {
				t.Errorf("%s: %s paid, its payments make %s", i.InvoiceNumber, i.AmountPaid, paid)
			}
			if got, want := i.Status == "paid", paid == due; got != want || (i.Status == "partial") != (paid.Sign() > 0 && !want) {
				t.Errorf("%s is %s with %s of %s paid", i.InvoiceNumber, i.Status, paid, due)
			}
			if numbers[i.InvoiceNumber] {
				t.Errorf("invoice number %s twice", i.InvoiceNumber)
			}
			numbers[i.InvoiceNumber] = true
			if i.IssueDate > i.DueDate {
				t.Errorf("%s was due before it was issued", i.InvoiceNumber)
			}
		}
		if first := map[string]string{demo.Acme: "INV-2025-0001", demo.Globex: "GX-2025-0001"}[tenant]; !numbers[first] {
			t.Errorf("%s: no invoice %s", tenant, first)
		}
	}
}

// TestObligations: a paid one is explained by payments, an open one is not due
// for an amount of zero, and a rule's payments are linked to it.
func TestObligations(t *testing.T) {
	rows := demo.Data(demo.Acme)
	by := transactions(rows)
	for _, o := range rows.Obligations {
		if o.Status == "paid" && o.Type != "card_statement" {
			paid := money.Zero(money.MustParse(o.Currency))
			for _, name := range o.LinkedTransactionIDs {
				paid = add(t, paid, signed(t, by[name].Amount, by[name].Currency))
			}
			if paid.String() != o.AmountDue {
				t.Errorf("%s of %s is paid by %s", o.ID, o.AmountDue, paid)
			}
		}
		if o.AmountDue == "0.00" || o.Recurrence != nil && len(o.LinkedTransactionIDs) == 0 {
			t.Errorf("%s: %s due, linked to %d", o.ID, o.AmountDue, len(o.LinkedTransactionIDs))
		}
		for _, name := range o.LinkedTransactionIDs {
			if o.Type != "card_statement" && deref(by[name].CounterpartyID) != o.CounterpartyID {
				t.Errorf("%s is owed to %s and linked to a payment to %s", o.ID, o.CounterpartyID, deref(by[name].CounterpartyID))
			}
		}
	}
}

// TestStatements: a card's statement asks for what the card owed at the end of
// the month before, and its payment is that amount.
func TestStatements(t *testing.T) {
	rows := demo.Data(demo.Acme)
	owed, by, checked := map[string]string{}, transactions(rows), 0
	for _, b := range rows.Balances {
		if b.AccountID == "acct_6075" {
			owed[b.AsOf[:len("2006-01")]] = signed(t, b.Current, b.Currency).Neg().String()
		}
	}
	for _, o := range rows.Obligations {
		if o.Type != "card_statement" {
			continue
		}
		checked++
		if want := owed[day(t, o.DueDate[:len("2006-01")]+"-01").AddDate(0, -1, 0).Format("2006-01")]; o.AmountDue != want {
			t.Errorf("%s asks for %s, the card owed %s", o.ID, o.AmountDue, want)
		}
		for _, name := range o.LinkedTransactionIDs {
			if by[name].Amount != o.AmountDue || by[name].Direction != "transfer" {
				t.Errorf("%s of %s is paid by %s of %s", o.ID, o.AmountDue, by[name].Direction, by[name].Amount)
			}
		}
	}
	if checked != 25 {
		t.Errorf("%d statements, want one for each month and the opening one", checked)
	}
}

// TestNamedRows are the rows that documents name, as they say them.
func TestNamedRows(t *testing.T) {
	rows := demo.Data(demo.Acme)
	x := transactions(rows)["tx_4127"]
	same(t, "tx_4127", []string{x.Amount, x.Currency, x.Direction, x.Status, x.TransactionDate[:7], x.AccountID, *x.CounterpartyID, *x.Category, *x.Description},
		[]string{"61404.12", "USD", "outflow", "posted", "2025-09", "acct_8231", "cp_aws", "cloud", "AWS Inc"})
	var labels []string
	sum := money.Zero(money.MustParse("USD"))
	for _, a := range x.Allocations {
		labels, sum = append(labels, a.Label), add(t, sum, signed(t, a.Amount, "USD"))
	}
	same(t, "allocations of tx_4127", append(labels, sum.String()), []string{"production", "staging", "development", "61404.12"})
	for _, o := range rows.Obligations {
		if o.ID == "obl_5521" {
			same(t, o.ID, []string{o.Type, o.Direction, o.CounterpartyID, o.AmountDue, o.Currency, o.DueDate, o.Status}, []string{"bill", "payable", "cp_aws", "61404.12", "USD", "2025-10-15", "upcoming"})
		}
	}
	for _, c := range rows.Counterparties {
		if c.ID == "cp_aws" {
			same(t, c.ID, append([]string{c.Name, c.Type, c.VerifiedStatus, c.RiskLevel}, c.Aliases...),
				[]string{"Amazon Web Services", "vendor", "document_verified", "low", "AWS", "AWS Inc", "Amazon Web Services EMEA SARL"})
		}
	}
	for _, a := range rows.Accounts {
		if a.ID == "acct_8231" {
			same(t, a.ID, []string{a.AccountType, a.Currency, a.Status}, []string{"bank_checking", "USD", "active"})
			if c, err := signed(t, *a.AvailableBalance, "USD").Cmp(signed(t, "2000000", "USD")); err != nil || c <= 0 {
				t.Errorf("acct_8231 has %s, want more than 2,000,000", *a.AvailableBalance)
			}
		}
	}
	found := ids(rows)
	for _, name := range []string{"acct_8231", "cp_aws", "obl_5521"} {
		if !strings.Contains(strings.Join(append(append(found["acct"], found["cp"]...), found["obl"]...), " ")+" ", name+" ") {
			t.Errorf("no row %s", name)
		}
	}
}

// TestSeptember: no category and no single payment of September 2025 reaches
// what went to Amazon, and nothing else was spent on cloud.
func TestSeptember(t *testing.T) {
	spent := map[string]money.Amount{}
	for _, x := range demo.Data(demo.Acme).Transactions {
		if x.Direction == "outflow" && x.Currency == "USD" && strings.HasPrefix(x.TransactionDate, "2025-09") && (x.Status == "posted" || x.Status == "cleared") {
			if _, ok := spent[*x.Category]; !ok {
				spent[*x.Category] = money.Zero(money.MustParse("USD"))
			}
			spent[*x.Category] = add(t, spent[*x.Category], signed(t, x.Amount, "USD"))
		}
	}
	top := signed(t, "61404.12", "USD")
	if spent["cloud"] != top {
		t.Errorf("cloud cost %s, want %s", spent["cloud"], top)
	}
	for category, sum := range spent {
		if c, err := sum.Cmp(top); err != nil || category != "cloud" && c >= 0 {
			t.Errorf("%s cost %s, not less than cloud (%v)", category, sum, err)
		}
	}
	if len(spent) < 10 {
		t.Errorf("%d categories in September", len(spent))
	}
}

func transactions(rows demo.Rows) map[string]*ledger.Transaction {
	by := map[string]*ledger.Transaction{}
	for _, x := range rows.Transactions {
		by[x.ID] = x
	}
	return by
}

func signed(t *testing.T, text, currency string) money.Amount {
	t.Helper()
	a, err := money.ParseSigned(text, money.MustParse(currency))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func add(t *testing.T, a, b money.Amount) money.Amount {
	t.Helper()
	sum, err := a.Add(b)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}
