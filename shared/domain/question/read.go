package question

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// maxAccounts is how many accounts a tenant may have for its balances to be
	// added up: a sum over some of them would be wrong.
	maxAccounts = 500
	// maxExamined is how many transactions one question looks at beyond those an
	// index names exactly.
	maxExamined = listing.MaxExamined
	// maxOwed is how many obligations or invoices one question adds up. There is
	// no index of those that are open, and a sum over some would be wrong.
	maxOwed = 5000
	// maxCells is how many rollups one ranking reads; over more there is no
	// answer, since the largest may be among the rest.
	maxCells = 5000
)

// rows reads an index range to its end or to a number of rows, and says whether
// it reached the end.
func rows[T any](ctx context.Context, store record.Store, q record.Query, most int) (list []T, whole bool, err error) {
	for {
		q.Limit = min(200, most-len(list))
		page, err := store.Query(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, item := range page.Items {
			var row T
			if err := json.Unmarshal(item.Body, &row); err != nil {
				return nil, false, fmt.Errorf("decode row %s: %w", item.Key.PK, err)
			}
			list = append(list, row)
		}
		if page.Next == nil {
			return list, true, nil
		}
		if len(list) >= most {
			return list, false, nil
		}
		q.After = page.Next
	}
}

// accounts are all accounts of a tenant.
func accounts(ctx context.Context, store record.Store, t identity.Tenant) ([]ledger.Account, error) {
	list, whole, err := rows[ledger.Account](ctx, store, record.Query{Index: 1, PK: key.LedgerList(t, id.Account, "", "").PK}, maxAccounts)
	if err == nil && !whole {
		return nil, unanswered("There are more than %d accounts: their balances come from `ledger.accounts.list`.", maxAccounts)
	}
	return list, err
}

// accounts are all accounts, read once.
func (x *execution) accounts(ctx context.Context) ([]ledger.Account, error) {
	if x.known != nil {
		return x.known, nil
	}
	var err error
	x.known, err = accounts(ctx, x.store, x.tenant)
	return x.known, err
}

// currencies are those a tenant has accounts in: what it can have spent.
func (x *execution) currencies(ctx context.Context) ([]money.Currency, error) {
	if only := x.plan.Filters.Currency; only != "" {
		c, err := money.Parse(only)
		return []money.Currency{c}, err
	}
	all, err := x.accounts(ctx)
	if err != nil {
		return nil, err
	}
	return currenciesOf(all)
}

func currenciesOf(all []ledger.Account) ([]money.Currency, error) {
	var list []money.Currency
	for _, a := range all {
		c, err := money.Parse(a.Currency)
		if err != nil {
			return nil, fmt.Errorf("account %s: %w", a.ID, err)
		}
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b money.Currency) int { return cmp.Compare(a.String(), b.String()) })
	return list, nil
}

// names reads counterparties by their ids.
func (x *execution) names(ctx context.Context, ids ...string) (map[string]ledger.Counterparty, error) {
	return byID[ledger.Counterparty](ctx, x, id.Counterparty, ids)
}

// byID reads rows by their ids, as far as they are there.
func byID[T any](ctx context.Context, x *execution, kind id.Prefix, ids []string) (map[string]T, error) {
	var keys []key.Key
	names := map[key.Key]string{}
	for _, name := range ids {
		k := key.Ledger(x.tenant, kind, name)
		if _, twice := names[k]; !twice {
			keys, names[k] = append(keys, k), name
		}
	}
	stored, err := x.store.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	found := map[string]T{}
	for k, item := range stored {
		var row T
		if err := json.Unmarshal(item.Body, &row); err != nil {
			return nil, fmt.Errorf("decode row %s: %w", names[k], err)
		}
		found[names[k]] = row
	}
	return found, nil
}

// amount reads a row's amount. The writer has checked it, so an error is a
// damaged row and no number is made of it.
func amount(text, code string) (money.Amount, error) {
	c, err := money.Parse(code)
	if err != nil {
		return money.Amount{}, err
	}
	return money.ParseSigned(text, c)
}

// moved is a transaction with its amount read.
type moved struct {
	ledger.Transaction
	amount money.Amount
}

