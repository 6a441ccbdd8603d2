package question_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/question"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/tenant"
)

// TestSameQuestion: case, punctuation, one wrong letter in a name, and British or
// American words make no other plan.
func TestSameQuestion(t *testing.T) {
	for first, others := range map[string][]string{
		"How much did we spend on travel in September 2025?": {
			"HOW MUCH DID WE SPEND ON TRAVEL IN SEPTEMBER 2025", "how much did we spend, on travel - in september 2025 ?!", "How much did we spend on travelling in Sept 2025?", "how much did we spend on traveling in 2025-09",
		},
		"How much did we pay Datadog in August 2025?": {
			"how much did we pay DATADOG in august 2025", "How much did we pay Datdog in August 2025?", "How much did we pay Datadgo in August 2025?", "How much did we pay Dattadog in August 2025?", "How much did we pay Dutadog in August 2025?", "How much did we pay “Datadog” in August, 2025?",
		},
		"last 3 transactions with Cloudflare":           {"last three transactions with cloudflare", "last 3 transactions with Claudflare", "Last 3 transactions with CLOUDFLARE.", "last 3 transactions with Cludflare"},
		"What are our total receivables?":               {"what are our total receivables", "WHAT ARE OUR TOTAL RECEIVABLES?", "What’s the total of our receivables?"},
		"Which bills should we pay first?":              {"Prioritise our bills", "Prioritize our bills", "Our bills in order of priority"},
		"What did we pay in salaries in August 2025?":   {"What did we pay in wages in August 2025?", "What did we pay our employees in August 2025?", "what did we pay in payroll in 2025-08"},
		"What was our revenue in Q3 2025?":              {"What was our turnover in Q3 2025?", "revenue in the third quarter of 2025", "What was our income in 2025-Q3?"},
		"spending from 15 July 2025 to 15 August 2025":  {"spending between July 15, 2025 and August 15th, 2025", "spending from the 15th of July 2025 until 15 August 2025", "spending from 2025-07-15 to 2025-08-15", "spending between 15/07/2025 and 15/08/2025"},
		"How much cash do we have?":                     {"how much cash do we have", "HOW MUCH CASH DO WE HAVE!!!", "How much cash have we got?"},
		"receivables aging":                             {"receivables ageing", "AR aging", "aged debtors"},
		"What did Søren Ølgaard cost us in August 2025": {"what did soren olgaard cost us in august 2025", "What did SØREN ØLGAARD cost us in August 2025?"},
	} {
		want := ask(t, demo.Acme, first, closing)
		if !want.Answered {
			t.Errorf("%s: %s", first, want.Answer)
			continue
		}
		for _, other := range others {
			if got := ask(t, demo.Acme, other, closing); got.Answer != want.Answer || !got.Answered {
				t.Errorf("%s:\n%.300s\nwant as %s:\n%.300s", other, got.Answer, first, want.Answer)
			}
		}
	}
	// One letter is forgiven in a name of five letters and more, and not where two
	// names are as near.
	for _, text := range []string{"How much did we pay Zom this year?", "How much did we pay Dutudog this year?", "How much have we spent on trevol this year?"} {
		if a := ask(t, demo.Acme, text, closing); a.Answered {
			t.Errorf("%s: %s", text, a.Answer)
		}
	}
}

// zoned writes a tenant whose days begin in a zone of its own: a payment on each
// of the days around the changes that calendars make.
func zoned(t *testing.T, name, zone string) identity.Tenant {
	t.Helper()
	o := owner(t, name)
	settings, err := json.Marshal(tenant.Settings{TimeZone: zone})
	check(t, err)
	check(t, store.Commit(t.Context(), record.Change{Puts: []record.Put{{Blind: true, Item: record.Item{Key: key.Settings(o), Body: settings}}}}))
	rows := []ledger.Row{&ledger.Account{Meta: meta("acct_1"), AccountType: "bank_checking", Name: "Main", Currency: "USD", Status: "active"}}
	for i, day := range []string{"2024-02-28", "2024-02-29", "2024-03-01", "2024-03-09", "2024-03-10", "2024-03-11", "2024-03-31", "2024-04-01", "2024-06-30", "2024-07-01", "2024-11-02", "2024-11-03", "2024-11-04", "2024-12-31", "2025-01-01"} {
		rows = append(rows, &ledger.Transaction{Meta: meta(fmt.Sprintf("tx_%02d", i)), AccountID: "acct_1", Amount: fmt.Sprintf("%d.01", 1<<i), Currency: "USD", Direction: "outflow", TransactionDate: day, Status: "posted", ReconciliationStatus: "matched"})
	}
	check(t, write(t.Context(), name, rows...))
	return o
}

