// Package demo makes the data the local stack starts with: two tenants and two
// years of their books, up to the close of September 2025.
//
// The data is a function of a fixed seed and of the tables in this package. No
// clock is read: the same program makes the same bytes on every day and every
// machine, so documents, checks and screenshots may name what is in it. A
// company is a table of who it pays, what for and how often (acme.go,
// globex.go); the rest of the package turns such tables into rows.
package demo

import (
	"cmp"
	"slices"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// The tenants there is data for.
const (
	Acme   = "acme"   // a software company
	Globex = "globex" // a small consultancy, there to show that tenants do not meet
)

// seed starts every stream of random numbers. Another one makes other books:
// every amount and id that is not pinned changes.
const seed = 0x726f626f746d6f6e

// The first and the last day of the books. Close is a Tuesday, so nothing due on
// it is moved past the end.
var (
	First = on(2023, time.October, 1)
	Close = on(2025, time.September, 30)
)

// writtenAt is when the rows were last changed and the pages rendered: the
// morning after the close.
var writtenAt = Close.Add(30 * time.Hour)

// Rows are a tenant's ledger. Each kind is in the order of its dates, then ids.
type Rows struct {
	Tenant         string
	Accounts       []*ledger.Account
	Balances       []*ledger.Balance // one per account for each month's end, the first one before the books open
	Counterparties []*ledger.Counterparty
	Transactions   []*ledger.Transaction
	Obligations    []*ledger.Obligation
	Invoices       []*ledger.Invoice
}

// Data makes the ledger of a tenant, anew on every call: writing a row changes
// it. An unknown tenant has no rows.
func Data(tenant string) Rows {
	switch tenant {
	case Acme:
		return keep(acme())
	case Globex:
		return keep(globex())
	}
	return Rows{Tenant: tenant}
}

// keep writes the books of a company. Transfers come after everything that moves
// an account: a card's bill is the sum of what was bought with it.
func keep(c company) Rows {
	b := newBook(c)
	b.meet(c.parties)
	b.payStanding(c.standing)
	b.payStaff(c.staff)
	b.spend(c.habits)
	b.sell(c.customers)
	b.postAll(c.singular)
	b.owe(c.owed)
	b.payCards()
	b.transfer(c.moves)
	b.balance()
	return b.sorted()
}

// All returns every row, those that others refer to first.
func (r Rows) All() []ledger.Row {
	var all []ledger.Row
	all = appendRows(all, r.Accounts)
	all = appendRows(all, r.Counterparties)
	all = appendRows(all, r.Balances)
	all = appendRows(all, r.Transactions)
	all = appendRows(all, r.Obligations)
	return appendRows(all, r.Invoices)
}

func appendRows[R ledger.Row](all []ledger.Row, rows []R) []ledger.Row {
	for _, row := range rows {
		all = append(all, row)
	}
	return all
}

// meta is what every row has. It was known at the start of a day. A row lists no
// sources: the books were not imported from artifacts, and a reference that
// leads nowhere would be worse than none.
func meta(id string, known time.Time, provenance string, confidence float64) ledger.Meta {
	return ledger.Meta{
		ID: id, SourceIDs: []string{}, EvidenceIDs: []string{}, Provenance: provenance, Confidence: confidence,
		CreatedAt: known.Add(6 * time.Hour).Format(audit.TimeForm),
	}
}

// sorted puts the rows into their order.
func (b *book) sorted() Rows {
	r := b.rows
	slices.SortFunc(r.Transactions, func(x, y *ledger.Transaction) int {
		return cmp.Or(cmp.Compare(x.TransactionDate, y.TransactionDate), cmp.Compare(x.ID, y.ID))
	})
	slices.SortFunc(r.Obligations, func(x, y *ledger.Obligation) int {
		return cmp.Or(cmp.Compare(x.DueDate, y.DueDate), cmp.Compare(x.ID, y.ID))
	})
	slices.SortFunc(r.Invoices, func(x, y *ledger.Invoice) int {
		return cmp.Or(cmp.Compare(x.IssueDate, y.IssueDate), cmp.Compare(x.ID, y.ID))
	})
	return r
}
