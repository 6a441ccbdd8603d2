package jsonlines_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/statement/jsonlines"
)

// rows is how many the measured file has; others are the items besides them.
const (
	rows   = 100_000
	others = 1
)

// long is a file of so many entries.
func long(n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"account","account":"A1","currency":"EUR"}` + "\n")
	for i := range n {
		fmt.Fprintf(&b, `{"type":"transaction","amount":"%d.%02d","direction":"outflow","date":"2025-04-02","id":"t%06d","description":"Invoice %d","counterparty":"Sample Ltd"}`+"\n", i, i%100, i, i)
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
		for _, err := range jsonlines.Read(strings.NewReader(text)) {
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
