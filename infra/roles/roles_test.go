package roles_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/client"
	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/tap"
	"github.com/robotmoney/mcp/infra/roles"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

const template = "../../template.yaml"

// TestRoles plays what the system is for on a stack of its own, with a tap before
// everything the functions call, and holds each call against the role of who made
// it. Then the other way round: what a role allows and nobody used is either too
// much or has its reason in unused.
func TestRoles(t *testing.T) {
	all := load(t)
	if len(all) != 7 {
		t.Fatalf("%d functions have a role, want 7", len(all))
	}
	w := &witness{seen: map[string]map[string]roles.Request{}}
	play(t, w)
	for function, requests := range w.seen {
		role := all[function]
		for _, q := range requests {
			if !role.Allows(q) {
				t.Errorf("%s asks for %s on %s, with %v: %s does not allow it", function, q.Action, q.Resource, q.Context, role.Name)
			}
		}
	}
	idle := map[string]bool{}
	for function, role := range all {
		for _, grant := range role.Grants() {
			if !slices.ContainsFunc(slices.Collect(maps.Values(w.seen[function])), grant.Uses) {
				idle[grant.String()] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(idle)) {
		if !slices.ContainsFunc(unused, func(u excuse) bool { return u.matches(name) }) {
			t.Errorf("nobody used it, and nothing says why it is allowed: %s", name)
		}
	}
	for _, u := range unused {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(idle)), u.matches) {
			t.Errorf("it is used after all, or not allowed: %s (%s)", u.grants, u.why)
		}
	}
}

// witness keeps what each function asked of AWS.
type witness struct {
	mu    sync.Mutex
	seen  map[string]map[string]roles.Request // by function, then by the request in words
	wrong []error
}

func (w *witness) between(function string) tap.Between {
	return func(_ context.Context, call tap.Call, pass func() (tap.Answer, error)) (tap.Answer, error) {
		requests, err := roles.Requests(call)
		w.mu.Lock()
		if err != nil {
			w.wrong = append(w.wrong, fmt.Errorf("%s: %w", function, err))
		}
		if w.seen[function] == nil {
			w.seen[function] = map[string]roles.Request{}
		}
		for _, q := range requests {
			w.seen[function][fmt.Sprint(q)] = q
		}
		w.mu.Unlock()
		return pass()
	}
}

