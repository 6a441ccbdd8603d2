package main

import (
	"encoding/json"
	"errors"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/trace"
	"github.com/robotmoney/mcp/shared/platform/queue"
)

// errand is what an event asks to look at. None of it is believed: it says where
// to read.
type errand struct {
	tenant    identity.Tenant
	requestID string
	artifact  string
	trace     trace.Parent // of the request that led to it
}

// open reads a message's body.
func open(body string) (errand, error) {
	d, err := queue.Open(body, func(source string) bool { return source == audit.Source })
	if err != nil {
		return errand{}, err
	}
	out := errand{tenant: d.Event.Tenant(), trace: d.Trace}
	out.artifact, out.requestID, err = named(d.Event.Action(), d.Data)
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
