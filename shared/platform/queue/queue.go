// Package queue is what every function that reads a queue of the bus does alike:
// it opens a message, and names the messages to be delivered again.
package queue

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/lazy"
	"github.com/robotmoney/mcp/shared/domain/trace"
)

// Delivery is an event as the bus handed it on. None of it is believed beyond
// saying where to read.
type Delivery struct {
	Source string          // of the envelope; each function's role lets it put its own only
	Replay string          // the replay's name, empty for what came at first hand
	Event  journal.Event   // its id and action are those of the envelope
	Data   json.RawMessage // the event's JSON as it came
	Trace  trace.Parent    // of the request that led to it, empty for none
}

// ours are the origins of our own functions and of the rails.
var ours = lazy.Pattern(`^robotmoney\.[a-z]+$`)

// Ours says whether a source is one of ours. Each function's role lets it put
// events of its own source only, so what claims one of these is ours.
func Ours(source string) bool { return ours().MatchString(source) }

// Open reads a message's body and checks that its source may be taken and that its
// envelope speaks of the event inside. Its errors quote nothing of what came, for
// they end in the log.
func Open(body string, take func(source string) bool) (Delivery, error) {
	var envelope struct {
		Source     string `json:"source"`
		DetailType string `json:"detail-type"`
		Replay     string `json:"replay-name"` // set by a replay of the archive
		Detail     struct {
			ID          string          `json:"id"`
			Data        json.RawMessage `json:"data"`
			Traceparent string          `json:"traceparent"`
		} `json:"detail"` // a CloudEvents record
	}
	if err := json.Unmarshal([]byte(body), &envelope); err != nil {
		return Delivery{}, errors.New("the body is no event of the bus")
	}
	if !take(envelope.Source) {
		return Delivery{}, errors.New("the source is none of ours")
	}
	if len(envelope.Detail.Data) == 0 {
		return Delivery{}, errors.New("the detail is no CloudEvents record with data")
	}
	event, err := journal.Parse(envelope.Detail.Data)
	switch {
	case err != nil:
		return Delivery{}, err
	case envelope.DetailType != event.Action():
		return Delivery{}, errors.New("the detail-type is not the event's action")
	case envelope.Detail.ID != event.ID():
		return Delivery{}, errors.New("the record's id is not the event's")
	}
	return Delivery{envelope.Source, envelope.Replay, event, envelope.Detail.Data, trace.Parse(envelope.Detail.Traceparent)}, nil
}

// Failures are the messages of a batch to be delivered again, each once. Several
// goroutines may add.
type Failures struct {
	mu       sync.Mutex
	messages []string
}

// Add names messages.
func (f *Failures) Add(messages ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range messages {
		if !slices.Contains(f.messages, id) {
			f.messages = append(f.messages, id)
		}
	}
}

// Response is the answer to the queue.
func (f *Failures) Response() events.SQSEventResponse {
	f.mu.Lock()
	defer f.mu.Unlock()
	failed := make([]events.SQSBatchItemFailure, 0, len(f.messages)) // none is an empty list, not null
	for _, id := range f.messages {
		failed = append(failed, events.SQSBatchItemFailure{ItemIdentifier: id})
	}
	return events.SQSEventResponse{BatchItemFailures: failed}
}
