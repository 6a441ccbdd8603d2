// Package verify checks a proof of an action and trusts nothing in it. It makes
// every hash again out of what is hashed, climbs every path, derives every claim
// again from the events, and compares. It shares with who wrote the proof only
// the rules by which claims follow from events.
//
// What a proof cannot show by itself is that no event was left out at its end: a
// proof of yesterday does not know of today.
package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/proof/claim"
)

// Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"`
	Holds  bool   `json:"holds"`
	Detail string `json:"detail"` // what was seen; for a check that fails, what is wrong
}

// Report is everything that was looked at, in order.
type Report struct {
	ActionID string  `json:"action_id"`
	Outcome  string  `json:"outcome"` // derived from the events, not taken from the file
	Checks   []Check `json:"checks"`
}

// Options say what is asked besides the file.
type Options struct {
	RPC      string // an Ethereum node; empty asks nobody
	Contract string // the address anchors must be at; empty takes what the proof says
}

// Holds says whether every check held.
func (r *Report) Holds() bool {
	return len(r.Checks) > 0 && !slices.ContainsFunc(r.Checks, func(c Check) bool { return !c.Holds })
}

// Failed are the checks that did not hold.
func (r *Report) Failed() []Check {
	return slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return c.Holds })
}

// Print writes a line for each check and one for all of them.
func (r *Report) Print(w io.Writer) {
	for _, c := range r.Checks {
		word := "ok    "
		if !c.Holds {
			word = "FAILED"
		}
		fmt.Fprintf(w, "%s  %-22s %s\n", word, c.Name, c.Detail)
	}
	if failed := len(r.Failed()); failed > 0 {
		fmt.Fprintf(w, "The proof does not hold: %d of %d checks failed.\n", failed, len(r.Checks))
		return
	}
	fmt.Fprintf(w, "The proof holds: %s is %s.\n", r.ActionID, r.Outcome)
}

// add keeps a check; no error is one that held.
func (r *Report) add(name string, err error, format string, args ...any) {
	c := Check{Name: name, Holds: err == nil, Detail: fmt.Sprintf(format, args...)}
	if err != nil {
		c.Detail = err.Error()
	}
	r.Checks = append(r.Checks, c)
}

// Proof checks a proof as it was read from a file.
func Proof(ctx context.Context, raw []byte, o Options) *Report {
	r := &Report{}
	file, links, err := read(raw)
	r.add("form", err, "%d events", len(links))
	if err != nil {
		return r
	}
	action, _ := file["action_id"].(string)
	made, err := claim.Build(action, links)
	r.add("events", err, "all are of one tenant and about %s", action)
	if err != nil {
		return r
	}
	r.ActionID, r.Outcome = made.ActionID, made.Outcome
	r.compare(made, file)
	r.add("chain of hashes", chained(made.AuditEvents), "entries %d to %d", made.AuditEvents[0].Seq, made.AuditEvents[len(made.AuditEvents)-1].Seq)
	r.paths(made.AuditEvents)
	if o.Contract != "" {
		r.add("contract", at(made.AuditEvents, o.Contract), "%s", o.Contract)
	}
	if o.RPC != "" {
		r.asks(ctx, o.RPC, made)
	}
	return r
}

// names are the members of each kind of object in a proof.
var (
	proofNames  = []string{"action_id", "agent_id", "approvals", "audit_events", "evidence", "explanation", "gate_checks", "ledger_snapshot_hash", "outcome", "policy", "proof_hash", "rail_receipt", "tenant_id"}
	eventNames  = []string{"anchor", "hash", "leaf", "merkle_path", "preimage", "prev_hash", "seq"}
	anchorNames = []string{"block_number", "chain_id", "contract", "root", "status", "tx_hash"}
)

// read takes a file apart into what is to be compared, and what everything else
// follows from.
func read(raw []byte) (map[string]any, []claim.Link, error) {
	file, err := claim.ParseObject(raw)
	if err != nil {
		return nil, nil, err
	}
	if err := members("the proof", file, proofNames); err != nil {
		return nil, nil, err
	}
	events, ok := file["audit_events"].([]any)
	if !ok || len(events) == 0 {
		return nil, nil, errors.New("audit_events is no list of events")
	}
	var links []claim.Link
	for i, v := range events {
		link, err := readEvent(v)
		if err != nil {
			return nil, nil, fmt.Errorf("audit_events[%d]: %w", i, err)
		}
		links = append(links, link)
	}
	return file, links, nil
}

// members refuses an object that has other members than it should.
func members(what string, object map[string]any, want []string) error {
	if got := slices.Sorted(maps.Keys(object)); !slices.Equal(got, want) {
		return fmt.Errorf("%s has other members than %s", what, strings.Join(want, ", "))
	}
	return nil
}

