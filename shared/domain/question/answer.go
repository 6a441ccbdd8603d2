package question

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
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

// Engine answers questions. It writes nothing.
type Engine struct {
	Store   record.Store
	Planner Planner
	Now     func() time.Time
}

// NewEngine is an engine with the embedded planner.
func NewEngine(store record.Store, now func() time.Time) *Engine {
	return &Engine{Store: store, Planner: Rules{Names: directory{store}}, Now: now}
}

// Ask is one question. A zero AsOf is now; Depth from 1 to 5 says how far links
// are followed for evidence: 1 the rows that carry the numbers, 2 what they are
// linked to, 3 whom those belong to.
type Ask struct {
	Text  string
	AsOf  time.Time
	Depth int
}

// Ask answers a question. What cannot be answered is an answer too; an error is
// a failure, such as a table that cannot be reached.
func (e *Engine) Ask(ctx context.Context, t identity.Tenant, ask Ask) (Answer, error) {
	now := e.Now().UTC()
	if ask.AsOf.IsZero() {
		ask.AsOf = now
	}
	asked := Asked{Tenant: t, Text: ask.Text, AsOf: ask.AsOf.UTC()}
	answer := Answer{Question: ask.Text, Evidence: []Evidence{}, Model: e.Planner.Model()}
	plan, usage, err := e.Planner.Plan(ctx, asked)
	answer.Usage = usage
	if err != nil {
		return answer.without(err)
	}
	if err := plan.Validate(); err != nil {
		return answer.without(unanswered("The plan for this question is not one that is computed."))
	}
	answer.Plan = &plan
	run := &execution{
		store: e.Store, tenant: t, asOf: asked.AsOf, day: today(asked.AsOf), past: today(asked.AsOf) < today(now),
		ledger: &ledger.Reader{Store: e.Store, Now: func() time.Time { return asked.AsOf }}, plan: plan, depth: ask.Depth,
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
	store  record.Store
	ledger *ledger.Reader
	tenant identity.Tenant
	asOf   time.Time
	day    string // of asOf
	past   bool   // that day is before today
	plan   Plan
	depth  int
	cites  []cite
	party  string                     // the counterparty the plan is about, as answers call it
	ranked map[money.Currency][]group // counterparties of the period
}

// cite is evidence and how many links away from the numbers it lies, from 1.
type cite struct {
	Evidence
	depth int
}

func (x *execution) cite(depth int, kind, name, excerpt string) {
	x.cites = append(x.cites, cite{Evidence{name, "ledger_" + kind, excerpt}, depth})
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

func (x *execution) answer(ctx context.Context) (string, error) {
	switch x.plan.Measure {
	case Cash, Balance:
		return x.balances(ctx)
	case Transactions:
		return x.transactions(ctx)
	case Due:
		return x.due(ctx)
	case Overdue:
		return x.overdue(ctx)
	case Invoice:
		return x.invoice(ctx)
	case Spending:
		return x.spending(ctx)
	}
	return "", unanswered("The plan for this question is not one that is computed.")
}
