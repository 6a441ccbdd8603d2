package question_test

import (
	"context"
	"errors"
	"testing"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/shared/domain/question"
)

// fixed is a planner that always makes one plan, as a model may.
type fixed struct {
	plan question.Plan
	err  error
}

func (f fixed) Plan(context.Context, question.Asked) (question.Planned, error) {
	return question.Planned{Plan: f.plan, Model: "fixed", Usage: question.Usage{InputTokens: 7, OutputTokens: 3}}, f.err
}

func cashPlan() question.Plan {
	return question.Plan{Measure: question.Cash, Entity: question.Accounts, Grouping: question.ByAccount, Order: question.LargestFirst}
}

func comparedPlan() question.Plan {
	return question.Plan{Measure: question.Spending, Entity: question.Transaction, Order: question.LargestFirst,
		Period: &question.Period{From: "2025-09-01", Until: "2025-10-01", Label: "September 2025"}, Comparison: &question.Period{From: "2025-08-01", Until: "2025-09-01", Label: "August 2025"}}
}

func topPlan(from, until string) question.Plan {
	return question.Plan{Measure: question.Spending, Entity: question.Transaction, Grouping: question.ByCategory, Order: question.LargestFirst, Limit: 1,
		Period: &question.Period{From: from, Until: until, Label: "then"}}
}

// TestValidate: a plan that is not one of those computed is refused, whoever
// made it.
func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*question.Plan)
		fine   bool
	}{
		"as it is":           {func(*question.Plan) {}, true},
		"a currency":         {func(p *question.Plan) { p.Filters.Currency = "EUR" }, true},
		"no measure":         {func(p *question.Plan) { p.Measure = "" }, false},
		"unknown measure":    {func(p *question.Plan) { p.Measure = "everything" }, false},
		"another entity":     {func(p *question.Plan) { p.Entity = "member" }, false},
		"another order":      {func(p *question.Plan) { p.Order = "random" }, false},
		"another grouping":   {func(p *question.Plan) { p.Grouping = question.ByCategory }, false},
		"a limit":            {func(p *question.Plan) { p.Limit = 1 }, false},
		"a period":           {func(p *question.Plan) { p.Period = topPlan("2025-09-01", "2025-10-01").Period }, false},
		"a comparison":       {func(p *question.Plan) { p.Comparison = topPlan("2025-09-01", "2025-10-01").Period }, false},
		"spending compared":  {func(p *question.Plan) { *p = comparedPlan() }, true},
		"a ranking compared": {func(p *question.Plan) { *p = comparedPlan(); p.Grouping, p.Limit = question.ByCategory, 1 }, false},
		"an empty comparison": {func(p *question.Plan) {
			*p = comparedPlan()
			p.Comparison = &question.Period{From: "2025-08-01", Until: "2025-08-01"}
		}, false},
		"a category":                {func(p *question.Plan) { *p = comparedPlan(); p.Filters.Category = "travel" }, true},
		"a category not folded":     {func(p *question.Plan) { *p = comparedPlan(); p.Filters.Category = "Travel" }, false},
		"an amount and no currency": {func(p *question.Plan) { *p = comparedPlan(); p.Filters.AmountOver = "5" }, false},
		"an amount":                 {func(p *question.Plan) { *p = comparedPlan(); p.Filters.AmountOver, p.Filters.Currency = "5.00", "USD" }, true},
		"an amount of too many decimals": {func(p *question.Plan) {
			*p = comparedPlan()
			p.Filters.AmountOver, p.Filters.Currency = "5.001", "USD"
		}, false},
		"a status of bills": {func(p *question.Plan) {
			*p = question.Plan{Measure: question.Payables, Entity: "obligation", Order: "due_date", Filters: question.Filters{Status: "posted"}}
		}, false},
		"a filter not taken": {func(p *question.Plan) { p.Filters.CounterpartyID = "cp_aws" }, false},
		"no currency":        {func(p *question.Plan) { p.Filters.Currency = "usd" }, false},
		"another partition":  {func(p *question.Plan) { p.Measure, p.Filters.AccountID = question.Balance, "acct_1#tx" }, false},
		"unknown type":       {func(p *question.Plan) { p.Measure, p.Filters.AccountType = question.Balance, "piggy_bank" }, false},
		"a known type":       {func(p *question.Plan) { p.Measure, p.Filters.AccountType = question.Balance, "card" }, true},
		"an invoice, no number": {func(p *question.Plan) {
			*p = question.Plan{Measure: question.Invoice, Entity: "invoice", Order: "newest"}
		}, false},
		"spending":           {func(p *question.Plan) { *p = topPlan("2025-09-01", "2025-10-01") }, true},
		"no period":          {func(p *question.Plan) { *p = topPlan("", ""); p.Period = nil }, false},
		"no date":            {func(p *question.Plan) { *p = topPlan("2025-9-1", "2025-10-01") }, false},
		"an empty period":    {func(p *question.Plan) { *p = topPlan("2025-09-01", "2025-09-01") }, false},
		"a period backwards": {func(p *question.Plan) { *p = topPlan("2025-10-01", "2025-09-01") }, false},
		"no limit":           {func(p *question.Plan) { *p = topPlan("2025-09-01", "2025-10-01"); p.Limit = 0 }, false},
		"too high a limit":   {func(p *question.Plan) { *p = topPlan("2025-09-01", "2025-10-01"); p.Limit = 9 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := cashPlan()
			c.change(&p)
			if err := p.Validate(); (err == nil) != c.fine {
				t.Errorf("%+v: %v", p, err)
			}
		})
	}
}

