// Package report is the table of a benchmark run: what was measured, against
// what, and whether the target is met.
package report

import (
	"fmt"
	"io"
	"strings"
)

// Row is one comparison. Ours and Peer are written with their unit; an empty
// Peer means that the figure stands alone.
type Row struct {
	What, Ours, Peer, Ratio, Target string
	Judged                          bool // there is a target
	OK                              bool // it is met
}

// verdict is the last column.
func (r Row) verdict() string {
	switch {
	case !r.Judged:
		return "-"
	case r.OK:
		return "yes"
	}
	return "NO"
}

func (r Row) cells() []string {
	return []string{r.What, r.Ours, r.Peer, r.Ratio, r.Target, r.verdict()}
}

var head = []string{"what", "ours", "floor/peer", "ratio", "target", "ok"}

// Share compares two amounts of one unit: ours may be at most target times
// theirs. 0 is no target.
func Share(what string, ours, peer, target float64, unit func(float64) string) Row {
	row := Row{What: what, Ours: unit(ours), Peer: unit(peer), Ratio: ratio(ours / peer)}
	if target > 0 {
		row.Judged, row.OK, row.Target = true, ours/peer <= target, "at most "+ratio(target)
	}
	return row
}

// Times compares two rates: ours must be at least target times theirs. 0 is no
// target.
func Times(what string, ours, peer, target float64, unit func(float64) string) Row {
	row := Row{What: what, Ours: unit(ours), Peer: unit(peer), Ratio: ratio(ours / peer)}
	if target > 0 {
		row.Judged, row.OK, row.Target = true, ours/peer >= target, "at least "+ratio(target)
	}
	return row
}

// Most holds an amount against an absolute bound.
func Most(what string, ours, bound float64, unit func(float64) string) Row {
	return Row{What: what, Ours: unit(ours), Target: "at most " + unit(bound), Judged: true, OK: ours <= bound}
}

// Least holds a rate against an absolute bound it must reach.
func Least(what string, ours, bound float64, unit func(float64) string) Row {
	return Row{What: what, Ours: unit(ours), Target: "at least " + unit(bound), Judged: true, OK: ours >= bound}
}

// Alone is an amount that nothing is set against.
func Alone(what string, ours float64, unit func(float64) string) Row {
	return Row{What: what, Ours: unit(ours)}
}

// ratio writes a small ratio as a fraction of one, as targets are.
func ratio(r float64) string {
	if r < 0.5 {
		return "1/" + strings.TrimSuffix(fmt.Sprintf("%.1f", 1/r), ".0")
	}
	return fmt.Sprintf("%.2f", r)
}

// Nanoseconds writes a time.
func Nanoseconds(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.2f ms", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f µs", n/1e3)
	}
	return fmt.Sprintf("%.0f ns", n)
}

// Bytes writes a size: MB are 1024 × 1024 bytes.
func Bytes(n float64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.2f MB", n/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", n/(1<<10))
	}
	return fmt.Sprintf("%.0f B", n)
}

// PerSecond writes a rate.
func PerSecond(n float64) string { return fmt.Sprintf("%.0f/s", n) }

// Text writes the rows as aligned columns.
func Text(w io.Writer, rows []Row) {
	table := [][]string{head}
	for _, r := range rows {
		table = append(table, r.cells())
	}
	widths := make([]int, len(head))
	for _, cells := range table {
		for i, cell := range cells {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, cells := range table {
		line := make([]string, len(cells))
		for i, cell := range cells {
			line[i] = cell + strings.Repeat(" ", widths[i]-len([]rune(cell)))
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(line, "  "), " "))
	}
}

// Markdown writes the rows as a Markdown table.
func Markdown(w io.Writer, rows []Row) {
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, r := range rows {
		cells := r.cells()
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", "\\|")
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
}

// Missed counts the targets that are not met.
func Missed(rows []Row) int {
	n := 0
	for _, r := range rows {
		if r.Judged && !r.OK {
			n++
		}
	}
	return n
}
