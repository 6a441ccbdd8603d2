package question

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/tenant"
)

// maxEvidence is how many rows an answer cites.
const maxEvidence = 8

// Evidence is a row that carries an answer.
type Evidence struct {
	EntityID   string `json:"entityId"`
	EntityType string `json:"entityType"` // ledger_transaction and its kin
	Excerpt    string `json:"excerpt"`
}

// Answer is what a question gets. Without an answer, Answered is false and
// Answer says what is missing or what was not understood.
type Answer struct {
	Question string     `json:"question"`
	Answered bool       `json:"answered"`
	Answer   string     `json:"answer"`
	Evidence []Evidence `json:"evidence"` // the largest contributors first
	Model    string     `json:"model"`
	Usage    Usage      `json:"usage"`
	Plan     *Plan      `json:"plan"` // null where the question was not understood
}

// Text is the answer for a person.
func (a Answer) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Q:** %s\n**A:** %s", fence.Line(a.Question, maxQuestion), a.Answer)
	if len(a.Evidence) > 0 {
		b.WriteString("\n\nCited evidence:")
		for _, e := range a.Evidence {
			fmt.Fprintf(&b, "\n  - `%s` (%s): %s", e.EntityID, e.EntityType, e.Excerpt)
		}
	}
	return b.String()
}

// maxQuestion is how long a question may be, in characters.
const maxQuestion = 2000

// Policies are the policies in force, as a charter.Register loads them.
type Policies interface {
	Load(ctx context.Context, t identity.Tenant, items map[key.Key]record.Item) (charter.Active, error)
}

// Engine answers questions. It writes nothing.
type Engine struct {
	Store    record.Store
	Planner  Planner
	Policies Policies // nil where there are none
	Now      func() time.Time
	Cache    *Cache // nil answers everything anew
}

// NewEngine is an engine with the embedded planner.
func NewEngine(store record.Store, now func() time.Time) *Engine {
	return &Engine{Store: store, Planner: NewRules(store), Now: now}
}

// NewRules is the embedded planner over the names of a table.
func NewRules(store record.Store) Rules { return Rules{Names: directory{store}} }

// Ask is one question. A zero AsOf is now; Depth from 1 to 5 says how far links
// are followed for evidence: 1 the rows that carry the numbers, 2 what they are
// linked to, 3 whom those belong to. Scopes are the caller's: what a plan reads
// of proposals and policies needs one more than the question itself.
type Ask struct {
	Text   string
	AsOf   time.Time
	Depth  int
	Scopes identity.Scopes
}

// Ask answers a question. What cannot be answered is an answer too; an error is
// a failure, such as a table that cannot be reached, or a scope that the answer
// would need.
func (e *Engine) Ask(ctx context.Context, t identity.Tenant, ask Ask) (Answer, error) {
	now := e.Now()
	if ask.AsOf.IsZero() {
		ask.AsOf = now
	}
	zone, err := e.zone(ctx, t)
	if err != nil {
		return Answer{}, err
	}
	now, ask.AsOf = now.In(zone), ask.AsOf.In(zone)
	if e.Cache == nil {
		return e.answer(ctx, t, ask, now)
	}
	return e.Cache.answer(ctx, t, ask, now, func() (Answer, error) { return e.answer(ctx, t, ask, now) })
}

// zone is the tenant's time zone, in which its days begin and end.
func (e *Engine) zone(ctx context.Context, t identity.Tenant) (*time.Location, error) {
	item, _, err := e.Store.Get(ctx, key.Settings(t))
	if err != nil {
		return nil, err
	}
	settings, err := tenant.Read(item)
	if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(settings.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("time zone of the tenant: %w", err)
	}
	return zone, nil
}

