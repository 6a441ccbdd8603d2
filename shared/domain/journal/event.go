package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/robotmoney/mcp/shared/domain/canonical"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// MaxEvent is how many bytes an event may have in its canonical form. An item of
// the table holds 400 KB, and the entry and its keys need some of them.
const MaxEvent = 390 << 10

// Event is an event that can be entered: it has an id, a tenant, an action and a
// canonical form. Only Parse makes one.
type Event struct {
	id, action string
	tenant     identity.Tenant
	body       []byte // the canonical form
	sum        string // its SHA-256, in hexadecimal
}

// ID is the event's name, by which it enters once.
func (e Event) ID() string { return e.id }

// Action is what the event tells of.
func (e Event) Action() string { return e.action }

// Tenant is whose journal the event belongs in. It is to be trusted as far as
// whoever delivered the event is.
func (e Event) Tenant() identity.Tenant { return e.tenant }

// Parse reads an event's JSON. All members are kept, whatever they are: events
// of forms that are yet to come have their place in the chain too. Its errors
// quote nothing of the event, for they end in logs.
func Parse(raw []byte) (Event, error) {
	body, err := canonical.Transform(raw)
	if err != nil {
		return Event{}, errors.New("the event is no JSON with a canonical form")
	}
	if len(body) > MaxEvent {
		return Event{}, errors.New("the event is larger than an entry may be")
	}
	// A map and not a struct: that would take "ID" for "id".
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return Event{}, errors.New("the event is no JSON object")
	}
	e := Event{id: text(members["id"]), action: text(members["action"]), body: body}
	if id.Check(id.Event, e.id) != nil {
		return Event{}, errors.New("the event's id is not one of an event")
	}
	if e.tenant, err = identity.OperatorTenant(text(members["tenant_id"])); err != nil {
		return Event{}, errors.New("the event's tenant_id is not well-formed")
	}
	if e.action == "" {
		return Event{}, errors.New("the event has no action")
	}
	sum := sha256.Sum256(body)
	e.sum = hex.EncodeToString(sum[:])
	return e, nil
}

// text is the string a member holds; empty when it holds none.
func text(member json.RawMessage) string {
	var s string
	if json.Unmarshal(member, &s) != nil {
		return ""
	}
	return s
}
