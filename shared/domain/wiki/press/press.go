// Package press keeps wiki pages up to date: it reads the rows and rollups a page
// is made of, has it rendered, and stores it if it says something else than before.
//
// Nothing is scanned. What a page costs is a number of bounded queries that does
// not grow with the tenant.
package press

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/domain/wiki"
	"github.com/robotmoney/mcp/shared/domain/wiki/render"
)

// Press renders and stores pages.
type Press struct {
	Store record.Store
	IDs   *id.Source
	Now   func() time.Time
}

// Outcome is what became of a page.
type Outcome int

// The outcomes.
const (
	Absent   Outcome = iota // there is nothing to make the page of
	Same                    // the stored page says it already
	Rendered                // a new page is stored, under a new id
)

// maxTries is how often a page is made anew because somebody else stored one
// meanwhile.
const maxTries = 8

// Render makes the page of a slug and stores it, if the rows and rollups it is made
// of have changed since. The same call again does nothing.
//
// The page is stored on the condition that its version is the one it had before the
// rows were read. So a page made of older rows never takes the place of one made of
// newer ones: whoever read the older has the older version too, is refused, and
// reads again.
func (p *Press) Render(ctx context.Context, t identity.Tenant, slug string) (Outcome, error) {
	return p.Touched(t).Render(ctx, slug)
}

// Render is Press.Render, with lists that know the rows of the change: an index may
// not show yet what was just written.
func (c *Change) Render(ctx context.Context, slug string) (Outcome, error) {
	slug, ok := wiki.Slug(slug)
	if !ok {
		return Absent, nil
	}
	k := key.Page(c.tenant, slug)
	for range maxTries {
		was, found, err := c.press.Store.Get(ctx, k)
		if err != nil {
			return Absent, err
		}
		if !found {
			was = record.Item{Key: k}
		}
		facts, err := c.facts(ctx, slug, found)
		if err != nil {
			return Absent, fmt.Errorf("read the facts of %s: %w", slug, err)
		}
		if facts == nil {
			return Absent, nil
		}
		outcome, err := c.press.store(ctx, c.tenant, slug, facts, was)
		if !errors.Is(err, record.ErrConflict) {
			return outcome, err
		}
	}
	return Absent, fmt.Errorf("page %s was stored by others each of %d times: %w", slug, maxTries, record.ErrConflict)
}

// store renders facts and stores the page in the place of an item.
func (p *Press) store(ctx context.Context, t identity.Tenant, slug string, facts render.Facts, was record.Item) (Outcome, error) {
	document, err := render.Markdown(facts)
	if err != nil {
		return Absent, fmt.Errorf("render %s: %w", slug, err)
	}
	var before wiki.Page
	if was.Version > 0 {
		if err := json.Unmarshal(was.Body, &before); err != nil {
			return Absent, fmt.Errorf("decode page %s: %w", slug, err)
		}
		if before.SourceRevision == document.Revision && before.Body == document.Body && before.Title == document.Title {
			return Same, nil
		}
	}
	name, err := p.IDs.New(id.WikiPage)
	if err != nil {
		return Absent, fmt.Errorf("name page %s: %w", slug, err)
	}
	body, err := json.Marshal(wiki.Page{
		ID: name, TenantID: t.String(), Slug: slug, Title: document.Title, Body: document.Body,
		SourceRevision: document.Revision, RenderedAt: p.Now().UTC().Format(audit.TimeForm),
	})
	if err != nil {
		return Absent, fmt.Errorf("encode page %s: %w", slug, err)
	}
	item := record.Item{Key: was.Key, Index: [3]key.Key{key.PageByID(t, name)}, Body: body}
	if err := p.Store.Commit(ctx, record.Change{Puts: []record.Put{{Item: item, Was: was.Version}}}); err != nil {
		return Absent, err
	}
	return Rendered, nil
}
