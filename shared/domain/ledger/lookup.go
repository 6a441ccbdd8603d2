package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// maxMonths is how many months Months names: ten years.
	maxMonths = 120
	// maxCurrencies bounds the rollups Months looks at.
	maxCurrencies = 8
	// maxNamesakes is how many invoices of one number are looked at: numbers are
	// their senders', and two may have chosen the same.
	maxNamesakes = 5
)

// Months names the months in which money came in or went out, YYYY-MM, the
// newest first. It reads the monthly rollups of the currencies there are
// accounts in.
func (r *Reader) Months(ctx context.Context, t identity.Tenant) ([]string, error) {
	currencies, err := r.currencies(ctx, t)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, currency := range currencies {
		for _, direction := range []string{"inflow", "outflow"} {
			cells := record.Query{PK: key.Rollup(t, "month", currency, direction, "", "").PK, Reverse: true, Limit: maxMonths}
			page, err := r.Store.Query(ctx, cells)
			if err != nil {
				return nil, fmt.Errorf("read the months of %s %s: %w", currency, direction, err)
			}
			for _, item := range page.Items {
				// A cell whose transactions were all taken back stays, at none.
				if n := item.Numbers[RollupCount]; n != nil && n.Sign() > 0 {
					seen[strings.TrimSuffix(item.Key.SK, "#")] = true
				}
			}
		}
	}
	months := make([]string, 0, len(seen))
	for month := range seen {
		months = append(months, month)
	}
	slices.Sort(months)
	slices.Reverse(months)
	return months[:min(len(months), maxMonths)], nil
}

// currencies are those of the tenant's accounts.
func (r *Reader) currencies(ctx context.Context, t identity.Tenant) ([]string, error) {
	page, err := r.Store.Query(ctx, record.Query{Index: 1, PK: key.LedgerList(t, id.Account, "", "").PK, Limit: 100})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, item := range page.Items {
		var account Account
		if err := json.Unmarshal(item.Body, &account); err != nil {
			return nil, fmt.Errorf("decode account: %w", err)
		}
		if !slices.Contains(found, account.Currency) && len(found) < maxCurrencies {
			found = append(found, account.Currency)
		}
	}
	return found, nil
}

// InvoicesNumbered returns the invoices of a number, whatever its case, with one
// query of an index.
func (r *Reader) InvoicesNumbered(ctx context.Context, t identity.Tenant, number string) ([]Invoice, error) {
	page, err := r.Store.Query(ctx, record.Query{Index: 2, PK: key.LedgerListOf(t, id.Invoice, Fold(number), "", "").PK, Limit: maxNamesakes})
	if err != nil {
		return nil, err
	}
	return decodeAll[Invoice](page.Items)
}

// InvoiceNumbers returns up to limit+1 numbers of invoices that start with a
// prefix, whatever its case, the newest invoices first, for completion. It looks
// at no more than listing.MaxExamined invoices.
func (r *Reader) InvoiceNumbers(ctx context.Context, t identity.Tenant, prefix string, limit int) ([]string, error) {
	page, err := r.Store.Query(ctx, record.Query{Index: 1, PK: key.LedgerList(t, id.Invoice, "", "").PK, Reverse: true, Limit: listing.MaxExamined})
	if err != nil {
		return nil, err
	}
	invoices, err := decodeAll[Invoice](page.Items)
	if err != nil {
		return nil, err
	}
	var numbers []string
	for _, i := range invoices {
		if strings.HasPrefix(Fold(i.InvoiceNumber), Fold(prefix)) && !slices.Contains(numbers, i.InvoiceNumber) && len(numbers) <= limit {
			numbers = append(numbers, i.InvoiceNumber)
		}
	}
	return numbers, nil
}

// Open returns up to limit obligations that nothing has settled and that fall
// due no later than a date, the earliest first; an empty type is any. It reads
// backwards from the date and looks at no more than listing.Chunk rows, so that what was
// paid long ago costs nothing.
func (r *Reader) Open(ctx context.Context, t identity.Tenant, direction, obligationType, until string, limit int) ([]Obligation, error) {
	// A position is a date and more, so the next character after '#' ends the day.
	page, err := r.Store.Query(ctx, record.Query{Index: 1, PK: key.LedgerList(t, id.Obligation, "", "").PK, To: until + "$", Reverse: true, Limit: listing.Chunk})
	if err != nil {
		return nil, err
	}
	all, err := decodeAll[Obligation](page.Items)
	if err != nil {
		return nil, err
	}
	open := slices.DeleteFunc(all, func(o Obligation) bool {
		settled := o.Status == "paid" || o.Status == "cancelled" || o.Status == "disputed"
		return settled || o.Direction != direction || obligationType != "" && o.Type != obligationType
	})
	slices.Reverse(open)
	return open[:min(len(open), limit)], nil
}

func decodeAll[T any](items []record.Item) ([]T, error) {
	rows := make([]T, len(items))
	for i, item := range items {
		if err := json.Unmarshal(item.Body, &rows[i]); err != nil {
			return nil, fmt.Errorf("decode %T: %w", rows[i], err)
		}
	}
	return rows, nil
}
