package charter_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/tenant"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// database is the table in the engine of this package's tests. They keep apart
// by their tenants.
var database *table.Table

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { database = e.Table() }))
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// fails reports an error that has not the wanted code; none is wanted for "".
func fails(t *testing.T, what string, err error, code fault.Code) {
	t.Helper()
	var f *fault.Error
	switch {
	case code == "" && err != nil:
		t.Errorf("%s: error = %v", what, err)
	case code != "" && (!errors.As(err, &f) || f.Code != code):
		t.Errorf("%s: error = %v, want the code %s", what, err, code)
	}
}

var (
	noon    = time.Date(2025, time.September, 30, 12, 0, 0, 0, time.UTC)
	tenants atomic.Int32
	actor   = identity.Actor{Type: "operator", ID: "ops"}
	domain  = charter.Domain{ChainID: 31337, Registry: identity.Address{19: 1}}
)

// bus takes everything.
type bus struct{ entries atomic.Int32 }

func (b *bus) Publish(_ context.Context, entries []audit.Entry) ([]string, error) {
	b.entries.Add(int32(len(entries)))
	return nil, nil
}

// registry is the chain's list of signers, by tenant; signatures are real.
type registry struct {
	tx.PolicySigners
	mu     sync.Mutex
	listed map[identity.Hash]map[identity.Address]bool
	asked  int
	err    error
}

func (r *registry) IsTenantSigner(_ context.Context, tenant identity.Hash, signer identity.Address) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	return r.listed[tenant][signer] && r.err == nil, r.err
}

func (r *registry) list(t identity.Tenant, key *tx.LocalKey, listed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := identity.TenantHash(t.String())
	if r.listed == nil {
		r.listed = map[identity.Hash]map[identity.Address]bool{}
	}
	if r.listed[of] == nil {
		r.listed[of] = map[identity.Address]bool{}
	}
	r.listed[of][key.Address()] = listed
}

// store is the table, watched.
type store struct {
	record.Store
	gets, commits atomic.Int32
}

func (s *store) Get(ctx context.Context, k key.Key) (record.Item, bool, error) {
	s.gets.Add(1)
	return s.Store.Get(ctx, k)
}

func (s *store) Commit(ctx context.Context, c record.Change) error {
	s.commits.Add(1)
	return s.Store.Commit(ctx, c)
}

// world is a tenant with three signers, ann, bob and cat; dan is none.
type world struct {
	tenant             identity.Tenant
	chain              *registry
	store              *store
	bus                *bus
	register           *charter.Register
	ann, bob, cat, dan *tx.LocalKey
}

func newWorld(t *testing.T) *world {
	t.Helper()
	who, err := identity.OperatorTenant(fmt.Sprintf("acme-%d", tenants.Add(1)))
	noError(t, err)
	w := &world{tenant: who, chain: &registry{}, store: &store{Store: database}, bus: &bus{}}
	for i, k := range []**tx.LocalKey{&w.ann, &w.bob, &w.cat, &w.dan} {
		*k, err = tx.NewLocalKey([32]byte{31: byte(i + 1)})
		noError(t, err)
		w.chain.list(who, *k, *k != w.dan)
	}
	w.register = w.another()
	return w
}

// another is a second process with nothing in its memory.
func (w *world) another() *charter.Register {
	now := func() time.Time { return noon }
	return &charter.Register{Store: w.store, Chain: w.chain, Domain: domain, Trail: &audit.Trail{
		Bus: w.bus, Store: w.store, IDs: id.NewSource(now, rand.Reader), Now: now, Log: slog.New(slog.DiscardHandler),
	}}
}

// law is a document of a version by which payments pass up to an amount.
func law(version int64, amount string) []byte {
	return fmt.Appendf(nil, `{"version":%d,"lists":{},"rules":[{"id":"small","applies_to":["outbound_payment"],"execute":"auto","when":{"amount.lte":{"amount":%q,"currency":"USD"}}}]}`, version, amount)
}

