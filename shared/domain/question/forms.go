package question

import (
	"fmt"
	"slices"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
)

const (
	// maxTransactions is how many transactions, invoices or proposals an answer
	// lists.
	maxTransactions = 50
	// maxGroups is how many groups an answer ranks.
	maxGroups = 8
	// maxMonths is how many months an answer lists one by one.
	maxMonths = 24
)

// needs is whether a form has a part of a plan.
type needs int

const (
	never needs = iota
	may
	must
)

// form is what a plan of a measure may say.
type form struct {
	entity     string
	groupings  []string
	orders     []string
	limit      int // the highest; 0 takes none
	filters    []string
	wants      []string // filters that must be set
	period     needs
	comparison needs
}

var (
	flowFilters = []string{"account_id", "account_type", "counterparty_id", "category", "currency", "amount_over", "amount_under"}
	rowFilters  = append([]string{"direction", "status", "reconciliation_status"}, flowFilters...)
	owedFilters = []string{"counterparty_id", "type", "currency", "status"}
	flat        = []string{""}
	grouped     = []string{"", ByCategory, ByParty, ByMonth}
)

var forms = map[Measure]form{
	Cash:          {entity: Accounts, groupings: []string{ByAccount}, orders: []string{LargestFirst}, filters: []string{"currency"}},
	Balance:       {entity: Accounts, groupings: []string{ByAccount}, orders: []string{LargestFirst}, filters: []string{"account_id", "account_type", "currency"}},
	Spending:      {entity: Transaction, groupings: grouped, orders: []string{LargestFirst}, limit: maxMonths, filters: flowFilters, period: must, comparison: may},
	Revenue:       {entity: Transaction, groupings: grouped, orders: []string{LargestFirst}, limit: maxMonths, filters: flowFilters, period: must, comparison: may},
	Net:           {entity: Transaction, groupings: []string{"", ByMonth}, orders: []string{LargestFirst}, limit: maxMonths, filters: flowFilters, period: must, comparison: may},
	Average:       {entity: Transaction, groupings: []string{"", ByDay, ByWeek, ByMonth}, orders: []string{LargestFirst}, filters: append([]string{"direction"}, flowFilters...), period: must},
	Burn:          {entity: Transaction, groupings: []string{ByMonth}, orders: []string{LargestFirst}, filters: []string{"currency"}, period: must},
	Runway:        {entity: Accounts, groupings: []string{ByMonth}, orders: []string{LargestFirst}, filters: []string{"currency"}, period: must},
	Largest:       {entity: Transaction, groupings: flat, orders: []string{LargestFirst}, limit: maxGroups, filters: append([]string{"direction"}, flowFilters...), wants: []string{"direction"}, period: must},
	Count:         {entity: Transaction, groupings: flat, orders: []string{NewestFirst}, filters: rowFilters, period: must},
	Transactions:  {entity: Transaction, groupings: flat, orders: []string{NewestFirst}, limit: maxTransactions, filters: rowFilters, period: may},
	Due:           {entity: Obligation, groupings: flat, orders: []string{ByDueDate}, limit: 1, filters: owedFilters, period: must},
	Overdue:       {entity: Obligation, groupings: flat, orders: []string{ByDueDate}, filters: owedFilters},
	Payables:      {entity: Obligation, groupings: []string{"", ByParty}, orders: []string{ByDueDate, LargestFirst}, limit: maxGroups, filters: owedFilters},
	Receivables:   {entity: InvoiceRows, groupings: []string{"", ByParty, ByAge}, orders: []string{ByDueDate, LargestFirst}, limit: maxGroups, filters: owedFilters},
	Invoice:       {entity: InvoiceRows, groupings: flat, orders: []string{NewestFirst}, filters: []string{"invoice_number", "counterparty_id"}, wants: []string{"invoice_number"}},
	Invoices:      {entity: InvoiceRows, groupings: flat, orders: []string{NewestFirst}, limit: maxTransactions, filters: append([]string{"direction"}, owedFilters...), period: may},
	Subscriptions: {entity: Obligation, groupings: []string{ByParty}, orders: []string{LargestFirst}, filters: []string{"counterparty_id", "status", "currency"}},
	Party:         {entity: PartyRows, groupings: flat, orders: []string{NewestFirst}, filters: []string{"counterparty_id"}, wants: []string{"counterparty_id"}},
	PaidBefore:    {entity: PartyRows, groupings: flat, orders: []string{NewestFirst}, filters: []string{"counterparty_id", "direction"}, wants: []string{"counterparty_id"}},
	PolicyRules:   {entity: PolicyRow, groupings: flat, orders: []string{""}, filters: []string{"counterparty_id", "amount", "currency"}},
	Waiting:       {entity: ProposalRows, groupings: flat, orders: []string{NewestFirst}, limit: maxTransactions},
	Proposed:      {entity: ProposalRows, groupings: flat, orders: []string{NewestFirst}, limit: maxTransactions, period: may},
}

