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

// feed gives each event for the function mcp to an invocation and holds its answer to the README of
// the folder.
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
