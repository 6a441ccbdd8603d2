package proposals_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// actor is one agent, person or function at work, and whatever it is, it asks
// again until it is told.
type actor struct {
	t      *testing.T
	world  *world
	watch  *watch
	who    identity.Principal
	n      int // the actor's number, in its keys
	calls  int
	random *rand.Rand
}

// step does one thing.
func (a *actor) step() {
	a.calls++
	switch draw := a.random.IntN(100); {
	case draw < 34:
		a.propose(proposals.Case{})
	case draw < 46:
		a.authorize()
	case draw < 56:
		a.use()
	case draw < 64:
		a.cancel()
	case draw < 86:
		a.decide()
	case draw < 94:
		a.execute()
	case draw < 97:
		a.pause()
	default:
		a.expire()
	}
}

// told repeats a call until something is answered: what cannot be reached is
// tried again, and a state that does not allow it is an answer.
func (a *actor) told(what string, call func(ctx context.Context) error) bool {
	for range 200 {
		err := call(a.t.Context())
		switch {
		case err == nil:
			return true
		case fault.Is(err, fault.DependencyUnavailable):
		case fault.Is(err, fault.Conflict), fault.Is(err, fault.SecondApprovalNeeded),
			fault.Is(err, fault.IntentNotFound), fault.Is(err, fault.AuthorizationNotFound):
			return false
		default:
			a.t.Errorf("%s: %v", what, err)
			return false
		}
	}
	a.t.Errorf("%s: no answer in 200 tries", what)
	return false
}

func (a *actor) payee() string {
	return []string{"cp_aws", "cp_gcp"}[a.random.IntN(2)]
}

func (a *actor) amount() string {
	return fmt.Sprintf("%d.%02d", 1+a.random.IntN(400), a.random.IntN(100))
}

func (a *actor) key() string { return fmt.Sprintf("key-%d-%d", a.n, a.calls) }

// propose proposes a payment, by an authorization if there is one.
func (a *actor) propose(token proposals.Case) {
	p := proposal(a.amount(), func(p *proposals.Proposal) {
		p.DestinationCounterpartyID, p.IdempotencyKey = a.payee(), a.key()
	})
	if token.ID != "" {
		p.AuthorizationID, p.DestinationCounterpartyID, p.Amount = token.ID, token.DestinationCounterpartyID, token.Amount
		if a.random.IntN(2) == 0 {
			p.Amount = "0.50"
		}
	}
	a.told("propose", func(ctx context.Context) error {
		_, err := a.world.desk.Propose(ctx, a.who, "req", p)
		return err
	})
}

func (a *actor) authorize() {
	q := request(a.amount(), func(q *proposals.Request) {
		q.DestinationCounterpartyID, q.IdempotencyKey = a.payee(), a.key()
		q.ExpiresIn = time.Duration(1+a.random.IntN(120)) * time.Minute
	})
	a.told("authorize", func(ctx context.Context) error {
		_, err := a.world.desk.Authorize(ctx, a.who, "req", q)
		return err
	})
}

// use proposes by an authorization of its own.
func (a *actor) use() {
	token := a.watch.pick(a.random, func(c proposals.Case) bool { return c.Status == proposals.Authorized && c.AgentID == a.who.ID })
	if token.ID != "" {
		a.propose(token)
	}
}

// any is a case that stands in one of the states, or now and then one that does
// not.
func (a *actor) any(states ...proposals.Status) string {
	astray := a.random.IntN(8) == 0
	return a.watch.pick(a.random, func(c proposals.Case) bool { return astray || slices.Contains(states, c.Status) }).ID
}

func (a *actor) cancel() {
	name := a.any(waiting...)
	a.told("cancel", func(ctx context.Context) error {
		_, err := a.world.desk.Cancel(ctx, a.who, "req", name)
		return err
	})
}

