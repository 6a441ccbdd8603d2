package main

import (
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/trace"
	"github.com/robotmoney/mcp/shared/platform/queue"
)

// open reads a message's body. A replay is taken like any: an event enters once.
func open(body string) (journal.Event, trace.Parent, error) {
	d, err := queue.Open(body, queue.Ours)
	return d.Event, d.Trace, err
}
