package proposals

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Rehearsed is a past proposal under a policy that is not in force: what was
// decided when it was made, and what this policy would have decided.
type Rehearsed struct {
	ID         string         `json:"id"`
	ActionType string         `json:"action_type"` // of a payment; the kind of another action
	AgentID    string         `json:"agent_id"`
	Payee      string         `json:"destination_counterparty_id,omitempty"`
	Amount     string         `json:"amount,omitempty"` // decimal in Currency; none where no money moves
	Currency   string         `json:"currency,omitempty"`
	At         string         `json:"created_at"`
	Then       policy.Outcome `json:"then"`
	Version    int64          `json:"then_version"` // of the policy that decided
	Now        policy.Outcome `json:"now"`
	Rules      []string       `json:"now_rules"` // those that decide; none where no rule allows it
	Approvers  []string       `json:"now_required_approvers"`
	HumanFloor bool           `json:"now_human_floor"` // a person must approve although the policy would not ask for one
}

// Changed says whether the policy would have decided otherwise.
func (r Rehearsed) Changed() bool { return r.Then != r.Now }

// longest is the longest window a cap may look back over.
const longest = 30 * 24 * time.Hour

// Rehearse judges the proposals of a tenant that were made in a time, the oldest
// first, by a document that need not be in force, and changes nothing. Each is
// judged by the ledger facts that its own decision kept, at its own instant, and
// against caps as they would have stood: by what this policy would have let pass
// or wait before, in exact windows, given back when it ended without a payment.
// What came before the time counts too, as far as a window reaches. left is how many
// proposals no decision was kept of, so that nothing can be said about them.
func (d *Desk) Rehearse(ctx context.Context, t identity.Tenant, document policy.Document, from, until time.Time, see func(Rehearsed)) (left int, err error) {
	cases, err := d.past(ctx, t, from.Add(-longest), until)
	if err != nil {
		return 0, err
	}
	var promised rehearsal
	for _, c := range cases {
		first, err := d.first(ctx, t, c)
		if err != nil {
			return left, err
		}
		if first == nil {
			left++
			continue
		}
		out, err := promised.judge(t, c, *first, document)
		if err != nil {
			return left, fmt.Errorf("rehearse %s: %w", c.ID, err)
		}
		if c.kind() != id.Authorization && out.At >= stamp(from) {
			see(out)
		}
	}
	return left, nil
}