// TestOtherPlanners: the engine runs a good plan of any planner, answers nothing
// for a bad one, and hands on a failure.
func TestOtherPlanners(t *testing.T) {
	check(t, seed())
	run := func(p question.Planner) (question.Answer, error) {
		engine := question.Engine{Store: store, Planner: p, Now: now}
		return engine.Ask(t.Context(), owner(t, demo.Acme), question.Ask{Text: "?", AsOf: at(t, closing), Depth: 3})
	}
	a, err := run(fixed{plan: topPlan("2025-09-01", "2025-10-01")})
	if err != nil || !a.Answered || a.Model != "fixed" || a.Usage != (question.Usage{InputTokens: 7, OutputTokens: 3}) || a.Evidence[0].EntityID != "tx_4127" {
		t.Errorf("a good plan: %+v, %v", a, err)
	}
	bad := topPlan("2025-09-01", "2025-10-01")
	bad.Limit = 100
	if a, err = run(fixed{plan: bad}); err != nil || a.Answered || a.Plan != nil || a.Usage.InputTokens != 7 {
		t.Errorf("a bad plan: %+v, %v", a, err)
	}
	gone := errors.New("the model is gone")
	if _, err = run(fixed{err: gone}); !errors.Is(err, gone) {
		t.Errorf("a failure: %v", err)
	}
}

// TestPeriods reads periods out of questions, seen from Tuesday, 30 September
// 2025, or from another day.
func TestPeriods(t *testing.T) {
	for text, want := range map[string]question.Period{
		"top vendor today":                     {From: "2025-09-30", Until: "2025-10-01", Label: "2025-09-30"},
		"top vendor yesterday":                 {From: "2025-09-29", Until: "2025-09-30", Label: "2025-09-29"},
		"top vendor this week":                 {From: "2025-09-29", Until: "2025-10-01", Label: "2025-09-29 to 2025-09-30"},
		"top vendor last week":                 {From: "2025-09-22", Until: "2025-09-29", Label: "2025-09-22 to 2025-09-28"},
		"top vendor this month":                {From: "2025-09-01", Until: "2025-10-01", Label: "September 2025"},
		"top vendor":                           {From: "2025-09-01", Until: "2025-10-01", Label: "September 2025"},
		"top vendor last month":                {From: "2025-08-01", Until: "2025-09-01", Label: "August 2025"},
		"top vendor month to date":             {From: "2025-09-01", Until: "2025-10-01", Label: "September 2025"},
		"top vendor last quarter":              {From: "2025-04-01", Until: "2025-07-01", Label: "2025-04-01 to 2025-06-30"},
		"top vendor in Q3 2024":                {From: "2024-07-01", Until: "2024-10-01", Label: "2024-07-01 to 2024-09-30"},
		"top vendor in q4":                     {From: "2024-10-01", Until: "2025-01-01", Label: "2024-10-01 to 2024-12-31"},
		"top vendor last year":                 {From: "2024-01-01", Until: "2025-01-01", Label: "2024"},
		"top vendor in 2024":                   {From: "2024-01-01", Until: "2025-01-01", Label: "2024"},
		"top vendor YTD":                       {From: "2025-01-01", Until: "2025-10-01", Label: "2025-01-01 to 2025-09-30"},
		"top vendor in February 2024":          {From: "2024-02-01", Until: "2024-03-01", Label: "February 2024"},
		"top vendor in feb":                    {From: "2025-02-01", Until: "2025-03-01", Label: "February 2025"},
		"top vendor in November":               {From: "2024-11-01", Until: "2024-12-01", Label: "November 2024"},
		"top vendor in May":                    {From: "2025-05-01", Until: "2025-06-01", Label: "May 2025"},
		"top vendor 2025-07":                   {From: "2025-07-01", Until: "2025-08-01", Label: "July 2025"},
		"top vendor 2025-07-04":                {From: "2025-07-04", Until: "2025-07-05", Label: "2025-07-04"},
		"top vendor in the last 30 days":       {From: "2025-09-01", Until: "2025-10-01", Label: "September 2025"},
		"top vendor over the past two weeks":   {From: "2025-09-17", Until: "2025-10-01", Label: "2025-09-17 to 2025-09-30"},
		"bills due this week":                  {From: "2025-09-29", Until: "2025-10-06", Label: "2025-09-29 to 2025-10-05"},
		"bills due within 7 days":              {From: "2025-09-30", Until: "2025-10-08", Label: "2025-09-30 to 2025-10-07"},
		"bills due in 3 weeks":                 {From: "2025-09-30", Until: "2025-10-22", Label: "2025-09-30 to 2025-10-21"},
		"bills due within the next two months": {From: "2025-09-30", Until: "2025-12-01", Label: "2025-09-30 to 2025-11-30"},
		"bills due by 2025-10-15":              {From: "2025-09-30", Until: "2025-10-16", Label: "2025-09-30 to 2025-10-15"},
		"bills due by tomorrow":                {From: "2025-09-30", Until: "2025-10-02", Label: "2025-09-30 to 2025-10-01"},
		"what do we have to pay by next week":  {From: "2025-09-30", Until: "2025-10-13", Label: "2025-09-30 to 2025-10-12"},
		"last 5 transactions from last month":  {From: "2025-08-01", Until: "2025-09-01", Label: "August 2025"},
		"bills due in January":                 {From: "2026-01-01", Until: "2026-02-01", Label: "January 2026"},
		"bills due next quarter":               {From: "2025-10-01", Until: "2026-01-01", Label: "2025-10-01 to 2025-12-31"},
	} {
		planned, err := question.Rules{Names: nameless{}}.Plan(t.Context(), question.Asked{Tenant: owner(t, "acme"), Text: text, AsOf: at(t, closing)})
		if err != nil || planned.Plan.Period == nil || *planned.Plan.Period != want {
			t.Errorf("%s: %+v, %v, want %+v", text, planned.Plan.Period, err, want)
		}
	}
}