func readEvent(v any) (claim.Link, error) {
	event, _ := v.(map[string]any)
	if err := members("the event", event, eventNames); err != nil {
		return claim.Link{}, err
	}
	var link claim.Link
	var ok bool
	if link.Preimage, ok = event["preimage"].(string); !ok {
		return link, errors.New("preimage is no text")
	}
	nodes, ok := event["merkle_path"].([]any)
	if !ok {
		return link, errors.New("merkle_path is no list")
	}
	link.Path = []string{}
	for _, v := range nodes {
		node, _ := v.(string)
		if _, err := node32(node); err != nil {
			return link, fmt.Errorf("merkle_path: %w", err)
		}
		link.Path = append(link.Path, node)
	}
	if event["anchor"] == nil {
		return link, nil
	}
	anchor, err := readAnchor(event["anchor"])
	link.Anchor = anchor
	return link, err
}

func readAnchor(v any) (*claim.Anchor, error) {
	object, _ := v.(map[string]any)
	if err := members("the anchor", object, anchorNames); err != nil {
		return nil, err
	}
	raw, err := claim.Canonical(object)
	if err != nil {
		return nil, err
	}
	var a claim.Anchor
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, errors.New("the anchor's members are not of their kinds")
	}
	if a.Status != claim.Pending && a.Status != claim.Final {
		return nil, fmt.Errorf("the anchor's status is %.20q, want pending or final", a.Status)
	}
	for _, text := range []string{a.Root, a.TxHash} {
		if _, err := node32(text); err != nil {
			return nil, fmt.Errorf("the anchor: %w", err)
		}
	}
	return &a, nil
}

// compare holds every member of the file against the one derived. An event is
// named by its place and member.
func (r *Report) compare(made claim.Proof, file map[string]any) {
	derived, err := made.Tree()
	if err != nil {
		r.add("fields", err, "")
		return
	}
	// The only hold on what the chain alone knows, when nobody asks the chain.
	sum, err := claim.Sum(file)
	if err == nil && file["proof_hash"] != sum {
		err = fmt.Errorf("the file has the hash %s and says %s", sum, brief(file["proof_hash"]))
	}
	r.add("proof_hash", err, "the file is as it was written")
	for _, name := range proofNames {
		switch name {
		case "proof_hash":
		case "audit_events":
			r.add("hashes", differs(derived[name], file[name], name), "every hash is that of its preimage")
		default:
			r.add(name, differs(derived[name], file[name], name), "follows from the events")
		}
	}
}

// differs names the first place where two values are not the same, nil for none.
func differs(want, got any, place string) error {
	if claim.Same(want, got) {
		return nil
	}
	switch want := want.(type) {
	case map[string]any:
		other, _ := got.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if v, has := other[name]; has && !claim.Same(want[name], v) {
				return differs(want[name], v, place+"."+name)
			}
		}
	case []any:
		other, _ := got.([]any)
		for i := range min(len(want), len(other)) {
			if !claim.Same(want[i], other[i]) {
				return differs(want[i], other[i], fmt.Sprintf("%s[%d]", place, i))
			}
		}
	}
	return fmt.Errorf("%s is not what follows from the events: it says %s, want %s", place, brief(got), brief(want))
}

// brief is a value for a person.
func brief(v any) string {
	form, err := claim.Canonical(v)
	if err != nil {
		return "something unreadable"
	}
	if len(form) > 80 {
		return string(form[:77]) + "..."
	}
	return string(form)
}

// origin is the prev_hash of a chain's first entry.
var origin = strings.Repeat("0", 64)

// chained says what is wrong with the order of the entries: each has a higher
// number than the one before, and neighbours hold each other's hash.
func chained(events []claim.Event) error {
	for i, e := range events {
		if e.Seq == 0 && e.PrevHash != origin {
			return errors.New("the first entry of the chain follows another")
		}
		if i == 0 {
			continue
		}
		before := events[i-1]
		if e.Seq <= before.Seq {
			return fmt.Errorf("entry %d comes after entry %d", e.Seq, before.Seq)
		}
		if e.Seq == before.Seq+1 && e.PrevHash != before.Hash {
			return fmt.Errorf("entry %d does not hold the hash of entry %d", e.Seq, before.Seq)
		}
	}
	return nil
}

// at says that an anchor is not at the contract it must be at.
func at(events []claim.Event, contract string) error {
	for _, e := range events {
		if e.Anchor != nil && !strings.EqualFold(e.Anchor.Contract, contract) {
			return fmt.Errorf("entry %d is anchored at %s, want %s", e.Seq, e.Anchor.Contract, contract)
		}
	}
	return nil
}
