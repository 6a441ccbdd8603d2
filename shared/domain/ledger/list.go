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
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// maxExamined is how many rows one call looks at for a filter that no index
	// serves: a rare match must not make a call read a whole tenant.
	maxExamined = 1000
	// chunk is how many rows a list reads at a time. A page's bytes are used up
	// long before a call's rows are, so reading all of them at once is waste.
	chunk = 200
)

// Page is a part of a list. Next is the position after its last row, empty on
// the last page; a page may be short, or empty, and still have one.
type Page struct {
	Rows []json.RawMessage
	Next string
	Cut  bool // the rows did not fit the byte budget
}

// Window says which part of a list is wanted.
type Window struct {
	After  string // position of an earlier page's Next
	Limit  int    // most rows
	Budget int    // most bytes of rows, though never fewer than one row
}

// listing is a walk along a partition.
type listing struct {
	query  record.Query // where it goes; Limit and After are the walk's
	chunk  int          // most items of one query
	sparse bool         // not every item is kept
	// rows gives the row of each item, nil for one that is not kept.
	rows func(ctx context.Context, items []record.Item) ([]json.RawMessage, error)
}

// walk reads one window of a listing.
func (r *Reader) walk(ctx context.Context, t identity.Tenant, l listing, w Window) (Page, error) {
	query, f := l.query, filling{window: w}
	query.After = l.after(t, w.After)
	for {
		query.Limit = f.wants(l)
		got, err := r.Store.Query(ctx, query)
		if err != nil {
			return Page{}, err
		}
		rows, err := l.rows(ctx, got.Items)
		if err != nil {
			return Page{}, err
		}
		for i, item := range got.Items {
			if !f.take(rows[i], l.position(item)) {
				return f.Page, nil
			}
		}
		if got.Next == nil {
			return f.Page, nil
		}
		if f.examined == maxExamined || l.sparse && f.full() {
			f.Next = f.last // whether anything more is kept, the next call finds out
			return f.Page, nil
		}
		query.After = got.Next
	}
}

// filling is a page while it is read.
type filling struct {
	Page
	window   Window
	bytes    int    // of the rows, with what stands between them
	examined int    // items looked at, kept or not
	last     string // position of the last of them
}

// full says whether the page has all the rows it may have.
func (f *filling) full() bool { return len(f.Rows) == f.window.Limit }

// wants is how many items to read next. Where every item is kept, one more than
// the page still takes tells whether there is a next page.
func (f *filling) wants(l listing) int {
	left := min(l.chunk, maxExamined-f.examined)
	if l.sparse {
		return left
	}
	return min(left, f.window.Limit-len(f.Rows)+1)
}

// take looks at one more item. It refuses a row the page has no room for, with
// which the next page begins.
func (f *filling) take(row json.RawMessage, position string) bool {
	if row != nil {
		size := len(row) + len(",")
		over := f.bytes+size > f.window.Budget && len(f.Rows) > 0
		if over || f.full() {
			f.Next, f.Cut = f.last, !f.full()
			return false
		}
		f.Rows, f.bytes = append(f.Rows, row), f.bytes+size
	}
	f.examined, f.last = f.examined+1, position
	return true
}

// position is an item's sort key on the walk.
func (l listing) position(item record.Item) string {
	if l.query.Index == 0 {
		return item.Key.SK
	}
	return item.Index[l.query.Index-1].SK
}

// after rebuilds the cursor that a position is of, nil for none. In an index the
// sort key also names the row.
func (l listing) after(t identity.Tenant, position string) *record.Cursor {
	if position == "" {
		return nil
	}
	place := key.Key{PK: l.query.PK, SK: position}
	if l.query.Index == 0 {
		return &record.Cursor{Key: place}
	}
	_, name := split(position)
	kind, _, _ := strings.Cut(name, "_")
	return &record.Cursor{Key: key.Ledger(t, id.Prefix(kind), name), Index: place}
}

// split takes a sort key apart whose last part is a row's id, which has no
// separator in it.
func split(sk string) (order, name string) {
	at := strings.LastIndexByte(sk, '#')
	return sk[:max(at, 0)], sk[at+1:]
}

// list makes the listing of an index. Rows that have all the wanted members are
// kept; an empty value matches any.
func (r *Reader) list(kind id.Prefix, query record.Query, want map[string]string) listing {
	filter := matches(want)
	return listing{query: query, chunk: chunk, sparse: filter != nil, rows: func(_ context.Context, items []record.Item) ([]json.RawMessage, error) {
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
func (r *Reader) Transactions(ctx context.Context, t identity.Tenant, f TransactionFilter, w Window) (Page, error) {
	if err := first(filterID(id.Account, "account_id", f.AccountID), filterID(id.Counterparty, "counterparty_id", f.CounterpartyID)); err != nil {
		return Page{}, err
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
	return r.walk(ctx, t, r.list(id.Transaction, query, rest), w)
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
func (r *Reader) Obligations(ctx context.Context, t identity.Tenant, f ObligationFilter, w Window) (Page, error) {
	query := record.Query{Index: 1, PK: key.LedgerList(t, id.Obligation, "", "").PK, To: f.DueBefore}
	return r.walk(ctx, t, r.list(id.Obligation, query, map[string]string{"status": f.Status, "type": f.Type, "direction": f.Direction}), w)
}

// Accounts lists accounts by id.
func (r *Reader) Accounts(ctx context.Context, t identity.Tenant, status, accountType string, w Window) (Page, error) {
	query := record.Query{Index: 1, PK: key.LedgerList(t, id.Account, "", "").PK}
	return r.walk(ctx, t, r.list(id.Account, query, map[string]string{"status": status, "account_type": accountType}), w)
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
