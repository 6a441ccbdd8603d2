package execution_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	random "math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/trace"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// engine holds the table of this package's tests. Worlds keep apart by their
// tenants.
var engine *enginetest.Engine

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { engine = e }))
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

// noon is when a world begins. Worlds have a clock that is set by hand.
var noon = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)

// wire stands between the SDK and the engine. What it does to the nth request of
// a run is told before; the zero value does nothing.
type wire struct {
	calls atomic.Int64
	at    atomic.Int64 // the request that breaks, 0 for none
	lose  atomic.Bool  // the engine gets it and the answer is lost; else it gets nothing
	hit   atomic.Bool
	often atomic.Int64 // of a hundred requests so many break, one way or the other
	while func()       // what happens just before the request that would break, which does not then
}

// Do sends a request.
func (w *wire) Do(req *http.Request) (*http.Response, error) {
	broken, lose := w.calls.Add(1) == w.at.Load(), w.lose.Load()
	if broken {
		w.hit.Store(true)
	}
	if happens := w.while; broken && happens != nil {
		w.while, broken = nil, false
		happens()
	}
	if draw := random.Int64N(200); draw/2 < w.often.Load() {
		broken, lose = true, draw%2 == 0
	}
	if broken && !lose {
		return nil, errors.New("connection refused")
	}
	res, err := enginetest.Connections.Do(req)
	if broken && err == nil {
		_ = res.Body.Close()
		return nil, errors.New("connection reset by peer")
	}
	return res, err
}

// breaks sets which request breaks next, counted from now on.
func (w *wire) breaks(n int64, lose bool) {
	w.calls.Store(0)
	w.lose.Store(lose)
	w.hit.Store(false)
	w.at.Store(n)
}

// events is a bus that takes everything and remembers it.
type events struct {
	mu    sync.Mutex
	taken []audit.Entry
}

// Publish takes events.
func (b *events) Publish(_ context.Context, entries []audit.Entry) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken = append(b.taken, entries...)
	return nil, nil
}

// registry is the chain's registry, by agent.
type registry struct {
	mu    sync.Mutex
	holds map[identity.Hash]identity.Registration
	err   error
	while func() // what happens while it is asked for the first time; nil for nothing
}

// Registration answers what is held.
func (r *registry) Registration(_ context.Context, agent identity.Hash) (identity.Registration, error) {
	r.mu.Lock()
	happens := r.while
	r.while = nil
	r.mu.Unlock()
	if happens != nil {
		happens()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.holds[agent], r.err
}

func (r *registry) change(agent identity.Hash, do func(*identity.Registration)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.holds[agent]
	do(&held)
	r.holds[agent] = held
}

// signers recover real signatures and list one signer.
type signers struct {
	tx.PolicySigners
	signer identity.Address
}

// IsTenantSigner says that the one signer is listed.
func (s signers) IsTenantSigner(_ context.Context, _ identity.Hash, signer identity.Address) (bool, error) {
	return signer == s.signer, nil
}

// world is a tenant of its own with people, an agent, a ledger and a policy.
type world struct {
	t        *testing.T
	tenant   identity.Tenant
	name     string
	wire     *wire
	store    record.Store
	bus      *events
	registry *registry
	policies *charter.Register
	signer   *tx.LocalKey
	desk     *proposals.Desk
	ledger   *ledger.Writer
	executor *execution.Executor
	clock    atomic.Pointer[time.Time]
	alarms   sync.Map // names to *atomic.Int64
	agent    string
}

var worlds atomic.Int64

const (
	own      = "acct_own"
	vendor   = "cp_vendor"
	behavior = "0x00000000000000000000000000000000000000000000000000000000000000b1"
)

// open makes a world. Rows of another test do not reach it.
func open(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, name: fmt.Sprintf("w%d", worlds.Add(1)), wire: &wire{}, bus: &events{}, registry: &registry{holds: map[identity.Hash]identity.Registration{}}}
	w.set(noon)
	var err error
	w.tenant, err = identity.OperatorTenant(w.name)
	noError(t, err)
	w.signer, err = tx.NewLocalKey([32]byte{31: 7})
	noError(t, err)
	w.agent = "agt_" + w.name
	w.wireUp()
	w.people()
	w.book()
	w.enact(1, rules)
	return w
}

func (w *world) now() time.Time           { return *w.clock.Load() }
func (w *world) set(at time.Time)         { w.clock.Store(&at) }
func (w *world) pass(d time.Duration)     { w.set(w.now().Add(d)) }
func (w *world) ctx() context.Context     { return w.t.Context() }
func (w *world) alarmed(name string) bool { _, rung := w.alarms.Load(name); return rung }

