package execution

// Check is one check of the gate with what it saw.
type Check struct {
	ID       string         `json:"id"` // "1" to "13", with "1.5" and its like in between
	Name     string         `json:"name"`
	Passed   bool           `json:"passed"`
	Observed map[string]any `json:"observed"` // strings, whole numbers, booleans and lists of them
}

// gate is everything that must hold before money moves, in its order. The checks
// are pure and all of them are made, also after one has failed: who looks at a
// payment that was stopped sees everything that stood against it, and a check
// added here is in every record. The ids and the order are in events and proofs.
var gate = []struct {
	id, name string
	judge    func(View) (passed bool, observed map[string]any)
}{
	{"1", "agent_identity_verified", agentIdentity},
	{"1.5", "agent_behavior_pinned", agentBehavior},
	{"2", "agent_authorized", agentAuthorized},
	{"3", "action_allowed", actionAllowed},
	{"4", "source_account_allowed", sourceAccount},
	{"5", "counterparty_allowed", counterpartyAllowed},
	{"6", "counterparty_verified", counterpartyVerified},
	{"7", "amount_within_limit", amountWithinLimit},
	{"7.5", "ledger_state_bound", ledgerBound},
	{"8", "available_balance_sufficient", balanceSufficient},
	{"9", "required_evidence_present", evidencePresent},
	{"9.5", "evidence_supports_action", evidenceSupports},
	{"10", "approval_requirement_determined", approvalDetermined},
	{"11", "approval_granted_when_required", approvalGranted},
	{"11.5", "no_duplicate_payment", noDuplicate},
	{"12", "policy_decision_recorded", decisionRecorded},
	{"13", "audit_before_emitted", auditBefore},
}

// Judge makes every check and says whether all of them passed.
func Judge(v View) (checks []Check, passed bool) {
	for _, c := range gate {
		ok, observed := c.judge(v)
		checks = append(checks, Check{c.id, c.name, ok, observed})
		if !ok {
			v.failed = append(v.failed, c.id)
		}
	}
	return checks, len(v.failed) == 0
}

// auditBefore is the transaction that follows a pass: it holds the event this
// check is recorded in, so the check stands if and only if the event does. After
// a failure there is no such transaction.
func auditBefore(v View) (bool, map[string]any) {
	if len(v.failed) > 0 {
		return false, map[string]any{"event": "", "failed": v.failed}
	}
	return true, map[string]any{"event": EventBefore}
}
