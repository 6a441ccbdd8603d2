package render

import (
	"fmt"
	"strconv"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// said is the text of an optional field, empty for null.
func said(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// move writes a transaction on one line. Its memo is the last thing on it but for
// its id.
func move(x ledger.Transaction) string {
	memo := said(x.Description)
	if memo == "" {
		memo = said(x.DescriptionRaw)
	}
	line := fmt.Sprintf("%s %s %s %s, %s", x.TransactionDate, x.Direction, x.Amount, x.Currency, x.Status)
	if memo != "" {
		line += ", " + fence.Text(memo)
	}
	return line + " (" + x.ID + ")"
}

// moves tells of recent transactions, the newest first: some of them, and what is
// open about any. whose says whose the latest are, where that is not all.
func (s *sheet) moves(recent []ledger.Transaction) {
	for _, x := range some(recent) {
		s.add(activity, "%s", move(x))
		s.cite("transactions", x.ID)
	}
	loose := int64(0)
	for _, x := range recent {
		switch {
		case x.Status == "disputed":
			s.add(questions, "Disputed: %s", move(x))
			s.cite("transactions", x.ID)
		case (x.Status == "posted" || x.Status == "cleared") && x.ReconciliationStatus == "unreconciled":
			loose++
		}
	}
	if loose > 0 {
		s.add(questions, "Of the latest %s, %d not reconciled", plural(int64(len(recent)), "transaction"), loose)
	}
}

// trust tells of a row that nobody has confirmed.
func (s *sheet) trust(m ledger.Meta) {
	switch m.Provenance {
	case "agent_contributed", "customer_asserted", "ambiguous", "inferred":
		s.add(risks, "This row is %s, with a confidence of %s", m.Provenance, strconv.FormatFloat(m.Confidence, 'f', -1, 64))
	}
}

// sources cites what a row comes from.
func (s *sheet) sources(m ledger.Meta) {
	if len(m.SourceIDs) > 0 {
		s.add(evidence, "Sources: %s", fenced(m.SourceIDs))
	}
	if len(m.EvidenceIDs) > 0 {
		s.add(evidence, "Parsed evidence: %s", fenced(m.EvidenceIDs))
	}
}

// Account is the facts of an account's page.
type Account struct {
	Row      ledger.Account       `json:"row"`
	Balances []ledger.Balance     `json:"balances"` // the newest first
	Recent   []ledger.Transaction `json:"recent"`   // the newest first
}

func (f Account) sheet() (*sheet, error) {
	a := f.Row
	s := named(a.Name, a.ID)
	kind := a.AccountType
	if name := said(a.Institution); name != "" {
		kind += " at " + fence.Text(name)
	}
	s.add(truth, "%s, %s, %s", kind, a.Currency, a.Status)
	for _, b := range []struct {
		name  string
		value *string
	}{{"Current", a.CurrentBalance}, {"Available", a.AvailableBalance}} {
		if b.value != nil {
			s.add(truth, "%s balance: %s %s", b.name, *b.value, a.Currency)
		}
	}
	switch {
	case a.CurrentBalance == nil:
		s.add(questions, "No balance is known")
	case a.BalanceAsOf != nil:
		s.add(truth, "Balances as of %s", *a.BalanceAsOf)
	}
	s.partners(f.Recent)
	s.cite("accounts", a.ID)
	s.moves(f.Recent)
	if a.Status == "frozen" || a.Status == "pending" {
		s.add(risks, "The account is %s", a.Status)
	}
	if err := s.overdrawn(a); err != nil {
		return nil, err
	}
	s.trust(a.Meta)
	for _, b := range f.Balances {
		s.add(timeline, "%s: %s %s", b.AsOf, b.Current, b.Currency)
	}
	s.sources(a.Meta)
	return s, nil
}

// partners links the counterparties of recent transactions, the latest first.
func (s *sheet) partners(recent []ledger.Transaction) {
	counts, order := map[string]int64{}, []string{}
	for _, x := range recent {
		if x.CounterpartyID == nil {
			continue
		}
		if counts[*x.CounterpartyID]++; counts[*x.CounterpartyID] == 1 {
			order = append(order, *x.CounterpartyID)
		}
	}
	for _, id := range some(order) {
		s.add(linked, "%s: in %d of the latest %s", link("counterparties", id), counts[id], plural(int64(len(recent)), "transaction"))
	}
}

// overdrawn warns of an asset that is below zero; a card or a loan always is.
func (s *sheet) overdrawn(a ledger.Account) error {
	if a.CurrentBalance == nil || a.AccountType == "card" || a.AccountType == "loan" || a.AccountType == "line_of_credit" {
		return nil
	}
	balance, err := amount(*a.CurrentBalance, a.Currency)
	if err != nil {
		return fmt.Errorf("balance of %s: %w", a.ID, err)
	}
	if balance.Sign() < 0 {
		s.add(risks, "The account is overdrawn: %s %s", balance, a.Currency)
	}
	return nil
}

// Counterparty is the facts of a counterparty's page.
type Counterparty struct {
	Row         ledger.Counterparty  `json:"row"`
	Months      []Sum                `json:"months"`      // its own, the newest first
	Since       string               `json:"since"`       // the earliest month among Months, where older ones were left out
	Recent      []ledger.Transaction `json:"recent"`      // the newest first
	Obligations []ledger.Obligation  `json:"obligations"` // the latest due first
	Invoices    []ledger.Invoice     `json:"invoices"`    // the newest first
}

func (f Counterparty) sheet() (*sheet, error) {
	c := f.Row
	s := named(c.Name, c.ID)
	s.add(truth, "%s, risk %s, %s", c.Type, c.RiskLevel, c.VerifiedStatus)
	if len(c.Aliases) > 0 {
		s.add(truth, "Also known as %s", fenced(c.Aliases))
	}
	all, err := totals(f.Months)
	if err != nil {
		return nil, err
	}
	span := "In all"
	if f.Since != "" {
		span = "Since " + f.Since
	}
	for _, sum := range all {
		s.add(truth, "%s %s %s in %s", span, sum.Direction, sum.money(), plural(sum.Count, "transaction"))
	}
	f.identity(s)
	f.owed(s)
	s.moves(f.Recent)
	f.risk(s)
	lines, err := periods(f.Months, true)
	if err != nil {
		return nil, err
	}
	for _, line := range lines[:min(len(lines), 12)] {
		s.add(timeline, "%s", line)
	}
	s.sources(c.Meta)
	return s, nil
}

// identity says who the counterparty is elsewhere.
func (f Counterparty) identity(s *sheet) {
	for _, as := range []struct {
		name  string
		value *string
	}{{"Agent", f.Row.AgentID}, {"Member", f.Row.MemberID}, {"Address on the chain", f.Row.OnchainAddress}} {
		if text := said(as.value); text != "" {
			s.add(linked, "%s: %s", as.name, fence.Text(text))
		}
	}
	if len(f.Row.LinkedAccounts) > 0 {
		s.add(linked, "Linked accounts: %s", fenced(f.Row.LinkedAccounts))
	}
}

// settled says whether nothing more is to come of an obligation or invoice.
func settled(status string) bool { return status == "paid" || status == "cancelled" }

// owed links what is open, and asks about what is disputed.
func (f Counterparty) owed(s *sheet) {
	for _, o := range f.Obligations {
		line := fmt.Sprintf("%s: %s %s %s, due %s", link("obligations", o.ID), o.Direction, o.AmountDue, o.Currency, o.DueDate)
		s.owe(o.Status, line, func() { s.cite("obligations", o.ID) })
	}
	for _, i := range f.Invoices {
		line := fmt.Sprintf("%s: %s %s %s, %s %s paid, due %s", link("invoices", i.ID), i.Direction, i.AmountDue, i.Currency, i.AmountPaid, i.Currency, i.DueDate)
		s.owe(i.Status, line, func() {})
	}
}

func (s *sheet) owe(status, line string, cite func()) {
	switch {
	case settled(status):
	case status == "disputed":
		s.add(questions, "%s, disputed", line)
		cite()
	default:
		s.add(linked, "%s", line)
		cite()
	}
}

func (f Counterparty) risk(s *sheet) {
	c := f.Row
	if c.RiskLevel != "low" {
		s.add(risks, "Risk is %s", c.RiskLevel)
	}
	if c.VerifiedStatus == "unverified" || c.VerifiedStatus == "self_attested" {
		s.add(risks, "Nobody has verified who this is: %s", c.VerifiedStatus)
	}
	if c.DetailsChangedAt != nil {
		s.add(risks, "The details for payments changed at %s", *c.DetailsChangedAt)
	}
	s.trust(c.Meta)
}

// Obligation is the facts of an obligation's page.
type Obligation struct {
	Row ledger.Obligation `json:"row"`
}

func (f Obligation) sheet() (*sheet, error) {
	o := f.Row
	s := titled("Obligation %s", o.ID)
	s.add(truth, "%s, %s, %s %s, due %s", o.Type, o.Direction, o.AmountDue, o.Currency, o.DueDate)
	if o.MinimumDue != nil {
		s.add(truth, "At least %s %s is due", *o.MinimumDue, o.Currency)
	}
	if rule := said(o.Recurrence); rule != "" {
		s.add(truth, "It comes again: %s", fence.Text(rule))
	}
	s.state(o.Status)
	s.add(linked, "Counterparty: %s", link("counterparties", o.CounterpartyID))
	s.payments(o.LinkedTransactionIDs)
	s.trust(o.Meta)
	s.add(timeline, "%s: due", o.DueDate)
	s.cite("obligations", o.ID)
	for _, id := range some(o.LinkedTransactionIDs) {
		s.cite("transactions", id)
	}
	s.sources(o.Meta)
	return s, nil
}

// state says what is stored of a status. Whether something open is due or overdue
// follows from the day it is read on, and no page says it.
func (s *sheet) state(status string) {
	switch status {
	case "paid", "cancelled", "draft", "partial", "sent":
		s.add(truth, "%s", capital(status))
	case "disputed":
		s.add(truth, "Disputed")
		s.add(questions, "It is disputed")
	default:
		s.add(truth, "Open")
	}
}

// payments says by how many transactions something was settled.
func (s *sheet) payments(ids []string) {
	if len(ids) > 0 {
		s.add(linked, "Settled by %s", plural(int64(len(ids)), "transaction"))
	}
}

// Invoice is the facts of an invoice's page.
type Invoice struct {
	Row ledger.Invoice `json:"row"`
}

func (f Invoice) sheet() (*sheet, error) {
	i := f.Row
	s := titled("Invoice %s", i.ID)
	s.add(truth, "Number %s, %s, %s %s", fence.Text(i.InvoiceNumber), i.Direction, i.AmountDue, i.Currency)
	due, err := amount(i.AmountDue, i.Currency)
	if err != nil {
		return nil, fmt.Errorf("invoice %s: %w", i.ID, err)
	}
	paid, err := amount(i.AmountPaid, i.Currency)
	if err != nil {
		return nil, fmt.Errorf("invoice %s: %w", i.ID, err)
	}
	open, err := due.Sub(paid)
	if err != nil {
		return nil, fmt.Errorf("invoice %s: %w", i.ID, err)
	}
	s.add(truth, "Paid %s %s, open %s %s", paid, i.Currency, open, i.Currency)
	s.state(i.Status)
	s.add(linked, "Counterparty: %s", link("counterparties", i.CounterpartyID))
	s.payments(i.LinkedTransactionIDs)
	if open.Sign() < 0 {
		s.add(questions, "More was paid than is due")
	}
	s.trust(i.Meta)
	s.add(timeline, "%s: issued", i.IssueDate)
	s.add(timeline, "%s: due", i.DueDate)
	for _, id := range some(i.LinkedTransactionIDs) {
		s.cite("transactions", id)
	}
	s.sources(i.Meta)
	return s, nil
}
