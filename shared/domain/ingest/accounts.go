package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/statement"
)

// findAccounts finds the ledger's accounts for those of the file, and returns the
// rows of those it does not have. A hint at an account that is not there is the
// file's fault.
func (r *run) findAccounts(ctx context.Context) ([]ledger.Row, error) {
	there, err := r.accountsThere(ctx)
	if err != nil {
		return nil, err
	}
	report := r.file.report
	var rows []ledger.Row
	for _, a := range r.file.accounts {
		name, known := there[a.accountKey]
		switch {
		case known:
			report.Accounts.Known++
		case strings.HasPrefix(a.external, "acct_"):
			return nil, fault.New(fault.InvalidArgument, "There is no account %.80s in %s. Name one that is there, or the bank's number of a new one.", a.external, a.currency)
		default:
			name = accountID(r.tenant, a.accountKey)
			row := accountRow(a, r.meta(name))
			row.EvidenceIDs = []string{raw.EvidenceID(r.artifact.ID, raw.Report)}
			if err := ledger.Check(row); err != nil {
				return nil, statement.Place{Line: a.line}.Refuse("the account is none that can be stored: "+err.Error(), "", "an account", statement.Correct)
			}
			rows = append(rows, row)
		}
		r.accounts = append(r.accounts, name)
	}
	report.AccountIDs = append(report.AccountIDs, r.accounts...)
	return rows, nil
}

func (r *run) enterAccounts(ctx context.Context, rows []ledger.Row) error {
	seen, err := r.in.Ledger.Look(ctx, r.tenant, rows...)
	if err != nil {
		return err
	}
	var lacking []ledger.Row
	for _, row := range rows {
		if stored := seen.Stored(r.tenant, row); stored != nil && ours(stored, r.artifact.ID) {
			r.file.report.Accounts.New++
			continue
		}
		lacking = append(lacking, row)
		r.empty[ledger.ID(row)] = seen.Stored(r.tenant, row) == nil && !r.dry
	}
	return r.enter(ctx, seen, lacking, &r.file.report.Accounts)
}

// accountsThere are the tenant's accounts by the bank's number, and by their ids
// for who names one so. Those this function made are not there by number: it gives
// their id, under which they are entered or known, and that the index is a moment
// behind changes nothing.
func (r *run) accountsThere(ctx context.Context) (map[accountKey]string, error) {
	there := map[accountKey]string{}
	if len(r.file.accounts) == 0 {
		return there, nil
	}
	for query := (record.Query{Index: 1, PK: key.LedgerList(r.tenant, id.Account, "", "").PK}); ; {
		page, err := r.in.Archive.Store.Query(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			var a ledger.Account
			if err := json.Unmarshal(item.Body, &a); err != nil {
				return nil, fmt.Errorf("decode account %s: %w", item.Key.PK, err)
			}
			there[accountKey{a.ID, a.Currency}] = a.ID
			if a.ExternalAccountID == nil {
				continue
			}
			k := accountKey{normal(*a.ExternalAccountID), a.Currency}
			if a.ID != accountID(r.tenant, k) && there[k] == "" {
				there[k] = a.ID
			}
		}
		if page.Next == nil {
			return there, nil
		}
		query.After = page.Next
	}
}

// enterBalances stores the latest balance of each account, and makes it the
// account's own.
func (r *run) enterBalances(ctx context.Context) error {
	for i, a := range r.file.accounts {
		if a.latest == nil {
			continue
		}
		b := &ledger.Balance{
			AccountID: r.accounts[i], AsOf: r.asOf(a), Current: a.latest.Amount.String(), Currency: a.currency,
		}
		if v := a.available; v != nil && (v.Date == a.latest.Date || v.Date == "") {
			text := v.Amount.String()
			b.Available = &text
		}
		r.file.report.Balances++
		if r.dry {
			continue
		}
		if _, err := r.in.Ledger.Renew(ctx, r.tenant, actor, r.requestID, r.meta(""), b); err != nil {
			return err
		}
	}
	return nil
}

// asOf is the instant of a balance: the end of its day, but never after the file
// arrived, for nobody knows what the day still brings.
func (r *run) asOf(a account) string {
	day := a.latest.Date
	if day == "" {
		day = a.last
	}
	if at, err := time.Parse(time.DateOnly, string(day)); err == nil {
		return min(at.AddDate(0, 0, 1).Add(-time.Millisecond).Format(audit.TimeForm), r.artifact.CreatedAt)
	}
	return r.artifact.CreatedAt
}
