package proposals

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Desk is where things are proposed, authorized, decided and taken back.
type Desk struct {
	Store    record.Store
	Policies *charter.Register
	Trail    *audit.Trail
	IDs      Names
	Now      func() time.Time
}

// Names makes ids; an *id.Source does.
type Names interface {
	New(kind id.Prefix) (string, error)
}

// maxTries is how often something is decided anew after what it rested on has
// changed in between.
const maxTries = 8

// again runs one try after another until one does not meet another change.
func again[T any](try func() (T, error)) (T, error) {
	for n := 1; ; n++ {
		out, err := try()
		switch {
		case !errors.Is(err, record.ErrConflict):
			return out, err
		case n == maxTries:
			return out, fault.Because(err, fault.DependencyUnavailable, "Too much changes at once around this, and nothing was written. Try again.")
		}
	}
}

// change is a change of one case on its way to the table: what happens to the
// case, to the counters and to the marks, and the events that tell of it.
type change struct {
	desk   *Desk
	tenant identity.Tenant
	actor  identity.Actor
	call   string // the request's id
	now    time.Time
	puts   []record.Put
	adds   []record.Add
	drops  []key.Key
	moves  map[allowance.Subject]*allowance.Moves
	order  []allowance.Subject
	events []audit.Event
	failed error
}

func (d *Desk) change(t identity.Tenant, actor identity.Actor, requestID string, now time.Time) *change {
	return &change{desk: d, tenant: t, actor: actor, call: requestID, now: now, moves: map[allowance.Subject]*allowance.Moves{}}
}

// counters are the moves of a subject's counters, made on first use.
func (c *change) counters(s allowance.Subject) *allowance.Moves {
	if c.moves[s] == nil {
		c.moves[s] = s.Moves()
		c.order = append(c.order, s)
	}
	return c.moves[s]
}

// keep keeps the first error, so that a change can be written down in one go.
func (c *change) keep(err error) {
	if c.failed == nil {
		c.failed = err
	}
}

// put adds a stored item.
func (c *change) put(put record.Put, err error) {
	c.keep(err)
	c.puts = append(c.puts, put)
}

// with adds what else is written in the same transaction.
func (c *change) with(more record.Change) {
	c.puts, c.adds, c.drops = append(c.puts, more.Puts...), append(c.adds, more.Adds...), append(c.drops, more.Deletes...)
}

// move puts a case into another state: the one place where that happens. What no
// longer waits is counted no longer among what waits, what is final and not paid
// gives its promise back, and the mark of its expiry follows.
func (c *change) move(k *Case, to Status) {
	c.keep(kinds[k.kind()].life.step(k.noun(), k.Status, to))
	from, subject := k.Status, k.subject(c.tenant)
	k.Status, k.UpdatedAt = to, stamp(c.now)
	switch {
	case from.waits() && !to.waits():
		c.counters(subject).Settle()
	case !from.waits() && to.waits():
		c.counters(subject).Wait()
	}
	if from.promises() && !to.promises() {
		c.keep(c.counters(subject).Release(k.Standing.Promise, c.now))
		k.Standing.Promise = allowance.Hold{}
	}
	if k.ExpiresAt != nil && !k.expires() {
		c.drops = append(c.drops, c.due(*k))
		k.ExpiresAt = nil
	}
}

// expires says whether the case, as it stands, ends by itself one day.
func (k Case) expires() bool { return k.Status.waits() || k.Status == Authorized }

// due is the mark of a case's expiry.
func (c *change) due(k Case) key.Key {
	at, err := time.Parse(audit.TimeForm, *k.ExpiresAt)
	c.keep(err)
	return key.Due(c.tenant, at, k.ID)
}

// tell adds the event of what happened to a case. states holds its state before
// and after; before is empty for what is new.
func (c *change) tell(k Case, what string, before Status, inputs, outputs map[string]any) {
	event, err := c.desk.Trail.New(audit.Event{
		TenantID: c.tenant.String(), Layer: audit.LayerExecution, Actor: c.actor, Action: kinds[k.kind()].event + "." + what, RequestID: c.call,
		Inputs: inputs, Outputs: outputs, AfterState: map[string]any{"id": k.ID, "status": k.Status},
	})
	if before != "" {
		event.BeforeState = map[string]any{"id": k.ID, "status": before}
	}
	if k.PolicyDecisionID != nil {
		event.PolicyDecisionID = *k.PolicyDecisionID
	}
	c.keep(err)
	c.events = append(c.events, event)
}

// commit writes the change as one transaction.
func (c *change) commit(ctx context.Context) error {
	if c.failed != nil {
		return c.failed
	}
	change := record.Change{Puts: c.puts, Adds: c.adds, Deletes: c.drops}
	for _, subject := range c.order {
		change.Adds = append(change.Adds, c.moves[subject].Adds()...)
	}
	return c.desk.Trail.Commit(ctx, change, c.events...)
}

// absent is the one answer for a case that is not there or not the caller's.
func absent(kind id.Prefix) error {
	return fault.New(kinds[kind].missing, "There is no such %s. Ids come from the answers of earlier calls.", kinds[kind].noun)
}

// find reads a case. A malformed, missing or foreign id is one answer.
func (d *Desk) find(ctx context.Context, t identity.Tenant, kind id.Prefix, name string) (Case, error) {
	if id.Check(kind, name) != nil {
		return Case{}, absent(kind)
	}
	item, found, err := d.Store.Get(ctx, key.Ledger(t, kind, name))
	if err != nil {
		return Case{}, err
	}
	if !found {
		return Case{}, absent(kind)
	}
	c, err := Decode(item)
	if err != nil {
		return Case{}, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}
