package demo

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// writers is how many writes of a tenant run side by side.
	writers = 4
	// share is how many rows one write gets. Rows of neighbouring days lie in
	// the same rollups, so long runs of them need fewer transactions.
	share = 150
	// puts is how many records one change holds; a transaction holds a hundred.
	puts = 50
)

// actor is who wrote the rows, in the events that tell of them.
var actor = identity.Actor{Type: "operator", ID: "demo"}

// Deps is what Seed writes with.
type Deps struct {
	Store record.Store
	Trail *audit.Trail // tells of every written ledger row
	// Addresses are the agents' own chain addresses by agent id, EIP-55. An
	// agent without one stops the seeding: it would be refused later, where
	// the reason is harder to see.
	Addresses map[string]string
}

// Count is how many items were written and how many were there before.
type Count struct{ New, Same int }

func (c *Count) add(more Count) { c.New, c.Same = c.New+more.New, c.Same+more.Same }

// Report is what a Seed did.
type Report struct {
	Rows    Count // of the ledger
	Records Count // members, agents and what else is no row
	Pages   Count // of the wiki; new is one that says something new
}

// Seed writes the demo data of both tenants, as far as it is not there. What is
// there stays as it is, whatever has become of it: the stack's state survives a
// restart, and a bill that was paid since must not be open again. It may be
// called at every start; a call that was cut short is finished by the next.
func Seed(ctx context.Context, d Deps) (Report, error) {
	var reports [2]Report
	group, ctx := errgroup.WithContext(ctx)
	for i, tenant := range []string{Acme, Globex} {
		group.Go(func() (err error) {
			reports[i], err = d.seed(ctx, tenant)
			if err != nil {
				return fmt.Errorf("seed tenant %s: %w", tenant, err)
			}
			return nil
		})
	}
	err := group.Wait()
	total := reports[0]
	total.Rows.add(reports[1].Rows)
	total.Records.add(reports[1].Records)
	total.Pages.add(reports[1].Pages)
	return total, err
}

// seed writes one tenant: what others refer to, then the rest.
func (d Deps) seed(ctx context.Context, tenant string) (Report, error) {
	var report Report
	t, err := identity.OperatorTenant(tenant)
	if err != nil {
		return report, err
	}
	rows := Data(tenant)
	items, err := records(t, d.Addresses)
	if err != nil {
		return report, err
	}
	first := len(rows.Accounts) + len(rows.Counterparties)
	all := rows.All()
	for _, stage := range [][]ledger.Row{all[:first], all[first:]} {
		done, err := d.writeRows(ctx, t, stage)
		report.Rows.add(done)
		if err != nil {
			return report, err
		}
	}
	if report.Records, err = d.writeRecords(ctx, items); err != nil {
		return report, err
	}
	report.Pages, err = d.writePages(ctx, t, Slugs(rows))
	return report, err
}

// writeRows gives the rows that are missing to the ledger's writer, in runs, a
// few of them at a time.
func (d Deps) writeRows(ctx context.Context, t identity.Tenant, rows []ledger.Row) (Count, error) {
	missing, err := d.missing(ctx, t, rows)
	if err != nil {
		return Count{}, err
	}
	writer := ledger.Writer{Store: d.Store, Trail: d.Trail, Now: func() time.Time { return writtenAt }}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	count := Count{Same: len(rows) - len(missing)}
	for len(missing) > 0 {
		run := missing[:min(len(missing), share)]
		missing = missing[len(run):]
		count.New += len(run)
		group.Go(func() error {
			_, err := writer.Write(ctx, t, actor, "demo", run...)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Count{}, fmt.Errorf("write rows: %w", err)
	}
	return count, nil
}

// missing leaves out the rows that are stored.
func (d Deps) missing(ctx context.Context, t identity.Tenant, rows []ledger.Row) ([]ledger.Row, error) {
	keys := make([]key.Key, len(rows))
	for i, row := range rows {
		keys[i] = keyOf(t, row)
	}
	stored, err := d.Store.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("look for rows: %w", err)
	}
	var missing []ledger.Row
	for i, row := range rows {
		if _, there := stored[keys[i]]; !there {
			missing = append(missing, row)
		}
	}
	return missing, nil
}

func keyOf(t identity.Tenant, row ledger.Row) key.Key {
	switch r := row.(type) {
	case *ledger.Account:
		return key.Ledger(t, id.Account, r.ID)
	case *ledger.Counterparty:
		return key.Ledger(t, id.Counterparty, r.ID)
	case *ledger.Balance:
		return key.Balance(t, r.AccountID, r.AsOf)
	case *ledger.Transaction:
		return key.Ledger(t, id.Transaction, r.ID)
	case *ledger.Obligation:
		return key.Ledger(t, id.Obligation, r.ID)
	case *ledger.Invoice:
		return key.Ledger(t, id.Invoice, r.ID)
	}
	panic(fmt.Sprintf("demo: no key for %T", row))
}

// writeRecords stores the records that are missing.
func (d Deps) writeRecords(ctx context.Context, items []record.Item) (Count, error) {
	keys := make([]key.Key, len(items))
	for i, item := range items {
		keys[i] = item.Key
	}
	stored, err := d.Store.GetMany(ctx, keys)
	if err != nil {
		return Count{}, fmt.Errorf("look for records: %w", err)
	}
	var change record.Change
	for _, item := range items {
		if _, there := stored[item.Key]; !there {
			change.Puts = append(change.Puts, record.Put{Item: item})
		}
	}
	count := Count{New: change.Len(), Same: len(items) - change.Len()}
	for len(change.Puts) > 0 {
		part := record.Change{Puts: change.Puts[:min(len(change.Puts), puts)]}
		change.Puts = change.Puts[part.Len():]
		if err := d.Store.Commit(ctx, part); err != nil {
			return Count{}, fmt.Errorf("write records: %w", err)
		}
	}
	return count, nil
}
