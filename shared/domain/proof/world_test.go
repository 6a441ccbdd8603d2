package proof_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

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

// world is a tenant with an agent, a person, a bill and a signed policy: what
// happens in it is told by the very code that tells it in production.
type world struct {
	t        *testing.T
	tenant   identity.Tenant
	store    record.Store
	desk     *proposals.Desk
	executor *execution.Executor
	agent    identity.Principal
	person   identity.Principal
	told     []journal.Event
}

var worlds atomic.Int32

var noon = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)

// Publish takes the events for the journal.
func (w *world) Publish(_ context.Context, entries []audit.Entry) ([]string, error) {
	for _, entry := range entries {
		var cloud struct{ Data json.RawMessage }
		noError(w.t, json.Unmarshal(entry.Detail, &cloud))
		event, err := journal.Parse(cloud.Data)
		noError(w.t, err)
		w.told = append(w.told, event)
	}
	return nil, nil
}

// Registration answers for the world's agent.
func (w *world) Registration(_ context.Context, agent identity.Hash) (identity.Registration, error) {
	return identity.Registration{AgentID: agent, TenantID: identity.TenantHash(w.tenant.String()), ScopeHash: w.agent.Scopes.Hash(), BehaviorHash: w.agent.Behavior, RegisteredAt: 1}, nil
}

// signers recover real signatures and list every signer.
type signers struct{ tx.PolicySigners }

// IsTenantSigner says yes.
func (signers) IsTenantSigner(context.Context, identity.Hash, identity.Address) (bool, error) {
	return true, nil
}

// rules let payments up to 500 USD pass and ask a person above.
const rules = `[{"id":"small","applies_to":["outbound_payment"],"execute":"auto","when":{"counterparty.verified_status.in":["document_verified"],"amount.lte":{"amount":"500","currency":"USD"},
	"spend_in_window":{"window":"24h","per":"agent","lte":{"amount":"5000","currency":"USD"}}}},
	{"id":"large","applies_to":["outbound_payment"],"execute":"confirm","when":{"amount.gt":{"amount":"500","currency":"USD"}},"require":["approver"]}]`

func open(t *testing.T) *world {
	t.Helper()
	tenant, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", worlds.Add(1)))
	noError(t, err)
	w := &world{t: t, tenant: tenant, store: engine.Table()}
	now := func() time.Time { return noon }
	trail := &audit.Trail{Bus: w, Store: w.store, IDs: id.NewSource(now, rand.Reader), Now: now, Log: slog.New(slog.DiscardHandler)}
	policies := &charter.Register{Store: w.store, Chain: signers{}, Domain: charter.Domain{ChainID: 1}, Trail: trail}
	w.desk = &proposals.Desk{Store: w.store, Policies: policies, Trail: trail, IDs: trail.IDs, Now: now}
	books := &ledger.Writer{Store: w.store, Trail: trail, Now: now}
	w.executor = &execution.Executor{
		Desk: w.desk, Ledger: books, Store: w.store, Registry: w, Rails: execution.Rails{Usual: execution.Sandbox{Now: now}},
		Now: now, Log: slog.New(slog.DiscardHandler), Alarm: func(string) {},
	}
	w.people()
	w.book(books)
	w.enact(policies)
	return w
}

func (w *world) people() {
	name := w.tenant.String()
	agent := identity.AgentRecord{ID: "agt_" + name, TenantID: name, Status: identity.Active, Role: "bill_management", CreatedBy: "mbr_kim", Scopes: identity.Scopes{identity.LedgerRead, identity.IntentPropose}}
	w.agent = identity.Principal{Kind: identity.Agent, ID: agent.ID, Tenant: w.tenant, Scopes: agent.Scopes, Agent: &agent, Behavior: identity.Hash{31: 1}}
	member := identity.MemberRecord{ID: "mbr_ann", TenantID: name, Role: identity.Admin, Status: identity.Active, Domains: identity.Domains, Limits: []money.Written{{Amount: "10000", Currency: "USD"}}}
	w.person = identity.Principal{Kind: identity.User, ID: member.ID, Tenant: w.tenant, Member: &member}
	for k, v := range map[key.Key]any{key.AgentRecord(agent.ID): agent, key.MemberRecord(w.tenant, member.ID): member} {
		body, err := json.Marshal(v)
		noError(w.t, err)
		noError(w.t, w.store.Commit(w.t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: k, Body: body}, Blind: true}}}))
	}
}

func (w *world) book(books *ledger.Writer) {
	meta := func(name string) ledger.Meta { return ledger.Meta{ID: name, Provenance: "extracted", Confidence: 1} }
	available := "9000.00"
	_, err := books.Write(w.t.Context(), w.tenant, identity.Actor{Type: "operator", ID: "test"}, "",
		&ledger.Account{Meta: meta("acct_own"), AccountType: "bank_checking", Name: "Operating", Currency: "USD", Status: "active"},
		&ledger.Balance{AccountID: "acct_own", AsOf: noon.Add(-time.Hour).Format(audit.TimeForm), Current: available, Available: &available, Currency: "USD"},
		&ledger.Counterparty{Meta: meta("cp_vendor"), Name: "Vendor", Type: "vendor", RiskLevel: "low", VerifiedStatus: "document_verified", LinkedAccounts: []string{"DE89370400440532013000"}},
		&ledger.Obligation{Meta: meta("obl_1"), Type: "bill", CounterpartyID: "cp_vendor", Direction: "payable", AmountDue: "900.00", Currency: "USD", DueDate: "2025-10-15", Status: "upcoming"})
	noError(w.t, err)
}

func (w *world) enact(policies *charter.Register) {
	signer, err := tx.NewLocalKey([32]byte{31: 7})
	noError(w.t, err)
	raw := fmt.Appendf(nil, `{"version":1,"lists":{},"rules":%s}`, rules)
	hash, err := policy.Hash(raw)
	noError(w.t, err)
	signature, err := tx.SignDigest(w.t.Context(), signer, policies.Domain.Digest(w.tenant, 1, hash))
	noError(w.t, err)
	_, err = policies.Activate(w.t.Context(), w.tenant, identity.Actor{Type: "operator", ID: "test"}, "", raw, []charter.Signature{signature})
	noError(w.t, err)
}

// payment is an amount in USD to the vendor.
func payment(amount string) payments.Payment {
	return payments.Payment{ActionType: payments.ACHOutbound, SourceAccountID: "acct_own", DestinationCounterpartyID: "cp_vendor", Amount: amount, Currency: "USD"}
}

// propose proposes a payment, and has a person approve it where the policy asks.
func (w *world) propose(p payments.Payment, authorization string) proposals.Answer {
	w.t.Helper()
	a, err := w.desk.Propose(w.t.Context(), w.agent, "req_1", proposals.Proposal{Payment: p, AuthorizationID: authorization, IdempotencyKey: rand.Text()})
	noError(w.t, err)
	return a
}

func (w *world) decide(name, decision string) {
	w.t.Helper()
	_, err := w.desk.Decide(w.t.Context(), w.person, "req_2", proposals.Choice{Name: name, Decision: decision})
	noError(w.t, err)
}

// entered puts everything that was told into the journal.
func (w *world) entered() {
	w.t.Helper()
	_, err := (&journal.Journal{Store: w.store}).Append(w.t.Context(), w.tenant, w.told)
	noError(w.t, err)
	w.told = nil
}
