package ofx

import (
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/decimal"
)

// leaf takes the value that followed a tag. An aggregate's is formatting.
func (p *parser) leaf(t tag, text string) error {
	if p.skipping != "" || text == "" || len(p.stack) == 0 {
		return nil
	}
	if _, aggregate := aggregates[t.name]; aggregate {
		return nil
	}
	v := value{text, t.at}
	switch in := p.top(); in {
	case "STMTRS", "CCSTMTRS":
		if t.name == "CURDEF" && p.report != nil {
			p.report.currency = v
		}
	case "BANKACCTFROM", "CCACCTFROM":
		p.account(t.name, text)
	case "BANKTRANLIST", "BANKTRANLISTP":
		return p.period(t.name, v)
	case "STMTTRN", "STMTTRNP", "PAYEE", "BANKACCTTO", "CCACCTTO", "CURRENCY", "ORIGCURRENCY", "LEDGERBAL", "AVAILBAL", "STATUS":
		// A bank's own elements may repeat a name: the first is the one of OFX.
		f := field{in, t.name}
		if _, there := p.fields[f]; !there && len(p.fields) < maxFields {
			p.fields[f] = v
		}
	}
	return nil
}

func (p *parser) account(name, text string) {
	if p.report == nil || p.report.begun {
		return
	}
	a := &p.report.statement.Account
	switch name {
	case "ACCTID":
		a.ID = strings.ReplaceAll(text, " ", "")
	case "BANKID":
		a.Bank = text
	case "BRANCHID":
		a.Branch = text
	case "ACCTTYPE":
		a.Type = strings.ToUpper(text)
	}
}

func (p *parser) period(name string, v value) error {
	if p.report == nil || p.report.begun {
		return nil
	}
	d, err := p.date(v, name)
	switch name {
	case "DTSTART":
		p.report.statement.From = d
	case "DTEND":
		p.report.statement.To = d
	default:
		return nil
	}
	return err
}

// date reads YYYYMMDD with whatever time and zone behind it, as the bank wrote
// it. Zeros are how some write that there is none.
func (p *parser) date(v value, name string) (statement.Date, error) {
	if strings.Trim(v.text, "0") == "" {
		return "", nil
	}
	d, err := statement.CompactDate(v.text)
	if err != nil {
		d, err = statement.ISODate(v.text)
	}
	if err != nil {
		return "", p.where(v.at).In(name).Refuse("the date cannot be read", v.text, "YYYYMMDD, with a time behind it or none", statement.Correct)
	}
	return d, nil
}

// where gives a place the path of the entry or the statement.
func (p *parser) where(at statement.Place) statement.Place {
	if p.report == nil {
		return p.at(at)
	}
	path := p.report.statement.Path
	switch top := p.top(); top {
	case "STMTRS", "CCSTMTRS":
	case "STMTTRN", "STMTTRNP", "PAYEE", "BANKACCTTO", "CCACCTTO", "CURRENCY", "ORIGCURRENCY":
		path += "/BANKTRANLIST/STMTTRN[" + strconv.Itoa(p.report.entries) + "]"
	default:
		path += "/" + top
	}
	at.Path = path
	return at
}

