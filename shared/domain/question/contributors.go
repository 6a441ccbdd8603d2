package question

import (
	"cmp"
	"context"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
)

const (
	// wholeRows is how many rows of a period are looked at for the few of a
	// category among them.
	wholeRows = 200
	// someRows is how many rows an answer reads for evidence. Where there are
	// more, what is cited are large contributors, and no claim is made that none
	// is larger. It is this that keeps a question over a million transactions as
	// cheap as one over a thousand.
	someRows = 40
	// aPage is how many rows are read at a time among which few fit.
	aPage = 60
	// nobody is the rollup value of rows without a category or counterparty.
	nobody = "-"
)

// contributors are rows behind a total of a direction, the largest first in each
// currency. There are n in the period in all.
func (x *execution) contributors(ctx context.Context, direction string, p Period, n int64) ([]moved, error) {
	f := x.plan.Filters
	f.Direction, f.Status = direction, Settled
	p, err := x.covered(ctx, p)
	if err != nil {
		return nil, err
	}
	switch {
	case f.AccountID != "", f.CounterpartyID != "":
		most := wholeRows
		if n > someRows {
			most = someRows
		}
		list, _, err := rows[ledger.Transaction](ctx, x.store, x.within(f, p), most)
		if err != nil {
			return nil, err
		}
		return sifted(list, f)
	case f.Category != "" || f.AmountOver != "" || f.AmountUnder != "":
		return x.among(ctx, f, p, n)
	}
	return x.ofLargest(ctx, f, p)
}

// among finds rows that fit among all of a period, the newest first: all of them
// where there are few, some where there are many, and at least one as far as a
// question may look.
func (x *execution) among(ctx context.Context, f Filters, p Period, n int64) ([]moved, error) {
	enough := wholeRows
	if n > someRows {
		enough = aPage
	}
	var found []moved
	q := x.within(f, p)
	q.Limit = aPage
	for looked := 0; ; {
		page, err := x.store.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		looked += len(page.Items)
		for _, item := range page.Items {
			m, err := movedOf(item)
			if err != nil {
				return nil, err
			}
			if f.fits(m) {
				found = append(found, m)
			}
		}
		done := int64(len(found)) >= n || looked >= enough && len(found) > 0 || looked >= maxExamined
		if q.After = page.Next; page.Next == nil || done {
			largestFirst(found)
			return found, nil
		}
	}
}

func sifted(list []ledger.Transaction, f Filters) ([]moved, error) {
	all, err := priced(list)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m moved) bool { return !f.fits(m) })
	largestFirst(all)
	return all, nil
}

// otherRows is how many rows are read of each currency but the busiest.
const otherRows = 5

// ofLargest are rows of the counterparties that most of the period's money went
// to or came from, most of them in the busiest currency.
func (x *execution) ofLargest(ctx context.Context, f Filters, p Period) ([]moved, error) {
	currencies, err := x.currencies(ctx)
	if err != nil {
		return nil, err
	}
	var all [][]group
	for _, c := range currencies {
		parties, err := x.parties(ctx, c, f.Direction, p)
		if err != nil {
			return nil, err
		}
		if len(parties) > 0 {
			all = append(all, parties)
		}
	}
	slices.SortStableFunc(all, func(a, b []group) int { return cmp.Compare(countOf(b), countOf(a)) })
	var found []ledger.Transaction
	for i, parties := range all {
		most := otherRows
		if i == 0 {
			most = someRows - otherRows*(min(len(all), 5)-1)
		}
		list, err := x.rowsOf(ctx, f, p, parties, most)
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
	}
	return sifted(found, f)
}

func countOf(list []group) (n int64) {
	for _, g := range list {
		n += g.count
	}
	return n
}

// rowsOf reads up to so many rows of counterparties, from the first on.
func (x *execution) rowsOf(ctx context.Context, f Filters, p Period, parties []group, most int) ([]ledger.Transaction, error) {
	var found []ledger.Transaction
	for _, g := range parties {
		if len(found) >= most {
			break
		}
		if f.CounterpartyID = g.value; g.value == nobody {
			continue
		}
		list, _, err := rows[ledger.Transaction](ctx, x.store, x.within(f, p), min(maxEvidence, most-len(found)))
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
	}
	return found, nil
}

// parties ranks the counterparties of a period, once for each currency.
func (x *execution) parties(ctx context.Context, c money.Currency, direction string, p Period) ([]group, error) {
	if list, known := x.ranked[c]; known {
		return list, nil
	}
	list, err := x.groups(ctx, ByParty, c, direction, p)
	if err != nil {
		return nil, err
	}
	if x.ranked == nil {
		x.ranked = map[money.Currency][]group{}
	}
	x.ranked[c] = list
	return list, nil
}

// largestFirst sorts rows by currency, the one with most rows first, and the
// largest first in each.
func largestFirst(list []moved) {
	slices.SortStableFunc(list, func(a, b moved) int { return cmp.Compare(a.ID, b.ID) })
	byCurrency(list, movedAmount)
}

// citeMoved cites rows and whom they are with, at most so many.
func (x *execution) citeMoved(ctx context.Context, list []moved, most int) error {
	list = list[:min(len(list), most)]
	var parties []string
	for _, m := range list {
		if m.CounterpartyID != nil {
			parties = append(parties, *m.CounterpartyID)
		}
	}
	names, err := x.names(ctx, parties...)
	if err != nil {
		return err
	}
	for _, m := range list {
		x.cite(1, "transaction", m.ID, memo(m.Transaction, names)+" "+spell(m.amount))
	}
	x.citeParties(list, names)
	return nil
}

// support cites the rows behind a total.
func (x *execution) support(ctx context.Context, direction string, p Period, n int64) error {
	list, err := x.contributors(ctx, direction, p, n)
	if err != nil {
		return err
	}
	return x.citeMoved(ctx, list, maxEvidence)
}
