package policy

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// shadowed finds out whether a rule changes nothing: whenever it matches, so does
// another that is as strict or stricter and asks for as much. Of two that say the
// same the later is found.
func (l *linter) shadowed(i int) {
	rules := l.document.Rules
	for j := range rules {
		if i == j || !rules[j].covers(&rules[i]) || !l.reach[j].within(l.reach[i]) {
			continue
		}
		if same := rules[i].covers(&rules[j]) && l.reach[i].within(l.reach[j]); same && i < j {
			continue
		}
		l.warn("it changes nothing: whenever it matches, rule %s does, and asks for as much", rules[j].ID)
		return
	}
}

// covers says whether a rule, where both match, makes the other one needless.
func (r *Rule) covers(other *Rule) bool {
	if !slices.Contains(r.AppliesTo, Any) && slices.ContainsFunc(other.AppliesTo, func(c Class) bool { return !slices.Contains(r.AppliesTo, c) }) {
		return false
	}
	mine, theirs := strictness[r.judged()], strictness[other.judged()]
	switch {
	case mine < theirs:
		return false
	case r.judged() == Reject:
		return theirs < mine || subset(other.EvidenceKinds, r.EvidenceKinds)
	}
	if !subset(other.EvidenceKinds, r.EvidenceKinds) {
		return false
	}
	return other.judged() != Confirm || enough(r.Require, other.Require)
}

// strictness orders the outcomes.
var strictness = map[Outcome]int{Auto: 0, Confirm: 1, Reject: 2}

// enough says whether the people a rule asks for are among those of another, role
// by role.
func enough(have, want []string) bool {
	count := map[string]int{}
	for _, role := range have {
		count[role]++
	}
	for _, role := range want {
		if count[role]--; count[role] < 0 {
			return false
		}
	}
	return true
}

// conditionSet is what a rule wants, each condition in words that are the same
// when the condition is.
type conditionSet map[string]string

// within says whether every condition of the set is one of the other: what
// satisfies the other satisfies this one.
func (s conditionSet) within(other conditionSet) bool {
	for name, value := range s {
		if theirs, there := other[name]; !there || theirs != value {
			return false
		}
	}
	return true
}

// fields are the names of the conditions by their place in When.
var fields = sync.OnceValue(func() []string {
	t := reflect.TypeFor[When]()
	all := make([]string, t.NumField())
	for i := range all {
		all[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return all
})

// set writes the conditions down. Arrays are sorted and amounts have all their
// decimals, because two spellings are one condition.
func (w When) set() conditionSet {
	s := conditionSet{}
	v := reflect.ValueOf(w)
	for i, name := range fields() {
		field := v.Field(i)
		if field.IsZero() {
			continue
		}
		value := field.Interface()
		switch condition := value.(type) {
		case []string:
			value = slices.Compact(slices.Sorted(slices.Values(condition)))
		case *Sum:
			value = exact(condition)
		case *SpendCap:
			value = SpendCap{condition.Window, condition.Per, exact(condition.LTE), exact(condition.GT)}
		case *Hours:
			days := slices.Compact(slices.Sorted(slices.Values(condition.Days)))
			value = Hours{days, condition.From, condition.To, condition.Zone}
		}
		text, _ := json.Marshal(value) // of texts, numbers and truth values: it does not fail
		s[name] = string(text)
	}
	return s
}

func exact(s *Sum) *Sum {
	if s == nil {
		return nil
	}
	if amount, err := s.Read(); err == nil {
		return &Sum{Amount: amount.String(), Currency: s.Currency}
	}
	return s
}
