package bus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	local "github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/bus"
)

var noon = time.Date(2025, time.September, 30, 12, 0, 0, 123_000_000, time.UTC)

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

// eventBridge is the bus of the local stack, over a real socket.
type eventBridge struct {
	*local.Bus
	url, file string
}

func start(t *testing.T) *eventBridge {
	t.Helper()
	e := &eventBridge{file: filepath.Join(t.TempDir(), "events.jsonl")}
	var err error
	e.Bus, err = local.New(t.Context(), local.Config{Name: "main", EventsFile: e.file})
	noError(t, err)
	server := httptest.NewServer(e.Bus)
	e.url = server.URL
	t.Cleanup(func() {
		server.Close()
		noError(t, e.Close())
	})
	return e
}

// taken are the ids the endpoint has accepted, in order, as consumers see them.
func (e *eventBridge) taken(t *testing.T) string {
	t.Helper()
	file, err := os.ReadFile(e.file)
	noError(t, err)
	var ids []string
	for line := range bytes.Lines(file) {
		var envelope struct{ Detail struct{ ID string } }
		noError(t, json.Unmarshal(line, &envelope))
		ids = append(ids, envelope.Detail.ID)
	}
	return strings.Join(ids, " ")
}

// client is a bus at an endpoint. The SDK tries once: what it does between
// tries is not ours.
func client(url, name string) *bus.Bus {
	return &bus.Bus{Name: name, API: eventbridge.New(eventbridge.Options{
		Region: "eu-central-1", BaseEndpoint: &url, HTTPClient: awshttp.New(time.Minute), RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})}
}

func entry(t *testing.T, id string) audit.Entry {
	t.Helper()
	e, err := audit.Event{
		ID: id, TenantID: "acme", Layer: audit.LayerAgent, Action: audit.ActionCall, Schema: audit.Schema, CreatedAt: noon.Format(audit.TimeForm),
	}.Entry()
	noError(t, err)
	return e
}

func entries(t *testing.T, n int) []audit.Entry {
	t.Helper()
	var all []audit.Entry
	for i := range n {
		all = append(all, entry(t, fmt.Sprintf("evt_%02d", i)))
	}
	return all
}

func TestPublish(t *testing.T) {
	e := start(t)
	refused, err := client(e.url, "main").Publish(t.Context(), entries(t, 10))
	noError(t, err)
	equal(t, "refused", len(refused), 0)
	equal(t, "taken", e.taken(t), "evt_00 evt_01 evt_02 evt_03 evt_04 evt_05 evt_06 evt_07 evt_08 evt_09")
}

// What a rule of the template matches, and what a consumer reads.
func TestEnvelope(t *testing.T) {
	e := start(t)
	_, err := client(e.url, "main").Publish(t.Context(), []audit.Entry{entry(t, "evt_1")})
	noError(t, err)
	file, err := os.ReadFile(e.file)
	noError(t, err)
	var got struct {
		Source, Time string
		Type         string `json:"detail-type"`
		Detail       struct {
			SpecVersion, ID, Source, Type, Subject, Time, DataContentType string
			Data                                                          audit.Event
		}
	}
	noError(t, json.Unmarshal(file, &got))
	equal(t, "source", got.Source, "robotmoney.mcp")
	equal(t, "detail type", got.Type, "agent.mcp.tool_called")
	equal(t, "time", got.Time, "2025-09-30T12:00:00Z")
	equal(t, "CloudEvents", got.Detail.SpecVersion, "1.0")
	equal(t, "id", got.Detail.ID, "evt_1")
	equal(t, "its source", got.Detail.Source, "robotmoney.mcp")
	equal(t, "its type", got.Detail.Type, "agent.mcp.tool_called")
	equal(t, "its subject", got.Detail.Subject, "acme")
	equal(t, "its time", got.Detail.Time, "2025-09-30T12:00:00.123Z")
	equal(t, "its data", got.Detail.DataContentType, "application/json")
	equal(t, "event", got.Detail.Data.ID, "evt_1")
	equal(t, "tenant", got.Detail.Data.TenantID, "acme")
}

// A call that succeeds may have failed for some of its entries.
func TestPartialFailure(t *testing.T) {
	e := start(t)
	b := client(e.url, "main")
	e.HalfAccept(true)
	sent := entries(t, 5)
	refused, err := b.Publish(t.Context(), sent)
	noError(t, err)
	equal(t, "refused", strings.Join(refused, " "), "evt_00 evt_02 evt_04")
	equal(t, "taken", e.taken(t), "evt_01 evt_03")

	// Sent again, they get through in the end.
	for tries := 0; len(refused) > 0 && tries < 5; tries++ {
		again := slices.DeleteFunc(slices.Clone(sent), func(e audit.Entry) bool { return !slices.Contains(refused, e.ID) })
		refused, err = b.Publish(t.Context(), again)
		noError(t, err)
	}
	equal(t, "still refused", len(refused), 0)
	equal(t, "taken", len(strings.Fields(e.taken(t))), 5)
}

