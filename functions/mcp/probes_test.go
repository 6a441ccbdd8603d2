package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/edge"
)

type args = map[string]any

// templated are the kinds of ids that a template of a resource takes.
var templated = map[string]string{
	"acct": "brain://ledger/accounts/{}", "tx": "brain://ledger/transactions/{}", "obl": "brain://ledger/obligations/{}",
	"pi": "brain://ledger/payment-intents/{}", "slug": "brain://wiki/pages/{}", "proof": "brain://proofs/{}",
}

// takes are the kinds of ids that an argument is made for: with these it is tried
// most.
var takes = map[string][]string{
	"account_id": {"acct"}, "source_account_id": {"acct"}, "counterparty_id": {"cp"}, "destination_counterparty_id": {"cp"}, "transaction_id": {"tx"},
	"obligation_id": {"obl"}, "invoice_id": {"inv"}, "authorization_id": {"authz"}, "proposal_id": {"pi", "prop"}, "intent_id": {"pi"}, "raw_id": {"raw"},
	"slug_or_id": {"slug", "wpg", "acct", "cp", "obl", "inv", "agt"}, "slug": {"slug"}, "action_id": {"proof", "pi"}, "id": {"pi"},
	"q": {"name"}, "question": {"name"}, "invoice_number": {"name"}, "idempotency_key": {"key"}, "cursor": {"cursor"},
}

// questions are asked with an id or a name in them.
var questions = []string{
	"Who is {}?", "What is the status of invoice {}?", "How much did we pay {} last quarter?", "Which transactions do we have with {}?", "What is the balance of {}?", "What do we owe {}?",
}

// probes is everything a caller is offered, with a share of what the other
// company holds in each place that takes text.
func (s side) probes(t *testing.T, server *edge.Server, holder string, foreign secrets) []probe {
	t.Helper()
	probes := slices.Concat(listed(), s.tools(t, server, holder, foreign), s.references(holder, foreign))
	for name, template := range map[string]string{"account_id": "accounts/{account_id}", "transaction_id": "transactions/{transaction_id}", "obligation_id": "obligations/{obligation_id}", "id": "payment-intents/{id}"} {
		probes = append(probes, completions(args{"type": "ref/resource", "uri": "brain://ledger/" + template}, name, foreign)...)
	}
	probes = append(probes, completions(args{"type": "ref/resource", "uri": "brain://wiki/pages/{slug}"}, "slug", foreign)...)
	probes = append(probes, completions(args{"type": "ref/resource", "uri": "brain://proofs/{action_id}"}, "action_id", foreign)...)
	for prompt, argument := range prompts(t, server, s.tokens[holder]) {
		for _, value := range foreign.forArgument(argument) {
			probes = append(probes, probe{method: "prompts/get", params: args{"name": prompt, "arguments": args{argument: value}}})
		}
		probes = append(probes, completions(args{"type": "ref/prompt", "name": prompt}, argument, foreign)...)
	}
	for _, template := range templated {
		for _, kind := range slices.Sorted(maps.Keys(foreign)) {
			for _, name := range spread(foreign[kind], 1) {
				probes = append(probes, probe{method: "resources/read", params: args{"uri": strings.ReplaceAll(template, "{}", strings.TrimPrefix(name, "/"))}})
			}
		}
	}
	return probes
}

// listed is what is asked without an id: the other company must not be in it.
func listed() (probes []probe) {
	for _, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
		probes = append(probes, probe{method: method, params: args{}})
	}
	for _, name := range []string{"ledger.accounts.list", "ledger.transactions.list", "ledger.obligations.list", "ledger.counterparties.list", "payment_intent.list", "proposals.list"} {
		probes = append(probes, tool(name, args{}))
	}
	for _, word := range []string{"cp_", "cp_gx", "a", "aws", "azure"} {
		probes = append(probes, tool("ledger.counterparties.list", args{"q": word}))
	}
	for _, question := range []string{"What is our cash position?", "What did we spend last quarter?", "Which bills are overdue?", "What waits for approval?", "Which agents do we have?"} {
		probes = append(probes, tool("wiki.question", args{"question": question}))
	}
	return probes
}

func tool(name string, arguments args) probe {
	return probe{method: "tools/call", params: args{"name": name, "arguments": arguments}}
}

// completions asks how what the other company holds goes on, and of what the
// argument is made for also how its beginning does.
func completions(ref args, argument string, foreign secrets) (probes []probe) {
	for _, value := range foreign.forArgument(argument) {
		texts := []string{value}
		if slices.ContainsFunc(takes[argument], func(kind string) bool { return slices.Contains(foreign[kind], value) }) {
			texts = append(texts, strings.ToValidUTF8(value[:len(value)/2], ""))
		}
		for _, text := range texts {
			probes = append(probes, probe{method: "completion/complete", params: args{"ref": ref, "argument": args{"name": argument, "value": text}}})
		}
	}
	return probes
}

