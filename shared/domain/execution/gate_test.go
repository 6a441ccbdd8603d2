package execution_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/approval"
	"github.com/robotmoney/mcp/shared/domain/canonical"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// ids is the order of the checks, apart from the table.
const ids = "1 1.5 2 3 4 5 6 7 7.5 8 9 9.5 10 11 11.5 12 13"

// names are theirs.
const names = "agent_identity_verified agent_behavior_pinned agent_authorized action_allowed source_account_allowed counterparty_allowed " +
	"counterparty_verified amount_within_limit ledger_state_bound available_balance_sufficient required_evidence_present evidence_supports_action " +
	"approval_requirement_determined approval_granted_when_required no_duplicate_payment policy_decision_recorded audit_before_emitted"

// sound is a view that passes: a bill that a person has approved.
func sound(t *testing.T) execution.View {
	t.Helper()
	tenant, err := identity.OperatorTenant("acme")
	noError(t, err)
	hash, err := identity.ParseHash(behavior)
	noError(t, err)
	amount, err := money.ParseAmount("600.00", money.MustParse("USD"))
	noError(t, err)
	scopes := identity.Scopes{identity.IntentPropose}
	p := payment(func(p *payments.Payment) {
		bill(p)
		p.Amount, p.EvidenceIDs = "600.00", []string{}
	})
	decision := proposals.Decision{
		ID: "pd_1", TenantID: "acme", SubjectID: "pi_1", PolicyVersion: 3, PolicyHash: "hash", FactsHash: "facts",
		Verdict: policy.Verdict{Outcome: policy.Confirm, Matched: []string{"large"}, Approvers: []string{"approver"}, EvidenceKinds: []string{"invoice"}},
	}
	c := proposals.Case{Payment: &p}
	c.ID, c.TenantID, c.AgentID, c.Status, c.PolicyDecisionID = "pi_1", "acme", "agt_1", proposals.Approved, ptr("pd_1")
	c.Approvals = []approval.Approval{{MemberID: "mbr_ann", Role: identity.Approver, Hash: "shown", PolicyVersion: 3}}
	c.Standing.Proposer = proposals.Proposer{ID: "agt_1", BehaviorHash: behavior}
	agent := identity.AgentHash("acme", "agt_1")
	return execution.View{
		Tenant: tenant, Now: noon, Case: c, Amount: amount,
		Agent:        &identity.AgentRecord{ID: "agt_1", TenantID: "acme", Status: identity.Active, Scopes: scopes},
		Registration: identity.Registration{AgentID: agent, TenantID: identity.TenantHash("acme"), ScopeHash: scopes.Hash(), BehaviorHash: hash, RegisteredAt: 1},
		Account:      &ledger.Account{Meta: meta(own), Currency: "USD", Status: "active"},
		Payee:        &ledger.Counterparty{Meta: meta(vendor), RiskLevel: "low", VerifiedStatus: "document_verified"},
		Evidence: []execution.Evidence{
			{Reference: proposals.Reference{Kind: "invoice", Ref: "inv_1"}, Found: true, Counterparty: vendor, Currency: "USD", Direction: "payable", Owed: "600.00"},
			{Reference: proposals.Reference{Kind: "obligation", Ref: "obl_1"}, Found: true, Counterparty: vendor, Currency: "USD", Direction: "payable", Owed: "600.00"},
		},
		Balance: &ledger.Balance{AccountID: own, AsOf: "2025-09-30T11:00:00.000Z", Current: "1000.00", Available: ptr("700.00"), Currency: "USD"}, Reserved: big.NewInt(100_00),
		Stored: &decision, Fresh: decision,
		Policy: charter.Active{Version: 3, Hash: "hash", Document: policy.Document{Rules: []policy.Rule{
			{ID: "large", Execute: policy.Confirm, When: policy.When{CounterpartyVerified: []string{"document_verified"}}},
			{ID: "behavior", Execute: policy.Auto, When: policy.When{AgentBehavior: []string{behavior}}},
			{ID: "never", Execute: policy.Reject, When: policy.When{CounterpartyVerified: []string{"unverified"}, AgentBehavior: []string{behavior}}},
		}}},
		Matter:    approval.Matter{Hash: "shown", PolicyVersion: 3, Required: []string{"approver"}, Approvals: c.Approvals, Amount: &amount},
		Approvers: map[string]identity.MemberRecord{"mbr_ann": {ID: "mbr_ann", Role: identity.Approver, Status: identity.Active}},
	}
}

