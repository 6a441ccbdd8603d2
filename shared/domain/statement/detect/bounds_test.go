package detect_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/csv"
	"github.com/robotmoney/mcp/shared/domain/statement/detect"
)

// shape is a file of a format: what it begins with, one entry, what it ends with.
type shape struct {
	format          detect.Format
	head, row, tail string
	text            string // what begins a text that a hostile file never ends
}

var shapes = []shape{
	{detect.OFX, "<OFX><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>1</BANKACCTFROM><BANKTRANLIST>",
		"<STMTTRN><DTPOSTED>20250402<TRNAMT>-1.00<NAME>Shop</STMTTRN>\n", "</BANKTRANLIST></STMTRS></STMTTRNRS></OFX>", "<STMTTRN><MEMO>"},
	{detect.CAMT, "<Document><BkToCstmrStmt><Stmt><Acct><Id><IBAN>X</IBAN></Id></Acct>",
		`<Ntry><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2025-04-02</Dt></BookgDt></Ntry>` + "\n",
		"</Stmt></BkToCstmrStmt></Document>", "<Ntry><AddtlNtryInf>"},
	{detect.MT940, ":20:X\n:25:1\n:60F:C250401EUR1,00\n", ":61:250402D1,00NTRFNONREF\n:86:Shop\n", ":62F:C250401EUR1,00\n", ":86:"},
	{detect.CSV, "Date;Amount (EUR);Memo\n", "2025-04-02;-1.00;Shop\n", "", "2025-04-02;-1.00;\""},
	{detect.JSONLines, `{"type":"account","account":"1","currency":"EUR"}` + "\n",
		`{"type":"transaction","amount":"-1.00","date":"2025-04-02"}` + "\n", "", `{"type":"transaction","description":"`},
}

// stream is a file that is made while it is read: a head, a part any number of
// times, a tail.
type stream struct {
	head, part, tail string
	parts            int
	at               int64 // how much was read
}

func (s *stream) size() int64 {
	return int64(len(s.head)) + int64(len(s.part))*int64(s.parts) + int64(len(s.tail))
}

func (s *stream) Read(p []byte) (int, error) {
	if s.at >= s.size() {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && s.at < s.size() {
		k := copy(p[n:], s.piece())
		n, s.at = n+k, s.at+int64(k)
	}
	return n, nil
}

// piece is what stands at the place that is read next.
func (s *stream) piece() string {
	at := s.at - int64(len(s.head))
	if at < 0 {
		return s.head[s.at:]
	}
	if all := int64(len(s.part)) * int64(s.parts); at >= all {
		return s.tail[at-all:]
	}
	return s.part[at%int64(len(s.part)):]
}

func (s *stream) Seek(int64, int) (int64, error) {
	s.at = 0
	return 0, nil
}

// TestMemory: a long file takes no more memory than a short one.
func TestMemory(t *testing.T) {
	const rows, most = 50_000, 16 << 20
	for _, s := range shapes {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		before, peak, n := stats.HeapAlloc, uint64(0), 0
		src := &stream{head: s.head, part: s.row, tail: s.tail, parts: rows}
		for item, err := range detect.Read(src, s.format, csv.Mapping{}) {
			if err != nil {
				t.Fatalf("%s: %v", s.format, err)
			}
			if _, ok := item.(*statement.Entry); !ok {
				continue
			}
			if n++; n%5000 == 0 {
				runtime.ReadMemStats(&stats)
				peak = max(peak, stats.HeapAlloc)
			}
		}
		if n != rows {
			t.Errorf("%s: %d entries", s.format, n)
		}
		if peak > before+most {
			t.Errorf("%s: %d MB for %d MB of file", s.format, (peak-before)>>20, src.size()>>20)
		}
	}
}

// TestEndlessText: a text that goes on for a gigabyte is refused after a little.
func TestEndlessText(t *testing.T) {
	for _, s := range shapes {
		src := &stream{head: s.head + s.row + s.text, part: "x", parts: 1 << 30}
		n, failed := 0, false
		for _, err := range detect.Read(src, s.format, csv.Mapping{}) {
			n++
			if err != nil {
				failed = true
				if !fault.Is(err, fault.InvalidArgument) {
					t.Errorf("%s: %v", s.format, err)
				}
			}
		}
		if !failed || src.at > 1<<20 {
			t.Errorf("%s: failed is %v after %d items and %d bytes", s.format, failed, n, src.at)
		}
	}
}

// TestOneBadRow: what is wrong in the last row is found, at its line.
func TestOneBadRow(t *testing.T) {
	for _, s := range shapes {
		bad := strings.NewReplacer("2025-04-02", "2025-04-31", "20250402", "20250431", "250402", "250431").Replace(s.row)
		src := &stream{head: s.head + strings.Repeat(s.row, 100), part: bad, parts: 1, tail: s.tail}
		want := 1 + strings.Count(s.head, "\n") + 100*strings.Count(s.row, "\n")
		var last error
		for _, err := range detect.Read(src, s.format, csv.Mapping{}) {
			last = err
		}
		if !fault.Is(last, fault.InvalidArgument) || fault.Of(last).Details["line"] != want {
			t.Errorf("%s: got %v, want line %d", s.format, last, want)
		}
	}
}
