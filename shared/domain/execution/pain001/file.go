// Package pain001 writes a payment order as a file that banks take: ISO 20022
// pain.001.001.09, one credit transfer in one batch.
package pain001

import (
	"encoding/xml"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/payments"
)

// Namespace of the message.
const Namespace = "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"

// The schema's bounds, in characters.
const (
	maxID      = 35
	maxAccount = 34
	maxText    = 140
	maxDigits  = 18 // of an amount, decimals among them
)

// document is the message as far as it is used, its elements in the schema's order.
type document struct {
	XMLName xml.Name `xml:"urn:iso:std:iso:20022:tech:xsd:pain.001.001.09 Document"`
	Header  header   `xml:"CstmrCdtTrfInitn>GrpHdr"`
	Batch   batch    `xml:"CstmrCdtTrfInitn>PmtInf"`
}

type header struct {
	ID      string `xml:"MsgId"`
	Created string `xml:"CreDtTm"`
	Number  string `xml:"NbOfTxs"`
	Sum     string `xml:"CtrlSum"`
	From    string `xml:"InitgPty>Nm"`
}

type batch struct {
	ID      string   `xml:"PmtInfId"`
	Method  string   `xml:"PmtMtd"`
	Number  string   `xml:"NbOfTxs"`
	Sum     string   `xml:"CtrlSum"`
	Day     string   `xml:"ReqdExctnDt>Dt"`
	Debtor  string   `xml:"Dbtr>Nm"`
	Account account  `xml:"DbtrAcct"`
	Agent   agent    `xml:"DbtrAgt>FinInstnId"`
	Charges string   `xml:"ChrgBr"`
	Payment transfer `xml:"CdtTrfTxInf"`
}

type transfer struct {
	Instruction string  `xml:"PmtId>InstrId"`
	EndToEnd    string  `xml:"PmtId>EndToEndId"`
	Trace       string  `xml:"PmtId>UETR"`
	Amount      amount  `xml:"Amt>InstdAmt"`
	Creditor    string  `xml:"Cdtr>Nm"`
	Account     account `xml:"CdtrAcct"`
	Remittance  string  `xml:"RmtInf>Ustrd"`
}

type amount struct {
	Currency string `xml:"Ccy,attr"`
	Value    string `xml:",chardata"`
}

type account struct {
	IBAN  string `xml:"Id>IBAN,omitempty"`
	Other *other `xml:"Id>Othr,omitempty"`
}

type agent struct {
	BIC   string `xml:"BICFI,omitempty"`
	Name  string `xml:"Nm,omitempty"`
	Other *other `xml:"Othr,omitempty"`
}

// other is an identification of no scheme. It is a pointer where it may be absent:
// an empty element is one too many.
type other struct {
	ID string `xml:"Id"`
}

// File is an order as a pain.001 document in UTF-8. One order gives one file, byte
// for byte, and its references are the order's: a bank that gets it twice can tell.
// It fails for what a credit transfer cannot say: money on the chain or coming in,
// an account without a number, a payee with none or with several.
func File(order execution.Order) ([]byte, error) {
	p := order.Payment
	switch p.ActionType {
	case payments.ACHOutbound, payments.Wire:
	default:
		return nil, fmt.Errorf("pain.001 of %s: %s is no credit transfer", order.IntentID, p.ActionType)
	}
	debtor, err := accountOf(order.Debtor.Number)
	if err != nil {
		return nil, fmt.Errorf("pain.001 of %s: our account: %w", order.IntentID, err)
	}
	if n := len(order.Creditor.Accounts); n != 1 {
		return nil, fmt.Errorf("pain.001 of %s: the payee has %d accounts and nothing says which one", order.IntentID, n)
	}
	creditor, err := accountOf(&order.Creditor.Accounts[0])
	if err != nil {
		return nil, fmt.Errorf("pain.001 of %s: the payee's account: %w", order.IntentID, err)
	}
	created, err := time.Parse(audit.TimeForm, order.CreatedAt)
	if err != nil {
		return nil, fmt.Errorf("pain.001 of %s: %w", order.IntentID, err)
	}
	if len(strings.Replace(p.Amount, ".", "", 1)) > maxDigits {
		return nil, fmt.Errorf("pain.001 of %s: the amount has more than %d digits", order.IntentID, maxDigits)
	}
	key := order.IdempotencyKey
	if len(key) != 64 {
		return nil, fmt.Errorf("pain.001 of %s: no idempotency key", order.IntentID)
	}
	id, us := key[:maxID], text(order.Debtor.Name)
	doc := document{
		Header: header{ID: id, Created: created.UTC().Format(audit.TimeForm), Number: "1", Sum: p.Amount, From: us},
		Batch: batch{
			ID: id, Method: "TRF", Number: "1", Sum: p.Amount, Day: created.UTC().Format(time.DateOnly),
			Debtor: us, Account: debtor, Agent: agentOf(order.Debtor.Institution), Charges: charges(p.ActionType),
			Payment: transfer{
				Instruction: id, EndToEnd: id, Trace: trace(key), Amount: amount{p.Currency, p.Amount},
				Creditor: text(order.Creditor.Name), Account: creditor, Remittance: remittance(order),
			},
		},
	}
	body, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("pain.001 of %s: %w", order.IntentID, err)
	}
	return append([]byte(xml.Header), append(body, '\n')...), nil
}