// inOrder looks at all that must be so of every judgement.
func inOrder(t *testing.T, all []execution.Check, passed bool) {
	t.Helper()
	var gotIDs, gotNames []string
	ok := true
	for _, c := range all {
		gotIDs, gotNames, ok = append(gotIDs, c.ID), append(gotNames, c.Name), ok && c.Passed
		if len(c.Observed) == 0 {
			t.Errorf("check %s observed nothing", c.ID)
		}
	}
	equal(t, "ids", strings.Join(gotIDs, " "), ids)
	equal(t, "names", strings.Join(gotNames, " "), names)
	equal(t, "passed", passed, ok)
	equal(t, "the last passes with all the others", all[16].Passed, passed)
	_, err := canonical.Marshal(all) // what is in an event must have a canonical form
	noError(t, err)
}

func TestGatePasses(t *testing.T) {
	v := sound(t)
	all, passed := execution.Judge(v)
	inOrder(t, all, passed)
	equal(t, "failed", failed(all), "")
	again, _ := execution.Judge(v)
	equal(t, "the same again", fmt.Sprint(all), fmt.Sprint(again))
	if !reflect.DeepEqual(v, sound(t)) {
		t.Error("the view was changed")
	}
}

// Each check fails alone (but for the last, which fails with any), says what it
// saw, and all of them are made and recorded in order.
func TestEachCheckFails(t *testing.T) {
	other := identity.Hash{1}
	for _, c := range []struct {
		id, name string
		change   func(*execution.View)
		saw      string // a part of what was observed, as JSON
	}{
		{"1", "quarantined", func(v *execution.View) { v.Agent.Status = identity.Quarantined }, `"record":"quarantined"`},
		{"1", "of another tenant", func(v *execution.View) { v.Agent.TenantID = "globex" }, `"record":"active"`},
		{"1", "another agent's record", func(v *execution.View) { v.Agent.ID = "agt_2" }, `"record":"active"`},
		{"1", "revoked on the chain", func(v *execution.View) { v.Registration.RevokedAt = 2 }, `"onchain":"revoked"`},
		{"1", "not on the chain", func(v *execution.View) { v.Registration.RegisteredAt = 0 }, `"onchain":"missing"`},
		{"1", "the chain has another tenant", func(v *execution.View) { v.Registration.TenantID = other }, `"onchain":"of another"`},
		{"1", "the chain has another agent", func(v *execution.View) { v.Registration.AgentID = other }, `"onchain":"of another"`},
		{"1.5", "another behaviour", func(v *execution.View) { v.Registration.BehaviorHash = other }, `"onchain":"0x01`},
		{"1.5", "unknown, and a rule rested on it", func(v *execution.View) {
			v.Case.Standing.Proposer.BehaviorHash = identity.Hash{}.String()
			v.Stored.Matched = []string{"large", "behavior"}
		}, `"rules_on_behavior":["behavior"]`},
		{"1.5", "unknown, and a rule of today rests on it", func(v *execution.View) {
			v.Case.Standing.Proposer.BehaviorHash = ""
			v.Fresh.Matched = []string{"behavior"}
		}, `"rules_on_behavior":["behavior"]`},
		{"2", "the scope was taken", func(v *execution.View) {
			v.Agent.Scopes = identity.Scopes{identity.LedgerRead}
			v.Registration.ScopeHash = v.Agent.Scopes.Hash()
		}, `"granted":false`},
		{"2", "the chain pins other scopes", func(v *execution.View) { v.Registration.ScopeHash = other }, `"granted":true`},
		{"3", "unknown type", func(v *execution.View) { v.Case.ActionType = "cheque" }, `"action_type":"cheque"`},
		{"3", "too many decimals", func(v *execution.View) { v.Case.Amount = "600.001" }, `"problem":"amount: `},
		{"3", "a field of another type", func(v *execution.View) { v.Case.EscrowID = ptr("e") }, `escrow_id does not belong`},
		{"4", "no account", func(v *execution.View) { v.Account = nil }, `"status":"missing"`},
		{"4", "closed", func(v *execution.View) { v.Account.Status = "closed" }, `"status":"closed"`},
		{"4", "another currency", func(v *execution.View) { v.Account.Currency = "EUR" }, `"currency":"EUR"`},
		{"5", "sanctioned", func(v *execution.View) { v.Payee.RiskLevel = "sanctioned" }, `"risk_level":"sanctioned"`},
		{"6", "unverified", func(v *execution.View) {
			v.Payee.VerifiedStatus = "unverified"
			v.Policy.Document.Rules[0].When.CounterpartyVerified = nil
		}, `"verified_status":"unverified"`},
		{"6", "less than the rule wants", func(v *execution.View) { v.Payee.VerifiedStatus = "self_attested" }, `"outside":["large"]`},
		{"7", "the policy of now rejects", func(v *execution.View) { v.Fresh.Outcome, v.Fresh.Approvers = policy.Reject, nil }, `"outcome":"reject"`},
		{"7.5", "drifted", func(v *execution.View) { v.Stored.FactsHash = "before" }, `"decided_on":"before"`},
		{"8", "one cent short", func(v *execution.View) { v.Reserved = big.NewInt(100_01) }, `"reserved":"100.01"`},
		{"8", "overdrawn", func(v *execution.View) { v.Balance.Available = ptr("-1.00") }, `"available":"-1.00"`},
		{"8", "another currency", func(v *execution.View) { v.Balance.Currency = "EUR" }, `"available":""`},
		{"8", "no balance known", func(v *execution.View) { v.Balance = nil }, `"available":""`},
		{"8", "only a current balance", func(v *execution.View) { v.Balance.Available, v.Balance.Current = nil, "699.99" }, `"available":"699.99"`},
		{"9", "a kind is missing", func(v *execution.View) { v.Stored.EvidenceKinds = []string{"raw_artifact"} }, `"missing":["raw_artifact"]`},
		{"9", "a kind of today is missing", func(v *execution.View) { v.Fresh.EvidenceKinds = []string{"transaction"} }, `"missing":["transaction"]`},
		{"9.5", "another payee's", func(v *execution.View) { v.Evidence[0].Counterparty = "cp_other" }, `"against":["inv_1: payee"]`},
		{"9.5", "another currency", func(v *execution.View) { v.Evidence[0].Currency = "EUR" }, `"against":["inv_1: currency"]`},
		{"9.5", "less is owed", func(v *execution.View) { v.Evidence[1].Owed = "599.99" }, `"against":["obl_1: amount, 599.99 is owed"]`},
		{"9.5", "owed to us", func(v *execution.View) { v.Evidence[1].Direction = "receivable" }, `"against":["obl_1: direction"]`},
		{"9.5", "disputed", func(v *execution.View) { v.Evidence[1].Settled = "disputed" }, `"against":["obl_1: is disputed"]`},
		{"9.5", "what the payment links is gone", func(v *execution.View) { v.Evidence[1].Found = false }, `"against":["obl_1: is not there"]`},
		{"10", "confirm by nobody", func(v *execution.View) { v.Fresh.Approvers = nil }, `"required_approvers":[]`},
		{"11", "nobody approved", func(v *execution.View) { v.Matter.Approvals = nil }, `"standing":[]`},
		{"11", "something else was shown", func(v *execution.View) { v.Matter.Hash = "changed" }, `"standing":[]`},
		{"11", "under another policy", func(v *execution.View) { v.Matter.PolicyVersion = 4 }, `"standing":[]`},
		{"11", "who approved has left", func(v *execution.View) {
			v.Approvers = map[string]identity.MemberRecord{"mbr_ann": {Role: identity.Approver, Status: identity.Deactivated}}
		}, `"standing":[]`},
		{"11", "who approved only looks now", func(v *execution.View) {
			v.Approvers = map[string]identity.MemberRecord{"mbr_ann": {Role: identity.Viewer, Status: identity.Active}}
		}, `"standing":[]`},
		{"11", "nobody knows who approved", func(v *execution.View) { v.Approvers = nil }, `"standing":[]`},
		{"11", "two are needed", func(v *execution.View) { v.Matter.Required = []string{"approver", "approver"} }, `"standing":["mbr_ann"]`},
		{"11", "an admin is needed", func(v *execution.View) { v.Matter.Required = []string{"admin"} }, `"needed":["admin"]`},
		{"11.5", "paid before", func(v *execution.View) {
			v.Marks = []execution.Mark{{Of: "inv_1", ExecutionID: "exec_0", At: "2020-01-01T00:00:00Z"}}
		}, `"paid_before":["inv_1 by exec_0"]`},
		{"11.5", "the same a minute short of a day ago", func(v *execution.View) {
			v.Marks = []execution.Mark{{Of: "same", ExecutionID: "exec_0", At: "2025-09-29T12:01:00Z", Window: true}}
		}, `"paid_before":["same by exec_0"]`},
		{"11.5", "a mark nobody can date", func(v *execution.View) { v.Marks = []execution.Mark{{Of: "same", Window: true}} }, `"paid_before":["same by "]`},
		{"11.5", "the ledger says paid", func(v *execution.View) { v.Invoice = &ledger.Invoice{Meta: meta("inv_1"), Status: "paid"} }, `"paid_before":["inv_1 is paid"]`},
		{"11.5", "new details", func(v *execution.View) { v.Payee.DetailsChangedAt = ptr("2025-09-29T12:00:01.000Z") }, `"details_changed_at":"2025-09-29T12:00:01.000Z"`},
		{"11.5", "details changed, nobody knows when", func(v *execution.View) { v.Payee.DetailsChangedAt = ptr("lately") }, `"details_changed_at":"lately"`},
		{"12", "of another intent", func(v *execution.View) { v.Stored.SubjectID = "pi_2" }, `"decision_id":"pd_1"`},
		{"12", "of another tenant", func(v *execution.View) { v.Stored.TenantID = "globex" }, `"decision_id":"pd_1"`},
		{"12", "an older decision", func(v *execution.View) { v.Stored.ID = "pd_0" }, `"decision_id":"pd_1"`},
		{"12", "an older policy", func(v *execution.View) { v.Stored.PolicyVersion = 2 }, `"decided_version":2`},
		{"12", "another document", func(v *execution.View) { v.Stored.PolicyHash = "x" }, `"decided_hash":"x"`},
	} {
		t.Run(c.id+" "+c.name, func(t *testing.T) {
			v := sound(t)
			c.change(&v)
			all, passed := execution.Judge(v)
			inOrder(t, all, passed)
			equal(t, "failed", failed(all), c.id+" 13")
			for _, check := range all {
				if raw, err := json.Marshal(check.Observed); check.ID == c.id && (err != nil || !strings.Contains(string(raw), c.saw)) {
					t.Errorf("observed %s, want %s in it", raw, c.saw)
				}
			}
		})
	}
}