// TestZones: the day is the tenant's, on leap days, at quarter ends and when the
// clocks change.
func TestZones(t *testing.T) {
	newYork, berlin, utc := zoned(t, "newyork", "America/New_York"), zoned(t, "berlin", "Europe/Berlin"), zoned(t, "utc", "")
	for _, c := range []struct {
		tenant           identity.Tenant
		text, asOf, says string
	}{
		// Half past midnight in UTC is still yesterday in New York.
		{newYork, "spending today", "2024-03-01T00:30:00Z", "on 2024-02-29 was $2.01"},
		{utc, "spending today", "2024-03-01T00:30:00Z", "on 2024-03-01 was $4.01"},
		{berlin, "spending today", "2024-02-29T23:30:00Z", "on 2024-03-01 was $4.01"},
		{newYork, "spending yesterday", "2024-03-01T00:30:00Z", "on 2024-02-28 was $1.01"},
		// February of a leap year has 29 days.
		{utc, "spending this month", "2024-02-29T23:59:59Z", "in February 2024 was $3.02"},
		{utc, "spending in February 2024", "2024-03-31T12:00:00Z", "in February 2024 was $3.02"},
		{utc, "spending in the last 2 days", "2024-03-01T12:00:00Z", "from 2024-02-29 to 2024-03-01 was $6.02"},
		// The clocks go forward on 10 March and back on 3 November.
		{newYork, "spending today", "2024-03-10T04:59:59Z", "on 2024-03-09 was $8.01"},
		{newYork, "spending today", "2024-03-10T05:00:00Z", "on 2024-03-10 was $16.01"},
		{newYork, "spending today", "2024-03-11T03:59:59Z", "on 2024-03-10 was $16.01"},
		{newYork, "spending today", "2024-03-11T04:00:00Z", "on 2024-03-11 was $32.01"},
		{newYork, "spending today", "2024-11-04T04:59:59Z", "on 2024-11-03 was $2,048.01"},
		{newYork, "spending today", "2024-11-04T05:00:00Z", "on 2024-11-04 was $4,096.01"},
		{newYork, "spending yesterday", "2024-11-04T12:00:00Z", "on 2024-11-03 was $2,048.01"},
		// Quarters and years end at midnight in the tenant's zone.
		{newYork, "spending this quarter", "2024-04-01T03:59:59Z", "from 2024-01-01 to 2024-03-31 was $127.07"},
		{utc, "spending this quarter", "2024-04-01T03:59:59Z", "2024-04-01 was $128.01"},
		{utc, "spending last quarter", "2024-07-01T00:00:00Z", "from 2024-04-01 to 2024-06-30 was $384.02"},
		{berlin, "spending this quarter", "2024-06-30T22:00:00Z", "on 2024-07-01 was $512.01"},
		{newYork, "spending this year", "2025-01-01T04:59:59Z", "in 2024 was $16,383.14"},
		{berlin, "spending this year", "2024-12-31T23:00:00Z", "on 2025-01-01 was $16,384.01"},
	} {
		a, err := question.NewEngine(store, now).Ask(t.Context(), c.tenant, question.Ask{Text: c.text, AsOf: at(t, c.asOf), Depth: 1})
		check(t, err)
		if !strings.Contains(a.Answer, c.says) {
			t.Errorf("%s: %s as of %s: %s\nwant %q", c.tenant, c.text, c.asOf, a.Answer, c.says)
		}
	}
	settings, err := json.Marshal(tenant.Settings{TimeZone: "Mars/Olympus"})
	check(t, err)
	o := owner(t, "mars")
	check(t, store.Commit(t.Context(), record.Change{Puts: []record.Put{{Blind: true, Item: record.Item{Key: key.Settings(o), Body: settings}}}}))
	if _, err := question.NewEngine(store, now).Ask(t.Context(), o, question.Ask{Text: "cash", Depth: 1}); err == nil {
		t.Error("a zone that is none is taken")
	}
}

