package main

import (
	"encoding/json"
	"errors"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/trace"
	"github.com/robotmoney/mcp/shared/platform/queue"
)

// approved is the event of an intent that may be executed.
const approved = "payment_intent.approved"

// errand is what an event asks to look at. None of it is believed: it says where to
// read.
type errand struct {
	event   string // the event's id
	tenant  identity.Tenant
	intent  string             // approved, if the table says so too
	receipt *execution.Receipt // of a rail; nil for an approved intent
	replay  string             // the replay's name, empty for none
	trace   trace.Parent       // of the request that led to it
}

// open reads a message's body.
func open(body string) (errand, error) {
	d, err := queue.Open(body, func(string) bool { return true }) // which source may say what follows below
	if err != nil {
		return errand{}, err
	}
	out := errand{event: d.Event.ID(), tenant: d.Event.Tenant(), replay: d.Replay, trace: d.Trace}
	switch action := d.Event.Action(); {
	case d.Source == audit.Source && action == approved:
		out.intent, err = intentOf(d.Data)
	case d.Source == execution.ReceiptSource && action == execution.OrderReceipt:
		var receipt execution.Receipt
		receipt, err = execution.ReceiptOf(d.Data)
		out.receipt = &receipt
	default:
		err = errors.New("the event is none that is executed, or of a source that may not say so")
	}
	return out, err
}

// intentOf is the intent that an event speaks of.
func intentOf(data []byte) (string, error) {
	var event struct {
		Inputs struct {
			ID string `json:"id"`
		} `json:"inputs"`
	}
	if err := json.Unmarshal(data, &event); err != nil || id.Check(id.PaymentIntent, event.Inputs.ID) != nil {
		return "", errors.New("the event names no payment intent")
	}
	return event.Inputs.ID, nil
}