// sign signs a document as a version of the tenant's policy.
func (w *world) sign(t *testing.T, version int64, raw []byte, keys ...*tx.LocalKey) []charter.Signature {
	t.Helper()
	hash, err := policy.Hash(raw)
	noError(t, err)
	var signatures []charter.Signature
	for _, k := range keys {
		s, err := tx.SignDigest(t.Context(), k, domain.Digest(w.tenant, version, hash))
		noError(t, err)
		signatures = append(signatures, s)
	}
	return signatures
}

// activate puts a version in force and wants it to be.
func (w *world) activate(t *testing.T, version int64, keys ...*tx.LocalKey) charter.Version {
	t.Helper()
	raw := law(version, fmt.Sprintf("%d.00", 100*version))
	v, err := w.register.Activate(t.Context(), w.tenant, actor, "req", raw, w.sign(t, version, raw, keys...))
	noError(t, err)
	return v
}

// load loads what is in force by a process.
func (w *world) load(t *testing.T, r *charter.Register) (charter.Active, error) {
	t.Helper()
	items, err := database.GetMany(t.Context(), charter.Keys(w.tenant))
	noError(t, err)
	return r.Load(t.Context(), w.tenant, items)
}

// inForce wants a version in force, in a process that knows it and in a new one.
func (w *world) inForce(t *testing.T, version int64) {
	t.Helper()
	for name, r := range map[string]*charter.Register{"the process": w.register, "a new process": w.another()} {
		active, err := w.load(t, r)
		noError(t, err)
		equal(t, "version in "+name, active.Version, version)
		equal(t, "invalid in "+name, active.Invalid, "")
		equal(t, "verdict in "+name, judge(t, active).Outcome, policy.Auto)
	}
}

// denied wants a process to deny everything for a reason, and to say so.
func (w *world) denied(t *testing.T, r *charter.Register, reason string) {
	t.Helper()
	active, err := w.load(t, r)
	noError(t, err)
	verdict := judge(t, active)
	equal(t, "outcome", verdict.Outcome, policy.Reject)
	if len(verdict.Trace) == 0 || len(verdict.Trace[0].Conditions) == 0 {
		t.Fatalf("the trace says nothing: %+v", verdict)
	}
	if said := verdict.Trace[0].Conditions[0].Reason; !bytes.Contains([]byte(said), []byte(reason)) {
		t.Errorf("reason %q, want one about %q", said, reason)
	}
	equal(t, "version", active.Version, 0)
	// Whoever writes it down writes lists and not null.
	if verdict.Matched == nil || verdict.Approvers == nil || verdict.EvidenceKinds == nil || verdict.Headroom == nil {
		t.Errorf("a list is nil: %+v", verdict)
	}
}

// judge is the verdict about a small payment.
func judge(t *testing.T, active charter.Active) policy.Verdict {
	t.Helper()
	amount, err := money.ParseAmount("1.00", money.MustParse("USD"))
	noError(t, err)
	return active.Evaluate(policy.Facts{Class: policy.OutboundPayment, Action: "ach_outbound", Amount: &amount, At: noon})
}

// put stores an item whatever is there: what somebody does who can write the
// table and cannot sign.
func (w *world) put(t *testing.T, k key.Key, body string) {
	t.Helper()
	noError(t, database.Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: k, Body: []byte(body)}, Blind: true}}}))
}

func (w *world) body(t *testing.T, k key.Key) string {
	t.Helper()
	item, found, err := database.Get(t.Context(), k)
	noError(t, err)
	if !found {
		t.Fatalf("%v is not there", k)
	}
	return string(item.Body)
}

func (w *world) remove(t *testing.T, k key.Key) {
	t.Helper()
	noError(t, database.Commit(t.Context(), record.Change{Deletes: []key.Key{k}}))
}

// quorum stores how many signers the tenant wants.
func (w *world) quorum(t *testing.T, n int) {
	t.Helper()
	body, err := json.Marshal(tenant.Settings{PolicyQuorum: n})
	noError(t, err)
	w.put(t, key.Settings(w.tenant), string(body))
}

// stored is a head or a mark as it is stored.
func stored(t *testing.T, version int64, raw []byte) string {
	t.Helper()
	hash, err := policy.Hash(raw)
	noError(t, err)
	return fmt.Sprintf(`{"version":%d,"hash":%q}`, version, hex.EncodeToString(hash[:]))
}
