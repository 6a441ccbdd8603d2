package verify_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/canonical"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/merkle"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
)

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

type object = map[string]any

// decision is a policy decision as events keep it.
func decision(name, outcome string, floor bool) object {
	return object{
		"id": name, "outcome": outcome, "matched_rules": []any{"vendors-large"}, "required_approvers": []any{"approver"}, "human_floor": floor,
		"required_evidence_kinds": []any{}, "policy_version": 3, "policy_hash": strings.Repeat("ab", 32),
		"policy_signers": []any{"0x5FbDB2315678afecb367f032d93F642f64180aa3"}, "ledger_snapshot_hash": strings.Repeat("cd", 32),
	}
}

// story are the events of an intent that a person approved and a rail settled.
func story(tenant string) []object {
	states := func(before, after string) object {
		e := object{"after_state": object{"id": "pi_1", "status": after}, "policy_decision_id": "pd_2"}
		if before != "" {
			e["before_state"] = object{"id": "pi_1", "status": before}
		}
		return e
	}
	approvals := []any{object{"member_id": "mbr_1", "role": "approver", "hash": strings.Repeat("ef", 32), "policy_version": 3, "at": "2025-09-30T12:00:01.000Z", "note": "Paid as agreed, é \u2028 😂 \ufffd"}}
	var checks []any
	for i := range 17 {
		checks = append(checks, object{"id": fmt.Sprint(i + 1), "name": fmt.Sprintf("check_%d", i+1), "passed": true, "observed": object{"n": i, "rate": 0.1 * float64(i), "at": nil}})
	}
	proposed := states("", "pending_approval")
	proposed["policy_decision_id"] = "pd_1"
	proposed["inputs"] = object{
		"agent": object{"id": "agt_1", "role": "bill_management", "behavior_hash": "0x" + strings.Repeat("1", 64), "created_by": "mbr_9"},
		"payment": object{
			"action_type": "ach_outbound", "source_account_id": "acct_1", "destination_counterparty_id": "cp_1", "amount": "61404.12", "currency": "USD",
			"obligation_id": "obl_1", "invoice_id": nil, "evidence_ids": []any{"raw_1", "tx_2"}, "memo": "<b>\"September\"\\\n",
		},
		"authorization_id": "authz_1",
	}
	proposed["outputs"] = object{"ok": true, "id": "pi_1", "status": "pending_approval", "expires_at": nil, "hash": "h", "decision": decision("pd_1", "confirm", false), "approvals": []any{}}
	decided := states("pending_approval", "approved")
	decided["inputs"] = object{"id": "pi_1", "decision": "approve", "hash": "h", "note": ""}
	decided["outputs"] = object{"ok": true, "status": "approved", "approvals": approvals, "decision": decision("pd_2", "confirm", false)}
	approved := states("pending_approval", "approved")
	approved["inputs"], approved["outputs"] = object{"id": "pi_1"}, object{"ok": true, "by": "mbr_1", "approvals": approvals}
	before := states("approved", "dispatching")
	before["inputs"] = object{"id": "pi_1", "execution_id": "exec_1", "rail": "sandbox", "idempotency_key": "k"}
	before["outputs"] = object{"ok": true, "gate_checks": checks, "ledger_snapshot_hash": strings.Repeat("cd", 32)}
	after := states("dispatching", "executed")
	after["inputs"] = object{"id": "pi_1", "execution_id": "exec_1"}
	after["outputs"] = object{"ok": true, "status": "executed", "rail_receipt": object{"reference": "SB-1", "fee": "0.00"}}
	for i, named := range []struct {
		e      object
		action string
	}{{proposed, "payment_intent.proposed"}, {decided, "proposal.decided"}, {approved, "payment_intent.approved"}, {before, "payment_intent.execute.before"}, {after, "payment_intent.execute.after"}} {
		named.e["id"], named.e["tenant_id"], named.e["action"] = fmt.Sprintf("evt_%026d", i), tenant, named.action
		named.e["actor"], named.e["layer"], named.e["schema"] = object{"type": "agent", "id": "agt_1"}, "execution", 1
		named.e["request_id"], named.e["created_at"] = "req_1", fmt.Sprintf("2025-09-30T12:00:0%d.000Z", i)
	}
	return []object{proposed, decided, approved, before, after}
}

// chained are the preimages of events in a chain from some number on, written by
// the writer of the journal's canonical form. gap leaves numbers out before the
// last event.
func chained(t testing.TB, events []object, from, gap int) []string {
	t.Helper()
	prev, preimages := strings.Repeat("9", 64), []string{}
	if from == 0 {
		prev = strings.Repeat("0", 64)
	}
	for i, event := range events {
		if gap > 0 && i == len(events)-1 {
			from, prev = from+gap, strings.Repeat("8", 64)
		}
		preimage, err := canonical.Marshal(object{"event": event, "prev_hash": prev, "seq": from + i})
		noError(t, err)
		prev = fmt.Sprintf("%x", sha256.Sum256(preimage))
		preimages = append(preimages, string(preimage))
	}
	return preimages
}

// anchored puts the preimages, but for the last, under one root with two others.
func anchored(preimages []string, where claim.Anchor) []claim.Link {
	leaves := []merkle.Hash{sha256.Sum256([]byte("another"))}
	for _, preimage := range preimages[:len(preimages)-1] {
		leaves = append(leaves, sha256.Sum256([]byte(preimage)))
	}
	leaves = append(leaves, sha256.Sum256([]byte("a third")))
	root, paths := merkle.Paths(leaves)
	where.Root = identity.Hash(root).String()
	var links []claim.Link
	for i, preimage := range preimages {
		link := claim.Link{Preimage: preimage}
		if i < len(preimages)-1 {
			link.Anchor = &where
			for _, node := range paths[i+1] {
				link.Path = append(link.Path, identity.Hash(node).String())
			}
		}
		links = append(links, link)
	}
	return links
}

// paper is a proof as it is handed out.
func paper(t testing.TB, links []claim.Link) []byte {
	t.Helper()
	p, err := claim.Build("pi_1", links)
	noError(t, err)
	raw, err := p.Encode()
	noError(t, err)
	return raw
}

// somewhere is an anchor nobody is asked about.
func somewhere() claim.Anchor {
	return claim.Anchor{TxHash: "0x" + strings.Repeat("7a", 32), BlockNumber: 42, Contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3", ChainID: 31337, Status: claim.Final}
}

// sound is a proof that holds.
func sound(t testing.TB) []byte {
	return paper(t, anchored(chained(t, story("acme"), 4, 2), somewhere()))
}

// parsed is a JSON text as values.
func parsed(t testing.TB, raw []byte) object {
	t.Helper()
	var v object
	noError(t, json.Unmarshal(raw, &v))
	return v
}
