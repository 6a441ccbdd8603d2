package question

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// transactions answers with the newest of them, nothing later than the day asked
// about.
func (x *execution) transactions(ctx context.Context) (string, error) {
	f := x.plan.Filters
	if f.AccountType != "" && f.AccountID == "" {
		account, err := x.only(ctx, f.AccountType)
		if err != nil {
			return "", err
		}
		f.AccountID = account
	}
	if err := x.exist(ctx, f); err != nil {
		return "", err
	}
	list, exhausted, err := x.newest(ctx, f)
	if err != nil {
		return "", err
	}
	what := x.described()
	if len(list) == 0 {
		if !exhausted {
			return "", unanswered("None of the %d newest rows that were looked at is one of %s. Narrow it by account or counterparty.", maxExamined, what)
		}
		return fmt.Sprintf("There are no %s up to %s.", what, x.day), nil
	}
	var parties []string
	for _, r := range list {
		if r.CounterpartyID != nil {
			parties = append(parties, *r.CounterpartyID)
		}
	}
	names, err := x.names(ctx, parties...)
	if err != nil {
		return "", err
	}
	lines := []string{}
	for i, r := range list {
		a, err := amount(r.Amount, r.Currency)
		if err != nil {
			return "", fmt.Errorf("transaction %s: %w", r.ID, err)
		}
		line := fmt.Sprintf("%d. %s %s %s, %s (`%s`)", i+1, r.TransactionDate, r.Direction, spell(a), memo(r, names), r.ID)
		if r.Status != "posted" && r.Status != "cleared" {
			line += ", " + r.Status
		}
		lines = append(lines, line)
	}
	if err := x.citeTransactions(list, names); err != nil {
		return "", err
	}
	return x.heading(len(list), exhausted) + "\n" + strings.Join(lines, "\n"), nil
}

// heading says what the rows are, and why they are fewer than wanted.
func (x *execution) heading(n int, exhausted bool) string {
	text := fmt.Sprintf("The %d newest %s up to %s", n, x.described(), x.day)
	if n == 1 {
		text = fmt.Sprintf("The newest of the %s up to %s", x.described(), x.day)
	}
	switch {
	case n == x.plan.Limit:
	case exhausted:
		text += " (there are no more)"
	default:
		text += fmt.Sprintf(" (only the %d newest rows were looked at)", maxExamined)
	}
	return text + ":"
}

// newest reads the rows, and says whether what follows was looked at to the end
// where there are fewer than wanted.
func (x *execution) newest(ctx context.Context, f Filters) ([]ledger.Transaction, bool, error) {
	filter := ledger.TransactionFilter{AccountID: f.AccountID, CounterpartyID: f.CounterpartyID, Direction: f.Direction, Status: f.Status}
	end := x.tomorrow()
	if filter.Until = end; x.plan.Period != nil {
		filter.Since, filter.Until = x.plan.Period.From, min(x.plan.Period.Until, end)
	}
	most := x.plan.Limit
	if f.Currency != "" {
		most = maxExamined // no list filters by currency
	}
	page, err := x.ledger.Transactions(ctx, x.tenant, filter, listing.Window{Limit: most, Budget: 4 << 20})
	if err != nil {
		return nil, false, err
	}
	var list []ledger.Transaction
	for _, raw := range page.Rows {
		var row ledger.Transaction
		if err := json.Unmarshal(raw, &row); err != nil {
			return nil, false, fmt.Errorf("decode transaction: %w", err)
		}
		if (f.Currency == "" || row.Currency == f.Currency) && len(list) < x.plan.Limit {
			list = append(list, row)
		}
	}
	return list, page.Next == "", nil
}

// only is the one active account of a type.
func (x *execution) only(ctx context.Context, accountType string) (string, error) {
	all, err := accounts(ctx, x.store, x.tenant)
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(a ledger.Account) bool { return a.AccountType != accountType || a.Status != "active" })
	if len(all) == 0 {
		return "", unanswered("There is no active account of the type %s.", accountType)
	}
	if len(all) > 1 {
		var found []candidate
		for _, a := range all {
			found = append(found, candidate{id: a.ID, name: a.Name})
		}
		return "", ambiguous(accountType, found)
	}
	return all[0].ID, nil
}

// exist refuses ids that name nothing: an empty answer about them would say that
// nothing happened.
func (x *execution) exist(ctx context.Context, f Filters) error {
	for kind, name := range map[id.Prefix]string{id.Account: f.AccountID, id.Counterparty: f.CounterpartyID} {
		if name == "" {
			continue
		}
		found, err := many[json.RawMessage](ctx, x, kind, []string{name})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return unanswered("There is no %s in the ledger.", fence.Text(name))
		}
		if kind == id.Counterparty {
			var c ledger.Counterparty
			if err := json.Unmarshal(found[name], &c); err != nil {
				return fmt.Errorf("decode counterparty %s: %w", name, err)
			}
			x.party = fmt.Sprintf("%s (`%s`)", fence.Text(c.Name), c.ID)
			x.cite(2, "counterparty", c.ID, fence.Text(c.Name))
		}
	}
	return nil
}

// described names what the plan is about.
func (x *execution) described() string {
	f := x.plan.Filters
	var parts []string
	for _, part := range []string{f.Status, f.Direction, f.Currency} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	text := strings.Join(append(parts, "transactions"), " ")
	if x.party != "" {
		text += " with " + x.party
	}
	if f.AccountID != "" {
		text += " on `" + f.AccountID + "`"
	} else if f.AccountType != "" {
		text += " on the " + f.AccountType + " account"
	}
	if x.plan.Period != nil {
		text += " " + x.plan.Period.in()
	}
	return text
}

// memo is what a transaction was for, in the words of the ledger.
func memo(r ledger.Transaction, names map[string]ledger.Counterparty) string {
	for _, text := range []string{value(r.Description), names[value(r.CounterpartyID)].Name, value(r.DescriptionRaw)} {
		if fence.Line(text, 1) != "" {
			return fence.Text(text)
		}
	}
	return "no description"
}

// citeTransactions cites rows, the largest first, and whom they are with.
func (x *execution) citeTransactions(list []ledger.Transaction, names map[string]ledger.Counterparty) error {
	type sized struct {
		ledger.Transaction
		amount money.Amount
	}
	var all []sized
	for _, r := range list {
		a, err := amount(r.Amount, r.Currency)
		if err != nil {
			return fmt.Errorf("transaction %s: %w", r.ID, err)
		}
		all = append(all, sized{r, a})
	}
	byCurrency(all, func(s sized) money.Amount { return s.amount })
	for _, s := range all {
		x.cite(1, "transaction", s.ID, memo(s.Transaction, names)+" "+spell(s.amount))
		if c, ok := names[value(s.CounterpartyID)]; ok {
			x.cite(2, "counterparty", c.ID, fence.Text(c.Name))
		}
	}
	return nil
}
