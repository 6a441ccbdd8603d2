package csv

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/decimal"
	"github.com/robotmoney/mcp/shared/domain/statement/text"
)

// Read yields the rows of a file as a mapping says to read them: one that Survey
// completed from the same file, or one that is complete.
func Read(src io.Reader, m Mapping) statement.Items {
	return func(yield func(statement.Item, error) bool) {
		p := &parser{Mapping: m, yield: yield}
		if err := p.run(src); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped is that whoever reads wants no more.
var errStopped = errors.New("stopped")

type parser struct {
	Mapping
	yield   func(statement.Item, error) bool
	at      map[Field]int // where each field is; Memo is in memos
	memos   []int
	account string
	begun   bool
}

func (p *parser) emit(item statement.Item) error {
	if !p.yield(item, nil) {
		return errStopped
	}
	return nil
}

func (p *parser) run(src io.Reader) error {
	if err := p.Check(); err != nil {
		return statement.Place{Line: 1}.Refuse("the mapping cannot be used: "+err.Error(), "", "a mapping that fits", "Correct the mapping.")
	}
	if p.Delimiter == "" || len(p.Columns) == 0 {
		return errors.New("read columns: the mapping is not complete; Survey makes it so")
	}
	p.at = map[Field]int{}
	for i := range maxCells {
		switch f := p.Columns[i]; f {
		case "":
		case Memo:
			p.memos = append(p.memos, i)
		default:
			p.at[f] = i
		}
	}
	t := p.open(src)
	odd, err := p.each(t, p.row)
	if err != nil {
		return err
	}
	if !p.begun {
		err = p.begin(t.Place(), "")
	}
	if err == nil && odd != nil {
		err = p.emit(&statement.Note{Place: odd.at, Topic: statement.Skipped, Text: "what begins here is no row: " + statement.Quote(odd.text)})
	}
	return err
}

// begin yields the statement of an account, and what was taken for granted.
func (p *parser) begin(at statement.Place, account string) error {
	account = strings.ReplaceAll(account, " ", "")
	if account == "" {
		account = p.Account
	}
	if p.begun && account == p.account {
		return nil
	}
	c, _ := money.Parse(p.Currency) // none when the rows say it
	if err := p.emit(statementOf(at, account, c)); err != nil {
		return err
	}
	if !p.begun {
		for _, doubt := range p.Doubts {
			if err := p.emit(&statement.Note{Place: at, Topic: statement.Doubt, Text: doubt}); err != nil {
				return err
			}
		}
	}
	p.begun, p.account = true, account
	return nil
}

// get is the cell of a field, empty when no column has it.
func (p *parser) get(row *record, f Field) string {
	i, ok := p.at[f]
	if !ok {
		return ""
	}
	return row.cell(i)
}

// where is the place of a cell.
func (m *Mapping) where(row *record, i int) statement.Place {
	at := row.at
	at.Path = "cell " + strconv.Itoa(i+1)
	if i < len(m.Header) && strings.TrimSpace(m.Header[i]) != "" {
		at.Path += " " + statement.Quote(strings.TrimSpace(m.Header[i]))
	}
	return at
}

// line is a place's line, for messages.
func line(at statement.Place) string { return strconv.Itoa(at.Line) }

// maxSkipped is how many lines of a file's end may be no rows.
const maxSkipped = 200

// each calls do with the rows of the file: what follows the header line and
// begins like a row. Lines at the end that do not are the bank's own words; one
// among the rows is a row that went wrong. It returns the first of them.
func (m *Mapping) each(t *text.Reader, do func(*record) error) (odd *place, err error) {
	r := &records{text: t, delimiter: m.Delimiter[0]}
	if err := m.skipHeader(r); err != nil {
		return nil, err
	}
	for n := 0; ; {
		row, err := r.next()
		if errors.Is(err, io.EOF) {
			return odd, nil
		}
		if err != nil {
			return nil, err
		}
		switch {
		case row.blank():
		case m.begins(row):
			if odd != nil {
				return nil, odd.at.Refuse("the row has no date", odd.text, "a date, as in the rows after it", statement.Correct)
			}
			if err := m.fits(row); err != nil {
				return nil, err
			}
			if err := do(row); err != nil {
				return nil, err
			}
		case m.paid(row):
			i := m.dateColumn()
			return nil, m.where(row, i).Refuse("the date cannot be read", row.cell(i), "a date", statement.Correct)
		default:
			if n++; n > maxSkipped {
				return nil, row.at.Refuse("the file has too many lines that are no rows", "", "at most "+strconv.Itoa(maxSkipped)+" of them at its end", statement.Correct)
			}
			if odd == nil {
				odd = &place{row.at, strings.Join(row.cells, m.Delimiter)}
			}
		}
	}
}

// skipHeader reads up to and with the header line.
func (m *Mapping) skipHeader(r *records) error {
	if m.NoHeader {
		return nil
	}
	for range sampleRows {
		row, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if same(row.cells, m.Header) {
			return nil
		}
	}
	return noHeader(m.Header)
}

// dateColumn is the column a row's date is in.
func (m *Mapping) dateColumn() int {
	value := 0
	for i, f := range m.Columns {
		switch f {
		case Booked:
			return i
		case Value:
			value = i
		}
	}
	return value
}

// begins says whether a row has something like a date.
func (m *Mapping) begins(row *record) bool {
	for i, f := range m.Columns {
		if f == Booked || f == Value {
			if _, ok := split(row.cell(i)); ok {
				return true
			}
		}
	}
	return false
}

// totals are what lines of sums begin with.
var totals = []string{"total", "sum", "saldo", "solde", "balance", "endsaldo", "anfangssaldo", "kontostand", "alter kontostand", "neuer kontostand",
	"opening balance", "closing balance", "eindsaldo", "beginsaldo", "totaal", "gesamt", "endbestand", "anfangsbestand"}

// paid says whether a row without a date has an amount all the same, and is no
// line of a sum.
func (m *Mapping) paid(row *record) bool {
	for i := range row.cells {
		folded := fold(row.cell(i))
		for _, word := range totals {
			if folded == word || strings.HasPrefix(folded, word+" ") {
				return false
			}
		}
	}
	for i, f := range m.Columns {
		if f == Amount || f == Debit || f == Credit {
			if _, err := decimal.Read(row.cell(i)); err == nil {
				return true
			}
		}
	}
	return false
}

// fits refuses a row that has other cells than the header: one that the bank did
// not put into quotation marks has moved those behind it.
func (m *Mapping) fits(row *record) error {
	if m.NoHeader || row.width() <= len(m.Header) {
		return nil
	}
	return row.at.Refuse(fmt.Sprintf("the row has %d cells", row.width()), "", fmt.Sprintf("%d, as the header line has", len(m.Header)),
		"A delimiter within a cell needs quotation marks around it: correct it or export the file again.")
}

// row yields one.
func (p *parser) row(row *record) error {
	if err := p.begin(row.at, p.get(row, Own)); err != nil {
		return err
	}
	e := &statement.Entry{Place: row.at, Type: p.get(row, Type)}
	var err error
	if e.Status, err = p.status(row); err != nil {
		return err
	}
	if e.Booked, err = p.date(row, Booked); err != nil {
		return err
	}
	if e.Value, err = p.date(row, Value); err != nil {
		return err
	}
	if e.Status == statement.Posted && e.Booked == "" {
		e.Booked = e.Value
	}
	c, err := p.currency(row)
	if err != nil {
		return err
	}
	if err := p.movement(e, row, c); err != nil {
		return err
	}
	if i, ok := p.at[Balance]; ok && row.cell(i) != "" {
		if e.Running, err = p.amount(row, i, c); err != nil {
			return err
		}
	}
	p.describe(e, row)
	return p.emit(e)
}

func (p *parser) date(row *record, f Field) (statement.Date, error) {
	cell := p.get(row, f)
	if cell == "" {
		return "", nil
	}
	parts, ok := split(cell)
	if ok {
		if d, err := parts.date(p.Dates); err == nil {
			return d, nil
		}
	}
	want := map[Order]string{DayFirst: "a day, a month and a year", MonthFirst: "a month, a day and a year", YearFirst: "a year, a month and a day"}[p.Dates]
	return "", p.where(row, p.at[f]).Refuse("the date cannot be read", cell, want+", as the other rows have", statement.Correct)
}

func (p *parser) describe(e *statement.Entry, row *record) {
	e.Refs = statement.References{
		Bank: p.get(row, Reference), EndToEnd: p.get(row, EndToEnd), Mandate: p.get(row, Mandate),
		Creditor: p.get(row, Creditor), Check: p.get(row, Check),
	}
	if strings.EqualFold(e.Refs.EndToEnd, "NOTPROVIDED") {
		e.Refs.EndToEnd = ""
	}
	name := p.get(row, Name)
	if name == "" {
		side := Payee
		if e.Direction == statement.Inflow {
			side = Payer
		}
		name = p.get(row, side)
	}
	e.Party = statement.Party{Name: statement.Blanks(name), Account: strings.ReplaceAll(p.get(row, Account), " ", ""), Bank: p.get(row, Bank)}
	var memo []string
	for _, i := range p.memos {
		if cell := row.cell(i); cell != "" {
			memo = append(memo, cell)
		}
	}
	e.Memo = statement.Blanks(strings.Join(memo, " "))
}
