package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/shared/edge"
)

// recorder stands in front of an endpoint of the stack and counts what goes
// through, by the operation asked for.
type recorder struct {
	mu    sync.Mutex
	calls map[string]int
}

// removal is a transaction that only removes the marks of events the bus has
// taken: what was changed is changed without it.
const removal = "TransactWriteItems of marks"

func (r *recorder) before(t *testing.T, target string) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
		body, _ := io.ReadAll(req.Body)
		req.Body = io.NopCloser(bytes.NewReader(body))
		switch {
		case operation == "":
			var rpc struct{ Method string }
			_ = json.Unmarshal(body, &rpc)
			operation = rpc.Method
		case operation == "TransactWriteItems" && !bytes.Contains(body, []byte(`"Put"`)):
			operation = removal
		}
		r.mu.Lock()
		r.calls[operation]++
		r.mu.Unlock()
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// take returns the calls since the last take. Leases of the rate are not part
// of a request's round trips, nor is the check of a chain's id, made once a
// process.
func (r *recorder) take() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = map[string]int{}
	delete(calls, "UpdateItem")
	delete(calls, "eth_chainId")
	return calls
}

// counted starts functions whose calls are counted.
func counted(t *testing.T) (*recorder, func() *edge.Server) {
	t.Helper()
	count := &recorder{calls: map[string]int{}}
	behind := map[string]string{
		"DYNAMODB_ENDPOINT": count.before(t, running.DynamoDBEndpoint), "EVENTS_ENDPOINT": count.before(t, running.EventsEndpoint), "RPC_URLS": count.before(t, running.RPCURL),
	}
	return count, func() *edge.Server { return wired(t, behind) }
}

func TestRoundTrips(t *testing.T) {
	count, start := counted(t)
	read := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"brain://ledger/transactions/tx_4127"}}`
	account := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"brain://ledger/accounts/acct_8231"}}`
	tools := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

	// Nobody else asks as this agent, so nothing is known of it at first.
	first, second := start(), start()
	for _, step := range []struct {
		name   string
		server *edge.Server
		body   string
		want   map[string]int
	}{
		// The chain's answer is in nobody's cache: asked for once, then kept.
		{"cold, the first process", first, read, map[string]int{"Query": 1, "eth_call": 1, "PutItem": 1, "GetItem": 1, "PutEvents": 1}},
		{"warm read", first, read, map[string]int{"GetItem": 1, "PutEvents": 1}},
		{"warm read of an account and its balance", first, account, map[string]int{"Query": 1, "PutEvents": 1}},
		{"warm list", first, tools, map[string]int{"PutEvents": 1}},
		// Another process finds the answer beside the agent's record.
		{"cold, the second process", second, tools, map[string]int{"Query": 1, "PutEvents": 1}},
		{"warm list of the second", second, tools, map[string]int{"PutEvents": 1}},
	} {
		count.take()
		if r := invoke(t, step.server, "POST", endpointPath, running.Tokens["agent_readonly"], step.body); r.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d", step.name, r.StatusCode)
		}
		if got := count.take(); fmt.Sprint(got) != fmt.Sprint(step.want) {
			t.Errorf("%s: round trips %v, want %v", step.name, got, step.want)
		}
	}
}