func (e *Engine) answer(ctx context.Context, t identity.Tenant, ask Ask, now time.Time) (Answer, error) {
	answer := Answer{Question: ask.Text, Evidence: []Evidence{}}
	planned, err := e.Planner.Plan(ctx, Asked{Tenant: t, Text: ask.Text, AsOf: ask.AsOf})
	answer.Model, answer.Usage = planned.Model, planned.Usage
	if err != nil {
		return answer.without(err)
	}
	plan := planned.Plan
	if err := plan.Validate(); err != nil {
		return answer.without(unanswered("The plan for this question is not one that is computed."))
	}
	if plan.Guarded() && !ask.Scopes.Has(identity.ExecutionRead) {
		return Answer{}, fault.New(fault.AuthScopeInsufficient, "A question about proposals, approvals or the policy needs the scope %s too. Ask for a token that has it.", identity.ExecutionRead).
			With("required", identity.Scopes{identity.WikiRead, identity.ExecutionRead}.Strings()).With("held", ask.Scopes.Strings())
	}
	answer.Plan = &plan
	run := &execution{
		store: e.Store, policies: e.Policies, tenant: t, asOf: ask.AsOf, day: today(ask.AsOf), past: today(ask.AsOf) < today(now),
		ledger: &ledger.Reader{Store: e.Store, Now: func() time.Time { return ask.AsOf }}, plan: plan, depth: ask.Depth,
	}
	text, err := run.answer(ctx)
	if err != nil {
		return answer.without(err)
	}
	answer.Answered, answer.Answer, answer.Evidence = true, text, run.cited()
	return answer, nil
}

// without is the answer to a question that has none; another error stays one.
func (a Answer) without(err error) (Answer, error) {
	var why *Unanswered
	if !errors.As(err, &why) {
		return Answer{}, err
	}
	a.Answer = why.Reason
	return a, nil
}

// execution runs one plan.
type execution struct {
	store    record.Store
	policies Policies
	ledger   *ledger.Reader
	tenant   identity.Tenant
	asOf     time.Time // in the tenant's zone
	day      string    // of asOf
	past     bool      // that day is before today
	plan     Plan
	depth    int
	cites    []cite
	party    string                     // the counterparty the plan is about, as answers call it
	ranked   map[money.Currency][]group // counterparties of the period
	known    []ledger.Account           // the tenant's accounts, once read
}

// cite is evidence and how many links away from the numbers it lies, from 1.
type cite struct {
	Evidence
	depth int
}

func (x *execution) cite(depth int, kind, name, excerpt string) {
	x.citeAs(depth, "ledger_"+kind, name, excerpt)
}

// citeAs cites what is no row of the ledger.
func (x *execution) citeAs(depth int, kind, name, excerpt string) {
	x.cites = append(x.cites, cite{Evidence{name, kind, excerpt}, depth})
}

// cited is the evidence within reach, each row once; near rows come first, in
// the order they were cited in.
func (x *execution) cited() []Evidence {
	list, seen := []Evidence{}, map[string]bool{}
	for depth := 1; depth <= x.depth; depth++ {
		for _, c := range x.cites {
			if c.depth == depth && !seen[c.EntityID] && len(list) < maxEvidence {
				seen[c.EntityID] = true
				list = append(list, c.Evidence)
			}
		}
	}
	return list
}

// computed are the ways to run a plan, by its measure.
var computed = map[Measure]func(*execution, context.Context) (string, error){
	Cash: (*execution).balances, Balance: (*execution).balances, Spending: (*execution).flow, Revenue: (*execution).flow, Net: (*execution).flow,
	Average: (*execution).average, Burn: (*execution).burn, Runway: (*execution).runway, Largest: (*execution).largest, Count: (*execution).count,
	Transactions: (*execution).transactions, Due: (*execution).due, Overdue: (*execution).overdue, Payables: (*execution).payables,
	Receivables: (*execution).receivables, Invoice: (*execution).invoice, Invoices: (*execution).invoices, Subscriptions: (*execution).subscriptions,
	Party: (*execution).counterparty, PaidBefore: (*execution).paidBefore, PolicyRules: (*execution).policy, Waiting: (*execution).waiting, Proposed: (*execution).proposals,
}

func (x *execution) answer(ctx context.Context) (string, error) {
	compute, known := computed[x.plan.Measure]
	if !known {
		return "", unanswered("The plan for this question is not one that is computed.")
	}
	return compute(x, ctx)
}

// flow answers with totals, groups of them, or how they changed.
func (x *execution) flow(ctx context.Context) (string, error) {
	switch {
	case x.plan.Comparison != nil:
		return x.comparison(ctx)
	case x.plan.Grouping == ByMonth:
		return x.monthly(ctx)
	case x.plan.Grouping != "":
		return x.ranking(ctx)
	case x.plan.Measure == Net:
		return x.net(ctx)
	}
	return x.total(ctx)
}
