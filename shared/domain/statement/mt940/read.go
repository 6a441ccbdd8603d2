// Package mt940 reads SWIFT customer statements (MT940) and interim reports
// (MT942), with the envelope of a SWIFT message around them or without.
package mt940

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/text"
)

// The bounds of a file. A line has 65 characters by the standard, a field six
// lines; banks go beyond both, and not by far.
const (
	maxLine  = 4 << 10
	maxLines = 200
)

// Read yields what the file says. The text is UTF-8 or, where it is not,
// Windows 1252.
func Read(src io.Reader) statement.Items {
	return func(yield func(statement.Item, error) bool) {
		p := &parser{yield: yield, text: text.Guess(src, text.Windows1252)}
		if err := p.run(); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped is that whoever reads wants no more.
var errStopped = errors.New("stopped")

// field is :tag: and the lines that belong to it.
type field struct {
	tag   string
	lines []string
	at    statement.Place
}

// parser is where in the file we are.
type parser struct {
	yield   func(statement.Item, error) bool
	text    *text.Reader
	field   *field
	any     bool // a field was there
	message *message
}

// message is the statement that is being read.
type message struct {
	statement *statement.Statement
	at        statement.Place
	begun     bool // it was yielded
	currency  money.Currency
	opened    string           // :60F: or :60M:, once it was there
	closed    bool             // a :62: was there
	entry     *statement.Entry // waits for its :86:
	entries   int
	words     []string // of its :86:
	interim   bool
}

func (p *parser) emit(item statement.Item) error {
	if !p.yield(item, nil) {
		return errStopped
	}
	return nil
}

// run reads line by line: a field ends where the next one begins.
func (p *parser) run() error {
	for {
		at := p.text.Place()
		line, err := p.text.Line(maxLine)
		if errors.Is(err, io.EOF) {
			return p.finish(at)
		}
		if err != nil {
			return err
		}
		at.Column = 0
		if err := p.line(strings.Trim(line, "\x01\x03\x1a"), at); err != nil {
			return err
		}
	}
}

func (p *parser) finish(at statement.Place) error {
	if err := p.endMessage(at); err != nil {
		return err
	}
	if !p.any {
		return at.Refuse("there is no field such as :20: in the file", "", "MT940 or MT942", statement.Correct)
	}
	return nil
}

// line looks at what a line begins with.
func (p *parser) line(line string, at statement.Place) error {
	switch {
	case strings.HasPrefix(line, "{"):
		return p.envelope(line, at)
	case strings.HasPrefix(line, "-}"):
		if err := p.endMessage(at); err != nil {
			return err
		}
		return p.envelope(line, at)
	case strings.TrimRight(line, " ") == "-":
		return p.endMessage(at)
	}
	if tag, rest, ok := cutTag(line); ok {
		return p.beginField(tag, rest, at)
	}
	if p.field == nil {
		return nil // a bank's own lines around the messages
	}
	if len(p.field.lines) >= maxLines {
		return p.field.at.Refuse("the field is too long", "", "at most "+strconv.Itoa(maxLines)+" lines", statement.Correct)
	}
	p.field.lines = append(p.field.lines, line)
	return nil
}

// envelope finds where the text of the message begins in a line of blocks.
func (p *parser) envelope(line string, at statement.Place) error {
	before, rest, ok := strings.Cut(line, "{4:")
	if strings.Contains(before, "{2:O942") || strings.Contains(before, "{2:I942") {
		p.begin(at).interim = true
	}
	if !ok || rest == "" {
		return nil
	}
	return p.line(rest, at)
}

// cutTag splits :61:rest. NS is the one tag of letters, and of one country.
func cutTag(line string) (tag, rest string, ok bool) {
	if len(line) < 4 || line[0] != ':' {
		return "", "", false
	}
	end := strings.IndexByte(line[1:min(len(line), 6)], ':')
	if end < 2 {
		return "", "", false
	}
	tag, rest = line[1:1+end], line[end+2:]
	digits := digit(tag[0]) && digit(tag[1])
	letter := len(tag) == 2 || len(tag) == 3 && tag[2] >= 'A' && tag[2] <= 'Z'
	return tag, rest, digits && letter || tag == "NS"
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// beginField ends the field before it.
func (p *parser) beginField(tag, rest string, at statement.Place) error {
	if err := p.endField(); err != nil {
		return err
	}
	if tag == "20" {
		if m := p.message; m != nil && m.statement.ID != "" {
			if err := p.endMessage(at); err != nil {
				return err
			}
		}
	}
	p.any = true
	at.Path = ":" + tag + ":"
	p.begin(at)
	p.field = &field{tag: tag, lines: []string{rest}, at: at}
	return nil
}

// begin is the message that is open, or a new one.
func (p *parser) begin(at statement.Place) *message {
	if p.message == nil {
		p.message = &message{statement: &statement.Statement{Kind: statement.Final}, at: at}
	}
	return p.message
}

// endField reads the field that is complete.
func (p *parser) endField() error {
	f := p.field
	if f == nil {
		return nil
	}
	p.field = nil
	m := p.message
	if m.entry != nil && f.tag != "86" && f.tag != "NS" {
		if err := p.flush(); err != nil {
			return err
		}
	}
	switch f.tag {
	case "20":
		m.statement.ID = strings.TrimSpace(f.lines[0])
	case "25", "25P":
		m.statement.Account = account(f.lines)
	case "28", "28C":
		m.statement.Number = strings.TrimSpace(f.lines[0])
	case "34F":
		return p.floor(f)
	case "60F", "60M":
		return p.opening(f)
	case "61":
		return p.entry(f)
	case "86":
		return p.narrative(f)
	case "62F", "62M":
		m.closed = true
		return p.balance(f, statement.Closing)
	case "64":
		return p.balance(f, statement.Available)
	case "65":
		return p.balance(f, statement.Forward)
	}
	return nil
}

// flush yields the entry that waited for its words.
func (p *parser) flush() error {
	m := p.message
	e := m.entry
	m.entry = nil
	describe(e, m.words)
	m.words = nil
	return p.emit(e)
}

// endMessage yields what is left of a message. One that has an opening balance
// and no closing one was cut off, and nobody knows what is missing.
func (p *parser) endMessage(at statement.Place) error {
	if err := p.endField(); err != nil {
		return err
	}
	m := p.message
	if m == nil {
		return nil
	}
	if m.entry != nil {
		if err := p.flush(); err != nil {
			return err
		}
	}
	p.message = nil
	switch {
	case m.opened != "" && !m.closed:
		return at.Refuse("the statement ends before its closing balance", "", ":62F: or :62M:", "The file was cut off: export it again.")
	case m.statement.Account.ID == "" && !m.begun:
		if m.statement.ID == "" {
			return nil
		}
		return noAccount(m.at)
	}
	p.message = m
	err := p.open()
	p.message = nil
	return err
}

func noAccount(at statement.Place) error {
	at.Path = ":25:"
	return at.Refuse("the statement names no account", "", ":25: before the first entry", statement.Correct)
}

// open yields the statement, once: what names it comes before the rest.
func (p *parser) open() error {
	m := p.message
	if m.begun {
		return nil
	}
	s := m.statement
	if s.Account.ID == "" {
		return noAccount(m.at)
	}
	if m.interim {
		s.Kind = statement.Interim
	}
	s.Place, s.Currency, m.begun = m.at, m.currency, true
	s.Place.Path = ":20:"
	return p.emit(s)
}

// account reads :25:, an IBAN or a bank's code and a number, with the currency
// behind it at some banks.
func account(lines []string) statement.Account {
	id := strings.ReplaceAll(lines[0], " ", "")
	if n := len(id) - 3; n > 0 && digit(id[n-1]) {
		if _, err := money.Parse(id[n:]); err == nil {
			id = id[:n]
		}
	}
	var a statement.Account
	if bank, number, ok := strings.Cut(id, "/"); ok && number != "" {
		a.Bank, a.ID = bank, strings.Trim(number, "/")
	} else {
		a.ID = strings.Trim(id, "/")
	}
	if len(lines) > 1 && a.Bank == "" { // :25P: has the BIC in a line of its own
		a.Bank = strings.TrimSpace(lines[1])
	}
	return a
}
