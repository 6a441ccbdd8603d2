package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// maxNamed is how many counterparties with a part of the name are looked at.
const maxNamed = 200

// Named returns the id of the counterparty that is called so, empty for none: its
// name or an alias is the same but for case and accents. Of several it is the one
// with the lowest id. It is found by the marks of its names: one whose name ends
// with the text first, then one whose name goes on behind it and whose alias it
// is.
func (r *Reader) Named(ctx context.Context, t identity.Tenant, name string) (string, error) {
	text := Fold(name)
	if text == "" {
		return "", nil
	}
	prefix := cut(text, maxSuffix)
	// A mark is the part of a name, '#' and the id; '$' is the next character.
	for _, within := range [][2]string{{prefix + "#", prefix + "$"}, {prefix, beyond(prefix)}} {
		page, err := r.Store.Query(ctx, record.Query{PK: key.Suffix(t, "", "").PK, From: within[0], To: within[1], Limit: maxNamed})
		if err != nil {
			return "", err
		}
		for _, item := range page.Items {
			var m mark
			var c Counterparty
			if err := json.Unmarshal(item.Body, &m); err != nil {
				return "", fmt.Errorf("decode mark %s: %w", item.Key.SK, err)
			}
			if err := json.Unmarshal(m.Row, &c); err != nil {
				return "", fmt.Errorf("decode counterparty of mark %s: %w", item.Key.SK, err)
			}
			called := func(alias string) bool { return Fold(alias) == text }
			if c.NormalizedName == text || slices.ContainsFunc(c.Aliases, called) {
				return c.ID, nil
			}
		}
	}
	return "", nil
}
