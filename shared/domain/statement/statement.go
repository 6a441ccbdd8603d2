// Package statement is what a bank's file says, whatever format it came in:
// statements of accounts, their entries and their balances, each with its place
// in the file. The packages below it read one format each and yield these items
// one by one, so that a file of any size takes little memory.
//
// A reader of a format is pure: the same bytes give the same items. Who stores
// them reads a file to its end first and stores on a second reading, so that a
// file with one bad row leaves nothing behind.
package statement

import (
	"iter"

	"github.com/robotmoney/mcp/shared/domain/money"
)

// Item is one thing a file says: a *Statement, an *Entry, a *Balance, a *Note or
// a *Record. An Entry, Balance or Note belongs to the last Statement before it.
type Item interface{ item() }

// Items is what a reader yields, in the order of the file. After an error it
// yields nothing more. An error with a fault.Code is about the file; any other
// one is about reading it and says nothing of its content.
type Items = iter.Seq2[Item, error]

// Kind says what sort of report a statement is.
type Kind string

// The kinds of reports. A notification and an interim report tell of entries
// that a statement will tell of again.
const (
	Final        Kind = "statement"
	Notification Kind = "notification"
	Interim      Kind = "interim"
)

// Statement begins the report of one account. It says nothing of the entries
// that were yielded before it.
type Statement struct {
	Place
	Kind     Kind
	ID       string // the bank's own name for the report
	Number   string // its number among the account's reports, with the page when there are pages
	Account  Account
	From, To Date           // the period, both days within it; none when the file does not say
	Currency money.Currency // of the account; zero when the file does not say
}

// Account is how a file names an account. The fields are empty when it does not.
type Account struct {
	ID     string // IBAN or the bank's number, without blanks
	Bank   string // BIC, routing number or national bank code
	Branch string
	Type   string // as the format calls it, such as CHECKING or CREDITCARD
	Name   string // the account's name or its owner's
}

// Direction says which way the money went, seen from the account.
type Direction string

// The directions, in the ledger's words.
const (
	Inflow  Direction = "inflow"
	Outflow Direction = "outflow"
)

// Turned returns the other direction.
func (d Direction) Turned() Direction {
	if d == Inflow {
		return Outflow
	}
	return Inflow
}

// Status says whether an entry is on the account.
type Status string

// The states of an entry. What is informational never becomes a booking.
const (
	Posted        Status = "posted"
	Pending       Status = "pending"
	Informational Status = "informational"
)

// Entry is one movement on the account.
type Entry struct {
	Place
	Amount    money.Amount // zero or more; the direction has the sign
	Direction Direction
	Status    Status
	Reversal  bool // the entry takes back an earlier one, which went the other way
	Booked    Date // the day the bank booked it; none only for what is pending
	Value     Date // the day interest counts from, none when the file does not say
	Initiated Date // the day the customer acted, none when the file does not say
	Refs      References
	Party     Party  // the other side
	Memo      string // what the payment is for, in words
	Raw       string // the bank's own text where Memo was taken out of it
	Type      string // what the bank calls the kind of movement, in its format's code
	Batch     Batch
	Original  Exchange
	Charges   []Charge
	Running   money.Amount // the account's balance after the entry; without a currency when the file does not say
}

// Day is the day an entry counts for: of booking, else of value, else of the
// customer's act.
func (e *Entry) Day() Date {
	for _, d := range []Date{e.Booked, e.Value, e.Initiated} {
		if d != "" {
			return d
		}
	}
	return ""
}

// Signed is the amount as it changes the account: negative for what went out.
func (e *Entry) Signed() money.Amount {
	if e.Direction == Outflow {
		return e.Amount.Neg()
	}
	return e.Amount
}

// References are the names an entry has with those who took part in it.
type References struct {
	Bank       string // the bank's own: FITID, AcctSvcrRef, what follows // in :61:
	EndToEnd   string // what the payer gave it for the payee
	Customer   string // what the account's owner gave it
	Mandate    string // of a direct debit
	Creditor   string // a structured creditor reference, or a creditor's identifier
	Instructed string // the instruction's or transaction's id between banks
	Check      string // number of a cheque
}

// Party is the other side of an entry, as the file names it.
type Party struct {
	Name    string
	Account string // IBAN or number
	Bank    string // BIC or bank code
}

// Batch says that an entry is part of one booking of several payments.
type Batch struct {
	Ref   string // the booking's own reference
	Part  int    // its place within the booking, from 1; 0 for an entry that is no part
	Parts int    // how many payments the booking has; more than 0 with Part 0 when the file does not tell them apart
	// Booked is the booking as a file that does not tell its payments apart has it:
	// the bank's reference of it, and its amount as it changes the account. Without a
	// reference it cannot be recognized there.
	Booked BookedAs
}

// BookedAs is what a booking is known by.
type BookedAs struct {
	Ref    string
	Amount money.Amount
}

// Whole is the entry that a booking of several payments is in a file that does
// not tell them apart, of one of them; false for an entry that is no part, or of a
// booking without a reference.
func (e *Entry) Whole() (Entry, bool) {
	by := e.Batch.Booked
	if e.Batch.Part == 0 || by.Ref == "" {
		return Entry{}, false
	}
	whole := *e
	whole.Refs, whole.Batch, whole.Party, whole.Memo = References{Bank: by.Ref}, Batch{}, Party{}, ""
	if whole.Amount, whole.Direction = by.Amount, Inflow; by.Amount.Sign() < 0 {
		whole.Amount, whole.Direction = by.Amount.Neg(), Outflow
	}
	return whole, true
}

// Exchange is what an entry was in another currency.
type Exchange struct {
	Amount money.Amount // without a currency when the file does not say
	Rate   string       // plain decimal as the bank gave it, empty when it did not
}

// Charge is a cost that belongs to an entry.
type Charge struct {
	Amount    money.Amount
	Direction Direction
	Included  bool // the entry's amount has it within
}

// Level says which balance it is.
type Level string

// The balances a file may give. The ledger balance is one at an instant that
// need not be the period's end.
const (
	Opening   Level = "opening"
	Previous  Level = "previous" // closing balance of the report before
	Closing   Level = "closing"
	Ledger    Level = "ledger"
	Available Level = "available"
	Forward   Level = "forward" // available on a later day
)

// Balance is what the account held.
type Balance struct {
	Place
	Level  Level
	Page   bool // of one page of a statement, not of all of it
	Amount money.Amount
	Date   Date // none when the file does not say
}

// Topic says what a note is about.
type Topic string

// The topics of notes.
const (
	Skipped   Topic = "skipped"   // a part of the file is of no use here
	Narrative Topic = "narrative" // the bank's words about the whole statement
	Doubt     Topic = "doubt"     // read, but look at it
)

// Note is something a person may want to know of the file. It is no error.
type Note struct {
	Place
	Topic Topic
	Text  string
}

// Record is an object of our own JSON lines that is no statement's: a
// counterparty, an invoice, an obligation. Object is the line, valid JSON with
// every name once.
type Record struct {
	Place
	Type   string
	Object []byte
}

func (*Statement) item() {}
func (*Entry) item()     {}
func (*Balance) item()   {}
func (*Note) item()      {}
func (*Record) item()    {}
