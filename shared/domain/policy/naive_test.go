package policy_test

import (
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/policy"
)

// naive judges a document as it is written, without its types, its parser or its
// arithmetic: maps out of encoding/json, fractions for money, minutes counted
// one by one. It knows nothing of reasons.
type naive struct {
	doc   map[string]any
	facts policy.Facts
	rooms []string
}

// judgement is what two evaluators have to agree on.
type judgement struct {
	outcome                      string
	matched, approvers, evidence string
	conditions                   string // of every rule: name, passed, undecided
	headroom                     string
}

func (n *naive) judge() judgement {
	var told []string
	matched := map[string][]map[string]any{}
	var ids []string
	for _, r := range n.doc["rules"].([]any) {
		r := r.(map[string]any)
		execute := r["execute"].(string)
		if people, _ := r["require"].([]any); execute == "auto" && len(people) > 0 {
			execute = "confirm"
		}
		if !n.applies(r) {
			told = append(told, r["id"].(string)+" does not apply")
			continue
		}
		when := r["when"].(map[string]any)
		names := []string{}
		for name := range when {
			names = append(names, name)
		}
		sort.Strings(names)
		all := true
		for _, name := range names {
			truth := n.truth(r["id"].(string), name, when[name]) // "true", "false" or "?"
			passed := truth == "true" || truth == "?" && execute == "reject"
			all = all && passed
			told = append(told, fmt.Sprintf("%s %s %v %v", r["id"], name, passed, truth == "?"))
		}
		if all {
			ids = append(ids, r["id"].(string))
			matched[execute] = append(matched[execute], r)
		}
	}
	j := judgement{outcome: "reject", matched: strings.Join(ids, " "), conditions: strings.Join(told, "\n")}
	sort.Strings(n.rooms)
	j.headroom = strings.Join(n.rooms, "\n")
	switch {
	case matched["reject"] != nil:
		j.evidence = union(matched["reject"])
	case matched["confirm"] != nil:
		j.outcome, j.evidence = "confirm", union(append(matched["confirm"], matched["auto"]...))
		j.approvers = people(matched["confirm"])
	case matched["auto"] != nil:
		j.outcome, j.evidence = "auto", union(matched["auto"])
	}
	return j
}

func (n *naive) applies(r map[string]any) bool {
	for _, class := range r["applies_to"].([]any) {
		if class == "any" || class == string(n.facts.Class) {
			return true
		}
	}
	return false
}

func union(rules []map[string]any) string {
	set := map[string]bool{}
	for _, r := range rules {
		kinds, _ := r["required_evidence_kinds"].([]any)
		for _, kind := range kinds {
			set[kind.(string)] = true
		}
	}
	var all []string
	for kind := range set {
		all = append(all, kind)
	}
	sort.Strings(all)
	return strings.Join(all, " ")
}

// people adds one person after the other until every rule has its own.
func people(rules []map[string]any) string {
	var all []string
	for _, role := range []string{"admin", "approver", "signer"} {
		for want := 1; ; want++ {
			wanted := slices.ContainsFunc(rules, func(r map[string]any) bool {
				text := fmt.Sprint(r["require"])
				return strings.Count(text, role) >= want
			})
			if !wanted {
				break
			}
			all = append(all, role)
		}
	}
	if all == nil {
		return "signer"
	}
	return strings.Join(all, " ")
}

func (n *naive) truth(rule, name string, value any) string {
	f := n.facts
	counterparty := policy.Counterparty{}
	if f.Counterparty != nil {
		counterparty = *f.Counterparty
	}
	switch name {
	case "counterparty.in", "counterparty.not_in":
		truth := n.listed(counterparty.ID, value.([]any))
		if name == "counterparty.not_in" {
			truth = strings.NewReplacer("true", "false", "false", "true").Replace(truth)
		}
		return truth
	case "counterparty.verified_status.in":
		return oneOf(counterparty.VerifiedStatus, value)
	case "counterparty.type.in":
		return oneOf(counterparty.Type, value)
	case "counterparty.risk_level.lte":
		order := "low medium high sanctioned"
		if counterparty.RiskLevel == "" {
			return "?"
		}
		return fmt.Sprint(strings.Index(order, counterparty.RiskLevel) <= strings.Index(order, value.(string)))
	case "action.in":
		return oneOf(f.Action, value)
	case "action.not_in":
		return strings.NewReplacer("true", "false", "false", "true").Replace(oneOf(f.Action, value))
	case "agent.id.in":
		return oneOf(f.Agent.ID, value)
	case "agent.role.in":
		return oneOf(f.Agent.Role, value)
	case "agent.behavior_hash.in":
		return oneOf(f.Agent.BehaviorHash, value)
	case "source_account.in":
		return oneOf(f.SourceAccount, value)
	case "agent.confidence.gte":
		if f.Agent.Confidence == nil {
			return "?"
		}
		return fmt.Sprint(!(*f.Agent.Confidence < value.(float64)))
	case "obligation.linked":
		if f.ObligationLinked == nil {
			return "?"
		}
		return fmt.Sprint(*f.ObligationLinked == value.(bool))
	case "time_window":
		return n.inside(value.(map[string]any))
	case "amount.lte", "amount.gt":
		limit := value.(map[string]any)
		if f.Amount == nil || f.Amount.Currency().String() != limit["currency"] {
			return "?"
		}
		above := fraction(f.Amount.String()).Cmp(fraction(limit["amount"].(string))) > 0
		return fmt.Sprint(above == (name == "amount.gt"))
	case "spend_in_window", "count_in_window":
		return n.capped(rule, name, value.(map[string]any))
	}
	panic("no condition " + name)
}

