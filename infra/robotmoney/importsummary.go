package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/raw"
)

// add counts one file.
func (t *imported) add(done importedFile) {
	t.Files = append(t.Files, done)
	if done.State == string(raw.Failed) {
		t.Refused++
		return
	}
	r := done.Report
	if r == nil {
		return
	}
	t.Findings += r.FindingsTotal
	if done.Known {
		// What was new when the file came first is known now.
		t.TransactionsKnown += r.Transactions.New + r.Transactions.Changed + r.Transactions.Known
		t.InvoicesKnown += r.Invoices.New + r.Invoices.Known
		t.ObligationsKnown += r.Obligations.New + r.Obligations.Known
		return
	}
	t.TransactionsNew += r.Transactions.New
	t.TransactionsChanged += r.Transactions.Changed
	t.TransactionsKnown += r.Transactions.Known
	t.AccountsNew += r.Accounts.New
	t.CounterpartiesNew += r.Counterparties.New
	t.InvoicesNew += r.Invoices.New
	t.InvoicesKnown += r.Invoices.Known
	t.ObligationsNew += r.Obligations.New
	t.ObligationsKnown += r.Obligations.Known
}

// lines are the summary for a person.
func (t *imported) lines() [][2]string {
	var lines [][2]string
	add := func(name, format string, args ...any) {
		lines = append(lines, [2]string{name, fmt.Sprintf(format, args...)})
	}
	for _, f := range t.Files {
		add("file", "%s", f.line())
		if r := f.Report; r != nil {
			for _, found := range r.Findings {
				add("finding", "line %d: %s", found.Line, found.Text)
			}
			if r.Failure != nil {
				add("refused", "%s", r.Failure.Message)
			}
		}
	}
	add("transactions", "%d new, %d changed, %d known", t.TransactionsNew, t.TransactionsChanged, t.TransactionsKnown)
	add("accounts", "%d new", t.AccountsNew)
	add("counterparties", "%d new", t.CounterpartiesNew)
	if t.InvoicesNew+t.InvoicesKnown+t.ObligationsNew+t.ObligationsKnown > 0 {
		add("invoices", "%d new, %d known", t.InvoicesNew, t.InvoicesKnown)
		add("obligations", "%d new, %d known", t.ObligationsNew, t.ObligationsKnown)
	}
	add("refused", "%d of %d files", t.Refused, len(t.Files))
	if t.DryRun {
		add("dry run", "nothing was written")
	}
	return lines
}

// line is one file for a person.
func (f importedFile) line() string {
	parts := []string{f.File, f.State}
	if r := f.Report; r != nil && r.Parser != "" {
		parts = append(parts, fmt.Sprintf("%s, %d entries", r.Parser, r.Entries))
		if r.From != "" {
			parts = append(parts, r.From+" to "+r.To)
		}
	}
	if f.Known {
		parts = append(parts, "was there")
	}
	if f.RawID != "" {
		parts = append(parts, f.RawID)
	}
	return strings.Join(parts, "  ")
}

// bar shows how far a file is, on a terminal and nowhere else.
type bar struct {
	out   io.Writer // nil for none
	drawn bool
}

// barOn is a bar where somebody looks at it.
func barOn(c *call) *bar {
	file, ok := c.errs.(*os.File)
	if !ok || c.json {
		return &bar{}
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &bar{}
	}
	return &bar{out: file}
}

// barWidth is how many characters a full bar has.
const barWidth = 30

func (b *bar) show(name string, done, total int) {
	if b.out == nil || total == 0 {
		return
	}
	full := min(barWidth, barWidth*done/total)
	fmt.Fprintf(b.out, "\r%s [%s%s] %d of %d", name, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), done, total)
	b.drawn = true
}

// end takes the bar away.
func (b *bar) end() {
	if b.drawn {
		fmt.Fprint(b.out, "\r\033[K")
		b.drawn = false
	}
}
