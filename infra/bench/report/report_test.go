package report_test

import (
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/bench/report"
)

func TestJudgement(t *testing.T) {
	for _, c := range []struct {
		row            report.Row
		ratio, target  string
		judged, passed bool
	}{
		{report.Share("w", 20, 100, 0.2, report.Nanoseconds), "1/5", "at most 1/5", true, true},
		{report.Share("w", 21, 100, 0.2, report.Nanoseconds), "1/4.8", "at most 1/5", true, false},
		{report.Share("w", 150, 100, 1.5, report.Bytes), "1.50", "at most 1.50", true, true},
		{report.Share("w", 151, 100, 1.5, report.Bytes), "1.51", "at most 1.50", true, false},
		{report.Share("w", 1, 2, 0, report.Bytes), "0.50", "", false, false},
		{report.Times("w", 500, 100, 5, report.PerSecond), "5.00", "at least 5.00", true, true},
		{report.Times("w", 499, 100, 5, report.PerSecond), "4.99", "at least 5.00", true, false},
		{report.Most("w", 6<<20, 6<<20, report.Bytes), "", "at most 6.00 MB", true, true},
		{report.Most("w", 6<<20+1, 6<<20, report.Bytes), "", "at most 6.00 MB", true, false},
		{report.Least("w", 2000, 2000, report.PerSecond), "", "at least 2000/s", true, true},
		{report.Least("w", 1999, 2000, report.PerSecond), "", "at least 2000/s", true, false},
		{report.Alone("w", 1, report.Bytes), "", "", false, false},
	} {
		if c.row.Ratio != c.ratio || c.row.Target != c.target || c.row.Judged != c.judged || c.row.OK != c.passed {
			t.Errorf("got %+v, want %+v", c.row, c)
		}
	}
}

func TestTables(t *testing.T) {
	rows := []report.Row{report.Share("µ of a thing", 1500, 1000, 1.4, report.Nanoseconds), report.Alone("x", 12, report.Nanoseconds)}
	var text, markdown strings.Builder
	report.Text(&text, rows)
	report.Markdown(&markdown, rows)
	wantText := "" +
		"what          ours    floor/peer  ratio  target        ok\n" +
		"µ of a thing  1.5 µs  1.0 µs      1.50   at most 1.40  NO\n" +
		"x             12 ns                                    -\n"
	wantMarkdown := "" +
		"| what | ours | floor/peer | ratio | target | ok |\n|---|---|---|---|---|---|\n" +
		"| µ of a thing | 1.5 µs | 1.0 µs | 1.50 | at most 1.40 | NO |\n" +
		"| x | 12 ns |  |  |  | - |\n"
	if text.String() != wantText {
		t.Errorf("got\n%s", text.String())
	}
	if markdown.String() != wantMarkdown {
		t.Errorf("got\n%s", markdown.String())
	}
	if report.Missed(rows) != 1 {
		t.Errorf("%d missed", report.Missed(rows))
	}
}

func TestUnits(t *testing.T) {
	for got, want := range map[string]string{
		report.Nanoseconds(999): "999 ns", report.Nanoseconds(1500): "1.5 µs", report.Nanoseconds(2.5e6): "2.50 ms",
		report.Bytes(1023): "1023 B", report.Bytes(2048): "2.0 KB", report.Bytes(3 << 20): "3.00 MB", report.PerSecond(12.6): "13/s",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
