package main

import (
	"fmt"
	"slices"
	"strings"
)

// Violation is a rule that does not hold, at one place.
type Violation struct {
	Rule                  string
	Fault                 string // during which the deed was done; empty where it is of no deed
	What, Expected, Found string
}

// String is the violation on one line.
func (v Violation) String() string {
	return fmt.Sprintf("%s (%s): %s: expected %s, found %s", v.Rule, or(v.Fault, "any fault"), v.What, v.Expected, v.Found)
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// rule is one thing that must hold of what clients were told and what there is.
type rule struct {
	name  string
	means string
	judge func(deeds []Deed, b Books, say func(deed Deed, what, expected, found string))
}

// rules are all there are. Each looks at the deeds and the books alone, and names
// every place where it does not hold.
var rules = []rule{
	{"there", "A payment that was acknowledged is there once, under the id that was told; one nobody heard of is there once or not at all; one that was refused is not there.", payments},
	{"state", "An intent is in the state that was told or in one that may follow it.", states},
	{"decided", "A decision that was acknowledged is in the intent and is told by one event; a cancellation that was acknowledged holds.", decisions},
	{"settled", "Nothing is under way: no intent is approved or dispatching, no execution is unfinished, no event waits.", settled},
	{"paid", "An executed intent has one execution, one row of the ledger of its amount, and one event before and after; no other has a row.", paid},
	{"bank", "The bank was told of each executed payment, and of no other, under one key and with one amount: it paid it once, however often it was told.", transfers},
	{"money", "The account holds what it held less what was paid, and nothing of it is reserved.", money},
	{"caps", "What an agent was let pay without people, and did not end, is at most 25,000 USD.", caps},
	{"promises", "The counts that caps are held against are the sum of the agent's intents that have not ended.", promises},
	{"artifacts", "What was contributed and acknowledged is there once and extracted, and each of its rows is in the ledger once; what was refused is not there.", artifacts},
	{"chain", "The journal is a chain without a fault, by the checker that shares no code with it.", chained},
	{"recorded", "Each request that was acknowledged is in the journal once. One that was refused is there as a refusal, once at most; where a reply was lost behind it, what it did may be there beside it.", recorded},
	{"published", "Each event that the bus took is in the journal once, and each of the journal was on the bus.", published},
	{"told", "An intent's proposal and its approval are told of by one event each.", told},
	{"rollups", "Rollups equal the sum of their rows.", sums},
	{"proofs", "The proof of each executed payment holds, its root being on the chain.", proofs},
	{"letters", "No message was given up, but for runs of a schedule, which the next run makes up for.", letters},
}

// judgeAll holds every rule against what there is.
func judgeAll(deeds []Deed, all []Books) []Violation {
	var found []Violation
	for _, b := range all {
		own := slices.DeleteFunc(slices.Clone(deeds), func(d Deed) bool { return d.Tenant != b.Tenant })
		for _, r := range rules {
			r.judge(own, b, func(d Deed, what, expected, seen string) {
				found = append(found, Violation{r.name, d.Fault, what, expected, seen})
			})
		}
	}
	return found
}

// of are the deeds of some kinds.
func of(deeds []Deed, kinds ...Kind) []Deed {
	return slices.DeleteFunc(slices.Clone(deeds), func(d Deed) bool { return !slices.Contains(kinds, d.Kind) })
}

// count counts what holds.
func count[T any](list []T, holds func(T) bool) (n int) {
	for _, one := range list {
		if holds(one) {
			n++
		}
	}
	return n
}

// proposed finds the deed that an intent is of; a deed of nothing else is as good
// as none.
func proposed(deeds []Deed, i Intent) Deed {
	at := slices.IndexFunc(deeds, func(d Deed) bool { return d.Kind == Propose && d.Key == i.Memo })
	if at < 0 {
		return Deed{}
	}
	return deeds[at]
}

type sayer = func(deed Deed, what, expected, found string)

func payments(deeds []Deed, b Books, say sayer) {
	for _, d := range of(deeds, Propose) {
		var ids []string
		for _, i := range b.Intents {
			if i.Memo == d.Key {
				ids = append(ids, i.ID)
			}
		}
		times(d, ids, say)
	}
	for _, i := range b.Intents {
		if proposed(deeds, i).Key == "" {
			say(Deed{}, i.ID, "a client that proposed it", "none")
		}
	}
}

// times holds what is there under a deed's key against what its client was told.
func times(d Deed, ids []string, say sayer) {
	here := fmt.Sprintf("%d: %s", len(ids), strings.Join(ids, ", "))
	switch {
	case d.acknowledged() && (len(ids) != 1 || ids[0] != d.ID):
		say(d, d.Key+", acknowledged", "one, "+d.ID, here)
	case !d.acknowledged() && d.never() && len(ids) != 0:
		say(d, d.Key+", refused with "+d.last().Code, "none", here)
	case !d.acknowledged() && len(ids) > 1:
		say(d, d.Key+", never acknowledged", "one at most", here)
	}
}

// follows says what an intent may have become once everything has settled, by the
// state a client was told.
var follows = map[string][]string{
	"approved":         {"executed", "failed"},
	"pending_approval": {"pending_approval", "awaiting_second_approval", "executed", "failed", "rejected", "cancelled", "expired"},
	"rejected":         {"rejected"},
	// A repetition may be told what became of it meanwhile.
	"awaiting_second_approval": {"awaiting_second_approval", "executed", "failed", "rejected", "cancelled", "expired"},
	"dispatching":              {"executed", "failed"},
	"executed":                 {"executed"},
	"failed":                   {"failed"},
	"cancelled":                {"cancelled"},
	"expired":                  {"expired"},
}

func states(deeds []Deed, b Books, say sayer) {
	for _, d := range of(deeds, Propose, Approve, Reject, Cancel) {
		if !d.acknowledged() {
			continue
		}
		at := slices.IndexFunc(b.Intents, func(i Intent) bool { return i.ID == or(d.Target, d.ID) })
		if at < 0 {
			continue // that it is not there is said of the proposal
		}
		if is := b.Intents[at].Status; !slices.Contains(follows[d.Status], is) {
			say(d, fmt.Sprintf("%s of %s, told %s", d.Kind, b.Intents[at].ID, d.Status), strings.Join(follows[d.Status], " or "), is)
		}
	}
}

func decisions(deeds []Deed, b Books, say sayer) {
	for _, d := range of(deeds, Approve, Reject, Cancel) {
		at := slices.IndexFunc(b.Intents, func(i Intent) bool { return i.ID == d.Target })
		if at < 0 {
			say(d, d.Key, "the intent "+d.Target, "none")
			continue
		}
		i, events := b.Intents[at], 0
		if d.Kind != Cancel {
			events = count(b.Events, func(e Event) bool {
				return e.Action == "proposal.decided" && e.Subject == d.Target && e.Actor == d.Caller && e.Decision == string(d.Kind)
			})
		}
		most := 1
		if d.never() {
			most = 0
		}
		switch {
		case d.acknowledged() && !d.holds(i):
			say(d, fmt.Sprintf("%s of %s by %s, acknowledged", d.Kind, i.ID, d.Caller), "it holds", fmt.Sprintf("%s, approved by %v, rejected by %q", i.Status, i.Approvals, i.RefusedBy))
		case d.acknowledged() && d.Kind != Cancel && events == 0, events > most:
			say(d, fmt.Sprintf("events of %s of %s by %s, %s", d.Kind, i.ID, d.Caller, d.last().Outcome), fmt.Sprint(most), fmt.Sprint(events))
		}
	}
}

// holds says whether an intent shows that a decision was made. What a policy of
// the moment does not allow is rejected by an approval: that is no approval of it.
func (d Deed) holds(i Intent) bool {
	switch d.Kind {
	case Approve:
		return count(i.Approvals, func(m string) bool { return m == d.Caller }) == 1 || d.Status == "rejected" && i.Status == "rejected"
	case Reject:
		return i.Status == "rejected" && i.RefusedBy == d.Caller
	}
	return i.Status == "cancelled"
}

func settled(deeds []Deed, b Books, say sayer) {
	for _, i := range b.Intents {
		if slices.Contains([]string{"proposed", "approved", "paused", "dispatching"}, i.Status) {
			say(proposed(deeds, i), i.ID, "an end, or people to wait for", i.Status)
		}
	}
	for _, e := range b.Executions {
		if e.State != "settled" && e.State != "failed" {
			say(Deed{}, e.ID, "settled or failed", e.State)
		}
	}
	for _, event := range b.Outbox {
		say(Deed{}, event, "published", "it waits in the outbox")
	}
}
