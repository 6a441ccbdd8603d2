package main

import (
	"encoding/json"
	"errors"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/trace"
	"github.com/robotmoney/mcp/shared/platform/queue"
)

// event is what is looked at of an event: what it is about. What became of that is
// read from the table.
type event struct {
	ID, Action string
	tenant     identity.Tenant
	trace      trace.Parent // of the request that led to it

	Inputs  json.RawMessage `json:"inputs"`
	Outputs json.RawMessage `json:"outputs"`
}

// open reads a message's body.
func open(body string) (event, error) {
	d, err := queue.Open(body, queue.Ours)
	if err != nil {
		return event{}, err
	}
	e := event{}
	if err := json.Unmarshal(d.Data, &e); err != nil {
		return event{}, errors.New("the event cannot be read")
	}
	e.ID, e.Action, e.tenant, e.trace = d.Event.ID(), d.Event.Action(), d.Event.Tenant(), d.Trace
	return e, nil
}
