package ofx_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/statement/listing"
	"github.com/robotmoney/mcp/shared/domain/statement/ofx"
)

var update = flag.Bool("update", false, "rewrite the listings in testdata")

// bank wraps entries into an account's statement whose tags nobody closes.
func bank(entries string) string {
	return "OFXHEADER:100\nDATA:OFXSGML\nENCODING:USASCII\nCHARSET:1252\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD" +
		"<BANKACCTFROM><BANKID>1<ACCTID>77</BANKACCTFROM><BANKTRANLIST>" + entries + "</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"
}

func read(text string) (string, error) { return listing.Of(ofx.Read(strings.NewReader(text))) }

// entries are the lines of a listing that are about entries and notes.
func entries(list string) string {
	var kept []string
	for _, line := range strings.Split(strings.TrimSpace(list), "\n") {
		if !strings.HasPrefix(line, "statement ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ofx")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := read(string(content))
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := read(string(content)); again != got {
				t.Errorf("a second reading says\n%s", again)
			}
			golden := strings.TrimSuffix(name, ".ofx") + ".txt"
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

// TestEntries has what banks send within STMTTRN.
func TestEntries(t *testing.T) {
	const end = "</STMTTRN>"
	for _, c := range []struct{ name, text, want string }{
		{"nothing closed, one line", "<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20250402<TRNAMT>-5.00<FITID>a1<NAME>Cafe<MEMO>Two cups" + end,
			`entry 2025-04-02 outflow 5.00 USD posted type=DEBIT bank=a1 name=Cafe memo="Two cups"`},
		{"everything closed", "<STMTTRN>\n<TRNTYPE>CREDIT</TRNTYPE>\n<DTPOSTED>20250402</DTPOSTED>\n<TRNAMT>5.00</TRNAMT>\n<FITID>a1</FITID>\n</STMTTRN>\n",
			`entry 2025-04-02 inflow 5.00 USD posted type=CREDIT bank=a1`},
		{"a time and a zone", "<STMTTRN><DTPOSTED>20250402120000[-5:EST]<TRNAMT>1" + end, "entry 2025-04-02 inflow 1.00 USD posted"},
		{"a fraction and a zone", "<STMTTRN><DTPOSTED>20250402235959.999[+5.5:IST]<TRNAMT>1" + end, "entry 2025-04-02 inflow 1.00 USD posted"},
		{"a plus", "<STMTTRN><DTPOSTED>20250402<TRNAMT>+7.25" + end, "entry 2025-04-02 inflow 7.25 USD posted"},
		{"a decimal comma", "<STMTTRN><DTPOSTED>20250402<TRNAMT>-7,25" + end, "entry 2025-04-02 outflow 7.25 USD posted"},
		{"blanks", "<STMTTRN><DTPOSTED> 20250402 <TRNAMT> - 7.25 \n" + end, "entry 2025-04-02 outflow 7.25 USD posted"},
		{"groups", "<STMTTRN><DTPOSTED>20250402<TRNAMT>-1,234.50" + end, "entry 2025-04-02 outflow 1234.50 USD posted"},
		{"needless zeros", "<STMTTRN><DTPOSTED>20250402<TRNAMT>-0007.5000" + end, "entry 2025-04-02 outflow 7.50 USD posted"},
		{"nothing", "<STMTTRN><DTPOSTED>20250402<TRNAMT>0.00" + end, "entry 2025-04-02 inflow 0.00 USD posted"},
		{"an ampersand", "<STMTTRN><DTPOSTED>20250402<TRNAMT>1<NAME>A&B &amp; C&D;E<MEMO>R&D &copy; 5" + end,
			`entry 2025-04-02 inflow 1.00 USD posted name="A&B & C&D;E" memo="R&D &copy; 5"`},
		{"escapes", "<STMTTRN><DTPOSTED>20250402<TRNAMT>1<NAME>&lt;x&gt;&nbsp;&#65;&#x42;&quot;" + end, `entry 2025-04-02 inflow 1.00 USD posted name="<x> AB\""`},
		{"a less-than", "<STMTTRN><DTPOSTED>20250402<TRNAMT>1<NAME>3 < 4 <5<MEMO>a <new> price <-" + end,
			`entry 2025-04-02 inflow 1.00 USD posted name="3 < 4 <5" memo="a <new> price <-"`},
		{"a bank's own element", "<STMTTRN><DTPOSTED>20250402<TRNAMT>1<NAME>Shop<INTU.X>zz<MEMO>b\n<OURS>yy" + end,
			`entry 2025-04-02 inflow 1.00 USD posted name=Shop memo=b`},
		{"a name twice", "<STMTTRN><DTPOSTED>20250402<TRNAMT>1<NAME>Shop<X.Y><NAME>Other</X.Y>" + end, `entry 2025-04-02 inflow 1.00 USD posted name=Shop`},
		{"no FITID", "<STMTTRN><DTPOSTED>20250402<TRNAMT>1<FITID><NAME>Shop" + end, `entry 2025-04-02 inflow 1.00 USD posted name=Shop`},
		{"a payee", "<STMTTRN><DTPOSTED>20250402<TRNAMT>-1<PAYEE><NAME>Shop<ADDR1>Road 1</PAYEE><BANKACCTTO><BANKID>9<ACCTID>55</BANKACCTTO><MEMO>m" + end,
			`entry 2025-04-02 outflow 1.00 USD posted name=Shop account=55 bic=9 memo=m`},
		{"no end", "<STMTTRN><DTPOSTED>20250402<TRNAMT>1<STMTTRN><DTPOSTED>20250403<TRNAMT>2",
			"entry 2025-04-02 inflow 1.00 USD posted\nentry 2025-04-03 inflow 2.00 USD posted"},
		{"another currency", "<STMTTRN><DTPOSTED>20250402<TRNAMT>-100<CURRENCY><CURRATE>0.0067<CURSYM>JPY</CURRENCY>" + end,
			"entry 2025-04-02 outflow 100 JPY posted rate=0.0067"},
		{"once another currency", "<STMTTRN><DTPOSTED>20250402<TRNAMT>-100.00<ORIGCURRENCY><CURRATE>0.0067<CURSYM>JPY</ORIGCURRENCY>" + end,
			"entry 2025-04-02 outflow 100.00 USD posted rate=0.0067"},
		{"other days", "<STMTTRN><DTPOSTED>20250402<DTUSER>20250401<DTAVAIL>20250405<TRNAMT>1<CHECKNUM>12<REFNUM>r" + end,
			"entry 2025-04-02 inflow 1.00 USD posted value=2025-04-05 initiated=2025-04-01 customer=r check=12"},
		{"a day of zeros", "<STMTTRN><DTPOSTED>20250402<DTUSER>00000000<TRNAMT>1" + end, "entry 2025-04-02 inflow 1.00 USD posted"},
		{"a correction", "<STMTTRN><DTPOSTED>20250402<TRNAMT>1<CORRECTFITID>a0<CORRECTACTION>REPLACE" + end,
			"entry 2025-04-02 inflow 1.00 USD posted\nnote doubt line=6 the bank corrects its entry \"a0\" here (\"REPLACE\"): look at both"},
		{"a section of characters", "<STMTTRN><DTPOSTED>20250402<TRNAMT>1<NAME><![CDATA[A <b> & &amp; C]]></NAME>" + end,
			`entry 2025-04-02 inflow 1.00 USD posted name="A <b> & &amp; C"`},
		{"small letters", "<stmttrn><dtposted>20250402<trnamt>1<name>Shop</stmttrn>", `entry 2025-04-02 inflow 1.00 USD posted name=Shop`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(bank(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got = entries(got); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestEncodings: what the header says, and what the bytes say.
func TestEncodings(t *testing.T) {
	const latin, utf8 = "Caf\xe9 \x80", "Café €"
	for _, c := range []struct{ name, header, bytes string }{
		{"a charset", "ENCODING:USASCII\nCHARSET:1252\n", latin},
		{"in one line", "OFXHEADER:100DATA:OFXSGMLENCODING:USASCIICHARSET:1252COMPRESSION:NONE", latin},
		{"an encoding", "ENCODING:ISO-8859-1\n", latin},
		{"its other name", "ENCODING:WINDOWS-1252\nCHARSET:NONE\n", latin},
		{"UTF-8", "ENCODING:UTF-8\nCHARSET:NONE\n", utf8},
		{"UNICODE", "ENCODING:UNICODE\n", utf8},
		{"it says UTF-8 and is not", "ENCODING:UTF-8\nCHARSET:NONE\n", latin},
		{"it says 1252 and is UTF-8", "ENCODING:USASCII\nCHARSET:1252\n", utf8},
		{"a mark", "\xef\xbb\xbfENCODING:USASCII\n", utf8},
		{"no header", "", latin},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, body, _ := strings.Cut(bank("<STMTTRN><DTPOSTED>20250402<TRNAMT>1<NAME>"+c.bytes), "<OFX>")
			got, err := read(c.header + "<OFX>" + body)
			if err != nil {
				t.Fatal(err)
			}
			if want := `entry 2025-04-02 inflow 1.00 USD posted name="Café €"`; entries(got) != want {
				t.Errorf("got\n%s\nwant\n%s", entries(got), want)
			}
		})
	}
}

// TestRefused: a file with one bad value yields an error that names its place.
func TestRefused(t *testing.T) {
	good := "<STMTTRN><DTPOSTED>20250402<TRNAMT>1.00</STMTTRN>"
	for _, c := range []struct{ name, text, want string }{
		{"an amount", bank(good + "\n<STMTTRN><DTPOSTED>20250402<TRNAMT>1x0</STMTTRN>"),
			`Line 7, column 28 (OFX/STMTTRNRS/STMTRS[1]/BANKTRANLIST/STMTTRN[2]/TRNAMT): the amount cannot be read "1x0"; expected a decimal such as -12.50, for USD.`},
		{"too many decimals", bank("<STMTTRN><DTPOSTED>20250402<TRNAMT>1.005</STMTTRN>"), `the amount cannot be read "1.005"`},
		{"no amount", bank("<STMTTRN><DTPOSTED>20250402</STMTTRN>"), `TRNAMT): the amount cannot be read; expected`},
		{"a date", bank("<STMTTRN><DTPOSTED>20250431<TRNAMT>1</STMTTRN>"), `DTPOSTED): the date cannot be read "20250431"`},
		{"no date", bank("<STMTTRN><TRNAMT>1</STMTTRN>"), `DTPOSTED): the entry has no date`},
		{"an unknown currency", strings.Replace(bank(good), "USD", "XXX", 1), `CURDEF): the statement's currency is unknown "XXX"`},
		{"no currency", strings.Replace(bank(good), "<CURDEF>USD", "", 1), `CURDEF): the statement's currency is unknown; expected`},
		{"no account", strings.Replace(bank(good), "<ACCTID>77", "", 1), `ACCTID): the statement names no account`},
		{"cut off", strings.TrimSuffix(bank(good), "</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"), "the file ends before </OFX>"},
		{"cut off in an entry", bank(good)[:len(bank(good))-120], "the file ends before </OFX>"},
		{"no OFX", "Date,Amount\n", "there is no <OFX> in the file"},
		{"nothing", "", "there is no <OFX> in the file"},
		{"a document type", "<?xml version=\"1.0\"?><!DOCTYPE OFX [<!ENTITY a \"b\">]><OFX></OFX>", "a document type is declared"},
		{"a value of a megabyte", bank("<STMTTRN><MEMO>" + strings.Repeat("x", 1<<20)), "a value is too long"},
		{"a NUL", bank("<STMTTRN><MEMO>a\x00b"), "a NUL byte stands among the text"},
		{"two encodings", bank("<STMTTRN><MEMO>é \xe9"), "a byte is no text in UTF-8, which the file is in before"},
		{"a deep file", "<OFX>" + strings.Repeat("<STATUS>", 100), "elements are nested too deeply"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(c.text)
			if !fault.Is(err, fault.InvalidArgument) {
				t.Fatalf("got %v", err)
			}
			if got := fault.Of(err).Message; !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.ofx")
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add([]byte(bank("<STMTTRN><DTPOSTED>20250402<TRNAMT>-1,5<NAME>a<b>&c;<X.Y>")))
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := read(string(content))
		again, errAgain := read(string(content))
		if got != again || (err == nil) != (errAgain == nil) {
			t.Errorf("two readings differ: %q, %v and %q, %v", got, err, again, errAgain)
		}
		if err != nil && !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("the error has no code of the file's: %v", err)
		}
	})
}
