package brain_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/cursor"
	"github.com/robotmoney/mcp/shared/domain/evidence"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proof"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
	"github.com/robotmoney/mcp/shared/platform/secret"
	dynamo "github.com/robotmoney/mcp/shared/platform/table"
	"github.com/robotmoney/mcp/shared/surface/brain"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/mcp"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

// office is everything the provider offers, over a real engine with the books,
// the people and the signed policy of two companies, acme and globex. Its clock
// stands still until a test moves it.
type office struct {
	*mcp.Dispatcher
	store *dynamo.Table
	tools []catalog.Tool
	at    time.Time
}

// registered is the chain as far as a policy asks it: who signed is recovered
// from the signature, and the registry lists one account.
type registered struct {
	tx.PolicySigners
	account identity.Address
}

// IsTenantSigner asks no node.
func (r registered) IsTenantSigner(_ context.Context, _ identity.Hash, signer identity.Address) (bool, error) {
	return signer == r.account, nil
}

func newOffice(t *testing.T) *office {
	t.Helper()
	// The engine forgets what has expired by its own clock, so this one starts there.
	o := &office{store: database(t), at: time.Now().UTC().Truncate(time.Millisecond)}
	now := func() time.Time { return o.at }
	ids, log := id.NewSource(now, rand.Reader), slog.New(slog.DiscardHandler)
	trail := &audit.Trail{Bus: deaf{}, Store: o.store, IDs: ids, Now: now, Log: log}
	signer, err := tx.ParseLocalKey(stackfile.SignerKeys["acme"])
	must(t, err)
	policies := &charter.Register{Store: o.store, Chain: registered{account: signer.Address()}, Domain: charter.Domain{ChainID: 31337}, Trail: trail}
	for _, of := range []string{"acme", "globex"} {
		o.books(t, trail, tenant(t, of))
		o.enact(t, policies, signer, tenant(t, of))
	}
	provider := brain.Provider(brain.Sources{
		Ledger: &ledger.Reader{Store: o.store, Now: now}, Pages: &wiki.Reader{Store: o.store}, Proofs: &proof.Reader{Store: o.store},
		Desk:    &proposals.Desk{Store: o.store, Policies: policies, Trail: trail, IDs: ids, Now: now},
		Cursors: cursor.Sealer{Key: secret.Fixed([]byte(strings.Repeat("k", 32)))},
		Raw:     archiveOver(t, o.store, nil), Evidence: &evidence.Resolver{Store: o.store, Now: now},
	})
	offered := &catalog.Catalog{}
	must(t, offered.Mount(provider))
	o.tools = provider.Tools
	o.Dispatcher, err = mcp.New(offered, trail, log)
	must(t, err)
	return o
}

// books writes the rows the examples speak of: the same ids in both companies.
func (o *office) books(t *testing.T, trail *audit.Trail, of identity.Tenant) {
	t.Helper()
	day := func(days int) string { return o.at.AddDate(0, 0, days).Format(time.DateOnly) }
	meta := func(name string) ledger.Meta {
		at := o.at.Format(audit.TimeForm)
		return ledger.Meta{ID: name, SourceIDs: []string{}, EvidenceIDs: []string{}, Provenance: "extracted", Confidence: 1, CreatedAt: at, UpdatedAt: at}
	}
	account := func(name, currency string) *ledger.Account {
		return &ledger.Account{Meta: meta(name), AccountType: "bank_checking", Name: name, Currency: currency, Status: "active"}
	}
	party := func(name, verified, risk string) *ledger.Counterparty {
		return &ledger.Counterparty{Meta: meta(name), Name: name, Type: "vendor", RiskLevel: risk, VerifiedStatus: verified}
	}
	aws, held, asOf := "cp_aws", "9000.00", o.at.Format(audit.TimeForm)
	ops := account("acct_ops", "USD")
	ops.CurrentBalance, ops.AvailableBalance, ops.BalanceAsOf = &held, &held, &asOf
	writer := ledger.Writer{Store: o.store, Trail: trail, Now: func() time.Time { return o.at }}
	_, err := writer.Write(t.Context(), of, identity.Actor{Type: "operator", ID: "test"}, "books",
		ops, account("acct_usdc", "USDC"),
		&ledger.Balance{AccountID: "acct_ops", AsOf: asOf, Current: held, Currency: "USD"},
		party(aws, "document_verified", "low"), party("cp_known", "self_attested", "medium"), party("cp_stranger", "unverified", "high"),
		&ledger.Transaction{Meta: meta("tx_1"), AccountID: "acct_ops", Amount: "90.00", Currency: "USD", Direction: "outflow", TransactionDate: day(-20), CounterpartyID: &aws, Allocations: []ledger.Allocation{}, Status: "posted", ReconciliationStatus: "matched"},
		&ledger.Obligation{Meta: meta("obl_1"), Type: "bill", CounterpartyID: aws, Direction: "payable", AmountDue: "250.00", Currency: "USD", DueDate: day(9), Status: "upcoming"},
		&ledger.Invoice{Meta: meta("inv_1"), InvoiceNumber: "INV-1", CounterpartyID: aws, Direction: "payable", AmountDue: "250.00", AmountPaid: "0.00", Currency: "USD", IssueDate: day(-9), DueDate: day(9), Status: "sent"},
	)
	must(t, err)
	page, err := json.Marshal(wiki.Page{ID: "wpg_1", TenantID: of.String(), Slug: "/counterparties/cp_aws", Title: "AWS", Body: "# AWS\n", SourceRevision: strings.Repeat("ab", 32), RenderedAt: o.at.Format(audit.TimeForm)})
	must(t, err)
	must(t, o.store.Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{
		Key: key.Page(of, "/counterparties/cp_aws"), Index: [3]key.Key{key.PageByID(of, "wpg_1")}, Body: page,
	}}}}))
}

