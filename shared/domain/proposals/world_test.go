package proposals_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/tenant"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// engine holds the table of this package's tests. They keep apart by their
// tenants; only the marks of what expires are in partitions of all.
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

// fails reports an error that has not the wanted code; none is wanted for "".
func fails(t testing.TB, err error, code fault.Code) {
	t.Helper()
	var f *fault.Error
	switch {
	case code == "" && err != nil:
		t.Errorf("error = %v", err)
	case code != "" && (!errors.As(err, &f) || f.Code != code):
		t.Errorf("error = %v, want the code %s", err, code)
	}
}

func ptr[T any](v T) *T { return &v }

// clock is set by hand.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time       { return time.UnixMilli(c.at.Load()).UTC() }
func (c *clock) pass(d time.Duration) { c.at.Add(d.Milliseconds()) }

var noon = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)

// events is a bus that takes everything.
type events struct {
	mu      sync.Mutex
	entries []audit.Entry
}

func (e *events) Publish(_ context.Context, entries []audit.Entry) ([]string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.entries = append(e.entries, entries...)
	return nil, nil
}

// signers is the registry's list of who signs for the tenant.
type signers struct {
	tx.PolicySigners
	mu     sync.Mutex
	listed map[identity.Address]bool
	err    error
}

func (s *signers) IsTenantSigner(_ context.Context, _ identity.Hash, signer identity.Address) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed[signer], s.err
}

// world is a company with a ledger, people, agents and a policy.
type world struct {
	tenant identity.Tenant
	clock  *clock
	bus    *events
	store  record.Store
	direct record.Store // past whatever a test has put into the way
	desk   *proposals.Desk
	books  *ledger.Writer
	chain  *signers
	signer *tx.LocalKey
	law    policy.Document // the last that was activated
}

var tenants atomic.Int32

// operator is who activates policies and writes the ledger.
var operator = identity.Actor{Type: "operator", ID: "ops"}

func newWorld(t testing.TB, law policy.Document, changes ...func(*dynamodb.Options)) *world {
	t.Helper()
	who, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	signer, err := tx.NewLocalKey([32]byte{31: 7})
	noError(t, err)
	w := &world{tenant: who, clock: &clock{}, bus: &events{}, direct: engine.Table(), store: engine.Table(changes...), signer: signer}
	w.clock.at.Store(noon.UnixMilli())
	w.chain = &signers{listed: map[identity.Address]bool{signer.Address(): true}}
	ids := id.NewSource(w.clock.now, rand.Reader)
	trail := func(store record.Store) *audit.Trail {
		return &audit.Trail{Bus: w.bus, Store: store, IDs: ids, Now: w.clock.now, Log: slog.New(slog.DiscardHandler)}
	}
	w.books = &ledger.Writer{Store: w.direct, Trail: trail(w.direct), Now: w.clock.now}
	policies := &charter.Register{Store: w.direct, Chain: w.chain, Domain: charter.Domain{ChainID: 31337}, Trail: trail(w.direct)}
	w.desk = &proposals.Desk{Store: w.store, Policies: policies, Trail: trail(w.store), IDs: ids, Now: w.clock.now}
	t.Cleanup(func() { w.forget(t) })
	w.write(t, rows()...)
	w.activate(t, law)
	return w
}

// forget takes away the marks of what expires: they are where every sweep goes,
// also that of the next test.
func (w *world) forget(t testing.TB) {
	ctx := context.Background() // the test's own is over
	for shard := range key.DueShards {
		for query := (record.Query{PK: key.DuePartition(shard)}); ; {
			page, err := w.direct.Query(ctx, query)
			if err != nil {
				t.Error(err)
				return
			}
			for _, item := range page.Items {
				if !strings.Contains(item.Key.SK, "#"+w.tenant.String()+"#") {
					continue
				}
				if err := w.direct.Commit(ctx, record.Change{Deletes: []key.Key{item.Key}}); err != nil {
					t.Error(err)
				}
			}
			if query.After = page.Next; query.After == nil {
				break
			}
		}
	}
}

