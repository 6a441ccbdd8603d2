package policy_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/policy"
)

// TestOutcome: the strictest match wins, and what nothing allows is rejected.
func TestOutcome(t *testing.T) {
	const holds, fails = `"agent.role.in":["ap"]`, `"agent.role.in":["ar"]`
	for _, c := range []struct {
		name      string
		rules     []string
		outcome   policy.Outcome
		matched   string
		approvers string
		evidence  string
	}{
		{"no rules", nil, policy.Reject, "", "", ""},
		{"no match", []string{rule("a", "auto", fails), rule("b", "confirm", fails)}, policy.Reject, "", "", ""},
		{"always", []string{rule("a", "auto", "")}, policy.Auto, "a", "", ""},
		{"auto", []string{rule("a", "auto", holds), rule("b", "reject", fails)}, policy.Auto, "a", "", ""},
		{"confirm over auto", []string{rule("a", "auto", holds), rule("b", "confirm", holds)}, policy.Confirm, "a b", "signer", ""},
		{"reject over all", []string{rule("c", "reject", holds), rule("a", "auto", ""), rule("b", "confirm", "", `"require":["admin"]`)}, policy.Reject, "c a b", "", ""},
		{"auto with require", []string{rule("a", "auto", "", `"require":["approver"]`)}, policy.Confirm, "a", "approver", ""},
		{"auto requires nobody", []string{rule("a", "auto", "", `"require":[]`)}, policy.Auto, "a", "", ""},
		{"two people", []string{rule("a", "confirm", "", `"require":["approver","approver"]`)}, policy.Confirm, "a", "approver approver", ""},
		{
			"union", []string{
				rule("a", "confirm", "", `"require":["signer","approver"]`), rule("b", "confirm", "", `"require":["approver","approver"]`),
				rule("c", "auto", "", `"require":["admin"]`), rule("d", "confirm", fails, `"require":["admin","admin"]`),
			}, policy.Confirm, "a b c", "admin approver approver signer", "",
		},
		{"nobody named beside somebody", []string{rule("a", "confirm", ""), rule("b", "confirm", "", `"require":["approver"]`)}, policy.Confirm, "a b", "approver", ""},
		{"nobody named twice", []string{rule("a", "confirm", ""), rule("b", "confirm", "")}, policy.Confirm, "a b", "signer", ""},
		{
			"evidence of auto", []string{
				rule("a", "auto", "", `"required_evidence_kinds":["obligation","invoice"]`), rule("b", "auto", "", `"required_evidence_kinds":["invoice"]`),
				rule("c", "auto", fails, `"required_evidence_kinds":["contract"]`),
			}, policy.Auto, "a b", "", "invoice obligation",
		},
		{
			"evidence of confirm", []string{
				rule("a", "auto", "", `"required_evidence_kinds":["obligation"]`), rule("b", "confirm", "", `"required_evidence_kinds":["invoice"]`),
			}, policy.Confirm, "a b", "signer", "invoice obligation",
		},
		{
			"evidence of reject", []string{
				rule("a", "auto", "", `"required_evidence_kinds":["obligation"]`), rule("b", "reject", "", `"required_evidence_kinds":["invoice"]`),
			}, policy.Reject, "a b", "", "invoice",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := parsed(t, document(c.rules...))
			v := d.Evaluate(complete(t))
			equal(t, "outcome", v.Outcome, c.outcome)
			equal(t, "matched", strings.Join(v.Matched, " "), c.matched)
			equal(t, "approvers", strings.Join(v.Approvers, " "), c.approvers)
			equal(t, "evidence", strings.Join(v.EvidenceKinds, " "), c.evidence)
			wellFormed(t, d, v)
		})
	}
}

