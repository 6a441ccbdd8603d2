package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/infra/clients/target"
)

// offer is a tool as tools/list shows it, with its schemas compiled by a
// validator that is not ours.
type offer struct {
	Name         string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage

	in, out *jsonschema.Schema
}

// offers lists the tools.
func offers(t *testing.T) []offer {
	t.Helper()
	var listed struct{ Tools []offer }
	a := post(t.Context(), "agent", "tools/list", "{}")
	must(t, a.err)
	must(t, json.Unmarshal(a.Result, &listed))
	if len(listed.Tools) != 21 {
		t.Fatalf("%d tools", len(listed.Tools))
	}
	for i := range listed.Tools {
		o := &listed.Tools[i]
		o.in, o.out = compiled(t, o.Name+"/in", o.InputSchema), compiled(t, o.Name+"/out", o.OutputSchema)
	}
	return listed.Tools
}

func compiled(t *testing.T, name string, raw json.RawMessage) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	must(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat() // a date that is none must not pass for one
	must(t, c.AddResource("mem:"+name, document))
	schema, err := c.Compile("mem:" + name)
	must(t, err)
	return schema
}

// valid holds JSON text against a schema.
func valid(schema *jsonschema.Schema, raw []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// answer is what came back for a request.
type answer struct {
	status int
	body   []byte
	err    error // no answer at all, or one that is no JSON
	Result json.RawMessage
	Error  json.RawMessage
}

// result is a tool's.
type result struct {
	Content           []struct{ Type, Text string }
	StructuredContent json.RawMessage
	IsError           bool
}

// post makes one legacy request with a token of the stack. params is JSON text
// as a stranger may send it.
func post(ctx context.Context, holder, method, params string) answer {
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, running.MCPURL, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+running.Tokens[holder])
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode}
	if a.body, a.err = io.ReadAll(res.Body); a.err == nil {
		a.err = json.Unmarshal(a.body, &a)
	}
	return a
}

