package rollups

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// ActionRebuilt is the event of rollups that were corrected. Its output touched
// names the months and counterparties, for who shows them.
const ActionRebuilt = "ledger.rollups_rebuilt"

// batch is how many rollups one transaction corrects. Two places are left for the
// event and for that of a request it may be made in.
const batch = record.MaxOperations - 2

// Rebuilt is what a Rebuild did.
type Rebuilt struct {
	TenantID     string   `json:"tenant_id"`
	Months       int      `json:"months"`       // that were looked at
	Transactions int      `json:"transactions"` // in them
	Corrected    int      `json:"corrected"`    // rollups that are the sum of their rows now and were not
	In           []string `json:"in"`           // months with corrected rollups, YYYY-MM
}

// Rebuild makes every rollup of a tenant the sum of its rows, also those that were
// never written.
//
// It is safe while writers write, and stops none of them. A rollup is corrected by
// what it is off, not set: what a writer adds before or after stays added. What it
// is off is right only if rollup and rows were read as of one moment, so the
// correction carries the condition that the rollup has not been moved since it was
// read, before its rows were; every write of a row moves the rollups it changes.
// When it was moved, nothing is corrected and the month is read again. A month
// that is written to all the time is a conflict; what was corrected by then stays
// so, and the same call again goes on.
func (b *Book) Rebuild(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string) (Rebuilt, error) {
	done := Rebuilt{TenantID: t.String(), In: []string{}}
	way, err := b.walk(ctx, t)
	if err != nil {
		return done, err
	}
	for {
		m, err := way.next(ctx)
		if err != nil || m == nil {
			return done, err
		}
		done.Months++
		done.Transactions += m.transactions
		if len(differing(m.want, m.have)) == 0 {
			continue
		}
		n, err := b.mend(ctx, t, actor, requestID, m)
		done.Corrected += n
		if n > 0 && !slices.Contains(done.In, m.name) {
			done.In = append(done.In, m.name)
		}
		if err != nil {
			return done, err
		}
	}
}

// mend corrects the rollups of a month and says how many.
func (b *Book) mend(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, m *month) (int, error) {
	corrected := 0
	for range maxTries {
		now, err := b.still(ctx, t, m)
		if err != nil {
			return corrected, err
		}
		keys := differing(now.want, now.have)
		moved := false
		for part := range slices.Chunk(keys, batch) {
			err := b.correct(ctx, t, actor, requestID, now, part)
			if moved = errors.Is(err, record.ErrConflict); moved {
				break
			}
			if err != nil {
				return corrected, fmt.Errorf("correct the rollups of %s: %w", now.name, err)
			}
			corrected += len(part)
		}
		if !moved {
			return corrected, nil
		}
		m = now
	}
	return corrected, busy(m.name)
}

// correct moves rollups by what they are off, if nobody has moved them since.
func (b *Book) correct(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, m *month, keys []key.Key) error {
	change := record.Change{}
	for _, k := range keys {
		want, have := m.want[k], m.have[k]
		deltas := map[string]*big.Int{ledger.RollupMoves: big.NewInt(1)}
		for _, name := range want.off(have) {
			deltas[name] = new(big.Int).Sub(want.counter(name), have.counter(name))
		}
		change.Adds = append(change.Adds, record.Add{
			Key: k, Deltas: deltas,
			// Moves only grow: at most as many is as many. What is not there must not be
			// there now either.
			Most: map[string]*big.Int{ledger.RollupMoves: have.counter(ledger.RollupMoves)},
		})
	}
	event, err := b.Trail.New(audit.Event{
		TenantID: t.String(), Layer: audit.LayerLedger, Actor: actor, Action: ActionRebuilt, RequestID: requestID,
		Inputs: map[string]any{"month": m.name}, Outputs: map[string]any{"rollups": len(keys), "touched": touched(t, m.name, keys)},
	})
	if err != nil {
		return err
	}
	return b.Trail.Commit(ctx, change, event)
}

// touched are the month and the counterparties that rollups are of.
func touched(t identity.Tenant, month string, keys []key.Key) []string {
	found := map[string]bool{}
	for _, k := range keys {
		if name, is := strings.CutPrefix(k.PK, key.RollupsOf(t, "")); is {
			found[name] = true
		}
	}
	return append([]string{month}, slices.Sorted(maps.Keys(found))...)
}
