// Package ofx reads statements of bank accounts and credit cards in OFX 1
// (SGML) and OFX 2 (XML). One tolerant scanner reads both: what banks send is
// seldom either.
package ofx

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/markup"
	"github.com/robotmoney/mcp/shared/domain/statement/text"
)

// Read yields what the file says. Sections that are no statement of an account
// or a card are skipped with a note.
func Read(src io.Reader) statement.Items {
	return func(yield func(statement.Item, error) bool) {
		p := &parser{yield: yield, fields: map[field]value{}}
		if err := p.run(src); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped is that whoever reads wants no more.
var errStopped = errors.New("stopped")

// parser is where in the file we are.
type parser struct {
	yield func(statement.Item, error) bool
	scan  scanner
	stack []string // open aggregates
	found bool     // an OFX element was there

	skipping string // the section that is not read, while it is open
	report   *report
	reports  int
	fields   map[field]value // of the innermost entry or balance
	start    statement.Place // of it
}

// field is an element by the aggregate it stands in.
type field struct{ in, name string }

type value struct {
	text string
	at   statement.Place
}

// report is the statement that is being read.
type report struct {
	statement *statement.Statement
	begun     bool // it was yielded
	currency  value
	entries   int
}

const (
	maxStack  = 32
	maxFields = 200 // different elements of one entry
)

func (p *parser) emit(item statement.Item) error {
	if !p.yield(item, nil) {
		return errStopped
	}
	return nil
}

func (p *parser) run(src io.Reader) error {
	p.scan = scanner{text: open(src), names: map[string]string{}}
	var last tag // whose value comes next
	for {
		text, t, err := p.scan.next(words[last.name] && !last.closes)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if last.name != "" && !last.closes && !last.empty {
			if err := p.leaf(last, text); err != nil {
				return err
			}
		}
		if err != nil {
			return p.finish()
		}
		if err := p.turn(t); err != nil {
			return err
		}
		last = t
	}
}

// header is how many bytes are searched for what the file says of its encoding.
const header = 2048

// open decodes the file. The header of OFX 1 says its charset and is often wrong,
// so UTF-8 is tried before it.
func open(src io.Reader) *text.Reader {
	b := bufio.NewReaderSize(src, 4096)
	head, _ := b.Peek(header) // an error comes again with the first read
	head, _, _ = bytes.Cut(head, []byte("<OFX"))
	for _, name := range []string{headerValue(head, "CHARSET:"), headerValue(head, "ENCODING:"), markup.Encoding(head)} {
		switch c, ok := text.Named(name); {
		case name == "" || ok && c.String() == text.UTF8.String():
		case ok:
			return text.Guess(b, c)
		default:
			return text.Exact(b, text.UTF8) // nobody knows what its bytes above 127 mean
		}
	}
	return text.Guess(b, text.Windows1252)
}

// headerValue finds a value of the header, whose lines may have been run together.
func headerValue(head []byte, name string) string {
	_, after, ok := bytes.Cut(head, []byte(name))
	if !ok {
		return ""
	}
	value, _, _ := bytes.Cut(bytes.TrimLeft(after, " "), []byte("\n"))
	value = bytes.TrimSpace(value)
	for _, next := range []string{"CHARSET:", "COMPRESSION:", "OLDFILEUID:", "NEWFILEUID:", "SECURITY:", "VERSION:", "<"} {
		value, _, _ = bytes.Cut(value, []byte(next))
	}
	return string(bytes.TrimSpace(value))
}

// finish is what the end of the file means.
func (p *parser) finish() error {
	at := p.scan.text.Place()
	switch {
	case !p.found:
		return at.Refuse("there is no <OFX> in the file", "", "OFX 1 or 2", statement.Correct)
	case len(p.stack) > 0:
		return p.at(at).Refuse("the file ends before </OFX>", "", "the whole file", "It was cut off: export it again.")
	}
	return nil
}

// at gives a place the path of what is open.
func (p *parser) at(where statement.Place) statement.Place {
	where.Path = strings.Join(p.stack, "/")
	return where
}

// turn opens and closes aggregates.
func (p *parser) turn(t tag) error {
	if p.skipping != "" {
		// A section whose end is missing must not take the next one with it.
		next := t.name == "OFX" || strings.HasSuffix(t.name, "MSGSRSV1")
		if next || t.closes && t.name == p.skipping {
			p.skipping = ""
		}
		if !next {
			return nil
		}
	}
	if what := unread[t.name]; what != "" && !t.closes && !t.empty && p.found {
		p.skipping = t.name
		return p.emit(&statement.Note{Place: p.at(t.at).In(t.name), Topic: statement.Skipped, Text: "not read: " + what})
	}
	parents, aggregate := aggregates[t.name]
	switch {
	case !aggregate || t.empty:
		return nil
	case t.closes:
		return p.close(t.name)
	}
	if err := p.retreat(parents); err != nil {
		return err
	}
	if len(p.stack) >= maxStack {
		return p.at(t.at).Refuse("elements are nested too deeply", t.name, "at most "+strconv.Itoa(maxStack)+" levels", statement.Correct)
	}
	p.stack = append(p.stack, t.name)
	return p.begin(t)
}

// retreat closes what is open within the nearest of the parents.
func (p *parser) retreat(parents []string) error {
	for i := len(p.stack) - 1; i >= 0; i-- {
		for _, parent := range parents {
			if p.stack[i] == parent {
				return p.closeTo(i + 1)
			}
		}
	}
	return nil
}

// close ends an aggregate and all that is open in it. One that is not open is
// somebody's typing error. Some banks end a card's statement as an account's.
func (p *parser) close(name string) error {
	for i := len(p.stack) - 1; i >= 0; i-- {
		if p.stack[i] == name || strings.TrimPrefix(p.stack[i], "CC") == name && strings.HasPrefix(name, "STMT") {
			return p.closeTo(i)
		}
	}
	return nil
}

func (p *parser) closeTo(depth int) error {
	for len(p.stack) > depth {
		if err := p.end(p.top()); err != nil {
			return err
		}
		p.stack = p.stack[:len(p.stack)-1]
	}
	return nil
}

func (p *parser) top() string {
	if len(p.stack) == 0 {
		return ""
	}
	return p.stack[len(p.stack)-1]
}

// begin is what an aggregate's start means.
func (p *parser) begin(t tag) error {
	switch t.name {
	case "OFX":
		p.found = true
	case "STMTRS", "CCSTMTRS":
		p.reports++
		at := p.at(t.at)
		at.Path += "[" + strconv.Itoa(p.reports) + "]"
		p.report = &report{statement: &statement.Statement{Place: at, Kind: statement.Final}}
		if t.name == "CCSTMTRS" {
			p.report.statement.Account.Type = "CREDITCARD"
		}
	case "STMTTRN", "STMTTRNP":
		if p.report != nil {
			p.report.entries++
		}
		clear(p.fields)
		p.start = t.at
		return p.open()
	case "LEDGERBAL", "AVAILBAL", "BAL":
		clear(p.fields)
		p.start = t.at
	}
	return nil
}

// end is what an aggregate's end means.
func (p *parser) end(name string) error {
	switch name {
	case "STMTTRN":
		return p.entry(statement.Posted)
	case "STMTTRNP":
		return p.entry(statement.Pending)
	case "LEDGERBAL":
		return p.balance(statement.Ledger)
	case "AVAILBAL":
		return p.balance(statement.Available)
	case "STMTRS", "CCSTMTRS":
		err := p.open()
		p.report = nil
		return err
	case "STATUS":
		return p.status()
	}
	return nil
}

// open yields the statement, once: what names its account comes first in OFX.
func (p *parser) open() error {
	if p.report == nil || p.report.begun {
		return nil
	}
	s := p.report.statement
	if s.Account.ID == "" {
		return s.Place.In("ACCTID").Refuse("the statement names no account", "", "ACCTID before the first entry", statement.Correct)
	}
	code := strings.ToUpper(p.report.currency.text)
	c, err := money.Parse(code)
	if err != nil {
		at := s.Place.In("CURDEF")
		if code != "" {
			at.Line, at.Column = p.report.currency.at.Line, p.report.currency.at.Column
		}
		return at.Refuse("the statement's currency is unknown", code, "an ISO 4217 code", statement.Correct)
	}
	s.Currency, p.report.begun = c, true
	return p.emit(s)
}
