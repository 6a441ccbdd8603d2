// Package question answers questions about a company's money from its ledger.
// A planner reads the words and makes a Plan; the executor runs the plan over
// rollups and indexed queries. Every number in an answer is computed here, in
// decimal and per currency, over rows of the ledger: a planner, whatever it is,
// never writes one.
package question

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// Measure is what a plan is after.
type Measure string

// The measures there are.
const (
	Cash         Measure = "cash"         // available balance of active checking and savings accounts
	Balance      Measure = "balance"      // current balance of accounts
	Transactions Measure = "transactions" // the newest of them
	Due          Measure = "due"          // what is to be paid, by its date
	Overdue      Measure = "overdue"      // what should have been paid
	Invoice      Measure = "invoice"      // one invoice and its payments
	Spending     Measure = "spending"     // outflow, posted or cleared, the largest groups first
)

// The rows a plan reads, its groupings and its orders.
const (
	Accounts     = "account"
	Transaction  = "transaction"
	Obligation   = "obligation"
	Invoices     = "invoice"
	ByCategory   = "category"
	ByParty      = "counterparty"
	ByAccount    = "account"
	NewestFirst  = "newest"
	LargestFirst = "largest"
	ByDueDate    = "due_date"
)

// Plan is what will be computed, as a small document. It holds no number that
// an answer repeats but its limit.
type Plan struct {
	Measure    Measure `json:"measure"`
	Entity     string  `json:"entity"`
	Filters    Filters `json:"filters"`
	Period     *Period `json:"period"`
	Comparison *Period `json:"comparison"` // no measure takes one yet
	Grouping   string  `json:"grouping"`   // empty is none
	Order      string  `json:"order"`
	Limit      int     `json:"limit"` // most rows or groups; 0 is all
}

// Filters narrow a plan. Empty members do not.
type Filters struct {
	AccountID      string `json:"account_id,omitempty"`
	AccountType    string `json:"account_type,omitempty"`
	CounterpartyID string `json:"counterparty_id,omitempty"`
	Direction      string `json:"direction,omitempty"`
	Status         string `json:"status,omitempty"`
	Currency       string `json:"currency,omitempty"`
	InvoiceNumber  string `json:"invoice_number,omitempty"` // or an inv_ id
}

// Period is a range of days, the last one not included.
type Period struct {
	From  string `json:"from"`  // YYYY-MM-DD
	Until string `json:"until"` // YYYY-MM-DD
	Label string `json:"label"` // as a person calls it
}

// Asked is a question as a planner gets it. Relative periods count from AsOf,
// which is in UTC.
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

// Planner turns a question into a plan. A question it cannot read whole is an
// *Unanswered; any other error is a failure.
type Planner interface {
	Model() string
	Plan(ctx context.Context, asked Asked) (Plan, Usage, error)
}

// Unanswered says why there is no answer: what is missing, or what was not
// understood. It is shown to the caller.
type Unanswered struct{ Reason string }

// Error is the reason, as sentences for the caller.
func (u *Unanswered) Error() string { return u.Reason }

func unanswered(format string, args ...any) error {
	return &Unanswered{fmt.Sprintf(format, args...)}
}

const (
	// maxTransactions is how many transactions an answer lists.
	maxTransactions = 50
	// maxGroups is how many groups an answer ranks.
	maxGroups = 8
)

// form is what a plan of a measure may say.
type form struct {
	entity    string
	groupings []string
	order     string
	limit     int
	filters   []string
	period    bool // must have one; otherwise it may where mayPeriod says so
	mayPeriod bool
}

