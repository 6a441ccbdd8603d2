package execution

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/trace"
)

// dispatch is one intent's way through the gate.
type dispatch struct {
	executor *Executor
	tenant   identity.Tenant
	request  string
	turn     int64 // the version of the account's turn before anything was read
}

// Keys makes sure that nobody is changing the account's balance, and names what is
// to be read.
func (d *dispatch) Keys(ctx context.Context, c proposals.Case) ([]key.Key, error) {
	if flowOf(c.ActionType).sign < 0 {
		var err error
		if d.turn, err = d.executor.free(ctx, d.tenant, d.request, c.SourceAccountID); err != nil {
			return nil, err
		}
	}
	return keys(d.tenant, c), nil
}

// Judge looks at everything and decides: to the rail, or the end.
func (d *dispatch) Judge(ctx context.Context, p proposals.View) (proposals.Step, error) {
	e := d.executor
	v, err := e.look(ctx, p)
	if err != nil {
		return proposals.Step{}, err
	}
	if flowOf(v.Case.ActionType).sign < 0 {
		// A settlement in between moved the balance and the reservations one after
		// the other; what was read of them does not belong together.
		holder, version, err := e.turn(ctx, d.tenant, v.Case.SourceAccountID)
		if err != nil {
			return proposals.Step{}, err
		}
		if holder != "" || version != d.turn {
			return proposals.Step{}, record.ErrConflict
		}
	}
	checks, passed := Judge(v)
	if !passed {
		return stopped(v, checks, ""), nil
	}
	r, puts, err := e.prepare(ctx, v, checks)
	var refusal *Refusal
	if errors.As(err, &refusal) {
		last := &checks[len(checks)-1]
		last.Passed, last.Observed = false, seen{"event": "", "refused": refusal.Reason}
		return stopped(v, checks, refusal.Reason), nil
	}
	if err != nil {
		return proposals.Step{}, err
	}
	return passes(v, r, puts)
}

// stopped is the end of an intent at the gate. reason is the rail's, where it is
// the rail that cannot carry it.
func stopped(v View, checks []Check, reason string) proposals.Step {
	outputs := map[string]any{"ok": false, "gate_checks": checks, "ledger_snapshot_hash": v.Fresh.FactsHash}
	if reason != "" {
		outputs["reason"] = reason
	}
	return proposals.Step{To: proposals.Failed, Event: "failed", Inputs: map[string]any{"id": v.Case.ID}, Outputs: outputs}
}

// prepare makes the record of an execution, with what its rail makes beforehand.
func (e *Executor) prepare(ctx context.Context, v View, checks []Check) (Record, []record.Put, error) {
	c, now, rail := v.Case, v.Now.UTC().Format(audit.TimeForm), e.Rails.of(v.Case.ActionType)
	if rail == nil {
		return Record{}, nil, fmt.Errorf("there is no rail for %s", c.ActionType)
	}
	r := Record{
		ID: NameOf(c.ID), TenantID: v.Tenant.String(), IntentID: c.ID, Rail: rail.Name(), IdempotencyKey: KeyOf(v.Tenant, c.ID),
		State: Dispatched, Checks: checks, CreatedAt: now, UpdatedAt: now, Trace: trace.From(ctx),
	}
	r.Order = Order{
		TenantID: r.TenantID, IntentID: c.ID, ExecutionID: r.ID, IdempotencyKey: r.IdempotencyKey, Payment: *c.Payment, CreatedAt: now,
		Debtor:   Debtor{v.Account.ID, v.Account.Name, v.Account.Institution, v.Account.ExternalAccountID},
		Creditor: Creditor{v.Payee.ID, v.Payee.Name, list(v.Payee.LinkedAccounts), v.Payee.OnchainAddress},
	}
	if flowOf(c.ActionType).sign < 0 {
		hold := money.Write(v.Amount)
		r.Hold = &hold
	}
	if rail, answers := rail.(Answering); answers {
		r.ReceiptDue = v.Now.Add(rail.Within()).UTC().Format(audit.TimeForm)
	}
	maker, makes := rail.(Preparer)
	if !makes {
		return r, nil, nil
	}
	prepared, puts, err := maker.Prepare(ctx, r.Order)
	r.Order.Prepared = prepared
	return r, puts, err
}

// passes is the step to the rail: record, marks, reservation, and what the rail
// has made, all in the transaction that moves the intent and holds its event.
func passes(v View, r Record, puts []record.Put) (proposals.Step, error) {
	put, err := r.put(v.Tenant)
	if err != nil {
		return proposals.Step{}, err
	}
	marks, err := mark(v, r.ID)
	if err != nil {
		return proposals.Step{}, err
	}
	change := record.Change{Puts: append(append(marks, put), puts...)}
	awaited, err := r.awaited(v.Tenant)
	if err != nil {
		return proposals.Step{}, err
	}
	for _, mark := range awaited {
		change.Puts = append(change.Puts, record.Put{Item: record.Item{Key: mark}, Blind: true})
	}
	if r.Hold != nil {
		room, _, known := v.room()
		if !known {
			return proposals.Step{}, errors.New("there is no room to reserve in")
		}
		change.Adds = []record.Add{reserve(v, room)}
	}
	return proposals.Step{
		To: proposals.Dispatching, Event: "execute.before", Change: change,
		Inputs:  map[string]any{"id": v.Case.ID, "execution_id": r.ID, "rail": r.Rail, "idempotency_key": r.IdempotencyKey},
		Outputs: map[string]any{"ok": true, "gate_checks": r.Checks, "ledger_snapshot_hash": v.Fresh.FactsHash},
	}, nil
}

// reserve holds the payment's amount of the account, unless so much was reserved
// since the balance was read that it does not fit any more.
func reserve(v View, room money.Amount) record.Add {
	amount, currency := minor(v.Amount), v.Case.Currency
	return record.Add{
		Key:    key.Reserved(v.Tenant, v.Case.SourceAccountID),
		Deltas: map[string]*big.Int{held(currency): amount, ever(currency): amount},
		Most:   map[string]*big.Int{ever(currency): new(big.Int).Add(v.ever, minor(room))},
	}
}

// release gives back what an execution held, or takes it off once it is paid.
func (r Record) release(t identity.Tenant) ([]record.Add, error) {
	if r.Hold == nil {
		return nil, nil
	}
	amount, err := r.Hold.Read()
	if err != nil {
		return nil, fmt.Errorf("what %s holds: %w", r.ID, err)
	}
	deltas := map[string]*big.Int{held(r.Hold.Currency): new(big.Int).Neg(minor(amount))}
	return []record.Add{{Key: key.Reserved(t, r.Order.Payment.SourceAccountID), Deltas: deltas}}, nil
}
