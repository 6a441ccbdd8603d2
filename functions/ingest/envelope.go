package main

import (
	"encoding/json"
	"errors"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/raw"
)

// envelope is an event as the bus hands it on.
type envelope struct {
	Source     string `json:"source"`
	DetailType string `json:"detail-type"`
	Detail     struct {
		ID   string          `json:"id"`
		Data json.RawMessage `json:"data"`
	} `json:"detail"` // a CloudEvents record
}

// errand is what an event asks to look at. None of it is believed: it says where
// to read.
type errand struct {
	tenant    identity.Tenant
	requestID string
	artifact  string
}

// open reads a message's body. Its errors quote nothing of what came, for they end
// in the log.
func open(body string) (errand, error) {
	var e envelope
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return errand{}, errors.New("the body is no event of the bus")
	}
	if e.Source != audit.Source {
		return errand{}, errors.New("the source may not say what is to be parsed")
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
	out := errand{tenant: event.Tenant()}
	out.artifact, out.requestID, err = named(event.Action(), e.Detail.Data)
	return out, err
}

// named is the artifact that an event speaks of, and the request it came with. An
// artifact's arrival has it among what came of it, its acceptance among what it is
// about.
func named(action string, data []byte) (artifact, requestID string, err error) {
	var event struct {
		RequestID string `json:"request_id"`
		Inputs    struct {
			RawID string `json:"raw_id"`
		} `json:"inputs"`
		Outputs struct {
			RawID string `json:"raw_id"`
		} `json:"outputs"`
	}
	if err := json.Unmarshal(data, &event); err != nil {
		return "", "", errors.New("the event cannot be read")
	}
	switch action {
	case raw.ActionContributed:
		artifact = event.Outputs.RawID
	case raw.ActionAccepted:
		artifact = event.Inputs.RawID
	default:
		return "", "", errors.New("the event is none of an artifact that may be parsed")
	}
	if id.Check(id.RawArtifact, artifact) != nil {
		return "", "", errors.New("the event names no artifact")
	}
	return artifact, event.RequestID, nil
}
