package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/infra/bench/desk"
	"github.com/robotmoney/mcp/infra/bench/measure"
	"github.com/robotmoney/mcp/infra/bench/report"
	local "github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/platform/bus"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// The sizes and targets of the money path.
const (
	manyRules     = 200
	judgeBound    = 200_000 // ns
	readsBound    = 3
	atOnce        = 50 // agents of one tenant
	crowds        = 5  // rounds of them
	fits          = 25 // of a round under the last one's cap
	retriesBound  = 2
	proposeRounds = 21
	proposeBatch  = 10
	payeeID       = "cp_aws"
	wideCap       = "10000000.00"
)

// paying measures what stands between an agent's proposal and its answer: the
// judgement by a large policy, the calls a proposal makes and how long it takes
// beside these calls alone, and what becomes of it when many propose at once.
func paying(ctx context.Context, b *bench) ([]report.Row, error) {
	judged, err := judging()
	if err != nil {
		return nil, err
	}
	c, err := b.counter(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.enact(ctx, wideCap); err != nil {
		return nil, err
	}
	counted, err := c.one(ctx)
	if err != nil {
		return nil, err
	}
	timed, err := c.beside(ctx)
	if err != nil {
		return nil, err
	}
	crowded, err := c.crowd(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Concat(judged, counted, timed, crowded), nil
}

// judging times one judgement by many rules.
func judging() ([]report.Row, error) {
	document, err := desk.Large(manyRules)
	if err != nil {
		return nil, err
	}
	facts, err := desk.Facts()
	if err != nil {
		return nil, err
	}
	if n := len(document.Evaluate(facts).Matched); n == 0 {
		return nil, errors.New("no rule of the large policy matches")
	}
	judge := func() error { document.Evaluate(facts); return nil }
	single, err := measure.Call(5_000, judge)
	if err != nil {
		return nil, err
	}
	costs, err := measure.Costs(rounds, judge)
	if err != nil {
		return nil, err
	}
	return []report.Row{
		report.Most(fmt.Sprintf("a policy of %d rules judges one payment, time of one judgement", manyRules), single, judgeBound, report.Nanoseconds),
		report.Alone("the same with the collection of its garbage, many judgements", costs[0].Nanoseconds, report.Nanoseconds),
		report.Alone("the same, bytes allocated", costs[0].Bytes, report.Bytes),
	}, nil
}

// counter is the desk of the stack's tenant in this process, over clients whose
// calls are counted.
type counter struct {
	*proposals.Desk
	calls   *desk.Calls
	tenant  identity.Tenant
	signer  tx.Signer
	version int64
	named   int // idempotency keys so far
}

func (b *bench) counter(ctx context.Context) (*counter, error) {
	file, err := b.started(ctx)
	if err != nil {
		return nil, err
	}
	c := &counter{version: 1}
	if c.tenant, err = identity.OperatorTenant(tenantID); err != nil {
		return nil, err
	}
	if c.signer, err = tx.ParseLocalKey(stackfile.SignerKeys[tenantID]); err != nil {
		return nil, err
	}
	registry, err := chain.ParseAddress(file.Registry)
	if err != nil {
		return nil, err
	}
	node, err := chain.New(chain.Config{Endpoints: []string{file.RPCURL}, ChainID: file.ChainID, Now: time.Now})
	if err != nil {
		return nil, err
	}
	// A bus of its own, that nothing hangs on: what is approved here must not be
	// executed, and nobody else use the machine for it.
	quiet, err := local.New(ctx, local.Config{Name: file.Bus, EventsFile: filepath.Join(b.folder, "money.jsonl")})
	if err != nil {
		return nil, err
	}
	server := httptest.NewServer(quiet)
	b.ends = append(b.ends, func() { server.Close(); _ = quiet.Close() })
	file.EventsEndpoint = server.URL
	c.calls = &desk.Calls{API: file.Database(), Bus: file.Publisher().API}
	store, ids := &table.Table{API: c.calls, Name: file.Table}, id.NewSource(time.Now, rand.Reader)
	trail := &audit.Trail{Bus: &bus.Bus{API: c.calls, Name: file.Bus}, Store: store, IDs: ids, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	policies := &charter.Register{
		Store: store, Chain: tx.PolicySigners{Registry: chain.NewRegistry(node, registry)}, Domain: charter.Domain{ChainID: file.ChainID, Registry: registry}, Trail: trail,
	}
	c.Desk = &proposals.Desk{Store: store, Policies: policies, Trail: trail, IDs: ids, Now: time.Now}
	return c, nil
}

// enact puts a policy in force that caps what the tenant promises.
func (c *counter) enact(ctx context.Context, tenantCap string) error {
	c.version++
	raw, err := desk.Capped(c.version, payeeID, tenantCap)
	if err != nil {
		return err
	}
	hash, err := policy.Hash(raw)
	if err != nil {
		return err
	}
	signature, err := tx.SignDigest(ctx, c.signer, c.Policies.Domain.Digest(c.tenant, c.version, hash))
	if err != nil {
		return err
	}
	_, err = c.Policies.Activate(ctx, c.tenant, identity.Actor{Type: "operator", ID: "bench"}, "bench", raw, []charter.Signature{signature})
	return err
}

// propose has the ith agent propose a payment that the policy must judge so.
func (c *counter) propose(ctx context.Context, agent int, amount, key string, dry bool) (proposals.Answer, error) {
	name := fmt.Sprintf("agt_bench_%02d", agent)
	who := identity.Principal{Kind: identity.Agent, ID: name, Tenant: c.tenant, Scopes: identity.AllScopes, Agent: &identity.AgentRecord{
		ID: name, TenantID: c.tenant.String(), Role: "bill_management", Status: identity.Active, CreatedBy: "mbr_kim",
	}}
	return c.Propose(ctx, who, "bench", proposals.Proposal{IdempotencyKey: key, DryRun: dry, Payment: payments.Payment{
		ActionType: payments.ACHOutbound, SourceAccountID: "acct_8231", DestinationCounterpartyID: payeeID, Amount: amount, Currency: "USD",
	}})
}

// again proposes a small payment with a key of its own, which must be approved.
func (c *counter) again(ctx context.Context) error {
	c.named++
	a, err := c.propose(ctx, 0, "1.00", fmt.Sprint("again-", c.named), false)
	if err == nil && (a.Status != proposals.Approved || a.Replayed) {
		err = fmt.Errorf("the proposal is %s", a.Status)
	}
	return err
}

// one counts the calls of one proposal, the policy's check behind it.
func (c *counter) one(ctx context.Context) ([]report.Row, error) {
	if err := c.again(ctx); err != nil {
		return nil, err
	}
	c.calls.Take()
	if err := c.again(ctx); err != nil {
		return nil, err
	}
	n := c.calls.Take()
	count := func(n float64) string { return fmt.Sprintf("%.0f", n) }
	return []report.Row{
		report.Most("payment_intent.propose: reads", float64(n.Reads()), readsBound, count),
		report.Most("payment_intent.propose: transactions that change something", float64(n.Changes), 1, count),
		report.Most("payment_intent.propose: PutEvents", float64(n.PutEvents), 1, count),
		{What: "payment_intent.propose: all its calls", Ours: n.String()},
	}, nil
}

// beside times proposals, one after the other, beside their calls alone.
func (c *counter) beside(ctx context.Context) ([]report.Row, error) {
	floor := c.calls.Floor(ctx)
	batch := func(operation func() error) func() (float64, error) {
		return func() (float64, error) { return measure.Call(proposeBatch, operation) }
	}
	figures, err := measure.Turns(proposeRounds, batch(func() error { return c.again(ctx) }), batch(floor))
	if err != nil {
		return nil, err
	}
	return []report.Row{report.Share("payment_intent.propose, time: the desk / one BatchGetItem, one transaction of the same items and one PutEvents of the same events",
		measure.Median(figures[0]), measure.Median(figures[1]), 0, report.Nanoseconds)}, nil
}

// crowd lets all agents propose at once, round after round, and at last against
// a cap that half of them fit under.
func (c *counter) crowd(ctx context.Context) ([]report.Row, error) {
	before, err := c.promised(ctx, wideCap)
	if err != nil {
		return nil, err
	}
	var retries []float64
	sum := new(big.Rat)
	for round := range crowds {
		approved, tried, err := c.round(ctx, round)
		if err != nil {
			return nil, err
		}
		if len(approved) != atOnce {
			return nil, fmt.Errorf("%d of %d proposals approved under a wide cap", len(approved), atOnce)
		}
		for _, amount := range approved {
			sum.Add(sum, amount)
		}
		retries = append(retries, tried...)
	}
	after, err := c.promised(ctx, wideCap)
	if err != nil {
		return nil, err
	}
	lost := new(big.Rat).Sub(sum, new(big.Rat).Sub(after, before))
	tight := new(big.Rat).Add(after, big.NewRat(fits*101, 1)) // each is 100 and some cents
	if err := c.enact(ctx, tight.FloatString(2)); err != nil {
		return nil, err
	}
	approved, tried, err := c.round(ctx, crowds)
	if err != nil {
		return nil, err
	}
	end, err := c.promised(ctx, tight.FloatString(2))
	if err != nil {
		return nil, err
	}
	count := func(n float64) string { return fmt.Sprintf("%.1f", n) }
	dollars := func(n float64) string { return fmt.Sprintf("%.2f USD", n) }
	missing, _ := lost.Abs(lost).Float64()
	over, _ := new(big.Rat).Sub(end, tight).Float64()
	what := fmt.Sprintf("%d agents propose at once, %d rounds", atOnce, crowds)
	return []report.Row{
		report.Most(what+": retries of a proposal, median", measure.Median(retries), retriesBound, count),
		report.Alone("the same, the most of any", slices.Max(retries), count),
		report.Most(what+": promised and not counted, or counted and not promised", missing, 0, dollars),
		report.Most(fmt.Sprintf("%d agents at a cap that %d of them fit under: promised over the cap", atOnce, fits), max(over, 0), 0, dollars),
		{What: "the same: approved", Ours: fmt.Sprint(len(approved)), Target: fmt.Sprint(fits), Judged: true, OK: len(approved) == fits},
		report.Alone("the same: retries of a proposal, median", measure.Median(tried), count),
	}, nil
}

// round lets every agent propose once, all at the same time, and returns the
// amounts that were approved and how often each proposal was tried again.
func (c *counter) round(ctx context.Context, round int) (approved []*big.Rat, retries []float64, err error) {
	start := make(chan struct{})
	answers := make([]proposals.Answer, atOnce)
	var all errgroup.Group
	for agent := range atOnce {
		all.Go(func() (err error) {
			key := fmt.Sprintf("crowd-%d-%d", round, agent)
			<-start
			answers[agent], err = c.propose(desk.Tagged(ctx, key), agent, fmt.Sprintf("100.%02d", agent), key, false)
			return err
		})
	}
	close(start)
	if err := all.Wait(); err != nil {
		return nil, nil, err
	}
	for agent, a := range answers {
		retries = append(retries, float64(c.calls.Tries(fmt.Sprintf("crowd-%d-%d", round, agent))-1))
		switch amount, ok := new(big.Rat).SetString(a.Payment.Amount); {
		case !ok:
			return nil, nil, fmt.Errorf("amount %q", a.Payment.Amount)
		case a.Status == proposals.Approved:
			approved = append(approved, amount)
		}
	}
	return approved, retries, nil
}

// promised is what the tenant has promised, as the headroom under its cap tells.
func (c *counter) promised(ctx context.Context, tenantCap string) (*big.Rat, error) {
	a, err := c.propose(ctx, 0, "0.01", "", true)
	if err != nil {
		return nil, err
	}
	for _, room := range a.Decision.Headroom {
		left, ok := new(big.Rat).SetString(room.Left)
		cap, known := new(big.Rat).SetString(tenantCap)
		if room.Rule == "tenant" && ok && known {
			return cap.Sub(cap, left.Add(left, big.NewRat(1, 100))), nil
		}
	}
	return nil, errors.New("the decision tells no headroom of the tenant")
}
