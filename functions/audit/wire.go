package main

import (
	"log/slog"

	"github.com/robotmoney/mcp/shared/domain/journal"
)

// wire builds the function out of its parts.
func wire(c config, log *slog.Logger) *consumer {
	return &consumer{journal: &journal.Journal{Store: c.aws.Clients().Table(c.table)}, log: log}
}
