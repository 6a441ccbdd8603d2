package ledger_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
)

func ptr(text string) *string { return &text }

func meta(name string) ledger.Meta {
	return ledger.Meta{ID: name, Provenance: "extracted", Confidence: 1, SourceIDs: []string{"raw_1"}, EvidenceIDs: []string{"prs_1"}}
}

// A row of each kind, with every field set.
func account() *ledger.Account {
	return &ledger.Account{
		Meta: meta("acct_8231"), Institution: ptr("First Bank"), ExternalAccountID: ptr("0001"), AccountType: "bank_checking", Name: "Operating",
		Currency: "USD", CurrentBalance: ptr("-12.50"), AvailableBalance: ptr("100.00"), BalanceAsOf: ptr("2025-09-30T00:00:00.000Z"), Status: "active",
	}
}

func balance() *ledger.Balance {
	return &ledger.Balance{AccountID: "acct_8231", AsOf: "2025-09-30T00:00:00.000Z", Current: "-1.00", Available: ptr("0.00"), Pending: ptr("3.00"), Currency: "USD"}
}

func transaction() *ledger.Transaction {
	return &ledger.Transaction{
		Meta: meta("tx_4127"), AccountID: "acct_8231", ExternalTransactionID: ptr("e-1"), Amount: "100.00", Currency: "USD", Direction: "outflow",
		TransactionDate: "2025-09-15", PostedDate: ptr("2025-09-16"), CounterpartyID: ptr("cp_aws"), Category: ptr("Cloud"),
		Allocations: []ledger.Allocation{{Label: "production", Amount: "60.00"}, {Label: "test", Amount: "40.00"}},
		Status:      "posted", DescriptionRaw: ptr("AWS EMEA"), Description: ptr("AWS"), ReconciliationStatus: "matched", ChainTxHash: ptr("0x1"),
	}
}

func counterparty() *ledger.Counterparty {
	return &ledger.Counterparty{
		Meta: meta("cp_aws"), Name: "Amazon Web Services", Type: "vendor", Aliases: []string{"AWS"}, RiskLevel: "low", VerifiedStatus: "document_verified",
		LinkedAccounts: []string{"acct_1"}, DetailsChangedAt: ptr("2025-01-02T03:04:05.006Z"), MemberID: ptr("mbr_1"), AgentID: ptr("agt_1"), OnchainAddress: ptr("0x1"),
	}
}

func obligation() *ledger.Obligation {
	return &ledger.Obligation{
		Meta: meta("obl_5521"), Type: "bill", CounterpartyID: "cp_aws", Direction: "payable", AmountDue: "10.00", MinimumDue: ptr("1.00"), Currency: "USD",
		DueDate: "2025-10-07", Recurrence: ptr("FREQ=MONTHLY"), Status: "upcoming", LinkedTransactionIDs: []string{"tx_4127"},
	}
}

func invoice() *ledger.Invoice {
	return &ledger.Invoice{
		Meta: meta("inv_1"), InvoiceNumber: "2025-001", CounterpartyID: "cp_aws", Direction: "receivable", AmountDue: "10.00", AmountPaid: "0.00", Currency: "USD",
		IssueDate: "2025-09-01", DueDate: "2025-09-30", Status: "sent", LinkedTransactionIDs: []string{"tx_4127"},
	}
}

// everyKind is a row of each kind by its name.
var everyKind = map[string]func() ledger.Row{
	"account": func() ledger.Row { return account() }, "balance": func() ledger.Row { return balance() },
	"transaction": func() ledger.Row { return transaction() }, "counterparty": func() ledger.Row { return counterparty() },
	"obligation": func() ledger.Row { return obligation() }, "invoice": func() ledger.Row { return invoice() },
}

// set puts a value into a field of a row by its Go name. A text goes into a
// field that is a pointer to one, too; nil empties it.
func set(t *testing.T, row ledger.Row, field string, value any) {
	t.Helper()
	f := reflect.ValueOf(row).Elem().FieldByName(field)
	switch {
	case !f.IsValid():
		t.Fatalf("no field %s", field)
	case value == nil:
		f.SetZero()
	case f.Kind() == reflect.Pointer:
		text := value.(string)
		f.Set(reflect.ValueOf(&text))
	default:
		f.Set(reflect.ValueOf(value))
	}
}

const (
	bad      = "\xff"
	farAway  = "0000-13-01"
	tomorrow = "tomorrow"
)

var tooLong = strings.Repeat("x", 2001)

