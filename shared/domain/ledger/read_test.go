package ledger_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/ledger"
)

func TestFold(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":              {"", ""},
		"plain":              {"aws", "aws"},
		"capitals":           {"Amazon WEB", "amazon web"},
		"accents":            {"Café Société", "cafe societe"},
		"accent taken apart": {"Cafe\u0301", "cafe"},
		"umlauts":            {"Müller & Söhne", "muller & sohne"},
		"dotted capital I":   {"İstanbul", "istanbul"},
		"full width":         {"ＡＷＳ１", "aws1"},
		"ligature":           {"ﬁnance", "finance"},
		"Kelvin sign":        {"\u212Aelvin", "kelvin"},
		"superscript":        {"m²", "m2"},
		"Greek":              {"ΑΘΉΝΑ", "αθηνα"},
		"Cyrillic":           {"ЁЛКА", "елка"},
		"Japanese":           {"日本", "日本"},
		"Hangul":             {"\ud55c", "\u1112\u1161\u11ab"},
		"blanks":             {"  a \t\n b  ", "a b"},
		"no-break space":     {"a\u00a0b", "a b"},
		"ideographic space":  {"a\u3000b", "a b"},
		"control characters": {"a\x00\x1bb", "a b"},
		"blanks alone":       {" \t ", ""},
		"accents alone":      {"\u0301\u0301", ""},
		"no UTF-8":           {"a\xffb", "a\ufffdb"},
		"punctuation stays":  {"O'Reilly, Inc.", "o'reilly, inc."},
	} {
		t.Run(name, func(t *testing.T) { equal(t, "fold", ledger.Fold(c.text), c.want) })
	}
}

// FuzzFold: a folded name is folded, and nothing but the difference is gone.
func FuzzFold(f *testing.F) {
	for _, text := range []string{"", "Café  Société", "İ", "ﷺ", "a\xff", "\u1e9b\u0323", "\u0345", "ẞ", "\u03d3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := ledger.Fold(text)
		if twice := ledger.Fold(once); twice != once {
			t.Fatalf("%q folds to %q and that to %q", text, once, twice)
		}
		if !utf8.ValidString(once) || strings.TrimSpace(once) != once || strings.Contains(once, "  ") {
			t.Fatalf("%q folds to %q", text, once)
		}
	})
}

func TestStatusOfAnObligation(t *testing.T) {
	day := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339, text)
		noError(t, err)
		return at
	}
	for name, c := range map[string]struct{ stored, due, on, want string }{
		"due in eight days":           {"upcoming", "2025-10-08", "2025-09-30T12:00:00Z", "upcoming"},
		"in seven":                    {"upcoming", "2025-10-07", "2025-09-30T12:00:00Z", "due"},
		"in seven, first instant":     {"upcoming", "2025-10-07", "2025-09-30T00:00:00Z", "due"},
		"in eight, last instant":      {"upcoming", "2025-10-08", "2025-09-30T23:59:59.999Z", "upcoming"},
		"tomorrow":                    {"upcoming", "2025-10-01", "2025-09-30T12:00:00Z", "due"},
		"today, first instant":        {"upcoming", "2025-09-30", "2025-09-30T00:00:00Z", "due"},
		"today, last instant":         {"upcoming", "2025-09-30", "2025-09-30T23:59:59.999Z", "due"},
		"yesterday":                   {"upcoming", "2025-09-29", "2025-09-30T00:00:00Z", "overdue"},
		"over the turn of the year":   {"upcoming", "2026-01-03", "2025-12-27T00:00:00Z", "due"},
		"over a leap day":             {"upcoming", "2028-03-06", "2028-02-28T00:00:00Z", "due"},
		"stored overdue, due later":   {"overdue", "2025-12-01", "2025-09-30T12:00:00Z", "upcoming"},
		"stored due, long past":       {"due", "2025-01-01", "2025-09-30T12:00:00Z", "overdue"},
		"paid":                        {"paid", "2025-01-01", "2025-09-30T12:00:00Z", "paid"},
		"cancelled":                   {"cancelled", "2025-12-01", "2025-09-30T12:00:00Z", "cancelled"},
		"disputed":                    {"disputed", "2025-10-01", "2025-09-30T12:00:00Z", "disputed"},
		"the day of the time's place": {"upcoming", "2025-09-30", "2025-10-01T01:00:00+02:00", "overdue"},
	} {
		t.Run(name, func(t *testing.T) {
			o := obligation()
			o.Status, o.DueDate = c.stored, c.due
			equal(t, "status", o.StatusOn(day(c.on)), c.want)
			equal(t, "stored status", o.Status, c.stored)
		})
	}
}