func movedAmount(m moved) money.Amount { return m.amount }

func priced(list []ledger.Transaction) ([]moved, error) {
	out := make([]moved, len(list))
	for i, r := range list {
		a, err := amount(r.Amount, r.Currency)
		if err != nil {
			return nil, fmt.Errorf("transaction %s: %w", r.ID, err)
		}
		out[i] = moved{r, a}
	}
	return out, nil
}

// movedOf reads a transaction out of its item.
func movedOf(item record.Item) (moved, error) {
	var row ledger.Transaction
	if err := json.Unmarshal(item.Body, &row); err != nil {
		return moved{}, fmt.Errorf("decode transaction: %w", err)
	}
	list, err := priced([]ledger.Transaction{row})
	if err != nil {
		return moved{}, err
	}
	return list[0], nil
}

// within is the index range of a plan's filters over a period.
func (x *execution) within(f Filters, p Period) record.Query {
	q := record.Query{Index: 1, PK: key.LedgerList(x.tenant, id.Transaction, "", "").PK, From: p.From, To: p.Until, Reverse: true}
	switch {
	case f.AccountID != "":
		q.Index, q.PK = 2, key.LedgerListOf(x.tenant, id.Transaction, f.AccountID, "", "").PK
	case f.CounterpartyID != "":
		q.Index, q.PK = 3, key.LedgerListOf(x.tenant, id.Transaction, f.CounterpartyID, "", "").PK
	}
	return q
}

// fits says whether a row is one that a filter leaves.
func (f Filters) fits(m moved) bool {
	for want, have := range map[string]string{
		f.Direction: m.Direction, f.AccountID: m.AccountID, f.CounterpartyID: value(m.CounterpartyID), f.Currency: m.Currency, f.Reconciliation: m.ReconciliationStatus,
	} {
		if want != "" && want != have {
			return false
		}
	}
	settled := m.Status == "posted" || m.Status == "cleared"
	switch {
	case f.Status == Settled && !settled, f.Status != "" && f.Status != Settled && f.Status != m.Status:
		return false
	case f.Category != "" && (m.Category == nil || ledger.Fold(*m.Category) != f.Category):
		return false
	case f.AmountOver != "" && !(money.Written{Amount: f.AmountOver, Currency: f.Currency}).Above(m.amount):
		return false
	case f.AmountUnder != "":
		limit, err := money.Written{Amount: f.AmountUnder, Currency: f.Currency}.Read()
		if err != nil {
			return false
		}
		order, err := m.amount.Cmp(limit)
		return err == nil && order < 0
	}
	return true
}

// fitting are all rows of a period that filters leave. Where they would have to
// be found among more than are looked at, there is no answer.
func (x *execution) fitting(ctx context.Context, f Filters, p Period) ([]moved, error) {
	list, whole, err := rows[ledger.Transaction](ctx, x.store, x.within(f, p), maxExamined)
	if err != nil {
		return nil, err
	}
	if !whole {
		return nil, unanswered("More than %d transactions would have to be looked at one by one. Ask for a shorter period, or for one account or counterparty.", maxExamined)
	}
	all, err := priced(list)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(m moved) bool { return !f.fits(m) }), nil
}

// place settles which account a kind of account means, and that what the filters
// name is there: a sum of zero about a name that is not would be no answer.
func (x *execution) place(ctx context.Context) error {
	f := &x.plan.Filters
	if f.AccountType != "" && f.AccountID == "" {
		account, err := x.only(ctx, f.AccountType)
		if err != nil {
			return err
		}
		f.AccountID = account
	}
	return x.exist(ctx, *f)
}

// rowTotals adds up what there are no rollups for.
func (x *execution) rowTotals(ctx context.Context, direction string, p Period) (tally, error) {
	f := x.plan.Filters
	f.Direction, f.Status = direction, Settled
	list, err := x.fitting(ctx, f, p)
	if err != nil {
		return nil, err
	}
	t := tally{}
	for _, m := range list {
		if err := t.add(m.amount, 1); err != nil {
			return nil, err
		}
	}
	return t, nil
}
