// Package ingest takes what was brought from outside into the ledger: a bank's
// file, or our own lines, becomes evidence, accounts, transactions,
// counterparties, invoices, obligations and balances.
//
// A file is read twice. The first reading looks at all of it and writes nothing,
// so that a file with one bad row leaves nothing behind. The second writes it
// chunk by chunk. The id of each row follows from what the row says, so the same
// file again, one that overlaps it, and a chunk that is written again after a
// crash all find their rows and add nothing.
package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/statement/csv"
)

// Intake takes artifacts into the ledger.
type Intake struct {
	Archive    *raw.Archive
	Ledger     *ledger.Writer
	Trail      *audit.Trail
	Now        func() time.Time
	OnProgress func(Progress) // called after each chunk; may be nil
}

// actor is who writes the rows.
var actor = identity.Actor{Type: "function", ID: "ingest"}

// Outcome is what became of an artifact.
type Outcome struct {
	State  raw.State
	Report *Report // nil for an artifact that was not looked at: it waits, or was done with before
}

// Take takes an accepted artifact into the ledger, or refuses it: its state is
// extracted or failed then, and its report says what came of it. Artifacts in
// other states are left alone, so that an event may come twice. After an error the
// artifact is accepted still, some of its rows may be there, and the same call
// again finishes it.
func (in *Intake) Take(ctx context.Context, t identity.Tenant, requestID, rawID string) (Outcome, error) {
	artifact, err := in.Archive.Artifact(ctx, t, rawID)
	if err != nil {
		return Outcome{}, err
	}
	if artifact.State != raw.Accepted {
		return Outcome{State: artifact.State}, nil
	}
	body, err := in.Archive.Payload(ctx, t, artifact)
	if err != nil {
		return Outcome{}, err
	}
	r := &run{in: in, tenant: t, requestID: requestID, artifact: artifact}
	failure, err := r.read(ctx, body, hintsOf(artifact.SourceRef))
	switch {
	case err != nil:
		return Outcome{}, err
	case failure != nil:
		return r.end(ctx, raw.Failed, failure)
	}
	return r.end(ctx, raw.Extracted, nil)
}

// Preview says what Take would make of bytes that an operator has, and writes
// nothing. A mapping that is given is not looked for among the saved ones. A file
// that would be refused has a report with a failure.
func (in *Intake) Preview(ctx context.Context, t identity.Tenant, body []byte, mediaType string, h Hints, given *csv.Mapping) (*Report, error) {
	r := &run{in: in, tenant: t, dry: true, given: given, artifact: raw.Artifact{ID: "raw_preview", MIMEType: mediaType, CreatedAt: in.Now().UTC().Format(audit.TimeForm)}}
	failure, err := r.read(ctx, body, h)
	if err != nil {
		return nil, err
	}
	r.file.report.State, r.file.report.Failure = string(raw.Extracted), failure
	if failure != nil {
		r.file.report.State = string(raw.Failed)
	}
	return r.file.report, nil
}

// read surveys bytes and stores what is in them. A failure is what they are
// refused for, and then nothing is stored; an error says nothing of them.
func (r *run) read(ctx context.Context, body []byte, h Hints) (*Failure, error) {
	accounts, err := r.survey(ctx, body, h)
	var refused *fault.Error
	if errors.As(err, &refused) && refused.Code == fault.InvalidArgument {
		return failureOf(refused), nil
	}
	if err != nil {
		return nil, err
	}
	if err := r.store(ctx, accounts); fault.Is(err, fault.InvalidArgument) {
		// The survey has a gap. What it says quotes the file, and would go to a log.
		return nil, fmt.Errorf("artifact %s: a row was refused that the survey had passed", r.artifact.ID)
	} else if err != nil {
		return nil, err
	}
	return nil, nil
}

// survey looks at all of the file, without writing, and returns the rows of the
// accounts that it brings.
func (r *run) survey(ctx context.Context, body []byte, h Hints) ([]ledger.Row, error) {
	r.file = &file{report: newReport(r.artifact.ID)}
	m, err := r.in.mapping(ctx, r.tenant, h, r.given)
	if err != nil {
		return nil, err
	}
	if r.file, err = survey(r.tenant, bytes.NewReader(body), r.artifact.MIMEType, m, h, r.artifact.ID); err != nil {
		return nil, err
	}
	return r.findAccounts(ctx)
}

// end keeps the report and moves the artifact on. The event says how much there
// was and not what: it is for everybody who follows the bus.
func (r *run) end(ctx context.Context, state raw.State, failure *Failure) (Outcome, error) {
	report := r.file.report
	report.State, report.Failure = string(state), failure
	if err := r.in.Archive.KeepParsed(ctx, r.tenant, r.artifact.ID, raw.Report, report); err != nil {
		return Outcome{}, err
	}
	outputs := map[string]any{"parser": report.Parser, "entries": report.Entries, "evidence_id": report.EvidenceID}
	if failure != nil {
		outputs["ok"], outputs["code"], outputs["line"], outputs["column"] = false, string(fault.InvalidArgument), failure.Line, failure.Column
	} else {
		outputs["transactions_new"], outputs["transactions_known"] = report.Transactions.New+report.Transactions.Changed, report.Transactions.Known
		outputs["accounts"], outputs["findings"] = report.AccountIDs, report.FindingsTotal
	}
	if _, err := r.in.Archive.Advance(ctx, r.tenant, actor, r.requestID, r.artifact.ID, state, outputs); err != nil {
		return Outcome{}, err
	}
	return Outcome{State: state, Report: report}, nil
}

func (in *Intake) reader() *ledger.Reader { return &ledger.Reader{Store: in.Ledger.Store, Now: in.Now} }