// broken names, for each kind, the values that each of its fields refuses.
var broken = map[string]map[string][]any{
	"account": {
		"ID": {"", "acct_", "tx_1", "acct_ä", "acct_" + strings.Repeat("a", 65)}, "Institution": {bad, tooLong}, "ExternalAccountID": {bad, tooLong},
		"AccountType": {"", "checking", "CARD"}, "Name": {"", bad, tooLong}, "Currency": {"", "usd", "XAU", "EURO"},
		"CurrentBalance": {"", "1.005", "1,00", "1e3", "+1", "NaN"}, "AvailableBalance": {"1.005"}, "Status": {"", "open"},
		"BalanceAsOf": {"", tomorrow, "2025-09-30", "2025-09-30T00:00:00Z", "2025-09-30T00:00:00.000+02:00", "2025-09-30T00:00:00,000Z", "2025-02-30T00:00:00.000Z"},
		"Provenance":  {"", "guessed"}, "Confidence": {-0.1, 1.1, math.NaN(), math.Inf(1)}, "CreatedAt": {tomorrow, "2025-09-30"},
		"SourceIDs": {[]string{bad}, []string{tooLong}}, "EvidenceIDs": {[]string{"prs_1", bad}},
	},
	"balance": {
		"AccountID": {"", "acct_", "tx_1"}, "AsOf": {"", "2025-09-30", "2025-09-30T1:00:00.000Z", "2025-09-30T01:00:00,000Z", "2025-09-30T01:00:00.0000Z"},
		"Current": {"", "1.005", "x"}, "Available": {"", "1.005"}, "Pending": {"1.005"}, "Currency": {"", "usd"},
	},
	"transaction": {
		"ID": {"", "obl_1"}, "AccountID": {"", "cp_1"}, "ExternalTransactionID": {bad, tooLong}, "Amount": {"", "-100.00", "100.001", "1e2", "100,00"},
		"Currency": {"", "usd", "JPY"}, "Direction": {"", "in", "payable"}, "TransactionDate": {"", farAway, "2025-9-15", "2025-02-29", "2025-09-15T00:00:00Z", " 2025-09-15"},
		"PostedDate": {"", "16.09.2025"}, "CounterpartyID": {"", "aws"}, "Category": {bad, tooLong, strings.Repeat("x", 257), strings.Repeat("ﷺ", 20)},
		"Status": {"", "done"}, "DescriptionRaw": {bad, tooLong}, "Description": {bad, tooLong}, "ReconciliationStatus": {"", "open"}, "ChainTxHash": {bad, tooLong},
		"Allocations": {
			[]ledger.Allocation{{Label: "a", Amount: "99.99"}}, []ledger.Allocation{{Label: "a", Amount: "100.01"}}, []ledger.Allocation{{Label: "a", Amount: "x"}},
			[]ledger.Allocation{{Label: "a", Amount: "150.00"}, {Label: "b", Amount: "-50.00"}}, []ledger.Allocation{{Label: bad, Amount: "100.00"}},
			[]ledger.Allocation{{Label: tooLong, Amount: "100.00"}}, parts(51),
			[]ledger.Allocation{{Label: "a", Amount: strings.Repeat("9", 36)}, {Label: "b", Amount: strings.Repeat("9", 36)}},
		},
	},
	"counterparty": {
		"ID": {"", "tx_1"}, "Name": {"", bad, tooLong}, "Type": {"", "supplier"}, "Aliases": {[]string{"AWS", bad}, []string{tooLong}}, "RiskLevel": {"", "none"},
		"VerifiedStatus": {"", "verified"}, "LinkedAccounts": {[]string{bad}}, "DetailsChangedAt": {"", "2025-01-02"}, "MemberID": {bad, tooLong}, "AgentID": {bad}, "OnchainAddress": {bad},
	},
	"obligation": {
		"ID": {"", "inv_1"}, "Type": {"", "debt"}, "CounterpartyID": {"", "aws"}, "Direction": {"", "outflow"}, "AmountDue": {"", "-1.00"}, "MinimumDue": {"-1.00"},
		"Currency": {""}, "DueDate": {"", "2025-10-32"}, "Recurrence": {bad, tooLong}, "Status": {"", "open"}, "LinkedTransactionIDs": {[]string{"obl_1"}, []string{"tx_1", ""}},
	},
	"invoice": {
		"ID": {"", "obl_1"}, "InvoiceNumber": {"", bad, strings.Repeat("1", 129)}, "CounterpartyID": {"", "aws"}, "Direction": {"", "inflow"}, "AmountDue": {"", "-1.00"},
		"AmountPaid": {"", "1.005"}, "Currency": {"", "$"}, "IssueDate": {"", "today"}, "DueDate": {"", "today"}, "Status": {"", "open"}, "LinkedTransactionIDs": {[]string{"x"}},
	},
}

