package mt940_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/statement/mt940"
)

// rows is how many the measured file has; others are the items besides them.
const (
	rows   = 100_000
	others = 3
)

// long is a file of so many entries.
func long(n int) string {
	var b strings.Builder
	b.WriteString(":20:X\n:25:10010010/6820101\n:28C:1\n:60F:C250401EUR1,00\n")
	for i := range n {
		fmt.Fprintf(&b, ":61:2504020402D%d,%02dNTRFNONREF//B%06d\n:86:166?00UEBERWEISUNG?109310?20EREF+E%d?21SVWZ+Rechnung?30INGDDEFF?31DE02500105170137075030?32Muster GmbH\n", i, i%100, i, i)
	}
	b.WriteString(":62F:C250430EUR1,00\n-\n")
	return b.String()
}

func BenchmarkRead(b *testing.B) {
	text := long(rows)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range mt940.Read(strings.NewReader(text)) {
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
