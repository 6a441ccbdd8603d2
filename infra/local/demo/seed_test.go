package demo_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	localbus "github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/bus"
	"github.com/robotmoney/mcp/shared/platform/table"
)

const (
	repository = "../../.."
	tableName  = "demo"
)

var addresses = map[string]string{
	"agt_finance":  "0x50a21fe9D0D2630E9766623848456E0Ca904ff94",
	"agt_readonly": "0xBd03EB1A12df7072ea65178Cd2563Dddbe0A7be6",
	"agt_payables": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
	"agt_globex":   "0x0FeF14901848599744a93A9b6b2DB4268571c209",
}

// parameters are those the template has no default for. The table depends on
// none of them.
var parameters = map[string]string{
	"AWS::Region": "us-east-1", "AWS::AccountId": "000000000000", "AWS::Partition": "aws", "AWS::StackName": "demo", "AWS::URLSuffix": "amazonaws.com",
	"RpcUrls": "-", "ChainId": "31337", "RegistryAddress": "-", "AnchorAddress": "-", "Issuer": "-", "JwksUrl": "-",
}

// rig is a DynamoDB engine with a file and a bus, as the local stack has them.
type rig struct {
	demo.Deps
	events string // the file of what the bus took
}

func newRig(t *testing.T) rig {
	t.Helper()
	ctx, folder := t.Context(), t.TempDir()
	plan, err := template.Load(filepath.Join(repository, "template.yaml"), template.Options{Parameters: parameters})
	check(t, err)
	binaries, err := engine.Install(ctx, filepath.Join(repository, ".local", "npm"))
	check(t, err)
	database, err := engine.DynamoDB(ctx, engine.DynamoDBConfig{
		Binary: binaries.Dynoxide, DBPath: filepath.Join(folder, "db.sqlite"), Tables: map[string]template.Table{tableName: plan.Tables[0]},
	})
	check(t, err)
	t.Cleanup(func() { _ = database.Close() })

	events := filepath.Join(folder, "events.jsonl")
	local, err := localbus.New(ctx, localbus.Config{Name: "demo", EventsFile: events})
	check(t, err)
	server := httptest.NewServer(local)
	t.Cleanup(server.Close)
	anyone := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
	})
	client := eventbridge.New(eventbridge.Options{Region: "us-east-1", BaseEndpoint: &server.URL, HTTPClient: awshttp.New(0), Credentials: anyone})
	rows := dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: &database.Endpoint, HTTPClient: awshttp.New(0), Credentials: anyone})
	store := &table.Table{API: rows, Name: tableName}
	return rig{deps(store, &bus.Bus{API: client, Name: "demo"}), events}
}