// parts are allocations of 100.00 in n parts.
func parts(n int) []ledger.Allocation {
	all := []ledger.Allocation{{Label: "first", Amount: fmt.Sprintf("%d.00", 100-(n-1))}}
	for range n - 1 {
		all = append(all, ledger.Allocation{Label: "more", Amount: "1.00"})
	}
	return all
}

// A row of each kind is written and read back as it is.
func TestGoodRows(t *testing.T) {
	for kind, make := range everyKind {
		t.Run(kind, func(t *testing.T) {
			b := newBook(t)
			b.write(t, ledger.Written{New: 1}, make())
			b.write(t, ledger.Written{Same: 1}, make())
		})
	}
}

// TestBrokenRows breaks one field of a good row at a time. The writer has no
// table: a row that is not well formed must not get as far as one.
func TestBrokenRows(t *testing.T) {
	tenant := newBook(t).tenant
	writer := &ledger.Writer{}
	for kind, fields := range broken {
		for field, values := range fields {
			for i, value := range values {
				t.Run(fmt.Sprintf("%s/%s/%d", kind, field, i), func(t *testing.T) {
					row := everyKind[kind]()
					set(t, row, field, value)
					_, err := writer.Write(t.Context(), tenant, actor, "req-1", row)
					fails(t, err, fault.InvalidArgument)
				})
			}
		}
	}
}

// Every field with bounds has a broken value in the table above.
func TestEveryFieldIsBroken(t *testing.T) {
	free := map[string]bool{"TenantID": true, "UpdatedAt": true, "NormalizedName": true} // the writer's own
	shared := map[string]bool{"Provenance": true, "Confidence": true, "CreatedAt": true, "SourceIDs": true, "EvidenceIDs": true}
	for kind, make := range everyKind {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(make()).Elem()) {
			switch {
			case field.Anonymous || free[field.Name] || len(broken[kind][field.Name]) > 0:
			case len(field.Index) > 1 && (kind == "balance" || kind != "account" && shared[field.Name]):
			default:
				t.Errorf("%s.%s: no value is tried that must be refused", kind, field.Name)
			}
		}
	}
}

func TestEmptyFields(t *testing.T) {
	optional := map[string][]string{
		"account":      {"Institution", "ExternalAccountID", "CurrentBalance", "AvailableBalance", "BalanceAsOf", "SourceIDs"},
		"balance":      {"Available", "Pending"},
		"transaction":  {"ExternalTransactionID", "PostedDate", "CounterpartyID", "Category", "Allocations", "DescriptionRaw", "Description", "ChainTxHash"},
		"counterparty": {"Aliases", "LinkedAccounts", "DetailsChangedAt", "MemberID", "AgentID", "OnchainAddress"},
		"obligation":   {"MinimumDue", "Recurrence", "LinkedTransactionIDs"},
		"invoice":      {"LinkedTransactionIDs"},
	}
	for kind, fields := range optional {
		b, row := newBook(t), everyKind[kind]()
		for _, field := range fields {
			set(t, row, field, nil)
		}
		b.write(t, ledger.Written{New: 1}, row)
		body, err := json.Marshal(row)
		noError(t, err)
		var members map[string]any
		noError(t, json.Unmarshal(body, &members))
		full, err := json.Marshal(everyKind[kind]())
		noError(t, err)
		var all map[string]any
		noError(t, json.Unmarshal(full, &all))
		for name := range all {
			if _, there := members[name]; !there {
				t.Errorf("%s without values lacks %s: it is null, never missing", kind, name)
			}
		}
	}
}

// What an agent or a customer says alone is trusted no more than half.
func TestConfidence(t *testing.T) {
	for provenance, most := range map[string]float64{
		"extracted": 1, "inferred": 1, "ambiguous": 1, "human_confirmed": 1, "agent_contributed": 0.5, "customer_asserted": 0.5,
	} {
		for _, confidence := range []float64{0, 0.5, 0.5000001, 1} {
			row := account()
			row.Provenance, row.Confidence = provenance, confidence
			if confidence <= most {
				newBook(t).write(t, ledger.Written{New: 1}, row)
				continue
			}
			_, err := (&ledger.Writer{}).Write(t.Context(), newBook(t).tenant, actor, "req-1", row)
			fails(t, err, fault.InvalidArgument)
		}
	}
}

