package policy

import (
	"reflect"
	"slices"
	"strings"
)

// never finds rules that cannot match, whatever is proposed.
func (l *linter) never(r *Rule) {
	w := &r.When
	for name, values := range w.namedValues() {
		if strings.HasSuffix(name, ".in") && values != nil && len(values) == 0 {
			l.refuse("%s is empty: %s", name, r.vain())
		}
	}
	l.listsApart(r)
	if len(w.ActionIn) > 0 && subset(w.ActionIn, w.ActionNotIn) {
		l.refuse("action.not_in excludes all that action.in names: %s", r.vain())
	}
	if floor := w.AmountGT; floor != nil {
		l.amountsApart(r, "amount.lte", w.AmountLTE, floor)
		if w.SpendInWindow != nil {
			l.amountsApart(r, "spend_in_window", w.SpendInWindow.LTE, floor)
		}
	}
	if c := w.CountInWindow; c != nil && c.LTE != nil && *c.LTE < 1 {
		l.refuse("count_in_window of at most %d can never hold: the proposal itself counts", *c.LTE)
	}
}

// vain says what comes of a condition that no fact satisfies.
func (r *Rule) vain() string {
	if r.judged() == Reject {
		return "the rule matches only where the fact is missing"
	}
	return "the rule can never match"
}

// amountsApart finds a limit that no amount above floor is within. Where the two
// are in two currencies one of them cannot be decided, whatever is proposed.
func (l *linter) amountsApart(r *Rule, name string, limit, floor *Sum) {
	if limit == nil {
		return
	}
	most, err := limit.Read()
	above, aboveErr := floor.Read()
	if err != nil || aboveErr != nil {
		return // Parse refuses it
	}
	order, err := most.Cmp(above)
	switch {
	case err != nil && r.judged() == Reject: // rejecting says what comes of it
	case err != nil:
		l.refuse("%s and amount.gt are in two currencies: the rule can never match", name)
	case order <= 0:
		l.refuse("%s and amount.gt contradict each other: no amount above %s is at most %s", name, named(above), named(most))
	}
}

// listsApart finds counterparties that are wanted and excluded at once.
func (l *linter) listsApart(r *Rule) {
	w := &r.When
	if len(w.CounterpartyIn) == 0 {
		return
	}
	wanted, excluded := l.ids(w.CounterpartyIn), l.ids(w.CounterpartyNotIn)
	switch {
	case subset(w.CounterpartyIn, w.CounterpartyNotIn), len(wanted) > 0 && subset(wanted, excluded):
		l.refuse("counterparty.not_in excludes everybody counterparty.in names: %s", r.vain())
		return
	case len(wanted) == 0:
		l.warn("the lists of counterparty.in are empty: the rule names nobody")
	}
	for _, name := range w.CounterpartyIn {
		if slices.Contains(w.CounterpartyNotIn, name) {
			l.warn("the list %s is in counterparty.in and counterparty.not_in: nobody on it passes", name)
		}
	}
}

// ids are all of the lists.
func (l *linter) ids(names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, l.document.Lists[name]...)
	}
	return all
}

func subset(of, in []string) bool {
	held := make(map[string]bool, len(in))
	for _, s := range in {
		held[s] = true
	}
	return !slices.ContainsFunc(of, func(s string) bool { return !held[s] })
}

// namedValues are the conditions that are arrays, in order.
func (w When) namedValues() func(yield func(string, []string) bool) {
	v := reflect.ValueOf(w)
	return func(yield func(string, []string) bool) {
		for i, name := range fields() {
			if values, ok := v.Field(i).Interface().([]string); ok && !yield(name, values) {
				return
			}
		}
	}
}
