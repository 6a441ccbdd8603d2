// Package desk has what the benchmarks of the money path need: policies of a
// size, and a count of the calls that a proposal makes.
package desk

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
)

// payees is how many ids a list of a large policy has.
const payees = 1000

// Large is a policy of so many rules as a company may have them: three or four
// conditions each, on amounts, lists of a thousand payees, caps and hours.
func Large(rules int) (policy.Document, error) {
	lists := map[string][]string{}
	for list := range 5 {
		for i := range payees {
			lists[fmt.Sprint("list.", list)] = append(lists[fmt.Sprint("list.", list)], payee(i))
		}
	}
	d := policy.Document{Version: 1, Lists: lists}
	linked := true
	for i := range rules {
		when := policy.When{CounterpartyIn: []string{fmt.Sprint("list.", i%5)}}
		bound := &policy.Sum{Amount: fmt.Sprintf("%d.00", 100+i), Currency: "USD"}
		switch i % 4 {
		case 0:
			when.CounterpartyRisk, when.AmountLTE = "medium", bound
			when.SpendInWindow = &policy.SpendCap{Window: policy.Day, Per: policy.PerAgent, LTE: &policy.Sum{Amount: "25000.00", Currency: "USD"}}
		case 1:
			most := int64(50)
			when.CounterpartyVerified, when.AmountGT = []string{"document_verified"}, bound
			when.CountInWindow = &policy.CountCap{Window: policy.Hour, Per: policy.PerTenant, LTE: &most}
		case 2:
			when.AgentRole, when.ObligationLinked = []string{"ap", fmt.Sprint("r", i)}, &linked
			when.TimeWindow = &policy.Hours{Days: []string{"mon", "tue", "wed", "thu", "fri"}, From: "08:00", To: "18:00", Zone: "Europe/Berlin"}
		case 3:
			when.SourceAccount, when.ActionIn, when.CounterpartyType = []string{"acct_8231", fmt.Sprint("acct_", i)}, []string{"wire", "ach_outbound"}, []string{"vendor", "merchant"}
		}
		d.Rules = append(d.Rules, policy.Rule{
			ID: fmt.Sprint("rule.", i), AppliesTo: []policy.Class{policy.OutboundPayment}, When: when,
			Execute: []policy.Outcome{policy.Auto, policy.Confirm, policy.Reject, policy.Auto}[i/4%4],
		})
	}
	return parsed(d)
}

func payee(i int) string { return fmt.Sprintf("cp_%026d", i) }

// parsed is a document as the register has it: read from its text, which reads
// its sums once.
func parsed(d policy.Document) (policy.Document, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return d, err
	}
	return policy.Parse(raw)
}

// Facts are those of a payment that every rule of a large policy applies to, and
// that is on its lists.
func Facts() (policy.Facts, error) {
	currency, err := money.Parse("USD")
	if err != nil {
		return policy.Facts{}, err
	}
	amount, err := money.ParseAmount("100.00", currency)
	if err != nil {
		return policy.Facts{}, err
	}
	linked := true
	return policy.Facts{
		Class: policy.OutboundPayment, Action: "ach_outbound", Amount: &amount, Agent: policy.Agent{ID: "agt_ap", Role: "ap"},
		Counterparty:  &policy.Counterparty{ID: payee(payees - 100), Type: "vendor", RiskLevel: "medium", VerifiedStatus: "document_verified"},
		SourceAccount: "acct_8231", ObligationLinked: &linked, At: time.Date(2025, 10, 1, 12, 0, 0, 0, time.UTC), Promised: before{amount},
	}, nil
}

// before is what was promised before: the same in every window.
type before struct{ amount money.Amount }

// Spend is one payment.
func (b before) Spend(policy.Per, policy.Window, money.Currency) (money.Amount, bool) {
	return b.amount, true
}

// Count is four.
func (before) Count(policy.Per, policy.Window) (int64, bool) { return 4, true }

// Capped is a policy that lets payments of up to 1,000 USD to one payee pass
// while each agent, the payee and the tenant keep to caps in 24 hours; the
// tenant's is given. So every proposal moves counters that others move too.
func Capped(version int64, payee, tenantCap string) ([]byte, error) {
	cap := func(per policy.Per, amount string) *policy.SpendCap {
		return &policy.SpendCap{Window: policy.Day, Per: per, LTE: &policy.Sum{Amount: amount, Currency: "USD"}}
	}
	rule := func(id string, execute policy.Outcome, when policy.When) policy.Rule {
		when.CounterpartyIn, when.AmountLTE = []string{"payees"}, &policy.Sum{Amount: "1000.00", Currency: "USD"}
		return policy.Rule{ID: id, AppliesTo: []policy.Class{policy.OutboundPayment}, Execute: execute, When: when}
	}
	over := cap(policy.PerTenant, tenantCap)
	over.GT, over.LTE = over.LTE, nil
	return json.Marshal(policy.Document{
		Version: version, Lists: map[string][]string{"payees": {payee}},
		Rules: []policy.Rule{
			rule("tenant", policy.Auto, policy.When{SpendInWindow: cap(policy.PerTenant, tenantCap)}),
			rule("payee", policy.Auto, policy.When{SpendInWindow: cap(policy.PerCounterparty, "100000000.00")}),
			rule("agent", policy.Auto, policy.When{SpendInWindow: cap(policy.PerAgent, "100000000.00")}),
			rule("over", policy.Reject, policy.When{SpendInWindow: over}),
		},
	})
}
