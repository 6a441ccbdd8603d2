package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Renew stores what an account held at an instant, and makes it the account's
// present balance unless a later one is known. by is what says so: an agent's or a
// customer's word changes nothing of an account that somebody trusted entered. An
// account that is not there, or is in another currency, is an error.
func (w *Writer) Renew(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, by Meta, b *Balance) (Written, error) {
	if err := admit(t, []Row{b}); err != nil {
		return Written{}, err
	}
	for try := 1; ; try++ {
		stored, err := w.Store.GetMany(ctx, []key.Key{key.Ledger(t, id.Account, b.AccountID), b.key(t)})
		if err != nil {
			return Written{}, err
		}
		rows, err := renewed(t, stored, by, b)
		if err != nil || len(rows) == 0 {
			return Written{Same: 1}, err
		}
		p, err := w.fill(t, rows, stored)
		if err != nil || len(p.changed) == 0 {
			return p.written, err
		}
		err = w.commit(ctx, t, actor, requestID, &p)
		if errors.Is(err, record.ErrConflict) && try < maxTries {
			continue
		}
		return p.written, err
	}
}

// renewed are the rows a balance changes.
func renewed(t identity.Tenant, stored map[key.Key]record.Item, by Meta, b *Balance) ([]Row, error) {
	item := stored[key.Ledger(t, id.Account, b.AccountID)]
	if item.Version == 0 {
		return nil, fmt.Errorf("balance of %s: there is no such account", b.AccountID)
	}
	account := &Account{}
	if err := json.Unmarshal(item.Body, account); err != nil {
		return nil, fmt.Errorf("decode account %s: %w", b.AccountID, err)
	}
	if account.Currency != b.Currency {
		return nil, fmt.Errorf("balance of %s in %s: the account is in %s", b.AccountID, b.Currency, account.Currency)
	}
	if slices.Contains(untrusted, by.Provenance) && !slices.Contains(untrusted, account.Provenance) {
		return nil, nil
	}
	rows := []Row{b}
	if account.BalanceAsOf == nil || *account.BalanceAsOf <= b.AsOf {
		account.CurrentBalance, account.BalanceAsOf = &b.Current, &b.AsOf
		// What was available then says nothing of now.
		account.AvailableBalance = b.Available
		rows = append(rows, account)
	}
	return rows, nil
}
