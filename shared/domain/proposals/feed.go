package proposals

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/evidence"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Entry is a payment intent or another action as the feed of proposals shows it:
// what somebody needs who decides.
type Entry struct {
	ID              string          `json:"id"`
	Type            string          `json:"type"` // one of Types
	CreatedAt       string          `json:"created_at"`
	Status          Status          `json:"status"`
	RiskBand        string          `json:"risk_band"`
	Confidence      *float64        `json:"confidence"` // of an action, 0 to 1
	Narrative       string          `json:"narrative"`  // what is proposed, in words
	Evidence        []EvidenceRef   `json:"evidence"`
	Agent           EntryAgent      `json:"agent"`
	PaymentIntentID *string         `json:"payment_intent_id"` // null for an action
	ActionType      string          `json:"action_type"`       // of a payment; the kind of an action
	Details         json.RawMessage `json:"details"`           // the payment, or the action's own fields
	Policy          EntryPolicy     `json:"policy"`
	Hash            string          `json:"proposal_hash"`
	Available       []string        `json:"available_decisions"`
}

// EvidenceRef is a reference and whether evidence.resolve knows what to do with it.
type EvidenceRef struct {
	Kind       string `json:"kind"`
	Ref        string `json:"ref"`
	Resolvable bool   `json:"resolvable"`
}

// EntryAgent is who proposed.
type EntryAgent struct {
	ID   string `json:"id"`
	Role string `json:"role"`
}

// EntryPolicy is what the policy said.
type EntryPolicy struct {
	Decision    policy.Outcome `json:"decision"`
	Version     int64          `json:"version"`
	Matched     []string       `json:"matched_rules"`
	Explanation string         `json:"explanation"`
	Approvers   []string       `json:"required_approvers"`
}

// Filter narrows the feed; empty members do not.
type Filter struct {
	Type, Status, RiskBand string
	MinConfidence          *float64
}

// keeps says whether an entry passes. A payment carries no confidence, so a least
// one leaves it out.
func (f Filter) keeps(c Case) bool {
	if f.MinConfidence != nil && (c.Action == nil || c.Action.Confidence == nil || *c.Action.Confidence < *f.MinConfidence) {
		return false
	}
	return (f.Type == "" || f.Type == c.publicType()) && (f.Status == "" || f.Status == string(c.Status)) &&
		(f.RiskBand == "" || f.RiskBand == c.Standing.RiskBand)
}

func (c Case) publicType() string {
	if c.Action != nil {
		return c.Action.Type
	}
	return PaymentType
}

// Feed lists the tenant's proposals, the newest first.
func (d *Desk) Feed(ctx context.Context, t identity.Tenant, f Filter, w listing.Window) (listing.Page, error) {
	l := listing.Listing{
		Query:  record.Query{Index: 3, PK: key.Feed(t, "", "").PK, Reverse: true},
		Sparse: f != Filter{},
		Rows: func(ctx context.Context, items []record.Item) ([]json.RawMessage, error) {
			return d.entries(ctx, t, f, items)
		},
	}
	return l.Walk(ctx, d.Store, t, w)
}

// entries are the rows of items, with the payees of all of them read in one batch.
func (d *Desk) entries(ctx context.Context, t identity.Tenant, f Filter, items []record.Item) ([]json.RawMessage, error) {
	cases := make([]*Case, len(items))
	var payees []key.Key
	for i, item := range items {
		c, err := Decode(item)
		if err != nil {
			return nil, err
		}
		if !f.keeps(c) {
			continue
		}
		cases[i] = &c
		if k := c.payee(t); !k.Zero() {
			payees = append(payees, k)
		}
	}
	found := map[key.Key]record.Item{}
	if len(payees) > 0 {
		var err error
		if found, err = d.Store.GetMany(ctx, payees); err != nil {
			return nil, err
		}
	}
	rows := make([]json.RawMessage, len(items))
	for i, c := range cases {
		if c == nil {
			continue
		}
		entry, err := c.entry(found[c.payee(t)])
		if err != nil {
			return nil, err
		}
		if rows[i], err = json.Marshal(entry); err != nil {
			return nil, fmt.Errorf("encode proposal %s: %w", c.ID, err)
		}
	}
	return rows, nil
}

// Entry is one proposal of the feed. A malformed, missing or foreign id is
// proposal_not_found all the same.
func (d *Desk) Entry(ctx context.Context, t identity.Tenant, name string) (Entry, error) {
	c, err := d.proposal(ctx, t, name)
	if err != nil {
		return Entry{}, err
	}
	var payee record.Item
	if k := c.payee(t); !k.Zero() {
		if payee, _, err = d.Store.Get(ctx, k); err != nil {
			return Entry{}, err
		}
	}
	return c.entry(payee)
}

