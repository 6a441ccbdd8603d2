package proof_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/infra/verify/verify"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/proof"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// An id that is not one is answered as an action without a proof, and the reader
// has no table to ask for it.
func TestNoSuchAction(t *testing.T) {
	tenant, err := identity.OperatorTenant("acme")
	noError(t, err)
	for _, action := range []string{"", "pi_", "pi", "_a", "{action_id}", "pi_a#x", "pi_a/b", "pi_a\n", "PI_a", "pi_ä", "p_a", "proposal_a", "tx_1", "evt_1", "act_01HW3X9", "pi_" + strings.Repeat("a", 65)} {
		_, err := (&proof.Reader{}).Proof(t.Context(), tenant, action)
		absent(t, action, err)
	}
}

func absent(t *testing.T, action string, err error) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.ProofNotFound {
		t.Errorf("action %q: error = %v", action, err)
	}
}

// read reads a proof, which must hold.
func (w *world) read(action string) claim.Proof {
	w.t.Helper()
	raw, err := (&proof.Reader{Store: w.store}).Proof(w.t.Context(), w.tenant, action)
	noError(w.t, err)
	if report := verify.Proof(w.t.Context(), raw, verify.Options{}); !report.Holds() {
		w.t.Errorf("the proof of %s does not hold: %v", action, report.Failed())
	}
	var p claim.Proof
	noError(w.t, json.Unmarshal(raw, &p))
	equal(w.t, "action", p.ActionID, action)
	equal(w.t, "tenant", p.TenantID, w.tenant.String())
	return p
}

// actions are what the proof's events tell of, in order.
func actions(t *testing.T, p claim.Proof) string {
	t.Helper()
	var all []string
	for _, e := range p.AuditEvents {
		entry, err := claim.Open(e.Preimage)
		noError(t, err)
		all = append(all, entry.Event["action"].(string))
	}
	return strings.Join(all, " ")
}

// A payment that a person approved and a rail settled, from what the desk and the
// executor themselves tell.
func TestExecuted(t *testing.T) {
	w := open(t)
	p := payment("900.00")
	bill := "obl_1"
	p.ObligationID, p.EvidenceIDs = &bill, []string{"obl_1"}
	a := w.propose(p, "")
	w.entered()
	waiting := w.read(a.ID)
	equal(t, "outcome", waiting.Outcome, "pending_approval")
	equal(t, "approvals", len(waiting.Approvals), 0)
	equal(t, "checks", len(waiting.GateChecks), 0)
	equal(t, "anchor", waiting.AuditEvents[0].Anchor, nil)

	w.decide(a.ID, proposals.Approve)
	report, err := w.executor.Execute(t.Context(), w.tenant, "msg", a.ID)
	noError(t, err)
	equal(t, "status", report.Status, proposals.Executed)
	w.entered()
	done := w.read(a.ID)
	equal(t, "events", actions(t, done), "payment_intent.proposed proposal.decided payment_intent.approved payment_intent.execute.before payment_intent.execute.after")
	equal(t, "outcome", done.Outcome, "executed")
	equal(t, "agent", done.AgentID, w.agent.ID)
	equal(t, "checks", len(done.GateChecks), 17)
	equal(t, "approver", done.Approvals[0].(map[string]any)["member_id"], any("mbr_ann"))
	equal(t, "evidence", fmt.Sprint(done.Evidence), "[{obligation obl_1} {obligation obl_1}]")
	if receipt, ok := done.RailReceipt.(map[string]any); !ok || receipt["rail"] != "sandbox" {
		t.Errorf("receipt %v", done.RailReceipt)
	}
	stored, err := w.desk.Look(t.Context(), w.tenant, "pi", a.ID)
	noError(t, err)
	equal(t, "decision", done.Policy.DecisionID, stored.Decision.ID)
	equal(t, "policy", done.Policy.Hash, stored.Decision.PolicyHash)
	equal(t, "version", done.Policy.Version, any(float64(1)))
	equal(t, "rule", done.Policy.MatchedRules[0], any("large"))
	equal(t, "signers", len(done.Policy.Signers), 1)
	if done.LedgerSnapshotHash == nil || len(*done.LedgerSnapshotHash) != 64 {
		t.Errorf("snapshot %v", done.LedgerSnapshotHash)
	}
	if want := "Agent " + w.agent.ID + " proposed ach_outbound of 900.00 USD from acct_own to cp_vendor at 2025-09-30T12:00:00.000Z. Policy version 1 asked for approval (by 1 rule large, decision " +
		done.Policy.DecisionID + "). It has 1 approval: mbr_ann. Of 17 checks before the execution 17 passed. The rail sandbox answered with a receipt. The payment intent " + a.ID + " is executed."; done.Explanation != want {
		t.Errorf("explanation %s\nwant %s", done.Explanation, want)
	}

	execution := "exec_" + strings.TrimPrefix(a.ID, "pi_")
	of := w.read(execution)
	equal(t, "the execution's outcome", of.Outcome, "executed")
	equal(t, "the execution's events", len(of.AuditEvents), 5)
	other, err := identity.OperatorTenant("globex")
	noError(t, err)
	for _, name := range []string{a.ID, execution} {
		_, err = (&proof.Reader{Store: w.store}).Proof(t.Context(), other, name)
		absent(t, "another tenant's", err)
	}
	_, err = (&proof.Reader{Store: w.store}).Proof(t.Context(), w.tenant, a.ID+"x")
	absent(t, "one that is not there", err)
}

