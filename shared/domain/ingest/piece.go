package ingest

import (
	"github.com/robotmoney/mcp/shared/domain/statement"
)

// maxPiece is how many bytes of entries one piece of evidence holds, about. Escaped
// at its worst, and with
// the longest entry on top, it is still an item of the table.
const maxPiece = 48 << 10

// piece is evidence: what was read of some entries that follow each other.
type piece struct {
	EvidenceID string `json:"evidence_id"`
	RawID      string `json:"raw_id"`
	Parser     string `json:"parser"`
	Read       []read `json:"read"`
	size       int
}

// read is what one line or element of the file says, and the row it became. What
// the file does not say is absent.
type read struct {
	Line      int      `json:"line"`
	Column    int      `json:"column,omitempty"`
	Path      string   `json:"path,omitempty"`
	Row       string   `json:"row,omitempty"` // id of the ledger row; absent for what is no booking
	Amount    string   `json:"amount,omitempty"`
	Currency  string   `json:"currency,omitempty"`
	Direction string   `json:"direction,omitempty"`
	Status    string   `json:"status,omitempty"`
	Reversal  bool     `json:"reversal,omitempty"`
	Booked    string   `json:"booked,omitempty"`
	Value     string   `json:"value,omitempty"`
	Initiated string   `json:"initiated,omitempty"`
	Refs      *refs    `json:"refs,omitempty"`
	Party     *party   `json:"party,omitempty"`
	Memo      string   `json:"memo,omitempty"`
	Raw       string   `json:"raw,omitempty"`
	Type      string   `json:"type,omitempty"`
	Batch     *batch   `json:"batch,omitempty"`
	Original  *amount  `json:"original,omitempty"`
	Charges   []amount `json:"charges,omitempty"`
	Running   string   `json:"balance_after,omitempty"`
	Object    string   `json:"object,omitempty"` // of our own lines, as it came
}

type refs struct {
	Bank       string `json:"bank,omitempty"`
	EndToEnd   string `json:"end_to_end,omitempty"`
	Customer   string `json:"customer,omitempty"`
	Mandate    string `json:"mandate,omitempty"`
	Creditor   string `json:"creditor,omitempty"`
	Instructed string `json:"instructed,omitempty"`
	Check      string `json:"check,omitempty"`
}

type party struct {
	Name    string `json:"name,omitempty"`
	Account string `json:"account,omitempty"`
	Bank    string `json:"bank,omitempty"`
}

type batch struct {
	Ref   string `json:"ref,omitempty"`
	Part  int    `json:"part,omitempty"`
	Parts int    `json:"parts,omitempty"`
}

type amount struct {
	Amount    string `json:"amount"`
	Currency  string `json:"currency,omitempty"`
	Direction string `json:"direction,omitempty"`
	Included  bool   `json:"included,omitempty"`
	Rate      string `json:"rate,omitempty"`
}

const (
	maxRead    = 2000 // bytes of a memo
	maxRef     = 140  // bytes of anything else
	maxCharges = 10
)

// readOf is what an entry says, cut to what evidence holds.
func readOf(e *statement.Entry, row string) read {
	ref := func(text string) string { return clean(text, maxRef) }
	out := read{
		Line: e.Line, Column: e.Column, Path: ref(e.Path), Row: row, Amount: e.Amount.String(), Currency: e.Amount.Currency().String(),
		Direction: string(e.Direction), Status: string(e.Status), Reversal: e.Reversal, Booked: string(e.Booked), Value: string(e.Value),
		Initiated: string(e.Initiated), Memo: clean(e.Memo, maxRead), Type: ref(e.Type),
	}
	if raw := clean(e.Raw, maxRead); raw != out.Memo {
		out.Raw = raw
	}
	r := refs{ref(e.Refs.Bank), ref(e.Refs.EndToEnd), ref(e.Refs.Customer), ref(e.Refs.Mandate), ref(e.Refs.Creditor), ref(e.Refs.Instructed), ref(e.Refs.Check)}
	if r != (refs{}) {
		out.Refs = &r
	}
	if p := (party{ref(e.Party.Name), ref(e.Party.Account), ref(e.Party.Bank)}); p != (party{}) {
		out.Party = &p
	}
	if b := (batch{ref(e.Batch.Ref), e.Batch.Part, e.Batch.Parts}); b != (batch{}) {
		out.Batch = &b
	}
	if o := e.Original; !o.Amount.Currency().IsZero() {
		out.Original = &amount{Amount: o.Amount.String(), Currency: o.Amount.Currency().String(), Rate: ref(o.Rate)}
	}
	for _, c := range e.Charges[:min(len(e.Charges), maxCharges)] {
		out.Charges = append(out.Charges, amount{Amount: c.Amount.String(), Currency: c.Amount.Currency().String(), Direction: string(c.Direction), Included: c.Included})
	}
	if !e.Running.Currency().IsZero() {
		out.Running = e.Running.String()
	}
	return out
}

// weight is about how many bytes what was read takes.
func (r *read) weight() int {
	n := 250 + len(r.Path) + len(r.Memo) + len(r.Raw) + len(r.Object) + 80*len(r.Charges)
	if r.Refs != nil {
		n += 200
	}
	if r.Party != nil {
		n += 80 + len(r.Party.Name)
	}
	return n
}
