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
// both functions.
func TestOneTraceFindsAPayment(t *testing.T) {
	const id = "7bf92f3577b34da6a3ce929d0e0e4736"
	agent := client.Client{URL: running.File().MCPURL, Token: running.File().Tokens["agent_payables"], Header: http.Header{"Traceparent": {"00-" + id + "-00f067aa0ba902b7-01"}}}
	reply, out, err := agent.Use(t.Context(), "payment_intent.propose", arguments{
		"action_type": "ach_outbound", "source_account_id": "acct_8231", "destination_counterparty_id": "cp_aws", "amount": "41.17", "currency": "USD",
	})
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("status %d, %v, %s", reply.Status, err, out.Text())
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := running.Bus().Settle(ctx); err != nil {
		t.Fatal(err)
	}
	events := eventsOf(t, `"traceparent":"00-`+id)
	for _, action := range []string{"agent.mcp.tool_called", "payment_intent.proposed", "payment_intent.approved", "payment_intent.execute.before", "payment_intent.execute.after", "ledger.changed"} {
		if !strings.Contains(strings.Join(events, "\n"), `"type":"`+action+`"`) {
			t.Errorf("the trace does not find %s", action)
		}
	}
	for _, function := range []string{"mcp", "execute"} {
		log, err := os.ReadFile(filepath.Join(folder, stackfile.Root, "log", function+".log"))
		if err != nil || !strings.Contains(string(log), `"trace_id":"`+id) {
			t.Errorf("the log of %s does not have the trace: %v", function, err)
		}
	}
}
