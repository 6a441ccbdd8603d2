package mt940_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/listing"
	"github.com/robotmoney/mcp/shared/domain/statement/mt940"
)

var update = flag.Bool("update", false, "rewrite the listings in testdata")

func read(text string) (string, error) { return listing.Of(mt940.Read(strings.NewReader(text))) }

// message wraps entries into a statement.
func message(entries string) string {
	return ":20:X\n:25:1/2\n:28C:1\n:60F:C250401EUR1,00\n" + entries + "\n:62F:C250430EUR1,00\n-\n"
}

// only is the listing's lines that begin with the word.
func only(list, word string) string {
	var kept []string
	for _, line := range strings.Split(strings.TrimSpace(list), "\n") {
		if strings.HasPrefix(line, word) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sta")
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
			if other, err := read(strings.ReplaceAll(string(content), "\r\n", "\n")); other != got || err != nil {
				t.Errorf("with other line breaks:\n%s%v", other, err)
			}
			golden := strings.TrimSuffix(name, ".sta") + ".txt"
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
			tally(t, string(content))
		})
	}
}

// tally checks that the fixture adds up.
func tally(t *testing.T, content string) {
	t.Helper()
	var sum statement.Tally
	for item, err := range mt940.Read(strings.NewReader(content)) {
		if err != nil {
			t.Fatal(err)
		}
		sum.See(item)
	}
	for _, f := range sum.Done() {
		t.Errorf("%s: %s", f.Place, f.Text)
	}
}