func deps(store record.Store, events audit.Bus) demo.Deps {
	trail := &audit.Trail{Bus: events, Store: store, IDs: id.NewSource(time.Now, rand.Reader), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	return demo.Deps{Store: store, Trail: trail, Addresses: addresses}
}

// TestSeed writes everything with the real writer into the real engine, and
// looks at what is then there.
func TestSeed(t *testing.T) {
	r := newRig(t)
	began := time.Now()
	report, err := demo.Seed(t.Context(), r.Deps)
	check(t, err)
	t.Logf("first seeding: %d rows, %d records and %d pages in %v", report.Rows.New, report.Records.New, report.Pages.New, time.Since(began).Round(time.Millisecond))
	total := len(demo.Data(demo.Acme).All()) + len(demo.Data(demo.Globex).All())
	if report.Rows != (demo.Count{New: total}) || report.Records.Same != 0 {
		t.Errorf("first seeding: %+v, want %d new rows", report, total)
	}
	for _, tenant := range tenants {
		r.sameRows(t, tenant)
		r.sameRollups(t, tenant)
	}
	r.named(t)
	r.pages(t)
	r.told(t)

	began = time.Now()
	again, err := demo.Seed(t.Context(), r.Deps)
	check(t, err)
	t.Logf("second seeding: %v", time.Since(began).Round(time.Millisecond))
	if want := (demo.Report{Rows: demo.Count{Same: total}, Records: demo.Count{Same: report.Records.New}, Pages: demo.Count{Same: report.Pages.New}}); again != want {
		t.Errorf("second seeding: %+v, want %+v", again, want)
	}
	r.writesNothing(t)
	r.sameRollups(t, demo.Acme)
}

// sameRows holds every stored row against the generated one.
func (r rig) sameRows(t *testing.T, tenant string) {
	t.Helper()
	reader := ledger.Reader{Store: r.Store, Now: func() time.Time { return demo.Close }}
	for prefix, names := range ids(demo.Data(tenant)) {
		for _, name := range names {
			body, err := reader.Row(t.Context(), owner(t, tenant), prefix, name)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var meta ledger.Meta
			if err := json.Unmarshal(body, &meta); err != nil || meta.ID != name || meta.TenantID != tenant || meta.UpdatedAt != "2025-10-01T06:00:00.000Z" || meta.CreatedAt > meta.UpdatedAt {
				t.Fatalf("%s is stored as %s (%v)", name, body, err)
			}
			if bytesHas(body, `ids":null`) || bytesHas(body, `allocations":null`) || bytesHas(body, `aliases":null`) {
				t.Errorf("%s has a list that is null: %s", name, body)
			}
		}
	}
}

// sameRollups holds the rollups against sums over the rows: each cell there, and
// no other.
func (r rig) sameRollups(t *testing.T, tenant string) {
	t.Helper()
	cells := map[key.Key]map[string]int64{}
	partitions := map[string]bool{}
	for _, x := range demo.Data(tenant).Transactions {
		if x.Status != "posted" && x.Status != "cleared" {
			continue
		}
		minor := minorUnits(t, x)
		party := deref(x.CounterpartyID)
		if party == "" {
			party = "-"
		}
		for grain, begin := range map[string]string{"days": x.TransactionDate[8:] + ".", "month": ""} {
			for dimension, value := range map[string]string{"": "", "/category": *x.Category, "/counterparty": party} {
				k := key.Rollup(owner(t, tenant), grain+dimension, x.Currency, x.Direction, x.TransactionDate[:7], value)
				if cells[k] == nil {
					cells[k] = map[string]int64{}
				}
				cells[k][begin+"total"] += minor
				cells[k][begin+"count"]++
				partitions[k.PK] = true
			}
		}
	}
	for partition := range partitions {
		for _, item := range r.partition(t, partition) {
			got := map[string]int64{}
			for name, n := range item.Numbers {
				if name != ledger.RollupMoves {
					got[name] = n.Int64()
				}
			}
			if !maps.Equal(got, cells[item.Key]) {
				t.Errorf("rollup %v: %v, the rows make %v", item.Key, got, cells[item.Key])
			}
			delete(cells, item.Key)
		}
	}
	if len(cells) > 0 {
		t.Errorf("%s: %d rollups are missing", tenant, len(cells))
	}
}

// partition reads a partition to its end.
func (r rig) partition(t *testing.T, pk string) []record.Item {
	t.Helper()
	var items []record.Item
	for query := (record.Query{PK: pk}); ; {
		page, err := r.Store.Query(t.Context(), query)
		check(t, err)
		items = append(items, page.Items...)
		if page.Next == nil {
			return items
		}
		query.After = page.Next
	}
}

// named reads what documents name in the way the surface reads it.
func (r rig) named(t *testing.T) {
	t.Helper()
	acme := owner(t, demo.Acme)
	reader := ledger.Reader{Store: r.Store, Now: func() time.Time { return demo.Close }}
	account, err := reader.Account(t.Context(), acme, "acct_8231")
	check(t, err)
	var view struct {
		CurrentBalance string         `json:"current_balance"`
		LatestBalance  ledger.Balance `json:"latest_balance"`
	}
	check(t, json.Unmarshal(account, &view))
	if view.LatestBalance.Current != view.CurrentBalance || view.LatestBalance.AsOf != "2025-09-30T23:59:59.999Z" {
		t.Errorf("acct_8231: %s", account)
	}
	for kind, want := range map[id.Prefix]string{id.Obligation: "obl_5521", id.Account: "acct_8231"} {
		if names, err := reader.Names(t.Context(), acme, kind, want[:len(want)-2], 10); err != nil || len(names) != 1 || names[0] != want {
			t.Errorf("completion of %s: %v %v", want, names, err)
		}
	}
	pages := wiki.Reader{Store: r.Store}
	for _, slug := range []string{"/monthly-summaries/2025-09", "counterparties/cp_aws", "/accounts/acct_8231"} {
		if page, err := pages.Page(t.Context(), acme, slug); err != nil || !strings.HasPrefix(page.Body, "# ") {
			t.Errorf("page %s: %+v %v", slug, page, err)
		}
		if _, err := pages.Page(t.Context(), owner(t, demo.Globex), slug); err == nil && slug != "/monthly-summaries/2025-09" {
			t.Errorf("globex reads %s", slug)
		}
	}
	for _, a := range demo.Agents {
		item, found, err := r.Store.Get(t.Context(), key.AgentRecord(a.Record.ID))
		var rec identity.AgentRecord
		if err != nil || !found || json.Unmarshal(item.Body, &rec) != nil || rec.Address != addresses[rec.ID] || rec.Scopes.Hash() != a.Record.Scopes.Hash() {
			t.Errorf("agent %s: %s %v", a.Record.ID, item.Body, err)
		}
	}
	for _, m := range demo.Members {
		if item, found, err := r.Store.Get(t.Context(), key.MemberRecord(owner(t, m.Tenant), m.Record.ID)); err != nil || !found || !bytesHas(item.Body, string(m.Record.Role)) {
			t.Errorf("member %s: %s %v", m.Record.ID, item.Body, err)
		}
	}
}

// told checks that every row was told of on the bus, and that nothing waits in
// the outbox.
func (r rig) told(t *testing.T) {
	t.Helper()
	for shard := range key.OutboxShards {
		if waiting := r.partition(t, key.OutboxPartition(shard)); len(waiting) > 0 {
			t.Errorf("%d events wait in shard %d of the outbox", len(waiting), shard)
		}
	}
	file, err := os.Open(r.events)
	check(t, err)
	defer file.Close()
	told := map[string]bool{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Detail struct {
				Data audit.Event `json:"data"`
			} `json:"detail"`
		}
		check(t, json.Unmarshal(lines.Bytes(), &line))
		if line.Detail.Data.Action != ledger.ActionChanged {
			t.Errorf("event %s", line.Detail.Data.Action)
		}
		rows, _ := line.Detail.Data.Outputs["rows"].([]any)
		for _, name := range rows {
			told[line.Detail.Data.TenantID+"/"+name.(string)] = true
		}
	}
	check(t, lines.Err())
	for _, tenant := range tenants {
		for _, names := range ids(demo.Data(tenant)) {
			for _, name := range names {
				if !told[tenant+"/"+name] {
					t.Errorf("no event tells of %s", name)
				}
			}
		}
	}
}