func TestStatusOfAnInvoice(t *testing.T) {
	for _, c := range []struct{ stored, before, after string }{
		{"draft", "draft", "draft"}, {"sent", "sent", "overdue"}, {"partial", "partial", "overdue"}, {"paid", "paid", "paid"},
		{"overdue", "overdue", "overdue"}, {"cancelled", "cancelled", "cancelled"}, {"disputed", "disputed", "disputed"},
	} {
		i := invoice()
		i.Status = c.stored
		equal(t, c.stored+" on its day", i.StatusOn(time.Date(2025, 9, 30, 23, 59, 59, 0, time.UTC)), c.before)
		equal(t, c.stored+" a day later", i.StatusOn(time.Date(2025, 10, 1, 0, 0, 0, 0, time.UTC)), c.after)
	}
}

// A row is read as it was written, but for what follows from the time.
func TestRows(t *testing.T) {
	b := newBook(t)
	b.now = time.Date(2025, 10, 8, 0, 0, 0, 0, time.UTC)
	owed, asked := obligation(), invoice()
	b.write(t, ledger.Written{New: 5}, account(), transaction(), counterparty(), owed, asked)
	var o ledger.Obligation
	b.row(t, id.Obligation, owed.ID, &o)
	equal(t, "obligation", o.Status, "overdue")
	b.now = noon
	b.row(t, id.Obligation, owed.ID, &o)
	equal(t, "obligation a week before", o.Status, "due")
	var i ledger.Invoice
	b.row(t, id.Invoice, asked.ID, &i)
	equal(t, "invoice", i.Status, "sent")
	body, err := b.reader.Row(t.Context(), b.tenant, id.Transaction, "tx_4127")
	noError(t, err)
	for _, member := range []string{`"amount":"100.00"`, `"currency":"USD"`, `"transaction_date":"2025-09-15"`, `"allocations":[{"label":"production","amount":"60.00"}`} {
		if !strings.Contains(string(body), member) {
			t.Errorf("%s is not in %s", member, body)
		}
	}
}

// An id that is malformed, missing or another tenant's has one answer.
func TestNoSuchRow(t *testing.T) {
	b, other := newBook(t), newBook(t)
	other.write(t, ledger.Written{New: 2}, account(), transaction())
	b.write(t, ledger.Written{New: 1}, balance())
	var answers []string
	for _, name := range []string{"acct_8231", "acct_none", "acct_", "", "{account_id}", "tx_4127", "acct_1#row", "../acct_8231"} {
		_, err := b.reader.Row(t.Context(), b.tenant, id.Account, name)
		fails(t, err, fault.LedgerRowNotFound)
		answers = append(answers, fault.Of(err).Message)
		_, err = b.reader.Account(t.Context(), b.tenant, name)
		fails(t, err, fault.LedgerRowNotFound)
		answers = append(answers, fault.Of(err).Message)
	}
	for _, answer := range answers {
		equal(t, "answer", answer, answers[0])
	}
}

func TestLatestBalance(t *testing.T) {
	b := newBook(t)
	b.write(t, ledger.Written{New: 1}, account())
	latest := func() string {
		t.Helper()
		body, err := b.reader.Account(t.Context(), b.tenant, "acct_8231")
		noError(t, err)
		var view struct {
			ID            string
			LatestBalance *struct {
				AsOf    string `json:"as_of"`
				Current string
			} `json:"latest_balance"`
		}
		noError(t, json.Unmarshal(body, &view))
		equal(t, "account", view.ID, "acct_8231")
		if view.LatestBalance == nil {
			return "none"
		}
		return view.LatestBalance.AsOf[:10] + " " + view.LatestBalance.Current
	}
	equal(t, "without any", latest(), "none")
	for i, step := range []struct{ day, want string }{
		{"2025-09-10", "2025-09-10 0.00"},
		{"2025-09-30", "2025-09-30 1.00"},
		{"2025-09-20", "2025-09-30 1.00"}, // came late, is not the latest
		{"2025-10-01", "2025-10-01 3.00"},
	} {
		row := balance()
		row.AsOf, row.Current = step.day+"T00:00:00.000Z", fmt.Sprintf("%d.00", i)
		b.write(t, ledger.Written{New: 1}, row)
		equal(t, "after "+step.day, latest(), step.want)
	}
	corrected := balance()
	corrected.AsOf, corrected.Current = "2025-10-01T00:00:00.000Z", "9.00"
	b.write(t, ledger.Written{Changed: 1}, corrected)
	equal(t, "corrected", latest(), "2025-10-01 9.00")
}

func TestNames(t *testing.T) {
	b := newBook(t)
	b.write(t, ledger.Written{New: 12}, many(12)...)
	for _, c := range []struct {
		prefix string
		limit  int
		want   string
	}{
		{"tx_00", 2, "tx_000 tx_001 tx_002"}, // one more than asked for says that there are more
		{"tx_01", 5, "tx_010 tx_011"},
		{"tx_9", 5, ""},
		{"", 0, "tx_000"},
	} {
		got, err := b.reader.Names(t.Context(), b.tenant, id.Transaction, c.prefix, c.limit)
		noError(t, err)
		equal(t, "names from "+c.prefix, strings.Join(got, " "), c.want)
	}
}