// charges are shared by a wire and follow the scheme otherwise.
func charges(of payments.ActionType) string {
	if of == payments.Wire {
		return "SHAR"
	}
	return "SLEV"
}

var (
	iban = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$`)
	bic  = regexp.MustCompile(`^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$`)
)

// accountOf is an account number as the message has it: an IBAN by its form and
// its check digits, else the number as it is.
func accountOf(number *string) (account, error) {
	if number == nil || strings.TrimSpace(*number) == "" {
		return account{}, errors.New("it has no number")
	}
	plain := strings.Join(strings.Fields(*number), "")
	if strings.ContainsFunc(plain, func(r rune) bool { return r < '!' || r > '~' }) || len(plain) > maxAccount {
		return account{}, fmt.Errorf("its number is not 1 to %d characters of ASCII", maxAccount)
	}
	if upper := strings.ToUpper(plain); iban.MatchString(upper) && remainder(upper) == 1 {
		return account{IBAN: upper}, nil
	}
	return account{Other: &other{plain}}, nil
}

// remainder is an IBAN modulo 97 (ISO 7064), letters being 10 to 35 and the first
// four characters at the end. It is 1 for one that was not mistyped.
func remainder(iban string) int {
	sum := 0
	for _, c := range iban[4:] + iban[:4] {
		if c >= 'A' {
			sum = (sum*100 + int(c-'A') + 10) % 97
		} else {
			sum = (sum*10 + int(c-'0')) % 97
		}
	}
	return sum
}

// agentOf is the debtor's bank, by its BIC where the text is one.
func agentOf(institution *string) agent {
	switch {
	case institution == nil || strings.TrimSpace(*institution) == "":
		return agent{Other: &other{"NOTPROVIDED"}}
	case bic.MatchString(*institution):
		return agent{BIC: *institution}
	}
	return agent{Name: text(*institution)}
}

// trace is the transfer's UETR, a UUID of version 4 that follows from the key.
func trace(key string) string {
	variant := "89ab"[(key[16]&3)%4 : (key[16]&3)%4+1]
	return key[:8] + "-" + key[8:12] + "-4" + key[13:16] + "-" + variant + key[17:20] + "-" + key[20:32]
}

// remittance says what the money is for: the memo, else the ids of what it pays.
func remittance(order execution.Order) string {
	p, words := order.Payment, []string{}
	if p.Memo != nil && strings.TrimSpace(*p.Memo) != "" {
		return text(*p.Memo)
	}
	for _, name := range []*string{p.InvoiceID, p.ObligationID, &order.IntentID} {
		if name != nil {
			words = append(words, *name)
		}
	}
	return text(strings.Join(words, " "))
}

// text is free text on one line and within bounds; what XML cannot hold becomes a
// blank.
func text(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF {
			return ' '
		}
		return r
	}, s)
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) == 0 {
		return "-"
	}
	return strings.TrimSpace(string(runes[:min(len(runes), maxText)]))
}
