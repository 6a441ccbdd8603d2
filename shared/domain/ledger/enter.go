package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Check says what Enter or Write would refuse a row for, nil for nothing. It puts
// the row into its stored form, as they do. Who brings many rows asks before the
// first is written.
func Check(row Row) error { return wellFormed(row) }

// Seen is what the table held under the keys of some rows.
type Seen struct{ items map[key.Key]record.Item }

// Look reads what is stored under the rows' ids, a hundred a call.
func (w *Writer) Look(ctx context.Context, t identity.Tenant, rows ...Row) (Seen, error) {
	keys := make([]key.Key, len(rows))
	for i, row := range rows {
		keys[i] = row.key(t)
	}
	items, err := w.Store.GetMany(ctx, keys)
	return Seen{items}, err
}

// Stored is the JSON that was there under a row's id, nil for none.
func (s Seen) Stored(t identity.Tenant, row Row) []byte { return s.items[row.key(t)].Body }

// Lacks says whether Enter writes the row: it is not there, or what is there
// gives way to it.
func (s Seen) Lacks(t identity.Tenant, row Row) (bool, error) {
	item := s.items[row.key(t)]
	if item.Version == 0 {
		return true, nil
	}
	return givesWay(item.Body, row)
}

// Enter stores rows that are not there yet and leaves the others as they are:
// what people made of a row is worth more than the file it comes from, read
// again. Two kinds of stored rows give way: a transaction that was pending and is
// booked now, and what an agent or a customer said and somebody trusted says now.
// They count as changed.
//
// seen is what Look found for these rows, however long ago: a row that somebody
// has written since is looked at again. Rows, rollups and events are in one
// transaction as Write makes them, as many rows in each as fit; after an error
// some of them may be there, and the same call again finishes the rest.
func (w *Writer) Enter(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, seen Seen, rows ...Row) (Written, error) {
	var total Written
	if err := admit(t, rows); err != nil {
		return total, err
	}
	ctx, done := w.Trail.Gather(ctx)
	defer done()
	for try := 1; ; try++ {
		left, err := w.enterSeen(ctx, t, actor, requestID, seen, rows, &total)
		if len(left) == 0 || !errors.Is(err, record.ErrConflict) || try == maxTries {
			return total, err
		}
		if len(left) < len(rows) {
			try = 1 // some got through: others did not hold all of it up
		}
		rows = left
		if seen, err = w.Look(ctx, t, rows...); err != nil {
			return total, err
		}
	}
}

// enterSeen writes what seen lacks and returns the rows that an error left.
func (w *Writer) enterSeen(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, seen Seen, rows []Row, total *Written) ([]Row, error) {
	var lacking []Row
	for _, row := range rows {
		lacks, err := seen.Lacks(t, row)
		switch {
		case err != nil:
			return rows, err
		case !lacks:
			total.Same++
			continue
		}
		if stored := seen.Stored(t, row); stored != nil {
			if err := preserve(row, stored); err != nil {
				return rows, err
			}
		}
		lacking = append(lacking, row)
	}
	for len(lacking) > 0 {
		p, err := w.fill(t, lacking, seen.items)
		if err != nil {
			return lacking, err
		}
		if err := w.commit(ctx, t, actor, requestID, &p); err != nil {
			return lacking, err
		}
		total.New += p.written.New
		total.Changed += p.written.Changed
		total.Same += p.written.Same
		lacking = lacking[p.rows:]
	}
	return nil, nil
}

// untrusted are the provenances that any other is worth more than.
var untrusted = []string{"agent_contributed", "customer_asserted"}

// givesWay says whether a stored row is replaced by one that is entered.
func givesWay(stored []byte, row Row) (bool, error) {
	var was struct{ Provenance, Status string }
	if err := json.Unmarshal(stored, &was); err != nil {
		return false, fmt.Errorf("decode row %s: %w", row.meta().ID, err)
	}
	doubted, doubtful := slices.Contains(untrusted, was.Provenance), slices.Contains(untrusted, row.meta().Provenance)
	if doubted && !doubtful {
		return true, nil
	}
	x, ok := row.(*Transaction)
	return ok && was.Status == "pending" && x.Status == "posted" && doubted == doubtful, nil
}

// preserve carries over what people added to a transaction that gives way.
func preserve(row Row, stored []byte) error {
	x, ok := row.(*Transaction)
	if !ok {
		return nil
	}
	var was Transaction
	if err := json.Unmarshal(stored, &was); err != nil {
		return fmt.Errorf("decode row %s: %w", x.ID, err)
	}
	if x.Category == nil {
		x.Category = was.Category
	}
	if was.ReconciliationStatus != "unreconciled" {
		x.ReconciliationStatus = was.ReconciliationStatus
	}
	if len(x.Allocations) == 0 && was.Amount == x.Amount {
		x.Allocations = was.Allocations
	}
	return nil
}

// admit checks the rows of one call and says whose they are.
func admit(t identity.Tenant, rows []Row) error {
	seen := make(map[key.Key]bool, len(rows))
	for _, row := range rows {
		row.meta().TenantID = t.String()
		if err := wellFormed(row); err != nil {
			return fault.Because(err, fault.InvalidArgument, "Row %.80q cannot be written: %v.", row.meta().ID, err)
		}
		k := row.key(t)
		if seen[k] {
			return fault.New(fault.InvalidArgument, "Row %.80q stands twice in one write.", row.meta().ID)
		}
		seen[k] = true
	}
	return nil
}

// ID is a row's id.
func ID(row Row) string { return row.meta().ID }

// Cite names the one piece of evidence that a row rests on.
func Cite(row Row, evidence string) { row.meta().EvidenceIDs = []string{evidence} }
