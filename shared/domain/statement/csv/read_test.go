package csv_test

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/csv"
	"github.com/robotmoney/mcp/shared/domain/statement/listing"
)

var update = flag.Bool("update", false, "rewrite the listings in testdata")

// read surveys a file and lists it.
func read(text string, m csv.Mapping) (string, error) {
	complete, err := csv.Survey(strings.NewReader(text), m)
	if err != nil {
		return "", err
	}
	return listing.Of(csv.Read(strings.NewReader(text), complete))
}

// euros is a mapping of which only the currency is known.
var euros = csv.Mapping{Currency: "EUR"}

func entries(list string) string {
	var kept []string
	for _, line := range strings.Split(strings.TrimSpace(list), "\n") {
		if strings.HasPrefix(line, "entry") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/*.csv")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := read(string(content), csv.Mapping{})
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(name, ".csv") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// TestAmounts has how banks write amounts, each in a file whose other row says
// which sign is the decimal one.
func TestAmounts(t *testing.T) {
	for _, c := range []struct{ cell, other, want string }{
		{"-1.000,00 €", "0,01", "outflow 1000.00 EUR"},
		{"1'000.00", "0.01", "inflow 1000.00 EUR"},
		{"1’000’000.00", "0.01", "inflow 1000000.00 EUR"},
		{"(33.52)", "0.01", "outflow 33.52 EUR"},
		{"12.50-", "0.01", "outflow 12.50 EUR"},
		{"€1.23", "0.01", "inflow 1.23 EUR"},
		{"-€1.23", "0.01", "outflow 1.23 EUR"},
		{"2.500", "0,01", "inflow 2500.00 EUR"},
		{"2.500", "0.01", "inflow 2.50 EUR"},
		{"2,500", "0.01", "inflow 2500.00 EUR"},
		{"-110.7", "0.01", "outflow 110.70 EUR"},
		{"+5", "0,01", "inflow 5.00 EUR"},
		{"1 234,56", "0,01", "inflow 1234.56 EUR"},
		{"1\u00a0234,56", "0,01", "inflow 1234.56 EUR"},
		{"1\u202f234,56", "0,01", "inflow 1234.56 EUR"},
		{"−7,00", "0,01", "outflow 7.00 EUR"},
		{"- 7,00 EUR", "0,01", "outflow 7.00 EUR"},
		{"EUR 7,00-", "0,01", "outflow 7.00 EUR"},
		{"12,00,000.00", "0.01", "inflow 1200000.00 EUR"},
		{"7,00 S", "0,01", "outflow 7.00 EUR"},
		{"7.00 CR", "0.01", "inflow 7.00 EUR"},
		{"7", "0.01", "inflow 7.00 EUR"},
	} {
		got, err := read("Booking date;Amount\n2025-04-02;"+c.cell+"\n2025-04-03;"+c.other+"\n", euros)
		if err != nil {
			t.Errorf("%s: %v", c.cell, err)
			continue
		}
		first, _, _ := strings.Cut(entries(got), "\n")
		if want := "entry 2025-04-02 " + c.want + " posted"; first != want {
			t.Errorf("%s: got %s, want %s", c.cell, first, want)
		}
	}
}

// TestDates has how banks write days; the column decides.
func TestDates(t *testing.T) {
	for _, c := range []struct{ header, dates, want string }{
		{"Date", "02/04/2025 25/04/2025", "2025-04-02 2025-04-25"},
		{"Date", "02/04/2025 04/25/2025", "2025-02-04 2025-04-25"},
		{"Date", "2/4/25 25/4/25", "2025-04-02 2025-04-25"},
		{"Date", "02.04.2025 03.04.2025", "2025-04-02 2025-04-03"},
		{"Datum", "02-04-2025 03-04-2025", "2025-04-02 2025-04-03"},
		{"Date", "2025-04-02 2025/04/03", "2025-04-02 2025-04-03"},
		{"Date", "20250402 20250403", "2025-04-02 2025-04-03"},
		{"Date", "2025-04-02T23:59:59Z 2025-04-03T00:00:00+02:00", "2025-04-02 2025-04-03"},
		{"Date", "02-Apr-2025 03-apr-25", "2025-04-02 2025-04-03"},
		{"Fecha", "02/abr/2025 03/dic/2025", "2025-04-02 2025-12-03"},
		{"Date", "04/04/2025 05/05/2025", "2025-04-04 2025-05-05"},
		{"Date", "31.12.99 01.01.00", "1999-12-31 2000-01-01"},
	} {
		text := c.header + ";Amount;Description\n"
		for day := range strings.FieldsSeq(c.dates) {
			text += day + ";1.00;x\n"
		}
		if c.header != "Date" {
			text = strings.Replace(text, "Amount;Description", "Betrag;Buchungstext", 1)
			if c.header == "Fecha" {
				text = strings.Replace(text, "Betrag;Buchungstext", "Importe;Concepto", 1)
			}
		}
		got, err := read(text, euros)
		if err != nil {
			t.Errorf("%s: %v", c.dates, err)
			continue
		}
		var days []string
		for line := range strings.SplitSeq(entries(got), "\n") {
			days = append(days, strings.Fields(line)[1])
		}
		if strings.Join(days, " ") != c.want {
			t.Errorf("%s: got %v, want %s", c.dates, days, c.want)
		}
	}
}

// TestColumns has the ways files are laid out.
func TestColumns(t *testing.T) {
	const out, in = "entry 2025-04-22 outflow 5.00 EUR posted", "entry 2025-04-22 inflow 5.00 EUR posted"
	for _, c := range []struct{ name, text, want string }{
		{"debit and credit", "Date,Debit,Credit\n2025-04-22,5.00,\n2025-04-22,,5.00\n", out + "\n" + in},
		{"debits with a minus", "Date,Money out,Money in\n2025-04-22,-5.00,\n2025-04-22,0.00,5.00\n", out + "\n" + in},
		{"S and H", "Buchungstag;Betrag;Soll/Haben\n22.04.2025;5,00;S\n22.04.2025;5,00;H\n", out + "\n" + in},
		{"D and C", "Date,Amount,Debit/Credit\n2025-04-22,5.00,D\n2025-04-22,5.00,C\n", out + "\n" + in},
		{"Soll and Haben in words", "Buchungstag;Betrag;S/H\n22.04.2025;5,00;Soll\n22.04.2025;5,00;Haben\n", out + "\n" + in},
		{"Af and Bij", "Datum;Af Bij;Bedrag (EUR)\n20250422;Af;5,00\n20250422;Bij;5,00\n", out + "\n" + in},
		{"a minus and a word", "Date,Amount,Debit/Credit\n2025-04-22,-5.00,Debit\n2025-04-22,5.00,Credit\n", out + "\n" + in},
		{"a column of kinds", "Date,Type,Amount\n2025-04-22,Debit,5.00\n2025-04-22,Credit,5.00\n", out + "\n" + in},
		{"a column without a title", "Buchungstag;Umsatz; \n22.04.2025;5,00;S\n22.04.2025;5,00;H\n", out + "\n" + in},
		{"tabs", "Date\tAmount\n2025-04-22\t-5.00\n", out},
		{"bars", "Date|Amount\n2025-04-22|-5.00\n", out},
		{"CRLF", "Date,Amount\r\n2025-04-22,-5.00\r\n", out},
		{"CR", "Date,Amount\r2025-04-22,-5.00\r", out},
		{"no line break at the end", "Date,Amount\n2025-04-22,-5.00", out},
		{"a byte-order mark", "\xef\xbb\xbfDate,Amount\n2025-04-22,-5.00\n", out},
		{"blank lines", "Date,Amount\n\n2025-04-22,-5.00\n\n,\n", out},
		{"sep=", "sep=;\nDate;Amount\n2025-04-22;-5,00\n", out},
		{"quotation marks", "\"Date\";\"Amount\";\"Description\"\n\"2025-04-22\";\"-5,00\";\"say \"\"hi\"\"; a\nb\"\n", out + ` memo="say \"hi\"; a b"`},
		{"marks not doubled", "Date;Amount;Description\n2025-04-22;-5,00;5\" pipe\n2025-04-22;-5,00;\"a \"b\" c\"\n", out + " memo=\"5\\\" pipe\"\n" + out + ` memo="a \"b\" c"`},
		{"a blank behind a mark", "Date;Amount;Description\n2025-04-22;-5,00;\"a;b\" \n", out + " memo=a;b"},
		{"a formula", "Date;Amount;Description;Payee\n2025-04-22;-5,00;=1+1;\"=HYPERLINK(\"\"x\"\")\"\n", out + ` name="=HYPERLINK(\"x\")" memo="=1+1"`},
		{"French", "Date;Libellé;Débit;Crédit\n22/04/2025;Loyer;5,00;\n", out + " memo=Loyer"},
		{"Spanish", "Fecha;Concepto;Importe;Saldo\n22/04/2025;Alquiler;-5,00;10,00\n", out + " memo=Alquiler running=10.00 EUR"},
		{"Portuguese", "Data;Descrição;Valor\n22/04/2025;Renda;-5,00\n", out + " memo=Renda"},
		{"Dutch", "Boekdatum;Omschrijving;Bedrag\n22-04-2025;Huur;-5,00\n", out + " memo=Huur"},
		{"Windows 1252", "Buchungstag;Beg\xfcnstigter/Zahlungspflichtiger;Betrag\n22.04.2025;M\xfcller;-5,00\n", out + " name=Müller"},
		{"a status", "Date,Amount,State\n2025-04-22,-5.00,COMPLETED\n2025-04-22,-5.00,PENDING\n", out + "\nentry 2025-04-22 outflow 5.00 EUR pending"},
		{"cells that are missing", "Date,Amount,Description,Reference\n2025-04-22,-5.00\n", out},
		{"two amounts", "Date,Amount,Debit,Credit\n2025-04-22,99.00,5.00,\n", out},
		{"payer and payee", "Buchungstag;Zahlungspflichtige*r;Zahlungsempfänger*in;Betrag\n22.04.2025;Wir;Laden;-5,00\n22.04.2025;Kundin;Wir;5,00\n", out + " name=Laden\n" + in + " name=Kundin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(c.text, euros)
			if err != nil {
				t.Fatal(err)
			}
			if got = entries(got); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestCurrencies(t *testing.T) {
	for _, c := range []struct{ name, text, mapping, want string }{
		{"a column", "Date,Amount,Currency\n2025-04-22,5.00,GBP\n", "EUR", "5.00 GBP"},
		{"the header", "Date,Amount (GBP)\n2025-04-22,5.00\n", "", "5.00 GBP"},
		{"the header in words", "Date,Amount in GBP\n2025-04-22,5.00\n", "", "5.00 GBP"},
		{"the header's sign", "Date;Montant €\n2025-04-22;5,00\n", "", "5.00 EUR"},
		{"a line above", "Currency:;GBP\nDate;Amount\n2025-04-22;5.00\n", "", "5.00 GBP"},
		{"a mark", "Date,Amount\n2025-04-22,£5.00\n", "", "5.00 GBP"},
		{"a code with the amount", "Date,Amount\n2025-04-22,5.00 GBP\n", "", "5.00 GBP"},
		{"a dollar sign", "Date,Amount\n2025-04-22,$1.23\n", "", "1.23 USD"},
		{"a dollar sign where it is known", "Date,Amount\n2025-04-22,$1.23\n", "CAD", "1.23 CAD"},
		{"none of Albania's", "ALL ACCOUNTS\nDate,Amount (EUR)\n2025-04-22,1.23\n", "", "1.23 EUR"},
		{"no decimals", "Date,Amount\n2025-04-22,1234\n", "JPY", "1234 JPY"},
		{"a Dutch Valuta", "Datum;Valuta;Bedrag\n22-04-2025;SEK;5,00\n", "EUR", "5.00 SEK"},
	} {
		got, err := read(c.text, csv.Mapping{Currency: c.mapping})
		if err != nil || !strings.Contains(got, "inflow "+c.want+" posted") {
			t.Errorf("%s: got %s%v, want %s", c.name, got, err, c.want)
		}
	}
	got, err := read("Date,Amount\n2025-04-22,$1.23\n", csv.Mapping{})
	if err != nil || !strings.Contains(got, "note doubt line=2 the dollar sign was taken for USD") {
		t.Errorf("a dollar sign taken for USD is not noted: %s%v", got, err)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"day and month", "Date,Amount\n01/02/2025,1.00\n03/02/2025,1.00\n", `Line 2 (cell 1 "Date"): day and month cannot be told apart in any date of the file, the first of which is "01/02/2025"`},
		{"two orders", "Date,Amount\n13/02/2025,1.00\n02/13/2025,1.00\n", `Line 3 (cell 1 "Date"): the date has its month first, and the one in line 2 its day "02/13/2025"`},
		{"years of two digits", "Date,Amount\n25-04-02,1.00\n25-04-03,1.00\n25-04-14,1.00\n", "years of two digits may stand first or last"},
		{"the decimal sign", "Date;Amount\n2025-04-22;2.500\n2025-04-22;1.000\n", `Line 2 (cell 2 "Amount"): no amount in the file says whether . and , group or begin the decimals; the first is "2.500"`},
		{"two decimal signs", "Date;Amount\n2025-04-22;2.50\n2025-04-22;2,50\n", `Line 3 (cell 2 "Amount"): the amount has a decimal comma, and "2.50" in line 2 a point "2,50"`},
		{"an amount", "Date;Amount\n2025-04-22;2.50\n2025-04-23;2.5O\n", `Line 3 (cell 2 "Amount"): the amount cannot be read "2.5O"; expected an amount such as 1234.50, for EUR.`},
		{"groups", "Date;Amount\n2025-04-22;2,50\n2025-04-23;1.23.4,00\n", `the amount cannot be read "1.23.4,00"`},
		{"decimals", "Date;Amount\n2025-04-22;2.501\n2025-04-22;2.50\n", `the amount cannot be read "2.501"`},
		{"a formula for an amount", "Date;Amount\n2025-04-22;=1+1\n", `the amount cannot be read "=1+1"`},
		{"an empty amount", "Date;Amount\n2025-04-22;\n", `the amount cannot be read; expected`},
		{"a day", "Date;Amount\n2025-04-22;1.00\n2025-04-31;1.00\n", `Line 3 (cell 1 "Date"): the date cannot be read "2025-04-31"`},
		{"a date that is none", "Date;Amount\nyesterday;1.50\n", `Line 2 (cell 1 "Date"): the date cannot be read "yesterday"`},
		{"a row without a date", "Date;Amount\n2025-04-22;1.50\nx;\n2025-04-22;1.50\n", `Line 3: the row has no date "x;"`},
		{"too many cells", "Date;Amount;Memo\n2025-04-22;1.50;a;b\n", `Line 2: the row has 4 cells; expected 3, as the header line has`},
		{"debit and credit at once", "Date;Debit;Credit\n2025-04-22;1.50;1.50\n", "the row has a debit and a credit"},
		{"neither", "Date;Debit;Credit\n2025-04-22;;\n", "the row has neither a debit nor a credit"},
		{"debits of both signs", "Date;Debit;Credit\n2025-04-22;1.50;\n2025-04-22;-1.50;\n", `Line 3 (cell 2 "Debit"): the column of debits has amounts with a minus and without`},
		{"signs that disagree", "Date;Amount;Debit/Credit\n2025-04-22;-1.50;C\n", "the amount's sign says the other way"},
		{"a direction", "Date;Amount;Debit/Credit\n2025-04-22;1.50;Q\n", `the direction cannot be read "Q"`},
		{"a status", "Date;Amount;Status\n2025-04-22;1.50;odd\n", `the status is unknown "odd"`},
		{"a currency", "Date;Amount;Currency\n2025-04-22;1.50;EUX\n", `the currency is unknown "EUX"`},
		{"another mark", "Date;Amount;Currency\n2025-04-22;£1.50;EUR\n", "the amount has another currency's mark"},
		{"no header", "a;b\n1;2\n", "no header line is in the file that names a date and an amount"},
		{"nothing", "", "the file is empty"},
		{"an open quotation mark", "Date;Amount;Memo\n2025-04-22;1.50;\"x\n2025-04-22;1.50;y\n", `Line 2, column 17: a quotation mark is never closed`},
		{"an open mark in a long file", "Date;Amount;Memo\n2025-04-22;1.50;\"x" + strings.Repeat("\n2025-04-22;1.50;y", 9000), "a quotation mark is not closed for too long"},
		{"a long row", "Date;Amount;Memo\n2025-04-22;1.50;" + strings.Repeat("x", 1<<20), "the row is too long"},
		{"many cells", "Date;Amount\n" + strings.Repeat(";", 1000), "the row has too many cells"},
		{"a NUL", "Date;Amount\n2025-04-22;1.50\x00\n", "a NUL byte stands among the text"},
		{"two encodings", "Date;Amount;Memo\n2025-04-22;1.50;é\n2025-04-22;1.50;\xe9\n", "a byte is no text in UTF-8, which the file is in before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(c.text, euros)
			if !fault.Is(err, fault.InvalidArgument) {
				t.Fatalf("got %v", err)
			}
			if got := fault.Of(err).Message; !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	if _, err := read("Date;Amount\n2025-04-22;1.50\n", csv.Mapping{}); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "nothing says which currency") {
		t.Errorf("without a currency: %v", err)
	}
}

// TestMapping: what Survey returns reads the next file, what is given decides,
// and one that does not fit is refused.
func TestMapping(t *testing.T) {
	first := "Konto;DE02100100100006820101\nBuchungstag;Betrag;Verwendungszweck\n22.04.2025;-1.500,00;Miete\n"
	m, err := csv.Survey(strings.NewReader(first), euros)
	if err != nil {
		t.Fatal(err)
	}
	want := csv.Mapping{Delimiter: ";", Header: []string{"Buchungstag", "Betrag", "Verwendungszweck"}, Decimal: ",", Dates: csv.DayFirst, Currency: "EUR",
		Account: "DE02100100100006820101", Columns: map[int]csv.Field{0: csv.Booked, 1: csv.Amount, 2: csv.Memo}}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got %+v, want %+v", m, want)
	}
	got, err := read("x\nBuchungstag;Betrag;Verwendungszweck\n01.02.2025;2.500;Pacht\n", m)
	if want := "entry 2025-02-01 inflow 2500.00 EUR posted memo=Pacht"; err != nil || entries(got) != want {
		t.Errorf("the next file: %s%v", got, err)
	}
	if _, err := read("Buchungstag;Umsatz;Verwendungszweck\n01.02.2025;2.500;Pacht\n", m); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "the header line of the mapping is not in the file") {
		t.Errorf("another header: %v", err)
	}
	bare := csv.Mapping{NoHeader: true, Columns: map[int]csv.Field{1: csv.Booked, 2: csv.Amount, 0: csv.Own}, Dates: csv.MonthFirst, Currency: "USD", Inverted: true}
	got, err = read("A 1,01/02/2025,1.50\nB2,01/03/2025,-1.50\n", bare)
	wantList := "statement statement account=A1 currency=USD\nentry 2025-01-02 outflow 1.50 USD posted\nstatement statement account=B2 currency=USD\nentry 2025-01-03 inflow 1.50 USD posted\n"
	if err != nil || got != wantList {
		t.Errorf("without a header:\n%s%v", got, err)
	}
	for name, m := range map[string]csv.Mapping{
		"delimiter": {Delimiter: "#"}, "decimal": {Decimal: "x"}, "dates": {Dates: "ydm"}, "currency": {Currency: "EUX"}, "charset": {Charset: "ebcdic"},
		"no columns": {NoHeader: true}, "no header": {Columns: map[int]csv.Field{0: csv.Booked, 1: csv.Amount}},
		"no amount": {NoHeader: true, Columns: map[int]csv.Field{0: csv.Booked}}, "no date": {NoHeader: true, Columns: map[int]csv.Field{0: csv.Amount}},
		"one twice": {NoHeader: true, Columns: map[int]csv.Field{0: csv.Booked, 1: csv.Amount, 2: csv.Amount}},
		"a field":   {NoHeader: true, Columns: map[int]csv.Field{0: csv.Booked, 1: "sum"}}, "a place": {NoHeader: true, Columns: map[int]csv.Field{-1: csv.Booked, 1: csv.Amount}},
	} {
		if _, err := csv.Survey(strings.NewReader(first), m); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.csv")
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content, "")
	}
	f.Add([]byte("Date;Debit;Credit\n1/2/25;\"a\"\"b\";(1.00)\n"), "EUR")
	f.Fuzz(func(t *testing.T, content []byte, currency string) {
		got, err := read(string(content), csv.Mapping{Currency: currency})
		again, errAgain := read(string(content), csv.Mapping{Currency: currency})
		if got != again || (err == nil) != (errAgain == nil) {
			t.Errorf("two readings differ: %q, %v and %q, %v", got, err, again, errAgain)
		}
		if err != nil && !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("the error has no code of the file's: %v", err)
		}
		m, err := csv.Survey(strings.NewReader(string(content)), csv.Mapping{Currency: currency})
		if err != nil {
			return
		}
		for item, err := range csv.Read(strings.NewReader(string(content)), m) {
			if err != nil {
				return
			}
			if e, ok := item.(*statement.Entry); ok && (e.Amount.Sign() < 0 || e.Day() == "") {
				t.Errorf("an entry of %s on %q", e.Amount, e.Day())
			}
		}
	})
}
