package brain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

// deciding are the tools that are for people, with arguments that a member could
// send.
var deciding = []struct{ tool, arguments string }{
	{"proposals.decide", `{"proposal_id":"$pi","decision":"approve"}`},
	{"proposals.decide", `{"proposal_id":"$pi","decision":"reject"}`},
	{"authorizations.approve", `{"authorization_id":"$authz"}`},
	{"authorizations.reject", `{"authorization_id":"$authz"}`},
}

// waiting makes an intent and an authorization that wait for people.
func (o *office) waiting(t *testing.T) map[string]string {
	t.Helper()
	intent, _ := o.does(t, staff(t, "acme", "agt_1"), "payment_intent.propose", `{`+pays+`,"amount":"150.00"}`)
	authorization, _ := o.does(t, staff(t, "acme", "agt_1"), "authorizations.create", `{`+pays+`,"amount":"150.00","purpose":"x"}`)
	return map[string]string{"pi": intent["id"].(string), "authz": authorization["id"].(string)}
}

// An agent decides nothing, whatever scopes it has, and hears so before its
// scopes, its arguments or what they name are looked at.
func TestAgentsDecideNothing(t *testing.T) {
	o := newOffice(t)
	ids := o.waiting(t)
	for _, scopes := range []identity.Scopes{identity.AllScopes, {identity.IntentApprove}, {identity.LedgerRead}, {}} {
		agent := staff(t, "acme", "agt_1")
		agent.Scopes = scopes
		for _, c := range deciding {
			for _, tool := range []string{c.tool, strings.ReplaceAll(c.tool, ".", "_")} {
				for _, arguments := range []string{filled(c.arguments, ids), `{}`, `[]`, `{"proposal_id":"pi_none"}`} {
					got := o.call(t, agent, tool, arguments)
					if got.status != 403 || got.Error == nil || got.Error.Data.Code != "actor_unresolved" || got.Result != nil {
						t.Errorf("%s %s with %v: %d %s", tool, arguments, scopes, got.status, got.body)
					}
				}
			}
		}
	}
	for tool, arguments := range map[string]string{"proposals.get": `{"proposal_id":"$pi"}`, "authorizations.get": `{"authorization_id":"$authz"}`} {
		if got, _ := o.does(t, staff(t, "acme", "mbr_ada"), tool, filled(arguments, ids)); got["status"] != "pending_approval" {
			t.Errorf("%s after agents decided: %v", tool, got["status"])
		}
	}
	// The tool itself holds too, without the dispatcher before it.
	for _, c := range deciding {
		_, _, err := use(t, named(t, o.tools, c.tool), staff(t, "acme", "agt_1"), filled(c.arguments, ids))
		same(t, c.tool, fault.Of(err).Code, fault.ActorUnresolved)
	}
}

// A member's decision about a proposal takes the scope to approve or the one to
// read what waits; about an authorization the first alone.
func TestScopesOfDecisions(t *testing.T) {
	o := newOffice(t)
	for _, c := range []struct {
		scopes             identity.Scopes
		proposal, authored bool
	}{
		{identity.Scopes{identity.IntentApprove}, true, true},
		{identity.Scopes{identity.ExecutionRead}, true, false},
		{identity.Scopes{identity.ExecutionRead, identity.IntentApprove}, true, true},
		{identity.Scopes{identity.LedgerRead, identity.IntentPropose, identity.ExecutionPropose}, false, false},
		{nil, false, false},
	} {
		member := staff(t, "acme", "mbr_ada")
		member.Scopes = c.scopes
		for _, d := range deciding {
			allowed := c.authored
			if d.tool == "proposals.decide" {
				allowed = c.proposal
			}
			got := o.call(t, member, d.tool, `{"proposal_id":"pi_none","authorization_id":"authz_none","decision":"approve"}`)
			if through := got.status == 200 && got.Result != nil && got.Result.IsError; through != allowed {
				t.Errorf("%s with %v: %d %s", d.tool, c.scopes, got.status, got.body)
			}
			if !allowed && (got.status != 403 || got.Error.Data.Code != "auth_scope_insufficient") {
				t.Errorf("%s without the scope: %d %s", d.tool, got.status, got.body)
			}
		}
	}
}