func callTool(ctx context.Context, holder, name, arguments string) answer {
	return post(ctx, holder, "tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`)
}

// pays are the arguments of a payment but for its amount.
const pays = `"action_type":"ach_outbound","source_account_id":"acct_8231","destination_counterparty_id":"cp_aws","currency":"USD"`

// examples are calls that must succeed, by tool and in this order. A tool that
// takes nothing it must have is called without arguments too; any other needs one
// here. $NAME stands for what an earlier example answered under that name, and
// $TOOL.id for the id the last example of a tool did.
var examples = []struct{ tool, arguments string }{
	{"ledger.account.get", `{"account_id":"acct_8231"}`},
	{"ledger.accounts.list", `{"limit":500}`},
	{"ledger.accounts.list", `{"status":"closed"}`},
	{"ledger.transactions.list", `{"limit":"1000"}`},
	{"ledger.transactions.list", `{"account_id":"acct_8231","direction":"inflow","since":"2025-01-01","until":"2025-10-01T00:00:00+02:00","limit":1000}`},
	{"ledger.transactions.list", `{"status":"disputed","toolCallId":"x"}`},
	{"ledger.obligations.list", `{"limit":500}`},
	{"ledger.obligations.list", `{"status":"overdue","due_before":"2030-01-01"}`},
	{"ledger.counterparties.list", `{"limit":500}`},
	{"ledger.counterparties.list", `{"q":"amaz","type":"vendor"}`},
	{"ledger.counterparties.list", `{"q":"nobody of this name"}`},
	{"raw.contribute", `{"payload":{"a":[1]},"source_ref":"{\"from\":\"test\"}","idempotency_key":"k-1"}`},
	{"raw.contribute", `{"payload":"a,b\n1,2","mime_type":"text/csv"}`},
	{"raw.artifact.get", `{"raw_id":"$raw_id"}`},
	{"raw.artifact.get", `{"raw_id":"$raw_id","include_parsed":false}`},
	{"evidence.resolve", `{"refs":[{"kind":"transaction","ref":"tx_4127"},{"kind":"transaction","ref":"tx_none"},{"kind":"spaceship","ref":"x"}]}`},
	{"wiki.question", `{"question":"What's our top expense category this month?","as_of":"2025-09-30T12:00:00Z"}`},
	{"wiki.question", `{"question":"Who painted the ceiling?"}`},
	{"wiki.page.get", `{"slug_or_id":"acct_8231"}`},
	{"payment_intent.propose", `{` + pays + `,"amount":"5001.00","dry_run":true}`},
	{"payment_intent.propose", `{` + pays + `,"amount":"12.34"}`},
	{"payment_intent.propose", `{"action_type":"ach_outbound","source_account_id":"acct_8231","destination_counterparty_id":"cp_quantum_ledger","currency":"USD","amount":"120.00"}`},
	{"payment_intent.propose", `{` + pays + `,"amount":"61404.12","obligation_id":"obl_5521","evidence_ids":["tx_4127"],"memo":"October","idempotency_key":"k"}`},
	{"payment_intent.propose", `{` + pays + `,"amount":"61404.12","obligation_id":"obl_5521","evidence_ids":["tx_4127"],"memo":"October","idempotency_key":"k"}`},
	{"proposals.get", `{"proposal_id":"$payment_intent.propose.id"}`},
	{"proposals.decide", `{"proposal_id":"$payment_intent.propose.id","decision":"approve"}`},
	{"proposals.decide", `{"proposal_id":"$payment_intent.propose.id","decision":"reject","note":"not now"}`},
	{"payment_intent.propose", `{` + pays + `,"amount":"7003.00"}`},
	{"payment_intent.cancel", `{"intent_id":"$payment_intent.propose.id"}`},
	{"payment_intent.list", `{"status":"cancelled","limit":"1"}`},
	{"authorizations.create", `{` + pays + `,"amount":"6003.00","purpose":"a rack","expires_in":600}`},
	{"authorizations.get", `{"authorization_id":"$authorizations.create.id"}`},
	{"authorizations.approve", `{"authorization_id":"$authorizations.create.id","note":"fine"}`},
	{"authorizations.reject", `{"authorization_id":"$authorizations.create.id"}`},
	{"authorizations.create", `{"action_type":"ach_outbound","source_account_id":"acct_8231","destination_counterparty_id":"cp_quantum_ledger","currency":"USD","amount":"120.00","purpose":"no"}`},
	{"agent.action.propose", `{"action":{"kind":"flag_transaction"},"evidence":[{"kind":"transaction","ref":"tx_4127"}],"confidence":0.8}`},
	{"agent.action.propose", `{"action":"{\"kind\":\"draft_followup\",\"narrative\":\"late\"}"}`},
	{"proposals.get", `{"proposal_id":"$agent.action.propose.id"}`},
	{"proposals.decide", `{"proposal_id":"$agent.action.propose.id","decision":"acknowledge"}`},
	{"proposals.list", `{"status":"pending_approval","limit":100}`},
}

// speaker is whose token a tool is called with: decisions are for people.
func speaker(tool string) string {
	switch tool {
	case "proposals.decide", "authorizations.approve", "authorizations.reject":
		return "member_admin"
	}
	return "agent"
}

// What a tool answers is what its output schema says, in the eyes of a validator
// that is not ours, and the arguments were what its input schema says.
func TestAnswersValidate(t *testing.T) {
	said, called := []string{}, map[string]bool{}
	tools := map[string]offer{}
	for _, tool := range offers(t) {
		tools[tool.Name] = tool
		if valid(tool.in, []byte(`{}`)) == nil {
			succeeds(t, tool, `{}`)
			called[tool.Name] = true
		}
	}
	for _, example := range examples {
		tool, known := tools[example.tool]
		if !known {
			t.Fatalf("there is no tool %s", example.tool)
		}
		structured := succeeds(t, tool, strings.NewReplacer(said...).Replace(example.arguments))
		called[tool.Name] = true
		var texts map[string]any
		must(t, json.Unmarshal(structured, &texts))
		for name, value := range texts {
			if text, isText := value.(string); isText {
				said = append([]string{"$" + tool.Name + "." + name + `"`, text + `"`, "$" + name + `"`, text + `"`}, said...)
			}
		}
	}
	for name := range tools {
		if !called[name] {
			t.Errorf("%s has no example here: write one", name)
		}
	}
}

// succeeds calls a tool, judges the answer and returns its structured content.
func succeeds(t *testing.T, tool offer, arguments string) json.RawMessage {
	t.Helper()
	if err := valid(tool.in, []byte(arguments)); err != nil && !coerced(arguments) {
		t.Errorf("%s %s: inputSchema refuses what the tool takes: %v", tool.Name, arguments, err)
	}
	a := callTool(t.Context(), speaker(tool.Name), tool.Name, arguments)
	if err := judge(tool, a); err != nil {
		t.Fatalf("%s %s: %v", tool.Name, arguments, err)
	}
	var r result
	must(t, json.Unmarshal(a.Result, &r))
	if r.IsError {
		t.Fatalf("%s %s: refused: %s", tool.Name, arguments, r.Content[0].Text)
	}
	return r.StructuredContent
}

// coerced says that arguments hold integers or objects as text, which hosts send
// and the schemas do not tell of.
func coerced(arguments string) bool {
	return strings.Contains(arguments, `"limit":"`) || strings.Contains(arguments, `"{\"`)
}

// judge wants an answer to be a result: a refusal in words alone, or structured
// content that validates and a text beside it.
func judge(tool offer, a answer) error {
	var r result
	switch {
	case a.err != nil:
		return a.err
	case a.status != http.StatusOK || a.Error != nil || a.Result == nil:
		return fmt.Errorf("status %d: %.300s", a.status, a.body)
	case json.Unmarshal(a.Result, &r) != nil || len(r.Content) == 0 || r.Content[0].Type != "text" || r.Content[0].Text == "":
		return fmt.Errorf("no text: %.300s", a.body)
	case r.IsError && r.StructuredContent != nil:
		return fmt.Errorf("a refusal with structured content: %.300s", a.body)
	case r.IsError:
		return nil
	}
	if err := valid(tool.out, r.StructuredContent); err != nil {
		return fmt.Errorf("the answer is not what outputSchema says: %w", err)
	}
	return nil
}

// Whatever arguments come, also ones no client would send, the tool answers: a
// result or a refusal it has words for, and nothing of another tenant's.
func TestHostileArguments(t *testing.T) {
	unlimited(t, "globex")
	for _, tool := range offers(t) {
		t.Run(tool.Name, func(t *testing.T) {
			if speaker(tool.Name) != "agent" {
				unlimited(t, "acme")
				decisions(t, tool)
				return
			}
			sent := hostile(t, tool)
			var all errgroup.Group
			all.SetLimit(4)
			for _, arguments := range sent {
				all.Go(func() error {
					a := callTool(t.Context(), "other_tenant_agent", tool.Name, arguments)
					if err := judge(tool, a); err != nil {
						t.Errorf("%.200s: %v", arguments, err)
					}
					if bytes.Contains(a.body, []byte(`"tenant_id":"acme"`)) {
						t.Errorf("%.200s: a row of another tenant: %.300s", arguments, a.body)
					}
					return nil
				})
			}
			_ = all.Wait() // every error is told above
			t.Logf("%d calls", len(sent))
		})
	}
}

// decisions sends hostile arguments as members who may decide.
func decisions(t *testing.T, tool offer) {
	t.Helper()
	sent := hostile(t, tool)
	var all errgroup.Group
	all.SetLimit(4)
	for i, arguments := range sent {
		all.Go(func() error {
			a := callTool(t.Context(), []string{"member_approver", "member_admin"}[i%2], tool.Name, arguments)
			if err := judge(tool, a); err != nil {
				t.Errorf("%.200s: %v", arguments, err)
			}
			return nil
		})
	}
	_ = all.Wait() // every error is told above
	t.Logf("%d calls", len(sent))
}

// What is no object at all is an error of the protocol, not of the server.
func TestArgumentsThatAreNoObject(t *testing.T) {
	for _, tool := range offers(t) {
		for _, arguments := range []string{`[]`, `"{}"`, `5`, `true`, `[{}]`, `{"a":1,"a":2}`} {
			holder := "other_tenant_agent"
			if speaker(tool.Name) != "agent" {
				holder = speaker(tool.Name)
			}
			a := callTool(t.Context(), holder, tool.Name, arguments)
			if a.status != http.StatusOK || !bytes.Contains(a.Error, []byte(`"code":-32602`)) {
				t.Errorf("%s %s: status %d, %s", tool.Name, arguments, a.status, a.body)
			}
		}
	}
}

// strange are values for any argument, as JSON text.
var strange = []string{
	`null`, `true`, `0`, `-1`, `1.5`, `1e3`, `-0`, `1e999`, `9223372036854775808`, `[]`, `{}`, `[null]`, `[[],{}]`, `{"":null}`, `{"a":{"a":[{}]}}`,
	strings.Repeat("[", 50) + strings.Repeat("]", 50), `""`, `" "`, `"x"`, `"null"`, `"{}"`, `"[]"`, `"[1,2"`, `"050"`, `"0x1F"`, `"\u0000"`, `"\ud800"`,
	`"\ufffe\uffff"`, `"\u202e\u2066\u200b"`, `"e\u0301\u0301\u0301"`, `"ﷺ😀日本"`, `"#"`, `"a#b#c"`, `"%00%ff"`, `"../../etc/passwd"`, `"${jndi:ldap://x}"`, `"' OR 1=1 --"`,
	`"{account_id}"`, `"` + strings.Repeat("ä", 50_000) + `"`, `"` + strings.Repeat("ﷺ", 200) + `"`,
	// another tenant's
	`"acct_8231"`, `"tx_4127"`, `"cp_aws"`, `"obl_5521"`, `"pi_a1b2c3"`, `"acme"`, `"tenant#acme#acct#acct_8231"`, `"acct_8231#row"`, `"/accounts/acct_8231"`,
	`"2025-09-30"`, `"0000-01-01"`, `"9999-12-31T23:59:59+23:59"`, `"2025-02-30T25:00:00Z"`,
}

// shape is what the generator reads of a schema.
type shape struct {
	Type                                                       any
	Properties                                                 map[string]shape
	Required                                                   []string
	Items                                                      *shape
	Enum                                                       []any
	Minimum, Maximum, MinLength, MaxLength, MinItems, MaxItems *int
}

// hostile makes arguments for a tool out of its input schema: one argument
// wrong at a time, each argument missing, strangers beside it, all wrong at once.
func hostile(t *testing.T, tool offer) []string {
	t.Helper()
	var s shape
	must(t, json.Unmarshal(tool.InputSchema, &s))
	good := map[string]json.RawMessage{}
	for _, example := range slices.Backward(examples) {
		if example.tool == tool.Name {
			clear(good)
			must(t, json.Unmarshal([]byte(example.arguments), &good))
		}
	}
	sent := []string{`{}`, `{"` + strings.Repeat("n", 300) + `":1}`}
	change := func(name, value string) { sent = append(sent, with(good, name, value)) }
	for _, stranger := range []string{"toolCallId", "__proto__", "tenant_id", "ID", "", "\\u0000", "\\u202e`\\n"} {
		change(stranger, `"acme"`)
	}
	for name, argument := range s.Properties {
		change(name, "")
		for _, value := range argument.wrong(2) {
			change(name, value)
		}
	}
	for _, value := range strange {
		everywhere := map[string]json.RawMessage{}
		for name := range s.Properties {
			everywhere[name] = json.RawMessage(value)
		}
		if all := with(everywhere, "x", value); len(all) < 1<<20-1<<10 { // a larger body is refused unread
			sent = append(sent, all)
		}
	}
	return sent
}

// with writes arguments with one of them set to JSON text, or without it when
// the text is empty.
func with(args map[string]json.RawMessage, name, value string) string {
	var parts []string
	for other, own := range args {
		if other != name {
			parts = append(parts, `"`+other+`":`+string(own))
		}
	}
	if value != "" {
		parts = append(parts, `"`+name+`":`+value)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// wrong are values that a schema does not expect, those around its bounds and,
// so many levels deep, those that are wrong inside.
func (s shape) wrong(depth int) []string {
	values := slices.Clone(strange)
	for _, bound := range []*int{s.Minimum, s.Maximum} {
		if bound != nil {
			values = append(values, fmt.Sprint(*bound-1), fmt.Sprint(*bound+1), fmt.Sprintf(`"%d"`, *bound), fmt.Sprintf("%d.0", *bound))
		}
	}
	for _, bound := range []*int{s.MinLength, s.MaxLength} {
		if bound != nil {
			values = append(values, `"`+strings.Repeat("é", max(*bound-1, 0))+`"`, `"`+strings.Repeat("é", *bound)+`"`, `"`+strings.Repeat("a", *bound+1)+`"`)
		}
	}
	for _, choice := range s.Enum {
		values = append(values, strings.ToUpper(fmt.Sprintf("%q", choice)), fmt.Sprintf(`"%v "`, choice), fmt.Sprintf("[%q]", choice))
	}
	if depth == 0 {
		return values
	}
	for name, member := range s.Properties {
		for _, value := range member.wrong(depth - 1) {
			values = append(values, `{"`+name+`":`+value+`}`)
		}
	}
	if s.Items != nil {
		if s.MaxItems != nil {
			values = append(values, "["+strings.Repeat(`{},`, *s.MaxItems)+`{}]`)
		}
		for _, value := range s.Items.wrong(depth - 1) {
			values = append(values, "["+value+"]")
		}
	}
	return values
}

// unlimited lifts a tenant's rate for good: what is tried here is more than a
// minute's requests, and the stack is the tests' own.
func unlimited(t *testing.T, tenant string) {
	t.Helper()
	_, err := target.Lift(t.Context(), running, tenant)
	must(t, err)
}