func TestEntries(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"around New Year", ":61:2412310105C5,NTRFNONREF", "entry 2025-01-05 inflow 5.00 EUR posted value=2024-12-31 type=NTRF"},
		{"the other way", ":61:2501021231C5,NTRFNONREF", "entry 2024-12-31 inflow 5.00 EUR posted value=2025-01-02 type=NTRF"},
		{"a leap day", ":61:2402280229C5,NTRFNONREF", "entry 2024-02-29 inflow 5.00 EUR posted value=2024-02-28 type=NTRF"},
		{"no entry date", ":61:250402C5,NTRFNONREF", "entry 2025-04-02 inflow 5.00 EUR posted value=2025-04-02 type=NTRF"},
		{"the reversal of a credit", ":61:250402RC5,NTRFNONREF", "entry 2025-04-02 outflow 5.00 EUR posted reversal value=2025-04-02 type=NTRF"},
		{"the reversal of a debit", ":61:250402RD5,NTRFNONREF", "entry 2025-04-02 inflow 5.00 EUR posted reversal value=2025-04-02 type=NTRF"},
		{"a letter of the currency", ":61:250402CR5,NTRFNONREF", "entry 2025-04-02 inflow 5.00 EUR posted value=2025-04-02 type=NTRF"},
		{"both", ":61:250402RCR5,NTRFNONREF", "entry 2025-04-02 outflow 5.00 EUR posted reversal value=2025-04-02 type=NTRF"},
		{"a debit with the letter", ":61:2504020403DR1234,56NTRFNONREF", "entry 2025-04-03 outflow 1234.56 EUR posted value=2025-04-02 type=NTRF"},
		{"a point", ":61:250402D5.25NTRFNONREF", "entry 2025-04-02 outflow 5.25 EUR posted value=2025-04-02 type=NTRF"},
		{"references", ":61:250402D5,NTRFABC/1//B 2", `entry 2025-04-02 outflow 5.00 EUR posted value=2025-04-02 type=NTRF bank="B 2" customer=ABC/1`},
		{"a line below", ":61:250402D5,NTRFABC//B\n/TRCD/00100/", `entry 2025-04-02 outflow 5.00 EUR posted value=2025-04-02 type=NTRF bank=B customer=ABC raw=/TRCD/00100/`},
		{"sub-fields split anywhere", ":61:250402D5,NTRFNONREF\n:86:177?00Online?2\n0SVWZ+One?21 two\n?3\n2Anna B\nerg?31DE1\n2",
			`entry 2025-04-02 outflow 5.00 EUR posted value=2025-04-02 type=NTRF name="Anna Berg" account=DE12 memo="One two" raw="177?00Online?20SVWZ+One?21 two?32Anna Berg?31DE12"`},
		{"a tag over two parts", ":61:250402D5,NTRFNONREF\n:86:177?20EREF+1234567890123456789012?2134SV?22WZ+Text",
			`entry 2025-04-02 outflow 5.00 EUR posted value=2025-04-02 type=NTRF e2e=123456789012345678901234SVWZ+Text raw=177?20EREF+1234567890123456789012?2134SV?22WZ+Text`},
		{"a question mark in the text", ":61:250402D5,NTRFNONREF\n:86:177?20Why? 5?32Q?A", `entry 2025-04-02 outflow 5.00 EUR posted value=2025-04-02 type=NTRF name=Q?A memo="Why? 5" raw="177?20Why? 5?32Q?A"`},
		{"a number and an IBAN", ":61:250402D5,NTRFNONREF\n:86:020?20a?31123?38PL08", `entry 2025-04-02 outflow 5.00 EUR posted value=2025-04-02 type=NTRF account=PL08 memo=a raw=020?20a?31123?38PL08`},
		{"plain words over lines", ":61:250402D5,NTRFNONREF\n:86:one\ntwo", `entry 2025-04-02 outflow 5.00 EUR posted value=2025-04-02 type=NTRF memo="one two"`},
		{"a word cut at the line's end", ":61:250402D5,NTRFNONREF\n:86:" + strings.Repeat("a", 65) + "\nb", `entry 2025-04-02 outflow 5.00 EUR posted value=2025-04-02 type=NTRF memo=` + strings.Repeat("a", 65) + "b"},
		{"tags without sub-fields", ":61:250402D5,NTRFNONREF\n:86:EREF+7 SVWZ+Rent", `entry 2025-04-02 outflow 5.00 EUR posted value=2025-04-02 type=NTRF e2e=7 memo=Rent raw="EREF+7 SVWZ+Rent"`},
		{"the other side between slashes", ":61:250402D5,NTRFNONREF\n:86:/CNTP/NL44RABO0123456789/RABONL2U/Jansen///REMI/USTD//Brood/", `entry 2025-04-02 outflow 5.00 EUR posted value=2025-04-02 type=NTRF name=Jansen account=NL44RABO0123456789 bic=RABONL2U memo=Brood raw=/CNTP/NL44RABO0123456789/RABONL2U/Jansen///REMI/USTD//Brood/`},
		{"Windows 1252", ":61:250402D5,NTRFNONREF\n:86:M\xfcller \x80", `entry 2025-04-02 outflow 5.00 EUR posted value=2025-04-02 type=NTRF memo="Müller €"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(message(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got = only(got, "entry"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestWordsOfTheStatement: a :86: that no entry stands before is the statement's.
func TestWordsOfTheStatement(t *testing.T) {
	got, err := read(":20:X\n:25:2\n:60F:C250401EUR1,\n:61:250402C1,NTRFR\n:86:mine\n:62F:C250430EUR2,\n:86:of all\nof it\n-")
	if err != nil {
		t.Fatal(err)
	}
	if got := only(got, "entry"); !strings.HasSuffix(got, "memo=mine") {
		t.Errorf("the entry is %s", got)
	}
	if got, want := only(got, "note"), "note narrative line=7 of all of it"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an amount", message(":61:250402C1,00NTRFR\n:61:250403C1,00,5NTRFR"), `Line 6 (:61:[2]): the entry's amount cannot be read "1,00,5NTRFR"; expected YYMMDD`},
		{"too many decimals", message(":61:250402C1,005NTRFR"), "the entry's amount cannot be read"},
		{"no amount", message(":61:250402CNTRFR"), "the entry's amount cannot be read"},
		{"a date", message(":61:250431C1,NTRFR"), "the entry's date cannot be read"},
		{"an entry date", message(":61:2504021340C1,NTRFR"), "the entry's date cannot be read"},
		{"a mark", message(":61:250402X1,NTRFR"), "the entry's direction cannot be read"},
		{"no code", message(":61:250402C1,"), "the entry has no code"},
		{"a balance", ":20:X\n:25:2\n:60F:X250401EUR1,", `Line 3 (:60F:): the balance cannot be read "X250401EUR1,"`},
		{"its currency", ":20:X\n:25:2\n:60F:C250401EUX1,", `the currency is unknown "EUX"`},
		{"two currencies", strings.Replace(message(""), "250430EUR", "250430USD", 1), "the balance is in another currency"},
		{"no opening balance", ":20:X\n:25:2\n:61:250402C1,NTRFR", "the entry's currency is not known"},
		{"no account", ":20:X\n:60F:C250401EUR1,\n:62F:C250401EUR1,", "the statement names no account"},
		{"cut off", strings.Split(message(":61:250402C1,NTRFR"), ":62F:")[0], "the statement ends before its closing balance"},
		{"cut off before another", strings.Split(message(":61:250402C1,NTRFR"), ":62F:")[0] + message(""), "the statement ends before its closing balance"},
		{"no field", "hello\n", "there is no field such as :20: in the file"},
		{"a long line", message(":86:" + strings.Repeat("x", 1<<20)), "the line is too long"},
		{"a long field", message(":61:250402C1,NTRFR\n:86:a" + strings.Repeat("\nx", 1000)), "the field is too long"},
		{"a NUL", message(":86:a\x00"), "a NUL byte stands among the text"},
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
	files, _ := filepath.Glob("testdata/*.sta")
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add([]byte(message(":61:2402290229RCR5,NTRFA//B\n/OCMT/USD1,/\n:86:/EREF//NAME/x/REMI/USTD//y")))
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
