package execution

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// The events of executions. Each is in the transaction it tells of.
const (
	EventBefore = "payment_intent.execute.before" // the gate let it pass, and the rail may be asked
	EventAfter  = "payment_intent.execute.after"  // the rail has said what became of it
	EventFailed = "payment_intent.failed"         // the gate stopped it
)

// The alarms. Each needs a person.
const (
	AlarmUnknown  = "RailUnknown"     // a rail did not say what became of an order
	AlarmDisputed = "ReceiptDisputed" // a receipt that cannot be of what we know
)

// actor is who executes, as events name it.
var actor = identity.Actor{Type: "function", ID: "execute"}

// maxTries is how often something is done anew after it met another change.
const maxTries = 8

// Executor executes approved intents. It has no state of its own: any number of
// them may work on one table, and on one intent.
type Executor struct {
	Desk     *proposals.Desk
	Ledger   *ledger.Writer
	Store    record.Store
	Registry identity.Registry
	Rails    Rails
	Now      func() time.Time
	Log      *slog.Logger
	Alarm    func(name string)
}

// Report is what was done about an intent.
type Report struct {
	Status  proposals.Status // where the intent stands
	Outcome Outcome          // what the rail said, empty when it was not asked
	Again   bool             // the order is to be sent again later: only that tells what became of it
}

// Dispute is a receipt that contradicts what is known. It changes nothing, and
// somebody must find out what is true.
type Dispute struct{ Reason string }

// Error is the reason, without anything the receipt says.
func (d *Dispute) Error() string { return "the receipt is disputed: " + d.Reason }

// Execute takes an approved intent through the gate and to its rail. One that is
// dispatched already is sent again, which its idempotency key makes harmless, and
// one whose receipt is kept is settled. An intent in any other state is left
// alone. An error, or Again, asks for another call later.
func (e *Executor) Execute(ctx context.Context, t identity.Tenant, requestID, intent string) (Report, error) {
	c, err := e.Desk.Dispatch(ctx, t, actor, requestID, intent, &dispatch{executor: e, tenant: t, request: requestID})
	if err != nil {
		return Report{}, fmt.Errorf("dispatch %s: %w", intent, err)
	}
	if c.Status != proposals.Dispatching {
		return Report{Status: c.Status}, nil
	}
	r, found, err := e.read(ctx, t, NameOf(intent))
	switch {
	case err != nil:
		return Report{}, err
	case !found:
		return Report{}, fmt.Errorf("%s is dispatching and has no execution", intent)
	case r.State == Settling:
		return e.Settle(ctx, t, requestID, *r.Receipt)
	case r.State != Dispatched: // somebody else has come to the end meanwhile
		return Report{Status: over[r.State]}, nil
	}
	return e.send(ctx, t, requestID, r)
}

// over is the intent's state after an execution's last one.
var over = map[State]proposals.Status{Settled: proposals.Executed, Failed: proposals.Failed}

// send asks the rail. What it does not say clearly is not known: the intent stays
// dispatching, a person is told, and the question is asked again.
func (e *Executor) send(ctx context.Context, t identity.Tenant, requestID string, r Record) (Report, error) {
	rail, err := e.Rails.named(r.Rail)
	if err != nil {
		return Report{}, err
	}
	receipt, err := rail.Send(ctx, r.Order)
	switch {
	case err == nil && (receipt.Outcome == Done || receipt.Outcome == Refused):
		return e.Settle(ctx, t, requestID, receipt)
	case err == nil && receipt.Outcome == Accepted:
		return Report{proposals.Dispatching, Accepted, receipt.Again}, nil
	}
	e.Log.ErrorContext(ctx, "the rail did not say what became of an order", "tenant", t.String(), "execution", r.ID, "rail", r.Rail, "reason", receipt.Reason, "error", err)
	e.Alarm(AlarmUnknown)
	return Report{proposals.Dispatching, Unknown, true}, nil
}

// Settle does what follows from a receipt: the ledger's rows and the intent's end,
// or its failure. The receipt is believed as far as it is of the execution as it
// is stored; the same one again changes nothing, and a *Dispute is one that says
// something else.
func (e *Executor) Settle(ctx context.Context, t identity.Tenant, requestID string, receipt Receipt) (Report, error) {
	for try := 1; ; try++ {
		report, done, err := e.settle(ctx, t, requestID, receipt)
		var dispute *Dispute
		if errors.As(err, &dispute) {
			e.Log.ErrorContext(ctx, "a receipt is disputed", "tenant", t.String(), "reason", dispute.Reason)
			e.Alarm(AlarmDisputed)
		}
		switch {
		case err != nil && !errors.Is(err, record.ErrConflict):
			return report, err
		case err == nil && done:
			return report, nil
		case try == maxTries:
			return report, fault.Because(err, fault.DependencyUnavailable, "Too much changes at once around this execution. Try again.")
		}
	}
}

// settle is one try; false asks for another look.
func (e *Executor) settle(ctx context.Context, t identity.Tenant, requestID string, receipt Receipt) (Report, bool, error) {
	r, found, err := e.read(ctx, t, receipt.ExecutionID)
	if err != nil {
		return Report{}, false, err
	}
	if !found {
		return Report{}, false, &Dispute{"there is no such execution"}
	}
	if err := r.admits(receipt); err != nil {
		return Report{}, false, err
	}
	if receipt.At, err = e.dated(receipt); err != nil {
		return Report{}, false, err
	}
	says := receipt.Outcome
	switch {
	case says == Accepted || says == Unknown:
		return Report{Status: proposals.Dispatching, Outcome: says}, true, nil
	case r.State == Dispatched && says == Done:
		_, err := e.keep(ctx, t, requestID, r, receipt)
		return Report{}, false, err
	case r.State == Dispatched && says == Refused:
		_, err := e.fail(ctx, t, requestID, r, receipt)
		return Report{}, false, err
	case says == Done && (r.State == Settling || r.State == Settled) && receipt.Reference != r.Receipt.Reference:
		return Report{}, false, &Dispute{"the execution has a receipt with another reference"}
	case r.State == Settling && says == Done:
		report, err := e.finish(ctx, t, requestID, r)
		return report, true, err
	case r.State == Settled && says == Done, r.State == Failed && says == Refused:
		return Report{Status: over[r.State], Outcome: says}, true, nil
	}
	return Report{}, false, &Dispute{fmt.Sprintf("it says %s and the execution is %s", says, r.State)}
}

// admits says in what a receipt is not one of this execution.
func (r Record) admits(receipt Receipt) error {
	switch {
	case receipt.IntentID != r.IntentID:
		return &Dispute{"it is of another payment intent"}
	case receipt.Rail != r.Rail:
		return &Dispute{"it is of another rail"}
	case receipt.IdempotencyKey != r.IdempotencyKey:
		return &Dispute{"its idempotency key is another"}
	case receipt.Amount != r.Order.Payment.Amount || receipt.Currency != r.Order.Payment.Currency:
		return &Dispute{"it is of another amount"}
	case receipt.Outcome == Done && receipt.Reference == "":
		return &Dispute{"it has no reference"}
	}
	return nil
}

// dated is the time of a receipt in the one form; without one it is now. A day of
// the future cannot be booked.
func (e *Executor) dated(receipt Receipt) (string, error) {
	at, now := e.Now(), e.Now()
	if receipt.At != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, receipt.At); err != nil {
			return "", &Dispute{"its time cannot be read"}
		}
	}
	if at.After(now.Add(24 * time.Hour)) {
		return "", &Dispute{"it is of the future"}
	}
	return at.UTC().Format(audit.TimeForm), nil
}
