package demo

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// Payment is the id of the payment that documents name.
const Payment = "pi_a1b2c3"

// Office is what Pay works with.
type Office struct {
	Trail    *audit.Trail // on the bus whose events the audit function enters
	Policies *charter.Register
	Registry identity.Registry
	Source   func(now func() time.Time) *id.Source
}

// Pay has the payment that documents name proposed, approved and executed, on the
// last evening of the books and the morning after: nothing of it is written down
// ready-made. A call that was cut short is finished by the next.
func (o Office) Pay(ctx context.Context) error {
	t, err := identity.OperatorTenant(Acme)
	if err != nil {
		return err
	}
	clock := Close.Add(15*time.Hour + 4*time.Minute)
	now := func() time.Time { return clock }
	names := &naming{Source: o.Source(now)}
	trail := &audit.Trail{Bus: o.Trail.Bus, Store: o.Trail.Store, IDs: names.Source, Now: now, Log: o.Trail.Log}
	desk := &proposals.Desk{Store: trail.Store, Policies: o.Policies, Trail: trail, IDs: names, Now: now}
	agent, err := o.agent(ctx, t)
	if err != nil {
		return err
	}
	proposed, err := desk.Propose(ctx, agent, "demo", proposals.Proposal{IdempotencyKey: "cloud-2025-10", Payment: payments.Payment{
		ActionType: payments.ACHOutbound, SourceAccountID: operating, DestinationCounterpartyID: "cp_aws", Amount: "61404.12", Currency: "USD",
		EvidenceIDs: []string{"tx_4127"}, Memo: ptr("AWS, October 2025, paid ahead"),
	}})
	if err != nil {
		return fmt.Errorf("propose: %w", err)
	}
	for _, name := range []string{"mbr_ada", "mbr_dee"} {
		clock = clock.Add(37 * time.Minute)
		if _, err := desk.Decide(ctx, person(t, name), "demo", proposals.Choice{Name: Payment, Decision: proposals.Approve, Hash: proposed.Hash}); err != nil {
			return fmt.Errorf("approve as %s: %w", name, err)
		}
	}
	clock = Close.Add(30 * time.Hour)
	executor := &execution.Executor{
		Desk: desk, Store: trail.Store, Ledger: &ledger.Writer{Store: trail.Store, Trail: trail, Now: now}, Registry: o.Registry,
		Rails: execution.Rails{Usual: execution.Sandbox{Now: now}}, Now: now, Log: slog.New(slog.DiscardHandler), Alarm: func(string) {},
	}
	report, err := executor.Execute(ctx, t, "demo", Payment)
	if err != nil {
		return fmt.Errorf("execute: %w", err)
	}
	if report.Status != proposals.Executed {
		return fmt.Errorf("execute: the payment is %s", report.Status)
	}
	return nil
}

// agent is the finance agent as the door would let it in.
func (o Office) agent(ctx context.Context, t identity.Tenant) (identity.Principal, error) {
	for _, a := range Agents {
		if a.Record.ID != "agt_finance" {
			continue
		}
		reg, err := o.Registry.Registration(ctx, identity.AgentHash(t.String(), a.Record.ID))
		if err != nil {
			return identity.Principal{}, err
		}
		rec := a.Record
		return identity.Principal{Kind: identity.Agent, ID: rec.ID, Tenant: t, Scopes: rec.Scopes, Agent: &rec, Behavior: reg.BehaviorHash}, nil
	}
	return identity.Principal{}, fmt.Errorf("there is no finance agent")
}

// person is one of acme's members as the door would let them in.
func person(t identity.Tenant, name string) identity.Principal {
	p := identity.Principal{Kind: identity.User, ID: name, Tenant: t}
	for _, m := range Members {
		if m.Record.ID == name {
			rec := m.Record
			p.Member, p.Scopes = &rec, rec.Ceiling()
		}
	}
	return p
}

// naming gives the first payment intent the id that documents name.
type naming struct{ *id.Source }

// New makes the next id of a kind.
func (n *naming) New(kind id.Prefix) (string, error) {
	if kind == id.PaymentIntent {
		return Payment, nil
	}
	return n.Source.New(kind)
}
