package evidence

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/wiki"
)

// A summary is one line. Names and memos in it come from outside: they stand
// between quotation marks, cut and without control characters.

func account(body []byte, _ time.Time) (string, error) {
	var a ledger.Account
	if err := json.Unmarshal(body, &a); err != nil {
		return "", fmt.Errorf("decode account: %w", err)
	}
	return fmt.Sprintf("Account %s, %s in %s, %s.", quote(a.Name), a.AccountType, a.Currency, a.Status), nil
}

func counterparty(body []byte, _ time.Time) (string, error) {
	var c ledger.Counterparty
	if err := json.Unmarshal(body, &c); err != nil {
		return "", fmt.Errorf("decode counterparty: %w", err)
	}
	return fmt.Sprintf("Counterparty %s, %s, %s, risk %s.", quote(c.Name), c.Type, c.VerifiedStatus, c.RiskLevel), nil
}

func invoice(body []byte, now time.Time) (string, error) {
	var i ledger.Invoice
	if err := json.Unmarshal(body, &i); err != nil {
		return "", fmt.Errorf("decode invoice: %w", err)
	}
	return fmt.Sprintf("Invoice %s, %s, %s %s of which %s paid, due %s, %s, counterparty %s.",
		quote(i.InvoiceNumber), i.Direction, i.AmountDue, i.Currency, i.AmountPaid, i.DueDate, i.StatusOn(now), i.CounterpartyID), nil
}

func obligation(body []byte, now time.Time) (string, error) {
	var o ledger.Obligation
	if err := json.Unmarshal(body, &o); err != nil {
		return "", fmt.Errorf("decode obligation: %w", err)
	}
	return fmt.Sprintf("Obligation, %s, %s, %s %s, due %s, %s, counterparty %s.",
		o.Type, o.Direction, o.AmountDue, o.Currency, o.DueDate, o.StatusOn(now), o.CounterpartyID), nil
}

func transaction(body []byte, _ time.Time) (string, error) {
	var x ledger.Transaction
	if err := json.Unmarshal(body, &x); err != nil {
		return "", fmt.Errorf("decode transaction: %w", err)
	}
	text := fmt.Sprintf("Transaction, %s of %s %s on %s, %s, account %s", x.Direction, x.Amount, x.Currency, x.TransactionDate, x.Status, x.AccountID)
	if x.CounterpartyID != nil {
		text += ", counterparty " + *x.CounterpartyID
	}
	if x.Description != nil && *x.Description != "" {
		text += ", " + quote(*x.Description)
	}
	return text + ".", nil
}

func page(body []byte, _ time.Time) (string, error) {
	var p wiki.Page
	if err := json.Unmarshal(body, &p); err != nil {
		return "", fmt.Errorf("decode page: %w", err)
	}
	return fmt.Sprintf("Wiki page %s, rendered %s.", quote(p.Title), p.RenderedAt), nil
}

// maxQuoted is how many characters of a text from outside a summary repeats.
const maxQuoted = 120

func quote(text string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == '"' || r == '`':
			return '\''
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
	if runes := []rune(clean); len(runes) > maxQuoted {
		clean = string(runes[:maxQuoted]) + "…"
	}
	return `"` + strings.TrimSpace(clean) + `"`
}
