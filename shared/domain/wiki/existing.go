package wiki

import (
	"context"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
)

// Existing returns those of the slugs that have a page, in their order and as
// they were given, with one batch.
func (r *Reader) Existing(ctx context.Context, t identity.Tenant, slugs []string) ([]string, error) {
	var keys []key.Key
	for _, text := range slugs {
		slug, ok := Slug(text)
		if k := key.Page(t, slug); ok && !slices.Contains(keys, k) { // a batch may name an item once
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	stored, err := r.Store.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	var there []string
	for _, text := range slugs {
		slug, _ := Slug(text)
		if _, found := stored[key.Page(t, slug)]; found && !slices.Contains(there, text) {
			there = append(there, text)
		}
	}
	return there, nil
}
