package statement_test

import (
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func euros(t *testing.T, text string) money.Amount {
	t.Helper()
	a, err := money.ParseSigned(text, money.MustParse("EUR"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestDays holds the calendar against the standard library's over two centuries.
func TestDays(t *testing.T) {
	for day := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2200; day = day.AddDate(0, 0, 1) {
		want := day.Format(time.DateOnly)
		if d, err := statement.NewDate(day.Year(), int(day.Month()), day.Day()); err != nil || string(d) != want {
			t.Fatalf("got %q, %v, want %s", d, err, want)
		}
	}
	for _, d := range [][3]int{{2025, 2, 29}, {1900, 2, 29}, {2025, 4, 31}, {2025, 0, 1}, {2025, 13, 1}, {2025, 1, 0}, {2025, 1, 32}, {1899, 1, 1}, {2200, 1, 1}} {
		if got, err := statement.NewDate(d[0], d[1], d[2]); err == nil {
			t.Errorf("%v is %s", d, got)
		}
	}
}

func TestDateForms(t *testing.T) {
	for text, want := range map[string]statement.Date{"20250402": "2025-04-02", "20250402120000[-5:EST]": "2025-04-02", "2025040": "", "2025o402": "", "20250431": "", "": ""} {
		got, err := statement.CompactDate(text)
		equal(t, text, got, want)
		equal(t, text+" fails", err != nil, want == "")
	}
	for text, want := range map[string]statement.Date{"2025-04-02": "2025-04-02", "2025-04-02T23:30:00-11:00": "2025-04-02", "2025-04-02+02:00": "2025-04-02",
		"2025-04-02Z": "2025-04-02", "2025-04-021": "", "2025-4-2": "", "2025/04/02": "", "": ""} {
		got, err := statement.ISODate(text)
		equal(t, text, got, want)
		equal(t, text+" fails", err != nil, want == "")
	}
	equal(t, "79", statement.FullYear(79), 2079)
	equal(t, "80", statement.FullYear(80), 1980)
}

func TestEntry(t *testing.T) {
	e := statement.Entry{Amount: euros(t, "5"), Direction: statement.Outflow, Initiated: "2025-04-01"}
	equal(t, "signed", e.Signed(), euros(t, "-5"))
	equal(t, "day", e.Day(), "2025-04-01")
	e.Value = "2025-04-03"
	equal(t, "day with a value date", e.Day(), "2025-04-03")
	e.Booked = "2025-04-02"
	equal(t, "day when booked", e.Day(), "2025-04-02")
	e.Direction = e.Direction.Turned()
	equal(t, "signed the other way", e.Signed(), euros(t, "5"))
	equal(t, "turned twice", e.Direction.Turned().Turned(), e.Direction)
}

// TestRanks: what makes two entries one, and what does not.
func TestRanks(t *testing.T) {
	account := statement.Account{ID: "DE02100100100006820101"}
	base := statement.Entry{Amount: euros(t, "5"), Direction: statement.Outflow, Status: statement.Posted, Booked: "2025-04-02", Memo: "two coffees", Refs: statement.References{Bank: "77"}}
	var ranks statement.Ranks
	first := ranks.Identity(account, &base)
	if !strings.HasSuffix(first, "-1") || len(first) != 34 {
		t.Errorf("the first is %s", first)
	}
	equal(t, "the second equal one", ranks.Identity(account, &base), strings.TrimSuffix(first, "1")+"2")

	var again statement.Ranks
	same := base
	same.Place, same.Status, same.Memo, same.Raw = statement.Place{Line: 9}, statement.Pending, " two\n coffees ", "other"
	equal(t, "another export's", again.Identity(account, &same), first)

	for name, change := range map[string]func(*statement.Entry){
		"amount":    func(e *statement.Entry) { e.Amount = euros(t, "5.01") },
		"direction": func(e *statement.Entry) { e.Direction = statement.Inflow },
		"currency":  func(e *statement.Entry) { e.Amount = money.Zero(money.MustParse("USD")) },
		"day":       func(e *statement.Entry) { e.Booked = "2025-04-03" },
		"memo":      func(e *statement.Entry) { e.Memo = "two coffee s" },
		"reference": func(e *statement.Entry) { e.Refs.Bank = "" },
		"moved":     func(e *statement.Entry) { e.Refs.Bank, e.Refs.EndToEnd = "", "77" },
		"name":      func(e *statement.Entry) { e.Party.Name = "Cafe" },
		"reversal":  func(e *statement.Entry) { e.Reversal = true },
		"batch":     func(e *statement.Entry) { e.Batch.Ref = "B" },
	} {
		other := base
		change(&other)
		if got := again.Identity(account, &other); strings.HasPrefix(got, first[:32]) {
			t.Errorf("another %s is the same entry", name)
		}
	}
	if got := again.Identity(statement.Account{ID: "DE02500105170137075030"}, &base); strings.HasPrefix(got, first[:32]) {
		t.Error("another account's is the same entry")
	}
}

func TestTally(t *testing.T) {
	entry := func(amount string, d statement.Direction, s statement.Status) *statement.Entry {
		return &statement.Entry{Amount: euros(t, amount), Direction: d, Status: s}
	}
	balance := func(l statement.Level, amount string) *statement.Balance {
		return &statement.Balance{Level: l, Amount: euros(t, amount)}
	}
	dollars := &statement.Entry{Amount: money.Zero(money.MustParse("USD")), Direction: statement.Inflow, Status: statement.Posted}
	begin := func(id string) *statement.Statement { return &statement.Statement{ID: id} }
	for _, c := range []struct {
		name  string
		items []statement.Item
		want  string
	}{
		{"it adds up", []statement.Item{begin("1"), balance(statement.Opening, "-10"), entry("15", statement.Inflow, statement.Posted), entry("2", statement.Outflow, statement.Posted), balance(statement.Closing, "3")}, ""},
		{"closing first", []statement.Item{begin("1"), balance(statement.Closing, "3"), balance(statement.Previous, "1"), entry("2", statement.Inflow, statement.Posted)}, ""},
		{"pending does not count", []statement.Item{begin("1"), balance(statement.Opening, "1"), entry("2", statement.Inflow, statement.Pending), balance(statement.Closing, "1")}, ""},
		{"opening before previous", []statement.Item{begin("1"), balance(statement.Previous, "9"), balance(statement.Opening, "1"), balance(statement.Closing, "1")}, ""},
		{"no closing balance", []statement.Item{begin("1"), balance(statement.Opening, "1"), entry("2", statement.Inflow, statement.Posted)}, ""},
		{"a difference", []statement.Item{begin("1"), balance(statement.Opening, "1"), entry("2", statement.Inflow, statement.Posted), balance(statement.Closing, "2.99")},
			"1: opening balance 1.00 and entries make 3.00 EUR, the closing balance says 2.99 EUR"},
		{"each statement for itself", []statement.Item{begin("1"), balance(statement.Opening, "1"), balance(statement.Closing, "2"), begin("2"), balance(statement.Opening, "2"), balance(statement.Closing, "2"), begin("3"), balance(statement.Opening, "0"), balance(statement.Closing, "1")},
			"1: opening balance 1.00 and entries make 1.00 EUR, the closing balance says 2.00 EUR\n3: opening balance 0.00 and entries make 0.00 EUR, the closing balance says 1.00 EUR"},
		{"two currencies", []statement.Item{begin("1"), balance(statement.Opening, "1"), dollars, balance(statement.Closing, "1")},
			"1: the entries cannot be added to the opening balance: add 1.00 EUR and 0.00 USD: amounts of two currencies"},
		{"two currencies of entries", []statement.Item{begin("1"), balance(statement.Opening, "1"), entry("2", statement.Inflow, statement.Posted), dollars, balance(statement.Closing, "1")},
			"1: the entries cannot be added up: add 2.00 EUR and 0.00 USD: amounts of two currencies"},
	} {
		var tally statement.Tally
		for _, item := range c.items {
			tally.See(item)
		}
		var got []string
		for _, f := range tally.Done() {
			got = append(got, f.Statement.ID+": "+f.Text)
		}
		equal(t, c.name, strings.Join(got, "\n"), c.want)
	}
}

func TestRefuse(t *testing.T) {
	at := statement.Place{Line: 3, Column: 7}.In("Stmt").In("Amt")
	got := fault.Of(at.Refuse("the amount cannot be read", strings.Repeat("é", 50), "a decimal", "Correct it."))
	equal(t, "code", got.Code, fault.InvalidArgument)
	equal(t, "message", got.Message, `Line 3, column 7 (Stmt/Amt): the amount cannot be read "`+strings.Repeat("é", 30)+`"…; expected a decimal. Correct it.`)
	equal(t, "line", got.Details["line"], any(3))
	equal(t, "column", got.Details["column"], any(7))
	equal(t, "path", got.Details["path"], any("Stmt/Amt"))
	equal(t, "read", got.Details["read"], any(strings.Repeat("é", 30)))
	equal(t, "expected", got.Details["expected"], any("a decimal"))
	bare := fault.Of(statement.Place{Line: 1}.Refuse("the file is empty", "", "rows", ""))
	equal(t, "bare message", bare.Message, "Line 1: the file is empty; expected rows.")
	equal(t, "bare details", len(bare.Details), 2)
	equal(t, "a hostile value", statement.Quote("a\x1b[2J\nb"), `"a\x1b[2J\nb"`)
}

func TestBlanks(t *testing.T) {
	for in, want := range map[string]string{"": "", " ": "", "a": "a", " a  b\n\tc ": "a b c", "a b": "a b", "a ": "a", "é\u00a0ü": "é ü"} {
		equal(t, in, statement.Blanks(in), want)
	}
}