// play starts a stack behind taps and makes every function work.
func play(t *testing.T, w *witness) {
	t.Helper()
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	s, err := stack.Start(t.Context(), stack.Options{Repo: repo, Folder: folder, Reroute: func(function, variable, address string) (string, error) {
		if variable == "RPC_URLS" {
			return address, nil // no service of AWS
		}
		tapped, stop, err := tap.Start(address, w.between(function))
		if err == nil {
			t.Cleanup(stop)
		}
		return tapped, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := &player{t: t, stack: s, repo: repo, folder: folder}
	p.loseTheBus()
	p.read()
	p.ask()
	p.bring()
	p.operate()
	p.pay()
	p.decideOtherwise()
	p.expire(w)
	p.sweep()
	settle(t, s)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, err := range w.wrong {
		t.Error(err)
	}
}

func settle(t *testing.T, s *stack.Stack) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Bus().Settle(ctx); err != nil {
		t.Fatalf("the bus does not come to rest: %v", err)
	}
}

type player struct {
	t            *testing.T
	stack        *stack.Stack
	repo, folder string
}

type args = map[string]any

func (p *player) as(holder string) client.Client {
	return client.Client{URL: p.stack.File().MCPURL, Token: p.stack.File().Tokens[holder]}
}

// use calls a tool that must answer, and returns the id in its answer.
func (p *player) use(holder, tool string, arguments args) string {
	p.t.Helper()
	reply, out, err := p.as(holder).Use(p.t.Context(), tool, arguments)
	if err != nil || reply.Error != nil || out.IsError {
		p.t.Fatalf("%s %s %v: %v, %+v, %s", holder, tool, arguments, err, reply.Error, out.Text())
	}
	var made struct {
		ID    string `json:"id"`
		RawID string `json:"raw_id"`
	}
	_ = json.Unmarshal(out.Structured, &made)
	return made.ID + made.RawID
}

func (p *player) call(holder, method string, params any) {
	p.t.Helper()
	if reply, err := p.as(holder).Call(p.t.Context(), method, params); err != nil || reply.Error != nil {
		p.t.Fatalf("%s %s %v: %v, %+v", holder, method, params, err, reply.Error)
	}
}

// read reads through every resource, list, page and prompt.
func (p *player) read() {
	for _, uri := range []string{
		"brain://ledger/accounts/acct_8231", "brain://ledger/transactions/tx_4127", "brain://ledger/obligations/obl_5521",
		"brain://ledger/payment-intents/pi_a1b2c3", "brain://wiki/pages/monthly-summaries/2025-09", "brain://proofs/pi_a1b2c3",
	} {
		p.call("agent", "resources/read", args{"uri": uri})
	}
	for _, tool := range []string{"ledger.accounts.list", "ledger.transactions.list", "ledger.obligations.list", "ledger.counterparties.list", "payment_intent.list", "proposals.list"} {
		p.use("agent", tool, args{"limit": 2})
	}
	p.use("agent", "ledger.counterparties.list", args{"q": "amaz"})
	p.use("agent", "ledger.transactions.list", args{"account_id": "acct_8231", "limit": 2})
	p.use("agent", "ledger.transactions.list", args{"counterparty_id": "cp_aws", "limit": 2})
	p.use("agent", "wiki.page.get", args{"slug_or_id": "acct_8231"})
	p.use("agent", "evidence.resolve", args{"refs": []args{{"kind": "transaction", "ref": "tx_4127"}}})
	p.call("agent", "prompts/get", args{"name": "wiki.question.cash_flow_summary", "arguments": args{"period": "2025-09"}})
	p.call("agent", "completion/complete", args{"ref": args{"type": "ref/prompt", "name": "wiki.question.invoice_status"}, "argument": args{"name": "invoice_number", "value": "I"}})
	p.call("individual", "tools/list", args{})
}

// ask asks questions of several kinds.
func (p *player) ask() {
	for _, text := range []string{
		"What's our top expense category this month?", "What is on the operating account?", "Which bills are due within 30 days?", "Who owes us money?",
		"What does the policy allow?", "What waits for approval?", "Who is AWS?", "What are our subscriptions?", "Show the last 5 transactions",
	} {
		p.use("agent", "wiki.question", args{"question": text, "as_of": "2025-09-30T18:00:00Z"})
	}
}

func bill(amount string) args {
	return args{"action_type": "ach_outbound", "source_account_id": "acct_8231", "destination_counterparty_id": "cp_aws", "amount": amount, "currency": "USD"}
}

func with(a args, name string, value any) args {
	a[name] = value
	return a
}

// pay proposes, approves and waits for the settlement of two payments, and takes
// one back.
func (p *player) pay() {
	p.use("agent", "payment_intent.propose", bill("120.00"))
	big := bill("61404.12")
	big["obligation_id"], big["idempotency_key"] = "obl_5521", "october"
	id := p.use("agent", "payment_intent.propose", big)
	p.use("member_admin", "proposals.decide", args{"proposal_id": id, "decision": "approve"})
	p.use("member_cfo", "proposals.decide", args{"proposal_id": id, "decision": "approve"})
	granted := p.use("agent", "authorizations.create", with(bill("6500.00"), "purpose", "October"))
	p.use("member_admin", "authorizations.approve", args{"authorization_id": granted})
	p.use("agent", "payment_intent.propose", with(bill("6500.00"), "authorization_id", granted))
	p.use("agent", "payment_intent.cancel", args{"intent_id": p.use("agent", "payment_intent.propose", bill("6100.00"))})
	settle(p.t, p.stack)
	// What was paid within the day passes the policy and its people, and the gate stops
	// it and gives its promise back.
	again := p.use("agent", "payment_intent.propose", with(bill("120.00"), "idempotency_key", "once more"))
	p.use("member_admin", "proposals.decide", args{"proposal_id": again, "decision": "approve"})
	settle(p.t, p.stack)
}

// decideOtherwise uses what else can be proposed and decided.
func (p *player) decideOtherwise() {
	p.use("member_admin", "proposals.decide", args{"proposal_id": p.use("agent", "payment_intent.propose", bill("6200.00")), "decision": "reject", "note": "not now"})
	ask := func(amount string) string {
		return p.use("agent", "authorizations.create", with(bill(amount), "purpose", "October"))
	}
	granted := ask("6300.00")
	p.use("member_admin", "authorizations.approve", args{"authorization_id": granted})
	p.use("agent", "authorizations.get", args{"authorization_id": granted})
	p.use("member_admin", "authorizations.reject", args{"authorization_id": granted, "note": "after all"})
	p.use("member_admin", "authorizations.reject", args{"authorization_id": ask("6400.00"), "note": "no"})
	for _, decision := range []string{"acknowledge", "reject", "approve"} {
		flag := p.flag("to " + decision)
		p.use("member_approver", "proposals.decide", args{"proposal_id": flag, "decision": decision})
		p.use("agent", "proposals.get", args{"proposal_id": flag})
	}
}

// flag proposes something that is no payment.
func (p *player) flag(why string) string {
	return p.use("agent", "agent.action.propose", args{
		"action": args{"kind": "flag_transaction", "transaction_id": "tx_4127", "narrative": why}, "evidence": []args{{"kind": "transaction", "ref": "tx_4127"}}, "confidence": 0.8,
	})
}

// bring contributes a bank file of each form of row.
func (p *player) bring() {
	text := `{"type":"account","account":"DE02120300000000202051","currency":"EUR","name":"Main"}
{"type":"balance","level":"opening","amount":"10.00","date":"2025-04-01"}
{"type":"transaction","amount":"-12.50","date":"2025-04-02","id":"4711","counterparty":"Acme Roles GmbH","description":"Invoice 7"}
{"type":"invoice","number":"R-7","counterparty":"Acme Roles GmbH","direction":"payable","amount_due":"12.50","currency":"EUR","issue_date":"2025-04-01","due_date":"2025-04-20"}
{"type":"obligation","kind":"bill","counterparty":"Acme Roles GmbH","direction":"payable","amount_due":"12.50","currency":"EUR","due_date":"2025-04-20"}
{"type":"balance","level":"closing","amount":"-2.50","date":"2025-04-02"}
`
	id := p.use("agent", "raw.contribute", args{"payload": text, "mime_type": "application/x-ndjson", "source_ref": args{"file": "april.jsonl"}, "idempotency_key": "april"})
	p.use("agent", "raw.artifact.get", args{"raw_id": id})
}

// robotmoney runs the operator's program in the stack's folder.
func (p *player) robotmoney(line string) []byte {
	p.t.Helper()
	program := filepath.Join(p.folder, "robotmoney")
	if _, err := os.Stat(program); err != nil {
		build := exec.CommandContext(p.t.Context(), "go", "build", "-o", program, "./infra/robotmoney")
		build.Dir = p.repo
		if out, err := build.CombinedOutput(); err != nil {
			p.t.Fatalf("build the operator's program: %v\n%s", err, out)
		}
	}
	command := exec.CommandContext(p.t.Context(), program, strings.Fields(line)...)
	command.Dir = p.folder
	out, err := command.CombinedOutput()
	if err != nil && !strings.Contains(line, "bad.csv") { // a refused file is said by the exit code
		p.t.Fatalf("robotmoney %s: %v\n%s", line, err, out)
	}
	return out
}

// operate does as an operator, whose changes make the functions work: trust lets
// in what waits, agents and policies have pages.
func (p *player) operate() {
	may := "Date,Amount,Currency,Name,Reference\n2025-05-02,-10.00,EUR,Acme Roles GmbH,A1\n"
	for name, text := range map[string]string{
		"may.csv": may, "more.csv": may + "2025-05-03,4.00,EUR,Acme Roles GmbH,A2\n", "bad.csv": may + "2025-05-03,4.001,EUR,Acme Roles GmbH,A2\n",
		"columns.csv": "When,What,Who\n2025-05-04,-3.00,Acme Roles GmbH\n", "columns.json": `{"header":["When","What","Who"],"columns":{"0":"booked","1":"amount","2":"name"},"currency":"EUR"}`,
		"bill.jsonl": `{"type":"invoice","id":"inv_roles","number":"ROLES-1","counterparty":"Amazon Web Services","direction":"payable","amount_due":"140.00","currency":"USD","issue_date":"2025-09-01","due_date":"2025-10-20"}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	var key struct{ Key string }
	for _, line := range []string{
		"agent trust agt_finance", "import --tenant acme may.csv", "import --tenant acme more.csv", "import --tenant acme bad.csv",
		"import --tenant acme --mapping columns.json columns.csv", "import --tenant acme bill.jsonl",
		"agent quarantine agt_finance", "agent activate agt_finance", "rollups rebuild --tenant acme", "key create --json agt_finance",
	} {
		_ = json.Unmarshal(p.robotmoney(line), &key)
	}
	p.use("agent", "payment_intent.propose", with(bill("140.00"), "invoice_id", "inv_roles"))
	keyed := client.Client{URL: p.stack.File().MCPURL, Header: http.Header{"X-Agent-Api-Key": {key.Key}}}
	if reply, err := keyed.Call(p.t.Context(), "tools/list", args{}); err != nil || reply.Error != nil {
		p.t.Fatalf("with an API key: %v, %+v", err, reply.Error)
	}
	settle(p.t, p.stack)
}

// expire ends what is due in an hour, as the function outbox would then: the same
// code over the same table, with its clock moved on.
func (p *player) expire(w *witness) {
	p.use("agent", "authorizations.create", with(with(bill("6600.00"), "purpose", "October"), "expires_in", 60))
	p.use("agent", "payment_intent.propose", bill("6700.00"))
	p.flag("nobody decides")
	file := p.stack.File()
	tapped, stop, err := tap.Start(file.DynamoDBEndpoint, w.between("OutboxFunction"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer stop()
	later := func() time.Time { return time.Now().Add(15 * 24 * time.Hour) }
	file.DynamoDBEndpoint = tapped
	store, ids := file.Store(), id.NewSource(later, rand.Reader)
	trail := &audit.Trail{Bus: away{}, Store: store, IDs: ids, Now: later, Log: slog.New(slog.DiscardHandler)}
	n, err := (&proposals.Desk{Store: store, Trail: trail, IDs: ids, Now: later}).Expire(p.t.Context())
	if err != nil || n < 3 {
		p.t.Fatalf("%d proposals expired: %v", n, err)
	}
}

// away is a bus that takes nothing.
type away struct{}

func (away) Publish(context.Context, []audit.Entry) ([]string, error) {
	return nil, errors.New("away")
}

// loseTheBus lets events wait in the outbox. Among them is that of a payment
// whose agent has been stopped when it comes: the gate fails it.
func (p *player) loseTheBus() {
	p.stack.Bus().Refuse(-1)
	p.use("agent_payables", "payment_intent.propose", bill("130.00"))
	p.call("agent", "tools/list", args{})
	p.robotmoney("agent quarantine agt_payables")
	p.stack.Bus().Refuse(0)
}

// sweep has what waits published, which it is when it is old enough, and a round
// of anchors made.
func (p *player) sweep() {
	p.fire("AnchorFunction")
	for end := time.Now().Add(time.Minute); ; {
		var done struct{ Kept, Published int }
		if err := json.Unmarshal(p.fire("OutboxFunction"), &done); err != nil {
			p.t.Fatal(err)
		}
		if done.Published > 0 {
			return
		}
		if time.Now().After(end) {
			p.t.Fatal("the sweep publishes nothing")
		}
		time.Sleep(time.Second) // between two looks: nothing tells of an event's age
	}
}

func (p *player) fire(function string) []byte {
	p.t.Helper()
	result, err := p.stack.Function(function).Invoke(p.t.Context(), []byte(`{"id":"by hand"}`))
	if err != nil || result.FunctionError != "" {
		p.t.Fatalf("%s: %v %s", function, err, result.Payload)
	}
	return result.Payload
}