func fraction(decimal string) *big.Rat {
	r, ok := new(big.Rat).SetString(decimal)
	if !ok {
		panic("no decimal " + decimal)
	}
	return r
}

func oneOf(value string, names any) string {
	if value == "" {
		return "?"
	}
	return fmt.Sprint(slices.Contains(names.([]any), any(value)))
}

func (n *naive) listed(id string, names []any) string {
	if id == "" {
		return "?"
	}
	truth := "false"
	for _, name := range names {
		ids, there := n.doc["lists"].(map[string]any)[name.(string)].([]any)
		if slices.Contains(ids, any(id)) {
			return "true"
		}
		if !there {
			truth = "?"
		}
	}
	return truth
}

// inside walks back from the instant, minute by minute on the wall's clock, to
// the time hours begin; it is inside when it meets that before it meets their end.
func (n *naive) inside(hours map[string]any) string {
	if n.facts.At.IsZero() {
		return "?"
	}
	zone, err := time.LoadLocation(hours["zone"].(string))
	if err != nil {
		panic(err)
	}
	local := n.facts.At.In(zone)
	// The same reading of the clock in a zone without summer time.
	wall := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, time.UTC)
	end := hours["to"].(string)
	if end == "24:00" {
		end = "00:00"
	}
	for step := range 24 * 60 {
		before := wall.Add(-time.Duration(step) * time.Minute)
		if step > 0 && before.Add(time.Minute).Format("15:04") == end {
			return "false"
		}
		if before.Format("15:04") == hours["from"] {
			// A window of 24 hours ends where it begins: then the day decides alone.
			if step == 0 || wall.Format("15:04") != end {
				return fmt.Sprint(slices.Contains(hours["days"].([]any), any(strings.ToLower(before.Format("Mon")))))
			}
			return "false"
		}
	}
	panic("a day without " + hours["from"].(string))
}

func (n *naive) capped(rule, name string, c map[string]any) string {
	per, window := policy.Per(c["per"].(string)), policy.Window(c["window"].(string))
	limit, above := c["lte"], false
	if c["gt"] != nil {
		limit, above = c["gt"], true
	}
	f := n.facts
	if f.Promised == nil || per == "agent" && f.Agent.ID == "" || per == "counterparty" && (f.Counterparty == nil || f.Counterparty.ID == "") {
		return "?"
	}
	var total, most *big.Rat
	places, code := 0, ""
	if name == "count_in_window" {
		before, known := f.Promised.Count(per, window)
		if !known {
			return "?"
		}
		total, most = new(big.Rat).SetInt64(before), new(big.Rat).SetFloat64(limit.(float64))
		total.Add(total, big.NewRat(1, 1))
	} else {
		sum := limit.(map[string]any)
		if f.Amount == nil || f.Amount.Currency().String() != sum["currency"] {
			return "?"
		}
		before, known := f.Promised.Spend(per, window, f.Amount.Currency())
		if !known || before.Currency() != f.Amount.Currency() {
			return "?"
		}
		total, most = fraction(before.String()), fraction(sum["amount"].(string))
		total.Add(total, fraction(f.Amount.String()))
		places, code = f.Amount.Currency().Exponent(), f.Amount.Currency().String()
	}
	if total.Cmp(fraction("1e36")) >= 0 {
		return "?" // no USD amount has as many digits
	}
	left := new(big.Rat).Sub(most, total)
	n.rooms = append(n.rooms, fmt.Sprintf("%s %s %s %s %s %s %v", rule, window, per, most.FloatString(places), left.FloatString(places), code, left.Sign() >= 0))
	return fmt.Sprint((total.Cmp(most) > 0) == above)
}

// judged is what the evaluator under test says, in the same words.
func judged(d policy.Document, f policy.Facts) judgement {
	v := d.Evaluate(f)
	var told, rooms []string
	for _, trace := range v.Trace[:len(d.Rules)] {
		if !trace.Applies {
			told = append(told, trace.Rule+" does not apply")
		}
		conditions := slices.Clone(trace.Conditions)
		slices.SortFunc(conditions, func(a, b policy.ConditionTrace) int { return strings.Compare(a.Condition, b.Condition) })
		for _, c := range conditions {
			told = append(told, fmt.Sprintf("%s %s %v %v", trace.Rule, c.Condition, c.Passed, c.Undecided))
		}
	}
	for _, h := range v.Headroom {
		rooms = append(rooms, fmt.Sprintf("%s %s %s %s %s %s %v", h.Rule, h.Window, h.Per, h.Limit, h.Left, h.Currency, h.Within))
	}
	sort.Strings(rooms)
	return judgement{
		outcome: string(v.Outcome), matched: strings.Join(v.Matched, " "), approvers: strings.Join(v.Approvers, " "),
		evidence: strings.Join(v.EvidenceKinds, " "), conditions: strings.Join(told, "\n"), headroom: strings.Join(rooms, "\n"),
	}
}

// TestAgainstNaive judges random proposals by random documents twice.
func TestAgainstNaive(t *testing.T) {
	g := newGenerator(1, 2)
	outcomes := map[string]int{}
	for range 3_000 {
		raw := g.document(g.rules(1 + g.IntN(6))...)
		d := parsed(t, raw)
		doc := decode(t, raw)
		for range 8 {
			f := g.facts(t)
			got, want := judged(d, f), (&naive{doc: doc, facts: f}).judge()
			if got != want {
				t.Fatalf("%s\n%s\n got %+v\nwant %+v", raw, text(t, f.Agent), got, want)
			}
			outcomes[got.outcome]++
		}
	}
	for _, outcome := range []string{"auto", "confirm", "reject"} {
		if outcomes[outcome] < 1_000 {
			t.Errorf("only %d of the verdicts are %s: %v", outcomes[outcome], outcome, outcomes)
		}
	}
}
