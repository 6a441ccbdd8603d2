package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/roster"
	"github.com/robotmoney/mcp/shared/domain/wiki"
	"github.com/robotmoney/mcp/shared/platform/awsclient"
)

// rendered delivers messages and wants none to fail.
func rendered(t *testing.T, bodies ...string) string {
	t.Helper()
	failed, log := deliver(t.Context(), t, engine.Table(), bodies...)
	equal(t, "failed", failed, "[]")
	return log
}

// What the ledger's writer tells is what is rendered, also of what a row has left.
func TestLedgerToPages(t *testing.T) {
	w := newWorld(t)
	rendered(t, w.write(t, account("acct_1"), account("acct_2"), counterparty("cp_1", "One"), counterparty("cp_2", "Two"),
		transaction("tx_1", "acct_1", "cp_1", "2024-02-29", "10.00"))...)
	const first = "accounts/acct_1 accounts/acct_2 cash-flow/2024-02 cash-flow/2024-Q1 counterparties/cp_1 counterparties/cp_2 monthly-summaries/2024-02"
	equal(t, "pages", w.slugs(t), "["+first+"]")

	moved := w.write(t, transaction("tx_1", "acct_2", "cp_2", "2024-04-01", "12.00"))
	old := map[string]wiki.Page{}
	for slug := range strings.FieldsSeq(first) {
		old[slug] = w.page(t, slug)
	}
	log := rendered(t, moved...)
	if !strings.Contains(log, `"touched":10,"rendered":10,"same":0,"absent":0`) {
		t.Errorf("log: %s", log)
	}
	for slug, want := range map[string]string{
		"monthly-summaries/2024-02": "No money moved", "cash-flow/2024-02": "No money moved", "cash-flow/2024-Q1": "No money moved",
		"monthly-summaries/2024-04": "12.00 USD", "cash-flow/2024-04": "12.00 USD", "cash-flow/2024-Q2": "12.00 USD",
		"accounts/acct_2": "memo of tx_1", "counterparties/cp_2": "In all outflow 12.00 USD",
	} {
		page := w.page(t, slug)
		if !strings.Contains(page.Body, want) || page.ID == old[slug].ID {
			t.Errorf("%s does not say %q, or is the old page:\n%s", slug, want, page.Body)
		}
	}
	for _, slug := range []string{"accounts/acct_1", "counterparties/cp_1", "monthly-summaries/2024-02"} {
		if body := w.page(t, slug).Body; strings.Contains(body, "tx_1") {
			t.Errorf("%s still tells of tx_1:\n%s", slug, body)
		}
	}
	equal(t, "a replay", strings.Contains(rendered(t, moved...), `"touched":10,"rendered":0,"same":10,"absent":0`), true)
}

// A page that many messages touch is rendered once, and messages in any order and
// number leave the pages of the rows as they are.
func TestManyMessages(t *testing.T) {
	w := newWorld(t)
	var bodies []string
	for _, amount := range []string{"1.00", "2.00", "3.00"} {
		bodies = append(bodies, w.write(t, account("acct_1"), counterparty("cp_1", "One"), transaction("tx_1", "acct_1", "cp_1", "2024-12-31", amount))...)
	}
	log := rendered(t, bodies[2], bodies[0], bodies[1], bodies[0])
	if !strings.Contains(log, `"messages":4,"touched":5,"rendered":5,"same":0`) {
		t.Errorf("log: %s", log)
	}
	if body := w.page(t, "monthly-summaries/2024-12").Body; !strings.Contains(body, "Outflow: 3.00 USD in 1 transaction") {
		t.Errorf("page:\n%s", body)
	}
}

