package main

import (
	"context"
	"fmt"
	"os"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/journal/checker"
)

// auditCheck walks a tenant's journal, or an exported one, and names the first
// fault in it.
func auditCheck(ctx context.Context, c *call) error {
	path := c.flags.String("file", "", "an exported journal; empty means the table's")
	tenant, err := c.forTenant(0)
	if err != nil {
		return err
	}
	report, err := c.walk(ctx, tenant, *path)
	if err != nil {
		return err
	}
	lines := [][2]string{{"tenant", tenant.String()}, {"entries", fmt.Sprint(report.Entries)}, {"hash", report.Hash}}
	if report.Fault != nil {
		lines = append(lines, [2]string{"fault", report.Fault.String()})
	}
	if err := c.print(report, lines...); err != nil {
		return err
	}
	if report.Fault != nil {
		return fmt.Errorf("the journal of %s is broken", tenant)
	}
	return nil
}

func (c *call) walk(ctx context.Context, tenant identity.Tenant, path string) (checker.Report, error) {
	if path != "" {
		file, err := os.Open(path)
		if err != nil {
			return checker.Report{}, err
		}
		defer file.Close()
		return checker.Lines(file, tenant)
	}
	t, err := c.connect(ctx)
	if err != nil {
		return checker.Report{}, err
	}
	return checker.Store(ctx, t.store, tenant)
}

// auditExport prints a tenant's journal up to its head, an entry a line, in the
// form that is hashed.
func auditExport(ctx context.Context, c *call) error {
	tenant, err := c.forTenant(0)
	if err != nil {
		return err
	}
	t, err := c.connect(ctx)
	if err != nil {
		return err
	}
	j := &journal.Journal{Store: t.store}
	head, found, err := j.Head(ctx, tenant)
	if err != nil || !found {
		return err
	}
	const page = 100
	for from := int64(0); from <= head.Seq; from += page {
		entries, err := j.Entries(ctx, tenant, from, min(head.Seq, from+page-1))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if _, err := c.out.Write(append(entry.Line(), '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}