func TestOneBadEntry(t *testing.T) {
	e := start(t)
	sent := entries(t, 3)
	sent[1].Detail = []byte("{")
	refused, err := client(e.url, "main").Publish(t.Context(), sent)
	noError(t, err)
	equal(t, "refused", strings.Join(refused, " "), "evt_01")
	equal(t, "taken", e.taken(t), "evt_00 evt_02")
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(*eventBridge)
		send  func(*testing.T) []audit.Entry
	}{
		"throttled":      {func(e *eventBridge) { e.Refuse(-1) }, func(t *testing.T) []audit.Entry { return entries(t, 2) }},
		"eleven entries": {func(*eventBridge) {}, func(t *testing.T) []audit.Entry { return entries(t, 11) }},
		"over 1 MB": {func(*eventBridge) {}, func(t *testing.T) []audit.Entry {
			all := entries(t, 2)
			all[1].Detail = []byte(`{"pad":"` + strings.Repeat("x", 1<<20) + `"}`)
			return all
		}},
		"none": {func(*eventBridge) {}, func(*testing.T) []audit.Entry { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t)
			c.fault(e)
			if _, err := client(e.url, "main").Publish(t.Context(), c.send(t)); err == nil {
				t.Error("no error")
			}
			equal(t, "taken", e.taken(t), "")
		})
	}
}

// A reply that is lost is an error: the caller keeps the events, and a consumer
// meets them twice, once by their id.
func TestLostReply(t *testing.T) {
	e := start(t)
	b := client(e.url, "main")
	e.LoseReply(1)
	if _, err := b.Publish(t.Context(), entries(t, 2)); err == nil {
		t.Error("no error")
	}
	_, err := b.Publish(t.Context(), entries(t, 2))
	noError(t, err)
	equal(t, "taken", e.taken(t), "evt_00 evt_01 evt_00 evt_01")
}

func TestTimeout(t *testing.T) {
	e := start(t)
	e.Delay(time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := client(e.url, "main").Publish(ctx, entries(t, 1)); !errors.Is(ctx.Err(), context.DeadlineExceeded) || err == nil {
		t.Errorf("error = %v, context %v", err, ctx.Err())
	}
	if waited := time.Since(began); waited > 10*time.Second {
		t.Errorf("the caller waited for %s", waited)
	}
	equal(t, "taken", e.taken(t), "")
}

func TestNobodyThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if _, err := client(server.URL, "main").Publish(t.Context(), entries(t, 1)); err == nil {
		t.Error("no error")
	}
}

// TestStrangeAnswers: what is not a word about each entry, in order, is no
// success.
func TestStrangeAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer  string
		refused string // "!" is an error of the whole call
	}{
		"both taken":          {`{"FailedEntryCount":0,"Entries":[{"EventId":"1"},{"EventId":"2"}]}`, ""},
		"count says none":     {`{"FailedEntryCount":0,"Entries":[{"EventId":"1"},{"ErrorCode":"ThrottlingException"}]}`, "evt_01"},
		"error and id":        {`{"FailedEntryCount":1,"Entries":[{"EventId":"1","ErrorCode":"InternalFailure"},{"EventId":"2"}]}`, "evt_00"},
		"empty error code":    {`{"FailedEntryCount":1,"Entries":[{"ErrorCode":""},{"EventId":"2"}]}`, "evt_00"},
		"nothing of one":      {`{"FailedEntryCount":0,"Entries":[{"EventId":"1"},{}]}`, "evt_01"},
		"empty id":            {`{"FailedEntryCount":0,"Entries":[{"EventId":""},{"EventId":"2"}]}`, "evt_00"},
		"fewer":               {`{"FailedEntryCount":0,"Entries":[{"EventId":"1"}]}`, "!"},
		"more":                {`{"FailedEntryCount":0,"Entries":[{"EventId":"1"},{"EventId":"2"},{"EventId":"3"}]}`, "!"},
		"no entries":          {`{"FailedEntryCount":0}`, "!"},
		"empty object":        {`{}`, "!"},
		"a page of a gateway": {`<html>`, "!"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/x-amz-json-1.1")
				_, _ = w.Write([]byte(c.answer))
			}))
			defer server.Close()
			refused, err := client(server.URL, "main").Publish(t.Context(), entries(t, 2))
			if c.refused == "!" {
				if err == nil {
					t.Errorf("refused %v, no error", refused)
				}
				return
			}
			noError(t, err)
			equal(t, "refused", strings.Join(refused, " "), c.refused)
		})
	}
}