// wellFormed checks what holds for every verdict of a document.
func wellFormed(t testing.TB, d policy.Document, v policy.Verdict) {
	t.Helper()
	if v.Matched == nil || v.Approvers == nil || v.EvidenceKinds == nil || v.Headroom == nil || v.Trace == nil {
		t.Errorf("a slice is nil: %+v", v)
	}
	equal(t, "approvers where none confirm", len(v.Approvers) > 0, v.Outcome == policy.Confirm)
	var matched []string
	for i, trace := range v.Trace {
		if trace.Conditions == nil {
			t.Errorf("conditions of %q are nil", trace.Rule)
		}
		if i < len(d.Rules) {
			equal(t, "rule of trace", trace.Rule, d.Rules[i].ID)
			if trace.Matched {
				matched = append(matched, trace.Rule)
			}
		}
	}
	if !slices.Equal(matched, v.Matched) {
		t.Errorf("matched %v, and the trace has %v", v.Matched, matched)
	}
	none := len(d.Rules) < len(v.Trace)
	equal(t, "a last entry says that nothing matched", none, len(v.Matched) == 0)
	if none {
		last := v.Trace[len(d.Rules)]
		if last.Rule != "" || last.Execute != policy.Reject || !last.Matched || !strings.Contains(last.Conditions[0].Reason, "no rule matches") || v.Outcome != policy.Reject {
			t.Errorf("the last entry is %s of a %s", text(t, last), v.Outcome)
		}
	}
}

func TestClasses(t *testing.T) {
	one := func(class string) policy.Document {
		return parsed(t, document(`{"id":"r","applies_to":["`+class+`"],"when":{"action.in":["wire"]},"execute":"auto"}`))
	}
	classes := []policy.Class{policy.OutboundPayment, policy.InboundPayment, policy.OnchainTx, policy.LedgerWrite, policy.AgentAction}
	for _, of := range append(classes, policy.Any) {
		for _, class := range append(classes, "") {
			f := complete(t)
			f.Class, f.Action = class, "wire"
			got := one(string(of)).Evaluate(f).Trace[0]
			want := of == class || of == policy.Any
			equal(t, string(of)+" applies to "+string(class), got.Applies, want)
			equal(t, string(of)+" matches "+string(class), got.Matched, want)
			equal(t, "conditions looked at", len(got.Conditions) > 0, want)
		}
	}
}

// TestEveryConditionIsTold: nothing is left out after the first that fails.
func TestEveryConditionIsTold(t *testing.T) {
	v := parsed(t, document(rule("r", "auto", `"source_account.in":["acct_1"],"counterparty.in":["blocked"],"agent.role.in":["ap"],"amount.gt":{"amount":"1","currency":"EUR"}`))).Evaluate(complete(t))
	want := `{"rule":"r","execute":"auto","applies":true,"matched":false,"conditions":[` +
		`{"condition":"counterparty.in","passed":false,"reason":"cp_aws is on none of the lists"},` +
		`{"condition":"amount.gt","passed":false,"undecided":true,"reason":"the amount is in another currency"},` +
		`{"condition":"agent.role.in","passed":true,"reason":"the agent's role is one of those named"},` +
		`{"condition":"source_account.in","passed":false,"reason":"the account is none of those named"}]}`
	equal(t, "trace", text(t, v.Trace[0]), want)
}

