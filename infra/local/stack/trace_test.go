package stack_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/client"
	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// One trace of the caller's finds all that came of a payment: the request, what was
// decided, what was executed and what was settled, in the events and in the logs of
// every function that had to do with it. It comes in the request's header, or in
// the message.
func TestOneTraceFindsAPayment(t *testing.T) {
	const id = "7bf92f3577b34da6a3ce929d0e0e4736"
	proposal := arguments{
		"action_type": "ach_outbound", "source_account_id": "acct_8231", "destination_counterparty_id": "cp_aws", "amount": "41.17", "currency": "USD",
	}
	agent := client.Client{URL: running.File().MCPURL, Token: running.File().Tokens["agent_payables"]}
	traced := agent
	traced.Header = http.Header{"Traceparent": {"00-" + id + "-00f067aa0ba902b7-01"}}
	reply, out, err := traced.Use(t.Context(), "payment_intent.propose", proposal)
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("status %d, %v, %s", reply.Status, err, out.Text())
	}
	const other = "8bf92f3577b34da6a3ce929d0e0e4736"
	proposal["amount"] = "41.18"
	reply, err = agent.Call(t.Context(), "tools/call", arguments{
		"name": "payment_intent.propose", "arguments": proposal, "_meta": arguments{"traceparent": "00-" + other + "-00f067aa0ba902b7-01"},
	})
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("status %d, %v", reply.Status, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := running.Bus().Settle(ctx); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{id, other} {
		events := eventsOf(t, `"traceparent":"00-`+id)
		for _, action := range []string{"agent.mcp.tool_called", "payment_intent.proposed", "payment_intent.approved", "payment_intent.execute.before", "payment_intent.execute.after", "ledger.changed"} {
			if !strings.Contains(strings.Join(events, "\n"), `"type":"`+action+`"`) {
				t.Errorf("the trace %s does not find %s", id, action)
			}
		}
		for _, function := range []string{"mcp", "execute", "audit", "wiki"} {
			log, err := os.ReadFile(filepath.Join(folder, stackfile.Root, "log", function+".log"))
			if err != nil || !strings.Contains(string(log), id) {
				t.Errorf("the log of %s does not have the trace %s: %v", function, id, err)
			}
		}
	}
}
