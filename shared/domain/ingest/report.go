package ingest

import (
	"encoding/json"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/csv"
)

// Report is what became of a file. It holds what the file says, and is for who
// may read the file: an event or a log must not get it.
type Report struct {
	EvidenceID string `json:"evidence_id"`
	RawID      string `json:"raw_id"`
	Parser     string `json:"parser"` // ofx, camt, mt940, csv or jsonlines; empty for a file of no format that is read
	State      string `json:"state"`  // of the artifact: extracted or failed
	// Entries is how many movements the file tells of, and Informational how many
	// of these are no bookings: information, or pending without a day.
	Entries        int      `json:"entries"`
	Informational  int      `json:"informational"`
	From           string   `json:"from"` // the days of the first and the last entry, YYYY-MM-DD; empty without one
	To             string   `json:"to"`
	Transactions   Count    `json:"transactions"`
	Accounts       Count    `json:"accounts"`
	Counterparties Count    `json:"counterparties"`
	Invoices       Count    `json:"invoices"`
	Obligations    Count    `json:"obligations"`
	Balances       int      `json:"balances"` // that were stored or are there
	AccountIDs     []string `json:"account_ids"`
	Pieces         int      `json:"evidence_pieces"` // evidence with the ids of this one, numbered from 1
	// Findings are what does not add up, Notes what a person may want to know. They
	// are cut off after some; the totals are not.
	Findings      []Finding    `json:"findings"`
	FindingsTotal int          `json:"findings_total"`
	Notes         []Note       `json:"notes"`
	NotesTotal    int          `json:"notes_total"`
	Failure       *Failure     `json:"failure"` // null unless the file was refused
	Mapping       *csv.Mapping `json:"mapping"` // how columns were read; null for other formats
}

// Count is how many rows of a kind a file has: New came with it, Changed replaced
// what was worth less, and Known were there.
type Count struct {
	New     int `json:"new"`
	Changed int `json:"changed"`
	Known   int `json:"known"`
}

// Finding is something in a file that does not add up.
type Finding struct {
	Kind     string `json:"kind"` // balance_mismatch or running_balance
	Line     int    `json:"line"`
	Currency string `json:"currency,omitempty"`
	Expected string `json:"expected,omitempty"` // decimal, what the entries make
	Stated   string `json:"stated,omitempty"`   // decimal, what the file says
	Text     string `json:"text"`
}

// Note is something a person may want to know of a file.
type Note struct {
	Topic string `json:"topic"` // skipped, narrative or doubt
	Line  int    `json:"line"`
	Text  string `json:"text"`
}

// Failure is why a file was refused, and where.
type Failure struct {
	Message  string `json:"message"`
	Line     int    `json:"line"` // from 1; 0 when it is no line's fault
	Column   int    `json:"column,omitempty"`
	Path     string `json:"path,omitempty"`
	Read     string `json:"read,omitempty"`
	Expected string `json:"expected,omitempty"`
}

// Progress is how far the rows of a file are.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

const (
	// maxListed is how many findings and notes a report repeats, and maxListedText
	// how much of each: it is one item of the table and one answer of a tool.
	maxListed     = 20
	maxListedText = 300
)

func newReport(rawID string) *Report {
	return &Report{
		EvidenceID: raw.EvidenceID(rawID, raw.Report), RawID: rawID, AccountIDs: []string{}, Findings: []Finding{}, Notes: []Note{},
	}
}

func (r *Report) find(f Finding) {
	r.FindingsTotal++
	if len(r.Findings) < maxListed {
		f.Text = cut(f.Text, maxListedText)
		r.Findings = append(r.Findings, f)
	}
}

func (r *Report) note(topic statement.Topic, line int, text string) {
	r.NotesTotal++
	if len(r.Notes) < maxListed {
		r.Notes = append(r.Notes, Note{string(topic), line, cut(text, maxListedText)})
	}
}

// seen widens the report's days by one.
func (r *Report) seen(day statement.Date) {
	if r.From == "" || string(day) < r.From {
		r.From = string(day)
	}
	r.To = max(r.To, string(day))
}

// failureOf is what a refusal says, as the report keeps it.
func failureOf(err *fault.Error) *Failure {
	f := &Failure{Message: err.Message}
	text := func(name string) string {
		s, _ := err.Details[name].(string)
		return s
	}
	f.Path, f.Read, f.Expected = text("path"), text("read"), text("expected")
	f.Line, _ = err.Details["line"].(int)
	f.Column, _ = err.Details["column"].(int)
	return f
}

// ours says whether a stored row came with an artifact, the first that told of it.
func ours(stored []byte, rawID string) bool {
	var row struct {
		SourceIDs []string `json:"source_ids"`
	}
	return json.Unmarshal(stored, &row) == nil && len(row.SourceIDs) > 0 && row.SourceIDs[0] == rawID
}
