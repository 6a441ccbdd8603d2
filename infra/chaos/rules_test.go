package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/journal/checker"
	"github.com/robotmoney/mcp/shared/domain/rollups"
)

// world is what clients were told and what there is, made up and in order.
type world struct {
	deeds []Deed
	books Books
}

func once(outcome Outcome, request string) []Try {
	return []Try{{Outcome: outcome, RequestID: request}}
}

// event adds an event to the journal and to the bus.
func (w *world) event(action, actor, request, subject, decision string) {
	e := Event{ID: fmt.Sprintf("evt_%d", len(w.books.Events)), Action: action, Actor: actor, RequestID: request, Subject: subject, Decision: decision}
	w.books.Events, w.books.Published = append(w.books.Events, e), append(w.books.Published, e)
	w.books.Journal.Entries++
}

// refusal adds the event of a request that was refused.
func (w *world) refusal(request string) {
	w.event("agent.mcp.tool_called", "agt_a", request, "", "")
	w.books.Events[len(w.books.Events)-1].Code = "dependency_unavailable"
}

// propose adds an intent with its deed and events.
func (w *world) propose(n int, told, is, rule string, amount cents, approvers ...string) {
	key, id, request := fmt.Sprintf("chaos-x-propose-%d", n), fmt.Sprintf("pi_%d", n), fmt.Sprintf("r%d", n)
	w.deeds = append(w.deeds, Deed{Fault: "x", Kind: Propose, Tenant: "acme", Caller: "agt_a", Key: key, Amount: amount, Tries: once(Acknowledged, request), ID: id, Status: told})
	w.books.Intents = append(w.books.Intents, Intent{ID: id, Agent: "agt_a", Memo: key, Status: is, Amount: amount, Rule: rule, Approvals: approvers})
	w.event("payment_intent.proposed", "agt_a", request, id, "")
	w.event("agent.mcp.tool_called", "agt_a", request, "", "")
	for _, member := range approvers {
		request += "d"
		w.deeds = append(w.deeds, Deed{Fault: "x", Kind: Approve, Tenant: "acme", Caller: member, Key: key + "-" + member, Target: id, Tries: once(Acknowledged, request), Status: "approved"})
		w.event("proposal.decided", member, request, id, "approve")
		w.event("agent.mcp.tool_called", member, request, "", "")
	}
	p := w.books.Promised["agt_a"]
	if !slices.Contains(ended, is) {
		p.Day += amount
	}
	if is == "pending_approval" {
		p.Open++
	}
	w.books.Promised["agt_a"] = p
	if is == "executed" {
		w.event("payment_intent.approved", "agt_a", request, id, "")
		w.event("payment_intent.execute.before", "execute", "", id, "")
		w.event("payment_intent.execute.after", "execute", "", id, "")
		w.books.Executions = append(w.books.Executions, Execution{"exec_" + key, id, "settled"})
		w.books.Payments = append(w.books.Payments, Payment{"tx_" + key, id, amount})
		w.books.Transfers = append(w.books.Transfers, Transfer{Intent: id, Amount: amount, Orders: 2})
		w.books.Proofs[id] = ""
		w.books.After -= amount
	}
}

