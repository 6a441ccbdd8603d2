// Package proof answers what can be shown of an action: the events that tell of
// it, where the chain holds them, and what follows from them alone.
//
// Nothing is stored as a proof. The journal's entries have places in the indexes
// by the actions they are about, the anchor puts each entry's path beside it, and
// a proof is made of what one query finds there.
package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Reader reads proofs.
type Reader struct{ Store record.Store }

// Path is what lies beside an entry once its period's root is published.
type Path struct {
	Path   []string     `json:"path"` // from the leaf up, 0x and 64 hex digits each
	Anchor claim.Anchor `json:"anchor"`
}

// Proof returns the proof of an intent, another proposal, an authorization or an
// execution as JSON. A malformed, missing or foreign id is proof_not_found all
// the same. It is one query of an index and so lags behind the journal by as much
// as indexes do; an execution takes a second one, for what was executed.
func (r *Reader) Proof(ctx context.Context, t identity.Tenant, action string) (json.RawMessage, error) {
	links, err := r.links(ctx, t, action)
	if err != nil {
		return nil, err
	}
	if claim.Index(action) == executions {
		if links, err = r.executed(ctx, t, action, links); err != nil {
			return nil, err
		}
	}
	if len(links) == 0 {
		return nil, fault.New(fault.ProofNotFound, "There is no proof of such an action.")
	}
	made, err := claim.Build(action, links)
	if err != nil {
		return nil, fmt.Errorf("make the proof of %s: %w", action, err)
	}
	body, err := made.Encode()
	if err != nil {
		return nil, fmt.Errorf("write the proof of %s: %w", action, err)
	}
	return body, nil
}

// executions is the index of executions.
const executions = 3

// executed are the links of what an execution executed: its own events begin in
// the middle of that story.
func (r *Reader) executed(ctx context.Context, t identity.Tenant, action string, links []claim.Link) ([]claim.Link, error) {
	for _, link := range links {
		entry, err := claim.Open(link.Preimage)
		if err != nil {
			return nil, fmt.Errorf("read the entries about %s: %w", action, err)
		}
		if subjects := claim.SubjectsOf(entry.Event); subjects.Case != "" {
			all, err := r.links(ctx, t, subjects.Case)
			if len(all) < len(links) { // this index is behind the other
				return links[:0], err
			}
			return all, err
		}
	}
	return nil, nil
}

// links reads the entries about an action with their paths, in the order of the
// chain.
func (r *Reader) links(ctx context.Context, t identity.Tenant, action string) ([]claim.Link, error) {
	index := claim.Index(action)
	if index == 0 {
		return nil, nil
	}
	var found gathered
	for q := (record.Query{Index: index, PK: key.ProofEvents(t, action)}); ; {
		page, err := r.Store.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			if err := found.add(item, item.Index[index-1].SK); err != nil {
				return nil, fmt.Errorf("read the entries about %s: %w", action, err)
			}
		}
		if page.Next == nil {
			return found.links, nil
		}
		q.After = page.Next
	}
}

// gathered is what was read so far. last is the place of the last entry.
type gathered struct {
	links []claim.Link
	last  string
}

// add takes the item that comes: an entry, or the path of the entry before it.
// A path whose entry the index does not show yet is left out with it.
func (g *gathered) add(item record.Item, place string) error {
	of, isPath := strings.CutSuffix(place, "#path")
	if !isPath {
		var entry journal.Entry
		if err := json.Unmarshal(item.Body, &entry); err != nil {
			return fmt.Errorf("entry %s: %w", place, err)
		}
		g.links, g.last = append(g.links, claim.Link{Preimage: string(entry.Preimage())}), place
		return nil
	}
	if of != g.last {
		return nil
	}
	var path Path
	if err := json.Unmarshal(item.Body, &path); err != nil {
		return fmt.Errorf("path of entry %s: %w", of, err)
	}
	last := &g.links[len(g.links)-1]
	last.Path, last.Anchor = path.Path, &path.Anchor
	return nil
}
