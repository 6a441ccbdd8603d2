package ingest

import (
	"fmt"
	"io"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/csv"
	"github.com/robotmoney/mcp/shared/domain/statement/detect"
)

const (
	// maxAccounts bounds the accounts of one file: each becomes a row before the
	// first entry does.
	maxAccounts = 500
	// maxEntries bounds what one file may bring.
	maxEntries = 1_000_000
)

// file is an artifact's bytes, read to their end once: everything in it that could
// be refused has been looked at.
type file struct {
	source   io.ReadSeeker
	format   detect.Format
	mapping  csv.Mapping // complete, for columns
	hints    Hints
	accounts []account // in the order they come up
	// sections says which account each statement of the file is of, -1 for one that
	// tells of nothing.
	sections []int32
	report   *Report
	records  bool // of our own lines that are no bank's
	parties  bool // some of which say who a counterparty is
}

// accountKey is what an account is known by.
type accountKey struct{ external, currency string }

// account is one that a file tells of.
type account struct {
	accountKey
	stated    statement.Account
	line      int
	latest    *statement.Balance // closing or at an instant, the latest
	available *statement.Balance
	last      statement.Date // of its entries
}

// survey reads a file to its end and checks all of it. An error with the code
// invalid_argument is the file's fault.
func survey(t identity.Tenant, source io.ReadSeeker, mediaType string, m csv.Mapping, h Hints, rawID string) (*file, error) {
	f := &file{source: source, hints: h, report: newReport(rawID)}
	var err error
	if f.format, err = detect.Of(source, mediaType); err != nil {
		return f, err
	}
	f.report.Parser = string(f.format)
	if f.format == detect.CSV {
		if f.mapping, err = complete(source, m); err != nil {
			return f, err
		}
		f.report.Mapping = &f.mapping
	}
	s := surveyor{file: f, tenant: t, byKey: map[accountKey]int32{}}
	for item, err := range f.items() {
		if err == nil {
			err = s.see(item)
		}
		if err != nil {
			return f, err
		}
	}
	s.endStatement()
	for _, found := range s.tally.Done() {
		f.report.find(mismatch(found))
	}
	return f, nil
}

// complete surveys the columns.
func complete(source io.ReadSeeker, m csv.Mapping) (csv.Mapping, error) {
	if _, err := source.Seek(0, io.SeekStart); err != nil {
		return m, fmt.Errorf("go to the file's start: %w", err)
	}
	return csv.Survey(source, m)
}

// items reads the file from its start.
func (f *file) items() statement.Items {
	if f.format != detect.CSV {
		return detect.Read(f.source, f.format, csv.Mapping{})
	}
	return func(yield func(statement.Item, error) bool) {
		if _, err := f.source.Seek(0, io.SeekStart); err != nil {
			yield(nil, fmt.Errorf("go to the file's start: %w", err))
			return
		}
		csv.Read(f.source, f.mapping)(yield)
	}
}

// surveyor looks at a file's items in their order.
type surveyor struct {
	file    *file
	tenant  identity.Tenant
	byKey   map[accountKey]int32
	current *statement.Statement
	within  int32 // the current statement's account, -1 while it has told of nothing
	tally   statement.Tally
	running running
}

func (s *surveyor) see(item statement.Item) error {
	s.tally.See(item)
	r := s.file.report
	switch x := item.(type) {
	case *statement.Statement:
		s.endStatement()
		s.current, s.within = x, -1
		s.file.sections = append(s.file.sections, -1)
	case *statement.Note:
		r.note(x.Topic, x.Line, x.Text)
	case *statement.Record:
		return s.record(x)
	case *statement.Balance:
		a, err := s.account(x.Place, x.Amount.Currency())
		if err != nil {
			return err
		}
		a.hold(x, s.current)
	case *statement.Entry:
		return s.entry(x)
	}
	return nil
}

