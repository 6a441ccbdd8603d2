package demo

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/wiki/press"
	"github.com/robotmoney/mcp/shared/domain/wiki/render"
)

// Slugs are the wiki pages that are there from the start: all there are about a
// tenant's rows and agents but for what was settled long ago. Those are a thousand
// that nobody asks for first, and would make every start wait; the function wiki
// makes them from the events of their rows.
func Slugs(r Rows) []string {
	var slugs []string
	add := func(folder, name string) { slugs = append(slugs, "/"+folder+"/"+name) }
	if len(r.Transactions) > 0 {
		for month := range months() {
			name := month.Format(monthForm)
			add("monthly-summaries", name)
			add("cash-flow", name)
			if _, quarter, err := render.Months(name); err == nil && int(month.Month())%3 == 0 {
				add("cash-flow", quarter)
			}
		}
	}
	for _, a := range r.Accounts {
		add("accounts", a.ID)
	}
	for _, c := range r.Counterparties {
		add("counterparties", c.ID)
	}
	for _, o := range r.Obligations {
		if o.Status != "paid" && o.Status != "cancelled" {
			add("obligations", o.ID)
		}
	}
	for _, i := range r.Invoices {
		if i.Status != "paid" && i.Status != "cancelled" {
			add("invoices", i.ID)
		}
	}
	for _, a := range Agents {
		if a.Tenant == r.Tenant {
			add("agents", a.Record.ID)
		}
	}
	return slugs
}

// writePages renders the pages of a tenant out of what is stored, by the code that
// renders them after a change. What they say already is not written again.
func (d Deps) writePages(ctx context.Context, t identity.Tenant, slugs []string) (Count, error) {
	pages := &press.Press{Store: d.Store, IDs: id.NewSource(time.Now, rand.Reader), Now: func() time.Time { return writtenAt }}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	var mu sync.Mutex
	var count Count
	for _, slug := range slugs {
		group.Go(func() error {
			outcome, err := pages.Render(ctx, t, slug)
			if err != nil {
				return fmt.Errorf("write page %s: %w", slug, err)
			}
			mu.Lock()
			defer mu.Unlock()
			switch outcome {
			case press.Rendered:
				count.New++
			case press.Same:
				count.Same++
			}
			return nil
		})
	}
	err := group.Wait()
	return count, err
}
