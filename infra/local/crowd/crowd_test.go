package crowd_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/robotmoney/mcp/infra/local/client"
	"github.com/robotmoney/mcp/infra/local/crowd"
	"github.com/robotmoney/mcp/infra/local/stack"
)

// Each agent of a crowd reads its own company's book and no other's, proposes, and
// the company's member decides.
func TestMake(t *testing.T) {
	repo, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	s, err := stack.Start(t.Context(), stack.Options{Repo: repo, Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	made, err := crowd.Make(t.Context(), folder, crowd.Size{Companies: 3, Agents: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != 3 {
		t.Fatalf("%d companies, want 3", len(made))
	}
	use := func(who crowd.Holder, tool string, arguments map[string]any) (ok bool, structured json.RawMessage) {
		t.Helper()
		reply, out, err := client.Client{URL: s.File().MCPURL, Token: who.Token}.Use(t.Context(), tool, arguments)
		if err != nil || reply.Error != nil {
			t.Fatalf("%s %s: %v, %+v", who.ID, tool, err, reply.Error)
		}
		return !out.IsError, out.Structured
	}
	intents := map[string]string{} // by tenant
	for _, c := range made {
		if len(c.Agents) != 2 {
			t.Fatalf("%s has %d agents, want 2", c.Tenant, len(c.Agents))
		}
		for _, agent := range c.Agents {
			if ok, _ := use(agent, "ledger.account.get", map[string]any{"account_id": "acct_gx01"}); !ok {
				t.Errorf("%s does not read its book", agent.ID)
			}
		}
		ok, out := use(c.Agents[0], "payment_intent.propose", map[string]any{
			"action_type": "ach_outbound", "source_account_id": "acct_gx01", "destination_counterparty_id": "cp_gx_azure", "amount": "300.00", "currency": "GBP",
		})
		var intent struct{ ID, Status string }
		if err := json.Unmarshal(out, &intent); err != nil || !ok || intent.Status != "pending_approval" {
			t.Fatalf("%s proposes: %v, %s", c.Tenant, err, out)
		}
		intents[c.Tenant.String()] = intent.ID
	}
	for _, c := range made {
		for of, intent := range intents {
			reader := client.Client{URL: s.File().MCPURL, Token: c.Agents[1].Token}
			reply, err := reader.Call(t.Context(), "resources/read", map[string]any{"uri": "brain://ledger/payment-intents/" + intent})
			if own := of == c.Tenant.String(); err != nil || (reply.Error == nil) != own {
				t.Errorf("%s reads the intent of %s: %v, %+v", c.Tenant, of, err, reply.Error)
			}
		}
		if ok, out := use(c.Member, "proposals.decide", map[string]any{"proposal_id": intents[c.Tenant.String()], "decision": "approve"}); !ok {
			t.Errorf("the member of %s cannot approve: %s", c.Tenant, out)
		}
	}
}
