package mt940

import (
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/decimal"
)

// day reads YYMMDD.
func day(text string) (statement.Date, bool) {
	if len(text) < 6 {
		return "", false
	}
	year, ok := statement.Number(text[:2])
	month, ok2 := statement.Number(text[2:4])
	d, ok3 := statement.Number(text[4:6])
	date, err := statement.NewDate(statement.FullYear(year), month, d)
	return date, ok && ok2 && ok3 && err == nil
}

// near is the MMDD that lies closest to a day: around New Year the year of an
// entry's date is not the one of its value date.
func near(text string, to statement.Date) (statement.Date, bool) {
	month, _ := statement.Number(text[:2])
	d, _ := statement.Number(text[2:4])
	year, _ := statement.Number(string(to[:4]))
	best, distance := statement.Date(""), 0
	for _, y := range [...]int{year, year - 1, year + 1} {
		date, err := statement.NewDate(y, month, d)
		if err != nil {
			continue // the 29th of February has no such day in most years
		}
		if n := apart(date, to); best == "" || n < distance {
			best, distance = date, n
		}
	}
	return best, best != ""
}

// apart is about how many days lie between two dates. Months of 31 days are near
// enough to tell years apart.
func apart(a, b statement.Date) int {
	n := ordinal(a) - ordinal(b)
	return max(n, -n)
}

func ordinal(d statement.Date) int {
	year, _ := statement.Number(string(d[:4]))
	month, _ := statement.Number(string(d[5:7]))
	day, _ := statement.Number(string(d[8:10]))
	return (year*12+month)*31 + day
}

// amount reads digits with a decimal comma, behind which there may be none.
func amount(text string, c money.Currency) (money.Amount, error) {
	sign := decimal.Comma
	if strings.Contains(text, ".") {
		sign = decimal.Point
	}
	return decimal.Parse(text, sign, c)
}

// balanceLine is the form of a balance, for messages.
const balanceLine = "C or D, YYMMDD, a currency and an amount such as C250402EUR1000,00"

// balance reads C250402EUR1000,00 and yields it.
func (p *parser) balance(f *field, level statement.Level) error {
	m, text := p.message, strings.TrimSpace(f.lines[0])
	if len(text) < 11 || text[0] != 'C' && text[0] != 'D' {
		return f.at.Refuse("the balance cannot be read", text, balanceLine, statement.Correct)
	}
	date, ok := day(text[1:7])
	if !ok {
		return f.at.Refuse("the balance's date cannot be read", text[1:7], balanceLine, statement.Correct)
	}
	c, err := money.Parse(text[7:10])
	if err != nil {
		return f.at.Refuse("the currency is unknown", text[7:10], balanceLine, statement.Correct)
	}
	a, err := amount(text[10:], c)
	if err != nil {
		return f.at.Refuse("the balance's amount cannot be read", text[10:], balanceLine, statement.Correct)
	}
	if text[0] == 'D' {
		a = a.Neg()
	}
	if m.currency.IsZero() {
		m.currency = c
	}
	if c != m.currency {
		return f.at.Refuse("the balance is in another currency than the statement", c.String(), m.currency.String(), statement.Correct)
	}
	if err := p.open(); err != nil {
		return err
	}
	return p.emit(&statement.Balance{Place: f.at, Level: level, Page: strings.HasSuffix(f.tag, "M"), Amount: a, Date: date})
}

func (p *parser) opening(f *field) error {
	m := p.message
	if m.opened != "" {
		return f.at.Refuse("a second opening balance is in the statement", "", ":62F: and :20: before it", statement.Correct)
	}
	m.opened = f.tag
	return p.balance(f, statement.Opening)
}

// floor reads :34F:, which is where an interim report says its currency.
func (p *parser) floor(f *field) error {
	m := p.message
	m.interim = m.opened == ""
	if !m.currency.IsZero() || len(f.lines[0]) < 3 {
		return nil
	}
	c, err := money.Parse(f.lines[0][:3])
	if err != nil {
		return f.at.Refuse("the currency is unknown", f.lines[0][:3], "an ISO 4217 code", statement.Correct)
	}
	m.currency = c
	return nil
}