// A member hears what keeps them from deciding as a result that a model can act
// on, and never as an error of the protocol.
func TestRefusedDecisions(t *testing.T) {
	o := newOffice(t)
	ids := o.waiting(t)
	for _, c := range []struct {
		name   string
		member func(*identity.MemberRecord)
		says   string
	}{
		{"a viewer", func(m *identity.MemberRecord) { m.Role = identity.Viewer }, "viewers decide nothing"},
		{"of another field", func(m *identity.MemberRecord) { m.Domains = []identity.Domain{identity.Treasury} }, "approval domains"},
		{"without a limit", func(m *identity.MemberRecord) { m.Limits = nil }, "over the member's limit"},
		{"who is not active", func(m *identity.MemberRecord) { m.Status = identity.Deactivated }, "not active"},
	} {
		member := staff(t, "acme", "mbr_ada")
		c.member(member.Member)
		for _, d := range deciding[:3] {
			if c.name == "without a limit" && strings.Contains(d.arguments, "reject") {
				continue // a rejection moves nothing
			}
			got := o.call(t, member, d.tool, filled(d.arguments, ids))
			if got.status != 200 || got.Result == nil || !got.Result.IsError || got.Result.StructuredContent != nil || !strings.Contains(got.Result.Content[0].Text, c.says) {
				t.Errorf("%s, %s: %d %s", c.name, d.tool, got.status, got.body)
			}
		}
	}
	foreign := o.call(t, staff(t, "globex", "mbr_gil"), "proposals.decide", filled(deciding[0].arguments, ids))
	missing := o.call(t, staff(t, "globex", "mbr_gil"), "proposals.decide", `{"proposal_id":"pi_none","decision":"approve"}`)
	same(t, "another tenant's and none", string(foreign.body), string(missing.body))
	changed := o.call(t, staff(t, "acme", "mbr_ada"), "proposals.decide", fmt.Sprintf(`{"proposal_id":%q,"decision":"approve","proposal_hash":"%064d"}`, ids["pi"], 0))
	if changed.Result == nil || !changed.Result.IsError || !strings.Contains(changed.Result.Content[0].Text, "not what was shown") {
		t.Errorf("another hash: %s", changed.body)
	}
}

// What sounds like a way past the people is no tool.
func TestNoToolExecutes(t *testing.T) {
	o := newOffice(t)
	for _, name := range []string{
		"payment_intent.execute", "payment_intent.approve", "payment_intent.dispatch", "payment_intent.settle", "payment_intent.pay", "payment_intent.pause", "payment_intent.resume", "payment_intent.release",
		"payment_intent.reject", "payment_intent.update", "proposals.execute", "proposals.approve", "proposals.dispatch", "authorizations.consume", "authorizations.execute", "authorizations.revoke", "agent.action.execute",
		"execution.run", "execution.dispatch", "execute", "rail.send", "bank.transfer", "onchain.transfer", "policy.activate", "policy.set", "member.invite", "agent.quarantine",
		"payment_intent.propose.execute", "Payment_Intent.Propose", "payment_intent..propose", " payment_intent.propose", "",
	} {
		for _, spelled := range []string{name, strings.ReplaceAll(name, ".", "_"), strings.ToUpper(name)} {
			for _, who := range []string{"agt_1", "mbr_ada"} {
				got := o.call(t, staff(t, "acme", who), spelled, `{`+pays+`,"amount":"1.00"}`)
				if got.Error == nil || got.Error.Data.Code != string(rpc.ToolNotFound) {
					t.Errorf("%q: %d %s", spelled, got.status, got.body)
				}
			}
		}
	}
}
