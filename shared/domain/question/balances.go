package question

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// held is what an account held at the instant asked about.
type held struct {
	ledger.Account
	shown     money.Amount // what counts: available for cash, current for a balance
	available *money.Amount
	asOf      string
}

func heldAmount(h held) money.Amount { return h.shown }

// balances answers how much money is where.
func (x *execution) balances(ctx context.Context) (string, error) {
	all, err := x.accounts(ctx)
	if err != nil {
		return "", err
	}
	wanted := slices.DeleteFunc(slices.Clone(all), func(a ledger.Account) bool { return !x.wants(a) })
	if len(wanted) == 0 {
		return "", unanswered("There is no %s in the ledger.", x.what())
	}
	var list []held
	var notes []string
	for _, a := range wanted {
		h, note, err := x.held(ctx, a)
		if err != nil {
			return "", fmt.Errorf("balance of %s: %w", a.ID, err)
		}
		if note != "" {
			notes = append(notes, note)
			continue
		}
		list = append(list, h)
	}
	if len(list) == 0 {
		return "", unanswered("%s", strings.Join(notes, " "))
	}
	byCurrency(list, heldAmount)
	return x.tellBalances(list, notes)
}

// cash is the available cash by currency, and what could not be counted.
func (x *execution) cash(ctx context.Context) (tally, []string, error) {
	all, err := x.accounts(ctx)
	if err != nil {
		return nil, nil, err
	}
	t, notes := tally{}, []string(nil)
	of := *x
	of.plan.Measure = Cash
	for _, a := range all {
		if !of.wants(a) {
			continue
		}
		h, note, err := of.held(ctx, a)
		if err != nil {
			return nil, nil, fmt.Errorf("balance of %s: %w", a.ID, err)
		}
		if note != "" {
			notes = append(notes, note)
			continue
		}
		if err := t.add(h.shown, 1); err != nil {
			return nil, nil, err
		}
		x.cite(1, "account", h.ID, fmt.Sprintf("%s available %s", fence.Text(h.Name), spell(h.shown))+x.dated(h.asOf))
	}
	if len(t) == 0 {
		return nil, nil, unanswered("There is no %s in the ledger. %s", of.what(), strings.Join(notes, " "))
	}
	return t, notes, nil
}

// wants says whether the plan is about an account. Cash is what lies on active
// checking and savings accounts.
func (x *execution) wants(a ledger.Account) bool {
	f := x.plan.Filters
	switch {
	case f.AccountID != "":
		return a.ID == f.AccountID
	case a.Status != "active", f.Currency != "" && a.Currency != f.Currency, f.AccountType != "" && a.AccountType != f.AccountType:
		return false
	}
	return x.plan.Measure != Cash || a.AccountType == "bank_checking" || a.AccountType == "bank_savings"
}

// what names the accounts of the plan.
func (x *execution) what() string {
	f := x.plan.Filters
	if f.AccountID != "" {
		return "account " + fence.Text(f.AccountID)
	}
	kind := "account"
	switch {
	case x.plan.Measure == Cash:
		kind = "checking or savings account"
	case f.AccountType != "":
		kind = "account of the type " + f.AccountType
	}
	if f.Currency != "" {
		kind += " in " + f.Currency
	}
	return "active " + kind
}

