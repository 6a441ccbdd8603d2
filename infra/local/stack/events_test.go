package stack_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/infra/local/issuer"
	"github.com/robotmoney/mcp/infra/local/lambda"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// Every event of the events folder is answered by the real binary over the
// Runtime API, with the status its README gives and in the shape it came in.
func TestEventsOverTheRuntimeAPI(t *testing.T) {
	f, token := deployedLike(t)
	pool, err := lambda.New(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	feed(t, token, func(t *testing.T, event []byte) []byte {
		result, err := pool.Invoke(t.Context(), event)
		if err != nil || result.FunctionError != "" {
			t.Fatalf("%v %s: %s", err, result.FunctionError, result.Payload)
		}
		return result.Payload
	})
}

// What schedules and queues send is answered by the binaries of the other
// functions, as the README of the folder says.
func TestOtherEventsOverTheRuntimeAPI(t *testing.T) {
	for _, o := range others {
		t.Run(o.file, func(t *testing.T) {
			pool, err := lambda.New(t.Context(), running.Function(o.function).Function())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(pool.Close)
			o.feed(t, func(t *testing.T, event []byte) []byte {
				result, err := pool.Invoke(t.Context(), event)
				if err != nil || result.FunctionError != "" {
					t.Fatalf("%v %s: %s", err, result.FunctionError, result.Payload)
				}
				return result.Payload
			})
		})
	}
}

// other is an event of a schedule or a queue. Of a batch so many messages, the
// last ones, are to come again; of a schedule's answer these are members.
type other struct {
	file, function string
	failed         int
	members        []string
}

var others = []other{
	{file: "schedule-anchor", function: "AnchorFunction", members: []string{"planned", "published", "final", "open"}},
	{file: "schedule-outbox", function: "OutboxFunction", members: []string{"published", "kept", "expired"}},
	{file: "sqs-audit", function: "AuditFunction", failed: 1},
	{file: "sqs-execute", function: "ExecuteFunction", failed: 1},
	{file: "sqs-wiki", function: "WikiFunction", failed: 1},
}

// feed gives the event to an invocation, twice as AWS may, and checks the answers.
func (o other) feed(t *testing.T, invoke func(t *testing.T, event []byte) []byte) {
	event, err := os.ReadFile("../../../events/" + o.file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var batch struct{ Records []struct{ MessageID string } }
	if err := json.Unmarshal(event, &batch); err != nil {
		t.Fatal(err)
	}
	want := `{"batchItemFailures":[`
	for i, m := range batch.Records[len(batch.Records)-o.failed:] {
		want += strings.Repeat(",", min(i, 1)) + `{"itemIdentifier":"` + m.MessageID + `"}`
	}
	want += `]}`
	for range 2 {
		payload := invoke(t, event)
		var answer map[string]json.RawMessage
		if err := json.Unmarshal(payload, &answer); err != nil {
			t.Fatalf("%v: %s", err, payload)
		}
		if len(batch.Records) > 0 && string(payload) != want {
			t.Errorf("answer %s, want %s", payload, want)
		}
		for _, name := range o.members {
			if _, is := answer[name]; !is {
				t.Errorf("answer %s, want %s in it", payload, name)
			}
		}
	}
}

// feed gives each event for the function mcp to an invocation and holds its
// answer to the README of the folder.
func feed(t *testing.T, token string, invoke func(t *testing.T, event []byte) []byte) {
	var files []string
	for _, shape := range []string{"alb", "http", "rest", "url"} {
		found, err := filepath.Glob("../../../events/" + shape + "-*.json")
		if err != nil || len(found) < 7 {
			t.Fatalf("%d events of the shape %s: %v", len(found), shape, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			event, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			answered(t, name, invoke(t, bytes.ReplaceAll(event, []byte("REPLACE_WITH_TOKEN"), []byte(token))))
		})
	}
}

// answered checks the answer to an event.
func answered(t *testing.T, name string, payload []byte) {
	t.Helper()
	var reply struct {
		StatusCode        int
		StatusDescription string
		Headers           map[string]string
		MultiValueHeaders map[string][]string
		Body              string
	}
	if err := json.Unmarshal(payload, &reply); err != nil {
		t.Fatalf("%v: %s", err, payload)
	}
	if want := statusOf(name); reply.StatusCode != want {
		t.Errorf("status %d, want %d: %s", reply.StatusCode, want, reply.Body)
	}
	multi := strings.HasPrefix(name, "rest-") || strings.HasSuffix(name, "-multivalue")
	if multi != (reply.MultiValueHeaders != nil) || multi == (reply.Headers != nil) {
		t.Errorf("headers %v and %v: not the form of this shape", reply.Headers, reply.MultiValueHeaders)
	}
	if strings.HasPrefix(name, "alb-") != (reply.StatusDescription != "") {
		t.Errorf("status description %q", reply.StatusDescription)
	}
	if strings.Contains(name, "resources-read") && !strings.Contains(reply.Body, "61404.12") {
		t.Errorf("body %s", reply.Body)
	}
}

// deployedLike is the function with the URL the events were sent to, and a token
// for that audience.
func deployedLike(t *testing.T) (lambda.Function, string) {
	t.Helper()
	const url = "https://mcp.robotmoney.com/v1/agents/mcp"
	f := running.Function("McpFunction").Function()
	f.Env = append(slices.DeleteFunc(slices.Clone(f.Env), func(v string) bool { return strings.HasPrefix(v, "ENDPOINT_URL=") }), "ENDPOINT_URL="+url)
	keys, err := issuer.Open(filepath.Join(folder, stackfile.State))
	if err != nil {
		t.Fatal(err)
	}
	for _, agent := range demo.Agents {
		if agent.Record.ID != "agt_finance" {
			continue
		}
		token, err := keys.Token(issuer.Grant{
			Issuer: running.File().Issuer, Audience: url, Kind: identity.Agent, Subject: agent.Record.ID, Tenant: agent.Tenant,
			Scopes: agent.Record.Scopes, ScopeHash: agent.Record.Scopes.Hash(), Now: time.Now(), Life: time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		return f, token
	}
	t.Fatal("no agent agt_finance")
	return lambda.Function{}, ""
}

// statusOf is what the README of the folder promises for a request.
func statusOf(name string) int {
	switch {
	case strings.HasSuffix(name, "-bad-token"):
		return 401
	case strings.HasSuffix(name, "-preflight"):
		return 204
	}
	return 200
}
