package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Reader reads ledger rows.
type Reader struct {
	Store record.Store
	Now   func() time.Time
}

// notFound is the one answer for an id that is malformed, missing or another
// tenant's: who asks cannot tell which.
func notFound() error {
	return fault.New(fault.LedgerRowNotFound, "There is no such row in the ledger. Ids come from the rows and lists read before.")
}

// Row returns a row as JSON by its id, with one read. What follows from the
// time of reading, such as an obligation's status, is filled in.
func (r *Reader) Row(ctx context.Context, t identity.Tenant, kind id.Prefix, name string) (json.RawMessage, error) {
	if id.Check(kind, name) != nil {
		return nil, notFound()
	}
	item, found, err := r.Store.Get(ctx, key.Ledger(t, kind, name))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, notFound()
	}
	return r.present(kind, item.Body)
}

// Account returns an account's row with its latest balance as one more member.
func (r *Reader) Account(ctx context.Context, t identity.Tenant, name string) (json.RawMessage, error) {
	account, balance, err := r.AccountAndBalance(ctx, t, name)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		*Account
		LatestBalance *Balance `json:"latest_balance"`
	}{account, balance})
}

// AccountAndBalance returns an account and its latest balance (nil when there
// is none), with one read: the balance lies in front of the row in the account's
// partition.
func (r *Reader) AccountAndBalance(ctx context.Context, t identity.Tenant, name string) (*Account, *Balance, error) {
	if id.Check(id.Account, name) != nil {
		return nil, nil, notFound()
	}
	page, err := r.Store.Query(ctx, record.Query{PK: key.Ledger(t, id.Account, name).PK, Reverse: true, Limit: 2})
	if err != nil {
		return nil, nil, err
	}
	if len(page.Items) == 0 || page.Items[0].Key.SK != key.Row {
		return nil, nil, notFound()
	}
	account := &Account{}
	if err := json.Unmarshal(page.Items[0].Body, account); err != nil {
		return nil, nil, fmt.Errorf("decode account %s: %w", name, err)
	}
	if len(page.Items) == 1 || !strings.HasPrefix(page.Items[1].Key.SK, key.BalancePrefix) {
		return account, nil, nil
	}
	balance := &Balance{}
	if err := json.Unmarshal(page.Items[1].Body, balance); err != nil {
		return nil, nil, fmt.Errorf("decode balance of %s: %w", name, err)
	}
	return account, balance, nil
}

// present fills in what a stored row leaves to the time of reading.
func (r *Reader) present(kind id.Prefix, stored []byte) (json.RawMessage, error) {
	switch kind {
	case id.Obligation:
		var o Obligation
		if err := json.Unmarshal(stored, &o); err != nil {
			return nil, fmt.Errorf("decode obligation: %w", err)
		}
		o.Status = o.StatusOn(r.Now().UTC())
		return json.Marshal(&o)
	case id.Invoice:
		var i Invoice
		if err := json.Unmarshal(stored, &i); err != nil {
			return nil, fmt.Errorf("decode invoice: %w", err)
		}
		i.Status = i.StatusOn(r.Now().UTC())
		return json.Marshal(&i)
	}
	return stored, nil
}

// Names returns up to limit+1 ids of a kind that start with a prefix, for
// completion. It reads an index, in its order, and looks at no more than
// listing.MaxExamined rows.
func (r *Reader) Names(ctx context.Context, t identity.Tenant, kind id.Prefix, prefix string, limit int) ([]string, error) {
	page, err := r.Store.Query(ctx, record.Query{Index: 1, PK: key.LedgerList(t, kind, "", "").PK, Reverse: true, Limit: listing.MaxExamined})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, item := range page.Items {
		_, name := split(item.Index[0].SK)
		if strings.HasPrefix(name, prefix) && len(names) <= limit {
			names = append(names, name)
		}
	}
	return names, nil
}

// Revision changes with every write to a tenant's ledger.
func (r *Reader) Revision(ctx context.Context, t identity.Tenant) (string, error) {
	item, _, err := r.Store.Get(ctx, key.Revision(t))
	if n := item.Numbers[RollupCount]; n != nil {
		return n.String(), err
	}
	return "0", err
}