// Some things stand against more than one check.
func TestChecksThatFailTogether(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*execution.View)
		failed string
	}{
		"there is no record of the agent": {func(v *execution.View) { v.Agent = nil }, "1 2 13"},
		"no policy is in force":           {func(v *execution.View) { v.Policy.Invalid = "gone"; v.Fresh.Outcome = policy.Reject }, "7 10 12 13"},
		"rejected now and not approved":   {func(v *execution.View) { v.Fresh.Outcome = policy.Reject; v.Matter.Approvals = nil }, "7 11 13"},
		"rejected then and now":           {func(v *execution.View) { v.Fresh.Outcome, v.Stored.Outcome = policy.Reject, policy.Reject }, "7 11 13"},
		"no outcome":                      {func(v *execution.View) { v.Fresh.Outcome = "" }, "7 10 11 13"},
		"the decision is not there":       {func(v *execution.View) { v.Stored = nil }, "7.5 9 12 13"},
		"the payee is not there":          {func(v *execution.View) { v.Payee = nil }, "5 6 13"},
		"another address than the payee":  {func(v *execution.View) { v.Case.PayTo, v.Payee.OnchainAddress = ptr("0x1"), ptr("0x2") }, "3 5 13"},
		"everything at once":              {func(v *execution.View) { *v = execution.View{Case: v.Case, Tenant: v.Tenant, Now: noon} }, "1 1.5 2 4 5 6 7 7.5 8 9 10 11 12 13"},
	} {
		t.Run(name, func(t *testing.T) {
			v := sound(t)
			c.change(&v)
			all, passed := execution.Judge(v)
			inOrder(t, all, passed)
			equal(t, "failed", failed(all), c.failed)
		})
	}
}

