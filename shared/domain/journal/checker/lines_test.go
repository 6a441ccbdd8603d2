package checker_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/robotmoney/mcp/shared/domain/canonical"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/journal/checker"
)

// history makes the lines of a sound journal without a table.
func history(t testing.TB, of string, entries int) []string {
	t.Helper()
	var lines []string
	prev := journal.Origin
	for seq := range entries {
		line, hash := forge(t, seq, prev, event(of, seq))
		lines, prev = append(lines, line), hash
	}
	return lines
}

func TestLines(t *testing.T) {
	const entries = 20
	acme, err := identity.OperatorTenant("acme")
	noError(t, err)
	sound := history(t, "acme", entries)
	without := func(from, to int) []string { return append(append([]string{}, sound[:from]...), sound[to:]...) }
	with := func(at int, line string) []string {
		return append(append(append([]string{}, sound[:at]...), line), sound[at:]...)
	}
	instead := func(at int, line string) []string { return append(append(without(at, entries), line), sound[at+1:]...) }
	other, _ := forge(t, 6, member(t, sound[5], "hash"), event("acme", 600))
	double, _ := forge(t, 7, member(t, sound[6], "hash"), event("acme", 3))
	foreign, _ := forge(t, 7, member(t, sound[6], "hash"), event("globex", 7))
	astray, _ := forge(t, 7, member(t, sound[2], "hash"), event("acme", 7))
	for name, c := range map[string]struct {
		lines   []string
		kind    checker.Kind // empty: no fault
		seq     int64
		entries int64
	}{
		"all":                  {sound, "", 0, entries},
		"none":                 {nil, "", 0, 0},
		"the end is missing":   {sound[:5], "", 0, 5},
		"the first is missing": {sound[1:], checker.Gap, 0, 0},
		"one is missing":       {without(7, 8), checker.Gap, 7, 7},
		"some are missing":     {without(7, 12), checker.Gap, 7, 7},
		"one twice":            {with(8, sound[7]), checker.Double, 7, 8},
		"one again, later":     {with(entries, sound[7]), checker.Double, 7, entries},
		"two of a number":      {with(7, other), checker.Fork, 6, 7},
		"another history":      {instead(7, astray), checker.Fork, 7, 7},
		"one made anew":        {instead(6, other), checker.Fork, 7, 7},
		"an event twice":       {instead(7, double), checker.Double, 7, 7},
		"another tenant's":     {instead(7, foreign), checker.Tenant, 7, 7},
		"an edit":              {instead(7, strings.Replace(sound[7], "é", "è", 1)), checker.Edit, 7, 7},
		"another spelling":     {instead(7, strings.Replace(sound[7], ",", ", ", 1)), checker.Edit, 7, 7},
		"an empty line":        {with(7, ""), checker.Edit, 7, 7},
		"no JSON":              {with(7, "# seven"), checker.Edit, 7, 7},
		"two swapped":          {append(append(without(7, entries), sound[8], sound[7]), sound[9:]...), checker.Gap, 7, 7},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := checker.Lines(strings.NewReader(strings.Join(c.lines, "\n")), acme)
			noError(t, err)
			equal(t, "entries", report.Entries, c.entries)
			switch {
			case c.kind == "" && report.Fault != nil:
				t.Errorf("fault: %s", report.Fault)
			case c.kind != "" && (report.Fault == nil || report.Fault.Kind != c.kind || report.Fault.Seq != c.seq):
				t.Errorf("fault = %v, want %s at %d", report.Fault, c.kind, c.seq)
			}
			if report.Entries > 0 {
				equal(t, "hash", report.Hash, member(t, c.lines[report.Entries-1], "hash"))
			}
		})
	}
}

// What the journal exports is what is walked here, and made the same way.
func TestExported(t *testing.T) {
	w := write(t, 10)
	equal(t, "lines", strings.Join(w.lines, "\n"), strings.Join(history(t, w.of.String(), 10), "\n"))
}

func TestLinesThatCannotBeRead(t *testing.T) {
	acme, err := identity.OperatorTenant("acme")
	noError(t, err)
	lines := strings.Join(history(t, "acme", 3), "\n") + "\n"
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		from io.Reader
		want error
	}{
		"the reader fails":      {io.MultiReader(strings.NewReader(lines), iotest.ErrReader(broken)), broken},
		"a line without an end": {io.MultiReader(strings.NewReader(lines), strings.NewReader(strings.Repeat("x", 2<<20))), nil},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := checker.Lines(c.from, acme)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), "entry 3") {
				t.Errorf("error = %v", err)
			}
			equal(t, "entries", report.Entries, 3)
		})
	}
}

// FuzzLines: a journal in which no fault is found is canonical to the byte, and
// as long as its lines.
func FuzzLines(f *testing.F) {
	sound := history(f, "acme", 3)
	f.Add([]byte(strings.Join(sound, "\n")))
	f.Add([]byte(strings.Join(sound[1:], "\n")))
	f.Add([]byte(strings.Replace(sound[0], "é", "e", 1)))
	f.Add([]byte("{}\n[]\nnull\n"))
	f.Add([]byte(`{"event":null,"hash":"","prev_hash":"","seq":0}`))
	acme, err := identity.OperatorTenant("acme")
	noError(f, err)
	f.Fuzz(func(t *testing.T, raw []byte) {
		report, err := checker.Lines(bytes.NewReader(raw), acme)
		if err != nil || report.Fault != nil {
			return
		}
		lines := bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
		if len(raw) == 0 {
			lines = nil
		}
		equal(t, "entries", report.Entries, int64(len(lines)))
		for _, line := range lines {
			form, err := canonical.Transform(line)
			noError(t, err)
			equal(t, "line", string(form), string(bytes.TrimSuffix(line, []byte("\r"))))
		}
	})
}