// What did not come to an execution has a proof too.
func TestNotExecuted(t *testing.T) {
	w := open(t)
	small, rejected, cancelled := w.propose(payment("10.00"), "").ID, w.propose(payment("600.00"), "").ID, w.propose(payment("700.00"), "").ID
	w.decide(rejected, proposals.Reject)
	_, err := w.desk.Cancel(t.Context(), w.agent, "req_3", cancelled)
	noError(t, err)
	act, err := w.desk.Act(t.Context(), w.agent, "req_4", proposals.Deed{Kind: "flag_transaction", Fields: json.RawMessage(`{"kind":"flag_transaction"}`), Evidence: []proposals.Reference{{Kind: "tx", Ref: "tx_1"}}})
	noError(t, err)
	w.entered()
	for name, want := range map[string]string{small: "approved", rejected: "rejected", cancelled: "cancelled", act.ID: string(act.Status)} {
		equal(t, name, w.read(name).Outcome, want)
	}
	// What the policy said when the person refused decided nothing.
	first := w.read(rejected)
	entry, err := claim.Open(first.AuditEvents[0].Preimage)
	noError(t, err)
	equal(t, "decision", any(first.Policy.DecisionID), entry.Event["policy_decision_id"])
	equal(t, "evidence of an action", w.read(act.ID).Evidence[0], claim.Evidence{Kind: "tx", Ref: "tx_1"})
}

// An authorization that an intent used: each has a proof of its own story.
func TestAuthorization(t *testing.T) {
	w := open(t)
	granted, err := w.desk.Authorize(t.Context(), w.agent, "req_1", proposals.Request{Payment: payment("100.00"), Purpose: "the bill", ExpiresIn: proposals.DefaultExpiry})
	noError(t, err)
	used := w.propose(payment("100.00"), granted.ID)
	w.entered()
	p := w.read(granted.ID)
	equal(t, "outcome", p.Outcome, "consumed")
	equal(t, "agent", p.AgentID, w.agent.ID)
	if got := actions(t, p); !strings.Contains(got, "authorization.created") || !strings.Contains(got, "payment_intent.proposed") {
		t.Errorf("events %s", got)
	}
	equal(t, "the intent's outcome", w.read(used.ID).Outcome, "approved")
}

// counted counts what the engine is asked.
type counted []string

// Do sends a request.
func (c *counted) Do(req *http.Request) (*http.Response, error) {
	_, name, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	*c = append(*c, name)
	return enginetest.Connections.Do(req)
}

// A proof is one query of the table and nothing else; that of an execution two.
func TestOneQuery(t *testing.T) {
	w := open(t)
	a := w.propose(payment("10.00"), "")
	_, err := w.executor.Execute(t.Context(), w.tenant, "msg", a.ID)
	noError(t, err)
	w.entered()
	for action, want := range map[string]string{a.ID: "Query", "exec_" + a.ID[3:]: "Query Query", "pi_none": "Query"} {
		var asked counted
		_, _ = (&proof.Reader{Store: engine.Table(func(o *dynamodb.Options) { o.HTTPClient = &asked })}).Proof(t.Context(), w.tenant, action)
		equal(t, action, strings.Join(asked, " "), want)
	}
}

// A proof of more than a page is read to its end.
func TestPages(t *testing.T) {
	w := open(t)
	var events []journal.Event
	for n := range 12 {
		raw, err := json.Marshal(map[string]any{
			"id": "evt_" + string(rune('a'+n)), "tenant_id": w.tenant.String(), "action": "payment_intent.approved", "note": strings.Repeat("x", 200_000),
			"after_state": map[string]any{"id": "pi_long", "status": "approved"}, "inputs": map[string]any{"id": "pi_long"},
		})
		noError(t, err)
		event, err := journal.Parse(raw)
		noError(t, err)
		events = append(events, event)
	}
	_, err := (&journal.Journal{Store: w.store}).Append(t.Context(), w.tenant, events)
	noError(t, err)
	equal(t, "events", len(w.read("pi_long").AuditEvents), 12)
}

// A path belongs to the entry before it, and to no other.
func TestPathWithoutEntry(t *testing.T) {
	w := open(t)
	a := w.propose(payment("10.00"), "")
	w.entered()
	seq := w.read(a.ID).AuditEvents[0].Seq
	put := func(seq int64, body string) {
		t.Helper()
		item := record.Item{Key: key.AnchorPath(w.tenant, 1000, seq), Body: []byte(body)}
		item.Index[0] = key.ProofPath(w.tenant, a.ID, seq)
		noError(t, w.store.Commit(t.Context(), record.Change{Puts: []record.Put{{Item: item, Blind: true}}}))
	}
	put(seq-1, `{"path":[],"anchor":{}}`)
	put(seq+100, `{"path":[],"anchor":{}}`)
	for _, e := range w.read(a.ID).AuditEvents {
		equal(t, "anchor", e.Anchor, nil)
	}
	put(seq, `?`)
	if _, err := (&proof.Reader{Store: w.store}).Proof(t.Context(), w.tenant, a.ID); err == nil || fault.Is(err, fault.ProofNotFound) {
		t.Errorf("error %v", err)
	}
}
