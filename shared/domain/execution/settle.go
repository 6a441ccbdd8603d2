package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/trace"
)

// keep stores a receipt and what the account will hold after it. From here on the
// payment is made, and whoever comes next can write down the rest.
func (e *Executor) keep(ctx context.Context, t identity.Tenant, requestID string, r Record, receipt Receipt) (Record, error) {
	r.State, r.Receipt, r.UpdatedAt = Settling, &receipt, e.Now().UTC().Format(audit.TimeForm)
	var change record.Change
	if flowOf(r.Order.Payment.ActionType).sign != 0 {
		account := r.Order.Payment.SourceAccountID
		version, err := e.free(ctx, t, requestID, account)
		if err != nil {
			return r, err
		}
		before, err := e.latest(ctx, t, account)
		if err != nil {
			return r, err
		}
		if r.Balance, err = r.plan(before, e.Now()); err != nil {
			return r, err
		}
		put, err := take(t, account, r.ID, version)
		if err != nil {
			return r, err
		}
		change.Puts = append(change.Puts, put)
	}
	put, err := r.put(t)
	if err != nil {
		return r, err
	}
	change.Puts = append(change.Puts, put)
	r.version++
	return r, e.Store.Commit(ctx, change)
}

// plan is the balance after a payment, nil where none is known before it. Its time
// is after the one before, whatever the clock says: the latest counts.
func (r Record) plan(before *ledger.Balance, now time.Time) (*Planned, error) {
	if before == nil || before.Currency != r.Order.Payment.Currency {
		return nil, nil
	}
	amount, err := r.Order.Payment.Money()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.ID, err)
	}
	if flowOf(r.Order.Payment.ActionType).sign < 0 {
		amount = amount.Neg()
	}
	moved := func(text string) (string, error) {
		was, err := money.ParseSigned(text, amount.Currency())
		if err != nil {
			return "", fmt.Errorf("balance of %s: %w", before.AccountID, err)
		}
		is, err := was.Add(amount)
		return is.String(), err
	}
	at := now.UTC().Truncate(time.Millisecond)
	if last, err := time.Parse(audit.TimeForm, before.AsOf); err == nil && !at.After(last) {
		at = last.Add(time.Millisecond)
	}
	p := &Planned{AsOf: at.Format(audit.TimeForm), Pending: before.Pending}
	if p.Current, err = moved(before.Current); err != nil {
		return nil, err
	}
	if before.Available != nil {
		available, err := moved(*before.Available)
		if err != nil {
			return nil, err
		}
		p.Available = &available
	}
	return p, nil
}

// finish writes the ledger's rows and then ends the execution. The rows say the
// same however often they are written, so a crash in between doubles nothing.
func (e *Executor) finish(ctx context.Context, t identity.Tenant, requestID string, r Record) (Report, error) {
	ctx = trace.With(ctx, r.Trace)
	rows, err := e.rows(ctx, t, r)
	if err != nil {
		return Report{}, fmt.Errorf("rows of %s: %w", r.ID, err)
	}
	if _, err := e.Ledger.Write(ctx, t, actor, requestID, rows...); err != nil {
		return Report{}, fmt.Errorf("write the rows of %s: %w", r.ID, err)
	}
	if b := r.balance(); b != nil {
		if _, err := e.Ledger.Renew(ctx, t, actor, requestID, origin(b.AccountID), b); err != nil {
			return Report{}, fmt.Errorf("write the balance after %s: %w", r.ID, err)
		}
	}
	c, err := e.Desk.Settle(ctx, t, actor, requestID, r.IntentID, func(proposals.Case) (proposals.Step, error) {
		return e.executed(ctx, t, r.ID)
	})
	if err != nil {
		return Report{}, fmt.Errorf("end %s: %w", r.ID, err)
	}
	if c.Status == proposals.Dispatching { // somebody else made the last step while this one looked
		return Report{}, record.ErrConflict
	}
	return Report{Status: c.Status, Outcome: Done}, nil
}

