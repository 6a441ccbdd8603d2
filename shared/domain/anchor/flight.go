package anchor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// settle brings what an earlier run has sent to its end, if the chain has come
// to one.
func (r *run) settle(ctx context.Context) error {
	f := r.flight
	if f == nil {
		return nil
	}
	if f.Place != r.place {
		return fmt.Errorf("a transaction is in flight on chain %d for %s: run once with the settings of then", f.ChainID, f.Contract)
	}
	mined, err := r.Chain.Find(ctx, f.Hashes...)
	if err != nil {
		return fmt.Errorf("look for transaction %s: %w", f.Hash, err)
	}
	if mined == nil {
		mined, err = r.urge(ctx)
	}
	if err != nil || mined == nil {
		return err
	}
	return r.land(ctx, mined)
}

// urge offers the transaction in flight once more and waits for it. It returns
// nil when it still waits, or when nothing is in flight any more.
func (r *run) urge(ctx context.Context) (*Mined, error) {
	f := r.flight
	stale := r.Stale
	if stale == 0 {
		stale = DefaultStale
	}
	// One from the future was sent by a clock that ran ahead: it may have waited long.
	if waited := r.Now().Sub(f.At); waited >= stale || waited < 0 {
		if err := r.replace(ctx); err != nil {
			return nil, err
		}
	}
	err := r.Chain.Offer(ctx, f.Signed)
	if errors.Is(err, ErrSpent) {
		mined, err := r.Chain.Find(ctx, f.Hashes...)
		if err != nil || mined != nil {
			return mined, err
		}
		// Another transaction has taken the nonce: none of ours can come any
		// more, and what they were to publish is planned as before.
		r.Log.WarnContext(ctx, "a transaction is void, its nonce was used by another", "tx", f.Hash.String())
		return nil, r.drop(ctx)
	}
	if err != nil {
		return nil, err
	}
	return r.Chain.Wait(ctx, f.Hashes...)
}

// replace signs what is in flight anew under its nonce, with a fee that gets it
// into a block. Whichever of the two the chain takes, it takes one.
func (r *run) replace(ctx context.Context) error {
	f := r.flight
	roots := []Root{}
	for _, p := range r.parts(f) {
		roots = append(roots, p.root())
	}
	signed, err := r.Chain.Sign(ctx, roots, &f.Signed)
	if err != nil {
		return fmt.Errorf("replace transaction %s: %w", f.Hash, err)
	}
	r.Log.WarnContext(ctx, "a transaction waits too long and is replaced", "tx", f.Hash.String(), "by", signed.Hash.String())
	f.Signed, f.At = signed, r.Now().UTC()
	if !slices.Contains(f.Hashes, signed.Hash) {
		f.Hashes = append(f.Hashes, signed.Hash)
	}
	if err := r.commit(ctx, record.Change{Puts: []record.Put{f.put()}}); err != nil {
		return err
	}
	f.version++
	return nil
}

// drop forgets the transaction in flight.
func (r *run) drop(ctx context.Context) error {
	if err := r.commit(ctx, record.Change{Deletes: []key.Key{key.AnchorFlight()}}); err != nil {
		return err
	}
	r.flight = nil
	return nil
}

// parts are the open periods of a flight.
func (r *run) parts(f *flight) []*period {
	var found []*period
	for _, p := range r.open {
		if slices.Contains(f.Parts, p.part()) {
			found = append(found, p)
		}
	}
	return found
}

// land keeps what became of the transaction in flight.
func (r *run) land(ctx context.Context, mined *Mined) error {
	if mined.Reverted {
		if err := r.drop(ctx); err != nil {
			return err
		}
		return fmt.Errorf("transaction %s reverted in block %d", mined.Hash, mined.Block)
	}
	change := record.Change{Deletes: []key.Key{key.AnchorFlight()}}
	var landed []*period
	parts := r.parts(r.flight)
	for _, p := range parts {
		by := mined
		if !mined.has(p.root()) { // the contract had it already
			var err error
			if by, err = r.Chain.Published(ctx, p.root()); err != nil {
				return fmt.Errorf("ask for the root of %s: %w", p.Tenant, err)
			}
			if by == nil {
				continue // its block is no more already; it is planned as before
			}
		}
		p.published(by, r.place)
		landed, change.Puts = append(landed, p), append(change.Puts, p.put())
	}
	if err := r.commit(ctx, change); err != nil {
		return err
	}
	for _, p := range landed {
		p.version++
	}
	r.report.Published += len(landed)
	r.flight = nil
	if n := len(parts) - len(landed); n > 0 {
		// An error, so that this run does not pay for the same again at once.
		return fmt.Errorf("transaction %s went through without %d of its roots", mined.Hash, n)
	}
	return nil
}

// publish sends what is planned, a batch after the other. It ends when one does
// not get into a block in time: the next run goes on with that.
func (r *run) publish(ctx context.Context) error {
	if r.flight != nil {
		return nil // it could not be settled; settle has said why, or it waits
	}
	for size := MaxBatch; ; {
		batch, err := r.batch(ctx, size)
		if err != nil || len(batch) == 0 {
			return err
		}
		err = r.launch(ctx, batch)
		switch {
		case errors.Is(err, ErrTooLarge) && len(batch) > 1:
			size = len(batch) / 2
			continue
		case err != nil:
			return err
		}
		mined, err := r.urge(ctx)
		if err != nil {
			return err
		}
		if mined == nil {
			return nil
		}
		if err := r.land(ctx, mined); err != nil {
			return err
		}
	}
}

// batch are the next planned periods whose root is not on the chain. Those whose
// root is there, put by a transaction nobody knows of any more, are published.
func (r *run) batch(ctx context.Context, size int) ([]*period, error) {
	var batch []*period
	tenants := map[identity.Hash]bool{} // a receipt tells roots apart by tenant
	for _, p := range r.in(planned) {
		root := p.root()
		if tenants[root.Tenant] {
			continue
		}
		by, err := r.Chain.Published(ctx, root)
		if err != nil {
			return nil, fmt.Errorf("ask for the root of %s: %w", p.Tenant, err)
		}
		if by != nil {
			p.published(by, r.place)
			if err := r.save(ctx, p); err != nil {
				return nil, err
			}
			r.report.Published++
			continue
		}
		tenants[root.Tenant] = true
		if batch = append(batch, p); len(batch) == size {
			break
		}
	}
	return batch, nil
}

// launch signs a batch and writes down what is in flight from now on. It is
// offered afterwards: what was offered is always known.
func (r *run) launch(ctx context.Context, batch []*period) error {
	var roots []Root
	var parts []part
	for _, p := range batch {
		roots, parts = append(roots, p.root()), append(parts, p.part())
	}
	signed, err := r.Chain.Sign(ctx, roots, nil)
	if err != nil {
		return fmt.Errorf("make a transaction for %d roots: %w", len(roots), err)
	}
	f := &flight{Place: r.place, Signed: signed, Hashes: []identity.Hash{signed.Hash}, Parts: parts, At: r.Now().UTC()}
	if err := r.commit(ctx, record.Change{Puts: []record.Put{f.put()}}); err != nil {
		return err
	}
	f.version++
	r.flight = f
	return nil
}