// Bounds on the side that passes.
func TestChecksThatPass(t *testing.T) {
	for name, change := range map[string]func(*execution.View){
		"to the last cent": func(v *execution.View) { v.Reserved = big.NewInt(100_00) },
		"collected, with no balance": func(v *execution.View) {
			v.Case.ActionType, v.Balance, v.Evidence = payments.ACHInbound, nil, nil
			noKinds(v)
		},
		"paid elsewhere": func(v *execution.View) { v.Case.ActionType, v.Balance = payments.ERPWriteback, nil },
		"nobody need approve": func(v *execution.View) {
			v.Fresh.Outcome, v.Fresh.Approvers, v.Matter.Approvals = policy.Auto, nil, nil
		},
		"unknown behaviour, no rule": func(v *execution.View) { v.Case.Standing.Proposer.BehaviorHash = identity.Hash{}.String() },
		"a day ago": func(v *execution.View) {
			v.Marks = []execution.Mark{{Of: "x", At: "2025-09-29T12:00:00Z", Window: true}}
		},
		"details changed a day ago": func(v *execution.View) { v.Payee.DetailsChangedAt = ptr("2025-09-29T12:00:00.000Z") },
		"an approver is an admin now": func(v *execution.View) {
			v.Approvers["mbr_ann"] = identity.MemberRecord{Role: identity.Admin, Status: identity.Active}
		},
		"an artifact speaks of nobody": func(v *execution.View) { v.Evidence = append(v.Evidence, execution.Evidence{Found: true}) },
		"more is owed":                 func(v *execution.View) { v.Evidence[0].Owed = "600.01" },
	} {
		t.Run(name, func(t *testing.T) {
			v := sound(t)
			change(&v)
			all, passed := execution.Judge(v)
			inOrder(t, all, passed)
			equal(t, "failed", failed(all), "")
		})
	}
}

func noKinds(v *execution.View) { v.Stored.EvidenceKinds, v.Fresh.EvidenceKinds = nil, nil }

// The window of a mark is a day to the second.
func TestWindow(t *testing.T) {
	for age, stands := range map[time.Duration]bool{0: true, 24*time.Hour - time.Second: true, 24 * time.Hour: false, -time.Hour: true} {
		v := sound(t)
		v.Marks = []execution.Mark{{Of: "x", At: noon.Add(-age).Format(time.RFC3339), Window: true}}
		all, _ := execution.Judge(v)
		equal(t, fmt.Sprintf("a mark of %v ago", age), !all[14].Passed, stands)
	}
}