// TestHeadroom: what a cap leaves with this proposal in it, of each rule that
// applies and whether it matches or not.
func TestHeadroom(t *testing.T) {
	cap := func(per, bound, limit string) string {
		return `"spend_in_window":{"window":"24h","per":"` + per + `","` + bound + `":{"amount":"` + limit + `","currency":"USD"}}`
	}
	count := func(bound, limit string) string {
		return `"count_in_window":{"window":"24h","per":"agent","` + bound + `":` + limit + `}`
	}
	d := parsed(t, document(
		rule("z.lte", "auto", cap("agent", "lte", "1500")), rule("y.full", "auto", cap("agent", "lte", "1000")), rule("x.over", "auto", cap("agent", "lte", "999.99")),
		rule("gt.within", "confirm", cap("agent", "gt", "1000")), rule("gt.over", "reject", cap("agent", "gt", "10")),
		rule("both", "auto", count("lte", "5")+","+cap("agent", "lte", "2000")), rule("count.over", "confirm", count("gt", "0")),
		rule("unknown", "auto", cap("tenant", "lte", "1")), rule("fails-elsewhere", "auto", `"agent.role.in":["ar"],`+cap("agent", "lte", "1001")),
		`{"id":"other-class","applies_to":["agent_action"],"when":{`+cap("agent", "lte", "1")+`},"execute":"auto"}`,
	))
	f := complete(t)
	usd := func(rule, limit, left string, within bool) policy.Headroom {
		return policy.Headroom{Rule: rule, Window: policy.Day, Per: policy.PerAgent, Limit: limit, Left: left, Currency: "USD", Within: within}
	}
	number := func(rule, limit, left string, within bool) policy.Headroom {
		return policy.Headroom{Rule: rule, Window: policy.Day, Per: policy.PerAgent, Limit: limit, Left: left, Within: within}
	}
	same(t, "headroom", d.Evaluate(f).Headroom, []policy.Headroom{
		usd("both", "2000.00", "1000.00", true), number("both", "5", "2", true), number("count.over", "0", "-3", false),
		usd("fails-elsewhere", "1001.00", "1.00", true), usd("gt.over", "10.00", "-990.00", false), usd("gt.within", "1000.00", "0.00", true),
		usd("x.over", "999.99", "-0.01", false), usd("y.full", "1000.00", "0.00", true), usd("z.lte", "1500.00", "500.00", true),
	})

	f.Amount = nil
	same(t, "headroom without an amount", d.Evaluate(f).Headroom, []policy.Headroom{number("both", "5", "2", true), number("count.over", "0", "-3", false)})
	f.Promised = promises{"agent 24h": int64(math.MaxInt64 - 1)}
	same(t, "headroom at the end of numbers", d.Evaluate(f).Headroom, []policy.Headroom{
		number("both", "5", "-9223372036854775802", false), number("count.over", "0", "-9223372036854775807", false),
	})
}

// TestMadeByHand: a document that was not parsed may hold anything, and what is
// no rule allows nothing.
func TestMadeByHand(t *testing.T) {
	any, usd, one := []policy.Class{policy.Any}, &policy.Sum{Amount: "1", Currency: "USD"}, pointer(int64(1))
	undecided := []policy.When{
		{AmountLTE: &policy.Sum{Amount: "x", Currency: "USD"}}, {AmountGT: &policy.Sum{Amount: "1", Currency: "usd"}}, {CounterpartyRisk: "none"}, {AgentConfidence: pointer(math.NaN())},
		{SpendInWindow: &policy.SpendCap{Window: policy.Day, Per: policy.PerAgent}}, {SpendInWindow: &policy.SpendCap{Window: policy.Day, Per: policy.PerAgent, LTE: usd, GT: usd}},
		{CountInWindow: &policy.CountCap{Window: policy.Day, Per: policy.PerAgent}}, {CountInWindow: &policy.CountCap{Window: policy.Day, Per: policy.PerAgent, LTE: one, GT: one}},
		{SpendInWindow: &policy.SpendCap{Window: policy.Day, Per: "member", LTE: usd}}, {CountInWindow: &policy.CountCap{Window: policy.Day, Per: policy.PerAgent, LTE: pointer(int64(-1))}},
	}
	for _, when := range undecided {
		for _, execute := range []policy.Outcome{policy.Auto, policy.Reject} {
			d := policy.Document{Rules: []policy.Rule{{ID: "r", AppliesTo: any, When: when, Execute: execute}}}
			v := d.Evaluate(complete(t))
			equal(t, fmt.Sprintf("outcome of %+v", when), v.Outcome, policy.Reject)
			equal(t, fmt.Sprintf("matched by %+v", when), v.Trace[0].Matched, execute == policy.Reject)
			equal(t, "undecided", v.Trace[0].Conditions[0].Undecided, true)
			policy.Lint(d)
		}
	}
	for _, execute := range []policy.Outcome{"", "AUTO", "allow"} {
		v := policy.Document{Rules: []policy.Rule{{ID: "r", AppliesTo: any, Execute: execute}, {ID: "a", AppliesTo: any, Execute: policy.Auto}}}.Evaluate(complete(t))
		equal(t, "outcome of "+string(execute), v.Outcome, policy.Reject)
	}
	wellFormed(t, policy.Document{}, policy.Document{}.Evaluate(policy.Facts{}))
}