// wireUp builds the parts over the engine, with no retries of the SDK: what breaks
// is seen.
func (w *world) wireUp() {
	w.store = engine.Table(func(o *dynamodb.Options) { o.HTTPClient, o.RetryMaxAttempts = w.wire, 1 })
	trail := &audit.Trail{Bus: w.bus, Store: w.store, IDs: id.NewSource(w.now, rand.Reader), Now: w.now, Log: slog.New(slog.DiscardHandler)}
	w.policies = &charter.Register{
		Store: w.store, Chain: signers{signer: w.signer.Address()}, Domain: charter.Domain{ChainID: 1}, Trail: trail,
	}
	w.desk = &proposals.Desk{Store: w.store, Policies: w.policies, Trail: trail, IDs: trail.IDs, Now: w.now}
	w.ledger = &ledger.Writer{Store: w.store, Trail: trail, Now: w.now}
	w.executor = &execution.Executor{
		Desk: w.desk, Ledger: w.ledger, Store: w.store, Registry: w.registry, Rails: execution.Rails{Usual: execution.Sandbox{Now: w.now}},
		Now: w.now, Log: slog.New(slog.DiscardHandler), Alarm: func(name string) { w.alarms.Store(name, true) },
	}
}

// put stores a record as it is.
func (w *world) put(k key.Key, v any) {
	w.t.Helper()
	body, err := json.Marshal(v)
	noError(w.t, err)
	noError(w.t, w.store.Commit(w.ctx(), record.Change{Puts: []record.Put{{Item: record.Item{Key: k, Body: body}, Blind: true}}}))
}

func (w *world) people() {
	agent := w.agentRecord()
	w.put(key.AgentRecord(w.agent), agent)
	b, err := identity.ParseHash(behavior)
	noError(w.t, err)
	at := identity.AgentHash(w.name, w.agent)
	w.registry.holds[at] = identity.Registration{
		AgentID: at, TenantID: identity.TenantHash(w.name), ScopeHash: agent.Scopes.Hash(), BehaviorHash: b, RegisteredAt: 1,
	}
	for _, name := range []string{"mbr_ann", "mbr_bob"} {
		w.put(key.MemberRecord(w.tenant, name), *w.member(name, identity.Active).Member)
	}
}

func (w *world) agentRecord() identity.AgentRecord {
	return identity.AgentRecord{
		ID: w.agent, TenantID: w.name, Status: identity.Active, Role: "bill_management", CreatedBy: "mbr_kim",
		Scopes: identity.Scopes{identity.LedgerRead, identity.IntentPropose},
	}
}

// member is a person who may approve everything.
func (w *world) member(name string, status identity.Status) identity.Principal {
	return identity.Principal{Kind: identity.User, ID: name, Tenant: w.tenant, Member: &identity.MemberRecord{
		ID: name, TenantID: w.name, Role: identity.Admin, Status: status, Domains: identity.Domains,
		Limits: []money.Written{{Amount: "1000000", Currency: "USD"}, {Amount: "1000000", Currency: "USDC"}},
	}}
}

// proposer is the agent as the door lets it in.
func (w *world) proposer() identity.Principal {
	agent := w.agentRecord()
	return identity.Principal{
		Kind: identity.Agent, ID: w.agent, Tenant: w.tenant, Scopes: agent.Scopes, Agent: &agent,
		Behavior: w.registry.holds[identity.AgentHash(w.name, w.agent)].BehaviorHash,
	}
}

func meta(name string) ledger.Meta {
	return ledger.Meta{ID: name, Provenance: "extracted", Confidence: 1}
}

// write writes rows of the ledger.
func (w *world) write(rows ...ledger.Row) {
	w.t.Helper()
	_, err := w.ledger.Write(w.ctx(), w.tenant, identity.Actor{Type: "operator", ID: "test"}, "", rows...)
	noError(w.t, err)
}

// book is the ledger a world begins with: 1,000 USD to pay a bill of 100 from.
func (w *world) book() {
	w.write(
		&ledger.Account{Meta: meta(own), AccountType: "bank_checking", Name: "Operating", Currency: "USD", Status: "active"},
		w.balance("1000.00"), w.payee(func(*ledger.Counterparty) {}), w.obligation("obl_1", "100.00"), w.invoice("inv_1", "100.00", "0"),
	)
}

func (w *world) balance(amount string) *ledger.Balance {
	return &ledger.Balance{AccountID: own, AsOf: noon.Add(-time.Hour).Format(audit.TimeForm), Current: amount, Available: &amount, Currency: "USD"}
}

