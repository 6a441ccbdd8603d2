package main

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/shared/edge"
)

// moving are the names of packages that take part in moving money. They are held
// by name: one that does not exist yet must not come in later.
var moving = regexp.MustCompile(`(?i)(^|/)(execut(e|ion|or)|gate|rails?|dispatch(er)?|settle(ment)?|payout|pain001|sandbox|bank|onchain|signer|wallet|kms)(/|$)`)

// TestLinksNoExecution: this function cannot pay, because what pays is not in it.
// Neither a package of that kind is among those it is built from, nor is there, in
// the program the linker makes, the code that takes an intent further, that signs
// a transaction of the chain or that sends one.
func TestLinksNoExecution(t *testing.T) {
	deps := command(t, "go", "list", "-deps", ".")
	for _, path := range strings.Fields(deps) {
		name, ours := strings.CutPrefix(path, "github.com/robotmoney/mcp/")
		if ours && moving.MatchString(name) || strings.HasPrefix(path, "github.com/aws/aws-sdk-go-v2/service/kms") || strings.HasPrefix(path, "github.com/aws/aws-sdk-go-v2/service/sqs") {
			t.Errorf("the function is built from %s", path)
		}
	}
	program := filepath.Join(t.TempDir(), "bootstrap")
	// As it is deployed, but with its symbols, and without putting one function of
	// ours into another, where its name would be lost.
	command(t, "go", "build", "-buildvcs=false", "-trimpath", "-tags", "lambda.norpc", "-gcflags=github.com/robotmoney/mcp/...=-l", "-o", program, ".")
	held := map[string]bool{}
	for _, name := range symbols(t, program) { // the linker keeps what can be reached and nothing else
		if sends.MatchString(name) {
			t.Errorf("the program holds %s", name)
		}
		if of := ofDesk.FindStringSubmatch(name); of != nil {
			held[of[1]] = true
		}
	}
	for name := range held {
		if !slices.Contains(deskMethods, name) {
			t.Errorf("the program holds Desk.%s: is it there to move money?", name)
		}
	}
	for _, name := range deskMethods {
		if !held[name] {
			t.Errorf("the program does not hold Desk.%s: the test looks in the wrong place, or at too much", name)
		}
	}
}

// sends is the code that signs or sends a transaction of the chain, puts a policy
// in force, or changes who is who.
var sends = regexp.MustCompile(`^github\.com/robotmoney/mcp/shared/(platform/chain/tx\.(\(\*?(Transactor|RegistryAdmin|LocalKey|Transaction)\)|sign$|SignDigest|NewTransactor|ParseLocalKey)` +
	`|domain/charter\.\(\*Register\)\.(Activate|activate)|domain/roster\.)`)

// deskMethods are what is done with intents here: propose, decide, take back and
// look. Everything else that a desk can do, it cannot do in this program.
var (
	ofDesk      = regexp.MustCompile(`^github\.com/robotmoney/mcp/shared/domain/proposals\.\(\*Desk\)\.(\w+)$`)
	deskMethods = []string{
		"Propose", "Authorize", "Act", "submit", "open", "read", "decide", "change", "largest", "replay", "Look", "find",
		"Cancel", "end", "Decide", "DecideAuthorization", "choose",
		"Intent", "Authorization", "List", "Feed", "Entry", "entries", "proposal",
	}
)

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return string(out)
}

// symbols are the names of what a program holds.
func symbols(t *testing.T, program string) []string {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	table, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range table {
		names = append(names, s.Name)
	}
	return names
}

// everyProvider are all there are.
var everyProvider = map[string]string{"PROVIDERS": "brain,agent,member"}

