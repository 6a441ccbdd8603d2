package ingest_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/bankfile"
	"github.com/robotmoney/mcp/infra/footprint"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/ingest"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/raw"
)

// entries is how many a large file has. The whole is 100,000: make soak.
var entries = flag.Int("entries", 10_000, "entries of the large file")

// A large file: all of it is there, and the memory it takes is that of a small
// function.
func TestLargeFile(t *testing.T) {
	const most = 128 << 20
	entries := *entries
	w := newWorld(t)
	artifact := w.bring(t, operator, bankfile.CSV(entries), "")
	used := footprint.Peak()
	start := time.Now()
	report := w.take(t, artifact)
	took := time.Since(start)
	equal(t, "transactions", report.Transactions, ingest.Count{New: entries})
	equal(t, "counterparties", report.Counterparties.New, len(all[ledger.Counterparty](t, w, id.Counterparty)))
	t.Logf("%d entries in %v, %.0f/s, with %d MB", entries, took.Round(time.Millisecond), float64(entries)/took.Seconds(), used()>>20)
	if n := used(); n > most {
		t.Errorf("%d MB were in use, want at most %d", n>>20, most>>20)
	}
}

// Files that are made to cost much are refused with three changes, and in little
// memory.
func TestHostileFiles(t *testing.T) {
	const size, most = 2 << 20, 128 << 20
	fill := func(text string) string { return strings.Repeat(text, size/len(text)-1) }
	accounts := &strings.Builder{}
	for i := range 20_000 {
		fmt.Fprintf(accounts, `{"type":"balance","account":"A%d","amount":"1","currency":"EUR"}`+"\n", i)
	}
	for name, text := range map[string]string{
		"angle brackets":        fill("<"),
		"elements without end":  `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02">` + fill("<a>"),
		"OFX without end":       "OFXHEADER:100\n\n<OFX>" + fill("<BANKMSGSRSV1>"),
		"one long line":         `{"type":"invoice","number":"` + fill("7"),
		"one quotation mark":    "Date,Amount,Currency,Payee\n\"" + fill("a,b\n"),
		"commas":                "Date,Amount" + fill(","),
		"swift without amounts": "{1:F01}{4:\n:20:X\n:25:1\n" + fill(":61:/\n"),
		"accounts":              accounts.String(),
		"zero bytes":            fill("\x00"),
		"brackets in brackets":  `{"type":"invoice","a":` + fill("["),
		"a bad row at the end":  "Date,Amount,Currency,Payee\n" + fill("2025-04-02,-1.00,EUR,A\n") + "2025-04-02,-1.001,EUR,A\n",
		"digits without an end": "Date,Amount,Currency,Payee\n2025-04-02," + fill("9") + ",EUR,A\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := w.bring(t, operator, text, "")
			before := w.store.changes.Load()
			used := footprint.Peak()
			out, err := w.intake.Take(t.Context(), w.tenant, "req_2", a.ID)
			noError(t, err)
			equal(t, "state", out.State, raw.Failed)
			equal(t, "changes", w.store.changes.Load()-before, 3)
			if n := used(); n > most {
				t.Errorf("%d MB were in use, want at most %d", n>>20, most>>20)
			}
			if n := len(out.Report.Failure.Message); n > 1000 {
				t.Errorf("the reason has %d bytes", n)
			}
		})
	}
}
