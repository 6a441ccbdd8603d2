package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/rollups"
)

// settle is how long an index of AWS gets to show what was written. It usually
// takes a fraction of a second; the local stack's shows it at once.
const settle = 3 * time.Second

// rollupsCheck holds a tenant's rollups against its rows and names the first that
// differs.
func rollupsCheck(ctx context.Context, c *call) error {
	tenant, err := c.forTenant(0)
	if err != nil {
		return err
	}
	t, err := c.connect(ctx)
	if err != nil {
		return err
	}
	report, err := t.rollups().Check(ctx, tenant)
	if err != nil {
		return err
	}
	lines := [][2]string{
		{"tenant", tenant.String()}, {"months", fmt.Sprint(report.Months)}, {"transactions", fmt.Sprint(report.Transactions)}, {"rollups", fmt.Sprint(report.Rollups)},
	}
	if report.Difference != nil {
		lines = append(lines, [2]string{"difference", report.Difference.String()})
	}
	if err := c.print(report, lines...); err != nil {
		return err
	}
	if report.Difference != nil {
		return fmt.Errorf("the rollups of %s are not the sum of its rows", tenant)
	}
	return nil
}

// rollupsRebuild makes a tenant's rollups the sum of its rows. Writers may go on
// meanwhile.
func rollupsRebuild(ctx context.Context, c *call) error {
	tenant, err := c.forTenant(0)
	if err != nil {
		return err
	}
	t, err := c.connect(ctx)
	if err != nil {
		return err
	}
	actor, requestID, err := operator()
	if err != nil {
		return err
	}
	done, err := t.rollups().Rebuild(ctx, tenant, actor, requestID)
	if err != nil {
		return fmt.Errorf("%d rollups were corrected before: %w", done.Corrected, err)
	}
	return c.print(done, [2]string{"tenant", tenant.String()}, [2]string{"months", fmt.Sprint(done.Months)},
		[2]string{"transactions", fmt.Sprint(done.Transactions)}, [2]string{"corrected", fmt.Sprint(done.Corrected)}, [2]string{"in", strings.Join(done.In, " ")})
}

// rollups are the rollups of the system.
func (t *target) rollups() *rollups.Book {
	book := &rollups.Book{Store: t.store, Trail: t.roster.Trail}
	if !t.local {
		book.Settle = func(ctx context.Context) error {
			select {
			case <-time.After(settle):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return book
}