// executed is the last step of a payment that was made: the account's balance is
// written, so what was reserved of it is not held any more.
func (e *Executor) executed(ctx context.Context, t identity.Tenant, name string) (proposals.Step, error) {
	r, found, err := e.read(ctx, t, name)
	if err != nil || !found || r.State != Settling {
		return proposals.Step{}, err
	}
	var change record.Change
	if change.Adds, err = r.release(t); err != nil {
		return proposals.Step{}, err
	}
	if flowOf(r.Order.Payment.ActionType).sign != 0 {
		account := r.Order.Payment.SourceAccountID
		holder, version, err := e.turn(ctx, t, account)
		if err != nil {
			return proposals.Step{}, err
		}
		if holder != r.ID { // somebody else has made this step since the record was read
			return proposals.Step{}, record.ErrConflict
		}
		put, err := take(t, account, "", version)
		if err != nil {
			return proposals.Step{}, err
		}
		change.Puts = append(change.Puts, put)
	}
	if change.Deletes, err = e.reopened(ctx, t, r); err != nil {
		return proposals.Step{}, err
	}
	awaited, err := r.awaited(t)
	if err != nil {
		return proposals.Step{}, err
	}
	change.Deletes = append(change.Deletes, awaited...)
	r.State, r.UpdatedAt = Settled, e.Now().UTC().Format(audit.TimeForm)
	put, err := r.put(t)
	change.Puts = append(change.Puts, put)
	return proposals.Step{
		To: proposals.Executed, Event: "execute.after", Change: change,
		Inputs:  map[string]any{"id": r.IntentID, "execution_id": r.ID},
		Outputs: map[string]any{"ok": true, "status": string(proposals.Executed), "rail_receipt": r.shown()},
	}, err
}

// fail ends an execution that its rail refused: nothing is held, marked or
// promised any more.
func (e *Executor) fail(ctx context.Context, t identity.Tenant, requestID string, r Record, receipt Receipt) (proposals.Case, error) {
	ctx = trace.With(ctx, r.Trace)
	return e.Desk.Settle(ctx, t, actor, requestID, r.IntentID, func(proposals.Case) (proposals.Step, error) {
		r, found, err := e.read(ctx, t, r.ID)
		if err != nil || !found || r.State != Dispatched {
			return proposals.Step{}, err
		}
		var change record.Change
		if change.Adds, err = r.release(t); err != nil {
			return proposals.Step{}, err
		}
		if change.Deletes, err = e.left(ctx, t, r); err != nil {
			return proposals.Step{}, err
		}
		awaited, err := r.awaited(t)
		if err != nil {
			return proposals.Step{}, err
		}
		change.Deletes = append(change.Deletes, awaited...)
		r.State, r.Receipt, r.UpdatedAt = Failed, &receipt, e.Now().UTC().Format(audit.TimeForm)
		put, err := r.put(t)
		change.Puts = append(change.Puts, put)
		return proposals.Step{
			To: proposals.Failed, Event: "execute.after", Change: change,
			Inputs:  map[string]any{"id": r.IntentID, "execution_id": r.ID},
			Outputs: map[string]any{"ok": false, "status": string(proposals.Failed), "rail_receipt": r.shown()},
		}, err
	})
}

// shown is the receipt as events and proofs have it.
func (r Record) shown() map[string]any {
	receipt := map[string]any{
		"rail": r.Rail, "outcome": string(r.Receipt.Outcome), "reference": r.Receipt.Reference, "at": r.Receipt.At,
		"idempotency_key": r.IdempotencyKey, "amount": r.Receipt.Amount, "currency": r.Receipt.Currency,
	}
	if r.State == Settled {
		receipt["transaction_id"] = r.transaction()
	}
	if r.Receipt.Reason != "" {
		receipt["reason"] = r.Receipt.Reason
	}
	if len(r.Receipt.Detail) > 0 {
		receipt["detail"] = r.Receipt.Detail
	}
	return receipt
}

// turn says which execution is changing an account's balance, empty for none, and
// the version of that. The item is never deleted: a version that began anew would
// hide that somebody had a turn.
func (e *Executor) turn(ctx context.Context, t identity.Tenant, account string) (holder string, version int64, err error) {
	item, found, err := e.Store.Get(ctx, key.Turn(t, account))
	if err != nil || !found {
		return "", 0, err
	}
	if err := json.Unmarshal(item.Body, &holder); err != nil {
		return "", 0, fmt.Errorf("decode the turn of %s: %w", account, err)
	}
	return holder, item.Version, nil
}

// take gives an account's turn to an execution, or frees it for the empty name.
func take(t identity.Tenant, account, execution string, was int64) (record.Put, error) {
	body, err := json.Marshal(execution)
	if err != nil {
		return record.Put{}, fmt.Errorf("encode a turn: %w", err)
	}
	return record.Put{Item: record.Item{Key: key.Turn(t, account), Body: body}, Was: was}, nil
}

// free waits for nobody: whoever has the turn of an account and died with it is
// finished here, and everything is read again.
func (e *Executor) free(ctx context.Context, t identity.Tenant, requestID, account string) (version int64, err error) {
	holder, version, err := e.turn(ctx, t, account)
	if err != nil || holder == "" {
		return version, err
	}
	r, found, err := e.read(ctx, t, holder)
	switch {
	case err != nil:
		return 0, err
	case !found:
		return 0, fmt.Errorf("the turn of %s is of %s, which is not there", account, holder)
	case r.State == Settling:
		if _, err := e.finish(ctx, t, requestID, r); err != nil {
			return 0, err
		}
	}
	return 0, record.ErrConflict
}
