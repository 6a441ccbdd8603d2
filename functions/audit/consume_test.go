package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/awsclient"
	"github.com/robotmoney/mcp/shared/platform/queue"
)

// One batch with everything in it: two tenants, messages twice, a replay, what
// cannot be entered. What cannot is named and logged, the rest is entered.
func TestBatch(t *testing.T) {
	a, b := tenant(t), tenant(t)
	replay := carried(t, happened(a, 3), func(e map[string]any) { e["replay-name"] = "again" })
	disputed := happened(a, 1)
	disputed.Actor.ID = "agt_thief"
	failed, log := deliver(t.Context(), t, engine.Table(),
		carried(t, happened(a, 1), nil), carried(t, happened(b, 1), nil), "no JSON", carried(t, happened(a, 2), nil), // 0 to 3
		carried(t, happened(a, 1), nil), replay, carried(t, disputed, nil), // 4 to 6
		carried(t, happened(b, 2), func(e map[string]any) { e["source"] = "aws.ec2" })) // 7
	equal(t, "failed", failed, "[2 6 7]")
	holds(t, a, 3)
	holds(t, b, 1)
	for _, says := range []string{
		`"message":"2","reason":"the body is no event of the bus"`, `"event":"evt_01K6D3Q6Y4R8M2N5T7V0000001","reason":"its id is in the journal with another content"`,
		`"message":"7","reason":"the source is none of ours"`, `"tenant":"` + a.String() + `","entered":3,"known":1,"disputed":1`,
	} {
		if !strings.Contains(log, says) {
			t.Errorf("the log does not say %s: %s", says, log)
		}
	}
	for _, never := range []string{"ledger.account.get", "agt_finance", "agt_thief", "no JSON"} {
		if strings.Contains(log, never) {
			t.Errorf("the log holds %q", never)
		}
	}
	failed, _ = deliver(t.Context(), t, engine.Table(), replay, carried(t, happened(a, 2), nil), carried(t, happened(b, 9), nil))
	equal(t, "failed when they come again", failed, "[]")
	holds(t, a, 3)
	holds(t, b, 2)
}

func TestEmptyBatch(t *testing.T) {
	failed, log := deliver(t.Context(), t, engine.Table())
	equal(t, "failed", failed, "[]")
	equal(t, "log", log, "")
}

// A tenant whose journal is broken does not keep others from theirs.
func TestTenantsDoNotTouch(t *testing.T) {
	broken, fine := tenant(t), tenant(t)
	noError(t, engine.Table().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: key.JournalHead(broken), Body: []byte("?")}, Blind: true}}}))
	failed, log := deliver(t.Context(), t, engine.Table(), carried(t, happened(broken, 1), nil), carried(t, happened(fine, 1), nil), carried(t, happened(broken, 2), nil))
	equal(t, "failed", failed, "[0 2]")
	holds(t, fine, 1)
	if !strings.Contains(log, `"events could not be entered","tenant":"`+broken.String()+`"`) {
		t.Errorf("the log does not name the tenant: %s", log)
	}
}

// More tenants than are worked on at one time.
func TestManyTenants(t *testing.T) {
	var all []identity.Tenant
	var bodies []string
	for range 3 * together {
		all = append(all, tenant(t))
		for n := range 2 {
			bodies = append(bodies, carried(t, happened(all[len(all)-1], n), nil))
		}
	}
	failed, _ := deliver(t.Context(), t, engine.Table(), bodies...)
	equal(t, "failed", failed, "[]")
	for _, of := range all {
		holds(t, of, 2)
	}
}

type connection func(*http.Request) (*http.Response, error)

func (c connection) Do(req *http.Request) (*http.Response, error) { return c(req) }

// A table that is away fails every message, and each enters when it comes again.
func TestTableAway(t *testing.T) {
	a, b := tenant(t), tenant(t)
	bodies := []string{carried(t, happened(a, 1), nil), carried(t, happened(b, 1), nil)}
	away := engine.Table(func(o *dynamodb.Options) {
		o.RetryMaxAttempts = 1
		o.HTTPClient = connection(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })
	})
	failed, _ := deliver(t.Context(), t, away, bodies...)
	equal(t, "failed", failed, "[0 1]")
	failed, _ = deliver(t.Context(), t, engine.Table(), bodies...)
	equal(t, "failed when they come again", failed, "[]")
	holds(t, a, 1)
	holds(t, b, 1)
}

// A table that hangs is given up before the function's time is: the report still
// gets out.
func TestTableHangs(t *testing.T) {
	hangs := engine.Table(func(o *dynamodb.Options) {
		o.HTTPClient = connection(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
	})
	ctx, cancel := context.WithTimeout(t.Context(), margin+50*time.Millisecond)
	defer cancel()
	failed, _ := deliver(ctx, t, hangs, carried(t, happened(tenant(t), 1), nil))
	equal(t, "failed", failed, "[0]")
	noError(t, ctx.Err())
}

func TestConfig(t *testing.T) {
	env := map[string]string{"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s", "TABLE_NAME": "main", "DYNAMODB_ENDPOINT": "http://127.0.0.1:1"}
	c, err := readConfig(func(name string) string { return env[name] })
	noError(t, err)
	equal(t, "config", c, config{aws: awsclient.Account{Region: "eu-central-1", AccessKey: "a", SecretKey: "s", DynamoDB: "http://127.0.0.1:1"}, table: "main"})
	equal(t, "it is wired", wire(c, nil, nil).journal != nil, true)
	_, err = readConfig(func(name string) string { return map[string]string{"AWS_REGION": "eu-central-1"}[name] })
	if err == nil || err.Error() != "missing environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, TABLE_NAME" {
		t.Errorf("error = %v", err)
	}
}

// What the trail writes is what is entered: an event survives its way.
func TestWhatTheTrailWrites(t *testing.T) {
	of := tenant(t)
	e := happened(of, 1)
	e.BeforeState, e.AfterState = map[string]any{"status": "active"}, map[string]any{"status": "revoked", "limit": "25000.00", "n": 3}
	e.Action, e.PolicyDecisionID = "agent.revoked", "pd_1"
	event, _, err := open(carried(t, e, nil))
	noError(t, err)
	equal(t, "id", event.ID(), e.ID)
	equal(t, "tenant", event.Tenant(), of)
	equal(t, "action", event.Action(), "agent.revoked")
	equal(t, "source of the trail", queue.Ours(audit.Source), true)
}
