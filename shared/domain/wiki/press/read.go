package press

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki/render"
)

// The bounds of what is read for a page. More would not be shown, or would make a
// page cost what the tenant is large.
const (
	recent   = 50   // latest rows of a list
	balances = 12   // latest balances of an account
	months   = 600  // rollups of a counterparty: ten years of five currencies and directions
	values   = 1000 // rollups of a ranking; over more there is none
	ranked   = 10   // places of a ranking
	leaders  = 3    // largest parties whose rows are looked for
)

// reader reads the facts of one tenant's pages.
type reader struct {
	store  record.Store
	tenant identity.Tenant
}

func (c *Change) reader() reader { return reader{c.store, c.tenant} }

// row reads a row of the ledger into out and says whether it is there.
func (r reader) row(ctx context.Context, kind id.Prefix, name string, out any) (bool, error) {
	return r.record(ctx, key.Ledger(r.tenant, kind, name), out)
}

func (r reader) record(ctx context.Context, k key.Key, out any) (bool, error) {
	item, found, err := r.store.Get(ctx, k)
	if err != nil || !found {
		return false, err
	}
	if err := json.Unmarshal(item.Body, out); err != nil {
		return false, fmt.Errorf("decode %s: %w", k.PK, err)
	}
	return true, nil
}

// latest reads the newest rows of a list.
func latest[T any](ctx context.Context, r reader, index int, pk, prefix string, most int) ([]T, error) {
	page, err := r.store.Query(ctx, record.Query{Index: index, PK: pk, Prefix: prefix, Reverse: true, Limit: most})
	if err != nil {
		return nil, err
	}
	return decode[T](page.Items)
}

func decode[T any](items []record.Item) ([]T, error) {
	rows := make([]T, len(items))
	for i, item := range items {
		if err := json.Unmarshal(item.Body, &rows[i]); err != nil {
			return nil, fmt.Errorf("decode %s: %w", item.Key.PK, err)
		}
	}
	return rows, nil
}

func (r reader) account(ctx context.Context, name string, _ bool) (render.Facts, error) {
	// The balances lie in front of the row: one descending read has both.
	page, err := r.store.Query(ctx, record.Query{PK: key.Ledger(r.tenant, id.Account, name).PK, Reverse: true, Limit: balances + 1})
	if err != nil || len(page.Items) == 0 || page.Items[0].Key.SK != key.Row {
		return nil, err
	}
	var f render.Account
	if err := json.Unmarshal(page.Items[0].Body, &f.Row); err != nil {
		return nil, fmt.Errorf("decode account %s: %w", name, err)
	}
	for _, item := range page.Items[1:] {
		if !strings.HasPrefix(item.Key.SK, key.BalancePrefix) {
			continue
		}
		var b ledger.Balance
		if err := json.Unmarshal(item.Body, &b); err != nil {
			return nil, fmt.Errorf("decode balance of %s: %w", name, err)
		}
		f.Balances = append(f.Balances, b)
	}
	f.Recent, err = latest[ledger.Transaction](ctx, r, 2, key.LedgerListOf(r.tenant, id.Transaction, name, "", "").PK, "", recent)
	return f, err
}

func (r reader) counterparty(ctx context.Context, name string, _ bool) (render.Facts, error) {
	var f render.Counterparty
	if found, err := r.row(ctx, id.Counterparty, name, &f.Row); err != nil || !found {
		return nil, err
	}
	sums, whole, err := r.sums(ctx, record.Query{PK: key.RollupsOf(r.tenant, name), Reverse: true}, months, byMonth)
	if err != nil {
		return nil, err
	}
	f.Months = moved(sums)
	if !whole {
		// The oldest month read may be cut: it is left out.
		f.Since, f.Months = cut(f.Months)
	}
	list := func(kind id.Prefix) string { return key.LedgerListOf(r.tenant, kind, name, "", "").PK }
	if f.Recent, err = latest[ledger.Transaction](ctx, r, 3, list(id.Transaction), "", recent); err != nil {
		return nil, err
	}
	if f.Obligations, err = latest[ledger.Obligation](ctx, r, 3, list(id.Obligation), "", recent); err != nil {
		return nil, err
	}
	f.Invoices, err = latest[ledger.Invoice](ctx, r, 3, list(id.Invoice), "", recent)
	return f, err
}

// cut leaves out the oldest month of sums, which are the newest first, and names
// the oldest that is left.
func cut(sums []render.Sum) (since string, left []render.Sum) {
	if len(sums) == 0 {
		return "", nil
	}
	oldest := sums[len(sums)-1].Period
	for _, s := range sums {
		if s.Period != oldest {
			since, left = s.Period, append(left, s)
		}
	}
	return since, left
}

func (r reader) obligation(ctx context.Context, name string, _ bool) (render.Facts, error) {
	var f render.Obligation
	if found, err := r.row(ctx, id.Obligation, name, &f.Row); err != nil || !found {
		return nil, err
	}
	return f, nil
}

func (r reader) invoice(ctx context.Context, name string, _ bool) (render.Facts, error) {
	var f render.Invoice
	if found, err := r.row(ctx, id.Invoice, name, &f.Row); err != nil || !found {
		return nil, err
	}
	return f, nil
}

// agent reads an agent's record. Its key has no tenant in it, so the record itself
// must say that it is this one's.
func (r reader) agent(ctx context.Context, name string, _ bool) (render.Facts, error) {
	var f render.Agent
	if found, err := r.record(ctx, key.AgentRecord(name), &f.Record); err != nil || !found || f.Record.TenantID != r.tenant.String() {
		return nil, err
	}
	return f, nil
}

// policy reads a version of the policy, or the one that is active. The page says
// what the table says; who decides by a policy checks its signatures.
func (r reader) policy(ctx context.Context, name string, _ bool) (render.Facts, error) {
	var head struct {
		Version int64 `json:"version"`
	}
	if name != "active" {
		if _, err := fmt.Sscan(name, &head.Version); err != nil {
			return nil, fmt.Errorf("version %s: %w", name, err)
		}
	} else if found, err := r.record(ctx, key.PolicyHead(r.tenant), &head); err != nil || !found {
		return nil, err
	}
	var v charter.Version
	if found, err := r.record(ctx, key.PolicyVersion(r.tenant, head.Version), &v); err != nil || !found {
		return nil, err
	}
	return render.Policy{
		Version: v.Version, Hash: v.Hash, ActivatedAt: v.ActivatedAt, Signers: v.Signers, Document: v.Document, Active: name == "active",
	}, nil
}
