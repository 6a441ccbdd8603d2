package csv_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/statement/csv"
)

// rows is how many the measured file has; others are the items besides them.
const (
	rows   = 100_000
	others = 1
)

// long is a file of so many entries.
func long(n int) string {
	var b strings.Builder
	b.WriteString("Buchungstag;Wertstellung;Name;Verwendungszweck;Betrag;Waehrung;Referenz\n")
	for i := range n {
		fmt.Fprintf(&b, "02.04.2025;13.04.2025;Muster GmbH;\"Rechnung; Nr. %d\";-%d,%02d;EUR;R%06d\n", i, i, i%100, i)
	}
	b.WriteString("")
	return b.String()
}

func BenchmarkRead(b *testing.B) {
	text := long(rows)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range csv.Read(strings.NewReader(text), mapping(b, text)) {
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

// mapping surveys the file: both readings are measured.
func mapping(b *testing.B, text string) csv.Mapping {
	b.Helper()
	m, err := csv.Survey(strings.NewReader(text), csv.Mapping{})
	if err != nil {
		b.Fatal(err)
	}
	return m
}