func TestAmountsAreCanonical(t *testing.T) {
	b, row := newBook(t), transaction()
	row.Amount, row.Allocations = "100", []ledger.Allocation{{Label: "a", Amount: "99.5"}, {Label: "b", Amount: "0.5"}}
	b.write(t, ledger.Written{New: 1}, row)
	equal(t, "amount", row.Amount, "100.00")
	equal(t, "allocation", row.Allocations[0].Amount, "99.50")
	again := transaction()
	again.Allocations = []ledger.Allocation{{Label: "a", Amount: "99.50"}, {Label: "b", Amount: "0.50"}}
	b.write(t, ledger.Written{Same: 1}, again)
}

func TestAllocations(t *testing.T) {
	for name, c := range map[string]struct {
		amount, currency string
		parts            []ledger.Allocation
		good             bool
	}{
		"none":            {"100", "USD", nil, true},
		"empty list":      {"100", "USD", []ledger.Allocation{}, true},
		"one":             {"100", "USD", []ledger.Allocation{{"a", "100"}}, true},
		"label twice":     {"100", "USD", []ledger.Allocation{{"a", "50"}, {"a", "50"}}, true},
		"a part of zero":  {"100", "USD", []ledger.Allocation{{"a", "100"}, {"b", "0"}}, true},
		"all zero":        {"0", "USD", []ledger.Allocation{{"a", "0"}}, true},
		"fifty":           {"100", "USD", parts(50), true},
		"yen":             {"100", "JPY", []ledger.Allocation{{"a", "33"}, {"b", "67"}}, true},
		"yen with a sen":  {"100", "JPY", []ledger.Allocation{{"a", "33.5"}, {"b", "66.5"}}, false},
		"dinars":          {"1.000", "KWD", []ledger.Allocation{{"a", "0.999"}, {"b", "0.001"}}, true},
		"a cent missing":  {"100", "USD", []ledger.Allocation{{"a", "99.99"}}, false},
		"a cent too many": {"100", "USD", []ledger.Allocation{{"a", "100.01"}}, false},
		"of nothing":      {"0", "USD", []ledger.Allocation{{"a", "0.01"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b, row := newBook(t), transaction()
			row.Amount, row.Currency, row.Allocations = c.amount, c.currency, c.parts
			_, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", row)
			if c.good {
				noError(t, err)
			} else {
				fails(t, err, fault.InvalidArgument)
			}
		})
	}
}

// A row that would not fit beside others is refused before anything is written,
// wherever it stands among them.
func TestSizeOfARow(t *testing.T) {
	large := counterparty()
	for range 40 {
		large.Aliases = append(large.Aliases, strings.Repeat("x", 1000))
	}
	rows := []ledger.Row{}
	for i := range 150 {
		small := account()
		small.ID = fmt.Sprintf("acct_%d", i)
		rows = append(rows, small)
	}
	_, err := (&ledger.Writer{}).Write(t.Context(), newBook(t).tenant, actor, "req-1", append(rows, large)...)
	fails(t, err, fault.InvalidArgument)

	b := newBook(t)
	large.Aliases = large.Aliases[:25]
	b.write(t, ledger.Written{New: 1}, large)
}

// A name of any length and script finds its place in the index.
func TestNamesInTheIndex(t *testing.T) {
	b := newBook(t)
	for i, name := range []string{strings.Repeat("é", 1000), strings.Repeat("日本", 300), strings.Repeat("ﷺ", 600), "a#b#c", strings.Repeat("x", 255) + "é"} {
		row := counterparty()
		row.ID, row.Name = fmt.Sprintf("cp_%d", i), name
		b.write(t, ledger.Written{New: 1}, row)
	}
	names, err := b.reader.Names(t.Context(), b.tenant, id.Counterparty, "cp_", 10)
	noError(t, err)
	equal(t, "names", len(names), 5)
	page, err := b.store.Query(t.Context(), record.Query{Index: 1, PK: "tenant#" + b.tenant.String() + "#cp"})
	noError(t, err)
	for _, item := range page.Items {
		if strings.ContainsRune(item.Index[0].SK, '\uFFFD') {
			t.Errorf("the place %q is cut within a character", item.Index[0].SK)
		}
	}
}
