package main

import (
	"context"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

// turning is one of the ways an operator turns an intent, for the tenant's members.
type turning func(ctx context.Context, t identity.Tenant, actor identity.Actor, requestID, name string) (proposals.Case, error)

func intentPause(ctx context.Context, c *call) error {
	return c.turn(ctx, func(d *proposals.Desk) turning { return d.Pause })
}

func intentResume(ctx context.Context, c *call) error {
	return c.turn(ctx, func(d *proposals.Desk) turning { return d.Resume })
}

func intentStop(ctx context.Context, c *call) error {
	return c.turn(ctx, func(d *proposals.Desk) turning { return d.Stop })
}

func (c *call) turn(ctx context.Context, how func(*proposals.Desk) turning) error {
	t, err := c.forTenant(1)
	if err != nil {
		return err
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	actor, requestID, err := operator()
	if err != nil {
		return err
	}
	intent, err := how(target.desk)(ctx, t, actor, requestID, c.args[0])
	if err != nil {
		return err
	}
	return c.print(intent.Intent(), [2]string{"intent", intent.ID}, [2]string{"status", string(intent.Status)},
		[2]string{"payee", intent.DestinationCounterpartyID}, [2]string{"amount", intent.Amount + " " + intent.Currency})
}