// What changes something is one transaction, with everything it rests on read in
// one batch before and its events in one call after. A policy is checked once in
// a process and version.
func TestRoundTripsOfMoney(t *testing.T) {
	count, start := counted(t)
	server := start()
	for _, holder := range []string{"agent_payables", "member_admin"} { // who they are is known
		invoke(t, server, "POST", endpointPath, running.Tokens[holder], `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	}
	pays := func(amount, more string) string {
		return `{"action_type":"ach_outbound","source_account_id":"acct_8231","destination_counterparty_id":"cp_aws","currency":"USD","amount":"` + amount + `"` + more + `}`
	}
	// looks is a call that changes nothing, changes one that does: both with what
	// they read.
	looks := func(reads map[string]int) map[string]int {
		reads["PutEvents"] = 1
		return reads
	}
	changes := func(reads map[string]int) map[string]int {
		reads["TransactWriteItems"], reads[removal] = 1, 1
		return looks(reads)
	}
	type reads = map[string]int
	var pending, authorization, flagged string
	for _, step := range []struct {
		name, as, tool, arguments string
		keep                      *string
		want                      map[string]int
	}{
		{"a dry run, the first to need the policy", "agent_payables", "payment_intent.propose", pays("5101.00", `,"dry_run":true`), nil, looks(reads{"BatchGetItem": 1, "GetItem": 2, "eth_call": 1})},
		{"a dry run", "agent_payables", "payment_intent.propose", pays("5101.00", `,"dry_run":true`), nil, looks(reads{"BatchGetItem": 1})},
		{"propose", "agent_payables", "payment_intent.propose", pays("5101.00", ""), &pending, changes(reads{"BatchGetItem": 1, "Query": 1})},
		{"propose again", "agent_payables", "payment_intent.propose", pays("5101.00", ""), nil, looks(reads{"BatchGetItem": 2, "GetItem": 1, "Query": 1})},
		{"propose what is approved at once", "agent_payables", "payment_intent.propose", pays("1.01", ""), nil, changes(reads{"BatchGetItem": 1, "Query": 1})},
		{"authorize", "agent_payables", "authorizations.create", pays("5102.00", `,"purpose":"x"`), &authorization, changes(reads{"BatchGetItem": 1})},
		{"propose another action", "agent_payables", "agent.action.propose", `{"action":{"kind":"flag_transaction"}}`, &flagged, changes(reads{"BatchGetItem": 1})},
		{"list own intents", "agent_payables", "payment_intent.list", `{"limit":1}`, nil, looks(reads{"Query": 1})},
		{"list the feed", "member_admin", "proposals.list", `{"limit":1}`, nil, looks(reads{"BatchGetItem": 1, "Query": 1})},
		{"get a proposal", "member_admin", "proposals.get", `{"proposal_id":"PENDING"}`, nil, looks(reads{"GetItem": 2})},
		{"decide", "member_admin", "proposals.decide", `{"proposal_id":"PENDING","decision":"approve"}`, nil, changes(reads{"BatchGetItem": 1, "GetItem": 1})},
		{"decide again", "member_admin", "proposals.decide", `{"proposal_id":"PENDING","decision":"approve"}`, nil, looks(reads{"BatchGetItem": 1, "GetItem": 2})},
		{"approve an authorization", "member_admin", "authorizations.approve", `{"authorization_id":"AUTHORIZATION"}`, nil, changes(reads{"BatchGetItem": 1, "GetItem": 1})},
		{"propose with it", "agent_payables", "payment_intent.propose", pays("5102.00", `,"authorization_id":"AUTHORIZATION"`), nil, changes(reads{"BatchGetItem": 1, "Query": 1})},
		{"get it", "agent_payables", "authorizations.get", `{"authorization_id":"AUTHORIZATION"}`, nil, looks(reads{"BatchGetItem": 1, "GetItem": 1})},
		{"acknowledge an action", "member_admin", "proposals.decide", `{"proposal_id":"FLAGGED","decision":"acknowledge"}`, nil, changes(reads{"BatchGetItem": 1, "GetItem": 1})},
		{"propose what is taken back", "agent_payables", "payment_intent.propose", pays("5103.00", ""), &pending, changes(reads{"BatchGetItem": 1, "Query": 1})},
		{"cancel", "agent_payables", "payment_intent.cancel", `{"intent_id":"PENDING"}`, nil, changes(reads{"GetItem": 1})},
		{"cancel again", "agent_payables", "payment_intent.cancel", `{"intent_id":"PENDING"}`, nil, looks(reads{"GetItem": 1})},
	} {
		count.take()
		id := use(t, server, step.as, step.tool, strings.NewReplacer("PENDING", pending, "AUTHORIZATION", authorization, "FLAGGED", flagged).Replace(step.arguments))
		if step.keep != nil {
			*step.keep = id
		}
		if got := count.take(); fmt.Sprint(got) != fmt.Sprint(step.want) {
			t.Errorf("%s: round trips %v, want %v", step.name, got, step.want)
		}
	}
}
