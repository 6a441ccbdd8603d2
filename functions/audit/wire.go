package main

import (
	"io"
	"log/slog"

	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/platform/clock"
	"github.com/robotmoney/mcp/shared/platform/metric"
)

// wire builds the function out of its parts. Metrics are lines of out.
func wire(c config, log *slog.Logger, out io.Writer) *consumer {
	return &consumer{
		journal: &journal.Journal{Store: c.aws.Clients().Table(c.table)}, log: log,
		meter: metric.Meter{Out: out, Now: clock.Now, Function: c.aws.Function},
	}
}