// held reads an account's balance as of the end of the day, as rows are looked at
// by their dates: the row's own where that is old enough, otherwise the latest
// one recorded before. A note says why there is none.
func (x *execution) held(ctx context.Context, a ledger.Account) (held, string, error) {
	at := x.midnight().Add(-time.Millisecond).UTC().Format(audit.TimeForm)
	current, available, asOf := a.CurrentBalance, a.AvailableBalance, value(a.BalanceAsOf)
	if asOf > at {
		b, found, err := x.balanceAt(ctx, a.ID, at)
		if err != nil {
			return held{}, "", err
		}
		if !found {
			return held{}, fmt.Sprintf("No balance of %s (`%s`) is on record as of %s.", fence.Text(a.Name), a.ID, x.day), nil
		}
		current, available, asOf = &b.Current, b.Available, b.AsOf
	}
	if current == nil && available == nil {
		return held{}, fmt.Sprintf("No balance of %s (`%s`) is on record.", fence.Text(a.Name), a.ID), nil
	}
	h := held{Account: a, asOf: asOf}
	if available != nil {
		v, err := amount(*available, a.Currency)
		if err != nil {
			return held{}, "", err
		}
		h.available, h.shown = &v, v
	}
	if x.plan.Measure == Cash && available == nil {
		return held{}, fmt.Sprintf("Not counted: the available balance of %s (`%s`) is not on record.", fence.Text(a.Name), a.ID), nil
	}
	if x.plan.Measure == Balance {
		if current == nil {
			return held{}, fmt.Sprintf("No current balance of %s (`%s`) is on record.", fence.Text(a.Name), a.ID), nil
		}
		v, err := amount(*current, a.Currency)
		if err != nil {
			return held{}, "", err
		}
		h.shown = v
	}
	return h, "", nil
}

// balanceAt is the latest balance of an account that is not after an instant.
func (x *execution) balanceAt(ctx context.Context, account, at string) (ledger.Balance, bool, error) {
	var b ledger.Balance
	page, err := x.store.Query(ctx, record.Query{
		PK: key.Balance(x.tenant, account, "").PK, From: key.BalancePrefix, To: key.BalancePrefix + at, Reverse: true, Limit: 1,
	})
	if err != nil || len(page.Items) == 0 {
		return b, false, err
	}
	return b, true, json.Unmarshal(page.Items[0].Body, &b)
}

func (x *execution) tellBalances(list []held, notes []string) (string, error) {
	var sums money.Totals
	var parts []string
	order := []money.Currency{}
	for _, h := range list {
		if err := sums.Add(h.shown); err != nil {
			return "", err
		}
		if !slices.Contains(order, h.shown.Currency()) {
			order = append(order, h.shown.Currency())
		}
		part := fmt.Sprintf("%s (`%s`) is %s", fence.Text(h.Name), h.ID, spell(h.shown))
		excerpt := fmt.Sprintf("%s available %s", fence.Text(h.Name), spell(h.shown))
		if x.plan.Measure == Balance {
			excerpt = fmt.Sprintf("%s %s", fence.Text(h.Name), spell(h.shown))
			if h.available != nil {
				part += fmt.Sprintf(", of which available %s", spell(*h.available))
				if h.AccountType == "card" || h.shown.Sign() < 0 {
					part = strings.Replace(part, "of which available", "available", 1)
				}
			}
		}
		if h.Status != "active" {
			part += ", " + h.Status
		}
		parts = append(parts, part+x.dated(h.asOf))
		x.cite(1, "account", h.ID, excerpt+x.dated(h.asOf))
	}
	var totals []money.Amount
	for _, c := range order {
		totals = append(totals, sums.Of(c))
	}
	text := fmt.Sprintf("Cash is %s, the available balances of active checking and savings accounts: %s.", spellAll(totals), strings.Join(parts, "; "))
	switch {
	case x.plan.Measure == Balance && len(list) == 1:
		text = fmt.Sprintf("The balance of %s.", parts[0])
	case x.plan.Measure == Balance:
		text = fmt.Sprintf("Balances come to %s: %s.", spellAll(totals), strings.Join(parts, "; "))
	}
	return strings.Join(append([]string{text}, notes...), " "), nil
}

// dated says of which day, in the tenant's time zone, a balance is.
func (x *execution) dated(asOf string) string {
	at, err := time.Parse(audit.TimeForm, asOf)
	if err != nil {
		return ""
	}
	return " as of " + today(at.In(x.asOf.Location()))
}

// midnight is when the day asked about ends in the tenant's time zone.
func (x *execution) midnight() time.Time {
	return time.Date(x.asOf.Year(), x.asOf.Month(), x.asOf.Day()+1, 0, 0, 0, 0, x.asOf.Location())
}