// Validate refuses a plan the executor does not run, whoever made it.
func (p Plan) Validate() error {
	f, known := forms[p.Measure]
	switch {
	case !known:
		return fmt.Errorf("measure %.40q is not known", p.Measure)
	case p.Entity != f.entity || !slices.Contains(f.orders, p.Order) || !slices.Contains(f.groupings, p.Grouping):
		return fmt.Errorf("%s is not computed over entity %.40q by %.40q in the order %.40q", p.Measure, p.Entity, p.Grouping, p.Order)
	case p.Limit < 0 || p.Limit > f.limit || p.Limit > maxGroups && p.ranks():
		return fmt.Errorf("%s takes no limit of %d", p.Measure, p.Limit)
	case p.Limit == 0 && (p.ranks() || p.Measure == Largest || f.limit == maxTransactions && p.Measure != Invoices):
		return fmt.Errorf("%s: a limit is missing", p.Measure)
	case p.Comparison != nil && (f.comparison == never || p.Grouping != ""):
		return fmt.Errorf("%s by %q is not compared", p.Measure, p.Grouping)
	case p.Period == nil && f.period == must, p.Period != nil && f.period == never:
		return fmt.Errorf("%s: a period is missing, or one came that is not taken", p.Measure)
	case (p.Filters.Amount != "" || p.Filters.AmountOver != "" || p.Filters.AmountUnder != "") && p.Filters.Currency == "":
		return fmt.Errorf("%s: an amount has no currency", p.Measure)
	}
	for _, period := range []*Period{p.Period, p.Comparison} {
		if err := period.check(); err != nil {
			return err
		}
	}
	return p.Filters.check(f)
}

// ranks says whether the plan ranks groups.
func (p Plan) ranks() bool {
	return (p.Measure == Spending || p.Measure == Revenue) && (p.Grouping == ByCategory || p.Grouping == ByParty)
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

// members are the filters that are set, by name.
func (f Filters) members() map[string]string {
	all := map[string]string{
		"account_id": f.AccountID, "account_type": f.AccountType, "counterparty_id": f.CounterpartyID, "category": f.Category, "direction": f.Direction,
		"status": f.Status, "reconciliation_status": f.Reconciliation, "type": f.Type, "currency": f.Currency, "invoice_number": f.InvoiceNumber,
		"amount": f.Amount, "amount_over": f.AmountOver, "amount_under": f.AmountUnder,
	}
	for name, value := range all {
		if value == "" {
			delete(all, name)
		}
	}
	return all
}

// check lets only the filters of a form be set, each to something well formed: a
// filter becomes a part of a key.
func (f Filters) check(of form) error {
	set := f.members()
	for name, value := range set {
		if !slices.Contains(of.filters, name) {
			return fmt.Errorf("the filter %s is not taken", name)
		}
		if err := f.wellFormed(name, value, of.entity); err != nil {
			return fmt.Errorf("filter %s: %w", name, err)
		}
	}
	for _, name := range of.wants {
		if set[name] == "" {
			return fmt.Errorf("the filter %s is missing", name)
		}
	}
	return nil
}

const maxLabel = 256 // bytes of a category in a key

func (f Filters) wellFormed(filter, value, entity string) error {
	switch filter {
	case "account_id":
		return id.Check(id.Account, value)
	case "counterparty_id":
		return id.Check(id.Counterparty, value)
	case "currency":
		_, err := money.Parse(value)
		return err
	case "amount", "amount_over", "amount_under":
		_, err := money.Written{Amount: value, Currency: f.Currency}.Read()
		return err
	case "category":
		if len(value) > maxLabel || ledger.Fold(value) != value {
			return fmt.Errorf("%.40q is no folded text of at most %d bytes", value, maxLabel)
		}
		return nil
	case "invoice_number":
		if len(value) > 128 {
			return fmt.Errorf("%d bytes, want at most 128", len(value))
		}
		return nil
	}
	if vocabulary := vocabularies(filter, entity); !slices.Contains(vocabulary, value) {
		return fmt.Errorf("%.40q: want one of %v", value, vocabulary)
	}
	return nil
}

// vocabularies are the values a filter may have over an entity.
func vocabularies(filter, entity string) []string {
	switch filter + " " + entity {
	case "account_type account", "account_type transaction":
		return ledger.AccountTypes
	case "direction transaction", "direction counterparty":
		return ledger.Directions
	case "direction invoice":
		return ledger.OwedDirections
	case "status transaction":
		return append([]string{Settled}, ledger.TransactionStatuses...)
	case "status obligation", "status invoice":
		return []string{"overdue", "unused", "open", "paid", "partial", "draft", "disputed", "cancelled"}
	case "reconciliation_status transaction":
		return ledger.ReconciliationStatuses
	case "type obligation", "type invoice":
		return ledger.ObligationTypes
	}
	return nil
}
