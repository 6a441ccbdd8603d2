package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ingest"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/statement/csv"
)

// imported is what an import came to.
type imported struct {
	TenantID string `json:"tenant_id"`
	DryRun   bool   `json:"dry_run"`
	// Of transactions: new ones, those that replaced a pending one or an agent's
	// word, and those that were there.
	TransactionsNew     int            `json:"transactions_new"`
	TransactionsChanged int            `json:"transactions_changed"`
	TransactionsKnown   int            `json:"transactions_known"`
	AccountsNew         int            `json:"accounts_new"`
	CounterpartiesNew   int            `json:"counterparties_new"`
	InvoicesNew         int            `json:"invoices_new"`
	InvoicesKnown       int            `json:"invoices_known"`
	ObligationsNew      int            `json:"obligations_new"`
	ObligationsKnown    int            `json:"obligations_known"`
	Findings            int            `json:"findings"` // what does not add up in the files
	Refused             int            `json:"refused"`  // files of which nothing was stored
	Files               []importedFile `json:"files"`
}

// importedFile is what became of one file.
type importedFile struct {
	File   string         `json:"file"`
	RawID  string         `json:"raw_id"` // empty for a file that was not stored
	State  string         `json:"state"`  // extracted or failed
	Known  bool           `json:"known"`  // the same bytes were in the ledger before
	Report *ingest.Report `json:"report"` // null where nothing was read
}

// importFlags are what a command line says of all its files.
type importFlags struct {
	hints   ingest.Hints
	mapping *csv.Mapping // out of a file; nil for a saved one or none
	dry     bool
	wait    time.Duration
}

