package main

import (
	"crypto/rand"
	"log/slog"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/wiki/press"
	"github.com/robotmoney/mcp/shared/platform/clock"
)

// wire builds the function out of its parts.
func wire(c config, log *slog.Logger) *consumer {
	store := c.aws.Clients().Table(c.table)
	return &consumer{press: &press.Press{Store: store, IDs: id.NewSource(clock.Now, rand.Reader), Now: clock.Now}, log: log}
}
