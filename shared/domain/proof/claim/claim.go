// Package claim says what a proof of an action claims, and how each claim follows
// from the audit events inside it. Whoever writes a proof and whoever checks one
// derive the claims here, so one that does not follow is found by its place.
//
// It needs the standard library alone: an auditor can read all of it.
package claim

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Proof is what can be shown of an action. All but what the chain says (paths and
// anchors) follows from the preimages of its events.
type Proof struct {
	ActionID string `json:"action_id"`
	TenantID string `json:"tenant_id"`
	Fields
	AuditEvents []Event `json:"audit_events"`
	ProofHash   string  `json:"proof_hash"` // SHA-256 of the canonical form of all the rest, 64 hex digits
}

// Fields are derived from the events.
type Fields struct {
	AgentID            string     `json:"agent_id"` // who proposed
	Outcome            string     `json:"outcome"`  // the action's state
	Policy             *Policy    `json:"policy"`   // null when no policy decided
	GateChecks         []any      `json:"gate_checks"`
	Approvals          []any      `json:"approvals"`
	Evidence           []Evidence `json:"evidence"`
	LedgerSnapshotHash *string    `json:"ledger_snapshot_hash"`
	RailReceipt        any        `json:"rail_receipt"` // null unless a rail answered
	Explanation        string     `json:"explanation"`
}

// Policy is the decision that counts, and the policy that made it.
type Policy struct {
	Version           any    `json:"version"` // a number
	Hash              string `json:"hash"`
	DecisionID        string `json:"decision_id"`
	Outcome           string `json:"outcome"`
	MatchedRules      []any  `json:"matched_rules"`
	RequiredApprovers []any  `json:"required_approvers"`
	HumanFloor        bool   `json:"human_floor"`
	Signers           []any  `json:"signers"`
}

// Evidence is something the action rests on.
type Evidence struct {
	Kind string `json:"kind"`
	Ref  string `json:"ref"`
}

// Event is one entry of the tenant's hash chain.
type Event struct {
	Seq      int64    `json:"seq"`
	PrevHash string   `json:"prev_hash"` // 64 hex digits
	Hash     string   `json:"hash"`      // SHA-256 of the preimage, 64 hex digits
	Leaf     string   `json:"leaf"`      // the same as the contract takes it, 0x and 64 hex digits
	Preimage string   `json:"preimage"`  // the canonical JSON of event, prev_hash and seq
	Path     []string `json:"merkle_path"`
	Anchor   *Anchor  `json:"anchor"` // null before the next anchor
}

// Anchor is where the root over an event's period is published.
type Anchor struct {
	Root        string `json:"root"` // 0x and 64 hex digits
	TxHash      string `json:"tx_hash"`
	BlockNumber uint64 `json:"block_number"`
	Contract    string `json:"contract"` // an address
	ChainID     uint64 `json:"chain_id"`
	Status      string `json:"status"` // Pending or Final
}

// The statuses of an anchor: its block can still be replaced, or not any more.
const (
	Pending = "pending"
	Final   = "final"
)

// Link is what is given of one event: its preimage, and where it is anchored.
type Link struct {
	Preimage string
	Path     []string // from the leaf up, 0x and 64 hex digits each
	Anchor   *Anchor
}

// Entry is a preimage taken apart.
type Entry struct {
	Seq      int64
	PrevHash string
	Event    map[string]any
	Hash     string // of the preimage
}

// Open takes a preimage apart. One that is not the canonical form of an entry is
// refused: its hash would stand for more than one reading.
func Open(preimage string) (Entry, error) {
	object, err := ParseObject([]byte(preimage))
	if err != nil {
		return Entry{}, err
	}
	form, err := Canonical(object)
	if err != nil || string(form) != preimage {
		return Entry{}, errors.New("the preimage is not in its canonical form")
	}
	event, isEvent := object["event"].(map[string]any)
	prev, isHash := object["prev_hash"].(string)
	n, isNumber := object["seq"].(json.Number)
	seq, err := n.Int64()
	if !isEvent || !isHash || !isNumber || err != nil || seq < 0 || len(object) != 3 {
		return Entry{}, errors.New("the preimage is not one of event, prev_hash and seq")
	}
	sum := sha256.Sum256([]byte(preimage))
	return Entry{seq, prev, event, hex.EncodeToString(sum[:])}, nil
}

// Build makes the proof of an action from its events, in the order of the chain.
// An event of another tenant, or about another action, is an error. Only Encode
// gives it its hash.
func Build(action string, links []Link) (Proof, error) {
	if len(links) == 0 {
		return Proof{}, errors.New("there is no event")
	}
	p := Proof{ActionID: action}
	var events []map[string]any
	for i, link := range links {
		entry, err := Open(link.Preimage)
		if err != nil {
			return Proof{}, fmt.Errorf("event %d: %w", i, err)
		}
		if link.Path == nil {
			link.Path = []string{}
		}
		p.AuditEvents = append(p.AuditEvents, Event{
			Seq: entry.Seq, PrevHash: entry.PrevHash, Hash: entry.Hash, Leaf: "0x" + entry.Hash, Preimage: link.Preimage, Path: link.Path, Anchor: link.Anchor,
		})
		events = append(events, entry.Event)
	}
	p.TenantID = text(events[0], "tenant_id")
	subject, err := subjectOf(action, events)
	if err != nil {
		return Proof{}, err
	}
	for i, event := range events {
		if of := text(event, "tenant_id"); of == "" || of != p.TenantID {
			return Proof{}, fmt.Errorf("event %d is another tenant's", i)
		}
		if !SubjectsOf(event).Has(subject) {
			return Proof{}, fmt.Errorf("event %d is not about %s", i, action)
		}
	}
	p.Fields = Derive(subject, events)
	return p, nil
}

// subjectOf is the action whose events those are: of an execution it is what was
// executed, which one of the events says.
func subjectOf(action string, events []map[string]any) (string, error) {
	switch Index(action) {
	case 0:
		return "", errors.New("the action's id is not one of an action")
	case 3:
		for _, event := range events {
			if s := SubjectsOf(event); s.Execution == action && s.Case != "" {
				return s.Case, nil
			}
		}
		return "", fmt.Errorf("no event is about %s", action)
	}
	return action, nil
}

// Tree is the proof as Parse would read it.
func (p Proof) Tree() (map[string]any, error) {
	v, err := tree(p)
	object, _ := v.(map[string]any)
	return object, err
}

// Encode writes the proof in canonical form, with its hash.
func (p Proof) Encode() ([]byte, error) {
	object, err := p.Tree()
	if err != nil {
		return nil, err
	}
	if object["proof_hash"], err = Sum(object); err != nil {
		return nil, err
	}
	return Canonical(object)
}

// Sum is the proof_hash of a proof as Parse read it.
func Sum(proof map[string]any) (string, error) {
	rest := make(map[string]any, len(proof))
	for name, v := range proof {
		if name != "proof_hash" {
			rest[name] = v
		}
	}
	form, err := Canonical(rest)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(form)
	return hex.EncodeToString(sum[:]), nil
}

// late are the states that come after all others, in their order: on the way to a
// rail, and those from which nothing follows.
var late = map[string]int{
	"dispatching": 1,
	"executed":    2, "failed": 2, "rejected": 2, "cancelled": 2, "expired": 2, "denied": 2, "consumed": 2, "revoked": 2,
}

// Derive makes the fields out of the events about a subject, which are given in
// any order. What happened first has the lower id; but ids are made by clocks of
// several machines, so a late state is late whatever its id. It takes all events
// as they are and trusts none to have a member.
func Derive(subject string, events []map[string]any) Fields {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b map[string]any) int {
		return cmp.Or(cmp.Compare(late[text(a, "after_state", "status")], late[text(b, "after_state", "status")]), cmp.Compare(text(a, "id"), text(b, "id")))
	})
	s := story{subject: subject, Fields: Fields{GateChecks: []any{}, Approvals: []any{}, Evidence: []Evidence{}}}
	for _, event := range events {
		s.take(event)
	}
	s.Explanation = s.explain()
	return s.Fields
}

