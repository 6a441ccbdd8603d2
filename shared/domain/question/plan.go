// Package question answers questions about a company's money from its ledger.
// A planner reads the words and makes a Plan; the executor runs the plan over
// rollups and indexed queries. Every number in an answer is computed here, in
// decimal and per currency, over rows of the ledger: a planner, whatever it is,
// never writes one.
package question

import (
	"context"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// Measure is what a plan is after.
type Measure string

// The measures there are.
const (
	Cash          Measure = "cash"          // available balance of active checking and savings accounts
	Balance       Measure = "balance"       // current balance of accounts
	Spending      Measure = "spending"      // outflow, posted or cleared
	Revenue       Measure = "revenue"       // inflow, posted or cleared
	Net           Measure = "net"           // inflow less outflow
	Average       Measure = "average"       // of a flow, by transaction or by day, week or month
	Burn          Measure = "burn"          // outflow less inflow, a month on average
	Runway        Measure = "runway"        // how long the cash lasts at that
	Largest       Measure = "largest"       // single transactions
	Count         Measure = "count"         // of transactions
	Transactions  Measure = "transactions"  // the newest of them
	Due           Measure = "due"           // what is to be paid, by its date
	Overdue       Measure = "overdue"       // what should have been paid
	Payables      Measure = "payables"      // what is owed, whenever it is due
	Receivables   Measure = "receivables"   // what is owed to us
	Invoice       Measure = "invoice"       // one invoice and its payments
	Invoices      Measure = "invoices"      // lists of them
	Subscriptions Measure = "subscriptions" // what recurs and what it costs a month
	Party         Measure = "counterparty"  // who somebody is
	PaidBefore    Measure = "paid_before"   // whether somebody was paid
	PolicyRules   Measure = "policy"        // what the policy allows, or says of one payment
	Waiting       Measure = "waiting"       // what waits for people
	Proposed      Measure = "proposals"     // what agents proposed
)

// The rows a plan reads, its groupings and its orders.
const (
	Accounts     = "account"
	Transaction  = "transaction"
	Obligation   = "obligation"
	InvoiceRows  = "invoice"
	PartyRows    = "counterparty"
	PolicyRow    = "policy"
	ProposalRows = "proposal"

	ByCategory = "category"
	ByParty    = "counterparty"
	ByAccount  = "account"
	ByDay      = "day"
	ByWeek     = "week"
	ByMonth    = "month"
	ByAge      = "age"

	NewestFirst  = "newest"
	LargestFirst = "largest"
	ByDueDate    = "due_date"
)

// Plan is what will be computed, as a small document. It holds no number that
// an answer repeats but its limit and the amounts it filters by.
type Plan struct {
	Measure    Measure `json:"measure"`
	Entity     string  `json:"entity"`
	Filters    Filters `json:"filters"`
	Period     *Period `json:"period"`
	Comparison *Period `json:"comparison"` // what the period is held against
	Grouping   string  `json:"grouping"`   // empty is none
	Order      string  `json:"order"`
	Limit      int     `json:"limit"` // most rows or groups; 0 is all
}

// Filters narrow a plan. Empty members do not.
type Filters struct {
	AccountID      string `json:"account_id,omitempty"`
	AccountType    string `json:"account_type,omitempty"`
	CounterpartyID string `json:"counterparty_id,omitempty"`
	Category       string `json:"category,omitempty"` // folded, as rollups have it
	Direction      string `json:"direction,omitempty"`
	Status         string `json:"status,omitempty"`
	Reconciliation string `json:"reconciliation_status,omitempty"`
	Type           string `json:"type,omitempty"` // of obligations
	Currency       string `json:"currency,omitempty"`
	InvoiceNumber  string `json:"invoice_number,omitempty"` // or an inv_ id
	Amount         string `json:"amount,omitempty"`         // decimals in Currency, at or above zero
	AmountOver     string `json:"amount_over,omitempty"`
	AmountUnder    string `json:"amount_under,omitempty"`
}

// Settled is the status of what has moved money: posted or cleared.
const Settled = "settled"

// Period is a range of days, the last one not included.
type Period struct {
	From  string `json:"from"`  // YYYY-MM-DD
	Until string `json:"until"` // YYYY-MM-DD
	Label string `json:"label"` // as a person calls it
}

// beginning is where a period begins that reaches as far back as the ledger.
const beginning = "1970-01-01"

// Asked is a question as a planner gets it. Relative periods count from AsOf,
// which is in the tenant's time zone.
type Asked struct {
	Tenant identity.Tenant
	Text   string
	AsOf   time.Time
}

// Usage is how many tokens of a model a plan took.
type Usage struct {
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"`
}

// Planned is a plan, and who made it.
type Planned struct {
	Plan  Plan
	Model string // the planner's name in answers
	Usage Usage
}

// Planner turns a question into a plan. A question it cannot read whole is an
// *Unanswered; any other error is a failure. Model and Usage are set in either
// case.
type Planner interface {
	Plan(ctx context.Context, asked Asked) (Planned, error)
}

// Names are the names a question may use. Each call is a bounded read.
type Names interface {
	// Accounts are the tenant's accounts.
	Accounts(ctx context.Context, asked Asked) ([]ledger.Account, error)
	// Counterparties are those with a name or alias that holds a folded text.
	Counterparties(ctx context.Context, asked Asked, text string) ([]ledger.Counterparty, error)
	// Categories are those of the latest months.
	Categories(ctx context.Context, asked Asked) ([]Category, error)
}

// Unanswered says why there is no answer: what is missing, or what was not
// understood. It is shown to the caller.
type Unanswered struct{ Reason string }

// Error is the reason, as sentences for the caller.
func (u *Unanswered) Error() string { return u.Reason }

func unanswered(format string, args ...any) error {
	return &Unanswered{fmt.Sprintf(format, args...)}
}

// Guarded says whether a plan reads what only execution:read opens: proposals,
// authorizations, the policy.
func (p Plan) Guarded() bool {
	return p.Measure == PolicyRules || p.Measure == Waiting || p.Measure == Proposed
}
