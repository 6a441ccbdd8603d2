package bankfile_test

import (
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/bankfile"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/csv"
	"github.com/robotmoney/mcp/shared/domain/statement/detect"
)

// Every format says the same of each entry: what is measured is the reading and
// not another file.
func TestFormatsSayTheSame(t *testing.T) {
	const n = 500
	var want []string
	for _, f := range bankfile.Formats {
		source := strings.NewReader(f.Write(n))
		format, err := detect.Of(source, "text/plain")
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		var got []string
		for item, err := range detect.Read(source, format, csv.Mapping{}) {
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			if e, ok := item.(*statement.Entry); ok {
				got = append(got, strings.Join([]string{string(e.Day()), e.Amount.String(), string(e.Direction), e.Party.Name}, " "))
			}
		}
		if want == nil {
			want = got
		}
		if len(got) != n || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %d entries, the first is %q, want %q", f.Name, len(got), got[0], want[0])
		}
	}
}
