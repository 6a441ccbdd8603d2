// Package books computes what answers must say, out of exported rows and nothing
// else. It shares no code with what it checks: it has rows of its own, sums with
// big rationals straight over all of them, and knows no plan, rollup or index.
package books

import (
	"encoding/json"
	"fmt"
	"io"
)

// Book is a tenant's rows as they were exported.
type Book struct {
	Accounts       []Account
	Counterparties []Counterparty
	Transactions   []Transaction
	Obligations    []Obligation
	Invoices       []Invoice
	day            string // the day answers are given on
}

// Account is a row with what the checks look at. Amounts are decimals, dates
// YYYY-MM-DD, in every row.
type Account struct {
	ID        string `json:"id"`
	Type      string `json:"account_type"`
	Currency  string `json:"currency"`
	Status    string `json:"status"`
	Current   string `json:"current_balance"`
	Available string `json:"available_balance"`
}

// Counterparty is whom money comes from or goes to.
type Counterparty struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Aliases  []string `json:"aliases"`
	Risk     string   `json:"risk_level"`
	Verified string   `json:"verified_status"`
}

// Transaction is money that moved.
type Transaction struct {
	ID             string `json:"id"`
	Account        string `json:"account_id"`
	Amount         string `json:"amount"`
	Currency       string `json:"currency"`
	Direction      string `json:"direction"`
	Date           string `json:"transaction_date"`
	Counterparty   string `json:"counterparty_id"`
	Category       string `json:"category"`
	Status         string `json:"status"`
	Reconciliation string `json:"reconciliation_status"`
}

// Obligation is money that is owed.
type Obligation struct {
	ID           string   `json:"id"`
	Type         string   `json:"type"`
	Counterparty string   `json:"counterparty_id"`
	Direction    string   `json:"direction"`
	Amount       string   `json:"amount_due"`
	Currency     string   `json:"currency"`
	Due          string   `json:"due_date"`
	Recurrence   string   `json:"recurrence"`
	Status       string   `json:"status"`
	Payments     []string `json:"linked_transaction_ids"`
}

// Invoice is a document that asks for money.
type Invoice struct {
	ID           string `json:"id"`
	Number       string `json:"invoice_number"`
	Counterparty string `json:"counterparty_id"`
	Direction    string `json:"direction"`
	Due          string `json:"amount_due"`
	Paid         string `json:"amount_paid"`
	Currency     string `json:"currency"`
	Issued       string `json:"issue_date"`
	DueDate      string `json:"due_date"`
	Status       string `json:"status"`
}

// Read reads an export. The day is the one answers are given on.
func Read(r io.Reader, day string) (*Book, error) {
	b := &Book{day: day}
	if err := json.NewDecoder(r).Decode(b); err != nil {
		return nil, fmt.Errorf("read the exported rows: %w", err)
	}
	return b, nil
}

// Expectation is what an answer must hold.
type Expectation struct {
	Lead    []string // the first amounts it names, in any order among themselves
	Must    []string // what stands in it somewhere
	Ordered bool     // Must stands in it in this order
	Start   string   // how it begins
}