// entryLine is the form of :61:, for messages.
const entryLine = "YYMMDD, MMDD or none, C, D, RC or RD, an amount such as 12,50, a code such as NTRF and a reference"

// entry reads :61:. It is yielded when its :86: is complete.
func (p *parser) entry(f *field) error {
	m := p.message
	m.entries++
	f.at.Path += "[" + strconv.Itoa(m.entries) + "]"
	if m.currency.IsZero() {
		return f.at.Refuse("the entry's currency is not known", "", ":60F: before the first :61:", statement.Correct)
	}
	if err := p.open(); err != nil {
		return err
	}
	line := f.lines[0]
	e := &statement.Entry{Place: f.at, Status: statement.Posted}
	rest, err := dates(e, line)
	if err == nil {
		rest, err = mark(e, rest, f.at)
	} else {
		err = f.at.Refuse("the entry's date cannot be read", line, entryLine, statement.Correct)
	}
	if err != nil {
		return err
	}
	n := 0
	for n < len(rest) && (digit(rest[n]) || rest[n] == ',' || rest[n] == '.') {
		n++
	}
	if e.Amount, err = amount(rest[:n], m.currency); err != nil {
		return f.at.Refuse("the entry's amount cannot be read", rest, entryLine, statement.Correct)
	}
	if rest = rest[n:]; len(rest) < 4 {
		return f.at.Refuse("the entry has no code", rest, entryLine, statement.Correct)
	}
	e.Type = rest[:4]
	references(e, rest[4:])
	more := strings.TrimSpace(strings.Join(f.lines[1:], " "))
	supplement(e, more)
	m.entry, m.words = e, nil
	return nil
}

// dates reads the value date and the entry date behind it, which may be missing.
func dates(e *statement.Entry, line string) (rest string, err error) {
	value, ok := day(line)
	if !ok {
		return "", errDate
	}
	e.Value, e.Booked, rest = value, value, line[6:]
	if len(rest) >= 4 {
		if _, digits := statement.Number(rest[:4]); digits {
			if e.Booked, ok = near(rest[:4], value); !ok {
				return "", errDate
			}
			rest = rest[4:]
		}
	}
	return rest, nil
}

// mark reads which way the money went, and the third letter of the currency that
// some banks put behind it. The reversal of a credit is money out.
func mark(e *statement.Entry, rest string, at statement.Place) (string, error) {
	whole := rest
	for _, m := range [...]struct {
		text      string
		direction statement.Direction
		reversal  bool
		status    statement.Status
	}{
		{"RC", statement.Outflow, true, statement.Posted},
		{"RD", statement.Inflow, true, statement.Posted},
		{"EC", statement.Inflow, false, statement.Pending},
		{"ED", statement.Outflow, false, statement.Pending},
		{"C", statement.Inflow, false, statement.Posted},
		{"D", statement.Outflow, false, statement.Posted},
	} {
		after, ok := strings.CutPrefix(rest, m.text)
		if !ok {
			continue
		}
		e.Direction, e.Reversal, e.Status = m.direction, m.reversal, m.status
		if m.status == statement.Pending {
			e.Booked = ""
		}
		if after != "" && after[0] >= 'A' && after[0] <= 'Z' {
			after = after[1:]
		}
		return after, nil
	}
	return "", at.Refuse("the entry's direction cannot be read", whole, entryLine, statement.Correct)
}

// references reads the customer's reference and, behind //, the bank's.
func references(e *statement.Entry, text string) {
	customer, bank, _ := strings.Cut(text, "//")
	e.Refs.Customer, e.Refs.Bank = given(customer), given(bank)
}

// given drops what banks write where there is no reference, or where it is in
// the words below.
func given(ref string) string {
	ref = strings.TrimSpace(ref)
	switch strings.ToUpper(ref) {
	case "NONREF", "NOTPROVIDED", "EREF", "PREF":
		return ""
	}
	return ref
}
