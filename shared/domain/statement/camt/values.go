package camt

import (
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/decimal"
	"github.com/robotmoney/mcp/shared/domain/statement/markup"
)

// amount reads an element's text and its attribute Ccy.
func amount(v view, base statement.Place, names ...string) (money.Amount, error) {
	n := v.get(names...)
	if !n.ok() {
		return money.Amount{}, v.place(base, names...).Refuse("the amount is missing", "", "an amount with its currency", statement.Correct)
	}
	code := n.t.nodes[n.i].currency
	c, err := money.Parse(code)
	if err != nil {
		return money.Amount{}, v.place(base, names...).Refuse("the currency is unknown", code, "an ISO 4217 code in the attribute Ccy", statement.Correct)
	}
	a, err := decimal.Parse(n.text(), decimal.Point, c)
	if err != nil || a.Sign() < 0 {
		return money.Amount{}, v.place(base, names...).Refuse("the amount cannot be read", n.text(), "digits with at most one decimal point, for "+code, statement.Correct)
	}
	return a, nil
}

// direction reads CdtDbtInd of an element.
func direction(v view, base statement.Place) (statement.Direction, error) {
	switch text := v.text("CdtDbtInd"); text {
	case "CRDT":
		return statement.Inflow, nil
	case "DBIT":
		return statement.Outflow, nil
	default:
		return "", v.place(base, "CdtDbtInd").Refuse("the direction cannot be read", text, "CRDT or DBIT", statement.Correct)
	}
}

// date reads a choice of Dt and DtTm, none when there is neither.
func date(v view, base statement.Place, name string) (statement.Date, error) {
	n := v.get(name)
	text := either(n.text("Dt"), n.text("DtTm"))
	if text == "" {
		text = n.text()
	}
	if text == "" {
		return "", nil
	}
	d, err := statement.ISODate(text)
	if err != nil {
		return "", v.place(base, name).Refuse("the date cannot be read", text, "YYYY-MM-DD", statement.Correct)
	}
	return d, nil
}

var levels = map[string]statement.Level{
	"OPBD": statement.Opening, "PRCD": statement.Previous, "CLBD": statement.Closing,
	"CLAV": statement.Available, "ITAV": statement.Available, "FWAV": statement.Forward,
}

// balance reads a Bal. An interim one begins or ends a page: it is the opening
// balance when there was none before it.
func (p *parser) balance(tok *markup.Token) error {
	at := p.at(tok.At).In("Bal")
	p.entry.reset("", tok.At)
	if err := p.grow(&p.entry, 0, tok); err != nil {
		return err
	}
	v := p.entry.root().get("Bal")
	code := either(v.text("Tp", "CdOrPrtry", "Cd"), either(v.text("Tp", "CdOrPrtry", "Prtry"), v.text("Tp", "Cd")))
	b := &statement.Balance{Place: at, Level: levels[code]}
	switch {
	case code == "ITBD":
		b.Page, b.Level = true, statement.Opening
		if p.opened {
			b.Level = statement.Closing
		}
	case b.Level == "":
		return p.emit(&statement.Note{Place: at, Topic: statement.Skipped, Text: "a balance of type " + statement.Quote(code) + " is not read"})
	}
	a, err := amount(v, at, "Amt")
	if err != nil {
		return err
	}
	d, err := direction(v, at)
	if err != nil {
		return err
	}
	if b.Amount = a; d == statement.Outflow {
		b.Amount = a.Neg()
	}
	if b.Date, err = date(v, at, "Dt"); err != nil {
		return err
	}
	p.opened = p.opened || b.Level == statement.Opening || b.Level == statement.Previous
	return p.emit(b)
}

// status reads Sts, which is a code of its own from version 04 on.
func status(v view, base statement.Place) (statement.Status, error) {
	code := either(v.text("Sts", "Cd"), either(v.text("Sts", "Prtry"), v.text("Sts")))
	switch strings.ToUpper(code) {
	case "BOOK":
		return statement.Posted, nil
	case "PDNG", "FUTR":
		return statement.Pending, nil
	case "INFO":
		return statement.Informational, nil
	}
	return "", v.place(base, "Sts").Refuse("the entry's status cannot be read", code, "BOOK, PDNG, FUTR or INFO", statement.Correct)
}

// kind is the bank transaction code.
func kind(v view) string {
	d := v.get("BkTxCd", "Domn")
	if code := d.text("Cd"); code != "" {
		return strings.Trim(code+"-"+d.text("Fmly", "Cd")+"-"+d.text("Fmly", "SubFmlyCd"), "-")
	}
	return v.text("BkTxCd", "Prtry", "Cd")
}

// charges reads Chrgs of either form: with records, or an amount each.
func charges(v view, base statement.Place) (found []statement.Charge, err error) {
	one := func(c view) error {
		if !c.get("Amt").ok() {
			return nil
		}
		at := base.In("Chrgs")
		a, err := amount(c, at, "Amt")
		if err != nil || a.Sign() == 0 {
			return err
		}
		d := statement.Outflow // a charge costs, unless it says otherwise
		if c.text("CdtDbtInd") != "" {
			if d, err = direction(c, at); err != nil {
				return err
			}
		}
		found = append(found, statement.Charge{Amount: a, Direction: d, Included: truth(c.text("ChrgInclInd"))})
		return nil
	}
	err = v.each("Chrgs", func(c view) error {
		if c.get("Rcrd").ok() {
			return c.each("Rcrd", one)
		}
		return one(c)
	})
	return found, err
}

// exchange finds what the money was in another currency than c.
func exchange(v view, base statement.Place, c money.Currency) (statement.Exchange, error) {
	var x statement.Exchange
	details := v.get("AmtDtls")
	for _, name := range [...]string{"InstdAmt", "TxAmt", "CntrValAmt", "AnncdPstngAmt"} {
		n := details.get(name)
		if rate := n.text("CcyXchg", "XchgRate"); rate != "" && x.Rate == "" {
			if strings.Trim(rate, "0123456789.") != "" || strings.Count(rate, ".") > 1 || len(rate) > 24 {
				return x, v.place(base, "AmtDtls", name, "CcyXchg", "XchgRate").Refuse("the rate cannot be read", rate, "a decimal", statement.Correct)
			}
			x.Rate = rate
		}
		if !n.get("Amt").ok() || !x.Amount.Currency().IsZero() {
			continue
		}
		a, err := amount(v, base, "AmtDtls", name, "Amt")
		if err != nil {
			return x, err
		}
		if a.Currency() != c {
			x.Amount = a
		}
	}
	return x, nil
}

func truth(text string) bool { return text == "true" || text == "1" }