// sound is a world in which every rule holds.
func sound() *world {
	w := &world{books: Books{Tenant: "acme", Promised: map[string]Promised{}, Proofs: map[string]string{}, Before: 1_000_000_00, After: 1_000_000_00}}
	for n := range 5 {
		w.propose(n, "approved", "executed", automatic, 4_900_00+cents(n))
	}
	w.propose(5, "pending_approval", "executed", "large-trusted", 7_000_00, "mbr_ada")
	w.propose(6, "pending_approval", "pending_approval", "window-full", 3_000_00)
	w.propose(7, "pending_approval", "cancelled", "large-trusted", 8_000_00)
	w.deeds = append(w.deeds,
		Deed{Fault: "x", Kind: Cancel, Tenant: "acme", Caller: "agt_a", Key: "chaos-x-cancel-1", Target: "pi_7", Tries: once(Acknowledged, "c1"), Status: "cancelled", ID: "pi_7"},
		Deed{Fault: "x", Kind: Contribute, Tenant: "acme", Caller: "agt_b", Key: "chaos-x-contribute-1", SHA256: "aa", Rows: 2, Tries: once(Acknowledged, "k1"), ID: "raw_1"},
		Deed{Fault: "x", Kind: Propose, Tenant: "acme", Caller: "agt_a", Key: "chaos-x-propose-90", Amount: 100, Tries: []Try{{Outcome: Refused, Code: "auth_token_expired", RequestID: "r90"}}},
		Deed{Fault: "x", Kind: Propose, Tenant: "acme", Caller: "agt_a", Key: "chaos-x-propose-91", Amount: 100, Tries: once(Unknown, "")},
	)
	// A reply was lost behind an answer that says so: what it did is told, and the refusal.
	w.deeds[0].Tries = append([]Try{{Outcome: Open, Code: "dependency_unavailable", RequestID: "r92"}}, w.deeds[0].Tries...)
	w.refusal("r90")
	w.event("agent.mcp.tool_called", "agt_a", "c1", "", "")
	w.event("agent.mcp.tool_called", "agt_b", "k1", "", "")
	w.books.Artifacts = []Artifact{{"raw_1", "aa", "extracted"}}
	w.books.Rows = []Row{{"tx_r1", "chaos-x-contribute-1"}, {"tx_r2", "chaos-x-contribute-1"}}
	w.books.Letters = []Letter{{Queue: "OutboxDeadLetters", From: "OutboxFunctionSchedule", Reason: "exit status 2"}}
	return w
}

// drop takes out of a list what holds.
func drop[T any](list *[]T, holds func(T) bool) { *list = slices.DeleteFunc(*list, holds) }

func TestSound(t *testing.T) {
	w := sound()
	for _, v := range judgeAll(w.deeds, []Books{w.books}) {
		t.Error(v)
	}
}

// about are the events of an action about a subject.
func about(subject, action string) func(Event) bool {
	return func(e Event) bool { return e.Subject == subject && e.Action == action }
}

