package claim

import (
	"encoding/json"
	"fmt"
	"strings"
)

// nouns are what the actions are called, by the prefix of their ids.
var nouns = map[string]string{"pi": "payment intent", "prop": "proposal", "authz": "authorization"}

// explain tells the story in one paragraph: the same events give the same words.
func (s *story) explain() string {
	var said []string
	for _, sentence := range []string{s.proposal(), s.ruling(), s.people(), s.gate(), s.payment(), s.ending()} {
		if sentence != "" {
			said = append(said, sentence)
		}
	}
	return strings.Join(said, " ")
}

func (s *story) proposal() string {
	if s.first == nil {
		return ""
	}
	what := "a change: " + word(at(s.first, "action", "kind"))
	if payment, ok := s.first["payment"].(map[string]any); ok {
		what = fmt.Sprintf("%s of %s %s from %s to %s", word(payment["action_type"]), word(payment["amount"]), word(payment["currency"]),
			word(payment["source_account_id"]), word(payment["destination_counterparty_id"]))
	}
	return fmt.Sprintf("Agent %s proposed %s at %s.", word(s.AgentID), what, word(s.at))
}

// says is a policy's outcome in words.
var says = map[string]string{"auto": "let it pass", "confirm": "asked for approval", "reject": "rejected it"}

func (s *story) ruling() string {
	if s.Policy == nil {
		return ""
	}
	did, known := says[s.Policy.Outcome]
	if !known {
		did = "decided " + word(s.Policy.Outcome)
	}
	why := "no rule matched"
	if len(s.Policy.MatchedRules) > 0 {
		why = "by " + counted(len(s.Policy.MatchedRules), "rule") + " " + words(s.Policy.MatchedRules)
	}
	floor := ""
	if s.Policy.HumanFloor {
		floor = ", since a person must approve such payments whatever the policy says"
	}
	return fmt.Sprintf("Policy version %s %s (%s, decision %s)%s.", word(s.Policy.Version), did, why, word(s.Policy.DecisionID), floor)
}

func (s *story) people() string {
	var names []any
	for _, v := range s.Approvals {
		approval, _ := v.(map[string]any)
		names = append(names, text(approval, "member_id"))
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("It has %s: %s.", counted(len(names), "approval"), words(names))
}

func (s *story) gate() string {
	if len(s.GateChecks) == 0 {
		return ""
	}
	passed, failed := 0, []any{}
	for _, v := range s.GateChecks {
		check, _ := v.(map[string]any)
		if ok, _ := check["passed"].(bool); ok {
			passed++
			continue
		}
		failed = append(failed, check["id"])
	}
	line := fmt.Sprintf("Of %s before the execution %d passed", counted(len(s.GateChecks), "check"), passed)
	if len(failed) > 0 {
		line += "; failed: " + words(failed)
	}
	return line + "."
}

func (s *story) payment() string {
	switch {
	case s.RailReceipt != nil:
		return fmt.Sprintf("The rail %s answered with a receipt.", word(s.rail))
	case s.rail != "":
		return fmt.Sprintf("It was handed to the rail %s.", word(s.rail))
	}
	return ""
}

func (s *story) ending() string {
	prefix, _, _ := strings.Cut(s.subject, "_")
	return fmt.Sprintf("The %s %s is %s.", nouns[prefix], s.subject, word(strings.ReplaceAll(s.Outcome, "_", " ")))
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func words(list []any) string {
	var all []string
	for _, v := range list {
		all = append(all, word(v))
	}
	return strings.Join(all, ", ")
}

// plain is what may stand in a sentence. Names and ids are made of it; a text
// from outside that is not stays out of ours.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.:/ "

// word is a name, an id or a number as it may stand in a sentence.
func word(v any) string {
	said, ok := v.(string)
	if n, isNumber := v.(json.Number); isNumber {
		said, ok = n.String(), true
	}
	if !ok || said == "" || len(said) > 100 || strings.Trim(said, plain) != "" {
		return "(not named)"
	}
	return said
}