// story is what the events up to some one tell.
type story struct {
	subject string
	Fields
	first map[string]any // the inputs of what proposed it
	at    string         // when that was
	rail  string         // it was handed to
}

// take goes on by one event.
func (s *story) take(event map[string]any) {
	if own := text(event, "after_state", "id"); own != s.subject {
		return // it tells of something that used the subject
	}
	if status := text(event, "after_state", "status"); status != "" {
		s.Outcome = status
	}
	inputs, _ := event["inputs"].(map[string]any)
	outputs, _ := event["outputs"].(map[string]any)
	if agent := text(inputs, "agent", "id"); agent != "" && s.first == nil {
		s.AgentID, s.first, s.at = agent, inputs, text(event, "created_at")
		s.Evidence = evidence(inputs)
	}
	if decision, ok := outputs["decision"].(map[string]any); ok {
		// A person's refusal carries what the policy said then, which decides nothing.
		if s.Policy == nil || text(decision, "id") == text(event, "policy_decision_id") {
			s.decided(decision)
		}
	}
	if approvals, ok := outputs["approvals"].([]any); ok {
		s.Approvals = approvals
	}
	if checks, ok := outputs["gate_checks"].([]any); ok {
		s.GateChecks = checks
	}
	if hash, ok := outputs["ledger_snapshot_hash"].(string); ok {
		s.LedgerSnapshotHash = &hash
	}
	if receipt, ok := outputs["rail_receipt"]; ok {
		s.RailReceipt = receipt
	}
	if rail := text(inputs, "rail"); rail != "" {
		s.rail = rail
	}
}