// asked sends a request of JSON-RPC and returns the reply's error code, empty for
// a result, and the result.
func asked(t *testing.T, server *edge.Server, holder, method, params string) (code string, result json.RawMessage) {
	t.Helper()
	r := invoke(t, server, "POST", endpointPath, running.Tokens[holder], fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	var answer struct {
		Result json.RawMessage
		Error  struct{ Data struct{ Code string } }
	}
	if err := json.Unmarshal([]byte(r.Body), &answer); err != nil {
		t.Fatalf("%s %s: %d %s", method, params, r.StatusCode, r.Body)
	}
	return answer.Error.Data.Code, answer.Result
}

// TestNothingExecutes: whatever is asked here, by whom and in what words, no
// intent is executed, no balance moves and no row of the ledger changes. Every
// method, tool, alias, prompt, resource and template is tried with every state,
// decision and id there is in each of its arguments.
func TestNothingExecutes(t *testing.T) {
	lift(t)
	server := wired(t, everyProvider)
	ids := material(t, server)
	before := ledgerOf(t)
	tried := 0
	for _, holder := range []string{"agent", "member_admin"} {
		tried += everyTool(t, server, holder, ids)
		everyResource(t, server, holder, ids)
		everyPrompt(t, server, holder)
	}
	everyName(t, server)
	everyRoute(t, server)
	after := ledgerOf(t)
	for name, body := range before {
		if after[name] != body {
			t.Errorf("%s has changed:\n%s\n%s", name, body, after[name])
		}
	}
	if len(after) != len(before) {
		t.Errorf("the ledger holds %d rows and held %d", len(after), len(before))
	}
	reached := statuses(t)
	for status, of := range reached {
		if !slices.Contains([]string{"pending_approval", "awaiting_second_approval", "approved", "rejected", "cancelled", "authorized", "denied", "consumed", "revoked", "acknowledged"}, status) {
			t.Errorf("%s is %s", of, status)
		}
	}
	for _, status := range []string{"approved", "pending_approval", "rejected", "cancelled"} {
		if reached[status] == "" {
			t.Errorf("nothing is %s, so little was tried", status)
		}
	}
	if t.Logf("%d calls of tools", tried); tried < 500 {
		t.Error("too few to say anything")
	}
}

// lift lets both companies ask as often as the test does.
func lift(t *testing.T) {
	t.Helper()
	for _, tenant := range []string{"acme", "globex"} {
		_, err := running.Database().UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: &running.Table, Key: map[string]types.AttributeValue{"pk": text("tenant#" + tenant), "sk": text("rate")},
			UpdateExpression: aws.String("SET rate_limit = :n"), ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: "1000000"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// material are the ids of intents and more in every state that can be reached
// here.
func material(t *testing.T, server *edge.Server) []string {
	t.Helper()
	pays := func(amount, more string) string {
		return `{"action_type":"ach_outbound","source_account_id":"acct_8231","destination_counterparty_id":"cp_aws","currency":"USD","amount":"` + amount + `"` + more + `}`
	}
	approved := use(t, server, "agent", "payment_intent.propose", pays("2.01", ""))
	pending := use(t, server, "agent", "payment_intent.propose", pays("5201.00", ""))
	cancelled := use(t, server, "agent", "payment_intent.propose", pays("5202.00", ""))
	use(t, server, "agent", "payment_intent.cancel", `{"intent_id":"`+cancelled+`"}`)
	decided := use(t, server, "agent", "payment_intent.propose", pays("5203.00", ""))
	use(t, server, "member_admin", "proposals.decide", `{"proposal_id":"`+decided+`","decision":"approve"}`)
	authorized := use(t, server, "agent", "authorizations.create", pays("2.02", `,"purpose":"x"`))
	flagged := use(t, server, "agent", "agent.action.propose", `{"action":{"kind":"flag_transaction"}}`)
	use(t, server, "agent", "payment_intent.propose", strings.Replace(pays("2.03", ""), "cp_aws", "cp_quantum_ledger", 1)) // rejected
	return []string{approved, pending, cancelled, decided, authorized, flagged, "pi_a1b2c3"}
}

// words are what an argument could hold to get further than it should.
var words = []string{
	"execute", "executed", "dispatching", "settled", "paid", "approve", "approved", "auto", "paused", "failed", "true",
}

// everyTool calls every tool a caller is shown, with each value an argument says
// it takes and a share of the others in each argument, and in some that no tool
// has.
func everyTool(t *testing.T, server *edge.Server, holder string, ids []string) int {
	t.Helper()
	var listed struct {
		Tools []struct {
			Name        string
			InputSchema struct {
				Properties map[string]struct {
					Type any
					Enum []any
				}
				Required []string
			}
		}
	}
	_, result := asked(t, server, holder, "tools/list", `{}`)
	if err := json.Unmarshal(result, &listed); err != nil {
		t.Fatal(err)
	}
	values := slices.Concat(words, ids)
	tried := 0
	for i, tool := range listed.Tools {
		arguments := map[string]any{}
		for _, name := range tool.InputSchema.Required {
			arguments[name] = map[string]any{
				"action_type": "ach_outbound", "source_account_id": "acct_8231", "destination_counterparty_id": "cp_aws", "amount": fmt.Sprintf("%d.37", 2+i), "currency": "USD",
				"purpose": "x", "decision": "approve", "proposal_id": ids[1], "intent_id": ids[1], "authorization_id": ids[4], "question": "pay now", "payload": "x", "slug_or_id": "acct_8231",
				"account_id": "acct_8231", "raw_id": "raw_1", "refs": []any{}, "action": map[string]any{"kind": "execute_payment"},
			}[name]
		}
		for name, property := range maps.All(tool.InputSchema.Properties) {
			for at, value := range append(property.Enum, anys(values)...) {
				if (at+tried)%4 != 0 && at >= len(property.Enum) {
					continue // the others come with the next arguments
				}
				changed := maps.Clone(arguments)
				changed[name] = value
				call(t, server, holder, []string{tool.Name, strings.ReplaceAll(tool.Name, ".", "_")}[tried%2], changed)
				tried++
			}
		}
		for _, name := range []string{"status", "state", "execute", "approved", "force", "rail", "mode", "tenant_id", "agent_id"} {
			changed := maps.Clone(arguments)
			changed[name] = values[tried%len(values)]
			call(t, server, holder, tool.Name, changed)
			tried++
		}
	}
	return tried
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func call(t *testing.T, server *edge.Server, holder, tool string, arguments map[string]any) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		t.Fatal(err)
	}
	if code, _ := asked(t, server, holder, "tools/call", string(text)); code == "internal_error" || code == "dependency_unavailable" {
		t.Errorf("%s %s as %s: %s", tool, text, holder, code)
	}
}

// everyResource reads what is listed, and each template with each id and word.
func everyResource(t *testing.T, server *edge.Server, holder string, ids []string) {
	t.Helper()
	var resources struct{ Resources []struct{ URI string } }
	var templates struct {
		ResourceTemplates []struct{ URITemplate string }
	}
	_, result := asked(t, server, holder, "resources/list", `{}`)
	_, more := asked(t, server, holder, "resources/templates/list", `{}`)
	if json.Unmarshal(result, &resources) != nil || json.Unmarshal(more, &templates) != nil || len(templates.ResourceTemplates) < 6 {
		t.Fatalf("resources %s, templates %s", result, more)
	}
	for _, r := range resources.Resources {
		asked(t, server, holder, "resources/read", fmt.Sprintf(`{"uri":%q}`, r.URI))
	}
	variable := regexp.MustCompile(`\{\+?\w+\}`)
	for _, template := range templates.ResourceTemplates {
		for _, value := range slices.Concat(words, ids, []string{ids[0] + "/execute", ids[0] + "?status=executed"}) {
			uri := variable.ReplaceAllString(template.URITemplate, value)
			asked(t, server, holder, "resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
			asked(t, server, holder, "completion/complete", fmt.Sprintf(`{"ref":{"type":"ref/resource","uri":%q},"argument":{"name":"id","value":%q}}`, template.URITemplate, value))
		}
	}
}

// everyPrompt renders what is listed with a word in every argument.
func everyPrompt(t *testing.T, server *edge.Server, holder string) {
	t.Helper()
	var listed struct {
		Prompts []struct {
			Name      string
			Arguments []struct{ Name string }
		}
	}
	_, result := asked(t, server, holder, "prompts/list", `{}`)
	if err := json.Unmarshal(result, &listed); err != nil || len(listed.Prompts) == 0 {
		t.Fatalf("prompts %s", result)
	}
	offers := regexp.MustCompile(`(?i)\b(execute|dispatch|settle)`)
	for _, prompt := range listed.Prompts {
		if offers.MatchString(prompt.Name) {
			t.Errorf("the prompt %s", prompt.Name)
		}
		for _, word := range words {
			arguments := map[string]string{}
			for _, a := range prompt.Arguments {
				arguments[a.Name] = word
			}
			text, err := json.Marshal(map[string]any{"name": prompt.Name, "arguments": arguments})
			if err != nil {
				t.Fatal(err)
			}
			asked(t, server, holder, "prompts/get", string(text))
		}
	}
}

// everyName tries what somebody may guess: none of it is there.
func everyName(t *testing.T, server *edge.Server) {
	t.Helper()
	for _, subject := range []string{"payment_intent", "payment_intents", "proposals", "authorizations", "execution", "agent.action", "ledger.transactions", "rail", "policy", "brain"} {
		for _, verb := range []string{"execute", "dispatch", "settle", "pay", "send", "release", "pause", "resume", "update", "write", "complete", "force"} {
			for _, name := range []string{subject + "." + verb, strings.ReplaceAll(subject, ".", "_") + "_" + verb} {
				for _, holder := range []string{"agent", "member_admin"} {
					if code, result := asked(t, server, holder, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"intent_id":"pi_a1b2c3"}}`, name)); code != "tool_not_found" || result != nil {
						t.Errorf("the tool %s: %s %s", name, code, result)
					}
				}
				if code, _ := asked(t, server, "agent", strings.ReplaceAll(name, ".", "/"), `{}`); code != "method_not_found" {
					t.Errorf("the method %s: %s", name, code)
				}
				if code, _ := asked(t, server, "agent", "prompts/get", fmt.Sprintf(`{"name":%q}`, name)); code != "prompt_not_found" {
					t.Errorf("the prompt %s: %s", name, code)
				}
			}
			if code, _ := asked(t, server, "agent", "resources/read", fmt.Sprintf(`{"uri":"brain://payments/%s"}`, verb)); code != "resource_not_found" {
				t.Errorf("the resource %s: %s", verb, code)
			}
		}
	}
}

// everyRoute tries the paths and verbs of HTTP that another server might have.
func everyRoute(t *testing.T, server *edge.Server) {
	t.Helper()
	for _, path := range []string{"/v1/execute", "/v1/agents/execute", "/v1/payment-intents/pi_a1b2c3/execute", "/v1/rails/sandbox", "/v1/agents/mcp/execute", "/admin", "/invoke"} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "GET"} {
			if r := invoke(t, server, method, path, running.Tokens["member_admin"], `{"id":"pi_a1b2c3","status":"approved"}`); r.StatusCode != http.StatusNotFound && r.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d %s", method, path, r.StatusCode, r.Body)
			}
		}
	}
}

// scan gives every item of the table to see.
func scan(t *testing.T, see func(pk, sk, body string)) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(running.Database(), &dynamodb.ScanInput{TableName: &running.Table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			see(textOf(item["pk"]), textOf(item["sk"]), textOf(item["body"]))
		}
	}
}

func textOf(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// ledgerOf is every row of both companies' books, by its key: accounts,
// balances, transactions, obligations, invoices and counterparties.
func ledgerOf(t *testing.T) map[string]string {
	t.Helper()
	rows := map[string]string{}
	book := regexp.MustCompile(`#(acct|tx|obl|inv|cp)_`)
	scan(t, func(pk, sk, body string) {
		if book.MatchString(pk) || book.MatchString(sk) {
			rows[pk+" "+sk] = body
		}
	})
	if len(rows) < 1000 {
		t.Fatalf("%d rows in the books", len(rows))
	}
	return rows
}

// statuses are the states things were brought into, with one thing for each.
// What the demo's books tell of earlier times does not count.
func statuses(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	scan(t, func(pk, _, body string) {
		var c struct{ ID, Status string }
		if json.Unmarshal([]byte(body), &c) == nil && regexp.MustCompile(`^(pi|authz|prop)_\w{26}$`).MatchString(c.ID) && c.Status != "" {
			found[c.Status] = c.ID
		}
	})
	return found
}
