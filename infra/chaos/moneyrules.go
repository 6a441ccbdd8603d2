package main

import (
	"fmt"
	"slices"
)

func paid(deeds []Deed, b Books, say sayer) {
	known := map[string]bool{}
	for _, i := range b.Intents {
		known[i.ID] = true
		want := 0
		if i.Status == "executed" {
			want = 1
		}
		d := proposed(deeds, i)
		rows, amount := 0, cents(0)
		for _, p := range b.Payments {
			if p.Intent == i.ID {
				rows++
				amount += p.Amount
			}
		}
		if rows != want || amount != i.Amount*cents(want) {
			say(d, fmt.Sprintf("rows of %s, %s", i.ID, i.Status), fmt.Sprintf("%d of %s", want, i.Amount*cents(want)), fmt.Sprintf("%d of %s", rows, amount))
		}
		if n := count(b.Executions, func(e Execution) bool { return e.Intent == i.ID && e.State == "settled" }); n != want {
			say(d, fmt.Sprintf("settled executions of %s, %s", i.ID, i.Status), fmt.Sprint(want), fmt.Sprint(n))
		}
		for _, action := range []string{"payment_intent.execute.before", "payment_intent.execute.after"} {
			if n := b.events(i.ID, action); n != want {
				say(d, fmt.Sprintf("%s of %s, %s", action, i.ID, i.Status), fmt.Sprint(want), fmt.Sprint(n))
			}
		}
	}
	for _, p := range b.Payments {
		if !known[p.Intent] {
			say(Deed{}, p.ID, "the intent "+p.Intent, "none")
		}
	}
}

// events counts the events of an action about a subject.
func (b Books) events(subject, action string) int {
	return count(b.Events, func(e Event) bool { return e.Subject == subject && e.Action == action })
}

func transfers(deeds []Deed, b Books, say sayer) {
	for _, i := range b.Intents {
		want, amount := 0, cents(0)
		if i.Status == "executed" {
			want = 1
		}
		n := count(b.Transfers, func(t Transfer) bool {
			if t.Intent == i.ID {
				amount += t.Amount
			}
			return t.Intent == i.ID
		})
		if n != want || amount != i.Amount*cents(want) {
			say(proposed(deeds, i), fmt.Sprintf("transfers of %s, %s", i.ID, i.Status), fmt.Sprintf("%d of %s", want, i.Amount*cents(want)), fmt.Sprintf("%d of %s", n, amount))
		}
	}
	for _, t := range b.Transfers {
		if t.Another != "" {
			say(Deed{}, "orders of "+t.Intent, "the same each time", t.Another)
		}
		if count(b.Intents, func(i Intent) bool { return i.ID == t.Intent }) == 0 {
			say(Deed{}, "transfer of "+t.Amount.String(), "the intent "+t.Intent, "none")
		}
	}
}

func money(_ []Deed, b Books, say sayer) {
	want := b.Before
	for _, p := range b.Payments {
		want -= p.Amount
	}
	if b.After != want {
		say(Deed{}, account, fmt.Sprintf("%s: %s less %d payments", want, b.Before, len(b.Payments)), b.After.String())
	}
	if b.Held != 0 {
		say(Deed{}, "reserved of "+account, "0.00", b.Held.String())
	}
}

// dailyCap is what acme's policy lets an agent promise in a day without people, by the
// rule small-trusted, and largest what one of these payments may be.
const (
	dailyCap  cents = 25_000_00
	largest   cents = 5_000_00
	automatic       = "small-trusted"
)

// ended are the states in which nothing is promised any more.
var ended = []string{"rejected", "cancelled", "expired", "failed"}

// automatic says that nobody was asked, and that it has not ended without being
// paid.
func (i Intent) automatic() bool {
	return !slices.Contains(ended, i.Status) && i.Rule == automatic && len(i.Approvals) == 0
}

func caps(deeds []Deed, b Books, say sayer) {
	sum := map[string]cents{}
	for _, i := range b.Intents {
		if !i.automatic() {
			continue
		}
		sum[i.Agent] += i.Amount
		if i.Amount > largest {
			say(proposed(deeds, i), i.ID+", which nobody approved", largest.String()+" at most", i.Amount.String())
		}
		if total := sum[i.Agent]; total > dailyCap && total-i.Amount <= dailyCap {
			say(proposed(deeds, i), "payments of "+i.Agent+" that nobody approved", dailyCap.String()+" at most", total.String()+" with "+i.ID)
		}
	}
	for _, i := range b.Intents {
		if i.Status == "executed" && i.Rule != automatic && len(i.Approvals) == 0 {
			say(proposed(deeds, i), i.ID+", executed by the rule "+i.Rule, "an approval", "none")
		}
	}
}

func promises(_ []Deed, b Books, say sayer) {
	for agent, has := range b.Promised {
		var want Promised
		for _, i := range b.Intents {
			if i.Agent != agent || slices.Contains(ended, i.Status) {
				continue
			}
			want.Day += i.Amount
			if i.Status == "pending_approval" || i.Status == "awaiting_second_approval" {
				want.Open++
			}
		}
		if has != want {
			say(Deed{}, "promised to "+agent, fmt.Sprintf("%s, %d open", want.Day, want.Open), fmt.Sprintf("%s, %d open", has.Day, has.Open))
		}
	}
}
