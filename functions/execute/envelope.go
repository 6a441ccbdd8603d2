package main

import (
	"encoding/json"
	"errors"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
)

// approved is the event of an intent that may be executed.
const approved = "payment_intent.approved"

// envelope is an event as the bus hands it on.
type envelope struct {
	Source     string `json:"source"`
	DetailType string `json:"detail-type"`
	Replay     string `json:"replay-name"` // set by a replay of the archive
	Detail     struct {
		ID   string          `json:"id"`
		Data json.RawMessage `json:"data"`
	} `json:"detail"` // a CloudEvents record
}

// errand is what an event asks to look at. None of it is believed: it says where to
// read.
type errand struct {
	event   string // the event's id
	tenant  identity.Tenant
	intent  string             // approved, if the table says so too
	receipt *execution.Receipt // of a rail; nil for an approved intent
	replay  string             // the replay's name, empty for none
}

// open reads a message's body. Its errors quote nothing of what came, for they end
// in the log.
func open(body string) (errand, error) {
	var e envelope
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return errand{}, errors.New("the body is no event of the bus")
	}
	if len(e.Detail.Data) == 0 {
		return errand{}, errors.New("the detail is no CloudEvents record with data")
	}
	event, err := journal.Parse(e.Detail.Data)
	switch {
	case err != nil:
		return errand{}, err
	case e.DetailType != event.Action():
		return errand{}, errors.New("the detail-type is not the event's action")
	case e.Detail.ID != event.ID():
		return errand{}, errors.New("the record's id is not the event's")
	}
	out := errand{event: event.ID(), tenant: event.Tenant(), replay: e.Replay}
	switch {
	case e.Source == audit.Source && e.DetailType == approved:
		out.intent, err = intentOf(e.Detail.Data)
	case e.Source == execution.ReceiptSource && e.DetailType == execution.OrderReceipt:
		var receipt execution.Receipt
		receipt, err = execution.ReceiptOf(e.Detail.Data)
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
