package camt_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/statement/camt"
)

const entries = 100_000

// long gives a statement of so many entries as it is read, so that what is
// measured is the reader and not the file in memory.
func long(n int) io.Reader {
	i := -1
	return &pieces{next: func() string {
		switch i++; {
		case i == 0:
			return `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>S1</Id><Acct><Id><IBAN>DE02100100100006820101</IBAN></Id><Ccy>EUR</Ccy></Acct>`
		case i <= n:
			return fmt.Sprintf(`<Ntry><NtryRef>%d</NtryRef><Amt Ccy="EUR">%d.%02d</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2025-04-02</Dt></BookgDt><ValDt><Dt>2025-04-02</Dt></ValDt><AcctSvcrRef>2025040200%06d</AcctSvcrRef><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs><EndToEndId>E2E-%d</EndToEndId></Refs><RltdPties><Cdtr><Pty><Nm>Muster GmbH</Nm></Pty></Cdtr><CdtrAcct><Id><IBAN>DE02500105170137075030</IBAN></Id></CdtrAcct></RltdPties><RmtInf><Ustrd>Rechnung %d</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`+"\n",
				i, i, i%100, i, i, i)
		case i == n+1:
			return `</Stmt></BkToCstmrStmt></Document>`
		}
		return ""
	}}
}

type pieces struct {
	next func() string
	rest string
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.rest) < 4096 {
		more := p.next()
		if more == "" {
			break
		}
		p.rest += more
	}
	if p.rest == "" {
		return 0, io.EOF
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	if _, err := io.Copy(&text, long(entries)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range camt.Read(strings.NewReader(text.String())) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != entries+1 {
			b.Fatalf("%d items", n)
		}
	}
}
