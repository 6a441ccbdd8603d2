package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// maxRow bounds a row's item, and so a mark that holds it; a hundred of them
	// fit one transaction of 4 MB.
	maxRow = 32 << 10
	// maxTries is how often rows are planned anew after somebody else changed
	// one of them in between.
	maxTries = 8
	// ActionChanged is the event of written rows. Its output rows names them; who
	// acts on it reads them again. What a row left, such as the account or the
	// month it stood in before a correction, the row no longer says: the output
	// touched names it, by ids and months.
	ActionChanged = "ledger.changed"
)

// Writer writes ledger rows. Nothing else does: seeds, imports and executions
// all come through Write.
type Writer struct {
	Store record.Store
	Trail *audit.Trail
	Now   func() time.Time
}

// Written counts what a Write did.
type Written struct{ New, Changed, Same int }

// Write stores rows of a tenant: each row, what its rollups move by and the
// event that tells of it are in one transaction, conditional on the row's
// version, so that rollups equal the sum of the rows whatever runs beside it. A
// row that says what is stored already is not written again. Many rows are
// split into several transactions, in the order given; after an error some of
// them may be written, and the same call again finishes the rest. A row that is
// not well formed refuses the whole call before anything is written, with the
// code invalid_argument.
func (w *Writer) Write(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, rows ...Row) (Written, error) {
	var total Written
	if err := admit(t, rows); err != nil {
		return total, err
	}
	for len(rows) > 0 {
		done, written, err := w.some(ctx, t, actor, requestID, rows)
		if err != nil {
			return total, err
		}
		rows = rows[done:]
		total.New += written.New
		total.Changed += written.Changed
		total.Same += written.Same
	}
	return total, nil
}

// some writes as many of the rows as one transaction holds.
func (w *Writer) some(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, rows []Row) (int, Written, error) {
	for try := 1; ; try++ {
		plan, err := w.plan(ctx, t, rows[:min(len(rows), record.MaxOperations)])
		if err != nil {
			return 0, Written{}, err
		}
		if len(plan.changed) == 0 {
			return plan.rows, plan.written, nil
		}
		err = w.commit(ctx, t, actor, requestID, &plan)
		if errors.Is(err, record.ErrConflict) && try < maxTries {
			continue
		}
		return plan.rows, plan.written, err
	}
}

// commit makes a plan's transaction, with the event that tells of it.
func (w *Writer) commit(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, p *plan) error {
	event, err := w.Trail.New(audit.Event{
		TenantID: t.String(), Layer: audit.LayerLedger, Actor: actor, Action: ActionChanged, RequestID: requestID,
		Inputs: map[string]any{}, Outputs: p.outputs(),
	})
	if err != nil {
		return err
	}
	return w.Trail.Commit(ctx, p.change, event)
}

// plan is what one transaction will do.
type plan struct {
	rows    int // how many of the rows it covers
	change  record.Change
	moved   deltas
	changed []string // ids of rows that are new or different
	left    []string // what they belonged to and do no longer
	written Written
}

// outputs are what the event says of the plan.
func (p *plan) outputs() map[string]any {
	out := map[string]any{"rows": p.changed}
	if len(p.left) > 0 {
		out["touched"] = p.left
	}
	return out
}

// leave notes what a row that is replaced belonged to.
func (p *plan) leave(before, after Row) {
	for _, place := range before.belongs() {
		if !slices.Contains(after.belongs(), place) && !slices.Contains(p.left, place) {
			p.left = append(p.left, place)
		}
	}
}

func (w *Writer) plan(ctx context.Context, t identity.Tenant, rows []Row) (plan, error) {
	keys := make([]key.Key, len(rows))
	for i, row := range rows {
		keys[i] = row.key(t)
	}
	stored, err := w.Store.GetMany(ctx, keys)
	if err != nil {
		return plan{}, err
	}
	return w.fill(t, rows, stored)
}

// fill plans as many of the rows as one transaction holds, beside what is stored.
func (w *Writer) fill(t identity.Tenant, rows []Row, stored map[key.Key]record.Item) (plan, error) {
	p := plan{moved: deltas{}}
	for _, row := range rows {
		fits, err := p.take(t, row, stored[row.key(t)], w.Now())
		if err != nil {
			return plan{}, err
		}
		if !fits {
			break
		}
	}
	p.change.Adds = p.moved.adds()
	if p.change.Len() > 0 {
		p.change.Adds = append(p.change.Adds, record.Add{Key: key.Revision(t), Deltas: map[string]*big.Int{RollupCount: big.NewInt(1)}})
	}
	return p, nil
}

// take adds one row to the plan, beside what is stored under its key, unless
// the transaction would become too large. Three operations are kept: for the
// event, for that of a request it may be made in, and for the revision.
func (p *plan) take(t identity.Tenant, row Row, old record.Item, now time.Time) (bool, error) {
	meta := row.meta()
	meta.UpdatedAt = now.UTC().Format(audit.TimeForm)
	if meta.CreatedAt == "" {
		meta.CreatedAt = meta.UpdatedAt
	}
	var before Row
	if old.Version > 0 {
		same, err := inherit(meta, row, old.Body)
		if err != nil {
			return false, err
		}
		if same {
			p.rows++
			p.written.Same++
			return true, nil
		}
		if before, err = former(row, old.Body); err != nil {
			return false, err
		}
	}
	counters, put, remove, err := turn(t, before, row)
	if err != nil {
		return false, err
	}
	if p.change.Len()+len(p.moved)+1+p.moved.lacks(counters)+len(put)+len(remove)+3 > record.MaxOperations {
		if p.change.Len() == 0 {
			return false, fmt.Errorf("row %s takes more than one transaction", meta.ID)
		}
		return false, nil
	}
	body, err := encode(row)
	if err != nil {
		return false, err
	}
	item := record.Item{Key: row.key(t), Index: row.places(t), Body: body}
	p.change.Puts = append(p.change.Puts, record.Put{Item: item, Was: old.Version})
	// The condition on the row's version decides for its marks too.
	for _, mark := range put {
		p.change.Puts = append(p.change.Puts, record.Put{Item: mark, Blind: true})
	}
	p.change.Deletes = append(p.change.Deletes, remove...)
	p.moved.merge(counters, 1)
	p.changed = append(p.changed, meta.ID)
	p.rows++
	if before == nil {
		p.written.New++
	} else {
		p.written.Changed++
		p.leave(before, row)
	}
	return true, nil
}

// inherit keeps the creation time of the stored row and says whether the new
// one differs from it in nothing but the time of the writing.
func inherit(meta *Meta, row Row, stored []byte) (bool, error) {
	var was Meta
	if err := json.Unmarshal(stored, &was); err != nil {
		return false, fmt.Errorf("decode row %s: %w", meta.ID, err)
	}
	if was.CreatedAt != "" {
		meta.CreatedAt = was.CreatedAt
	}
	now := meta.UpdatedAt
	meta.UpdatedAt = was.UpdatedAt
	body, err := encode(row)
	meta.UpdatedAt = now
	return bytes.Equal(body, stored), err
}

func encode(row Row) ([]byte, error) {
	body, err := json.Marshal(row)
	if err != nil {
		return nil, fmt.Errorf("encode row %s: %w", row.meta().ID, err)
	}
	return body, nil
}

// wellFormed checks the row's fields and its size as a whole.
func wellFormed(row Row) error {
	if err := row.check(); err != nil {
		return err
	}
	body, err := encode(row)
	if err == nil && len(body) > maxRow {
		err = fmt.Errorf("it takes %d bytes, want at most %d", len(body), maxRow)
	}
	return err
}