// TestGuarded: what people and agents decide needs a scope of its own, and is not
// read before it is there.
func TestGuarded(t *testing.T) {
	check(t, seed())
	engine := question.NewEngine(store, now)
	for _, text := range []string{"What is waiting for approval?", "What does our policy allow?", "What did our agents propose lately?", "Who must approve a payment of $60,000 to AWS?"} {
		_, err := engine.Ask(t.Context(), owner(t, demo.Acme), question.Ask{Text: text, AsOf: at(t, closing), Depth: 3, Scopes: identity.Scopes{identity.WikiRead}})
		if !fault.Is(err, fault.AuthScopeInsufficient) || fmt.Sprint(fault.Of(err).Details["required"]) != "[wiki:read execution:read]" {
			t.Errorf("%s: %v", text, err)
		}
		if _, err = engine.Ask(t.Context(), owner(t, demo.Acme), question.Ask{Text: text, AsOf: at(t, closing), Depth: 3, Scopes: identity.Scopes{identity.WikiRead, identity.ExecutionRead}}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if a := ask(t, demo.Acme, "cash position", closing); !a.Answered {
		t.Errorf("without the scope: %s", a.Answer)
	}
}

// thinking counts how often a plan is made.
type thinking struct {
	question.Planner
	n int
}

func (p *thinking) Plan(ctx context.Context, asked question.Asked) (question.Planned, error) {
	p.n++
	planned, err := p.Planner.Plan(ctx, asked)
	planned.Usage = question.Usage{InputTokens: 5, OutputTokens: 2}
	return planned, err
}

// TestCache: an answer is given again for 300 s, to the same tenant for the same
// question and day, and never across a write to the ledger.
func TestCache(t *testing.T) {
	check(t, seed())
	revision, clock := "1", now()
	planner := &thinking{Planner: question.NewRules(store)}
	engine := &question.Engine{Store: store, Planner: planner, Now: func() time.Time { return clock }, Cache: &question.Cache{
		Revision: func(context.Context, identity.Tenant) (string, error) { return revision, nil },
	}}
	asked := func(tenant, text, asOf string, depth int) question.Answer {
		a, err := engine.Ask(t.Context(), owner(t, tenant), question.Ask{Text: text, AsOf: at(t, asOf), Depth: depth, Scopes: identity.Scopes{identity.ExecutionRead}})
		check(t, err)
		return a
	}
	const text = "What is our cash position?"
	first := asked(demo.Acme, text, closing, 3)
	for _, step := range []struct {
		name   string
		do     func() question.Answer
		anew   bool
		change func()
	}{
		{"again", func() question.Answer { return asked(demo.Acme, text, closing, 3) }, false, nil},
		{"another moment of the day", func() question.Answer { return asked(demo.Acme, text, "2025-09-30T08:00:00Z", 3) }, false, nil},
		{"another day", func() question.Answer { return asked(demo.Acme, text, "2025-09-29T08:00:00Z", 3) }, true, nil},
		{"another tenant", func() question.Answer { return asked(demo.Globex, text, closing, 3) }, true, nil},
		{"another question", func() question.Answer { return asked(demo.Acme, "runway", closing, 3) }, true, nil},
		{"another depth", func() question.Answer { return asked(demo.Acme, text, closing, 1) }, true, nil},
		{"after 299 s", func() question.Answer { return asked(demo.Acme, text, closing, 3) }, false, func() { clock = clock.Add(299 * time.Second) }},
		{"after 300 s", func() question.Answer { return asked(demo.Acme, text, closing, 3) }, true, func() { clock = clock.Add(time.Second) }},
		{"after a write", func() question.Answer { return asked(demo.Acme, text, closing, 3) }, true, func() { revision = "2" }},
		{"after it", func() question.Answer { return asked(demo.Acme, text, closing, 3) }, false, nil},
		{"what waits", func() question.Answer { return asked(demo.Acme, "what waits for approval", closing, 3) }, true, nil},
		{"what waits, again", func() question.Answer { return asked(demo.Acme, "what waits for approval", closing, 3) }, true, nil},
	} {
		if step.change != nil {
			step.change()
		}
		before := planner.n
		a := step.do()
		if anew := planner.n > before; anew != step.anew {
			t.Errorf("%s: planned anew %v, want %v", step.name, anew, step.anew)
		}
		if a.Usage.InputTokens > 0 != step.anew {
			t.Errorf("%s: %d tokens reported", step.name, a.Usage.InputTokens)
		}
		if !step.anew && a.Answer != first.Answer {
			t.Errorf("%s: %s", step.name, a.Answer)
		}
	}
}