// writesNothing gives all rows to the writer once more: each says what is stored.
func (r rig) writesNothing(t *testing.T) {
	t.Helper()
	writer := ledger.Writer{Store: r.Store, Trail: r.Trail, Now: time.Now}
	rows := demo.Data(demo.Globex).All()
	written, err := writer.Write(t.Context(), owner(t, demo.Globex), identity.Actor{Type: "operator", ID: "test"}, "test", rows...)
	if err != nil || written != (ledger.Written{Same: len(rows)}) {
		t.Errorf("the writer wrote %+v of %d rows that are stored: %v", written, len(rows), err)
	}
}

// broken is a store that stops taking changes after some.
type broken struct {
	record.Store
	left atomic.Int64
}

var errBroken = errors.New("the store is gone")

func (b *broken) Commit(ctx context.Context, c record.Change) error {
	if b.left.Add(-1) < 0 {
		return errBroken
	}
	return b.Store.Commit(ctx, c)
}

// TestSeedGoesOn: a seeding that was cut short is finished by the next, and what
// has changed since is left alone.
func TestSeedGoesOn(t *testing.T) {
	r := newRig(t)
	store := &broken{Store: r.Store}
	store.left.Store(60)
	cut := r.Deps
	trail := *r.Trail
	trail.Store = store
	cut.Store, cut.Trail = store, &trail
	if _, err := demo.Seed(t.Context(), cut); !errors.Is(err, errBroken) {
		t.Fatalf("a broken store: %v", err)
	}
	rest, err := demo.Seed(t.Context(), r.Deps)
	check(t, err)
	if rest.Rows.Same == 0 || rest.Rows.New == 0 {
		t.Errorf("after a seeding that was cut short: %+v", rest)
	}
	for _, tenant := range tenants {
		r.sameRollups(t, tenant)
	}

	acme := owner(t, demo.Acme)
	paid := demo.Data(demo.Acme).Obligations
	for _, o := range paid {
		if o.ID == "obl_5521" {
			o.Status = "paid"
			writer := ledger.Writer{Store: r.Store, Trail: r.Trail, Now: time.Now}
			_, err := writer.Write(t.Context(), acme, identity.Actor{Type: "function", ID: "test"}, "test", o)
			check(t, err)
		}
	}
	item, _, err := r.Store.Get(t.Context(), key.AgentRecord("agt_finance"))
	check(t, err)
	was := item.Version
	item.Body = []byte(strings.Replace(string(item.Body), `"active"`, `"quarantined"`, 1))
	check(t, r.Store.Commit(t.Context(), record.Change{Puts: []record.Put{{Item: item, Was: was}}}))

	again, err := demo.Seed(t.Context(), r.Deps)
	check(t, err)
	if again.Rows.New+again.Records.New != 0 {
		t.Errorf("seeding over changed rows: %+v", again)
	}
	reader := ledger.Reader{Store: r.Store, Now: func() time.Time { return demo.Close }}
	if body, err := reader.Row(t.Context(), acme, id.Obligation, "obl_5521"); err != nil || !bytesHas(body, `"status":"paid"`) {
		t.Errorf("a paid bill after seeding again: %s %v", body, err)
	}
	if item, _, err := r.Store.Get(t.Context(), key.AgentRecord("agt_finance")); err != nil || !bytesHas(item.Body, `"quarantined"`) {
		t.Errorf("a quarantined agent after seeding again: %s %v", item.Body, err)
	}
}

// TestSeedWantsAddresses: an agent without an address stops the seeding before
// anything is written.
func TestSeedWantsAddresses(t *testing.T) {
	store := &broken{} // anything that is written would show as another error
	d := deps(store, nil)
	d.Addresses = nil
	if _, err := demo.Seed(t.Context(), d); err == nil || !strings.Contains(err.Error(), "has no chain address") {
		t.Errorf("no addresses: %v", err)
	}
}

func owner(t *testing.T, tenant string) identity.Tenant {
	t.Helper()
	o, err := identity.OperatorTenant(tenant)
	check(t, err)
	return o
}

func minorUnits(t *testing.T, x *ledger.Transaction) int64 {
	t.Helper()
	var n int64
	for _, d := range signed(t, x.Amount, x.Currency).Minor() {
		n = n*10 + int64(d-'0')
	}
	return n
}

func bytesHas(body []byte, text string) bool { return strings.Contains(string(body), text) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
