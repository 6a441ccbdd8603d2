// Package jsonlines reads our own format, one JSON object a line, for data that
// comes in no bank's. A line is strict: names nobody knows are refused, as are
// names that are there twice.
//
//	{"type":"account","account":"DE02…","currency":"EUR","name":"Main"}
//	{"type":"balance","level":"opening","amount":"10.00","date":"2025-04-01"}
//	{"type":"transaction","amount":"12.50","direction":"outflow","date":"2025-04-02","description":"Rent"}
//	{"type":"invoice",…}
//
// What follows an account's line is of that account, unless it names another.
// Lines of type counterparty, invoice and obligation are passed on as they are.
package jsonlines

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/text"
)

// maxLine bounds a line.
const maxLine = 64 << 10

// passed are the types whose lines are yielded as records.
var passed = []string{"counterparty", "invoice", "obligation"}

// Read yields what the lines say.
func Read(src io.Reader) statement.Items {
	return func(yield func(statement.Item, error) bool) {
		p := &parser{yield: yield}
		if err := p.run(text.Exact(src, text.UTF8)); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped is that whoever reads wants no more.
var errStopped = errors.New("stopped")

type parser struct {
	yield   func(statement.Item, error) bool
	current *statement.Statement
	lines   int
}

func (p *parser) emit(item statement.Item) error {
	if !p.yield(item, nil) {
		return errStopped
	}
	return nil
}

func (p *parser) run(t *text.Reader) error {
	for {
		at := t.Place()
		at.Column = 0
		line, err := t.Line(maxLine)
		if errors.Is(err, io.EOF) {
			if p.lines == 0 {
				return at.Refuse("the file has no line", "", `lines such as {"type":"transaction",…}`, statement.Correct)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		p.lines++
		if err := p.line(line, at); err != nil {
			return err
		}
	}
}

// line reads one.
func (p *parser) line(line string, at statement.Place) error {
	names, err := once(line)
	if err != nil {
		return at.Refuse("the line is no JSON object that is read: "+err.Error(), line, "one JSON object in the line, each name once", statement.Correct)
	}
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal([]byte(line), &kind); err != nil {
		return at.Refuse("the line's type cannot be read", line, `a text, as in {"type":"transaction",…}`, statement.Correct)
	}
	at.Path = kind.Type
	switch {
	case kind.Type == "account":
		return p.account(line, names, at)
	case kind.Type == "balance":
		return p.balance(line, names, at)
	case kind.Type == "transaction":
		return p.transaction(line, names, at)
	case slices.Contains(passed, kind.Type):
		return p.emit(&statement.Record{Place: at, Type: kind.Type, Object: []byte(line)})
	}
	return at.In("type").Refuse("the line's type is unknown", kind.Type, "account, balance, transaction, "+strings.Join(passed, ", "), statement.Correct)
}

// decode reads a line's fields strictly. known are the names its type has: the
// standard decoder would also take them in other cases, and it is slower when it
// is asked to refuse the others.
func decode(line string, names []string, at statement.Place, into any) error {
	known := fieldsOf(into)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return at.In(name).Refuse("the line has a field that its type does not have", name, "one of "+strings.Join(known, ", "), statement.Correct)
		}
	}
	err := json.Unmarshal([]byte(line), into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return at.In(wrong.Field).Refuse("the value is of the wrong kind", wrong.Value, wrong.Type.String(), statement.Correct)
	case err != nil:
		return at.Refuse("the line cannot be read: "+err.Error(), line, "the fields of its type", statement.Correct)
	}
	return nil
}

// number is an amount as text or as a JSON number, whose digits are kept.
type number string

// UnmarshalJSON takes the digits as they stand: no float is made of them.
func (n *number) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*n = number(s)
		return nil
	}
	*n = number(b)
	return nil
}

func currency(code string, at statement.Place) (money.Currency, error) {
	c, err := money.Parse(code)
	if err != nil {
		return c, at.In("currency").Refuse("the currency is unknown", code, "an ISO 4217 code or USDC", statement.Correct)
	}
	return c, nil
}

func date(text, name string, at statement.Place) (statement.Date, error) {
	if text == "" {
		return "", nil
	}
	d, err := statement.ISODate(text)
	if err != nil || len(text) != 10 {
		return "", at.In(name).Refuse("the date cannot be read", text, "YYYY-MM-DD", statement.Correct)
	}
	return d, nil
}
