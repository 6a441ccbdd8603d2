package camt_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/camt"
	"github.com/robotmoney/mcp/shared/domain/statement/listing"
)

var update = flag.Bool("update", false, "rewrite the listings in testdata")

func read(text string) (string, error) { return listing.Of(camt.Read(strings.NewReader(text))) }

// document wraps the inside of a Stmt.
func document(version, inside string) string {
	return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.` + version + `"><BkToCstmrStmt><Stmt><Id>S</Id>` +
		`<Acct><Id><IBAN>DE02100100100006820101</IBAN></Id></Acct>` + inside + `</Stmt></BkToCstmrStmt></Document>`
}

// entry is an Ntry of 10.00 in April, with more at its end.
func entry(more string) string {
	return `<Ntry><Amt Ccy="EUR">10.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2025-04-02</Dt></BookgDt>` + more + `</Ntry>`
}

func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/*.xml")
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
			golden := strings.TrimSuffix(name, ".xml") + ".txt"
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

// tally checks that the fixture adds up, where it has balances.
func tally(t *testing.T, content string) {
	t.Helper()
	var sum statement.Tally
	for item, err := range camt.Read(strings.NewReader(content)) {
		if err != nil {
			t.Fatal(err)
		}
		sum.See(item)
	}
	for _, f := range sum.Done() {
		t.Errorf("%s: %s", f.Place, f.Text)
	}
}

func TestVersions(t *testing.T) {
	for version := 2; version <= 13; version++ {
		if _, err := read(document(fmt.Sprintf("%02d", version), entry(""))); err != nil {
			t.Errorf("version %d: %v", version, err)
		}
	}
	for _, version := range []string{"01", "14", "2x", ""} {
		if _, err := read(document(version, entry(""))); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("version %q: %v", version, err)
		}
	}
}

// TestEntries has what one entry may be; the statement's line is left out.
func TestEntries(t *testing.T) {
	part := func(amount, ref string) string {
		return `<TxDtls><Refs><EndToEndId>` + ref + `</EndToEndId></Refs>` + amount + `</TxDtls>`
	}
	own := func(amount string) string { return `<Amt Ccy="EUR">` + amount + `</Amt>` }
	old := func(amount string) string {
		return `<AmtDtls><TxAmt><Amt Ccy="EUR">` + amount + `</Amt></TxAmt></AmtDtls>`
	}
	const booked = "entry 2025-04-02 outflow 10.00 EUR posted"
	for _, c := range []struct{ name, text, want string }{
		{"a plain one", entry(""), booked},
		{"a date and a time", strings.Replace(entry(""), "<Dt>2025-04-02</Dt>", "<DtTm>2025-04-02T23:59:59.999Z</DtTm>", 1), booked},
		{"a reversal keeps its direction", strings.Replace(entry(""), "<Sts>", "<RvslInd>true</RvslInd><Sts>", 1), booked + " reversal"},
		{"no reversal", strings.Replace(entry(""), "<Sts>", "<RvslInd>false</RvslInd><Sts>", 1), booked},
		{"not booked", strings.Replace(entry(""), "BOOK", "PDNG", 1), "entry 2025-04-02 outflow 10.00 EUR pending"},
		{"for information", strings.Replace(entry(""), "<Sts>BOOK</Sts>", "<Sts><Cd>INFO</Cd></Sts>", 1), "entry 2025-04-02 outflow 10.00 EUR informational"},
		{"parts with amounts of version 04", entry("<NtryDtls>" + part(own("4.00"), "a") + part(own("6"), "b") + "</NtryDtls>"),
			"entry 2025-04-02 outflow 4.00 EUR posted e2e=a part=1/2\nentry 2025-04-02 outflow 6.00 EUR posted e2e=b part=2/2"},
		{"parts with amounts of version 02", entry("<AcctSvcrRef>X</AcctSvcrRef><NtryDtls>" + part(old("4.00"), "a") + part(old("6.00"), "b") + "</NtryDtls>"),
			"entry 2025-04-02 outflow 4.00 EUR posted bank=X e2e=a part=1/2 batch=X\nentry 2025-04-02 outflow 6.00 EUR posted bank=X e2e=b part=2/2 batch=X"},
		{"parts in two NtryDtls", entry("<NtryDtls>" + part(own("4.00"), "a") + "</NtryDtls><NtryDtls>" + part(own("6.00"), "b") + "</NtryDtls>"),
			"entry 2025-04-02 outflow 4.00 EUR posted e2e=a part=1/2\nentry 2025-04-02 outflow 6.00 EUR posted e2e=b part=2/2"},
		{"parts that do not add up", entry("<NtryDtls>" + part(own("4.00"), "a") + part(own("5.99"), "b") + "</NtryDtls>"),
			booked + " part=0/2\nnote doubt line=1 the 2 payments of the entry have no amounts that add up to it: it is taken as one"},
		{"parts without amounts", entry("<NtryDtls>" + part("", "a") + part("", "b") + "</NtryDtls>"),
			booked + " part=0/2\nnote doubt line=1 the 2 payments of the entry have no amounts that add up to it: it is taken as one"},
		{"a batch without parts", entry("<NtryDtls><Btch><PmtInfId>P1</PmtInfId><NbOfTxs>40</NbOfTxs></Btch></NtryDtls>"), booked + " part=0/40 batch=P1"},
		{"one part of another amount", entry("<NtryDtls>" + part(own("9.00"), "a") + "</NtryDtls>"), booked + " e2e=a"},
		{"the other side's agent", entry(`<NtryDtls><TxDtls><RltdPties><Cdtr><Nm>B</Nm></Cdtr><CdtrAcct><Id><Othr><Id>12 34</Id></Othr></Id></CdtrAcct></RltdPties><RltdAgts><CdtrAgt><FinInstnId><BICFI>XBICXXYY</BICFI></FinInstnId></CdtrAgt></RltdAgts></TxDtls></NtryDtls>`),
			booked + " name=B account=1234 bic=XBICXXYY"},
		{"roles turned around", entry(`<NtryDtls><TxDtls><RltdPties><Dbtr><Nm>B</Nm></Dbtr><DbtrAcct><Id><IBAN>DE02500105170137075030</IBAN></Id></DbtrAcct><Cdtr><Nm>We</Nm></Cdtr><CdtrAcct><Id><IBAN>DE02100100100006820101</IBAN></Id></CdtrAcct></RltdPties></TxDtls></NtryDtls>`),
			booked + " name=B account=DE02500105170137075030"},
		{"only ourselves", entry(`<NtryDtls><TxDtls><RltdPties><Dbtr><Nm>We</Nm></Dbtr></RltdPties></TxDtls></NtryDtls>`), booked},
		{"charges of version 02", entry(`<Chrgs><Amt Ccy="EUR">0.50</Amt></Chrgs>`), booked + " charge=outflow 0.50 EUR"},
		{"a proprietary extension", entry(`<x:Ext xmlns:x="urn:x"><x:Amt>no</x:Amt><Amt Ccy="ZZZ">9</Amt></x:Ext>`), booked},
		{"CDATA", entry(`<AddtlNtryInf><![CDATA[A <b> & c]]></AddtlNtryInf>`), booked + ` memo="A <b> & c"`},
		{"the bank's words besides", entry(`<NtryDtls><TxDtls><RmtInf><Ustrd>m</Ustrd></RmtInf></TxDtls></NtryDtls><AddtlNtryInf>info</AddtlNtryInf>`), booked + " memo=m raw=info"},
		{"yen", strings.Replace(entry(""), `"EUR">10.00`, `"JPY">1000.00`, 1), "entry 2025-04-02 outflow 1000 JPY posted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(document("08", c.text))
			if err != nil {
				t.Fatal(err)
			}
			_, got, _ = strings.Cut(strings.TrimSpace(got), "\n")
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	good := entry("")
	for _, c := range []struct{ name, text, want string }{
		{"an amount", document("08", good+strings.Replace(good, "10.00", "1O.00", 1)),
			`(Document/BkToCstmrStmt/Stmt[1]/Ntry[2]/Amt): the amount cannot be read "1O.00"; expected digits with at most one decimal point, for EUR.`},
		{"too many decimals", document("08", strings.Replace(good, "10.00", "10.005", 1)), `the amount cannot be read "10.005"`},
		{"a negative amount", document("08", strings.Replace(good, "10.00", "-10.00", 1)), `the amount cannot be read "-10.00"`},
		{"no currency", document("08", strings.Replace(good, ` Ccy="EUR"`, "", 1)), `Ntry[1]/Amt): the currency is unknown; expected`},
		{"no amount", document("08", strings.Replace(good, `<Amt Ccy="EUR">10.00</Amt>`, "", 1)), `Ntry[1]/Amt): the amount is missing`},
		{"no direction", document("08", strings.Replace(good, "DBIT", "D", 1)), `CdtDbtInd): the direction cannot be read "D"; expected CRDT or DBIT`},
		{"no status", document("08", strings.Replace(good, "<Sts>BOOK</Sts>", "", 1)), `Sts): the entry's status cannot be read; expected`},
		{"a date", document("08", strings.Replace(good, "2025-04-02", "2025-02-29", 1)), `BookgDt): the date cannot be read "2025-02-29"`},
		{"no date", document("08", strings.Replace(good, "<BookgDt><Dt>2025-04-02</Dt></BookgDt>", "", 1)), `the booked entry has no date`},
		{"a part's amount", document("08", entry(`<NtryDtls><TxDtls><Amt Ccy="EUR">x</Amt></TxDtls></NtryDtls>`)), `Ntry[1]/NtryDtls/TxDtls[1]/Amt): the amount cannot be read "x"`},
		{"no account", strings.Replace(document("08", good), "<IBAN>DE02100100100006820101</IBAN>", "", 1), `Acct/Id): the statement names no account`},
		{"the account at the end", strings.Replace(document("08", good), "</Stmt>", "<Acct><Id><IBAN>X</IBAN></Id></Acct></Stmt>", 1), `what names the statement comes after its entries`},
		{"another message", strings.ReplaceAll(document("08", good), "camt.053", "camt.052"), `the document is another message "camt.052.001.08"`},
		{"another document", "<Document><CstmrCdtTrfInitn></CstmrCdtTrfInitn></Document>", "the document is no statement"},
		{"an empty document", "<Document><BkToCstmrStmt></BkToCstmrStmt></Document>", "the document has no statement"},
		{"no document", "<a><b/></a>", "there is no Document in the file"},
		{"cut off", document("08", good)[:250], "the file ends inside"},
		{"cut between elements", strings.TrimSuffix(document("08", good), "</Stmt></BkToCstmrStmt></Document>"), "the file ends inside <Stmt>"},
		{"an entity bomb", `<!DOCTYPE d [<!ENTITY a "` + strings.Repeat("x", 1000) + `"><!ENTITY b "&a;&a;">]><Document>&b;</Document>`, "a document type is declared"},
		{"an entity of a file", `<!DOCTYPE d SYSTEM "file:///etc/passwd"><Document/>`, "a document type is declared"},
		{"an unknown entity", document("08", entry("<AddtlNtryInf>&lol;</AddtlNtryInf>")), "an entity is unknown"},
		{"deep nesting", document("08", strings.Repeat("<a>", 1000)), "elements are nested too deeply"},
		{"a wide entry", document("08", entry(strings.Repeat("<a/>", 5000))), "an entry has too much in it"},
		{"too many payments", document("08", entry("<NtryDtls>"+strings.Repeat("<TxDtls/>", 50_001)+"</NtryDtls>")), "the entry has too many payments"},
		{"payments of too much text", document("08", entry("<NtryDtls>"+strings.Repeat("<TxDtls><RmtInf><Ustrd>"+strings.Repeat("x", 60_000)+"</Ustrd></RmtInf></TxDtls>", 500)+"</NtryDtls>")), "the entry has too many payments"},
		{"a long text", document("08", entry("<AddtlNtryInf>"+strings.Repeat("x", 1<<20)+"</AddtlNtryInf>")), "a text is too long"},
		{"bytes that are no UTF-8", document("08", entry("<AddtlNtryInf>\xe9</AddtlNtryInf>")), "a byte is no text in UTF-8"},
		{"an unknown encoding", `<?xml version="1.0" encoding="EBCDIC"?><Document/>`, `the encoding is unknown "EBCDIC"`},
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

// TestEnvelope: the document may lie in another, and be in UTF-16.
func TestEnvelope(t *testing.T) {
	inside := document("08", entry(""))
	for name, text := range map[string]string{
		"an envelope": "<?xml version=\"1.0\"?>\n<Msg><Hdr/>" + inside + "</Msg>",
		"UTF-16":      "\xff\xfe" + strings.Join(strings.Split(`<?xml version="1.0" encoding="UTF-16"?>`+inside, ""), "\x00") + "\x00",
		"a mark":      "\xef\xbb\xbf" + inside,
	} {
		got, err := read(text)
		if err != nil || !strings.Contains(got, "entry 2025-04-02 outflow 10.00 EUR posted") {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.xml")
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add([]byte(document("02", entry("<RvslInd>1</RvslInd>"))))
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