// importFiles loads files, one after the other, the way that agents' contributions
// go: stored as they are, announced on the bus, taken in by the function ingest.
func importFiles(ctx context.Context, c *call) error {
	var f importFlags
	c.flags.StringVar(&f.hints.Account, "account", "", "the bank's number of the account, or its id, for files that do not say it")
	c.flags.StringVar(&f.hints.Currency, "currency", "", "currency of amounts in columns that do not say it")
	mapping := c.flags.String("mapping", "", "how to read columns: a JSON file, saved for the tenant under its name, or the name of a saved one")
	c.flags.BoolVar(&f.dry, "dry-run", false, "say what would be new and write nothing")
	c.flags.DurationVar(&f.wait, "wait", 2*time.Minute, "how long to wait for a file of which nothing is heard")
	t, err := c.forTenant(some)
	if err != nil {
		return err
	}
	if err := f.readMapping(*mapping); err != nil {
		return err
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	i := &importer{target: target, tenant: t, flags: f, bar: barOn(c), intake: target.intake()}
	if i.actor, i.requestID, err = operator(); err != nil {
		return err
	}
	if f.mapping != nil && !f.dry {
		if err := i.intake.SaveMapping(ctx, t, i.actor, i.requestID, f.hints.Mapping, *f.mapping); err != nil {
			return err
		}
	}
	total := imported{TenantID: t.String(), DryRun: f.dry, Files: []importedFile{}}
	for _, path := range c.args {
		done, err := i.file(ctx, path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		total.add(done)
	}
	if err := c.print(total, total.lines()...); err != nil {
		return err
	}
	if total.Refused > 0 {
		return fmt.Errorf("%d of %d files were refused, and nothing of them was stored", total.Refused, len(c.args))
	}
	return nil
}

// readMapping reads the mapping of a file; what is no file is the name of a saved
// one.
func (f *importFlags) readMapping(text string) error {
	body, err := os.ReadFile(text)
	if text == "" || errors.Is(err, os.ErrNotExist) {
		f.hints.Mapping = text
		return nil
	}
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.DisallowUnknownFields()
	f.mapping = &csv.Mapping{}
	if err := decoder.Decode(f.mapping); err != nil {
		return usageError(fmt.Sprintf("--mapping %s: %v", text, err))
	}
	f.hints.Mapping = strings.TrimSuffix(filepath.Base(text), filepath.Ext(text))
	if err := errors.Join(ingest.CheckMappingName(f.hints.Mapping), f.mapping.Check()); err != nil {
		return usageError("--mapping: " + err.Error())
	}
	return nil
}

// intake is the taking in of files, for what a command does of it itself.
func (t *target) intake() *ingest.Intake {
	return &ingest.Intake{Archive: t.archive, Ledger: &ledger.Writer{Store: t.store, Trail: t.trail, Now: time.Now}, Trail: t.trail, Now: time.Now}
}

// importer loads files.
type importer struct {
	target    *target
	tenant    identity.Tenant
	actor     identity.Actor
	requestID string
	flags     importFlags
	intake    *ingest.Intake
	bar       *bar
}

// file loads one file.
func (i *importer) file(ctx context.Context, path string) (importedFile, error) {
	done := importedFile{File: filepath.Base(path)}
	body, err := readBounded(path)
	if err != nil {
		return done, err
	}
	defer i.bar.end()
	hints := i.flags.hints
	hints.File = done.File
	if i.flags.dry {
		i.intake.OnProgress = func(p ingest.Progress) { i.bar.show(done.File, p.Done, p.Total) }
		done.Report, err = i.intake.Preview(ctx, i.tenant, body, mediaType(path), hints, i.flags.mapping)
		if err == nil {
			done.State = done.Report.State
		}
		return done, err
	}
	source, err := json.Marshal(hints)
	if err != nil {
		return done, err
	}
	receipt, err := i.target.archive.Contribute(ctx, i.tenant, raw.Origin{Actor: i.actor, Trusted: true}, i.requestID,
		raw.Contribution{Payload: body, MIMEType: mediaType(path), SourceRef: source})
	if fault.Is(err, fault.InvalidArgument) {
		done.State = string(raw.Failed)
		done.Report = &ingest.Report{State: done.State, Failure: &ingest.Failure{Message: fault.Of(err).Message}}
		return done, nil
	}
	if err != nil {
		return done, err
	}
	done.RawID, done.Known = receipt.ID, receipt.State == raw.Extracted
	if receipt.Deduplicated && receipt.State == raw.Failed {
		if _, err := i.target.archive.Retry(ctx, i.tenant, i.actor, i.requestID, receipt.ID, source); err != nil {
			return done, err
		}
	}
	done.State, done.Report, err = i.await(ctx, done.File, receipt, source)
	return done, err
}

// readBounded reads a file that is not too large to be taken.
func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// A byte more than is taken, so that it is refused and not cut.
	return io.ReadAll(io.LimitReader(file, raw.MaxImport+1))
}

const (
	// look is how often an artifact is looked at while it is taken in.
	look = 200 * time.Millisecond
	// nudge is how long an artifact that was there before may stand still until it
	// is announced again: its event may be long gone.
	nudge = 5 * time.Second
)

// await waits until the artifact is taken in or refused.
func (i *importer) await(ctx context.Context, name string, receipt raw.Receipt, source json.RawMessage) (string, *ingest.Report, error) {
	begun := time.Now()
	heard, nudged, before := begun, !receipt.Deduplicated, ingest.Progress{}
	for {
		a, err := i.target.archive.Artifact(ctx, i.tenant, receipt.ID)
		if err != nil {
			return "", nil, err
		}
		if a.State == raw.Extracted || a.State == raw.Failed {
			var report ingest.Report
			return string(a.State), &report, i.piece(ctx, a.ID, raw.Report, &report)
		}
		var now ingest.Progress
		if err := i.piece(ctx, a.ID, raw.Progress, &now); err != nil {
			return "", nil, err
		}
		if now != before {
			heard, before = time.Now(), now
			i.bar.show(name, now.Done, now.Total)
		}
		if quiet := time.Since(heard); quiet > i.flags.wait {
			return "", nil, fmt.Errorf("nothing was heard of it for %v: it is stored as %s and waits for the function ingest", i.flags.wait, a.ID)
		} else if !nudged && quiet > nudge {
			nudged = true
			if _, err := i.target.archive.Retry(ctx, i.tenant, i.actor, i.requestID, a.ID, source); err != nil {
				return "", nil, err
			}
		}
		select {
		case <-ctx.Done():
			return "", nil, ctx.Err()
		case <-time.After(look):
		}
	}
}

// piece reads a part of what the parsers made of an artifact, if it is there.
func (i *importer) piece(ctx context.Context, artifact, name string, into any) error {
	body, err := i.target.archive.Parsed(ctx, i.tenant, artifact, name)
	if err != nil || body == nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// mediaType is what a file's name says that it is, for files whose content does
// not.
func mediaType(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".tsv":
		return "text/csv"
	case ".xml", ".camt":
		return "application/xml"
	case ".ofx", ".qfx":
		return "application/x-ofx"
	case ".jsonl", ".ndjson", ".json":
		return "application/x-ndjson"
	}
	return "text/plain"
}
