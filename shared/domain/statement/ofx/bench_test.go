package ofx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/statement/ofx"
)

// rows is how many the measured file has; others are the items besides them.
const (
	rows   = 100_000
	others = 1
)

// long is a file of so many entries.
func long(n int) string {
	var b strings.Builder
	b.WriteString("OFXHEADER:100\nDATA:OFXSGML\nENCODING:USASCII\nCHARSET:1252\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>1<ACCTID>77</BANKACCTFROM><BANKTRANLIST>")
	for i := range n {
		fmt.Fprintf(&b, "<STMTTRN>\n<TRNTYPE>DEBIT\n<DTPOSTED>20250402120000[-5:EST]\n<TRNAMT>-%d.%02d\n<FITID>20250402%06d\n<NAME>Sample Store\n<MEMO>Purchase %d\n</STMTTRN>\n", i, i%100, i, i)
	}
	b.WriteString(`</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>`)
	return b.String()
}

func BenchmarkRead(b *testing.B) {
	text := long(rows)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range ofx.Read(strings.NewReader(text)) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != rows+others {
			b.Fatalf("%d items", n)
		}
	}
}
