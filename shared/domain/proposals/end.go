package proposals

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Cancel takes an agent's own intent back while people have not decided. One that
// is cancelled already is answered as it is.
func (d *Desk) Cancel(ctx context.Context, who identity.Principal, requestID, name string) (Case, error) {
	return again(func() (Case, error) {
		c, err := d.find(ctx, who.Tenant, id.PaymentIntent, name)
		switch {
		case err != nil:
			return Case{}, err
		case c.AgentID != who.ID || who.Kind != identity.Agent:
			return Case{}, absent(id.PaymentIntent)
		case c.Status == Cancelled:
			return c, nil
		case !c.Status.waits():
			return Case{}, fault.New(fault.Conflict, "The payment intent is %s. An agent can take one back while it waits for people; afterwards a member rejects it or an operator pauses it.", c.Status).With("status", string(c.Status))
		}
		return d.end(ctx, who.Tenant, who.Actor(), requestID, c, Cancelled)
	})
}

// Pause stops an approved intent from being executed, Resume lets it go on, and
// Stop ends a paused one. They are the operator's, for the tenant's members.
func (d *Desk) Pause(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string) (Case, error) {
	return d.turn(ctx, t, actor, requestID, name, Paused)
}

// Resume lets a paused intent go on.
func (d *Desk) Resume(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string) (Case, error) {
	return d.turn(ctx, t, actor, requestID, name, Approved)
}

// Stop ends a paused intent for good.
func (d *Desk) Stop(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string) (Case, error) {
	return d.turn(ctx, t, actor, requestID, name, Cancelled)
}

// turn moves an intent between approved, paused and cancelled. The state it is in
// already is no change.
func (d *Desk) turn(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string, to Status) (Case, error) {
	from := map[Status]Status{Paused: Approved, Approved: Paused, Cancelled: Paused}[to]
	return again(func() (Case, error) {
		c, err := d.find(ctx, t, id.PaymentIntent, name)
		if err != nil || c.Status == to {
			return c, err
		}
		if c.Status != from {
			return Case{}, fault.New(fault.Conflict, "The payment intent is %s; only one that is %s can become %s.", c.Status, from, to).With("status", string(c.Status))
		}
		return d.end(ctx, t, actor, requestID, c, to)
	})
}

// end moves a case and tells of it.
func (d *Desk) end(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID string, c Case, to Status) (Case, error) {
	ch, before := d.change(t, actor, requestID, d.Now()), c.Status
	ch.move(&c, to)
	ch.put(c.put(t))
	ch.tell(c, became[to], before, map[string]any{"id": c.ID}, map[string]any{"ok": true})
	return c, ch.commit(ctx)
}

// sweeper is who lets things expire.
var sweeper = identity.Actor{Type: "function", ID: "outbox"}

// dueBatch is how many marks one query of the sweep reads.
const dueBatch = 100

// Expire ends every case whose time is over and says how many. What cannot be
// ended is left for the next sweep and does not keep the others from it.
func (d *Desk) Expire(ctx context.Context) (int, error) {
	ended, failures := 0, []error{}
	for shard := range key.DueShards {
		query := record.Query{PK: key.DuePartition(shard), To: d.Now().UTC().Format("2006-01-02T15:04:05.000Z") + "~", Limit: dueBatch}
		for {
			page, err := d.Store.Query(ctx, query)
			if err != nil {
				return ended, errors.Join(append(failures, err)...)
			}
			for _, item := range page.Items {
				done, err := d.expire(ctx, item.Key)
				if err != nil {
					failures = append(failures, fmt.Errorf("%s: %w", item.Key.SK, err))
				} else if done {
					ended++
				}
			}
			if page.Next == nil || ctx.Err() != nil {
				break
			}
			query.After = page.Next
		}
	}
	return ended, errors.Join(failures...)
}

// expire ends the case of a mark. A mark of something that does not wait any
// more, or for another time, is a leftover and is removed.
func (d *Desk) expire(ctx context.Context, mark key.Key) (bool, error) {
	parts := strings.Split(mark.SK, "#")
	if len(parts) != 3 {
		return false, errors.New("the mark cannot be read")
	}
	t, err := identity.OperatorTenant(parts[1])
	if err != nil {
		return false, err
	}
	kind, known := KindOf(parts[2])
	if !known {
		return false, errors.New("the mark is of nothing that expires")
	}
	return again(func() (bool, error) {
		c, err := d.find(ctx, t, kind, parts[2])
		gone := fault.Is(err, kinds[kind].missing)
		if err != nil && !gone {
			return false, err
		}
		if gone || c.ExpiresAt == nil || *c.ExpiresAt != parts[0] {
			return false, d.Store.Commit(ctx, record.Change{Deletes: []key.Key{mark}})
		}
		if !c.past(d.Now()) {
			return false, nil
		}
		_, err = d.end(ctx, t, sweeper, "", c, Expired)
		return err == nil, err
	})
}
