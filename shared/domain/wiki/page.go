// Package wiki holds the pages that are derived from the ledger. They are never
// a source of truth: nothing that decides about money reads them.
package wiki

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/lazy"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Page is a rendered page. The slug is stable; the id changes with every
// rendering.
type Page struct {
	ID             string `json:"id"`
	TenantID       string `json:"tenant_id"`
	Slug           string `json:"slug"` // with a leading slash
	Title          string `json:"title"`
	Body           string `json:"body"`            // markdown
	SourceRevision string `json:"source_revision"` // hash over the rows it was made from
	RenderedAt     string `json:"rendered_at"`     // RFC 3339
}

// slugForm bounds a slug: segments of letters, digits, dots, underscores and
// hyphens. It cannot name another partition.
var slugForm = lazy.Pattern(`^/[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)

// maxSlug is the longest slug there is.
const maxSlug = 200

// Slug gives a slug its leading slash and says whether it is well formed.
func Slug(text string) (string, bool) {
	slug := "/" + strings.TrimPrefix(text, "/")
	return slug, len(slug) <= maxSlug && slugForm().MatchString(slug)
}

// Reader reads pages.
type Reader struct{ Store record.Store }

// Page returns the page under a slug, with or without its leading slash. A
// malformed, missing or foreign slug is wiki_page_not_found all the same.
func (r *Reader) Page(ctx context.Context, t identity.Tenant, slug string) (Page, error) {
	missing := fault.New(fault.WikiPageNotFound, "There is no wiki page under this slug.")
	slug, ok := Slug(slug)
	if !ok {
		return Page{}, missing
	}
	item, found, err := r.Store.Get(ctx, key.Page(t, slug))
	if err != nil {
		return Page{}, err
	}
	if !found {
		return Page{}, missing
	}
	var page Page
	if err := json.Unmarshal(item.Body, &page); err != nil {
		return Page{}, fmt.Errorf("decode page %s: %w", slug, err)
	}
	return page, nil
}

// Slugs returns up to limit+1 slugs that start with a prefix, without their
// leading slash.
func (r *Reader) Slugs(ctx context.Context, t identity.Tenant, prefix string, limit int) ([]string, error) {
	page, err := r.Store.Query(ctx, record.Query{PK: key.Page(t, "").PK, Prefix: "/" + strings.TrimPrefix(prefix, "/"), Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	var slugs []string
	for _, item := range page.Items {
		slugs = append(slugs, strings.TrimPrefix(item.Key.SK, "/"))
	}
	return slugs, nil
}
