package main

import (
	"crypto/rand"
	"io"
	"log/slog"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/ingest"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/platform/clock"
	"github.com/robotmoney/mcp/shared/platform/metric"
)

// fetchTimeout bounds one attempt to fetch an artifact, which may be as large as
// an operator's import.
const fetchTimeout = 30 * time.Second

// wire builds the function out of its parts. Metrics are lines of out.
func wire(c config, log *slog.Logger, out io.Writer) *consumer {
	now, made := clock.Now, c.aws.Clients()
	store, bucket := made.Table(c.table), made.Bucket(c.bucket, now)
	bucket.Timeout = fetchTimeout
	meter := metric.Meter{Out: out, Now: now, Function: c.aws.Function}
	trail := &audit.Trail{
		Bus: made.Bus(c.bus), Store: store, IDs: id.NewSource(now, rand.Reader), Now: now, Log: log,
		Lost: func() { meter.Count("AuditRefused") },
	}
	return &consumer{log: log, meter: meter, intake: &ingest.Intake{
		Archive: &raw.Archive{Store: store, Blobs: bucket, Trail: trail, IDs: trail.IDs, Now: now},
		Ledger:  &ledger.Writer{Store: store, Trail: trail, Now: now}, Trail: trail, Now: now,
	}}
}
