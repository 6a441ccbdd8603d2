package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/robotmoney/mcp/infra/contracts"
	"github.com/robotmoney/mcp/infra/local/bus"
	localengine "github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// The engines of this package's tests: a table and a chain.
var (
	engine *enginetest.Engine
	anvil  *localengine.Chain
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	folder, err := os.MkdirTemp("", "execute-*")
	if err == nil {
		defer os.RemoveAll(folder)
		var found localengine.Binaries
		if found, err = localengine.Install(ctx, filepath.Join("..", "..", ".local", "npm")); err == nil {
			anvil, err = localengine.Anvil(ctx, localengine.AnvilConfig{Binary: found.Anvil, State: filepath.Join(folder, "chain.json")})
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "start a chain: %v\n", err)
		return 1
	}
	defer anvil.Close()
	return enginetest.Run(m, func(e *enginetest.Engine) { engine = e })
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func ptr[T any](v T) *T { return &v }

// Keys of the development chain, known to everybody.
const (
	deployer = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
	rich     = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"
)

// company is a tenant that is on the chain: one for all tests, which keep apart by
// their accounts and payees.
type company struct {
	tenant          identity.Tenant
	agent           identity.AgentRecord
	registry, token chain.Address
	sender, owner   *tx.Transactor // owner has the tokens, and is who pays with them
}

// acme puts the company on the chain and its policy in force.
var acme = sync.OnceValues(func() (company, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var c company
	var err error
	if c.tenant, err = identity.OperatorTenant("acme"); err != nil {
		return c, err
	}
	c.agent = identity.AgentRecord{ID: "agt_1", TenantID: "acme", Status: identity.Active, Scopes: identity.Scopes{identity.IntentPropose}, CreatedBy: "mbr_kim"}
	if c.sender, err = transactor(deployer); err != nil {
		return c, err
	}
	if c.owner, err = transactor(rich); err != nil {
		return c, err
	}
	if c.registry, _, err = c.sender.Deploy(ctx, contracts.Registry.DeployData(c.sender.From())); err != nil {
		return c, err
	}
	if c.token, err = deployToken(ctx, c.owner); err != nil {
		return c, err
	}
	signer, err := tx.ParseLocalKey(deployer)
	if err != nil {
		return c, err
	}
	admin := tx.NewRegistryAdmin(c.sender, c.registry, signer)
	if _, err := admin.SetTenantSigner(ctx, identity.TenantHash("acme"), signer.Address(), true); err != nil {
		return c, err
	}
	_, err = admin.RegisterAgent(ctx, tx.Agent{
		ID: identity.AgentHash("acme", c.agent.ID), Address: signer.Address(), TenantID: identity.TenantHash("acme"), ScopeHash: c.agent.Scopes.Hash(),
		BehaviorHash: identity.Hash{7},
	})
	return c, err
})

func transactor(private string) (*tx.Transactor, error) {
	signer, err := tx.ParseLocalKey(private)
	if err != nil {
		return nil, err
	}
	client, err := chain.New(chain.Config{Endpoints: []string{anvil.URL}, ChainID: localengine.ChainID, Timeout: 5 * time.Second, Now: time.Now})
	if err != nil {
		return nil, err
	}
	return tx.NewTransactor(tx.Config{Client: client, Signer: signer, Poll: 50 * time.Millisecond, Reverts: tx.RegistryReverts})
}

// deployToken deploys testdata/Token.sol, compiled.
func deployToken(ctx context.Context, owner *tx.Transactor) (chain.Address, error) {
	text, err := os.ReadFile("testdata/token.hex")
	if err != nil {
		return chain.Address{}, err
	}
	code, err := chain.ParseData([]byte(`"0x` + strings.TrimSpace(string(text)) + `"`))
	if err != nil {
		return chain.Address{}, err
	}
	address, _, err := owner.Deploy(ctx, code)
	return address, err
}

// node hands requests on to the chain, but for those that a test keeps back.
type node struct {
	url  string
	mu   sync.Mutex
	lose map[string]int // calls of a method whose answer is lost after the chain had it
	drop map[string]int // calls of a method that never reach the chain
}

func newNode(t *testing.T) *node {
	t.Helper()
	n := &node{lose: map[string]int{}, drop: map[string]int{}}
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	n.url = server.URL
	return n
}

// ServeHTTP answers as the chain does, or not at all.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var call struct{ Method string }
	_ = json.Unmarshal(body, &call)
	n.mu.Lock()
	dropped, lost := n.drop[call.Method] > 0, n.lose[call.Method] > 0
	if dropped {
		n.drop[call.Method]--
	} else if lost {
		n.lose[call.Method]--
	}
	n.mu.Unlock()
	if dropped {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	answer, err := http.Post(anvil.URL, "application/json", bytes.NewReader(body))
	if err != nil || lost {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	_, _ = io.Copy(w, answer.Body)
}

// world is the function as its environment wires it, with an account and a payee
// of the test's own.
type world struct {
	company
	t              *testing.T
	consumer       *consumer
	node           *node
	bus            *bus.Bus
	file           string // the events the bus took
	account, payee string
	address        identity.Address // of the payee on the chain
	out, log       *lines
}

// lines are written by several at once.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

var worlds atomic.Int64

// begin wires the function with variables of the test's own.
func begin(t *testing.T, changes map[string]string) *world {
	t.Helper()
	c, err := acme()
	noError(t, err)
	n := worlds.Add(1)
	w := &world{
		company: c, t: t, node: newNode(t), out: &lines{}, log: &lines{}, account: fmt.Sprintf("acct_%d", n), payee: fmt.Sprintf("cp_%d", n),
		address: identity.Address{0: 0xaa, 19: byte(n)}, file: filepath.Join(t.TempDir(), "events.jsonl"),
	}
	w.bus, err = bus.New(t.Context(), bus.Config{Name: "main", EventsFile: w.file})
	noError(t, err)
	server := httptest.NewServer(w.bus)
	t.Cleanup(func() {
		server.Close()
		noError(t, w.bus.Close())
	})
	env := variables(map[string]string{
		"EVENTS_ENDPOINT": server.URL, "DYNAMODB_ENDPOINT": *engine.Client().Options().BaseEndpoint, "RPC_URLS": w.node.url, "REGISTRY_ADDRESS": c.registry.String(),
	})
	for name, value := range changes {
		env[name] = value
	}
	config, err := readConfig(func(name string) string { return env[name] })
	noError(t, err)
	w.consumer, err = wire(config, slog.New(slog.NewJSONHandler(w.log, nil)), w.out)
	noError(t, err)
	w.seed()
	return w
}

// variables are a whole environment with changes.
func variables(changes map[string]string) map[string]string {
	env := map[string]string{
		"AWS_LAMBDA_FUNCTION_NAME": "ExecuteFunction", "AWS_REGION": enginetest.Region, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
		"TABLE_NAME": enginetest.TableName, "BUS_NAME": "main", "RPC_URLS": "http://127.0.0.1:1", "CHAIN_ID": fmt.Sprint(localengine.ChainID),
		"REGISTRY_ADDRESS": "0x0000000000000000000000000000000000000001", "RAIL": "sandbox", "RECEIPT_HOURS": "24",
	}
	for name, value := range changes {
		env[name] = value
	}
	return env
}

// rules let anything small pass.
const rules = `{"version":1,"lists":{},"rules":[
	{"id":"usd","applies_to":["any"],"execute":"auto","when":{"amount.lte":{"amount":"500","currency":"USD"}}},
	{"id":"usdc","applies_to":["any"],"execute":"auto","when":{"amount.lte":{"amount":"500","currency":"USDC"}}}]}`

// seed enters the company's people and policy, and the test's own rows.
func (w *world) seed() {
	w.t.Helper()
	e, ctx := w.consumer.executor, w.t.Context()
	put := func(k key.Key, v any) {
		body, err := json.Marshal(v)
		noError(w.t, err)
		noError(w.t, e.Store.Commit(ctx, record.Change{Puts: []record.Put{{Item: record.Item{Key: k, Body: body}, Blind: true}}}))
	}
	put(key.AgentRecord(w.agent.ID), w.agent)
	put(key.MemberRecord(w.tenant, "mbr_ann"), w.person().Member)
	if _, there, err := e.Store.Get(ctx, key.PolicyHead(w.tenant)); err == nil && !there {
		hash, err := policy.Hash([]byte(rules))
		noError(w.t, err)
		signer, err := tx.ParseLocalKey(deployer)
		noError(w.t, err)
		register := e.Desk.Policies
		signature, err := tx.SignDigest(ctx, signer, register.Domain.Digest(w.tenant, 1, hash))
		noError(w.t, err)
		register.Trail = e.Desk.Trail
		_, err = register.Activate(ctx, w.tenant, identity.Actor{Type: "operator", ID: "test"}, "", []byte(rules), []charter.Signature{signature})
		noError(w.t, err)
	}
	meta := func(name string) ledger.Meta { return ledger.Meta{ID: name, Provenance: "extracted", Confidence: 1} }
	asOf := time.Now().UTC().Add(-time.Hour).Format(audit.TimeForm)
	_, err := e.Ledger.Write(ctx, w.tenant, identity.Actor{Type: "operator", ID: "test"}, "",
		&ledger.Account{Meta: meta(w.account), AccountType: "bank_checking", Name: "Operating", Currency: "USD", Status: "active"},
		&ledger.Balance{AccountID: w.account, AsOf: asOf, Current: "1000.00", Currency: "USD"},
		&ledger.Account{Meta: meta(w.account + "_usdc"), AccountType: "onchain", Name: "Wallet", Currency: "USDC", Status: "active"},
		&ledger.Balance{AccountID: w.account + "_usdc", AsOf: asOf, Current: "1000000", Currency: "USDC"},
		&ledger.Counterparty{Meta: meta(w.payee), Name: "Vendor", Type: "vendor", RiskLevel: "low", VerifiedStatus: "document_verified", OnchainAddress: ptr(w.address.String())})
	noError(w.t, err)
}

func (w *world) person() identity.Principal {
	return identity.Principal{Kind: identity.User, ID: "mbr_ann", Tenant: w.tenant, Member: &identity.MemberRecord{
		ID: "mbr_ann", TenantID: "acme", Role: identity.Admin, Status: identity.Active, Domains: identity.Domains,
		Limits: []money.Written{{Amount: "1000", Currency: "USD"}, {Amount: "1000000", Currency: "USDC"}},
	}}
}

// propose proposes a payment that is approved, by a person where one must.
func (w *world) propose(of payments.ActionType, amount string) string {
	w.t.Helper()
	p := payments.Payment{ActionType: of, SourceAccountID: w.account, DestinationCounterpartyID: w.payee, Amount: amount, Currency: "USD"}
	if of == payments.OnchainTransfer {
		p.SourceAccountID, p.Currency = w.account+"_usdc", "USDC"
	}
	who := identity.Principal{Kind: identity.Agent, ID: w.agent.ID, Tenant: w.tenant, Agent: &w.agent, Scopes: w.agent.Scopes, Behavior: identity.Hash{7}}
	desk := w.consumer.executor.Desk
	a, err := desk.Propose(w.t.Context(), who, "req", proposals.Proposal{Payment: p})
	noError(w.t, err)
	if a.Status == proposals.Pending {
		_, err := desk.Decide(w.t.Context(), w.person(), "req", proposals.Choice{Name: a.ID, Decision: proposals.Approve})
		noError(w.t, err)
	}
	equal(w.t, "approved", w.status(a.ID), proposals.Approved)
	return a.ID
}

func (w *world) status(intent string) proposals.Status {
	w.t.Helper()
	item, _, err := w.consumer.executor.Store.Get(w.t.Context(), key.Ledger(w.tenant, id.PaymentIntent, intent))
	noError(w.t, err)
	c, err := proposals.Decode(item)
	noError(w.t, err)
	return c.Status
}

// carried are the envelopes of a type about an intent that the bus took, in order.
func (w *world) carried(kind, intent string) []map[string]any {
	w.t.Helper()
	file, err := os.Open(w.file)
	noError(w.t, err)
	defer file.Close()
	var found []map[string]any
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var envelope map[string]any
		noError(w.t, json.Unmarshal(scanner.Bytes(), &envelope))
		if envelope["detail-type"] == kind && strings.Contains(scanner.Text(), `"id":"`+intent+`"`) {
			found = append(found, envelope)
		}
	}
	return found
}

// approval is the message that an intent's approval comes to the function as.
func (w *world) approval(intent string, change func(envelope map[string]any)) string {
	w.t.Helper()
	all := w.carried(approved, intent)
	if len(all) != 1 {
		w.t.Fatalf("%d approvals on the bus, want 1", len(all))
	}
	return written(w.t, all[0], change)
}

func written(t *testing.T, envelope map[string]any, change func(map[string]any)) string {
	t.Helper()
	if change != nil {
		change(envelope)
	}
	raw, err := json.Marshal(envelope)
	noError(t, err)
	return string(raw)
}

// deliver gives a batch to the function as Lambda does and returns the numbers of
// the messages that failed, in order.
func (w *world) deliver(bodies ...string) string {
	w.t.Helper()
	var batch events.SQSEvent
	for i, body := range bodies {
		batch.Records = append(batch.Records, events.SQSMessage{MessageId: fmt.Sprint(i), Body: body, EventSource: "aws:sqs"})
	}
	payload, err := json.Marshal(batch)
	noError(w.t, err)
	ctx, cancel := context.WithTimeout(w.t.Context(), 60*time.Second)
	defer cancel()
	raw, err := lambda.NewHandler(w.consumer.consume).Invoke(ctx, payload)
	noError(w.t, err)
	var report struct {
		Failures []struct {
			ID string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	noError(w.t, json.Unmarshal(raw, &report))
	if report.Failures == nil {
		w.t.Errorf("no list of failures: %s", raw)
	}
	ids := []string{}
	for _, f := range report.Failures {
		ids = append(ids, f.ID)
	}
	slices.Sort(ids)
	return fmt.Sprint(ids)
}

// tokens is what the payee has on the chain, in millionths.
func (w *world) tokens() int64 {
	w.t.Helper()
	var n big.Int
	err := w.sender.Client().Call(w.t.Context(), w.token, tx.Function("balanceOf(address)").Address(w.address).Encode(), func(returned []byte) error {
		n.SetBytes(returned)
		return nil
	})
	noError(w.t, err)
	return n.Int64()
}
