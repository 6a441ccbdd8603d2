// Package camt reads ISO 20022 statements and notifications: camt.053 and
// camt.054, versions 02 to 13. What changed between them is read both ways,
// whichever version a file says it is: banks mix them.
package camt

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/markup"
)

// The versions that are read. A later one may mean something else by a name.
const minVersion, maxVersion = 2, 13

// Read yields what the file says. An entry that books several payments is
// yielded as those payments when they have amounts that add up to it, else as
// one.
func Read(src io.Reader) statement.Items {
	return func(yield func(statement.Item, error) bool) {
		p := &parser{yield: yield}
		if err := p.run(src); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped is that whoever reads wants no more.
var errStopped = errors.New("stopped")

// parser is where in the document we are.
type parser struct {
	yield func(statement.Item, error) bool
	xml   *markup.Reader
	space string
	stack []int

	form    form
	path    string // of the statement
	reports int
	current *statement.Statement // nil until it was yielded
	head    tree
	opened  bool // an opening balance was there
	entries int
	entry   tree
	part    tree
}

// form is how one kind of report names its parts.
type form struct {
	kind                        statement.Kind
	message, report, pages, say string
}

var forms = []form{
	{statement.Final, "BkToCstmrStmt", "Stmt", "StmtPgntn", "AddtlStmtInf"},
	{statement.Notification, "BkToCstmrDbtCdtNtfctn", "Ntfctn", "NtfctnPgntn", "AddtlNtfctnInf"},
}

func (p *parser) emit(item statement.Item) error {
	if !p.yield(item, nil) {
		return errStopped
	}
	return nil
}

// at gives a place the path of the statement.
func (p *parser) at(where statement.Place) statement.Place {
	where.Path = p.path
	return where
}

// run reads the document, which may lie in an envelope.
func (p *parser) run(src io.Reader) error {
	xml, err := markup.Open(src)
	if err != nil {
		return err
	}
	p.xml = xml
	for found := false; ; {
		tok, err := xml.Next()
		switch {
		case errors.Is(err, io.EOF) && !found:
			return statement.Place{Line: 1}.Refuse("there is no Document in the file", "", "a camt.053 or camt.054", statement.Correct)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case tok.Kind == markup.Start && tok.Name == "Document":
			found = true
			if err := p.document(tok); err != nil {
				return err
			}
		}
	}
}

func (p *parser) document(tok *markup.Token) error {
	p.space, p.path = tok.Space, "Document"
	if err := p.version(tok); err != nil {
		return err
	}
	reports, at := p.reports, p.at(tok.At)
	err := p.children(func(tok *markup.Token) error {
		for _, f := range forms {
			if f.message == tok.Name {
				p.form = f
				return p.message()
			}
		}
		return p.at(tok.At).Refuse("the document is no statement", tok.Name, "BkToCstmrStmt or BkToCstmrDbtCdtNtfctn", "Send camt.053 or camt.054.")
	})
	if err == nil && p.reports == reports {
		err = at.Refuse("the document has no statement", "", "Stmt or Ntfctn", statement.Correct)
	}
	return err
}

// version refuses what the namespace says is another message. A file without a
// namespace says nothing, and its elements are looked at.
func (p *parser) version(tok *markup.Token) error {
	if tok.Space == "" {
		return nil
	}
	name := tok.Space[strings.LastIndexByte(tok.Space, ':')+1:]
	for _, message := range []string{"camt.053.001.", "camt.054.001."} {
		if digits, ok := strings.CutPrefix(name, message); ok {
			if n, ok := statement.Number(digits); ok && n >= minVersion && n <= maxVersion {
				return nil
			}
		}
	}
	return p.at(tok.At).Refuse("the document is another message", name, "camt.053 or camt.054 in versions 001.02 to 001.13",
		"Export the statement as camt.053.001.02 or camt.053.001.08.")
}

// children calls do for each child of the element that has just begun. do reads
// it to its end.
func (p *parser) children(do func(*markup.Token) error) error {
	from := p.xml.Depth()
	for {
		tok, err := p.xml.Next()
		switch {
		case err != nil:
			return err
		case tok.Kind == markup.End && p.xml.Depth() < from:
			return nil
		case tok.Kind == markup.Start && tok.Space != p.space:
			err = p.skip()
		case tok.Kind == markup.Start:
			err = do(tok)
		}
		if err != nil {
			return err
		}
	}
}

// skip reads the element that has just begun to its end.
func (p *parser) skip() error {
	for from := p.xml.Depth(); ; {
		if tok, err := p.xml.Next(); err != nil || tok.Kind == markup.End && p.xml.Depth() < from {
			return err
		}
	}
}

func (p *parser) message() error {
	return p.children(func(tok *markup.Token) error {
		if tok.Name != p.form.report {
			return p.skip()
		}
		return p.report(tok)
	})
}

// report reads one statement. What names its account comes before everything
// else of it.
func (p *parser) report(tok *markup.Token) error {
	p.reports++
	p.path = "Document/" + p.form.message + "/" + p.form.report + "[" + strconv.Itoa(p.reports) + "]"
	p.current, p.opened, p.entries = nil, false, 0
	at := p.at(tok.At)
	p.head.reset(p.form.report, tok.At)
	err := p.children(func(tok *markup.Token) error {
		switch tok.Name {
		case "Bal", "Ntry", p.form.say:
			if err := p.begin(at); err != nil {
				return err
			}
		}
		switch tok.Name {
		case "Bal":
			return p.balance(tok)
		case "Ntry":
			return p.readEntry(tok)
		case p.form.say:
			return p.narrative(tok)
		case "Id", "Acct", "FrToDt", "ElctrncSeqNb", "LglSeqNb", p.form.pages:
			if p.current != nil {
				return p.at(tok.At).In(tok.Name).Refuse("what names the statement comes after its entries", "", tok.Name+" before Bal and Ntry", statement.Correct)
			}
			return p.grow(&p.head, 0, tok)
		}
		return p.skip()
	})
	if err != nil {
		return err
	}
	return p.begin(at)
}

// begin yields the statement, once.
func (p *parser) begin(at statement.Place) error {
	if p.current != nil {
		return nil
	}
	v := p.head.root()
	s := &statement.Statement{Place: at, Kind: p.form.kind, ID: v.text("Id"), Number: p.number(v)}
	var err error
	if s.Account, err = p.account(v, at); err != nil {
		return err
	}
	if code := v.text("Acct", "Ccy"); code != "" {
		if s.Currency, err = money.Parse(code); err != nil {
			return v.place(at, "Acct", "Ccy").Refuse("the currency is unknown", code, "an ISO 4217 code", statement.Correct)
		}
	}
	if s.From, err = date(v.get("FrToDt"), at.In("FrToDt"), "FrDtTm"); err != nil {
		return err
	}
	if s.To, err = date(v.get("FrToDt"), at.In("FrToDt"), "ToDtTm"); err != nil {
		return err
	}
	p.current = s
	return p.emit(s)
}

// number is the statement's number among the account's, with its page.
func (p *parser) number(v view) string {
	number := either(v.text("LglSeqNb"), v.text("ElctrncSeqNb"))
	if page := v.text(p.form.pages, "PgNb"); page != "" && (page != "1" || v.text(p.form.pages, "LastPgInd") != "true") {
		number += "/" + page
	}
	return number
}

// account is the one the statement is of. A statement of no account could be
// booked to any.
func (p *parser) account(v view, at statement.Place) (statement.Account, error) {
	a := v.get("Acct")
	account := statement.Account{
		ID:   accountID(a),
		Bank: bankID(a.get("Svcr", "FinInstnId")),
		Type: either(a.text("Tp", "Cd"), a.text("Tp", "Prtry")),
		Name: either(a.text("Nm"), a.text("Ownr", "Nm")),
	}
	if account.ID == "" {
		return account, v.place(at, "Acct", "Id").Refuse("the statement names no account", "", "Acct/Id/IBAN or Acct/Id/Othr/Id", statement.Correct)
	}
	return account, nil
}

func accountID(a view) string {
	id := a.get("Id")
	return strings.ReplaceAll(either(id.text("IBAN"), either(id.text("Othr", "Id"), id.text("PrtryAcct", "Id"))), " ", "")
}

func bankID(v view) string {
	return either(either(v.text("BICFI"), v.text("BIC")), either(v.text("ClrSysMmbId", "MmbId"), v.text("Othr", "Id")))
}

// either is the first of two texts that is one.
func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (p *parser) narrative(tok *markup.Token) error {
	at := p.at(tok.At).In(tok.Name)
	p.entry.reset("", tok.At)
	if err := p.grow(&p.entry, 0, tok); err != nil {
		return err
	}
	if text := p.entry.root().text(tok.Name); text != "" {
		return p.emit(&statement.Note{Place: at, Topic: statement.Narrative, Text: text})
	}
	return nil
}
