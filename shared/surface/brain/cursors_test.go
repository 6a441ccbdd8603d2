package brain_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// both are the two lists of what was proposed.
var both = []string{"payment_intent.list", "proposals.list"}

// proposed has each agent of both companies propose payments, and returns the
// office.
func proposed(t *testing.T, each int) *office {
	t.Helper()
	o := newOffice(t)
	for i := range each {
		for _, of := range []string{"acme", "globex"} {
			for _, agent := range []string{"agt_1", "agt_2"} {
				o.at = o.at.Add(time.Millisecond)
				o.does(t, staff(t, of, agent), "payment_intent.propose", fmt.Sprintf(`{%s,"amount":"%d.00"}`, pays, 100+50*(i%3)+i))
			}
		}
	}
	return o
}

// page calls a list and returns its ids and its cursor, empty on the last page.
func (o *office) page(t *testing.T, who identity.Principal, tool, arguments string) (ids []string, next string) {
	t.Helper()
	got, _ := o.does(t, who, tool, arguments)
	for _, row := range got["items"].([]any) {
		ids = append(ids, row.(map[string]any)["id"].(string))
	}
	next, _ = got["next_cursor"].(string)
	return ids, next
}

func cursored(t *testing.T, filters, cursor string) string {
	t.Helper()
	text, err := json.Marshal(cursor)
	must(t, err)
	return `{` + filters + `"limit":2,"cursor":` + string(text) + `}`
}

// Following the cursors visits each row once, the newest first, whatever the
// page's size and whatever is proposed meanwhile.
func TestListsOfProposals(t *testing.T) {
	o := proposed(t, 7)
	for tool, rows := range map[string]int{"payment_intent.list": 7, "proposals.list": 14} {
		for _, filters := range []string{``, `"status":"pending_approval",`} {
			whole, _ := o.page(t, staff(t, "acme", "agt_1"), tool, `{`+filters+`"limit":100}`)
			for _, limit := range []int{1, 3, 14} {
				var walked []string
				for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
					arguments := fmt.Sprintf(`{%s"limit":%d}`, filters, limit)
					if cursor != "" {
						arguments = fmt.Sprintf(`{%s"limit":%d,"cursor":%q}`, filters, limit, cursor)
					}
					var ids []string
					ids, cursor = o.page(t, staff(t, "acme", "agt_1"), tool, arguments)
					walked = append(walked, ids...)
					if pages == 1 {
						o.at = o.at.Add(time.Millisecond)
						o.does(t, staff(t, "acme", "agt_1"), "payment_intent.propose", fmt.Sprintf(`{%s,"amount":"300.00","idempotency_key":"%s%d%s"}`, pays, tool, limit, strings.Trim(filters, `",`)[:min(len(filters), 1)]))
					}
					if pages > 40 {
						t.Fatalf("%s does not end", tool)
					}
				}
				if !slices.Equal(walked, whole) {
					t.Errorf("%s {%s} by %d: %d rows, want %d", tool, filters, limit, len(walked), len(whole))
				}
				whole, _ = o.page(t, staff(t, "acme", "agt_1"), tool, `{`+filters+`"limit":100}`)
			}
			if len(whole) < rows-4 {
				t.Errorf("%s {%s}: %d rows, want about %d", tool, filters, len(whole), rows)
			}
		}
	}
}

// A cursor is good for the tenant, the tool and the filters of the page it came
// with, and of one's own intents for oneself alone.
func TestCursorsOfProposals(t *testing.T) {
	o := proposed(t, 5)
	const filters = `"status":"pending_approval",`
	refused := func(who identity.Principal, tool, arguments string) {
		t.Helper()
		_, _, err := use(t, named(t, o.tools, tool), who, arguments)
		if !fault.Is(err, fault.InvalidArgument) || !strings.HasPrefix(fault.Of(err).Message, "cursor: ") {
			t.Errorf("%s of %s %s: %v", tool, who.ID, arguments, err)
		}
	}
	agent := staff(t, "acme", "agt_1")
	for i, tool := range both {
		first, cursor := o.page(t, agent, tool, `{`+filters+`"limit":2}`)
		second, _ := o.page(t, agent, tool, cursored(t, filters, cursor))
		again, _ := o.page(t, agent, tool, cursored(t, filters, cursor))
		if len(first) != 2 || len(second) != 2 || first[1] == second[0] || !slices.Equal(second, again) {
			t.Fatalf("%s: pages %v, %v and again %v", tool, first, second, again)
		}
		refused(staff(t, "globex", "agt_1"), tool, cursored(t, filters, cursor))
		refused(agent, both[1-i], cursored(t, filters, cursor))
		_, unfiltered := o.page(t, agent, tool, `{"limit":2}`)
		for _, other := range []string{both[1-i], "ledger.accounts.list", "ledger.transactions.list", "ledger.obligations.list"} {
			refused(agent, other, cursored(t, ``, unfiltered))
		}
		for _, other := range []string{``, `"status":"rejected",`, filters + `"risk_band":"standard",`, filters + `"type":"payment",`, filters + `"min_confidence":0,`} {
			if tool == "payment_intent.list" && strings.Count(other, ":") > 1 {
				continue // it has one filter, and reads overlook what they do not know
			}
			refused(agent, tool, cursored(t, other, cursor))
		}
		for at := range cursor {
			turned := []byte(cursor)
			turned[at] ^= 1
			refused(agent, tool, cursored(t, filters, string(turned)))
		}
		for _, bogus := range []string{"", "bogus", cursor[1:], cursor + "A", cursor + "=", " " + cursor, strings.Repeat("A", 1387), strings.Repeat("A", 1388), "é"} {
			refused(agent, tool, cursored(t, filters, bogus))
		}
		theirs, own := cursored(t, filters, cursor), tool == "payment_intent.list"
		if own {
			refused(staff(t, "acme", "agt_2"), tool, theirs)
			continue
		}
		if shared, _ := o.page(t, staff(t, "acme", "agt_2"), tool, theirs); !slices.Equal(shared, second) {
			t.Errorf("the feed is the tenant's, and another agent sees %v for %v", shared, second)
		}
	}
}

// A list of one's own shows nobody else's, and a company's nothing of another's.
func TestListsKeepApart(t *testing.T) {
	o := proposed(t, 3)
	seen := map[string]string{}
	for _, of := range []string{"acme", "globex"} {
		for _, agent := range []string{"agt_1", "agt_2", "agt_3"} {
			ids, _ := o.page(t, staff(t, of, agent), "payment_intent.list", `{}`)
			if want := map[bool]int{true: 0, false: 3}[agent == "agt_3"]; len(ids) != want {
				t.Errorf("%s of %s: %d intents, want %d", agent, of, len(ids), want)
			}
			for _, name := range ids {
				if seen[name] != "" {
					t.Errorf("%s is seen by %s and by %s of %s", name, seen[name], agent, of)
				}
				seen[name] = agent + " of " + of
			}
		}
		ids, _ := o.page(t, staff(t, of, "mbr_ada"), "proposals.list", `{}`)
		for _, name := range ids {
			if !strings.HasSuffix(seen[name], " of "+of) {
				t.Errorf("the feed of %s shows %s, seen by %s", of, name, seen[name])
			}
		}
		same(t, "the feed of "+of, len(ids), 6)
	}
}
