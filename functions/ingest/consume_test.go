package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/platform/awsclient"
	"github.com/robotmoney/mcp/shared/platform/blob"
)

const sound = "Date,Amount,Currency,Payee,Description\n2025-04-02,-12.50,EUR,Acme Secret GmbH,Invoice 7\n"

// One batch with everything in it: a file, one that is refused, what is no errand,
// and the file's event a second time.
func TestBatch(t *testing.T) {
	w := newWorld(t)
	good, bad := w.bring(t, sound), w.bring(t, sound+"2025-04-31,hidden,EUR,Acme,x\n")
	arrived := w.bus.bodies[raw.ActionContributed]
	equal(t, "arrivals", len(arrived), 2)
	failed := w.deliver(t.Context(), t, arrived[0], "no JSON", arrived[1], arrived[0])
	equal(t, "failed", failed, "[1]")
	equal(t, "the good one", w.state(t, good), raw.Extracted)
	equal(t, "the bad one", w.state(t, bad), raw.Failed)
	for _, says := range []string{
		`"reason":"the body is no event of the bus"`, `"artifact":"` + good.ID + `","state":"extracted","parser":"csv","entries":1,"new":1`,
		`"artifact":"` + bad.ID + `","state":"failed","parser":"csv","entries":1,"line":3`, `"an artifact was left alone"`,
	} {
		if !strings.Contains(w.log.String(), says) {
			t.Errorf("the log does not say %s: %s", says, w.log)
		}
	}
	for _, never := range []string{"Secret", "12.50", "hidden", "no JSON"} {
		if strings.Contains(w.log.String(), never) {
			t.Errorf("the log holds %q", never)
		}
	}
}

func TestEmptyBatch(t *testing.T) {
	w := newWorld(t)
	equal(t, "failed", w.deliver(t.Context(), t), "[]")
}

// An operator's retry is announced as an acceptance, and is taken in.
func TestAccepted(t *testing.T) {
	w := newWorld(t)
	a := w.bring(t, "When;How much;Who\n02.04.2025;-12,50;Acme\n")
	equal(t, "failed", w.deliver(t.Context(), t, w.bus.bodies[raw.ActionContributed]...), "[]")
	equal(t, "state", w.state(t, a), raw.Failed)
	archive := w.consumer.intake.Archive
	_, err := archive.Retry(t.Context(), w.tenant, identity.Actor{Type: "operator", ID: "import"}, "req_2", a.ID, nil)
	noError(t, err)
	equal(t, "state", w.state(t, a), raw.Accepted)
	equal(t, "failed", w.deliver(t.Context(), t, w.bus.bodies[raw.ActionAccepted]...), "[]")
	equal(t, "state", w.state(t, a), raw.Failed)
}

type connection func(*http.Request) (*http.Response, error)

func (c connection) Do(req *http.Request) (*http.Response, error) { return c(req) }

// A store that is away, or that hangs until the time is up, leaves the artifact to
// the next delivery.
func TestStoreAway(t *testing.T) {
	for name, do := range map[string]connection{
		"away": func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		"hangs": func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := w.bring(t, sound)
			bucket := w.consumer.intake.Archive.Blobs.(*blob.Bucket)
			usual := bucket.HTTP
			bucket.HTTP = do
			ctx, cancel := context.WithTimeout(t.Context(), margin+300*time.Millisecond)
			defer cancel()
			equal(t, "failed", w.deliver(ctx, t, w.bus.bodies[raw.ActionContributed]...), "[0]")
			noError(t, ctx.Err())
			equal(t, "state", w.state(t, a), raw.Accepted)
			bucket.HTTP = usual
			equal(t, "failed when it comes again", w.deliver(t.Context(), t, w.bus.bodies[raw.ActionContributed]...), "[]")
			equal(t, "state", w.state(t, a), raw.Extracted)
		})
	}
}

// What says that something is to be parsed is looked at closely: none of it is
// believed but the names.
func TestNoErrands(t *testing.T) {
	w := newWorld(t)
	w.bring(t, sound)
	body := w.bus.bodies[raw.ActionContributed][0]
	for name, c := range map[string]struct{ old, new, says string }{
		"another source":      {`"source":"robotmoney.mcp"}`, `"source":"robotmoney.evil"}`, "source"},
		"another detail-type": {`"detail-type":"raw.contributed"`, `"detail-type":"raw.accepted"`, "detail-type"},
		"no data":             {`"data":`, `"dada":`, "no CloudEvents record"},
		"another action":      {"raw.contributed", "raw.extracted", "none of an artifact"},
		"no artifact":         {`"raw_id":"raw_`, `"raw_id":"tx_`, "names no artifact"},
		"no tenant":           {`"tenant_id":"acme-`, `"tenant_id":"ACME-`, "tenant_id"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.ReplaceAll(body, c.old, c.new)
			if changed == body {
				t.Fatalf("the body has no %s: %s", c.old, body)
			}
			_, err := open(changed)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error = %v, want %q", err, c.says)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	env := map[string]string{"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s", "TABLE_NAME": "main", "BUS_NAME": "bus", "BLOB_BUCKET": "artifacts"}
	c, err := readConfig(func(name string) string { return env[name] })
	noError(t, err)
	equal(t, "config", c, config{aws: awsclient.Account{Region: "eu-central-1", AccessKey: "a", SecretKey: "s"}, table: "main", bus: "bus", bucket: "artifacts"})
	_, err = readConfig(func(name string) string { return map[string]string{"AWS_REGION": "eu-central-1"}[name] })
	if err == nil || err.Error() != "missing environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, TABLE_NAME, BUS_NAME, BLOB_BUCKET" {
		t.Errorf("error = %v", err)
	}
}
