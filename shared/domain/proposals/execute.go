package proposals

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/robotmoney/mcp/shared/domain/approval"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// View is an approved intent with everything that was decided about it and what
// would be decided now. Every read behind it was consistent.
type View struct {
	Tenant   identity.Tenant
	Now      time.Time
	Case     Case
	Amount   money.Amount
	Evidence []Reference    // what the payment rests on, linked rows among it
	Stored   *Decision      // the decision that counts, nil when it is not there
	Fresh    Decision       // what would be decided now; it is stored nowhere
	Policy   charter.Active // in force now
	// Matter is the intent as people would decide about it now: what was approved
	// before holds only as far as it is still of this.
	Matter approval.Matter
	Items  map[key.Key]record.Item // the rows it is judged by, and what else was asked for
}

// Step is what an execution does to its intent. The zero Step does nothing.
type Step struct {
	To              Status // Dispatching, Executed or Failed
	Event           string // what the event is called after the noun, such as execute.before
	Inputs, Outputs map[string]any
	// Change is written in the transaction that moves the intent.
	Change record.Change
}

// Gate judges whether an approved intent may be executed.
type Gate interface {
	// Keys names what is to be read beside the intent's own rows.
	Keys(ctx context.Context, c Case) ([]key.Key, error)
	// Judge says what becomes of the intent. An error decides nothing, and with
	// record.ErrConflict everything is read and judged anew.
	Judge(ctx context.Context, v View) (Step, error)
}

// executing are the states that executions move an intent into.
var executing = []Status{Dispatching, Executed, Failed}

// Dispatch has a gate judge an approved intent, and makes the step it decides on
// as one transaction. An intent in any other state is answered as it is, and the
// gate is not asked.
func (d *Desk) Dispatch(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string, gate Gate) (Case, error) {
	return again(func() (Case, error) {
		c, err := d.find(ctx, t, id.PaymentIntent, name)
		if err != nil || c.Status != Approved {
			return c, err
		}
		more, err := gate.Keys(ctx, c)
		if err != nil {
			return c, err
		}
		view, err := d.view(ctx, t, c, more)
		if err != nil {
			return c, err
		}
		step, err := gate.Judge(ctx, view)
		if err != nil {
			return c, err
		}
		return d.step(ctx, t, actor, requestID, c, step)
	})
}

// Settle moves a dispatched intent by what became of it on its rail, which run
// says. An intent in any other state is answered as it is, and run is not asked.
func (d *Desk) Settle(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string, run func(Case) (Step, error)) (Case, error) {
	return again(func() (Case, error) {
		c, err := d.find(ctx, t, id.PaymentIntent, name)
		if err != nil || c.Status != Dispatching {
			return c, err
		}
		step, err := run(c)
		if err != nil {
			return c, err
		}
		return d.step(ctx, t, actor, requestID, c, step)
	})
}

// step makes a step: the case's new state, what comes with it and the event in
// one transaction.
func (d *Desk) step(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, c Case, s Step) (Case, error) {
	if s.To == "" {
		return c, nil
	}
	if !slices.Contains(executing, s.To) {
		return c, fault.New(fault.Conflict, "An execution does not make a payment intent %s.", s.To)
	}
	ch, before := d.change(t, actor, requestID, d.Now()), c.Status
	ch.move(&c, s.To)
	ch.put(c.put(t))
	ch.tell(c, s.Event, before, s.Inputs, s.Outputs)
	ch.with(s.Change)
	return c, ch.commit(ctx)
}

// view reads an intent's view.
func (d *Desk) view(ctx context.Context, t identity.Tenant, c Case, more []key.Key) (View, error) {
	v := View{Tenant: t, Case: c, Evidence: c.refs()}
	amount, err := c.Money()
	if err != nil {
		return v, fmt.Errorf("%s: %w", c.ID, err)
	}
	decided := key.Key{}
	if c.PolicyDecisionID != nil {
		decided = key.Decision(t, id.PaymentIntent, c.ID, *c.PolicyDecisionID)
		more = append(slices.Clip(more), decided)
	}
	r, err := d.read(ctx, t, c, more...)
	if err != nil {
		return v, err
	}
	v.Now, v.Amount, v.Policy, v.Items = r.now, amount, r.policy, r.items
	if item, found := r.items[decided]; found {
		v.Stored = &Decision{}
		if err := json.Unmarshal(item.Body, v.Stored); err != nil {
			return v, fmt.Errorf("decode decision %s: %w", *c.PolicyDecisionID, err)
		}
	}
	if v.Fresh, err = d.decide(r, c, r.rejudge(t, c, amount, v.Stored)); err != nil {
		return v, err
	}
	hash, err := c.hashOf(r.items[c.payee(t)])
	v.Matter = c.matter(r, v.Fresh, &amount, hash)
	return v, err
}

// rejudge has the policy in force judge an intent once more. Its own promise is
// counted once.
func (r *reading) rejudge(t identity.Tenant, c Case, amount money.Amount, stored *Decision) policy.Verdict {
	return r.evaluate(t, c, &amount, place{r.book(t, c, c.Standing.Promise), stored, amount, c.held(r.now)})
}

// held is for how long the intent's promise has been counted. Without a promise
// it is for ever, which is in no window.
func (c Case) held(now time.Time) time.Duration {
	at, err := time.Parse(time.RFC3339, c.Standing.Promise.At)
	if err != nil {
		return 1<<63 - 1
	}
	return now.Sub(at)
}

// place is what was promised before an intent, looked at later. Who proposes
// while a promise is in the window is judged with it counted, and so may get
// less; the promise that was there first keeps its place and must not fail
// because others came after it. So as long as it is in a window, no more counts
// before it than counted when it was decided.
type place struct {
	now    policy.Promised
	stored *Decision
	amount money.Amount
	held   time.Duration
}

// Spend is what was promised before the intent in a window.
func (p place) Spend(per policy.Per, window policy.Window, currency money.Currency) (money.Amount, bool) {
	sum, known := p.now.Spend(per, window, currency)
	room, decided := p.room(per, window, currency.String())
	if !known || !decided || currency != p.amount.Currency() {
		return sum, known
	}
	limit, err := money.ParseAmount(room.Limit, currency)
	if err != nil {
		return sum, true
	}
	left, err := money.ParseSigned(room.Left, currency)
	if err != nil {
		return sum, true
	}
	if after, err := limit.Sub(left); err == nil {
		if before, err := after.Sub(p.amount); err == nil {
			if order, err := before.Cmp(sum); err == nil && order < 0 {
				return before, true
			}
		}
	}
	return sum, true
}

// Count is how many proposals were promised before the intent in a window.
func (p place) Count(per policy.Per, window policy.Window) (int64, bool) {
	n, known := p.now.Count(per, window)
	room, decided := p.room(per, window, "")
	if !known || !decided {
		return n, known
	}
	var limit, left int64
	if _, err := fmt.Sscan(room.Limit, &limit); err != nil {
		return n, true
	}
	if _, err := fmt.Sscan(room.Left, &left); err != nil {
		return n, true
	}
	return min(n, limit-left-1), true
}

// room is what the stored decision found of a cap, while the promise is inside
// its window.
func (p place) room(per policy.Per, window policy.Window, currency string) (policy.Headroom, bool) {
	if p.stored == nil || p.held >= policy.Windows[window] {
		return policy.Headroom{}, false
	}
	at := slices.IndexFunc(p.stored.Headroom, func(h policy.Headroom) bool {
		return h.Per == per && h.Window == window && h.Currency == currency
	})
	if at < 0 {
		return policy.Headroom{}, false
	}
	return p.stored.Headroom[at], true
}
