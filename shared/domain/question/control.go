package question

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// policy answers what the policy allows, or what it says of one payment.
func (x *execution) policy(ctx context.Context) (string, error) {
	if x.policies == nil {
		return "", unanswered("No policy can be read here.")
	}
	items, err := x.store.GetMany(ctx, charter.Keys(x.tenant))
	if err != nil {
		return "", err
	}
	active, err := x.policies.Load(ctx, x.tenant, items)
	if err != nil {
		return "", err
	}
	if active.Invalid != "" {
		return "", unanswered("No policy is in force, and everything is denied: %s.", active.Invalid)
	}
	x.citeAs(1, "policy", fmt.Sprintf("policy_v%d", active.Version), fmt.Sprintf("version %d, %d rules", active.Version, len(active.Document.Rules)))
	if x.plan.Filters.Amount != "" {
		return x.ruling(ctx, active)
	}
	var lines []string
	for _, r := range active.Document.Rules {
		line := fmt.Sprintf("- %s: %s", fence.Text(r.ID), outcomes[r.Execute])
		if len(r.Require) > 0 {
			line += " of " + people(r.Require)
		}
		if r.Description != "" {
			line += ". " + fence.Text(r.Description)
		}
		lines = append(lines, line)
	}
	return fmt.Sprintf("Version %d of the policy has %s. Every one is judged, and the strictest that matches wins:\n%s", active.Version, plural(len(lines), "rule", "rules"), strings.Join(lines, "\n")), nil
}

// outcomes are what rules do, in words.
var outcomes = map[policy.Outcome]string{policy.Auto: "runs without a person", policy.Confirm: "needs approval", policy.Reject: "is rejected"}

