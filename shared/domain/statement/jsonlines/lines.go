package jsonlines

import (
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
)

// accountLine begins the statement of an account.
type accountLine struct {
	Type        string `json:"type"`
	Account     string `json:"account"` // its IBAN, number or address
	Currency    string `json:"currency"`
	Name        string `json:"name"`
	Bank        string `json:"bank"`
	Kind        string `json:"account_type"`
	StatementID string `json:"statement_id"`
	From        string `json:"from"`
	To          string `json:"to"`
}

func (p *parser) account(line string, names []string, at statement.Place) error {
	var l accountLine
	if err := decode(line, names, at, &l); err != nil {
		return err
	}
	if l.Account == "" {
		return at.In("account").Refuse("the account is missing", "", "its IBAN or number", statement.Correct)
	}
	s := &statement.Statement{Place: at, Kind: statement.Final, ID: l.StatementID,
		Account: statement.Account{ID: l.Account, Bank: l.Bank, Type: l.Kind, Name: l.Name}}
	var err error
	if l.Currency != "" {
		if s.Currency, err = currency(l.Currency, at); err != nil {
			return err
		}
	}
	if s.From, err = date(l.From, "from", at); err != nil {
		return err
	}
	if s.To, err = date(l.To, "to", at); err != nil {
		return err
	}
	p.current = s
	return p.emit(s)
}

// under makes the statement of an account that a line names itself, and says
// which currency its amounts are in.
func (p *parser) under(account, code string, at statement.Place) (money.Currency, error) {
	if account != "" && (p.current == nil || p.current.Account.ID != account) {
		s := &statement.Statement{Place: at, Kind: statement.Final, Account: statement.Account{ID: account}}
		p.current = s
		if err := p.emit(s); err != nil {
			return money.Currency{}, err
		}
	}
	switch {
	case p.current == nil:
		return money.Currency{}, at.In("account").Refuse("nothing says which account the line is of", "", "an account in it, or a line of type account before it", statement.Correct)
	case code != "":
		return currency(code, at)
	case p.current.Currency.IsZero():
		return money.Currency{}, at.In("currency").Refuse("nothing says which currency the amount is in", "", "a currency in the line or its account's", statement.Correct)
	}
	return p.current.Currency, nil
}

type balanceLine struct {
	Type     string `json:"type"`
	Account  string `json:"account"`
	Level    string `json:"level"` // opening, closing, ledger or available; ledger when it is missing
	Amount   number `json:"amount"`
	Currency string `json:"currency"`
	Date     string `json:"date"`
}

var levels = map[string]statement.Level{
	"": statement.Ledger, "ledger": statement.Ledger, "opening": statement.Opening, "closing": statement.Closing, "available": statement.Available,
}

func (p *parser) balance(line string, names []string, at statement.Place) error {
	var l balanceLine
	if err := decode(line, names, at, &l); err != nil {
		return err
	}
	b := &statement.Balance{Place: at, Level: levels[l.Level]}
	if b.Level == "" {
		return at.In("level").Refuse("the level is unknown", l.Level, "opening, closing, ledger or available", statement.Correct)
	}
	c, err := p.under(l.Account, l.Currency, at)
	if err != nil {
		return err
	}
	if b.Amount, err = money.ParseSigned(string(l.Amount), c); err != nil {
		return at.In("amount").Refuse("the amount cannot be read", string(l.Amount), "a decimal such as 12.50 or -12.50, for "+c.String(), statement.Correct)
	}
	if b.Date, err = date(l.Date, "date", at); err != nil {
		return err
	}
	return p.emit(b)
}

type transactionLine struct {
	Type         string `json:"type"`
	Account      string `json:"account"`
	ID           string `json:"id"` // whoever keeps the account gave it
	Amount       number `json:"amount"`
	Currency     string `json:"currency"`
	Direction    string `json:"direction"` // inflow or outflow; the amount's sign when it is missing
	Date         string `json:"date"`
	ValueDate    string `json:"value_date"`
	Status       string `json:"status"` // posted or pending; posted when it is missing
	Reversal     bool   `json:"reversal"`
	Description  string `json:"description"`
	Counterparty string `json:"counterparty"`
	TheirAccount string `json:"counterparty_account"`
	TheirBank    string `json:"counterparty_bank"`
	EndToEnd     string `json:"end_to_end_id"`
	Kind         string `json:"kind"`
}

func (p *parser) transaction(line string, names []string, at statement.Place) error {
	var l transactionLine
	if err := decode(line, names, at, &l); err != nil {
		return err
	}
	c, err := p.under(l.Account, l.Currency, at)
	if err != nil {
		return err
	}
	e := &statement.Entry{Place: at, Reversal: l.Reversal, Memo: l.Description, Type: l.Kind,
		Refs:  statement.References{Bank: l.ID, EndToEnd: l.EndToEnd},
		Party: statement.Party{Name: l.Counterparty, Account: l.TheirAccount, Bank: l.TheirBank}}
	if err := move(e, l, c, at); err != nil {
		return err
	}
	if e.Booked, err = date(l.Date, "date", at); err != nil {
		return err
	}
	if e.Value, err = date(l.ValueDate, "value_date", at); err != nil {
		return err
	}
	if e.Booked == "" {
		return at.In("date").Refuse("the transaction has no date", "", "YYYY-MM-DD", statement.Correct)
	}
	switch l.Status {
	case "", "posted":
		e.Status = statement.Posted
	case "pending":
		e.Status = statement.Pending
	default:
		return at.In("status").Refuse("the status is unknown", l.Status, "posted or pending", statement.Correct)
	}
	return p.emit(e)
}

// move reads amount and direction. With a direction there is no sign: two that
// disagree would be read as one thing here and another elsewhere.
func move(e *statement.Entry, l transactionLine, c money.Currency, at statement.Place) error {
	a, err := money.ParseSigned(string(l.Amount), c)
	if err != nil {
		return at.In("amount").Refuse("the amount cannot be read", string(l.Amount), "a decimal such as 12.50, for "+c.String(), statement.Correct)
	}
	switch d := statement.Direction(l.Direction); {
	case l.Direction == "" && a.Sign() < 0:
		e.Amount, e.Direction = a.Neg(), statement.Outflow
	case l.Direction == "":
		e.Amount, e.Direction = a, statement.Inflow
	case d != statement.Inflow && d != statement.Outflow:
		return at.In("direction").Refuse("the direction is unknown", l.Direction, "inflow or outflow", statement.Correct)
	case a.Sign() < 0:
		return at.In("amount").Refuse("the amount has a sign besides its direction", string(l.Amount), "an amount of zero or more", statement.Correct)
	default:
		e.Amount, e.Direction = a, d
	}
	return nil
}
