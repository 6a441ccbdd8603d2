package ingest

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/statement"
)

const (
	// maxText is how much of a text of the file a row repeats; the evidence has
	// more of it, the artifact all.
	maxText = 1000
	// maxName bounds names. What a bank gives is shorter, and a name's parts become
	// keys.
	maxName = 140
)

var errNoDay = errors.New("it has no date")

// books says whether an entry becomes a row. What is pending and has no day yet
// would have another one in each file, and be a row in each.
func books(e *statement.Entry) bool {
	return e.Status == statement.Posted || e.Status == statement.Pending && e.Day() != ""
}

// transaction is the row of an entry, without a counterparty.
func transaction(e *statement.Entry, meta ledger.Meta, account string) (*ledger.Transaction, error) {
	if e.Day() == "" {
		return nil, errNoDay
	}
	x := &ledger.Transaction{
		Meta: meta, AccountID: account, ExternalTransactionID: optional(e.Refs.Bank, maxText), Amount: e.Amount.String(), Currency: e.Amount.Currency().String(),
		Direction: string(e.Direction), TransactionDate: string(e.Day()), PostedDate: optional(string(e.Booked), maxText), Status: string(e.Status),
		DescriptionRaw: optional(first(e.Raw, e.Memo), maxText), Description: optional(e.Memo, maxText), ReconciliationStatus: "unreconciled",
	}
	if e.Reversal {
		text := strings.TrimSpace("Reversal: " + cut(e.Memo, maxText))
		x.Description = &text
	}
	return x, nil
}

// accountRow is the row of an account nobody has entered yet.
func accountRow(a account, meta ledger.Meta) *ledger.Account {
	name := clean(a.stated.Name, maxName)
	switch {
	case name != "":
	case a.external == "":
		name = "Account without a number, " + a.currency
	case len(a.external) > 4:
		name = "Account …" + clean(a.external[len(a.external)-4:], maxName)
	default:
		name = "Account " + a.external
	}
	return &ledger.Account{
		Meta: meta, Institution: optional(a.stated.Bank, maxName), ExternalAccountID: optional(a.external, maxName),
		AccountType: accountType(a.stated.Type), Name: name, Currency: a.currency, Status: "active",
	}
}

// accountType is the ledger's word for a bank's.
func accountType(stated string) string {
	for _, known := range ledger.AccountTypes {
		if strings.EqualFold(stated, known) {
			return known
		}
	}
	switch strings.ToUpper(stated) {
	case "SAVINGS", "MONEYMRKT", "CD", "SVGS":
		return "bank_savings"
	case "CREDITCARD", "CARD":
		return "card"
	case "CREDITLINE", "LLSV", "ODFT":
		return "line_of_credit"
	case "LOAN", "MGLD":
		return "loan"
	}
	return "bank_checking"
}

// counterpartyRow is the row of somebody only a name is known of. Nobody has
// checked who that is.
func counterpartyRow(name string, meta ledger.Meta) *ledger.Counterparty {
	return &ledger.Counterparty{Meta: meta, Name: name, Type: "other", RiskLevel: "medium", VerifiedStatus: "unverified"}
}

// partyName is the other side's name as the ledger knows it, empty for none: a name
// without a letter or a digit names nobody.
func partyName(name string) string {
	name = clean(name, maxName)
	if ledger.Fold(name) == "" || strings.IndexFunc(name, meaningful) < 0 {
		return ""
	}
	return name
}

func meaningful(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
}

func optional(text string, most int) *string {
	if text = clean(text, most); text == "" {
		return nil
	}
	return &text
}

// clean is a text of a file as rows have it.
func clean(text string, most int) string {
	return cut(statement.Blanks(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")), most)
}

// cut keeps at most n bytes of text and whole runes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