func (w *world) payee(change func(*ledger.Counterparty)) *ledger.Counterparty {
	c := &ledger.Counterparty{
		Meta: meta(vendor), Name: "Vendor", Type: "vendor", RiskLevel: "low", VerifiedStatus: "document_verified", LinkedAccounts: []string{"DE89370400440532013000"},
	}
	change(c)
	return c
}

func (w *world) obligation(name, due string) *ledger.Obligation {
	return &ledger.Obligation{Meta: meta(name), Type: "bill", CounterpartyID: vendor, Direction: "payable", AmountDue: due, Currency: "USD", DueDate: "2025-10-15", Status: "upcoming"}
}

func (w *world) invoice(name, due, paid string) *ledger.Invoice {
	return &ledger.Invoice{
		Meta: meta(name), InvoiceNumber: "A-" + name, CounterpartyID: vendor, Direction: "payable", AmountDue: due, AmountPaid: paid, Currency: "USD",
		IssueDate: "2025-09-15", DueDate: "2025-10-15", Status: "sent",
	}
}

// rules let the vendor be paid up to 500 USD, and ask a person above.
const rules = `[
	{"id":"small","applies_to":["outbound_payment","inbound_payment","ledger_write","onchain_tx"],"execute":"auto",
	 "when":{"counterparty.verified_status.in":["document_verified"],"amount.lte":{"amount":"500","currency":"USD"},
	 "spend_in_window":{"window":"24h","per":"agent","lte":{"amount":"5000","currency":"USD"}}}},
	{"id":"usdc","applies_to":["onchain_tx"],"execute":"auto","when":{"amount.lte":{"amount":"500","currency":"USDC"}}},
	{"id":"large","applies_to":["outbound_payment"],"execute":"confirm","when":{"amount.gt":{"amount":"500","currency":"USD"}},"require":["approver"]}]`

// enact signs and activates a policy.
func (w *world) enact(version int, rules string) {
	w.t.Helper()
	raw := fmt.Appendf(nil, `{"version":%d,"lists":{},"rules":%s}`, version, rules)
	hash, err := policy.Hash(raw)
	noError(w.t, err)
	signature, err := tx.SignDigest(w.ctx(), w.signer, w.policies.Domain.Digest(w.tenant, int64(version), hash))
	noError(w.t, err)
	_, err = w.policies.Activate(w.ctx(), w.tenant, identity.Actor{Type: "operator", ID: "test"}, "", raw, []charter.Signature{signature})
	noError(w.t, err)
}

// payment is 100 USD to the vendor, with changes.
func payment(change func(*payments.Payment)) payments.Payment {
	p := payments.Payment{ActionType: payments.ACHOutbound, SourceAccountID: own, DestinationCounterpartyID: vendor, Amount: "100.00", Currency: "USD"}
	if change != nil {
		change(&p)
	}
	return p
}

// bill is the payment of the world's bill.
func bill(p *payments.Payment) { p.ObligationID, p.InvoiceID = ptr("obl_1"), ptr("inv_1") }

// propose proposes a payment and returns the intent, which is in a wanted state.
func (w *world) propose(want proposals.Status, p payments.Payment) string {
	w.t.Helper()
	a, err := w.desk.Propose(w.ctx(), w.proposer(), "req", proposals.Proposal{Payment: p, IdempotencyKey: fmt.Sprint(rand.Text())})
	noError(w.t, err)
	if a.Status != want {
		w.t.Fatalf("the intent is %s, want %s: %+v", a.Status, want, a.Decision.Trace)
	}
	return a.ID
}

// approve has a person approve an intent.
func (w *world) approve(by, intent string) {
	w.t.Helper()
	_, err := w.desk.Decide(w.ctx(), w.member(by, identity.Active), "req", proposals.Choice{Name: intent, Decision: proposals.Approve})
	noError(w.t, err)
}

// execute executes an intent and wants it in a state.
func (w *world) execute(intent string, want proposals.Status) execution.Report {
	w.t.Helper()
	return w.executeIn("", intent, want)
}

// Two traces.
const (
	one   trace.Parent = "00-11111111111111111111111111111111-1111111111111111-01"
	other trace.Parent = "00-22222222222222222222222222222222-2222222222222222-01"
)

// executeIn does so in a trace, empty for none.
func (w *world) executeIn(p trace.Parent, intent string, want proposals.Status) execution.Report {
	w.t.Helper()
	report, err := w.executor.Execute(trace.With(w.ctx(), p), w.tenant, "msg", intent)
	noError(w.t, err)
	equal(w.t, "status of "+intent, report.Status, want)
	return report
}