// broken are worlds that are sound but for one thing, and what the rule that is
// there for it says of it.
var broken = map[string]struct {
	rule, found string
	change      func(*world)
}{
	"an acknowledged payment is lost": {"there", "0:", func(w *world) { drop(&w.books.Intents, func(i Intent) bool { return i.ID == "pi_6" }) }},
	"an acknowledged payment is twice": {"there", "2:", func(w *world) {
		w.books.Intents = append(w.books.Intents, Intent{ID: "pi_66", Agent: "agt_a", Memo: "chaos-x-propose-6", Status: "pending_approval"})
	}},
	"another id was told": {"there", "1: pi_6", func(w *world) {
		w.deeds[slices.IndexFunc(w.deeds, func(d Deed) bool { return d.ID == "pi_6" })].ID = "pi_60"
	}},
	"a refused payment is there": {"there", "1: pi_90", func(w *world) {
		w.books.Intents = append(w.books.Intents, Intent{ID: "pi_90", Memo: "chaos-x-propose-90", Status: "rejected"})
	}},
	"a payment without a reply is twice": {"there", "2:", func(w *world) {
		for _, id := range []string{"pi_911", "pi_912"} {
			w.books.Intents = append(w.books.Intents, Intent{ID: id, Memo: "chaos-x-propose-91", Status: "rejected"})
		}
	}},
	"a payment of nobody": {"there", "none", func(w *world) {
		w.books.Intents = append(w.books.Intents, Intent{ID: "pi_99", Memo: "chaos-x-propose-99", Status: "rejected"})
	}},
	"an approved payment was rejected": {"state", "rejected", func(w *world) { w.books.Intents[0].Status = "rejected" }},
	"a cancelled payment was executed": {"state", "executed", func(w *world) { w.books.Intents[7].Status = "executed" }},
	"an approval is lost":              {"decided", "approved by []", func(w *world) { w.books.Intents[5].Approvals = nil }},
	"an approval is twice":             {"decided", "[mbr_ada mbr_ada]", func(w *world) { w.books.Intents[5].Approvals = []string{"mbr_ada", "mbr_ada"} }},
	"a decision is told of twice":      {"decided", "2", func(w *world) { w.event("proposal.decided", "mbr_ada", "", "pi_5", "approve") }},
	"a refused decision is told of": {"decided", "1", func(w *world) {
		w.deeds = append(w.deeds, Deed{Kind: Reject, Tenant: "acme", Caller: "mbr_vic", Key: "chaos-x-reject-1", Target: "pi_6", Tries: []Try{{Outcome: Refused, Code: ofTheTool}}})
		w.event("proposal.decided", "mbr_vic", "", "pi_6", "reject")
	}},
	"a decision is not told of":        {"decided", "0", func(w *world) { drop(&w.books.Events, about("pi_5", "proposal.decided")) }},
	"a cancellation is lost":           {"decided", "pending_approval", func(w *world) { w.books.Intents[7].Status = "pending_approval" }},
	"a payment is stuck":               {"settled", "approved", func(w *world) { w.books.Intents[0].Status = "approved" }},
	"an execution is stuck":            {"settled", "dispatched", func(w *world) { w.books.Executions[0].State = "dispatched" }},
	"an event waits":                   {"settled", "outbox", func(w *world) { w.books.Outbox = []string{"evt_1"} }},
	"a payment is in the ledger twice": {"paid", "2 of 9800.00", func(w *world) { w.books.Payments = append(w.books.Payments, Payment{"tx_again", "pi_0", 4_900_00}) }},
	"a payment is not in the ledger":   {"paid", "0 of 0.00", func(w *world) { w.books.Payments = w.books.Payments[1:] }},
	"a payment of another amount":      {"paid", "1 of 4900.01", func(w *world) { w.books.Payments[0].Amount++ }},
	"a payment of no intent":           {"paid", "none", func(w *world) { w.books.Payments = append(w.books.Payments, Payment{"tx_none", "pi_none", 1}) }},
	"paid although cancelled":          {"paid", "1 of 8000.00", func(w *world) { w.books.Payments = append(w.books.Payments, Payment{"tx_7", "pi_7", 8_000_00}) }},
	"executed twice":                   {"paid", "2", func(w *world) { w.books.Executions = append(w.books.Executions, w.books.Executions[0]) }},
	"dispatched twice":                 {"paid", "2", func(w *world) { w.event("payment_intent.execute.before", "execute", "", "pi_0", "") }},
	"the bank paid twice":              {"bank", "2 of 9800.00", func(w *world) { w.books.Transfers = append(w.books.Transfers, w.books.Transfers[0]) }},
	"the bank did not pay":             {"bank", "0 of 0.00", func(w *world) { w.books.Transfers = w.books.Transfers[1:] }},
	"the bank paid what was taken back": {"bank", "1 of 8000.00", func(w *world) {
		w.books.Transfers = append(w.books.Transfers, Transfer{Intent: "pi_7", Amount: 8_000_00})
	}},
	"the bank paid for nobody":                     {"bank", "none", func(w *world) { w.books.Transfers = append(w.books.Transfers, Transfer{Intent: "pi_none", Amount: 1}) }},
	"the bank was told another amount":             {"bank", "1.00 of pi_0", func(w *world) { w.books.Transfers[0].Another = "1.00 of pi_0" }},
	"money is gone":                                {"money", "", func(w *world) { w.books.After-- }},
	"money is held":                                {"money", "0.01", func(w *world) { w.books.Held = 1 }},
	"the cap is passed":                            {"caps", "25000.01 with pi_8", func(w *world) { w.propose(8, "approved", "executed", automatic, 499_91) }},
	"one payment is over its limit":                {"caps", "5000.01", func(w *world) { w.books.Intents[0].Amount = 5_000_01 }},
	"paid without people by another rule":          {"caps", "none", func(w *world) { w.books.Intents[0].Rule = "large-trusted" }},
	"a promise is forgotten":                       {"promises", "", func(w *world) { p := w.books.Promised["agt_a"]; p.Day--; w.books.Promised["agt_a"] = p }},
	"a waiting proposal is forgotten":              {"promises", "0 open", func(w *world) { p := w.books.Promised["agt_a"]; p.Open = 0; w.books.Promised["agt_a"] = p }},
	"an artifact is lost":                          {"artifacts", "0:", func(w *world) { w.books.Artifacts = nil }},
	"an artifact is twice":                         {"artifacts", "2:", func(w *world) { w.books.Artifacts = append(w.books.Artifacts, Artifact{"raw_2", "aa", "extracted"}) }},
	"an artifact is not extracted":                 {"artifacts", "accepted", func(w *world) { w.books.Artifacts[0].State = "accepted" }},
	"a row is twice":                               {"artifacts", "3", func(w *world) { w.books.Rows = append(w.books.Rows, Row{"tx_r3", "chaos-x-contribute-1"}) }},
	"a row is lost":                                {"artifacts", "1", func(w *world) { w.books.Rows = w.books.Rows[:1] }},
	"the chain is broken":                          {"chain", "gap at 3", func(w *world) { w.books.Journal.Fault = &checker.Fault{Seq: 3, Kind: checker.Gap} }},
	"a request is not recorded":                    {"recorded", "0, and 0", func(w *world) { w.books.Events[1].RequestID = "other" }},
	"a request is recorded twice":                  {"recorded", "2, and 0", func(w *world) { w.event("agent.mcp.tool_called", "agt_a", "r0", "", "") }},
	"what was acknowledged is recorded as refused": {"recorded", "1, and 1", func(w *world) { w.refusal("r0") }},
	"a refusal is recorded as done":                {"recorded", "1, and 1 of a refusal", func(w *world) { w.event("agent.mcp.tool_called", "agt_a", "r90", "", "") }},
	"a refusal is recorded twice":                  {"recorded", "0, and 2", func(w *world) { w.refusal("r90") }},
	"what is open is done twice": {"recorded", "2, and 1", func(w *world) {
		w.refusal("r92")
		w.event("agent.mcp.tool_called", "agt_a", "r92", "", "")
		w.event("agent.mcp.tool_called", "agt_a", "r92", "", "")
	}},
	"an event is not in the journal":   {"published", "0", func(w *world) { w.books.Published = append(w.books.Published, Event{ID: "evt_lost"}) }},
	"an event is in the journal twice": {"published", "2", func(w *world) { w.books.Events = append(w.books.Events, w.books.Events[0]) }},
	"an entry was never on the bus":    {"published", "none", func(w *world) { w.books.Published = w.books.Published[1:] }},
	"a proposal is told of twice":      {"told", "2", func(w *world) { w.event("payment_intent.proposed", "agt_a", "", "pi_0", "") }},
	"an approval is not told of":       {"told", "0", func(w *world) { drop(&w.books.Events, about("pi_0", "payment_intent.approved")) }},
	"rollups differ":                   {"rollups", "the rows come to", func(w *world) { w.books.Rollups.Difference = &rollups.Difference{} }},
	"a proof does not hold":            {"proofs", "path", func(w *world) { w.books.Proofs["pi_0"] = "path" }},
	"a proof is missing":               {"proofs", "none was read", func(w *world) { delete(w.books.Proofs, "pi_0") }},
	"a message was given up": {"letters", "dispatching", func(w *world) {
		w.books.Letters = append(w.books.Letters, Letter{"ExecuteDeadLetters", "ExecuteQueue", "dispatching", "{}"})
	}},
}

func TestBroken(t *testing.T) {
	for name, c := range broken {
		t.Run(name, func(t *testing.T) {
			w := sound()
			c.change(w)
			all := judgeAll(w.deeds, []Books{w.books})
			if !slices.ContainsFunc(all, func(v Violation) bool { return v.Rule == c.rule && strings.Contains(v.Found, c.found) }) {
				t.Errorf("the rule %s does not find %q: %v", c.rule, c.found, all)
			}
		})
	}
}

// A rule that no world breaks may as well say nothing.
func TestEveryRuleIsBroken(t *testing.T) {
	for _, r := range rules {
		is := false
		for _, c := range broken {
			is = is || c.rule == r.name
		}
		if !is {
			t.Errorf("no world breaks the rule %s", r.name)
		}
	}
}