func (s *surveyor) endStatement() {
	if found, wrong := s.running.end(); wrong {
		s.file.report.find(found)
	}
	s.running = running{}
}

func (s *surveyor) entry(e *statement.Entry) error {
	r := s.file.report
	if r.Entries++; r.Entries > maxEntries {
		return e.Refuse("the file has too many entries", "", fmt.Sprintf("at most %d", maxEntries), "Send it in parts.")
	}
	a, err := s.account(e.Place, e.Amount.Currency())
	if err != nil {
		return err
	}
	if !books(e) {
		r.Informational++
		return nil
	}
	row, err := transaction(e, s.meta(), placeholder)
	if err == nil {
		err = ledger.Check(row)
	}
	if err != nil {
		return e.Refuse("the entry is no transaction: "+err.Error(), "", "an entry that can be stored", statement.Correct)
	}
	s.running.see(e)
	r.seen(e.Day())
	a.last = max(a.last, e.Day())
	return nil
}

// meta is that of a row that is checked and not stored.
func (s *surveyor) meta() ledger.Meta {
	return ledger.Meta{ID: "tx_" + placeholder, TenantID: s.tenant.String(), Provenance: "extracted", SourceIDs: []string{placeholder}, EvidenceIDs: []string{placeholder}}
}

// placeholder stands for names that are as long.
const placeholder = "acct_00000000000000000000000000000000"

// account is what an entry or a balance is of. A statement that does not say its
// currency is in that of the first amount.
func (s *surveyor) account(at statement.Place, c money.Currency) (*account, error) {
	if s.current == nil {
		return nil, at.Refuse("nothing says which account this is of", "", "a statement before it", statement.Correct)
	}
	if s.within >= 0 {
		return &s.file.accounts[s.within], nil
	}
	if !s.current.Currency.IsZero() {
		c = s.current.Currency
	}
	k := accountKey{external: normal(s.current.Account.ID), currency: c.String()}
	if k.external == "" {
		k.external = normal(s.file.hints.Account)
	}
	n, known := s.byKey[k]
	if !known {
		if n = int32(len(s.file.accounts)); n == maxAccounts {
			return nil, at.Refuse("the file tells of too many accounts", "", fmt.Sprintf("at most %d", maxAccounts), "Send it in parts.")
		}
		s.byKey[k] = n
		s.file.accounts = append(s.file.accounts, account{accountKey: k, stated: s.current.Account, line: at.Line})
		if k.external == "" {
			s.file.report.note(statement.Doubt, at.Line, "the file does not say which account it is of: its entries are put on an account without a number, with those of other such files in "+k.currency)
		}
	}
	s.within = n
	s.file.sections[len(s.file.sections)-1] = n
	return &s.file.accounts[n], nil
}

// normal is the bank's number of an account as it is compared: printed in groups
// and in small letters it is the same.
func normal(number string) string {
	if strings.HasPrefix(number, "acct_") {
		return number
	}
	return strings.ToUpper(strings.Join(strings.Fields(number), ""))
}

// hold keeps the latest balance. A file's pages have balances of their own, which
// say nothing of the account after the statement.
func (a *account) hold(b *statement.Balance, s *statement.Statement) {
	if b.Amount.Currency().String() != a.currency || b.Page {
		return
	}
	held := *b
	if held.Date == "" {
		held.Date = s.To
	}
	switch b.Level {
	case statement.Closing, statement.Ledger:
		if a.latest == nil || a.latest.Date <= held.Date {
			a.latest = &held
		}
	case statement.Available:
		if a.available == nil || a.available.Date <= held.Date {
			a.available = &held
		}
	}
}

func mismatch(found statement.Finding) Finding {
	f := Finding{Kind: "balance_mismatch", Line: found.Place.Line, Text: found.Text, Currency: found.Closing.Currency().String(), Stated: found.Closing.String()}
	if !found.Expected.Currency().IsZero() {
		f.Expected = found.Expected.String()
	}
	return f
}
