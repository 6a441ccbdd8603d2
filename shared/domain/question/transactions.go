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
)

// transactions answers with the newest of them, nothing later than the day asked
// about.
func (x *execution) transactions(ctx context.Context) (string, error) {
	if err := x.place(ctx); err != nil {
		return "", err
	}
	list, exhausted, err := x.newest(ctx)
	if err != nil {
		return "", err
	}
	what := x.described()
	if len(list) == 0 {
		if !exhausted {
			return "", unanswered("None of the %d newest rows that were looked at is one of %s. Narrow it by a period, an account or a counterparty.", maxExamined, what)
		}
		if x.plan.Filters.Reconciliation != "" {
			return fmt.Sprintf("0 %s up to %s.", what, x.day), nil
		}
		return fmt.Sprintf("There are no %s up to %s.", what, x.day), nil
	}
	names, err := x.names(ctx, partiesOf(list)...)
	if err != nil {
		return "", err
	}
	lines := []string{}
	for i, m := range list[:min(len(list), x.plan.Limit)] {
		line := fmt.Sprintf("%d. %s %s %s, %s (`%s`)", i+1, m.TransactionDate, m.Direction, spell(m.amount), memo(m.Transaction, names), m.ID)
		if m.Status != "posted" && m.Status != "cleared" {
			line += ", " + m.Status
		}
		lines = append(lines, line)
	}
	cites := slices.Clone(list)
	largestFirst(cites)
	for _, m := range cites {
		x.cite(1, "transaction", m.ID, memo(m.Transaction, names)+" "+spell(m.amount))
	}
	x.citeParties(cites, names)
	return x.heading(list, exhausted) + "\n" + strings.Join(lines, "\n"), nil
}

// citeParties cites whom rows are with.
func (x *execution) citeParties(list []moved, names map[string]ledger.Counterparty) {
	for _, m := range list {
		if c, ok := names[value(m.CounterpartyID)]; ok {
			x.cite(2, "counterparty", c.ID, fence.Text(c.Name))
		}
	}
}

func partiesOf(list []moved) []string {
	var parties []string
	for _, m := range list {
		if m.CounterpartyID != nil {
			parties = append(parties, *m.CounterpartyID)
		}
	}
	return parties
}

// heading says what the rows are, and why they are fewer than wanted.
func (x *execution) heading(list []moved, exhausted bool) string {
	n, what := len(list), x.described()
	if x.plan.Filters.Reconciliation != "" {
		// How many there are is what is asked, so the count comes first.
		text := fmt.Sprintf("%d %s up to %s", n, what, x.day)
		if !exhausted {
			text += fmt.Sprintf(", among the %d newest rows that were looked at", maxExamined)
		}
		if n > x.plan.Limit {
			text += fmt.Sprintf("; the newest %d", x.plan.Limit)
		}
		return text + ":"
	}
	text := fmt.Sprintf("The %d newest %s up to %s", n, what, x.day)
	if n == 1 {
		text = fmt.Sprintf("The newest of the %s up to %s", what, x.day)
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
// where there are fewer than wanted. A question for what is not reconciled wants
// them all counted; every other stops at its limit.
func (x *execution) newest(ctx context.Context) (list []moved, exhausted bool, err error) {
	f, p := x.plan.Filters, Period{Until: x.tomorrow()}
	if x.plan.Period != nil {
		p = Period{From: x.plan.Period.From, Until: min(x.plan.Period.Until, x.tomorrow())}
	}
	q := x.within(f, p)
	for examined, chunk := 0, max(2*x.plan.Limit, 10); ; chunk *= 4 {
		q.Limit = min(listing.Chunk, chunk, maxExamined-examined) // what is wanted is mostly near
		if f == (Filters{AccountID: f.AccountID, CounterpartyID: f.CounterpartyID}) {
			q.Limit = min(q.Limit, x.plan.Limit-len(list)) // every row fits
		}
		page, err := x.store.Query(ctx, q)
		if err != nil {
			return nil, false, err
		}
		examined += len(page.Items)
		for _, item := range page.Items {
			m, err := movedOf(item)
			if err != nil {
				return nil, false, err
			}
			if f.fits(m) {
				list = append(list, m)
			}
			if len(list) == x.plan.Limit && f.Reconciliation == "" {
				return list, false, nil
			}
		}
		if q.After = page.Next; page.Next == nil || examined >= maxExamined {
			return list, page.Next == nil, nil
		}
	}
}

// only is the one active account of a type.
func (x *execution) only(ctx context.Context, accountType string) (string, error) {
	all, err := x.accounts(ctx)
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
		found, err := byID[json.RawMessage](ctx, x, kind, []string{name})
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
	for _, part := range []string{f.Reconciliation, f.Status, f.Direction, f.Currency} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	text := strings.Join(append(parts, "transactions"), " ")
	if f.Category != "" {
		text += " on " + fence.Text(f.Category)
	}
	if x.party != "" {
		text += " with " + x.party
	}
	text += f.amounts()
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
