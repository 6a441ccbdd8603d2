// Package bankfile writes long bank files, as a company's year is exported, in
// each format that is read.
package bankfile

import (
	"fmt"
	"strings"
	"time"
)

// suppliers is how many counterparties a file has, some often and most rarely.
const suppliers = 200

// Formats are what can be written, in the order they are reported. Each writes n
// entries of one account in EUR.
var Formats = []struct {
	Name  string
	Write func(n int) string
}{
	{"OFX", OFX}, {"camt.053", Camt053}, {"camt.054", Camt054}, {"MT940", MT940}, {"CSV", CSV}, {"JSON lines", JSONLines},
}

// entry is one line of the year.
type entry struct {
	n      int
	day    time.Time
	in     bool
	amount string // 12.34
	payee  string
}

// year gives n entries in the order of their days.
func year(n int, write func(entry)) {
	first := time.Date(2024, time.October, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		u := i * 7919 % suppliers
		write(entry{
			n: i, day: first.AddDate(0, 0, i*365/n), in: i%5 == 0, amount: fmt.Sprintf("%d.%02d", 10+i%900, i%100),
			payee: fmt.Sprintf("Supplier %d Ltd", u*u/suppliers*u/suppliers),
		})
	}
}

// pick is one of two words.
func pick(in bool, yes, no string) string {
	if in {
		return yes
	}
	return no
}

// CSV writes columns that explain themselves.
func CSV(n int) string {
	var b strings.Builder
	b.WriteString("Date,Amount,Currency,Name,Description,Reference\n")
	year(n, func(e entry) {
		fmt.Fprintf(&b, "%s,%s%s,EUR,%s,Invoice %d of the year,R%07d\n", e.day.Format(time.DateOnly), pick(e.in, "", "-"), e.amount, e.payee, e.n, e.n)
	})
	return b.String()
}

// JSONLines writes our own lines.
func JSONLines(n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"account","account":"DE02120300000000202051","currency":"EUR"}` + "\n")
	year(n, func(e entry) {
		fmt.Fprintf(&b, `{"type":"transaction","amount":"%s%s","date":"%s","id":"R%07d","description":"Invoice %d","counterparty":"%s"}`+"\n",
			pick(e.in, "", "-"), e.amount, e.day.Format(time.DateOnly), e.n, e.n, e.payee)
	})
	return b.String()
}

// OFX writes OFX 1, its tags open.
func OFX(n int) string {
	var b strings.Builder
	b.WriteString("OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nENCODING:USASCII\nCHARSET:1252\n\n" +
		"<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><BANKID>1<ACCTID>77</BANKACCTFROM><BANKTRANLIST>\n")
	year(n, func(e entry) {
		fmt.Fprintf(&b, "<STMTTRN>\n<TRNTYPE>%s\n<DTPOSTED>%s120000[-5:EST]\n<TRNAMT>%s%s\n<FITID>R%07d\n<NAME>%s\n<MEMO>Invoice %d\n</STMTTRN>\n",
			pick(e.in, "CREDIT", "DEBIT"), e.day.Format("20060102"), pick(e.in, "", "-"), e.amount, e.n, e.payee, e.n)
	})
	b.WriteString("</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>")
	return b.String()
}

// MT940 writes one statement.
func MT940(n int) string {
	var b strings.Builder
	b.WriteString(":20:YEAR\n:25:10010010/6820101\n:28C:1\n:60F:C240930EUR0,00\n")
	year(n, func(e entry) {
		fmt.Fprintf(&b, ":61:%s%s%s%sNTRFNONREF//R%07d\n:86:166?00UEBERWEISUNG?20EREF+E%d?21SVWZ+Invoice %d?32%s\n",
			e.day.Format("060102"), e.day.Format("0102"), pick(e.in, "C", "D"), strings.Replace(e.amount, ".", ",", 1), e.n, e.n, e.n, e.payee)
	})
	b.WriteString(":62F:C250930EUR0,00\n-\n") // it does not add up, which is a finding and no refusal
	return b.String()
}

// Camt053 writes a statement.
func Camt053(n int) string { return camt(n, "camt.053.001.08", "BkToCstmrStmt", "Stmt") }

// Camt054 writes notifications of single payments.
func Camt054(n int) string { return camt(n, "camt.054.001.08", "BkToCstmrDbtCdtNtfctn", "Ntfctn") }

func camt(n int, message, root, part string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:%s"><%s><%s><Id>Y</Id><Acct><Id><IBAN>DE02100100100006820101</IBAN></Id><Ccy>EUR</Ccy></Acct>`+"\n", message, root, part)
	year(n, func(e entry) {
		day, side := e.day.Format(time.DateOnly), pick(e.in, "Dbtr", "Cdtr")
		fmt.Fprintf(&b, `<Ntry><NtryRef>%d</NtryRef><Amt Ccy="EUR">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>%s</Dt></BookgDt><ValDt><Dt>%s</Dt></ValDt><AcctSvcrRef>R%07d</AcctSvcrRef>`+
			`<NtryDtls><TxDtls><Refs><EndToEndId>E%d</EndToEndId></Refs><RltdPties><%s><Pty><Nm>%s</Nm></Pty></%s></RltdPties><RmtInf><Ustrd>Invoice %d</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`+"\n",
			e.n, e.amount, pick(e.in, "CRDT", "DBIT"), day, day, e.n, e.n, side, e.payee, side, e.n)
	})
	fmt.Fprintf(&b, "</%s></%s></Document>\n", part, root)
	return b.String()
}