// law is the policy of both companies: a bit of everything a policy can say.
const law = `{"version":1,"lists":{"trusted":["cp_aws"]},"rules":[
	{"id":"small","applies_to":["outbound_payment"],"execute":"auto","when":{"counterparty.in":["trusted"],"amount.lte":{"amount":"100.00","currency":"USD"},"spend_in_window":{"window":"24h","per":"agent","lte":{"amount":"500.00","currency":"USD"}}}},
	{"id":"large","applies_to":["outbound_payment"],"execute":"confirm","require":["approver"],"required_evidence_kinds":["obligation"],"when":{"counterparty.in":["trusted"],"amount.gt":{"amount":"100.00","currency":"USD"}}},
	{"id":"two","applies_to":["outbound_payment"],"execute":"confirm","require":["approver","admin"],"when":{"counterparty.in":["trusted"],"amount.gt":{"amount":"1000.00","currency":"USD"}}},
	{"id":"stranger","applies_to":["outbound_payment","inbound_payment","onchain_tx"],"execute":"reject","when":{"counterparty.verified_status.in":["unverified"]}},
	{"id":"collect","applies_to":["inbound_payment"],"execute":"auto","when":{"counterparty.in":["trusted"],"count_in_window":{"window":"1h","per":"tenant","lte":3},"amount.lte":{"amount":"100.00","currency":"USD"}}},
	{"id":"chain","applies_to":["onchain_tx"],"execute":"auto","when":{"counterparty.in":["trusted"],"amount.lte":{"amount":"5","currency":"USDC"}}},
	{"id":"findings","applies_to":["agent_action"],"execute":"confirm","when":{}}]}`

// enact signs the policy and puts it in force.
func (o *office) enact(t *testing.T, policies *charter.Register, signer tx.Signer, of identity.Tenant) {
	t.Helper()
	hash, err := policy.Hash([]byte(law))
	must(t, err)
	signature, err := tx.SignDigest(t.Context(), signer, policies.Domain.Digest(of, 1, hash))
	must(t, err)
	_, err = policies.Activate(t.Context(), of, identity.Actor{Type: "operator", ID: "test"}, "law", []byte(law), []charter.Signature{signature})
	must(t, err)
}

// staff are who the examples speak as: agents of a company, by their ids, and
// its people, who may decide about everything up to a million.
func staff(t *testing.T, of, name string) identity.Principal {
	t.Helper()
	who := identity.Principal{ID: name, Tenant: tenant(t, of), Kind: identity.Agent, Scopes: identity.AllScopes}
	if strings.HasPrefix(name, "agt_") {
		who.Agent = &identity.AgentRecord{ID: name, TenantID: of, Role: "finance", Status: identity.Active, CreatedBy: "mbr_gone"}
		return who
	}
	who.Kind, who.Scopes = identity.User, identity.Scopes{identity.IntentApprove, identity.ExecutionRead}
	who.Member = &identity.MemberRecord{ID: name, TenantID: of, Role: identity.Admin, Status: identity.Active, Domains: identity.Domains}
	for _, currency := range []string{"USD", "USDC"} {
		who.Member.Limits = append(who.Member.Limits, money.Written{Amount: "1000000", Currency: currency})
	}
	return who
}

// answered is a reply of the dispatcher as a client reads it.
type answered struct {
	status int
	body   []byte
	Result *struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	Error *struct {
		Code int
		Data struct{ Code string }
	}
}

// ask sends a request through the dispatcher, where scopes and kinds of callers
// are judged before a tool is.
func (o *office) ask(t *testing.T, who identity.Principal, method, params string) answered {
	t.Helper()
	reply := o.Serve(t.Context(), mcp.Request{
		Principal: who, RequestID: "req_1",
		Envelope: rpc.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)),
	})
	a := answered{status: reply.Status, body: reply.Body}
	must(t, json.Unmarshal(reply.Body, &a))
	return a
}

func (o *office) call(t *testing.T, who identity.Principal, tool, arguments string) answered {
	t.Helper()
	return o.ask(t, who, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

// does calls a tool that must succeed, and holds the answer against its schema.
func (o *office) does(t *testing.T, who identity.Principal, tool, arguments string) (map[string]any, string) {
	t.Helper()
	got, text, err := use(t, named(t, o.tools, tool), who, arguments)
	if err != nil {
		t.Fatalf("%s %s: %v", tool, arguments, err)
	}
	return got, text
}
