package main

import (
	"crypto/rand"
	"io"
	"log/slog"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/outbox"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/platform/clock"
	"github.com/robotmoney/mcp/shared/platform/metric"
)

// wire builds the function out of its parts. Metrics are lines of out.
func wire(c config, log *slog.Logger, out io.Writer) *round {
	now, made := clock.Now, c.aws.Clients()
	store, events := made.Table(c.table), made.Bus(c.bus)
	trail := &audit.Trail{Bus: events, Store: store, IDs: id.NewSource(now, rand.Reader), Now: now, Log: log}
	return &round{
		sweeper:  &outbox.Sweeper{Bus: events, Store: store, Now: now, Log: log},
		expirers: []Expirer{&proposals.Desk{Store: store, Trail: trail, IDs: trail.IDs, Now: now}},
		receipts: &execution.Receipts{Store: store, Now: now},
		meter:    metric.Meter{Out: out, Now: now, Function: c.aws.Function}, now: now, log: log,
	}
}
