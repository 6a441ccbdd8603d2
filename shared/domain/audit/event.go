// Package audit makes the events that say who did what, and keeps each of them:
// on the bus, or in the outbox when the bus does not take it, or not at all, in
// which case what it tells of is not done either.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/raw/payload"
	"github.com/robotmoney/mcp/shared/domain/trace"
)

// Schema is the number of the event's form. Raise it when a field changes its
// meaning: chains and proofs hold events of every form there ever was.
const Schema = 1

// TimeForm is RFC 3339 in UTC with milliseconds, how every time is written.
const TimeForm = "2006-01-02T15:04:05.000Z"

// Source is the origin of the events this surface puts on the bus; the bus lets
// each function use only its own.
const Source = "robotmoney.mcp"

// Layer is the part of the system an event belongs to.
type Layer string

// The layers.
const (
	LayerRaw       Layer = "raw"
	LayerLedger    Layer = "ledger"
	LayerWiki      Layer = "wiki"
	LayerPolicy    Layer = "policy"
	LayerExecution Layer = "execution"
	LayerAgent     Layer = "agent"
	LayerAudit     Layer = "audit"
	LayerIdentity  Layer = "identity"
)

// The actions of requests. A call is one that names a tool, a resource or a
// prompt; every other method is a request.
const (
	ActionCall        = "agent.mcp.tool_called"
	ActionRequest     = "agent.mcp.request"
	ActionRateLimited = "agent.mcp.rate_limited"
)

// Event is one thing that happened, in the form the chain hashes.
type Event struct {
	ID               string         `json:"id"` // evt_ and a ULID
	TenantID         string         `json:"tenant_id"`
	Layer            Layer          `json:"layer"`
	Actor            identity.Actor `json:"actor"`
	Action           string         `json:"action"`
	Inputs           map[string]any `json:"inputs"`
	Outputs          map[string]any `json:"outputs"`
	PolicyDecisionID string         `json:"policy_decision_id,omitempty"`
	BeforeState      map[string]any `json:"before_state,omitempty"`
	AfterState       map[string]any `json:"after_state,omitempty"`
	RequestID        string         `json:"request_id"`
	CreatedAt        string         `json:"created_at"` // TimeForm
	Schema           int            `json:"schema"`
	// Trace is the caller's place in a trace. It travels on the envelope: the journal
	// keeps what happened, not how it was watched.
	Trace trace.Parent `json:"-"`
}

// Call describes one JSON-RPC request for its outer event.
type Call struct {
	RequestID string
	Tenant    identity.Tenant
	Actor     identity.Actor
	Method    string // empty when it could not be read
	Name      string // tool or prompt
	URI       string // resource
	Arguments []byte // the JSON of the arguments; nil when there are none. A raw artifact in them is recorded as its hash
	Code      string // the stable code of the refusal; empty on success
}

// Bounds of what a caller's text may take in an event. The whole of longer
// arguments is pinned by their hash.
const (
	maxArguments = 8 << 10
	maxName      = 2 << 10
)

// event is the one outer event of a request, without what the trail fills in.
func (call Call) event() Event {
	inputs := map[string]any{"method": cut(call.Method, maxName)}
	action := ActionRequest
	switch call.Method {
	case "tools/call", "prompts/get":
		action = ActionCall
		inputs["name"] = cut(call.Name, maxName)
	case "resources/read":
		action = ActionCall
		inputs["uri"] = cut(call.URI, maxName)
	}
	if call.Arguments != nil && action == ActionCall {
		arguments := call.recorded()
		sum := sha256.Sum256(arguments)
		inputs["arguments"] = cut(string(arguments), maxArguments)
		inputs["arguments_sha256"] = hex.EncodeToString(sum[:])
	}
	outputs := map[string]any{"ok": call.Code == ""}
	if call.Code != "" {
		outputs["code"] = call.Code
	}
	return Event{
		TenantID: call.Tenant.String(), Layer: LayerAgent, Actor: call.Actor, Action: action,
		Inputs: inputs, Outputs: outputs, RequestID: call.RequestID,
	}
}

// recorded is what an event says of the arguments: of a raw artifact the hash
// and not the bytes, which are a tenant's documents and not ours to spread.
func (call Call) recorded() []byte {
	if call.Method == "tools/call" && (call.Name == "raw.contribute" || call.Name == "raw_contribute") {
		return payload.Withhold(call.Arguments)
	}
	return call.Arguments
}

// RateLimited is the one event of a tenant's minute in which requests were
// refused by rate.
func RateLimited(t identity.Tenant, minute time.Time, limit int) Event {
	return Event{
		TenantID: t.String(), Layer: LayerAgent, Actor: identity.Actor{Type: "function", ID: "mcp"}, Action: ActionRateLimited,
		Inputs:  map[string]any{"minute": minute.UTC().Format(TimeForm), "limit": limit},
		Outputs: map[string]any{"ok": false, "code": "rate_limited"},
	}
}

// cut keeps at most n bytes of text and whole runes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Entry is an event as the bus carries it: a CloudEvents 1.0 record.
type Entry struct {
	ID     string    // the event's id, by which consumers take it once
	Type   string    // the event's action
	At     time.Time // when it happened
	Detail []byte    // the CloudEvents record as JSON
}

type cloudEvent struct {
	SpecVersion     string `json:"specversion"`
	ID              string `json:"id"`
	Source          string `json:"source"`
	Type            string `json:"type"`
	Subject         string `json:"subject"`
	Time            string `json:"time"`
	DataContentType string `json:"datacontenttype"`
	Traceparent     string `json:"traceparent,omitempty"` // the extension of that name
	Data            Event  `json:"data"`
}

// Entry wraps the event for the bus.
func (e Event) Entry() (Entry, error) {
	at, err := time.Parse(TimeForm, e.CreatedAt)
	if err != nil {
		return Entry{}, fmt.Errorf("time of event %s: %w", e.ID, err)
	}
	detail, err := json.Marshal(cloudEvent{"1.0", e.ID, Source, e.Action, e.TenantID, e.CreatedAt, "application/json", string(e.Trace), e})
	if err != nil {
		return Entry{}, fmt.Errorf("encode event %s: %w", e.ID, err)
	}
	return Entry{e.ID, e.Action, at, detail}, nil
}