func (s *story) decided(decision map[string]any) {
	floor, _ := decision["human_floor"].(bool)
	s.Policy = &Policy{
		Version: decision["policy_version"], Hash: text(decision, "policy_hash"), DecisionID: text(decision, "id"), Outcome: text(decision, "outcome"),
		MatchedRules: some(decision, "matched_rules"), RequiredApprovers: some(decision, "required_approvers"),
		HumanFloor: floor, Signers: some(decision, "policy_signers"),
	}
	if hash := text(decision, "ledger_snapshot_hash"); hash != "" {
		s.LedgerSnapshotHash = &hash
	}
}

// some is the list at a name, empty when there is none.
func some(object map[string]any, name string) []any {
	if l := list(object, name); l != nil {
		return l
	}
	return []any{}
}

// kinds are what ids of evidence are of, by their prefix, in the words of policies.
var kinds = map[string]string{
	"tx": "transaction", "inv": "invoice", "obl": "obligation", "raw": "raw_artifact", "prs": "parsed_evidence", "acct": "account", "cp": "counterparty",
}

// evidence is what a proposal rests on, in its order: what it pays first.
func evidence(inputs map[string]any) []Evidence {
	all := []Evidence{}
	for _, link := range []Evidence{{"obligation", "obligation_id"}, {"invoice", "invoice_id"}} {
		if ref := text(inputs, "payment", link.Ref); ref != "" {
			all = append(all, Evidence{link.Kind, ref})
		}
	}
	for _, v := range list(inputs, "payment", "evidence_ids") {
		if ref, ok := v.(string); ok {
			prefix, _, _ := strings.Cut(ref, "_")
			all = append(all, Evidence{cmp.Or(kinds[prefix], "other"), ref})
		}
	}
	for _, v := range list(inputs, "action", "evidence") {
		if named, ok := v.(map[string]any); ok {
			all = append(all, Evidence{text(named, "kind"), text(named, "ref")})
		}
	}
	return all
}
