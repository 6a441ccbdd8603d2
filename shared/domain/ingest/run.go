package ingest

import (
	"context"
	"strconv"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/csv"
)

// chunk is how many rows of a file are held at a time, and written before the
// next are read. More of them share more rollups and so take fewer transactions;
// all of them are in memory.
const chunk = 2000

// planned is a row on its way into the ledger, and where it comes from.
type planned struct {
	row   ledger.Row
	party string // name of the other side, empty for none
	place statement.Place
	piece int  // of the evidence
	read  bool // of an entry: its id follows from the amount, among others
	of    booking
}

// booking is what a payment of several is told by. The first of them has the id
// that the booking has in a file that gives its sum alone: whichever file comes
// second finds it there.
type booking struct {
	first             string // id of the first payment, empty for a row that is no part
	amount, direction string // of the whole
}

// refer makes the row one of a counterparty.
func (p planned) refer(counterparty string) {
	switch x := p.row.(type) {
	case *ledger.Transaction:
		x.CounterpartyID = &counterparty
	case *ledger.Invoice:
		x.CounterpartyID = counterparty
	case *ledger.Obligation:
		x.CounterpartyID = counterparty
	}
}

// run is one file's way into the ledger, after it has been surveyed. All of it may
// be repeated: what is there already is known by its id.
type run struct {
	in        *Intake
	tenant    identity.Tenant
	requestID string
	artifact  raw.Artifact
	file      *file
	dry       bool         // looks and writes nothing
	given     *csv.Mapping // in the place of a saved one; nil for none
	accounts  []string
	empty     map[string]bool // accounts that were not there before: no row of theirs is looked for
	parties   *parties
	ranks     statement.Ranks
	booking   booking // whose payments are read
	noted     string  // the booking whose payments were left out last
	rows      []planned
	pieces    []piece // of the chunk that is held
	written   int     // pieces before those
	done      int
}

// store takes the file's rows into the ledger, accounts first, balances last.
func (r *run) store(ctx context.Context, accounts []ledger.Row) error {
	r.parties, r.empty = &parties{run: r, known: map[string]string{}}, map[string]bool{}
	if err := r.enterAccounts(ctx, accounts); err != nil {
		return err
	}
	if r.file.parties {
		// Who a counterparty is comes before what names it alone would be.
		if err := r.walk(ctx, func(item statement.Item) bool { return isParty(item) }); err != nil {
			return err
		}
	}
	if err := r.walk(ctx, func(item statement.Item) bool { return !isParty(item) }); err != nil {
		return err
	}
	r.file.report.Pieces = r.written
	return r.enterBalances(ctx)
}

func isParty(item statement.Item) bool {
	record, ok := item.(*statement.Record)
	return ok && record.Type == ofCounterparty
}

// walk reads the file again and writes what is wanted of it, chunk by chunk.
func (r *run) walk(ctx context.Context, wanted func(statement.Item) bool) error {
	section := -1
	for item, err := range r.file.items() {
		if err != nil {
			return err
		}
		if _, begins := item.(*statement.Statement); begins {
			section++
		}
		if !wanted(item) {
			continue
		}
		switch x := item.(type) {
		case *statement.Entry:
			if err := r.take(x, r.accounts[r.file.sections[section]]); err != nil {
				return err
			}
		case *statement.Record:
			if err := r.takeRecord(x); err != nil {
				return err
			}
		}
		if len(r.rows) >= chunk {
			if err := r.flush(ctx); err != nil {
				return err
			}
		}
	}
	return r.flush(ctx)
}

// take plans the row of an entry, and puts what it says into the evidence.
func (r *run) take(e *statement.Entry, account string) error {
	r.done++
	if !books(e) {
		r.evidence(readOf(e, ""))
		return nil
	}
	meta := r.meta(r.name(account, e))
	piece := r.evidence(readOf(e, meta.ID))
	meta.EvidenceIDs = []string{raw.EvidenceID(r.artifact.ID, strconv.Itoa(piece))}
	row, err := transaction(e, meta, account)
	if err != nil {
		return err
	}
	r.rows = append(r.rows, planned{row: row, party: partyName(e.Party.Name), place: e.Place, piece: piece, read: true, of: r.booking})
	return nil
}

// name is the id of an entry's row. The payments of a booking come one after the
// other, the first of them first.
func (r *run) name(account string, e *statement.Entry) string {
	whole, part := e.Whole()
	switch {
	case !part:
		r.booking = booking{}
	case e.Batch.Part == 1:
		r.booking = booking{transactionID(r.tenant, &r.ranks, account, &whole), whole.Amount.String(), string(whole.Direction)}
		return r.booking.first
	}
	return transactionID(r.tenant, &r.ranks, account, e)
}

func (r *run) takeRecord(x *statement.Record) error {
	made, err := recordRow(r.tenant, x, r.meta(""))
	if err != nil {
		return err
	}
	made.piece = r.evidence(read{Line: x.Line, Row: ledger.ID(made.row), Object: cut(string(x.Object), 4*maxRead)})
	ledger.Cite(made.row, raw.EvidenceID(r.artifact.ID, strconv.Itoa(made.piece)))
	r.rows = append(r.rows, made)
	return nil
}

// evidence keeps what was read and returns the number of the piece it is in.
func (r *run) evidence(what read) int {
	if n := len(r.pieces); n == 0 || r.pieces[n-1].size > maxPiece {
		number := strconv.Itoa(r.written + n + 1)
		r.pieces = append(r.pieces, piece{EvidenceID: raw.EvidenceID(r.artifact.ID, number), RawID: r.artifact.ID, Parser: string(r.file.format)})
	}
	last := &r.pieces[len(r.pieces)-1]
	last.Read = append(last.Read, what)
	last.size += what.weight()
	return r.written + len(r.pieces)
}

// meta is what every row of the file has. What an agent brings is believed half at
// most.
func (r *run) meta(name string) ledger.Meta {
	m := ledger.Meta{ID: name, SourceIDs: []string{r.artifact.ID}, Provenance: "extracted", Confidence: 1}
	if r.artifact.AgentID != "" {
		m.Provenance, m.Confidence = "agent_contributed", agentConfidence
	}
	return m
}

// agentConfidence is how far a row that an agent brought is believed.
const agentConfidence = 0.5
