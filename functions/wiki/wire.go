package main

import (
	"crypto/rand"
	"io"
	"log/slog"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/wiki/press"
	"github.com/robotmoney/mcp/shared/platform/clock"
	"github.com/robotmoney/mcp/shared/platform/metric"
)

// wire builds the function out of its parts. Metrics are lines of out.
func wire(c config, log *slog.Logger, out io.Writer) *consumer {
	store := c.aws.Clients().Table(c.table)
	return &consumer{
		press: &press.Press{Store: store, IDs: id.NewSource(clock.Now, rand.Reader), Now: clock.Now}, log: log,
		meter: metric.Meter{Out: out, Now: clock.Now, Function: c.aws.Function},
	}
}
