package csv

import (
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/decimal"
)

// The words for the ways money goes, as folded. Signs fold to nothing and are
// looked at first.
var (
	outWords = []string{"d", "s", "dr", "db", "debit", "dbit", "debet", "debito", "soll", "af", "out", "outflow", "money out", "withdrawal", "cargo", "debe", "saida", "belastung"}
	inWords  = []string{"c", "h", "cr", "credit", "crdt", "credito", "haben", "bij", "in", "inflow", "money in", "deposit", "abono", "haber", "entrada", "gutschrift"}
)

// direction reads a word or letter.
func (m *Mapping) direction(cell string) (statement.Direction, bool) {
	folded := fold(cell)
	switch {
	case slices.Contains(m.Outflows, cell):
		return statement.Outflow, true
	case slices.Contains(m.Inflows, cell):
		return statement.Inflow, true
	case cell == "-" || slices.Contains(outWords, folded):
		return statement.Outflow, true
	case cell == "+" || slices.Contains(inWords, folded):
		return statement.Inflow, true
	}
	return "", false
}

// marks are the signs of currencies that stand for one. That of the dollar stands
// for many, and of yen and krona for several.
var marks = map[string]string{
	"€": "EUR", "£": "GBP", "$": "USD", "US$": "USD", "C$": "CAD", "CA$": "CAD", "A$": "AUD", "AU$": "AUD", "NZ$": "NZD",
	"HK$": "HKD", "S$": "SGD", "R$": "BRL", "Fr.": "CHF", "SFr.": "CHF", "zł": "PLN", "₹": "INR", "₺": "TRY", "Kč": "CZK", "Ft": "HUF",
}

// dollars are the currencies whose own people write a dollar sign alone.
var dollars = []string{"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "ARS", "CLP", "COP", "TWD", "BSD", "BBD", "BMD", "BZD", "FJD", "JMD", "KYD",
	"LRD", "NAD", "SRD", "TTD", "UYU", "XCD"}

// marked is the currency of a mark in a column of the currency c, which may be none.
func marked(mark string, c money.Currency) (money.Currency, bool) {
	if mark == "$" && slices.Contains(dollars, c.String()) {
		return c, true
	}
	code := marks[mark]
	if code == "" {
		code = strings.ToUpper(mark)
	}
	found, err := money.Parse(code)
	return found, err == nil
}

// status reads the column of it; a file without one has what is booked.
func (p *parser) status(row *record) (statement.Status, error) {
	cell := p.get(row, Status)
	folded := fold(cell)
	switch {
	case slices.Contains([]string{"", "booked", "book", "posted", "completed", "cleared", "settled", "gebucht", "umsatz gebucht", "comptabilise", "geboekt", "contabilizado", "executed"}, folded):
		return statement.Posted, nil
	case slices.Contains([]string{"pending", "pdng", "authorised", "authorized", "vorgemerkt", "umsatz vorgemerkt", "en attente", "in behandeling", "pendiente", "pendente"}, folded):
		return statement.Pending, nil
	case slices.Contains([]string{"reverted", "declined", "failed", "cancelled", "canceled", "rejected", "storniert", "abgelehnt"}, folded):
		return statement.Informational, nil
	}
	return "", p.where(row, p.at[Status]).Refuse("the status is unknown", cell, "a word such as booked, pending or declined",
		"Give a mapping without the column, or correct the file.")
}

// currency is the one the row's amounts are in: of its own column, else of a mark
// with the amount, else of the file.
func (p *parser) currency(row *record) (money.Currency, error) {
	if cell := p.get(row, Currency); cell != "" {
		c, ok := marked(cell, money.Currency{})
		if !ok {
			return c, p.where(row, p.at[Currency]).Refuse("the currency is unknown", cell, "an ISO 4217 code", statement.Correct)
		}
		return c, nil
	}
	file, _ := money.Parse(p.Currency)
	for _, f := range [...]Field{Amount, Debit, Credit} {
		w, err := decimal.Read(p.get(row, f))
		if err != nil || w.Mark == "" {
			continue
		}
		if c, ok := marked(w.Mark, file); ok {
			return c, nil
		}
	}
	if file.IsZero() {
		return file, row.at.Refuse("nothing says which currency the amounts are in", "", "a column, a header such as Amount (EUR), or a mark with the amounts",
			"Give a mapping with the currency.")
	}
	return file, nil
}

// amount reads a cell.
func (p *parser) amount(row *record, i int, c money.Currency) (a money.Amount, err error) {
	cell := row.cell(i)
	sign := decimal.Point
	if p.Decimal == "," {
		sign = decimal.Comma
	}
	w, err := decimal.Read(cell)
	if err == nil {
		a, err = w.Amount(sign, c)
	}
	own, known := marked(w.Mark, c)
	switch {
	case err == nil && w.Mark != "" && known && own != c:
		return a, p.where(row, i).Refuse("the amount has another currency's mark", cell, c.String(), statement.Correct)
	case err == nil && (w.Mark == "" || known):
		return a, nil
	}
	return a, p.where(row, i).Refuse("the amount cannot be read", cell, "an amount such as 1234"+string(rune(sign))+"50, for "+c.String(), statement.Correct)
}

// movement reads how much went which way, in whichever columns say it.
func (p *parser) movement(e *statement.Entry, row *record, c money.Currency) error {
	i, one := p.at[Amount]
	if !one {
		return p.columns(e, row, c)
	}
	a, err := p.amount(row, i, c)
	if err != nil {
		return err
	}
	negative := a.Sign() < 0
	e.Amount, e.Direction = a, statement.Inflow
	if negative {
		e.Amount, e.Direction = a.Neg(), statement.Outflow
	}
	if p.Inverted {
		e.Direction = e.Direction.Turned()
	}
	j, apart := p.at[Sign]
	if !apart {
		return nil
	}
	d, ok := p.direction(row.cell(j))
	if !ok {
		return p.where(row, j).Refuse("the direction cannot be read", row.cell(j), "a word such as debit or credit, S or H", "Give a mapping with what stands for money out and in, or correct the file.")
	}
	if negative && d == statement.Inflow {
		return p.where(row, j).Refuse("the amount's sign says the other way than", row.cell(j), "one direction", statement.Correct)
	}
	e.Direction = d
	return nil
}

// columns reads a movement of the columns of debits and credits, of which one
// holds something.
func (p *parser) columns(e *statement.Entry, row *record, c money.Currency) error {
	var found [2]money.Amount
	for k, f := range [...]Field{Debit, Credit} {
		found[k] = money.Zero(c)
		i, ok := p.at[f]
		if !ok || row.cell(i) == "" {
			continue
		}
		var err error
		if found[k], err = p.amount(row, i, c); err != nil {
			return err
		}
	}
	out, in := found[0], found[1]
	if out.Sign() < 0 {
		out = out.Neg()
	}
	filled := p.get(row, Debit) != "" || p.get(row, Credit) != ""
	switch {
	case !filled:
		return row.at.Refuse("the row has neither a debit nor a credit", "", "an amount in one of them", statement.Correct)
	case in.Sign() < 0:
		return p.where(row, p.at[Credit]).Refuse("the credit is negative", p.get(row, Credit), "an amount without a minus", statement.Correct)
	case out.Sign() != 0 && in.Sign() != 0:
		return row.at.Refuse("the row has a debit and a credit", "", "an amount in one of them", statement.Correct)
	case out.Sign() != 0:
		e.Amount, e.Direction = out, statement.Outflow
	default:
		e.Amount, e.Direction = in, statement.Inflow
	}
	return nil
}
