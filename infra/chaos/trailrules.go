package main

import (
	"fmt"
	"strings"
)

func artifacts(deeds []Deed, b Books, say sayer) {
	for _, d := range of(deeds, Contribute) {
		var ids []string
		state := ""
		for _, a := range b.Artifacts {
			if a.SHA256 == d.SHA256 {
				ids, state = append(ids, a.ID), a.State
			}
		}
		times(d, ids, say)
		want := 0
		if len(ids) > 0 {
			want = d.Rows
			if state != "extracted" {
				say(d, ids[0], "extracted", state)
			}
		}
		if n := count(b.Rows, func(r Row) bool { return r.Of == d.Key }); n != want {
			say(d, "rows of "+d.Key, fmt.Sprint(want), fmt.Sprint(n))
		}
	}
}

func chained(_ []Deed, b Books, say sayer) {
	if b.Journal.Fault != nil {
		say(Deed{}, "journal of "+b.Tenant, "a chain", b.Journal.Fault.String())
	}
	if int(b.Journal.Entries) != len(b.Events) {
		say(Deed{}, "journal of "+b.Tenant, fmt.Sprintf("%d entries", len(b.Events)), fmt.Sprint(b.Journal.Entries))
	}
}

// request says whether an event is the outer one of a request.
func request(e Event) bool { return strings.HasPrefix(e.Action, "agent.mcp.") }

// recorded: a change and the request's event are one transaction. Where its reply
// is lost, the client is refused, and the refusal is an event too: both are so.
func recorded(deeds []Deed, b Books, say sayer) {
	done, refused := map[string]int{}, map[string]int{}
	for _, e := range b.Events {
		switch {
		case !request(e):
		case e.Code == "":
			done[e.RequestID]++
		default:
			refused[e.RequestID]++
		}
	}
	for _, d := range deeds {
		for _, try := range d.Tries {
			yes, no := done[try.RequestID], refused[try.RequestID]
			what, has := fmt.Sprintf("request %s of %s, %s", try.RequestID, d.Key, try.Outcome), fmt.Sprintf("%d, and %d of a refusal", yes, no)
			switch {
			case try.RequestID == "": // no reply: nothing to find it by
			case try.Outcome == Acknowledged && (yes != 1 || no != 0):
				say(d, what, "one event", has)
			case try.Outcome == Refused && (yes != 0 || no > 1):
				say(d, what, "one event of the refusal at most", has)
			case yes > 1 || no > 1:
				say(d, what, "one event at most, and one of the refusal", has)
			}
		}
	}
}

func published(_ []Deed, b Books, say sayer) {
	journal, bus := map[string]int{}, map[string]int{}
	for _, e := range b.Events {
		journal[e.ID]++
	}
	for _, e := range b.Published {
		bus[e.ID]++
	}
	for name := range bus {
		if journal[name] != 1 {
			say(Deed{}, "event "+name+" of the bus", "one entry of the journal", fmt.Sprint(journal[name]))
		}
	}
	for name := range journal {
		if bus[name] == 0 {
			say(Deed{}, "entry of the event "+name, "the event on the bus", "none")
		}
	}
}

func told(deeds []Deed, b Books, say sayer) {
	for _, i := range b.Intents {
		d := proposed(deeds, i)
		if n := b.events(i.ID, "payment_intent.proposed"); n != 1 {
			say(d, "payment_intent.proposed of "+i.ID, "one", fmt.Sprint(n))
		}
		want := 0
		if i.Status == "executed" || i.Status == "failed" {
			want = 1
		}
		if n := b.events(i.ID, "payment_intent.approved"); n != want {
			say(d, fmt.Sprintf("payment_intent.approved of %s, %s", i.ID, i.Status), fmt.Sprint(want), fmt.Sprint(n))
		}
	}
}

func sums(_ []Deed, b Books, say sayer) {
	if d := b.Rollups.Difference; d != nil {
		say(Deed{}, "rollups of "+b.Tenant, "the sum of the rows", d.String())
	}
}

func proofs(deeds []Deed, b Books, say sayer) {
	for _, i := range b.Intents {
		if i.Status != "executed" {
			continue
		}
		if wrong, read := b.Proofs[i.ID]; !read || wrong != "" {
			say(proposed(deeds, i), "proof of "+i.ID, "it holds", or(wrong, "none was read"))
		}
	}
}

// scheduled are functions that a schedule calls: a run that fails is a letter,
// and the next run does what it left.
var scheduled = []string{"OutboxFunction", "AnchorFunction"}

func letters(_ []Deed, b Books, say sayer) {
	for _, l := range b.Letters {
		if !explained(l) {
			say(Deed{}, "dead letter of "+l.From+" in "+l.Queue, "none", fmt.Sprintf("%s: %.200s", l.Reason, l.Body))
		}
	}
}

// explained says that a letter is a run of a schedule.
func explained(l Letter) bool {
	return count(scheduled, func(f string) bool { return strings.HasPrefix(l.From, f) }) > 0
}
