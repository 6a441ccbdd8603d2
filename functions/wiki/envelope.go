package main

import (
	"encoding/json"
	"errors"
	"regexp"

	"github.com/robotmoney/mcp/shared/domain/identity"
)

// sources are the origins whose events are acted on. Each function's role lets it
// put events of its own source only, so what claims one of these is ours.
var sources = regexp.MustCompile(`^robotmoney\.[a-z]+$`)

// envelope is an event as the bus hands it on.
type envelope struct {
	Source     string `json:"source"`
	DetailType string `json:"detail-type"`
	Detail     struct {
		ID   string `json:"id"`
		Data event  `json:"data"`
	} `json:"detail"` // a CloudEvents record
}

// event is what is looked at of an event: what it is about. What became of that is
// read from the table.
type event struct {
	ID       string          `json:"id"`
	TenantID string          `json:"tenant_id"`
	Action   string          `json:"action"`
	Inputs   json.RawMessage `json:"inputs"`
	Outputs  json.RawMessage `json:"outputs"`

	tenant identity.Tenant
}

// open reads a message's body and checks that its envelope speaks of the event
// inside. Its errors quote nothing of what came, for they end in the log.
func open(body string) (event, error) {
	var e envelope
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return event{}, errors.New("the body is no event of the bus")
	}
	data := e.Detail.Data
	switch {
	case !sources.MatchString(e.Source):
		return event{}, errors.New("the source is none of ours")
	case data.ID == "" || e.Detail.ID != data.ID:
		return event{}, errors.New("the record's id is not the event's")
	case data.Action == "" || e.DetailType != data.Action:
		return event{}, errors.New("the detail-type is not the event's action")
	}
	tenant, err := identity.OperatorTenant(data.TenantID)
	if err != nil {
		return event{}, errors.New("the event's tenant_id is not well-formed")
	}
	data.tenant = tenant
	return data, nil
}
