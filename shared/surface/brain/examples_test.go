package brain_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// example is a call that must succeed. $NAME in arguments stands for the id that
// an earlier example kept under it; want is what the answer holds, among more.
type example struct {
	as, tool, arguments string
	keep                string
	want, text          string // of the summary, a regular expression
}

const pays = `"action_type":"ach_outbound","source_account_id":"acct_ops","destination_counterparty_id":"cp_aws","currency":"USD"`

// examples call every tool, in an order that tells a story, with every kind of
// answer it can give.
var examples = []example{
	{as: "agt_1", tool: "ledger.account.get", arguments: `{"account_id":"acct_ops"}`, want: `{"account":{"id":"acct_ops"},"latest_balance":{"available":null}}`},
	{as: "agt_1", tool: "ledger.account.get", arguments: `{"account_id":"acct_usdc"}`, want: `{"latest_balance":null}`},
	{as: "agt_1", tool: "ledger.accounts.list", arguments: `{"status":"active"}`, want: `{"total_count":2}`},
	{as: "agt_1", tool: "ledger.transactions.list", arguments: `{"counterparty_id":"cp_aws"}`, text: "`tx_1`"},
	{as: "agt_1", tool: "ledger.obligations.list", arguments: `{"direction":"payable"}`, text: "`obl_1`"},
	{as: "agt_1", tool: "ledger.counterparties.list", arguments: `{"q":"cp_a"}`, text: "`cp_aws`"},
	{as: "agt_1", tool: "wiki.question", arguments: `{"question":"What is our cash position?"}`, text: "9,000.00"},
	{as: "agt_1", tool: "wiki.page.get", arguments: `{"slug_or_id":"cp_aws"}`, text: "wpg_1"},
	{as: "agt_1", tool: "raw.contribute", arguments: `{"payload":"a,b","mime_type":"text/csv"}`, keep: "raw", want: `{"deduplicated":false}`},
	{as: "agt_1", tool: "raw.artifact.get", arguments: `{"raw_id":"$raw"}`, want: `{"parsed":[]}`},
	{as: "agt_1", tool: "evidence.resolve", arguments: `{"refs":[{"kind":"transaction","ref":"tx_1"},{"kind":"spaceship","ref":"x"}]}`, text: "tx_1"},

	// A payment the policy lets pass, what a dry run says of it, and it once more.
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{` + pays + `,"amount":"20.00","dry_run":true}`,
		want: `{"status":"approved","dry_run":true,"replayed":false,"policy_decision_id":null,"decision":{"outcome":"auto","headroom":[{"rule":"small","left":"480.00","within":true}]}}`, text: `^Dry run: .* would be approved\. .* Nothing was written\.$`},
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{` + pays + `,"amount":"20","memo":"paper ` + "`now`" + `"}`, keep: "small",
		want: `{"status":"approved","amount":"20.00","memo":"paper ` + "`now`" + `","obligation_id":null,"invoice_id":null,"authorization_id":null,"expires_at":null,"approvals":[],"dry_run":false,"decision":{"outcome":"auto","matched_rules":["small"],"required_approvers":[],"human_floor":false}}`, text: "Next: nothing; the company's executor pays it"},
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{` + pays + `,"amount":"20.0","memo":"paper ` + "`now`" + `"}`, want: `{"id":"$small","replayed":true}`, text: "^This was proposed before, .* an idempotency_key of its own"},
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{` + pays + `,"amount":"21","idempotency_key":"k"}`, keep: "keyed", want: `{"replayed":false}`},
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{` + pays + `,"amount":"21.00","idempotency_key":"k"}`, want: `{"id":"$keyed","replayed":true}`},

	// One that waits, with everything it can rest on.
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{` + pays + `,"amount":"250.00","obligation_id":"obl_1","invoice_id":"inv_1","evidence_ids":["tx_1","$raw"],"memo":"the bill","dry_run":true}`, want: `{"status":"pending_approval"}`, text: "would be pending_approval"},
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{` + pays + `,"amount":"250.00","obligation_id":"obl_1","invoice_id":"inv_1","evidence_ids":["tx_1","$raw"],"memo":"the bill"}`, keep: "bill",
		want: `{"status":"pending_approval","obligation_id":"obl_1","evidence_ids":["tx_1","$raw"],"decision":{"outcome":"confirm","required_approvers":["approver"],"required_evidence_kinds":["obligation"]}}`, text: "Next: a member decides with proposals.decide, proposal_id `\\$bill`"},
	// One nobody may make, and one that always needs a person.
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{"action_type":"ach_outbound","source_account_id":"acct_ops","destination_counterparty_id":"cp_stranger","amount":"5.00","currency":"USD"}`, keep: "refused",
		want: `{"status":"rejected","expires_at":null,"decision":{"outcome":"reject","matched_rules":["stranger"]}}`, text: "is rejected.*Next: read decision.trace"},
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{"action_type":"ach_outbound","source_account_id":"acct_ops","destination_counterparty_id":"cp_known","amount":"5.00","currency":"USD","dry_run":true}`,
		want: `{"status":"rejected","decision":{"matched_rules":[]}}`, text: "no rule allows it"},
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{"action_type":"wire","source_account_id":"acct_ops","destination_counterparty_id":"cp_aws","amount":"5.00","currency":"USD"}`, keep: "wire",
		want: `{"status":"pending_approval","decision":{"outcome":"confirm","human_floor":true,"required_approvers":["signer"]}}`, text: "always need a person"},
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{"action_type":"x402_settle","source_account_id":"acct_usdc","destination_counterparty_id":"cp_aws","amount":"1.5","currency":"USDC","pay_to":"0x52908400098527886e0f7030069857d2e4169ee7"}`,
		want: `{"amount":"1.500000","pay_to":"0x52908400098527886E0F7030069857D2E4169EE7","status":"approved","decision":{"human_floor":false,"matched_rules":["chain"]}}`},
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{"action_type":"escrow_release","source_account_id":"acct_usdc","destination_counterparty_id":"cp_aws","amount":"2","currency":"USDC","escrow_id":"esc-1","job_terms_hash":"0x` + strings.Repeat("ab", 32) + `"}`,
		want: `{"escrow_id":"esc-1","status":"pending_approval"}`},
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{"action_type":"ach_inbound","source_account_id":"acct_ops","destination_counterparty_id":"cp_aws","amount":"30.00","currency":"USD"}`,
		want: `{"status":"approved","decision":{"headroom":[{"left":"2","limit":"3","per":"tenant"}]}}`},

	{as: "agt_1", tool: "payment_intent.list", arguments: `{"status":"rejected"}`, want: `{"items":[{"id":"$refused"}]}`, text: "^1 payment intents\\."},
	{as: "agt_1", tool: "payment_intent.list", arguments: `{"limit":"2"}`, text: "There is more"},
	{as: "agt_2", tool: "payment_intent.list", arguments: `{}`, want: `{"items":[]}`, text: "^0 payment intents\\.$"},
	{as: "mbr_ada", tool: "proposals.list", arguments: `{"status":"pending_approval","type":"payment","risk_band":"standard"}`, text: "`\\$bill`"},
	{as: "mbr_ada", tool: "proposals.list", arguments: `{"min_confidence":1}`, want: `{"items":[]}`},
	{as: "mbr_ada", tool: "proposals.get", arguments: `{"proposal_id":"$bill"}`, want: `{"type":"payment","payment_intent_id":"$bill","confidence":null,"available_decisions":["approve","reject"],"policy":{"decision":"confirm"},"agent":{"id":"agt_1","role":"finance"}}`, text: "A member can now approve or reject it"},

	// People decide, and once more.
	{as: "mbr_ada", tool: "proposals.decide", arguments: `{"proposal_id":"$bill","decision":"approve","note":"fine"}`, want: `{"status":"approved","approvals":[{"member_id":"mbr_ada","note":"fine"}]}`, text: "^Your decision is recorded\\."},
	{as: "mbr_ada", tool: "proposals.decide", arguments: `{"proposal_id":"$bill","decision":"approve"}`, want: `{"audit_event_id":null}`, text: "^You have decided this before\\."},
	{as: "mbr_ada", tool: "proposals.decide", arguments: `{"proposal_id":"$bill","decision":"reject"}`, want: `{"status":"rejected"}`},
	{as: "agt_1", tool: "payment_intent.cancel", arguments: `{"intent_id":"$wire"}`, want: `{"id":"$wire","status":"cancelled","expires_at":null}`, text: "is cancelled"},
	{as: "agt_1", tool: "payment_intent.cancel", arguments: `{"intent_id":"$wire"}`, want: `{"status":"cancelled"}`},

	// Authorizations: one that is used, one people approve, one they reject or revoke, one denied.
	{as: "agt_1", tool: "authorizations.create", arguments: `{` + pays + `,"amount":"25.00","purpose":"supplies","expires_in":60}`, keep: "authz", want: `{"status":"authorized","consumed_by":null,"replayed":false}`, text: "Next: payment_intent.propose with authorization_id before"},
	{as: "agt_1", tool: "authorizations.create", arguments: `{` + pays + `,"amount":"25","purpose":"supplies","expires_in":"60"}`, want: `{"id":"$authz","replayed":true}`},
	{as: "agt_1", tool: "payment_intent.propose", arguments: `{` + pays + `,"amount":"24.99","authorization_id":"$authz"}`, want: `{"status":"approved","authorization_id":"$authz"}`},
	{as: "agt_1", tool: "authorizations.get", arguments: `{"authorization_id":"$authz"}`, want: `{"status":"consumed","expires_at":null}`},
	{as: "agt_1", tool: "authorizations.create", arguments: `{` + pays + `,"amount":"2000.00","purpose":"a machine"}`, keep: "machine", want: `{"status":"pending_approval"}`, text: "Next: a member decides with authorizations.approve"},
	{as: "mbr_ada", tool: "authorizations.get", arguments: `{"authorization_id":"$machine"}`, want: `{"approvals":[]}`},
	{as: "mbr_ada", tool: "authorizations.approve", arguments: `{"authorization_id":"$machine"}`, want: `{"status":"awaiting_second_approval"}`},
	{as: "mbr_dee", tool: "authorizations.approve", arguments: `{"authorization_id":"$machine","note":"mine too"}`, want: `{"status":"authorized"}`, text: "^Your decision is recorded"},
	{as: "mbr_dee", tool: "authorizations.approve", arguments: `{"authorization_id":"$machine"}`, want: `{"audit_event_id":null}`},
	{as: "mbr_ada", tool: "authorizations.reject", arguments: `{"authorization_id":"$machine"}`, want: `{"status":"revoked","expires_at":null}`},
	{as: "agt_1", tool: "authorizations.create", arguments: `{` + pays + `,"amount":"2000.01","purpose":"another"}`, keep: "another"},
	{as: "mbr_ada", tool: "authorizations.reject", arguments: `{"authorization_id":"$another","note":"one is enough"}`, want: `{"status":"denied"}`},
	{as: "agt_1", tool: "authorizations.create", arguments: `{"action_type":"ach_outbound","source_account_id":"acct_ops","destination_counterparty_id":"cp_stranger","amount":"5.00","currency":"USD","purpose":"no"}`,
		want: `{"status":"denied","decision":{"outcome":"reject"},"expires_at":null}`, text: "Next: read decision.trace"},

	// What is no payment.
	{as: "agt_1", tool: "agent.action.propose", arguments: `{"action":{"kind":"flag_transaction","narrative":"odd"},"evidence":[{"kind":"transaction","ref":"tx_1"},{"kind":"dream","ref":"x"}],"confidence":0.5}`, keep: "flag",
		want: `{"type":"fraud_anomaly","confidence":0.5,"payment_intent_id":null,"evidence":[{"resolvable":true},{"resolvable":false}],"available_decisions":["approve","reject","acknowledge"]}`, text: "Next: a member decides"},
	{as: "agt_1", tool: "agent.action.propose", arguments: `{"action":"{\"kind\":\"nothing_known\"}"}`, want: `{"type":"reconciliation","confidence":null,"evidence":[]}`},
	{as: "agt_1", tool: "agent.action.propose", arguments: `{"action":{"kind":"flag_transaction","narrative":"odd"},"evidence":[{"kind":"transaction","ref":"tx_1"},{"kind":"dream","ref":"x"}],"confidence":0.5}`, want: `{"id":"$flag","replayed":true}`},
	{as: "mbr_ada", tool: "proposals.decide", arguments: `{"proposal_id":"$flag","decision":"acknowledge"}`, want: `{"decision":"acknowledge","status":"acknowledged"}`},
	{as: "mbr_ada", tool: "proposals.get", arguments: `{"proposal_id":"$flag"}`, want: `{"available_decisions":["undo"]}`},
	{as: "mbr_ada", tool: "proposals.decide", arguments: `{"proposal_id":"$flag","decision":"undo"}`, want: `{"status":"pending_approval"}`},
	{as: "mbr_ada", tool: "proposals.list", arguments: `{"limit":100}`, text: "more in the structured content"},
}

// What a tool answers is what its output schema says, and says what happened, in
// every kind of answer it gives.
func TestEveryToolAnswersAsItSays(t *testing.T) {
	o, kept, called := newOffice(t), map[string]string{}, map[string]bool{}
	for _, e := range examples {
		o.at = o.at.Add(time.Second) // lists are in the order of time
		got, text := o.does(t, staff(t, "acme", e.as), e.tool, filled(e.arguments, kept))
		called[e.tool] = true
		if e.keep != "" {
			for _, member := range []string{"id", "raw_id"} {
				if name, there := got[member].(string); there {
					kept[e.keep] = name
				}
			}
		}
		if e.want != "" {
			var want any
			must(t, json.Unmarshal([]byte(filled(e.want, kept)), &want))
			if at, ok := holds(want, got, ""); !ok {
				t.Errorf("%s %s: %s is not as wanted in\n%s", e.tool, e.arguments, at, encoded(t, got))
			}
		}
		pattern := filled(strings.ReplaceAll(e.text, `\$`, "$"), kept)
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("%s %s says %q, want %s", e.tool, e.arguments, text, pattern)
		}
		if strings.Contains(text, "`now`") {
			t.Errorf("%s: a memo leaves its quotation marks: %s", e.tool, text)
		}
	}
	for _, tool := range o.tools {
		if !called[tool.Name] {
			t.Errorf("%s has no example: write one", tool.Name)
		}
	}
}

// filled puts what was kept in the place of its name.
func filled(text string, kept map[string]string) string {
	for _, name := range slices.Backward(slices.SortedFunc(maps.Keys(kept), func(a, b string) int { return len(a) - len(b) })) {
		text = strings.ReplaceAll(text, "$"+name, kept[name])
	}
	return text
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

// holds says whether a value has everything that is wanted of it, and where not.
func holds(want, got any, at string) (string, bool) {
	switch want := want.(type) {
	case map[string]any:
		object, _ := got.(map[string]any)
		for name, member := range want {
			value, there := object[name]
			if !there {
				return at + "." + name, false
			}
			if at, ok := holds(member, value, at+"."+name); !ok {
				return at, false
			}
		}
		return "", true
	case []any:
		array, _ := got.([]any)
		if len(array) != len(want) {
			return at, false
		}
		for i := range want {
			if at, ok := holds(want[i], array[i], fmt.Sprint(at, "[", i, "]")); !ok {
				return at, false
			}
		}
		return "", true
	}
	return at, reflect.DeepEqual(want, got)
}

// fits says where a value breaks a schema of the plain kind tools declare. A
// member that the schema does not name breaks it too: whoever reads the schema
// should know all there is.
func fits(t *testing.T, path string, schema map[string]any, value any) {
	t.Helper()
	types, several := schema["type"].([]any)
	if !several {
		types = []any{schema["type"]}
	}
	kind := kindOf(value)
	if kind == "integer" && slices.Contains(types, any("number")) {
		kind = "number"
	}
	if schema["type"] != nil && !slices.Contains(types, any(kind)) {
		t.Errorf("%s is of the type %s, want %v", path, kind, types)
	}
	if enum := list(schema["enum"]); enum != nil && !slices.Contains(enum, value) {
		t.Errorf("%s = %v, want one of %v", path, value, enum)
	}
	switch value := value.(type) {
	case string:
		form := map[any]string{"date": time.DateOnly, "date-time": time.RFC3339}[schema["format"]]
		if _, err := time.Parse(form, value); form != "" && err != nil {
			t.Errorf("%s is no %v: %q", path, schema["format"], value)
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		for i, element := range value {
			fits(t, fmt.Sprint(path, "[", i, "]"), items, element)
		}
	case map[string]any:
		properties, described := schema["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if property, named := properties[name].(map[string]any); named {
				fits(t, path+"."+name, property, value[name])
			} else if described {
				t.Errorf("%s.%s is not in the schema", path, name)
			}
		}
		for _, name := range list(schema["required"]) {
			if _, there := value[name.(string)]; !there {
				t.Errorf("%s.%s is missing", path, name)
			}
		}
	}
}

// kindOf is what JSON schema calls the type of a value.
func kindOf(value any) string {
	switch value := value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		if value == float64(int64(value)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "null"
}