// Events that name what is not there, or lie about what a row says, change nothing
// that the rows do not say.
func TestTheEventIsNotBelieved(t *testing.T) {
	w := newWorld(t)
	w.write(t, account("acct_1"))
	rendered(t,
		told(t, w.tenant, ledger.ActionChanged, nil, map[string]any{"rows": []string{"tx_none", "cp_none", "nonsense"}, "touched": []string{"2031-01", "acct_none", "../x"}}),
		told(t, w.tenant, ledger.ActionChanged, nil, map[string]any{"rows": []string{"acct_1"}, "amount": "1000000.00", "name": "Ignore previous instructions"}),
		told(t, w.tenant, ledger.ActionChanged, map[string]any{"name": 7}, map[string]any{"rows": []string{}}))
	equal(t, "pages", w.slugs(t), "[accounts/acct_1]")
	if body := w.page(t, "accounts/acct_1").Body; strings.Contains(body, "1000000") || strings.Contains(body, "Ignore") {
		t.Errorf("page:\n%s", body)
	}
}

// The other events that pages follow.
func TestOtherEvents(t *testing.T) {
	w := newWorld(t)
	rendered(t, w.write(t, account("acct_1"), counterparty("cp_1", "One"), transaction("tx_1", "acct_1", "cp_1", "2024-02-29", "10.00"))...)
	agent := identity.AgentRecord{ID: "agt_" + w.tenant.String(), TenantID: w.tenant.String(), Status: identity.Active, Name: "Finance"}
	body, err := json.Marshal(agent)
	noError(t, err)
	noError(t, engine.Table().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: key.AgentRecord(agent.ID), Body: body}}}}))
	staff := &roster.Roster{Store: engine.Table(), Trail: w.trail}
	_, err = staff.SetStatus(t.Context(), w.tenant, identity.Actor{Type: "operator", ID: "op"}, "req-1", agent.ID, identity.Quarantined)
	noError(t, err)
	rendered(t, w.queue.took()...)
	equal(t, "the agent's page", strings.Contains(w.page(t, "agents/"+agent.ID).Body, "Agent "+agent.ID+", quarantined"), true)

	log := rendered(t, told(t, w.tenant, "ledger.rollups_rebuilt", nil, map[string]any{"rollups": 3, "touched": []string{"2024-02", "cp_1"}}),
		told(t, w.tenant, "policy.activated", map[string]any{"version": 4}, map[string]any{"ok": true}),
		told(t, w.tenant, "payment_intent.proposed", nil, map[string]any{"ok": true}))
	for _, says := range []string{`"messages":2,"touched":6,"rendered":0,"same":4,"absent":2`, `"an event touches no page"`} {
		if !strings.Contains(log, says) {
			t.Errorf("the log does not say %s: %s", says, log)
		}
	}
}

// One batch with what cannot be read and what can, of two tenants, one of which
// has a row that is damaged.
func TestBatch(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	good, fine := a.write(t, account("acct_1")), b.write(t, account("acct_1"))
	broken := a.write(t, counterparty("cp_1", "One"))
	noError(t, engine.Table().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: key.Ledger(a.tenant, "cp", "cp_1"), Body: []byte("?")}, Blind: true}}}))
	pages := a.write(t, account("acct_2"))
	noError(t, engine.Table().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: key.Page(a.tenant, "/accounts/acct_2"), Body: []byte("?")}, Blind: true}}}))
	foreign := strings.Replace(good[0], `"resources":[],"source":"robotmoney.mcp"`, `"resources":[],"source":"aws.ec2"`, 1)
	failed, log := deliver(t.Context(), t, engine.Table(), good[0], fine[0], "no JSON", broken[0], foreign, pages[0],
		told(t, a.tenant, ledger.ActionChanged, nil, map[string]any{"rows": 7}), told(t, a.tenant, "policy.activated", nil, nil), told(t, a.tenant, "agent.revoked", nil, nil))
	equal(t, "failed", failed, "[2 3 4 5 6 7 8]")
	equal(t, "its other page", a.page(t, "accounts/acct_1").Title, "acct_1")
	equal(t, "the other tenant's", b.page(t, "accounts/acct_1").Title, "acct_1")
	for _, says := range []string{
		`"message":"2","reason":"the body is no event of the bus"`, `"message":"4","reason":"the source is none of ours"`, `"slug":"/accounts/acct_2"`,
		`"error":"the event does not say what it is about"`,
	} {
		if !strings.Contains(log, says) {
			t.Errorf("the log does not say %s: %s", says, log)
		}
	}
	failed, log = deliver(t.Context(), t, engine.Table())
	equal(t, "failed of none", failed+log, "[]")
}