// past are the cases made in a time, the oldest first.
func (d *Desk) past(ctx context.Context, t identity.Tenant, from, until time.Time) ([]Case, error) {
	var all []Case
	for _, q := range []record.Query{
		{Index: 3, PK: key.Feed(t, "", "").PK}, {Index: 1, PK: key.LedgerList(t, id.Authorization, "", "").PK},
	} {
		for q.From, q.To = stamp(from), stamp(until); ; {
			page, err := d.Store.Query(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, item := range page.Items {
				c, err := Decode(item)
				if err != nil {
					return nil, err
				}
				all = append(all, c)
			}
			if q.After = page.Next; page.Next == nil {
				break
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Case) int { return strings.Compare(a.CreatedAt, b.CreatedAt) })
	return all, nil
}

// first is the decision that was made when a case was, nil for none.
func (d *Desk) first(ctx context.Context, t identity.Tenant, c Case) (*Decision, error) {
	page, err := d.Store.Query(ctx, record.Query{PK: key.Ledger(t, c.kind(), c.ID).PK, Prefix: key.DecisionPrefix})
	if err != nil {
		return nil, err
	}
	var earliest *Decision
	for _, item := range page.Items {
		var made Decision
		if err := json.Unmarshal(item.Body, &made); err != nil {
			return nil, fmt.Errorf("decode a decision about %s: %w", c.ID, err)
		}
		if earliest == nil || made.CreatedAt < earliest.CreatedAt {
			earliest = &made
		}
	}
	return earliest, nil
}

func stamp(at time.Time) string { return at.UTC().Format(audit.TimeForm) }

// rehearsal is what would have been promised so far.
type rehearsal struct{ holds []rehearsedHold }

type rehearsedHold struct {
	id        string // of the case
	of        allowance.Subject
	amount    *money.Amount
	at, until time.Time // until is when it was given back; zero for never
}

// judge decides about a case as it would have been, and keeps what it would
// have promised.
func (h *rehearsal) judge(t identity.Tenant, c Case, then Decision, document policy.Document) (Rehearsed, error) {
	at, err := time.Parse(time.RFC3339, then.CreatedAt)
	if err != nil {
		return Rehearsed{}, err
	}
	amount, err := c.amount()
	if err != nil {
		return Rehearsed{}, err
	}
	r := reading{now: at, policy: charter.Active{Document: document}}
	if err := json.Unmarshal(then.Facts, &r.facts); err != nil {
		return Rehearsed{}, fmt.Errorf("the facts of its decision: %w", err)
	}
	// What no window reaches any more is forgotten, and an authorization gives back
	// its promise to what uses it.
	h.holds = slices.DeleteFunc(h.holds, func(hold rehearsedHold) bool { return at.Sub(hold.at) >= longest })
	without := slices.DeleteFunc(slices.Clone(h.holds), func(hold rehearsedHold) bool { return c.AuthorizationID != nil && hold.id == *c.AuthorizationID })
	verdict := r.evaluate(t, c, amount, rehearsedBook{without, c.subject(t), at})
	out := Rehearsed{
		ID: c.ID, AgentID: c.AgentID, At: c.CreatedAt, Then: then.Outcome, Version: then.PolicyVersion,
		Now: verdict.Outcome, Rules: []string{}, Approvers: verdict.Approvers,
	}
	for _, rule := range verdict.Trace {
		if rule.Rule != "" && rule.Matched && rule.Execute == verdict.Outcome {
			out.Rules = append(out.Rules, rule.Rule)
		}
	}
	if verdict.Outcome == policy.Auto && r.floor(c, verdict) {
		out.Now, out.Approvers, out.HumanFloor = policy.Confirm, []string{policy.RoleSigner}, true
	}
	if out.Now != policy.Reject {
		h.holds = append(without, rehearsedHold{c.ID, c.subject(t), amount, at, c.ended(then)})
	}
	if c.Payment != nil {
		out.ActionType, out.Payee, out.Amount, out.Currency = string(c.ActionType), c.DestinationCounterpartyID, c.Payment.Amount, c.Payment.Currency
	} else {
		out.ActionType = c.Action.Kind
	}
	return out, nil
}

// ended is when people, time, a rail or a later look of the policy ended a case
// without a payment; zero while nothing did. What its first decision turned away had
// promised nothing, and what would have become of it nobody knows.
func (c Case) ended(first Decision) time.Time {
	over := slices.Contains([]Status{Cancelled, Expired, Failed, Revoked, Rejected, Denied}, c.Status)
	if !over || first.Outcome == policy.Reject {
		return time.Time{}
	}
	at, _ := time.Parse(time.RFC3339, c.UpdatedAt)
	return at
}

// rehearsedBook is what would have been promised, as seen at an instant by who
// proposes.
type rehearsedBook struct {
	holds []rehearsedHold
	of    allowance.Subject
	now   time.Time
}

// Spend adds up amounts of a currency.
func (b rehearsedBook) Spend(per policy.Per, window policy.Window, currency money.Currency) (money.Amount, bool) {
	sum := money.Zero(currency)
	for _, h := range b.holds {
		if h.amount == nil || h.amount.Currency() != currency || !b.counts(h, per, window) {
			continue
		}
		var err error
		if sum, err = sum.Add(*h.amount); err != nil {
			return sum, false
		}
	}
	return sum, b.known(per)
}

// Count counts them.
func (b rehearsedBook) Count(per policy.Per, window policy.Window) (n int64, known bool) {
	for _, h := range b.holds {
		if b.counts(h, per, window) {
			n++
		}
	}
	return n, b.known(per)
}

func (b rehearsedBook) known(per policy.Per) bool {
	return per != policy.PerCounterparty || b.of.Counterparty != ""
}

func (b rehearsedBook) counts(h rehearsedHold, per policy.Per, window policy.Window) bool {
	same := per == policy.PerTenant || per == policy.PerAgent && h.of.Agent == b.of.Agent || per == policy.PerCounterparty && h.of.Counterparty == b.of.Counterparty
	stands := h.until.IsZero() || h.until.After(b.now)
	return same && stands && h.of.Class == b.of.Class && b.now.Sub(h.at) < policy.Windows[window]
}
