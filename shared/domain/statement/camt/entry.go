package camt

import (
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/markup"
)

// maxParts is how many payments one entry may book, and maxHeld how many bytes of
// text they may have. They are kept until their sum is known, which is the one
// thing here that grows with the file.
const (
	maxParts = 50_000
	maxHeld  = 24 << 20
)

// booking is an entry while it is read.
type booking struct {
	at    statement.Place
	base  *statement.Entry // what the entry itself says, once it is looked at
	parts []*statement.Entry
	sum   money.Amount // of the parts, as the account sees them
	whole bool         // every part has an amount in the entry's currency
	held  int          // bytes of the parts' texts
}

// readEntry reads an Ntry and yields what it books.
func (p *parser) readEntry(tok *markup.Token) error {
	p.entries++
	b := &booking{at: p.at(tok.At).In("Ntry[" + strconv.Itoa(p.entries) + "]"), whole: true}
	p.entry.reset("Ntry", tok.At)
	err := p.children(func(tok *markup.Token) error {
		if tok.Name != "NtryDtls" {
			return p.grow(&p.entry, 0, tok)
		}
		return p.children(func(tok *markup.Token) error {
			if tok.Name != "TxDtls" {
				return p.grow(&p.entry, 0, tok)
			}
			return p.readPart(b, tok)
		})
	})
	if err != nil {
		return err
	}
	if err := p.look(b); err != nil {
		return err
	}
	return p.book(b)
}

// look reads what the entry says of itself, once: before its first payment,
// which inherits it.
func (p *parser) look(b *booking) error {
	if b.base != nil {
		return nil
	}
	v := p.entry.root()
	e := &statement.Entry{Place: b.at, Reversal: truth(v.text("RvslInd")), Type: kind(v)}
	var err error
	if e.Amount, err = amount(v, b.at, "Amt"); err != nil {
		return err
	}
	if e.Direction, err = direction(v, b.at); err != nil {
		return err
	}
	if e.Status, err = status(v, b.at); err != nil {
		return err
	}
	if e.Booked, err = date(v, b.at, "BookgDt"); err != nil {
		return err
	}
	if e.Value, err = date(v, b.at, "ValDt"); err != nil {
		return err
	}
	if e.Status == statement.Posted && e.Booked == "" {
		e.Booked = e.Value
	}
	if e.Status == statement.Posted && e.Booked == "" {
		return b.at.In("BookgDt").Refuse("the booked entry has no date", "", "BookgDt or ValDt", statement.Correct)
	}
	if e.Charges, err = charges(v, b.at); err != nil {
		return err
	}
	if e.Original, err = exchange(v, b.at, e.Amount.Currency()); err != nil {
		return err
	}
	e.Refs.Bank = provided(v.text("AcctSvcrRef"))
	b.base, b.sum = e, money.Zero(e.Amount.Currency())
	return nil
}

// readPart reads one payment of an entry.
func (p *parser) readPart(b *booking, tok *markup.Token) error {
	if err := p.look(b); err != nil {
		return err
	}
	at := b.at.In("NtryDtls").In("TxDtls[" + strconv.Itoa(len(b.parts)+1) + "]")
	at.Line, at.Column = tok.At.Line, tok.At.Column
	p.part.reset("", tok.At)
	if err := p.grow(&p.part, 0, tok); err != nil {
		return err
	}
	if b.held += len(p.part.buf); len(b.parts) >= maxParts || b.held > maxHeld {
		return at.Refuse("the entry has too many payments", "", "at most "+strconv.Itoa(maxParts)+" with "+strconv.Itoa(maxHeld>>20)+" MB of text",
			"Ask the bank for entries of fewer payments.")
	}
	v := p.part.root().get("TxDtls")
	e := *b.base
	e.Place, e.Charges, e.Original = at, nil, statement.Exchange{}
	if v.text("CdtDbtInd") != "" {
		var err error
		if e.Direction, err = direction(v, at); err != nil {
			return err
		}
	}
	p.describe(&e, v)
	if err := p.price(b, &e, v); err != nil {
		return err
	}
	b.parts = append(b.parts, &e)
	return nil
}

// price reads a payment's own amount, charges and exchange, and adds it to the sum.
func (p *parser) price(b *booking, e *statement.Entry, v view) error {
	a, found, err := ownAmount(v, e.Place, b.base.Amount.Currency())
	if err != nil {
		return err
	}
	if e.Charges, err = charges(v, e.Place); err != nil {
		return err
	}
	if e.Original, err = exchange(v, e.Place, b.base.Amount.Currency()); err != nil {
		return err
	}
	if !found {
		b.whole = false
		return nil
	}
	e.Amount = a
	if b.sum, err = b.sum.Add(e.Signed()); err != nil {
		b.whole = false
	}
	return nil
}

// ownAmount is a payment's amount in the entry's currency, wherever the version
// puts it.
func ownAmount(v view, at statement.Place, c money.Currency) (money.Amount, bool, error) {
	for _, names := range [...][]string{{"Amt"}, {"AmtDtls", "TxAmt", "Amt"}, {"AmtDtls", "CntrValAmt", "Amt"}, {"AmtDtls", "InstdAmt", "Amt"}} {
		if !v.get(names...).ok() {
			continue
		}
		a, err := amount(v, at, names...)
		if err != nil || a.Currency() == c {
			return a, err == nil, err
		}
	}
	return money.Amount{}, false, nil
}

