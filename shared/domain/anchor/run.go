package anchor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// run is one round of the anchor: what is open, as it was read and changed.
type run struct {
	*Anchor
	place  Place
	open   []*period
	flight *flight // nil when nothing is in flight
	report Report
}

// errTable ends a run: what it knows of the table may be wrong from here on, for
// a write whose reply is lost may have been made. The next run reads anew.
var errTable = errors.New("the run ends here, the next one goes on")

// Run makes one round: it settles what is in flight, cuts new periods, publishes
// them, makes final what is, and writes the paths. Where the chain does not
// answer, the rest is done all the same. Of two rounds at once one ends by a
// conflict; nothing is published by both.
func (a *Anchor) Run(ctx context.Context) (Report, error) {
	r := &run{Anchor: a, place: a.Chain.Place()}
	if err := r.load(ctx); err != nil {
		return r.report, fmt.Errorf("read what is open: %w", err)
	}
	var failures []error
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"settle what is in flight", r.settle},
		{"cut periods", r.cut},
		{"publish roots", r.publish},
		{"make roots final", r.confirm},
		{"write paths", r.write},
	} {
		err := step.do(ctx)
		if err == nil {
			continue
		}
		failures = append(failures, fmt.Errorf("%s: %w", step.what, err))
		if errors.Is(err, errTable) || ctx.Err() != nil {
			break
		}
	}
	r.count()
	return r.report, errors.Join(failures...)
}

// load reads what earlier runs have not finished.
func (r *run) load(ctx context.Context) error {
	for q := (record.Query{PK: key.AnchorsPartition}); ; {
		page, err := r.Store.Query(ctx, q)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if item.Key == key.AnchorFlight() {
				r.flight = &flight{version: item.Version}
				if err := json.Unmarshal(item.Body, r.flight); err != nil {
					return fmt.Errorf("read the flight: %w", err)
				}
				continue
			}
			p, err := readPeriod(item)
			if err != nil {
				return err
			}
			r.open = append(r.open, p)
		}
		if page.Next == nil {
			return nil
		}
		q.After = page.Next
	}
}

// count fills in what the run leaves.
func (r *run) count() {
	for _, p := range r.open {
		r.report.Open++
		if start := time.Unix(p.Start, 0).UTC(); p.State == planned && (r.report.Oldest.IsZero() || start.Before(r.report.Oldest)) {
			r.report.Oldest = start
		}
	}
}

// commit makes a change; after an error nothing that was read is sure any more.
func (r *run) commit(ctx context.Context, c record.Change) error {
	if err := r.Store.Commit(ctx, c); err != nil {
		return fmt.Errorf("%w: %w", errTable, err)
	}
	return nil
}

// save stores an open period as it is now.
func (r *run) save(ctx context.Context, p *period) error {
	if err := r.commit(ctx, record.Change{Puts: []record.Put{p.put()}}); err != nil {
		return err
	}
	p.version++
	return nil
}

// in are the open periods of a state, in their order.
func (r *run) in(state string) []*period {
	var found []*period
	for _, p := range r.open {
		if p.State == state {
			found = append(found, p)
		}
	}
	return found
}

// finish takes a period that is final, with its paths written, out of what is
// open.
func (r *run) finish(ctx context.Context, p *period) error {
	done := record.Item{Key: key.AnchorPeriod(p.tenant, p.Last), Body: body(p)}
	change := record.Change{Puts: []record.Put{{Item: done, Blind: true}}, Deletes: []key.Key{key.AnchorOpen(p.tenant, p.Last)}}
	if err := r.commit(ctx, change); err != nil {
		return err
	}
	r.open = slices.DeleteFunc(r.open, func(o *period) bool { return o == p })
	return nil
}

// confirm looks after the roots that are pending: whether their blocks stay.
func (r *run) confirm(ctx context.Context) error {
	pending := r.in(claim.Pending)
	if len(pending) == 0 {
		return nil
	}
	finalized, err := r.Chain.Finalized(ctx)
	if err != nil {
		return fmt.Errorf("read the last final block: %w", err)
	}
	found := map[string]*Mined{} // by transaction: they share them
	foreign := 0
	for _, p := range pending {
		if p.Place != r.place {
			foreign++
			continue
		}
		mined, asked := found[p.TxHash.String()]
		if !asked {
			if mined, err = r.Chain.Find(ctx, p.TxHash); err != nil {
				return fmt.Errorf("look for transaction %s: %w", p.TxHash, err)
			}
			found[p.TxHash.String()] = mined
		}
		if err := r.judge(ctx, p, mined, finalized); err != nil {
			return err
		}
	}
	if foreign > 0 {
		return fmt.Errorf("%d pending roots were published on another chain or contract: run once with the settings of then", foreign)
	}
	return nil
}

// judge moves a pending period by what the chain says of its transaction now.
func (r *run) judge(ctx context.Context, p *period, mined *Mined, finalized uint64) error {
	before := *p
	if !mined.has(p.root()) {
		var err error
		if mined, err = r.Chain.Published(ctx, p.root()); err != nil {
			return fmt.Errorf("ask for the root of %s: %w", p.Tenant, err)
		}
	}
	if mined == nil {
		r.Log.WarnContext(ctx, "a pending root is on the chain no more and is published again", "tenant", p.Tenant, "root", p.Root.String(), "tx", p.TxHash.String())
		p.unpublished()
		r.report.Replaced++
		return r.save(ctx, p)
	}
	p.published(mined, r.place)
	if p.Block <= finalized {
		p.State = claim.Final
		r.report.Final++
	}
	if *p == before {
		return nil
	}
	return r.save(ctx, p)
}