func (w *world) write(t testing.TB, rows ...ledger.Row) {
	t.Helper()
	_, err := w.books.Write(t.Context(), w.tenant, operator, "req-ledger", rows...)
	noError(t, err)
}

// activate signs a policy as the next version and puts it in force.
func (w *world) activate(t testing.TB, law policy.Document) {
	t.Helper()
	law.Version = w.law.Version + 1
	raw, err := json.Marshal(law)
	noError(t, err)
	hash, err := policy.Hash(raw)
	noError(t, err)
	signature, err := tx.SignDigest(t.Context(), w.signer, w.desk.Policies.Domain.Digest(w.tenant, law.Version, hash))
	noError(t, err)
	_, err = w.desk.Policies.Activate(t.Context(), w.tenant, operator, "req-law", raw, []charter.Signature{signature})
	noError(t, err)
	w.law = law
}

// settle stores the tenant's own choices.
func (w *world) settle(t testing.TB, s tenant.Settings) {
	t.Helper()
	body, err := json.Marshal(s)
	noError(t, err)
	item := record.Item{Key: key.Settings(w.tenant), Body: body}
	noError(t, w.direct.Commit(t.Context(), record.Change{Puts: []record.Put{{Item: item, Blind: true}}}))
}

// agent is an agent of the tenant. mbr_maker has made all of them.
func (w *world) agent(name string) identity.Principal {
	return identity.Principal{
		Kind: identity.Agent, ID: name, Tenant: w.tenant, Scopes: identity.AllScopes, Behavior: identity.Hash{1},
		Agent: &identity.AgentRecord{ID: name, TenantID: w.tenant.String(), Status: identity.Active, Role: "treasury", CreatedBy: "mbr_maker"},
	}
}

// member is an active approver of everything up to a million; a test changes
// what it is about.
func (w *world) member(name string, changes ...func(*identity.MemberRecord)) identity.Principal {
	m := &identity.MemberRecord{
		ID: name, TenantID: w.tenant.String(), Role: identity.Approver, Status: identity.Active, Domains: identity.Domains,
		Limits: []policy.Sum{{Amount: "1000000.00", Currency: "USD"}, {Amount: "1000000", Currency: "USDC"}},
	}
	for _, change := range changes {
		change(m)
	}
	return identity.Principal{Kind: identity.User, ID: name, Tenant: w.tenant, Scopes: m.Ceiling(), Member: m}
}

func admin(m *identity.MemberRecord) { m.Role = identity.Admin }

func (w *world) propose(t testing.TB, p proposals.Proposal) proposals.Answer {
	t.Helper()
	a, err := w.desk.Propose(t.Context(), w.agent("agt_1"), "req-1", p)
	noError(t, err)
	return a
}

func (w *world) authorize(t testing.TB, q proposals.Request) proposals.Answer {
	t.Helper()
	a, err := w.desk.Authorize(t.Context(), w.agent("agt_1"), "req-1", q)
	noError(t, err)
	return a
}

func (w *world) act(t testing.TB, d proposals.Deed) proposals.Answer {
	t.Helper()
	a, err := w.desk.Act(t.Context(), w.agent("agt_1"), "req-1", d)
	noError(t, err)
	return a
}

// decide is a decision about a case of any kind.
func (w *world) decide(t testing.TB, who identity.Principal, choice proposals.Choice) (proposals.Decided, error) {
	t.Helper()
	if kind, _ := proposals.KindOf(choice.Name); kind == id.Authorization {
		return w.desk.DecideAuthorization(t.Context(), who, "req-2", choice)
	}
	return w.desk.Decide(t.Context(), who, "req-2", choice)
}

// must is a decision that has to be taken.
func (w *world) must(t testing.TB, who identity.Principal, name, decision string) proposals.Decided {
	t.Helper()
	d, err := w.decide(t, who, proposals.Choice{Name: name, Decision: decision})
	noError(t, err)
	return d
}

// status is where a case stands in the table.
func (w *world) status(t testing.TB, name string) proposals.Status {
	t.Helper()
	kind, _ := proposals.KindOf(name)
	a, err := w.desk.Look(t.Context(), w.tenant, kind, name)
	noError(t, err)
	return a.Status
}