// prompts are those that take an argument, which none has more than one of.
func prompts(t *testing.T, server *edge.Server, token string) map[string]string {
	t.Helper()
	var list struct {
		Prompts []struct {
			Name      string
			Arguments []struct{ Name string }
		}
	}
	result(t, server, token, "prompts/list", args{}, &list)
	found := map[string]string{}
	for _, p := range list.Prompts {
		for _, a := range p.Arguments {
			found[p.Name] = a.Name
		}
	}
	return found
}

// result sends a request that must succeed.
func result(t *testing.T, server *edge.Server, token, method string, params, into any) {
	t.Helper()
	r, err := send(t.Context(), server, token, method, params)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Result json.RawMessage }
	if err := json.Unmarshal([]byte(r.Body), &answer); err != nil || answer.Result == nil {
		t.Fatalf("%s %v: %d %s", method, params, r.StatusCode, r.Body)
	}
	if err := json.Unmarshal(answer.Result, into); err != nil {
		t.Fatalf("%s %v: %v in %s", method, params, err, answer.Result)
	}
}

// tools calls every tool with what the other company holds in each argument that
// is free text, the others being what they are when all is well.
func (s side) tools(t *testing.T, server *edge.Server, holder string, foreign secrets) (probes []probe) {
	t.Helper()
	var list struct {
		Tools []struct {
			Name        string
			Annotations struct{ ReadOnlyHint bool }
			InputSchema struct {
				Properties map[string]struct {
					Type any
					Enum []any
				}
				Required []string
			}
		}
	}
	result(t, server, s.tokens[holder], "tools/list", args{}, &list)
	if len(list.Tools) < 21 {
		t.Fatalf("%d tools", len(list.Tools))
	}
	for _, offered := range list.Tools {
		usual := s.usual(offered.InputSchema.Required)
		if offered.Name == "payment_intent.propose" {
			usual["dry_run"] = true
		}
		for _, name := range slices.Sorted(maps.Keys(offered.InputSchema.Properties)) {
			property := offered.InputSchema.Properties[name]
			if property.Enum != nil || property.Type == "integer" || property.Type == "boolean" || property.Type == "number" || property.Type == "array" {
				continue
			}
			for _, value := range foreign.forArgument(name) {
				p := tool(offered.Name, adding(usual, name, value))
				p.writes = !offered.Annotations.ReadOnlyHint && usual["dry_run"] == nil
				probes = append(probes, p)
			}
		}
	}
	return probes
}

func adding(arguments args, name string, value any) args {
	out := maps.Clone(arguments)
	out[name] = value
	return out
}

// usual are the required arguments of a tool as they are when all is well. What
// would be decided about or taken back is nobody's.
func (s side) usual(required []string) args {
	all := args{
		"amount": "1.00", "purpose": "x", "decision": "approve", "proposal_id": "pi_nobody", "intent_id": "pi_nobody", "authorization_id": "authz_nobody",
		"question": "x", "payload": "x", "slug_or_id": "x", "account_id": "acct_nobody", "raw_id": "raw_nobody", "refs": []any{}, "action": args{"kind": "flag_transaction"},
	}
	var payment args
	if err := json.Unmarshal([]byte("{"+s.pays+"}"), &payment); err != nil {
		panic(err)
	}
	maps.Copy(all, payment)
	usual := args{}
	for _, name := range required {
		usual[name] = all[name]
	}
	return usual
}

// references puts all that the other company holds into lists of evidence: of
// what is resolved, of a payment, of an authorization and of an action. And it
// contributes what the other company has contributed, which is new here.
func (s side) references(holder string, foreign secrets) (probes []probe) {
	kinds := map[string]string{"acct": "account", "cp": "counterparty", "inv": "invoice", "obl": "obligation", "tx": "transaction", "slug": "wiki_page"}
	for _, kind := range slices.Sorted(maps.Keys(foreign)) {
		var refs []any
		for _, name := range foreign[kind] {
			refs = append(refs, args{"kind": kinds[kind], "ref": name})
		}
		if kinds[kind] == "" {
			refs = spread(refs, 50) // no evidence is of this kind
		}
		for part := range slices.Chunk(refs, 50) {
			probes = append(probes, tool("evidence.resolve", args{"refs": part}))
		}
		payment := s.usual([]string{"action_type", "source_account_id", "destination_counterparty_id", "currency", "amount"})
		names := spread(foreign[kind], 20)
		probes = append(probes, tool("payment_intent.propose", adding(adding(payment, "dry_run", true), "evidence_ids", names)))
		if holder == "member" {
			continue
		}
		authorize := tool("authorizations.create", adding(adding(payment, "purpose", "x"), "evidence_ids", names))
		act := tool("agent.action.propose", args{"action": args{"kind": "flag_transaction", "of": names}, "evidence": spread(refs, 20)})
		bring := tool("raw.contribute", args{"payload": "x " + kind, "source_ref": args{"of": names}})
		for _, p := range []probe{authorize, act, bring} {
			p.writes = true
			probes = append(probes, p)
		}
	}
	if holder == "agent" {
		again := tool("raw.contribute", args{"payload": contributed})
		again.writes = true
		probes = append(probes, again)
	}
	return probes
}