// entry yields the STMTTRN that ends here.
func (p *parser) entry(status statement.Status) error {
	if p.report == nil {
		return nil // in a section that has no statement
	}
	in := p.top()
	get := func(name string) string { return p.fields[field{in, name}].text }
	e := &statement.Entry{
		Place: p.where(p.start), Status: status, Type: strings.ToUpper(get("TRNTYPE")), Memo: get("MEMO"),
		Refs: statement.References{Bank: get("FITID"), Customer: get("REFNUM"), Instructed: get("SRVRTID"), Check: get("CHECKNUM")},
		Party: statement.Party{
			Name:    first(get("NAME"), p.fields[field{"PAYEE", "NAME"}].text, get("EXTDNAME")),
			Account: first(p.fields[field{"BANKACCTTO", "ACCTID"}].text, p.fields[field{"CCACCTTO", "ACCTID"}].text),
			Bank:    p.fields[field{"BANKACCTTO", "BANKID"}].text,
		},
	}
	if err := p.dates(e, in); err != nil {
		return err
	}
	if err := p.amounts(e, in); err != nil {
		return err
	}
	if err := p.emit(e); err != nil {
		return err
	}
	if old := get("CORRECTFITID"); old != "" {
		return p.emit(&statement.Note{Place: e.Place, Topic: statement.Doubt,
			Text: "the bank corrects its entry " + statement.Quote(old) + " here (" + statement.Quote(get("CORRECTACTION")) + "): look at both"})
	}
	return nil
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func (p *parser) dates(e *statement.Entry, in string) error {
	booked := "DTPOSTED"
	if e.Status == statement.Pending {
		booked = "DTTRAN"
	}
	for _, d := range [...]struct {
		name string
		to   *statement.Date
	}{{booked, &e.Booked}, {"DTAVAIL", &e.Value}, {"DTUSER", &e.Initiated}} {
		v, ok := p.fields[field{in, d.name}]
		if !ok {
			continue
		}
		var err error
		if *d.to, err = p.date(v, d.name); err != nil {
			return err
		}
	}
	if e.Booked == "" {
		return e.Place.In(booked).Refuse("the entry has no date", "", "YYYYMMDD", statement.Correct)
	}
	if e.Status == statement.Pending {
		e.Booked, e.Initiated = "", e.Booked
	}
	return nil
}

// amounts reads what an entry is in its currency, which is the statement's
// unless it has a CURRENCY of its own. ORIGCURRENCY says what the amount was
// before the bank turned it into the statement's.
func (p *parser) amounts(e *statement.Entry, in string) error {
	c := p.report.statement.Currency
	for _, name := range [...]string{"CURRENCY", "ORIGCURRENCY"} {
		v := p.fields[field{name, "CURSYM"}]
		if v.text == "" {
			continue
		}
		own, err := money.Parse(strings.ToUpper(v.text))
		if err != nil {
			return p.where(v.at).In(name).In("CURSYM").Refuse("the currency is unknown", v.text, "an ISO 4217 code", statement.Correct)
		}
		rate := strings.Replace(p.fields[field{name, "CURRATE"}].text, ",", ".", 1)
		if strings.Trim(rate, "0123456789.") == "" && len(rate) <= 24 {
			e.Original.Rate = rate
		}
		if name == "CURRENCY" {
			c = own
		}
	}
	v := p.fields[field{in, "TRNAMT"}]
	a, err := amount(v.text, c)
	if err != nil {
		at := e.Place
		if v.text != "" {
			at.Line, at.Column = v.at.Line, v.at.Column
		}
		return at.In("TRNAMT").Refuse("the amount cannot be read", v.text, "a decimal such as -12.50, for "+c.String(), statement.Correct)
	}
	e.Amount, e.Direction = a, statement.Inflow
	if a.Sign() < 0 {
		e.Amount, e.Direction = a.Neg(), statement.Outflow
	}
	return nil
}

// amount reads a decimal with a point or a comma. OFX groups nothing, so a
// single one of them is the decimal sign whatever stands behind it.
func amount(text string, c money.Currency) (money.Amount, error) {
	w, err := decimal.Read(text)
	if err != nil {
		return money.Amount{}, err
	}
	sign := w.Decimal()
	if sign == decimal.Either {
		sign = decimal.Point
		if strings.Contains(w.Body, ",") {
			sign = decimal.Comma
		}
	}
	if sign == decimal.None {
		sign = decimal.Point
	}
	return w.Amount(sign, c)
}

// balance yields the LEDGERBAL or AVAILBAL that ends here. Some banks send one
// that is empty.
func (p *parser) balance(level statement.Level) error {
	if p.report == nil {
		return nil
	}
	if err := p.open(); err != nil {
		return err
	}
	in, at := p.top(), p.where(p.start)
	v := p.fields[field{in, "BALAMT"}]
	if v.text == "" {
		return p.emit(&statement.Note{Place: at, Topic: statement.Skipped, Text: "the balance has no amount"})
	}
	a, err := amount(v.text, p.report.statement.Currency)
	if err != nil {
		return p.where(v.at).In("BALAMT").Refuse("the balance cannot be read", v.text, "a decimal such as -12.50, for "+p.report.statement.Currency.String(), statement.Correct)
	}
	b := &statement.Balance{Place: at, Level: level, Amount: a}
	if b.Date, err = p.date(p.fields[field{in, "DTASOF"}], "DTASOF"); err != nil {
		return err
	}
	return p.emit(b)
}

// status notes what the bank says went wrong with its answer.
func (p *parser) status() error {
	severity := p.fields[field{"STATUS", "SEVERITY"}]
	code, message := p.fields[field{"STATUS", "CODE"}].text, p.fields[field{"STATUS", "MESSAGE"}].text
	for name := range p.fields {
		if name.in == "STATUS" {
			delete(p.fields, name)
		}
	}
	if !strings.EqualFold(severity.text, "ERROR") {
		return nil
	}
	return p.emit(&statement.Note{Place: p.at(severity.at), Topic: statement.Doubt,
		Text: "the bank reports error " + statement.Quote(code) + " " + statement.Quote(message)})
}
