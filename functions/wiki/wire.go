package main

import (
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/wiki/press"
)

// wire builds the function out of its parts.
func wire(c config, log *slog.Logger) *consumer {
	store := c.aws.Clients().Table(c.table)
	return &consumer{press: &press.Press{Store: store, IDs: id.NewSource(time.Now, rand.Reader), Now: time.Now}, log: log}
}
