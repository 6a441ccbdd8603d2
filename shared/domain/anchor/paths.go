package anchor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/merkle"
	"github.com/robotmoney/mcp/shared/domain/proof"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// write brings the paths of every published period up to what is known of its
// anchor, and takes the final ones out of what is open.
func (r *run) write(ctx context.Context) error {
	var failures []error
	for _, p := range append(r.in(claim.Pending), r.in(claim.Final)...) {
		if err := r.paths(ctx, p); err != nil {
			failures = append(failures, fmt.Errorf("entries %d to %d of %s: %w", p.First, p.Last, p.Tenant, err))
			if errors.Is(err, errTable) || ctx.Err() != nil {
				break
			}
		}
	}
	return errors.Join(failures...)
}

func (r *run) paths(ctx context.Context, p *period) error {
	if p.Written != p.mark() {
		write := r.rewrite
		if p.Written == "" {
			write = r.draw
		}
		if err := write(ctx, p); err != nil {
			return err
		}
		p.Written = p.mark()
		if p.State != claim.Final {
			return r.save(ctx, p)
		}
	}
	if p.State == claim.Final {
		return r.finish(ctx, p)
	}
	return nil
}

// draw builds the period's tree again and writes the path of every entry that a
// proof needs.
func (r *run) draw(ctx context.Context, p *period) error {
	wanted := map[int64]claim.Subjects{}
	s := &stretch{tenant: p.tenant, first: p.First, see: func(entry journal.Entry) {
		if subjects := entry.Subjects(); subjects != (claim.Subjects{}) {
			wanted[entry.Seq] = subjects
		}
	}}
	first, err := r.Journal.Entries(ctx, p.tenant, p.First, p.First)
	if err != nil {
		return err
	}
	s.prev = first[0].PrevHash
	if err := s.read(ctx, r.Journal, p.Last); err != nil {
		return err
	}
	root, paths := merkle.Paths(s.leaves)
	if identity.Hash(root) != p.Root {
		return errors.New("the journal is not what was anchored")
	}
	w := writer{run: r}
	for i := range s.leaves {
		seq := p.First + int64(i)
		subjects, is := wanted[seq]
		if !is {
			continue
		}
		path := proof.Path{Path: []string{}, Anchor: p.anchor()}
		for _, node := range paths[i] {
			path.Path = append(path.Path, identity.Hash(node).String())
		}
		item := record.Item{Key: key.AnchorPath(p.tenant, p.Last, seq), Index: journal.PathPlaces(p.tenant, subjects, seq), Body: body(path)}
		if err := w.put(ctx, item); err != nil {
			return err
		}
	}
	return w.flush(ctx)
}

// rewrite writes what is new of the anchor into the paths that there are.
func (r *run) rewrite(ctx context.Context, p *period) error {
	w := writer{run: r}
	for q := (record.Query{PK: key.AnchorPaths(p.tenant, p.Last)}); ; {
		page, err := r.Store.Query(ctx, q)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			var path proof.Path
			if err := json.Unmarshal(item.Body, &path); err != nil {
				return fmt.Errorf("read the path of entry %s: %w", item.Key.SK, err)
			}
			path.Anchor = p.anchor()
			item.Body = body(path)
			if err := w.put(ctx, item); err != nil {
				return err
			}
		}
		if page.Next == nil {
			return w.flush(ctx)
		}
		q.After = page.Next
	}
}

// writer stores items many at a time. They may be stored more than once.
type writer struct {
	run  *run
	puts []record.Put
}

func (w *writer) put(ctx context.Context, item record.Item) error {
	w.puts = append(w.puts, record.Put{Item: item, Blind: true})
	if len(w.puts) < record.MaxOperations {
		return nil
	}
	return w.flush(ctx)
}

func (w *writer) flush(ctx context.Context) error {
	change := record.Change{Puts: w.puts}
	w.puts = nil
	return w.run.commit(ctx, change)
}