// proposal finds what the feed shows under an id.
func (d *Desk) proposal(ctx context.Context, t identity.Tenant, name string) (Case, error) {
	kind, known := KindOf(name)
	if !known || kind == id.Authorization {
		return Case{}, absent(id.Proposal)
	}
	c, err := d.find(ctx, t, kind, name)
	if fault.Is(err, fault.IntentNotFound) {
		return Case{}, absent(id.Proposal)
	}
	return c, err
}

// entry is a case as the feed shows it, given the row its payee has now.
func (c Case) entry(payeeRow record.Item) (Entry, error) {
	hash, err := c.hashOf(payeeRow)
	if err != nil {
		return Entry{}, err
	}
	ruling := c.Standing.Ruling
	e := Entry{
		ID: c.ID, Type: c.publicType(), CreatedAt: c.CreatedAt, Status: c.Status, RiskBand: c.Standing.RiskBand, Evidence: []EvidenceRef{},
		Agent: EntryAgent{c.AgentID, c.Standing.Proposer.Role}, Hash: hash, Available: c.available(),
		Policy: EntryPolicy{ruling.Outcome, ruling.PolicyVersion, nonNil(ruling.Matched), ruling.Explain(), nonNil(ruling.Approvers)},
	}
	if c.Action != nil {
		e.ActionType, e.Confidence, e.Details, e.Narrative = c.Action.Kind, c.Action.Confidence, c.Action.Fields, c.Action.narrative()
		for _, ref := range c.Action.Evidence {
			e.Evidence = append(e.Evidence, EvidenceRef{ref.Kind, ref.Ref, evidence.Addressable(evidence.Ref(ref))})
		}
		return e, nil
	}
	name := c.DestinationCounterpartyID
	if payeeRow.Version > 0 {
		var row ledger.Counterparty
		if err := json.Unmarshal(payeeRow.Body, &row); err != nil {
			return Entry{}, fmt.Errorf("decode the payee of %s: %w", c.ID, err)
		}
		name = row.Name + " (" + row.ID + ")"
	}
	e.ActionType, e.PaymentIntentID, e.Narrative = string(c.ActionType), &c.ID, narrative(*c.Payment, name)
	for _, ref := range c.refs() {
		e.Evidence = append(e.Evidence, EvidenceRef{ref.Kind, ref.Ref, evidence.Addressable(evidence.Ref(ref))})
	}
	if e.Details, err = json.Marshal(c.Payment); err != nil {
		return Entry{}, fmt.Errorf("encode %s: %w", c.ID, err)
	}
	return e, nil
}

// refs are what a payment rests on.
func (c Case) refs() []Reference {
	var refs []Reference
	if c.InvoiceID != nil {
		refs = append(refs, Reference{payments.EvidenceKinds[id.Invoice], *c.InvoiceID})
	}
	if c.ObligationID != nil {
		refs = append(refs, Reference{payments.EvidenceKinds[id.Obligation], *c.ObligationID})
	}
	for _, name := range c.EvidenceIDs {
		if prefix, ok := payments.EvidenceKind(name); ok {
			refs = append(refs, Reference{payments.EvidenceKinds[prefix], name})
		}
	}
	return refs
}

func narrative(p payments.Payment, payee string) string {
	verb, way := "Pay", "to"
	if p.ActionType == payments.ACHInbound {
		verb, way = "Collect", "from"
	}
	text := fmt.Sprintf("%s %s %s %s %s by %s, account %s.", verb, p.Amount, p.Currency, way, payee, p.ActionType, p.SourceAccountID)
	if p.Memo != nil {
		text += " " + *p.Memo
	}
	return text
}

// narrative is what the agent says of its action, under one of the names agents
// give to that, or the kind in words.
func (a Action) narrative() string {
	var fields map[string]any
	if json.Unmarshal(a.Fields, &fields) == nil {
		for _, name := range []string{"narrative", "summary", "reason", "description"} {
			if text, ok := fields[name].(string); ok && text != "" {
				return text
			}
		}
	}
	return strings.ReplaceAll(a.Kind, "_", " ")
}

// The decisions people make.
const (
	Approve     = "approve"
	Reject      = "reject"
	Acknowledge = "acknowledge"
	Undo        = "undo"
)

// Choices lists them.
var Choices = []string{Approve, Reject, Acknowledge, Undo}

// available are the decisions that can be made about a case as it stands.
func (c Case) available() []string {
	switch {
	case c.Action == nil && c.Status.waits():
		return []string{Approve, Reject}
	case c.Action == nil && (c.Status == Approved || c.Status == Authorized):
		return []string{Reject}
	case c.Action != nil && c.Status.waits():
		return []string{Approve, Reject, Acknowledge}
	case c.Action != nil && (c.Status == Approved || c.Status == Acknowledged):
		return []string{Undo}
	}
	return []string{}
}

// Entry is an action's answer as the feed shows it. A payment's needs its payee:
// see Desk.Entry.
func (a Answer) Entry() (Entry, error) { return a.entry(record.Item{}) }
