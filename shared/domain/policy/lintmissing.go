package policy

import "slices"

// signals are conditions on facts that may be missing of a payment as it is
// proposed: nobody has rated the payee, or the agent declared nothing.
var signals = []string{
	"agent.behavior_hash.in", "agent.role.in",
	"counterparty.risk_level.lte", "counterparty.type.in", "counterparty.verified_status.in",
}

// passedBy finds confirm rules that somebody may have meant as a barrier: where
// the fact they ask about is missing they do not match, and an automatic rule that
// does not ask about it lets pass what people were to look at.
func (l *linter) passedBy(i int) {
	rules := l.document.Rules
	if rules[i].judged() != Confirm {
		return
	}
	for _, name := range signals {
		if _, asked := l.reach[i][name]; !asked {
			continue
		}
		for j := range rules {
			if _, asked := l.reach[j][name]; !asked && rules[j].judged() == Auto && rules[i].meets(&rules[j]) {
				l.warn("where the fact of %s is missing it does not match and rule %s decides alone: ask for it there too, or reject", name, rules[j].ID)
				break
			}
		}
	}
}

// meets says whether two rules judge a class both.
func (r *Rule) meets(other *Rule) bool {
	return slices.Contains(r.AppliesTo, Any) || slices.ContainsFunc(r.AppliesTo, other.applies)
}