// people are the roles a rule requires, in words: two approvers, an admin.
func people(roles []string) string {
	counts := map[string]int{}
	var order []string
	for _, r := range roles {
		if counts[r]++; counts[r] == 1 {
			order = append(order, r)
		}
	}
	var parts []string
	words := []string{"no", "an", "two", "three", "four", "five"}
	for _, r := range order {
		article, n := "", counts[r]
		switch {
		case n == 1 && r == policy.RoleSigner:
			article = "a"
		case n < len(words):
			article = words[n]
		default:
			article = fmt.Sprint(n)
		}
		text := article + " " + r
		if n > 1 {
			text += "s"
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "a person"
	}
	return enumerate(parts)
}

// anybody is an agent no rule names: ids have another form.
const anybody = "-"

// unpromised says that nothing else was promised in any window.
type unpromised struct{}

func (unpromised) Spend(_ policy.Per, _ policy.Window, c money.Currency) (money.Amount, bool) {
	return money.Zero(c), true
}
func (unpromised) Count(policy.Per, policy.Window) (int64, bool) { return 0, true }

// ruling answers what the policy would say of a payment. It decides nothing: the
// proposal is judged when it is made, by what is promised then.
func (x *execution) ruling(ctx context.Context, active charter.Active) (string, error) {
	f := x.plan.Filters
	if err := x.exist(ctx, Filters{CounterpartyID: f.CounterpartyID}); err != nil {
		return "", err
	}
	sum, err := money.Written{Amount: f.Amount, Currency: f.Currency}.Read()
	if err != nil {
		return "", err
	}
	found, err := x.names(ctx, f.CounterpartyID)
	if err != nil {
		return "", err
	}
	payee := found[f.CounterpartyID]
	linked := false
	verdict := active.Evaluate(policy.Facts{
		Class: policy.OutboundPayment, Action: string(payments.ACHOutbound), Amount: &sum, At: x.asOf, Agent: policy.Agent{ID: anybody}, Promised: unpromised{}, ObligationLinked: &linked,
		Counterparty: &policy.Counterparty{ID: payee.ID, Type: payee.Type, RiskLevel: payee.RiskLevel, VerifiedStatus: payee.VerifiedStatus},
	})
	said := "would be rejected"
	switch {
	case verdict.Outcome == policy.Auto:
		said = "would run without a person's approval"
	case verdict.Outcome == policy.Confirm:
		said = "must be approved by " + people(verdict.Approvers)
	case len(verdict.Matched) == 0:
		said = "would be rejected: no rule allows it"
	}
	if len(verdict.Matched) > 0 {
		said += ", by the rules " + quoted(verdict.Matched)
	}
	return fmt.Sprintf("A payment of %s to %s %s. This is version %d of the policy for a bank payment when nothing else was promised before; the proposal itself is judged when it is made.",
		spell(sum), x.party, said, active.Version), nil
}

// maxFeed is how many proposals are looked at.
const maxFeed = listing.MaxExamined

// waiting answers what people have not decided yet: proposals, and promises
// asked for ahead of one.
func (x *execution) waiting(ctx context.Context) (string, error) {
	list, whole, err := x.cases(ctx, func(c proposals.Case) bool {
		return c.Status == proposals.Pending || c.Status == proposals.AwaitingSecond
	})
	if err != nil {
		return "", err
	}
	note := ""
	if !whole {
		note = fmt.Sprintf("\nOnly the newest %d were looked at.", maxFeed)
	}
	if len(list) == 0 {
		return "Nothing is waiting for approval." + note, nil
	}
	lines, err := x.tellCases(ctx, list)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s for approval:\n%s", plural(len(list), "proposal is waiting", "proposals are waiting"), strings.Join(lines, "\n")) + note, nil
}

// proposals answers what agents proposed lately.
func (x *execution) proposals(ctx context.Context) (string, error) {
	list, _, err := x.cases(ctx, func(c proposals.Case) bool {
		p := x.plan.Period
		return p == nil || len(c.CreatedAt) >= len("2006-01-02") && x.local(c.CreatedAt) >= p.From && x.local(c.CreatedAt) < p.Until
	})
	if err != nil {
		return "", err
	}
	in := ""
	if x.plan.Period != nil {
		in = " " + x.plan.Period.in()
	}
	if len(list) == 0 {
		return fmt.Sprintf("Agents proposed nothing%s up to %s.", in, x.day), nil
	}
	shown := list[:min(len(list), x.plan.Limit)]
	lines, err := x.tellCases(ctx, shown)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("The %s by agents%s up to %s:\n%s", plural(len(shown), "newest proposal", "newest proposals"), in, x.day, strings.Join(lines, "\n")), nil
}

// local is the day of a moment in the tenant's time zone.
func (x *execution) local(moment string) string {
	return strings.TrimPrefix(x.dated(moment), " as of ")
}

// cases are the proposals up to the day, the newest first, and authorizations
// that wait.
func (x *execution) cases(ctx context.Context, keep func(proposals.Case) bool) ([]proposals.Case, bool, error) {
	until := x.midnight().UTC().Format(audit.TimeForm)
	queries := []record.Query{{Index: 3, PK: key.Feed(x.tenant, "", "").PK, To: until, Reverse: true}}
	if x.plan.Measure == Waiting {
		queries = append(queries, record.Query{Index: 1, PK: key.LedgerList(x.tenant, id.Authorization, "", "").PK, To: until, Reverse: true})
	}
	var list []proposals.Case
	for _, q := range queries {
		examined := 0
		for {
			q.Limit = min(200, maxFeed-examined)
			page, err := x.store.Query(ctx, q)
			if err != nil {
				return nil, false, err
			}
			examined += len(page.Items)
			for _, item := range page.Items {
				c, err := proposals.Decode(item)
				if err != nil {
					return nil, false, err
				}
				if keep(c) {
					list = append(list, c)
				}
			}
			if q.After = page.Next; page.Next == nil {
				break
			}
			if examined >= maxFeed {
				return list, false, nil
			}
		}
	}
	return list, true, nil
}

func (x *execution) tellCases(ctx context.Context, list []proposals.Case) ([]string, error) {
	var parties []string
	for _, c := range list {
		if c.Payment != nil {
			parties = append(parties, c.DestinationCounterpartyID)
		}
	}
	names, err := x.names(ctx, parties...)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, c := range list[:min(len(list), maxTransactions)] {
		what := ""
		switch {
		case c.Payment != nil:
			a, err := amount(c.Amount, c.Currency)
			if err != nil {
				return nil, fmt.Errorf("proposal %s: %w", c.ID, err)
			}
			what = fmt.Sprintf("%s %s to %s", c.ActionType, spell(a), partyName(names, c.DestinationCounterpartyID))
		case c.Action != nil:
			what = fence.Text(c.Action.Kind)
			var fields map[string]json.RawMessage
			if json.Unmarshal(c.Action.Fields, &fields) == nil && len(fields["summary"]) > 0 {
				what += " " + fence.Text(strings.Trim(string(fields["summary"]), `"`))
			}
		}
		status := strings.ReplaceAll(string(c.Status), "_", " ")
		if approvers := c.Standing.Ruling.Approvers; len(approvers) > 0 && (c.Status == proposals.Pending || c.Status == proposals.AwaitingSecond) {
			status += ", needs " + people(approvers)
		}
		lines = append(lines, fmt.Sprintf("- %s: %s, by `%s` on %s (`%s`)", what, status, c.AgentID, x.local(c.CreatedAt), c.ID))
		kind := "proposal"
		if c.Payment != nil {
			kind = "payment_intent"
		}
		x.citeAs(1, kind, c.ID, what+", "+strings.ReplaceAll(string(c.Status), "_", " "))
	}
	return lines, nil
}