// decide is one of three people's decision about a case of any agent.
func (a *actor) decide() {
	name := a.any(append(waiting, proposals.Authorized)...)
	person := a.world.member(fmt.Sprintf("mbr_%d", a.random.IntN(3)))
	decision := []string{proposals.Approve, proposals.Approve, proposals.Approve, proposals.Reject}[a.random.IntN(4)]
	choice := proposals.Choice{Name: name, Decision: decision}
	kind, _ := proposals.KindOf(name)
	a.told(decision, func(ctx context.Context) error {
		var err error
		switch kind {
		case id.PaymentIntent:
			_, err = a.world.desk.Decide(ctx, person, "req", choice)
		case id.Authorization:
			_, err = a.world.desk.DecideAuthorization(ctx, person, "req", choice)
		}
		return err
	})
}

// lets is a gate that has made up its mind.
type lets proposals.Status

func (lets) Keys(context.Context, proposals.Case) ([]key.Key, error) { return nil, nil }

func (l lets) Judge(context.Context, proposals.View) (proposals.Step, error) {
	return outcome(proposals.Status(l)), nil
}

// outcome is a step that does nothing but move the intent.
func outcome(to proposals.Status) proposals.Step {
	return proposals.Step{To: to, Event: "execute." + string(to), Inputs: map[string]any{}, Outputs: map[string]any{"ok": true}}
}

// execute passes an intent through the gate or not, and on its rail or not.
func (a *actor) execute() {
	name := a.any(proposals.Approved)
	gate := lets([]proposals.Status{proposals.Dispatching, proposals.Dispatching, proposals.Failed}[a.random.IntN(3)])
	end := []proposals.Status{proposals.Executed, proposals.Failed}[a.random.IntN(2)]
	a.told("dispatch", func(ctx context.Context) error {
		_, err := a.world.desk.Dispatch(ctx, a.world.tenant, operator, "req", name, gate)
		return err
	})
	a.told("settle", func(ctx context.Context) error {
		_, err := a.world.desk.Settle(ctx, a.world.tenant, operator, "req", name, func(proposals.Case) (proposals.Step, error) { return outcome(end), nil })
		return err
	})
}

// pause stops an intent and lets it go on, or ends it.
func (a *actor) pause() {
	name, desk := a.any(proposals.Approved), a.world.desk
	then := desk.Resume
	if a.random.IntN(2) == 0 {
		then = desk.Stop
	}
	for _, turn := range []func(context.Context, identity.Tenant, identity.Actor, string, string) (proposals.Case, error){desk.Pause, then} {
		a.told("turn", func(ctx context.Context) error {
			_, err := turn(ctx, a.world.tenant, operator, "req", name)
			return err
		})
	}
}

// expire lets time pass, mostly little and sometimes a day, and sweeps.
func (a *actor) expire() {
	step := time.Duration(a.random.IntN(40)) * time.Minute
	if a.random.IntN(3) == 0 {
		step = 26 * time.Hour
	}
	a.world.clock.pass(step)
	a.told("expire", func(ctx context.Context) error {
		_, err := a.world.desk.Expire(ctx)
		return err
	})
}

// everything are all events that were kept, on the bus and in the outbox, by the
// case they tell of and in the order in which they were made.
func (w *world) everything(t testing.TB) map[string][]audit.Event {
	t.Helper()
	details := map[string][]byte{}
	for shard := range key.OutboxShards {
		for _, item := range w.query(t, record.Query{PK: key.OutboxPartition(shard)}) {
			details[item.Key.SK[strings.IndexByte(item.Key.SK, '#')+1:]] = item.Body
		}
	}
	w.bus.mu.Lock()
	defer w.bus.mu.Unlock()
	for _, entry := range w.bus.entries {
		details[entry.ID] = entry.Detail
	}
	told := map[string][]audit.Event{}
	for _, name := range slices.Sorted(maps.Keys(details)) {
		var cloud struct{ Data audit.Event }
		noError(t, json.Unmarshal(details[name], &cloud))
		if about, ok := cloud.Data.AfterState["id"].(string); ok && cloud.Data.TenantID == w.tenant.String() {
			told[about] = append(told[about], cloud.Data)
		}
	}
	return told
}
