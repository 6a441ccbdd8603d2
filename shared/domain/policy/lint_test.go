package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/policy"
)

// bounded is a rule of payments out.
func bounded(id, execute, when string, more ...string) string {
	return strings.Replace(rule(id, execute, when, more...), `"any"`, `"outbound_payment"`, 1)
}

const (
	upTo    = `"amount.lte":{"amount":"100","currency":"USD"}`
	uses    = `"counterparty.in":["trusted"],`
	other50 = `"amount.gt":{"amount":"50","currency":"EUR"}`
)

func spend(bound, amount string) string {
	return `"spend_in_window":{"window":"24h","per":"agent","` + bound + `":{"amount":"` + amount + `","currency":"USD"}}`
}

// TestLint: what is found in rules, in the order it is found. The lists of the
// documents are all used by a rule that comes last.
func TestLint(t *testing.T) {
	const useLists = `{"id":"last","applies_to":["ledger_write"],"when":{"counterparty.in":["trusted"],"counterparty.not_in":["blocked","nobody"]},"execute":"auto"}`
	for _, c := range []struct {
		name  string
		rules []string
		found []string
	}{
		{"in order", []string{bounded("r", "auto", upTo)}, nil},
		{"no bound", []string{bounded("r", "auto", "")}, []string{"refuse r: it lets money go without a bound: want amount.lte, or spend_in_window with lte"}},
		{"a floor is no bound", []string{bounded("r", "auto", `"amount.gt":{"amount":"1","currency":"USD"},`+spend("gt", "5"))}, []string{"refuse r: it lets money go without a bound"}},
		{"a count is no bound", []string{bounded("r", "auto", `"count_in_window":{"window":"1h","per":"agent","lte":1}`)}, []string{"refuse r: it lets money go without a bound"}},
		{"a cap is one", []string{bounded("r", "auto", spend("lte", "5"))}, nil},
		{"a person is one", []string{bounded("r", "auto", "", `"require":["approver"]`)}, nil},
		{"onchain", []string{strings.Replace(rule("r", "auto", ""), "any", "onchain_tx", 1)}, []string{"refuse r: it lets money go"}},
		{"inbound", []string{strings.Replace(rule("r", "auto", ""), "any", "inbound_payment", 1)}, []string{"refuse r: it lets money go"}},
		{"no money", []string{strings.Replace(rule("r", "auto", ""), "any", "agent_action", 1)}, nil},
		{"any, auto", []string{rule("r", "auto", "")}, []string{"refuse r: it lets money go", "warn r: it allows something of every class", "warn last: it changes nothing: whenever it matches, rule r"}},
		{"any, confirm", []string{rule("r", "confirm", upTo)}, []string{"warn r: it allows something of every class, also of such as come later: name the classes"}},
		{"any, reject", []string{rule("r", "reject", `"action.in":["wire"]`)}, nil},

		{"contradiction", []string{bounded("r", "auto", upTo+`,"amount.gt":{"amount":"100.00","currency":"USD"}`)}, []string{"refuse r: amount.lte and amount.gt contradict each other: no amount above 100.00 USD is at most 100.00 USD"}},
		{"a narrow gap", []string{bounded("r", "auto", upTo+`,"amount.gt":{"amount":"99.99","currency":"USD"}`)}, nil},
		{"two currencies", []string{bounded("r", "confirm", upTo+","+other50)}, []string{"refuse r: amount.lte and amount.gt are in two currencies: the rule can never match"}},
		{"cap below floor", []string{bounded("r", "auto", spend("lte", "5")+`,"amount.gt":{"amount":"5","currency":"USD"}`)}, []string{"refuse r: spend_in_window and amount.gt contradict each other: no amount above 5.00 USD is at most 5.00 USD"}},
		{"count of none", []string{bounded("r", "confirm", `"count_in_window":{"window":"1h","per":"agent","lte":0}`)}, []string{"refuse r: count_in_window of at most 0 can never hold: the proposal itself counts"}},
		{"count of any", []string{bounded("r", "confirm", `"count_in_window":{"window":"1h","per":"agent","gt":0}`)}, []string{"warn r: count_in_window above 0 always holds: the proposal itself counts"}},
		{"empty in", []string{bounded("r", "reject", `"agent.id.in":[],"action.in":[]`)}, []string{"refuse r: action.in is empty: the rule matches only where the fact is missing", "refuse r: agent.id.in is empty: the rule matches only where"}},
		{"empty statuses", []string{bounded("r", "confirm", `"counterparty.verified_status.in":[]`)}, []string{"refuse r: counterparty.verified_status.in is empty: the rule can never match"}},
		{"empty not_in", []string{bounded("r", "confirm", `"counterparty.not_in":[],"action.not_in":[]`)}, []string{"warn r: counterparty.not_in is empty and excludes nobody", "warn r: action.not_in is empty and excludes nothing"}},
		{"unknown list", []string{bounded("r", "confirm", `"counterparty.in":["trusted","gone"]`), bounded("s", "reject", `"counterparty.not_in":["lost"]`)}, []string{"refuse r: there is no list gone", "refuse s: there is no list lost"}},
		{"in and not in", []string{bounded("r", "confirm", `"counterparty.in":["trusted"],"counterparty.not_in":["blocked","trusted"]`)}, []string{"refuse r: counterparty.not_in excludes everybody counterparty.in names: the rule can never match"}},
		{"partly in and not in", []string{bounded("r", "confirm", `"counterparty.in":["trusted","blocked"],"counterparty.not_in":["blocked"]`)}, []string{"warn r: the list blocked is in counterparty.in and counterparty.not_in: nobody on it passes"}},
		{"an empty list", []string{bounded("r", "reject", `"counterparty.in":["nobody"]`)}, []string{"warn r: the lists of counterparty.in are empty: the rule names nobody"}},
		{"action in and not in", []string{bounded("r", "confirm", `"action.in":["wire"],"action.not_in":["wire","ach_outbound"]`)}, []string{"refuse r: action.not_in excludes all that action.in names: the rule can never match"}},
		{"action partly", []string{bounded("r", "confirm", `"action.in":["wire","ach_inbound"],"action.not_in":["wire"]`)}, nil},

		{"require of reject", []string{bounded("r", "reject", `"action.in":["wire"]`, `"require":["admin"]`, `"required_evidence_kinds":["invoice"]`)}, []string{"warn r: require has no effect in a rule that rejects", "warn r: required_evidence_kinds has no effect in a rule that rejects"}},
		{"reject in a currency", []string{bounded("r", "reject", `"amount.gt":{"amount":"1","currency":"USD"},`+spend("gt", "5"))}, []string{
			"warn r: amount.gt is in USD: the condition also holds for every other currency, and where no amount is known", "warn r: spend_in_window is in USD: the condition also holds",
		}},
		{"reject in two", []string{bounded("r", "reject", upTo+","+other50)}, []string{"warn r: amount.gt is in EUR", "warn r: amount.lte is in USD"}},
		{"confidence", []string{bounded("r", "confirm", `"agent.confidence.gte":0.5`), bounded("s", "reject", `"agent.confidence.gte":0.5`)}, []string{"warn r: payments carry no agent.confidence: for them the rule never matches", "warn r: it changes nothing", "warn s: payments carry no agent.confidence: for them the condition always holds"}},
		{"confidence of actions", []string{strings.Replace(rule("r", "confirm", `"agent.confidence.gte":0.5`), "any", "agent_action", 1)}, nil},

		{"twice", []string{bounded("a", "confirm", ""), bounded("b", "confirm", "")}, []string{"warn b: it changes nothing: whenever it matches, rule a does, and asks for as much"}},
		{"narrower", []string{bounded("a", "auto", `"action.in":["wire"],`+upTo), bounded("b", "auto", upTo)}, []string{"warn a: it changes nothing: whenever it matches, rule b does"}},
		{"in other words", []string{bounded("a", "auto", `"action.in":["wire","ach_inbound"],`+upTo), bounded("b", "auto", `"action.in":["ach_inbound","wire"],"amount.lte":{"amount":"100.00","currency":"USD"}`)}, []string{"warn b: it changes nothing: whenever it matches, rule a does"}},
		{"stricter", []string{bounded("a", "auto", upTo), bounded("b", "reject", "")}, []string{"warn a: it changes nothing: whenever it matches, rule b does"}},
		{"laxer changes nothing of the stricter", []string{bounded("a", "confirm", upTo), bounded("b", "auto", upTo)}, []string{"warn b: it changes nothing: whenever it matches, rule a does"}},
		{"more people", []string{bounded("a", "confirm", ""), bounded("b", "confirm", upTo, `"require":["admin"]`)}, nil},
		{"passed by where nobody rated the payee", []string{bounded("a", "confirm", `"counterparty.risk_level.lte":"low"`), bounded("b", "auto", upTo)}, []string{"warn a: where the fact of counterparty.risk_level.lte is missing it does not match and rule b decides alone"}},
		{"passed by where the agent has no role", []string{bounded("a", "auto", upTo, `"require":["admin"]`), bounded("b", "auto", upTo), rule("c", "confirm", `"agent.role.in":["clerk"],"amount.lte":{"amount":"1","currency":"USD"}`)}, []string{"warn b: it changes nothing", "warn c: it allows something of every class", "warn c: where the fact of agent.role.in is missing it does not match and rule b decides alone"}},
		{"both ask", []string{bounded("a", "confirm", `"counterparty.risk_level.lte":"low"`), bounded("b", "auto", upTo+`,"counterparty.risk_level.lte":"medium"`)}, nil},
		{"a rejecting rule is a barrier", []string{bounded("a", "reject", `"counterparty.type.in":["employee"]`), bounded("b", "auto", upTo)}, nil},
		{"of other classes", []string{strings.Replace(rule("a", "confirm", `"agent.role.in":["clerk"]`), "any", "agent_action", 1), bounded("b", "auto", upTo)}, nil},
		{"as many people", []string{bounded("a", "confirm", "", `"require":["admin","approver"]`), bounded("b", "confirm", upTo, `"require":["approver"]`)}, []string{"warn b: it changes nothing"}},
		{"twice the person", []string{bounded("a", "confirm", "", `"require":["approver"]`), bounded("b", "confirm", upTo, `"require":["approver","approver"]`)}, nil},
		{"more evidence", []string{bounded("a", "confirm", ""), bounded("b", "auto", upTo, `"required_evidence_kinds":["invoice"]`)}, nil},
		{"other classes", []string{bounded("a", "confirm", ""), strings.Replace(rule("b", "confirm", upTo), "any", "inbound_payment", 1)}, nil},
		{"other conditions", []string{bounded("a", "confirm", `"action.in":["wire"]`), bounded("b", "confirm", upTo)}, nil},
		{"other values", []string{bounded("a", "confirm", `"action.in":["wire"]`), bounded("b", "confirm", `"action.in":["card_payment"]`)}, nil},
		{"other caps", []string{bounded("a", "confirm", spend("gt", "5")), bounded("b", "confirm", spend("gt", "7")), bounded("c", "confirm", spend("gt", "5.00"))}, []string{"warn c: it changes nothing: whenever it matches, rule a does"}},
		{"other hours", []string{bounded("a", "confirm", hoursJSON("mon", "09:00", "17:00", "UTC")), bounded("b", "confirm", hoursJSON("tue", "09:00", "17:00", "UTC"))}, nil},
		{"any covers", []string{bounded("a", "auto", upTo), rule("b", "reject", upTo)}, []string{"warn a: it changes nothing", "warn b: amount.lte is in USD"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wrong := matches(policy.Lint(parsed(t, document(append(c.rules, useLists)...))), c.found)
			if wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// matches compares findings with the beginnings of what they say.
func matches(got []policy.Finding, want []string) string {
	if got == nil {
		return "findings are nil"
	}
	var lines []string
	for _, f := range got {
		lines = append(lines, fmt.Sprintf("%s %s: %s", f.Level, f.Rule, f.Message))
	}
	ok := len(lines) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = strings.HasPrefix(lines[i], want[i])
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("found\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
}

// TestLintWhole is what is of no one rule.
func TestLintWhole(t *testing.T) {
	for _, c := range []struct {
		raw   string
		found []string
	}{
		{`{"version":1,"rules":[]}`, []string{"warn : no rule allows anything: everything is rejected"}},
		{`{"version":1,"rules":[` + rule("r", "reject", "") + `]}`, []string{"warn : no rule allows anything"}},
		{`{"version":1,"lists":{"b":[],"a":["cp_x","vendor x"]},"rules":[` + bounded("r", "confirm", "") + `]}`, nil},
		{`{"version":1,"lists":{"b":[],"a":["cp_x","vendor_x"]},"rules":[` + bounded("r", "confirm", "") + `]}`, []string{
			"warn : the list a is never used", `warn : the list a holds "vendor_x", which is no counterparty's id and stands for nobody`, "warn : the list b is never used",
		}},
	} {
		d, err := policy.Parse([]byte(c.raw))
		if c.found == nil {
			equal(t, "refused by Parse", err != nil, true)
			continue
		}
		noError(t, err)
		if wrong := matches(policy.Lint(d), c.found); wrong != "" {
			t.Error(wrong)
		}
	}
}

// TestNeverMeansNever: what Lint calls unable to match matches no random facts,
// and a rule it calls without effect has none.
func TestNeverMeansNever(t *testing.T) {
	g := newGenerator(15, 16)
	never, needless := 0, 0
	for range 3_000 {
		rules := g.rules(2 + g.IntN(4))
		d := parsed(t, g.document(rules...))
		for _, finding := range policy.Lint(d) {
			if finding.Rule == "" {
				continue
			}
			i := indexOf(d, finding.Rule)
			without := policy.Document{Version: d.Version, Lists: d.Lists}
			without.Rules = append(append(without.Rules, d.Rules[:i]...), d.Rules[i+1:]...)
			for range 4 {
				f := g.facts(t)
				v := d.Evaluate(f)
				switch {
				case strings.HasSuffix(finding.Message, "can never match"):
					never++
					equal(t, "matched by "+text(t, d.Rules[i]), v.Trace[i].Matched, false)
				case strings.HasPrefix(finding.Message, "it changes nothing"):
					needless++
					w := without.Evaluate(f)
					if w.Outcome != v.Outcome || text(t, w.Approvers) != text(t, v.Approvers) || text(t, w.EvidenceKinds) != text(t, v.EvidenceKinds) {
						t.Fatalf("without %s %s is %s: %s", finding.Rule, text(t, v), text(t, w), text(t, d))
					}
				}
			}
		}
	}
	atLeast(t, "verdicts on rules that never match", never, 200)
	atLeast(t, "verdicts on rules that change nothing", needless, 200)
}

func indexOf(d policy.Document, id string) int {
	for i := range d.Rules {
		if d.Rules[i].ID == id {
			return i
		}
	}
	return -1
}