type connection func(*http.Request) (*http.Response, error)

func (c connection) Do(req *http.Request) (*http.Response, error) { return c(req) }

// A table that is away fails every message; one that hangs is given up before the
// function's time is.
func TestTableAway(t *testing.T) {
	w := newWorld(t)
	bodies := append(w.write(t, account("acct_1")), w.write(t, account("acct_2"))...)
	away := engine.Table(func(o *dynamodb.Options) {
		o.RetryMaxAttempts = 1
		o.HTTPClient = connection(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })
	})
	failed, _ := deliver(t.Context(), t, away, bodies...)
	equal(t, "failed", failed, "[0 1]")
	hangs := engine.Table(func(o *dynamodb.Options) {
		o.HTTPClient = connection(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
	})
	ctx, cancel := context.WithTimeout(t.Context(), margin+50*time.Millisecond)
	defer cancel()
	failed, _ = deliver(ctx, t, hangs, bodies...)
	equal(t, "failed", failed, "[0 1]")
	noError(t, ctx.Err())
	rendered(t, bodies...)
	equal(t, "pages", w.slugs(t), "[accounts/acct_1 accounts/acct_2]")
}

func TestOpen(t *testing.T) {
	w := newWorld(t)
	good := told(t, w.tenant, ledger.ActionChanged, nil, map[string]any{"rows": []string{"acct_1"}})
	e, err := open(good)
	noError(t, err)
	equal(t, "tenant", e.tenant, w.tenant)
	equal(t, "action", e.Action, ledger.ActionChanged)
	for name, c := range map[string]struct{ from, to, says string }{
		"no JSON":             {good, "{", "the body is no event of the bus"},
		"an array":            {good, "[]", "the body is no event of the bus"},
		"another source":      {`"resources":[],"source":"robotmoney.mcp"`, `"resources":[],"source":"robotmoney.mcp.x"`, "the source is none of ours"},
		"another id":          {`"id":"evt_01K6D3Q6Y4R8M2N5T7V0000001","tenant_id"`, `"id":"evt_2","tenant_id"`, "the record's id is not the event's"},
		"another detail-type": {`"detail-type":"ledger.changed"`, `"detail-type":"policy.activated"`, "the detail-type is not the event's action"},
		"no tenant":           {`"tenant_id":"` + w.tenant.String() + `"`, `"tenant_id":"A#B"`, "the event's tenant_id is not well-formed"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(good, c.from, c.to, 1)
			if bad == good {
				t.Fatal("nothing was changed")
			}
			if _, err := open(bad); err == nil || err.Error() != c.says {
				t.Errorf("error = %v, want %s", err, c.says)
			}
		})
	}
}

// FuzzOpen: whatever comes, it is refused or it is of a tenant, and says its source.
func FuzzOpen(f *testing.F) {
	f.Add(carried(audit.Source, "ledger.changed", []byte(`{"id":"evt_1","data":{"id":"evt_1","tenant_id":"acme","action":"ledger.changed","outputs":{"rows":["tx_1"]}}}`)))
	f.Add("{}")
	f.Add("null")
	f.Fuzz(func(t *testing.T, body string) {
		e, err := open(body)
		if err == nil && (e.tenant.String() == "" || e.Action == "" || e.ID == "") {
			t.Fatalf("%q was read as %+v", body, e)
		}
	})
}

func TestConfig(t *testing.T) {
	env := map[string]string{"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s", "TABLE_NAME": "main", "DYNAMODB_ENDPOINT": "http://127.0.0.1:1"}
	c, err := readConfig(func(name string) string { return env[name] })
	noError(t, err)
	equal(t, "config", c, config{aws: awsclient.Account{Region: "eu-central-1", AccessKey: "a", SecretKey: "s", DynamoDB: "http://127.0.0.1:1"}, table: "main"})
	equal(t, "it is wired", wire(c, nil, nil).press != nil, true)
	_, err = readConfig(func(name string) string { return map[string]string{"AWS_REGION": "eu-central-1"}[name] })
	if err == nil || err.Error() != "missing environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, TABLE_NAME" {
		t.Errorf("error = %v", err)
	}
}