// book yields the entry, or its payments where they make it up.
func (p *parser) book(b *booking) error {
	v := p.entry.root()
	e, n := b.base, len(b.parts)
	info := v.text("AddtlNtryInf")
	switch {
	case n == 1:
		// The bank books the entry's amount; the payment's own may be before charges.
		one := b.parts[0]
		one.Place, one.Amount, one.Direction = e.Place, e.Amount, e.Direction
		if one.Charges == nil {
			one.Charges = e.Charges
		}
		if one.Original == (statement.Exchange{}) {
			one.Original = e.Original
		}
		inform(one, info)
		return p.emit(one)
	case n > 1 && b.whole && b.sum == e.Signed():
		for i, part := range b.parts {
			part.Batch = statement.Batch{Ref: either(e.Refs.Bank, v.text("Btch", "PmtInfId")), Part: i + 1, Parts: n, Booked: statement.BookedAs{Ref: e.Refs.Bank, Amount: e.Signed()}}
			inform(part, info)
			if err := p.emit(part); err != nil {
				return err
			}
		}
		return nil
	}
	e.Batch = statement.Batch{Ref: either(v.text("Btch", "PmtInfId"), v.text("Btch", "MsgId")), Parts: n}
	if count, ok := statement.Number(v.text("Btch", "NbOfTxs")); ok && n == 0 && count > 1 {
		e.Batch.Parts = count
	}
	inform(e, info)
	if err := p.emit(e); err != nil || n == 0 {
		return err
	}
	return p.emit(&statement.Note{Place: e.Place, Topic: statement.Doubt,
		Text: "the " + strconv.Itoa(n) + " payments of the entry have no amounts that add up to it: it is taken as one"})
}

// inform adds the bank's words about the entry.
func inform(e *statement.Entry, info string) {
	if e.Memo == "" {
		e.Memo = info
		return
	}
	if info != "" && e.Raw == "" {
		e.Raw = info
	}
}

// describe reads a payment's references, parties and purpose.
func (p *parser) describe(e *statement.Entry, v view) {
	r := v.get("Refs")
	e.Refs = statement.References{
		Bank:       either(provided(r.text("AcctSvcrRef")), e.Refs.Bank),
		EndToEnd:   provided(r.text("EndToEndId")),
		Customer:   provided(either(r.text("InstrId"), r.text("PmtInfId"))),
		Instructed: provided(either(r.text("TxId"), r.text("UETR"))),
		Mandate:    provided(r.text("MndtId")),
		Check:      r.text("ChqNb"),
	}
	if own := kind(v); own != "" {
		e.Type = own
	}
	p.party(e, v)
	remittance := v.get("RmtInf")
	var lines []string
	_ = remittance.each("Ustrd", func(u view) error {
		lines = append(lines, u.text())
		return nil
	})
	_ = remittance.each("Strd", func(s view) error {
		e.Refs.Creditor = either(e.Refs.Creditor, s.text("CdtrRefInf", "Ref"))
		lines = append(lines, s.text("AddtlRmtInf"))
		return nil
	})
	e.Memo = statement.Blanks(strings.Join(lines, " "))
	e.Raw = v.text("AddtlTxInf")
	if e.Memo == "" {
		e.Memo, e.Raw = e.Raw, ""
	}
	e.Memo = either(e.Memo, e.Refs.Creditor)
	if date, err := statement.ISODate(either(v.text("RltdDts", "AccptncDtTm"), v.text("RltdDts", "TxDtTm"))); err == nil {
		e.Initiated = date
	}
}

// provided drops what banks write where the payer gave nothing.
func provided(ref string) string {
	if strings.EqualFold(ref, "NOTPROVIDED") || strings.EqualFold(ref, "NONREF") {
		return ""
	}
	return ref
}

// party finds the other side. In a reversal the two keep the parts they had in
// what is taken back; some banks turn them, so a side that has our own account
// is never the other one.
func (p *parser) party(e *statement.Entry, v view) {
	theirs := "Cdtr"
	if (e.Direction == statement.Inflow) != e.Reversal {
		theirs = "Dbtr"
	}
	own := p.current.Account.ID
	e.Party = side(v, theirs)
	if e.Party != (statement.Party{}) && e.Party.Account != own {
		return
	}
	e.Party = statement.Party{}
	if other := side(v, turned[theirs]); other.Account != "" && other.Account != own {
		e.Party = other
	}
}

var turned = map[string]string{"Cdtr": "Dbtr", "Dbtr": "Cdtr"}

// side reads one of the two, whose name lies one level deeper from version 08 on.
func side(v view, role string) statement.Party {
	parties := v.get("RltdPties")
	who := parties.get(role)
	last := parties.get("Ultmt" + role)
	name := either(who.text("Pty", "Nm"), either(who.text("Nm"), who.text("Agt", "FinInstnId", "Nm")))
	return statement.Party{
		Name:    either(name, either(last.text("Pty", "Nm"), last.text("Nm"))),
		Account: accountID(parties.get(role + "Acct")),
		Bank:    bankID(v.get("RltdAgts", role+"Agt", "FinInstnId")),
	}
}
