// Package csv reads bank exports in columns. A file says neither what its
// columns are nor how it writes numbers and dates, so it is surveyed first, over
// all its rows: Survey gives a Mapping, or says what cannot be decided. Read then
// yields the entries. A Mapping can be kept and given for the next file.
//
// Cells are text and stay text: one that begins with = is what it is.
//
// encoding/csv is not used: strictly it refuses a quotation mark within a cell,
// as in 5" pipe, and leniently it takes a mark that is never closed for a cell
// that goes on to the end of the file, rows and all.
package csv

import (
	"fmt"
	"io"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/text"
)

// Field is what a column holds.
type Field string

// The fields a column may hold.
const (
	Booked    Field = "booked"    // day of booking, or the only date
	Value     Field = "value"     // day of value
	Amount    Field = "amount"    // with its sign, or without where Sign has it
	Debit     Field = "debit"     // money out, whatever its sign
	Credit    Field = "credit"    // money in
	Sign      Field = "sign"      // which way, in words or letters
	Currency  Field = "currency"  // ISO 4217 code
	Name      Field = "name"      // of the other side
	Payer     Field = "payer"     // where payer and payee have a column each,
	Payee     Field = "payee"     // one of which is the account's owner
	Account   Field = "account"   // of the other side
	Bank      Field = "bank"      // of the other side
	Memo      Field = "memo"      // several columns are put together
	Reference Field = "reference" // the bank's own
	EndToEnd  Field = "end_to_end"
	Mandate   Field = "mandate"
	Creditor  Field = "creditor"
	Check     Field = "check"
	Type      Field = "type"
	Status    Field = "status"
	Balance   Field = "balance" // after the row
	Own       Field = "own"     // the account the row is of
)

// fields are all of them.
var fields = []Field{Booked, Value, Amount, Debit, Credit, Sign, Currency, Name, Payer, Payee, Account, Bank, Memo, Reference, EndToEnd,
	Mandate, Creditor, Check, Type, Status, Balance, Own}

// Order is the order of a date's parts.
type Order string

// The orders of a date.
const (
	DayFirst   Order = "dmy"
	MonthFirst Order = "mdy"
	YearFirst  Order = "ymd"
)

// Mapping says how to read a file. What is empty is found out, by Survey.
type Mapping struct {
	Delimiter string   `json:"delimiter,omitempty"` // one of , ; | and tab
	Charset   string   `json:"charset,omitempty"`   // for what is not UTF-8, as IANA names it; windows-1252 when empty
	Header    []string `json:"header,omitempty"`    // the header line's cells; the file must have them
	NoHeader  bool     `json:"no_header,omitempty"` // rows begin with the first line
	// Columns says what each column holds, by its place from 0.
	Columns  map[int]Field `json:"columns,omitempty"`
	Decimal  string        `json:"decimal,omitempty"`  // . or ,
	Dates    Order         `json:"dates,omitempty"`    // of dates whose parts do not say it
	Currency string        `json:"currency,omitempty"` // of rows that do not say it
	Account  string        `json:"account,omitempty"`  // of rows that do not say it
	Inverted bool          `json:"inverted,omitempty"` // positive amounts are money out, as on some cards
	Outflows []string      `json:"outflows,omitempty"` // what else stands in the column Sign for money out
	Inflows  []string      `json:"inflows,omitempty"`  // and for money in
	Doubts   []string      `json:"doubts,omitempty"`   // what Survey took for granted; Read notes it
}

// Check says what is wrong with a mapping that was given.
func (m Mapping) Check() error {
	switch {
	case m.Delimiter != "" && !slices.Contains(delimiters, m.Delimiter):
		return fmt.Errorf("delimiter %.8q: want one of %q", m.Delimiter, delimiters)
	case m.Decimal != "" && m.Decimal != "." && m.Decimal != ",":
		return fmt.Errorf("decimal %.8q: want . or ,", m.Decimal)
	case m.Dates != "" && m.Dates != DayFirst && m.Dates != MonthFirst && m.Dates != YearFirst:
		return fmt.Errorf("dates %.8q: want dmy, mdy or ymd", m.Dates)
	case m.NoHeader && len(m.Header) > 0:
		return fmt.Errorf("header: %d cells came, and no_header says that there are none", len(m.Header))
	case m.NoHeader && len(m.Columns) == 0:
		return fmt.Errorf("columns: none came; a file without a header needs them")
	case len(m.Columns) > 0 && !m.NoHeader && len(m.Header) == 0:
		return fmt.Errorf("header: none came; columns need the header line they are of, or no_header")
	}
	if _, ok := text.Named(m.Charset); !ok && m.Charset != "" {
		return fmt.Errorf("charset %.20q is unknown", m.Charset)
	}
	if m.Currency != "" {
		if _, err := money.Parse(m.Currency); err != nil {
			return err
		}
	}
	for i, f := range m.Columns {
		if !slices.Contains(fields, f) || i < 0 || i >= maxCells {
			return fmt.Errorf("columns: %d is %.20q, want one of %v", i, f, fields)
		}
	}
	if len(m.Columns) > 0 {
		return complete(m.Columns)
	}
	return nil
}

// complete says whether the columns make entries.
func complete(columns map[int]Field) error {
	has := map[Field]int{}
	for _, f := range columns {
		has[f]++
	}
	for f, n := range has {
		if n > 1 && f != Memo {
			return fmt.Errorf("columns: %s is there %d times", f, n)
		}
	}
	switch {
	case has[Booked] == 0 && has[Value] == 0:
		return fmt.Errorf("columns: none holds a date")
	case has[Amount] == 0 && has[Debit] == 0 && has[Credit] == 0:
		return fmt.Errorf("columns: none holds an amount")
	case has[Amount] > 0 && has[Debit]+has[Credit] > 0:
		return fmt.Errorf("columns: amount is there, and debit or credit besides it")
	}
	return nil
}

// open decodes the file.
func (m Mapping) open(src io.Reader) *text.Reader {
	charset, ok := text.Named(m.Charset)
	if m.Charset == "" || !ok {
		charset = text.Windows1252
	}
	return text.Guess(src, charset)
}

// statementOf is the statement the rows of an account are yielded under.
func statementOf(at statement.Place, account string, c money.Currency) *statement.Statement {
	return &statement.Statement{Place: at, Kind: statement.Final, Account: statement.Account{ID: account}, Currency: c}
}
