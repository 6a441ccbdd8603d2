package ledger

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// split takes a sort key apart whose last part is a row's id, which has no
// separator in it.
func split(sk string) (order, name string) {
	at := strings.LastIndexByte(sk, '#')
	return sk[:max(at, 0)], sk[at+1:]
}

// list makes the listing of an index. Rows that have all the wanted members are
// kept; an empty value matches any.
func (r *Reader) list(kind id.Prefix, query record.Query, want map[string]string) listing.Listing {
	filter := matches(want)
	return listing.Listing{Query: query, Sparse: filter != nil, Rows: func(_ context.Context, items []record.Item) ([]json.RawMessage, error) {
		rows := make([]json.RawMessage, len(items))
		for i, item := range items {
			row, err := r.present(kind, item.Body)
			if err != nil {
				return nil, err
			}
			if filter == nil || filter(row) {
				rows[i] = row
			}
		}
		return rows, nil
	}}
}

// matches makes a filter of the members a row must have. It is nil when nothing
// is left to match.
func matches(want map[string]string) func(row json.RawMessage) bool {
	maps.DeleteFunc(want, func(_, value string) bool { return value == "" })
	if len(want) == 0 {
		return nil
	}
	return func(row json.RawMessage) bool {
		var have map[string]any
		if json.Unmarshal(row, &have) != nil {
			return false // cannot be: the writer wrote it
		}
		for member, value := range want {
			if have[member] != value {
				return false
			}
		}
		return true
	}
}

// TransactionFilter narrows a list of transactions; empty members do not. Since
// and Until are dates, the second not included.
type TransactionFilter struct{ AccountID, CounterpartyID, Direction, Status, Since, Until string }

// Transactions lists transactions, the newest first. The account or else the
// counterparty has an index; what is left of the filter is looked at row by row.
// What is no id of its kind is refused with the code invalid_argument: an empty
// list would say that such an account has no transactions.
func (r *Reader) Transactions(ctx context.Context, t identity.Tenant, f TransactionFilter, w listing.Window) (listing.Page, error) {
	if err := first(filterID(id.Account, "account_id", f.AccountID), filterID(id.Counterparty, "counterparty_id", f.CounterpartyID)); err != nil {
		return listing.Page{}, err
	}
	query := record.Query{Index: 1, PK: key.LedgerList(t, id.Transaction, "", "").PK, From: f.Since, To: f.Until, Reverse: true}
	rest := map[string]string{"direction": f.Direction, "status": f.Status, "counterparty_id": f.CounterpartyID}
	switch {
	case f.AccountID != "":
		query.Index, query.PK = 2, key.LedgerListOf(t, id.Transaction, f.AccountID, "", "").PK
	case f.CounterpartyID != "":
		query.Index, query.PK = 3, key.LedgerListOf(t, id.Transaction, f.CounterpartyID, "", "").PK
		delete(rest, "counterparty_id")
	}
	return r.list(id.Transaction, query, rest).Walk(ctx, r.Store, t, w)
}

func filterID(kind id.Prefix, field, name string) error {
	if name == "" {
		return nil
	}
	if err := id.Check(kind, name); err != nil {
		return fault.Because(err, fault.InvalidArgument, "%s: %v.", field, err)
	}
	return nil
}

// ObligationFilter narrows a list of obligations. DueBefore is a date, not
// included.
type ObligationFilter struct{ Status, Type, Direction, DueBefore string }

// Obligations lists obligations by their due date, the earliest first.
func (r *Reader) Obligations(ctx context.Context, t identity.Tenant, f ObligationFilter, w listing.Window) (listing.Page, error) {
	query := record.Query{Index: 1, PK: key.LedgerList(t, id.Obligation, "", "").PK, To: f.DueBefore}
	return r.list(id.Obligation, query, map[string]string{"status": f.Status, "type": f.Type, "direction": f.Direction}).Walk(ctx, r.Store, t, w)
}

// Accounts lists accounts by id.
func (r *Reader) Accounts(ctx context.Context, t identity.Tenant, status, accountType string, w listing.Window) (listing.Page, error) {
	query := record.Query{Index: 1, PK: key.LedgerList(t, id.Account, "", "").PK}
	return r.list(id.Account, query, map[string]string{"status": status, "account_type": accountType}).Walk(ctx, r.Store, t, w)
}

// AccountsTotal is how many accounts there are, without counting them: the
// writer keeps a counter for each status and type. It sees every write, while
// the list's index may lag behind by a moment.
func (r *Reader) AccountsTotal(ctx context.Context, t identity.Tenant, status, accountType string) (int, error) {
	page, err := r.Store.Query(ctx, record.Query{PK: key.Count(t, id.Account, "").PK})
	if err != nil {
		return 0, err
	}
	total := 0
	for _, item := range page.Items {
		s, kind, _ := strings.Cut(item.Key.SK, "#")
		if n := item.Numbers[RollupCount]; n != nil && (status == "" || s == status) && (accountType == "" || kind == accountType) {
			total += int(n.Int64())
		}
	}
	return total, nil
}