var forms = map[Measure]form{
	Cash:         {entity: Accounts, groupings: []string{ByAccount}, order: LargestFirst, filters: []string{"currency"}},
	Balance:      {entity: Accounts, groupings: []string{ByAccount}, order: LargestFirst, filters: []string{"account_id", "account_type", "currency"}},
	Transactions: {entity: Transaction, groupings: []string{""}, order: NewestFirst, limit: maxTransactions, mayPeriod: true, filters: []string{"account_id", "account_type", "counterparty_id", "direction", "status", "currency"}},
	Due:          {entity: Obligation, groupings: []string{""}, order: ByDueDate, period: true, filters: []string{"counterparty_id", "currency"}},
	Overdue:      {entity: Obligation, groupings: []string{""}, order: ByDueDate, filters: []string{"counterparty_id", "currency"}},
	Invoice:      {entity: Invoices, groupings: []string{""}, order: NewestFirst, filters: []string{"invoice_number", "counterparty_id"}},
	Spending:     {entity: Transaction, groupings: []string{ByCategory, ByParty}, order: LargestFirst, limit: maxGroups, period: true, filters: []string{"currency"}},
}

// Validate refuses a plan the executor does not run, whoever made it.
func (p Plan) Validate() error {
	f, known := forms[p.Measure]
	switch {
	case !known:
		return fmt.Errorf("measure %.40q is not known", p.Measure)
	case p.Entity != f.entity || p.Order != f.order || !slices.Contains(f.groupings, p.Grouping):
		return fmt.Errorf("%s is not computed over entity %.40q by %.40q in the order %.40q", p.Measure, p.Entity, p.Grouping, p.Order)
	case f.limit == 0 && p.Limit != 0, f.limit > 0 && (p.Limit < 1 || p.Limit > f.limit):
		return fmt.Errorf("%s takes no limit of %d", p.Measure, p.Limit)
	case p.Comparison != nil:
		return fmt.Errorf("%s is not compared", p.Measure)
	case p.Period == nil && f.period, p.Period != nil && !f.period && !f.mayPeriod:
		return fmt.Errorf("%s: a period is missing, or one came that is not taken", p.Measure)
	case p.Measure == Invoice && p.Filters.InvoiceNumber == "":
		return fmt.Errorf("%s: the number is missing", p.Measure)
	}
	if err := p.Period.check(); err != nil {
		return err
	}
	return p.Filters.check(f.filters)
}

func (p *Period) check() error {
	if p == nil {
		return nil
	}
	from, err := time.Parse(time.DateOnly, p.From)
	if err != nil {
		return fmt.Errorf("period from: %w", err)
	}
	until, err := time.Parse(time.DateOnly, p.Until)
	if err != nil {
		return fmt.Errorf("period until: %w", err)
	}
	if !from.Before(until) {
		return fmt.Errorf("period from %s until %s holds no day", p.From, p.Until)
	}
	return nil
}

// check lets only the named filters be set, each to something well formed: a
// filter becomes a part of a key.
func (f Filters) check(taken []string) error {
	for name, value := range map[string]string{
		"account_id": f.AccountID, "account_type": f.AccountType, "counterparty_id": f.CounterpartyID, "direction": f.Direction,
		"status": f.Status, "currency": f.Currency, "invoice_number": f.InvoiceNumber,
	} {
		if value == "" {
			continue
		}
		if !slices.Contains(taken, name) {
			return fmt.Errorf("the filter %s is not taken", name)
		}
		if err := wellFormed(name, value); err != nil {
			return fmt.Errorf("filter %s: %w", name, err)
		}
	}
	return nil
}

func wellFormed(filter, value string) error {
	var vocabulary []string
	switch filter {
	case "account_id":
		return id.Check(id.Account, value)
	case "counterparty_id":
		return id.Check(id.Counterparty, value)
	case "currency":
		_, err := money.Parse(value)
		return err
	case "invoice_number":
		if len(value) > 128 {
			return fmt.Errorf("%d bytes, want at most 128", len(value))
		}
		return nil
	case "account_type":
		vocabulary = ledger.AccountTypes
	case "direction":
		vocabulary = ledger.Directions
	case "status":
		vocabulary = ledger.TransactionStatuses
	}
	if !slices.Contains(vocabulary, value) {
		return fmt.Errorf("%.40q: want one of %v", value, vocabulary)
	}
	return nil
}
