// Package render writes wiki pages: facts in, Markdown out. It reads nothing and
// has no clock: the same facts make the same bytes, whenever and wherever. So no
// page says what depends on the day it is read, such as that a bill is overdue.
//
// Text that came from outside, such as a memo or a name, stands between backticks
// on one line (package fence). It is data: whatever it says, it says it there.
// Amounts of two currencies are never added up; each stands by itself.
package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fence"
)

// Facts are what a page is made of: rows and rollups, as they were read.
type Facts interface{ sheet() (*sheet, error) }

// Document is a rendered page.
type Document struct {
	Title    string // plain text on one line
	Body     string // Markdown
	Revision string // SHA-256 over the facts, 64 hexadecimal digits
}

// Markdown renders a page. It fails for facts that the ledger's writer would have
// refused, such as an amount that is none.
func Markdown(facts Facts) (Document, error) {
	raw, err := json.Marshal(facts)
	if err != nil {
		return Document{}, fmt.Errorf("encode the facts of a page: %w", err)
	}
	s, err := facts.sheet()
	if err != nil {
		return Document{}, err
	}
	sum := sha256.Sum256(raw)
	return Document{Title: s.name, Body: s.body(), Revision: hex.EncodeToString(sum[:])}, nil
}

// section is a part of a page; pages have them in this order.
type section int

const (
	truth section = iota
	linked
	activity
	questions
	risks
	timeline
	evidence
	sections
)

var headings = [sections]string{
	truth: "Current Truth", linked: "Key Linked Entities", activity: "Recent Activity", questions: "Open Questions", risks: "Risk Notes",
	timeline: "Timeline", evidence: "Evidence Links",
}

const (
	// shown is how many entries a list on a page has.
	shown = 10
	// maxTitle bounds a title, in characters.
	maxTitle = 120
)

// sheet is a page while it is written.
type sheet struct {
	title string // Markdown
	name  string // the same as plain text
	lines [sections][]string
}

// titled begins a page with a title of ours.
func titled(format string, args ...any) *sheet {
	title := fmt.Sprintf(format, args...)
	return &sheet{title: title, name: title}
}

// named begins a page about something that has a name from outside; what shows
// nothing is called by its id.
func named(name, id string) *sheet {
	s := &sheet{title: fence.Text(name), name: fence.Line(name, maxTitle)}
	if s.name == "" {
		s.title, s.name = id, id
	}
	return s
}

// add adds an entry to a section.
func (s *sheet) add(to section, format string, args ...any) {
	s.lines[to] = append(s.lines[to], "- "+fmt.Sprintf(format, args...))
}

// cite adds an address as evidence, once.
func (s *sheet) cite(kind, id string) {
	line := "- brain://ledger/" + kind + "/" + id
	for _, there := range s.lines[evidence] {
		if there == line {
			return
		}
	}
	s.lines[evidence] = append(s.lines[evidence], line)
}

// body writes the page. A section without an entry is left out.
func (s *sheet) body() string {
	var b strings.Builder
	b.WriteString("# " + s.title + "\n")
	for i, lines := range s.lines {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", headings[i], strings.Join(lines, "\n"))
		}
	}
	return b.String()
}

// some are the first entries of a list that a page shows.
func some[T any](rows []T) []T { return rows[:min(len(rows), shown)] }

// fenced writes texts from outside in a row, no more than a page shows.
func fenced(texts []string) string {
	var parts []string
	for _, text := range some(texts) {
		parts = append(parts, fence.Text(text))
	}
	if more := len(texts) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

// link is a link to another page.
func link(folder, id string) string { return "[" + id + "](/" + folder + "/" + id + ")" }

// plural is a number of things.
func plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// capital is a word with a capital.
func capital(word string) string {
	if word == "" {
		return word
	}
	return strings.ToUpper(word[:1]) + word[1:]
}
