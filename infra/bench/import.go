package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/infra/bankfile"
	"github.com/robotmoney/mcp/infra/bench/measure"
	"github.com/robotmoney/mcp/infra/bench/report"
	"github.com/robotmoney/mcp/infra/footprint"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ingest"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/statement"
	"github.com/robotmoney/mcp/shared/domain/statement/csv"
	"github.com/robotmoney/mcp/shared/domain/statement/detect"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// The sizes and targets of a bank file's way into the ledger.
const (
	fileEntries  = 100_000
	floorEntries = 10_000
	parseBound   = 2_000_000_000 // ns
	parseRounds  = 3
	storeRate    = 1_500
	ingestMemory = 128 << 20
	floorLanes   = 4 // transactions at one time, as the intake makes them
)

// importing measures how long a large file of each format takes to be read, and
// how many entries a second are stored.
func importing(ctx context.Context, b *bench) ([]report.Row, error) {
	var rows []report.Row
	for _, f := range bankfile.Formats {
		text := f.Write(fileEntries)
		took, err := measure.Call(parseRounds, func() error { return entries(text) })
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Name, err)
		}
		rows = append(rows, report.Most(fmt.Sprintf("%s of %d entries (%s), read to its end", f.Name, fileEntries, report.Bytes(float64(len(text)))), took, parseBound, report.Nanoseconds))
	}
	stored, err := b.storing(ctx)
	return append(rows, stored...), err
}

// entries reads a file and counts what it says.
func entries(text string) error {
	source := strings.NewReader(text)
	format, err := detect.Of(source, "text/plain")
	if err != nil {
		return err
	}
	n := 0
	for item, err := range detect.Read(source, format, csv.Mapping{}) {
		if err != nil {
			return err
		}
		if _, ok := item.(*statement.Entry); ok {
			n++
		}
	}
	if n != fileEntries {
		return fmt.Errorf("%d entries, want %d", n, fileEntries)
	}
	return nil
}

// storing takes a large file into an empty ledger, and a smaller one whose
// transactions are then repeated alone.
func (b *bench) storing(ctx context.Context) ([]report.Row, error) {
	if err := b.scratch(); err != nil {
		return nil, err
	}
	client, stop, err := b.engine(ctx, filepath.Join(b.folder, "import.sqlite"))
	if err != nil {
		return nil, err
	}
	defer stop()
	large, err := newIntake(client, "bench-large")
	if err != nil {
		return nil, err
	}
	peak := footprint.Peak()
	took, err := large.take(ctx, bankfile.CSV(fileEntries), fileEntries)
	taken := peak()
	if err != nil {
		return nil, err
	}
	kept := &asked{API: client}
	small, err := newIntake(kept, "bench-small")
	if err != nil {
		return nil, err
	}
	ours, err := small.take(ctx, bankfile.CSV(floorEntries), floorEntries)
	if err != nil {
		return nil, err
	}
	floor, err := kept.again(ctx)
	if err != nil {
		return nil, err
	}
	return []report.Row{
		report.Least(fmt.Sprintf("CSV of %d entries, from its bytes to the last row: stored", fileEntries), fileEntries/took.Seconds(), storeRate, report.PerSecond),
		report.Most("the same, memory beyond what the process had before", float64(taken), ingestMemory, report.Bytes),
		report.Share(fmt.Sprintf("CSV of %d entries, time: all of it / its transactions alone", floorEntries), float64(ours.Nanoseconds()), float64(floor.Nanoseconds()), 0, report.Nanoseconds),
	}, nil
}

// intake is the ingest of a tenant, with a bus that takes everything.
type intake struct {
	tenant  identity.Tenant
	archive *raw.Archive
	*ingest.Intake
}

func newIntake(api table.API, tenant string) (*intake, error) {
	t, err := identity.OperatorTenant(tenant)
	if err != nil {
		return nil, err
	}
	store, ids := &table.Table{API: api, Name: tableName}, id.NewSource(time.Now, rand.Reader)
	trail := &audit.Trail{Bus: taking{}, Store: store, IDs: ids, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	archive := &raw.Archive{Store: store, Blobs: &shelf{}, Trail: trail, IDs: ids, Now: time.Now}
	return &intake{t, archive, &ingest.Intake{Archive: archive, Ledger: &ledger.Writer{Store: store, Trail: trail, Now: time.Now}, Trail: trail, Now: time.Now}}, nil
}

// take brings a file and takes it in, as the function does; all its entries must
// be new.
func (in *intake) take(ctx context.Context, text string, n int) (time.Duration, error) {
	by := raw.Origin{Actor: identity.Actor{Type: "operator", ID: "import"}, Trusted: true}
	receipt, err := in.archive.Contribute(ctx, in.tenant, by, "req_1", raw.Contribution{Payload: []byte(text), MIMEType: "text/csv"})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	out, err := in.Take(ctx, in.tenant, "req_2", receipt.Artifact.ID)
	took := time.Since(began)
	if err == nil && (out.Report == nil || out.Report.Transactions.New != n) {
		err = fmt.Errorf("not all of %d entries were new: %+v", n, out.Report)
	}
	return took, err
}

// taking is a bus that takes everything and does nothing.
type taking struct{}

// Publish takes all entries.
func (taking) Publish(context.Context, []audit.Entry) ([]string, error) { return nil, nil }

// shelf keeps artifacts in memory: the store of bytes is not what is measured.
type shelf struct{ lying sync.Map }

// Put keeps a body.
func (s *shelf) Put(_ context.Context, name string, body []byte) error {
	s.lying.Store(name, body)
	return nil
}

// Get returns a body.
func (s *shelf) Get(_ context.Context, name string, _ int) ([]byte, error) {
	body, there := s.lying.Load(name)
	if !there {
		return nil, io.ErrUnexpectedEOF
	}
	return body.([]byte), nil
}

// again makes the transactions that are kept once more under keys of their own,
// as many at a time as the intake does, and says how long they took.
func (a *asked) again(ctx context.Context) (time.Duration, error) {
	changes := a.aside()
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(floorLanes)
	for i := range changes {
		group.Go(func() error {
			_, err := a.API.TransactWriteItems(ctx, &changes[i])
			return err
		})
	}
	err := group.Wait()
	return time.Since(began), err
}
