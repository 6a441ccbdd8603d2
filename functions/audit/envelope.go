package main

import (
	"encoding/json"
	"errors"
	"regexp"

	"github.com/robotmoney/mcp/shared/domain/journal"
)

// sources are the origins whose events are entered. Each function's role lets it
// put events of its own source only, so what claims one of these is ours.
var sources = regexp.MustCompile(`^robotmoney\.[a-z]+$`)

// envelope is an event as the bus hands it on. A replay has a replay-name
// beside these and is taken like any: an event enters once.
type envelope struct {
	Source     string `json:"source"`
	DetailType string `json:"detail-type"`
	Detail     struct {
		ID   string          `json:"id"`
		Data json.RawMessage `json:"data"`
	} `json:"detail"` // a CloudEvents record
}

// open reads a message's body and checks that its envelope speaks of the event
// inside. Its errors quote nothing of what came, for they end in the log.
func open(body string) (journal.Event, error) {
	var e envelope
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return journal.Event{}, errors.New("the body is no event of the bus")
	}
	if !sources.MatchString(e.Source) {
		return journal.Event{}, errors.New("the source is none of ours")
	}
	if len(e.Detail.Data) == 0 {
		return journal.Event{}, errors.New("the detail is no CloudEvents record with data")
	}
	event, err := journal.Parse(e.Detail.Data)
	switch {
	case err != nil:
		return journal.Event{}, err
	case e.DetailType != event.Action():
		return journal.Event{}, errors.New("the detail-type is not the event's action")
	case e.Detail.ID != event.ID():
		return journal.Event{}, errors.New("the record's id is not the event's")
	}
	return event, nil
}
