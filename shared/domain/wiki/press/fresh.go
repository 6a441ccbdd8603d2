package press

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// fresh is a table whose indexes show some rows as they are. An index lags behind
// the table by a moment, and a page made in that moment would leave out the very
// row it is made for; nothing would make it again.
type fresh struct {
	record.Store
	rows map[key.Key]record.Item // as the table itself had them
}

// Query reads one page of a partition. In an index the known rows stand where they
// belong, and nowhere else. It knows ranges and limits, and no cursors: nobody
// here goes on to a next page of an index.
func (f *fresh) Query(ctx context.Context, q record.Query) (record.Page, error) {
	if q.Index == 0 || len(f.rows) == 0 || q.Limit == 0 {
		return f.Store.Query(ctx, q)
	}
	for asked := q; ; {
		page, err := f.Store.Query(ctx, asked)
		if err != nil {
			return page, err
		}
		items := f.merge(q, page)
		if len(items) >= q.Limit || page.Next == nil {
			return record.Page{Items: items[:min(len(items), q.Limit)], Next: page.Next}, nil
		}
		// Known rows have left the list: what comes after takes their places.
		asked.Limit += q.Limit - len(items)
	}
}

// merge puts the known rows where they belong among those an index showed. One
// that belongs behind the last of them may have others before it that were not
// read, and is left out.
func (f *fresh) merge(q record.Query, page record.Page) []record.Item {
	order := func(a, b record.Item) int {
		if q.Reverse {
			a, b = b, a
		}
		return cmp.Compare(a.Index[q.Index-1].SK, b.Index[q.Index-1].SK)
	}
	var items []record.Item
	for _, item := range page.Items {
		if _, known := f.rows[item.Key]; !known {
			items = append(items, item)
		}
	}
	for _, item := range f.rows {
		place := item.Index[q.Index-1]
		behind := page.Next != nil && order(item, page.Items[len(page.Items)-1]) > 0
		if place.PK == q.PK && within(q, place.SK) && !behind {
			items = append(items, item)
		}
	}
	slices.SortFunc(items, order)
	return items
}

// within says whether a sort key is in the range of a query.
func within(q record.Query, sk string) bool {
	if q.Prefix != "" {
		return strings.HasPrefix(sk, q.Prefix)
	}
	return (q.From == "" || sk >= q.From) && (q.To == "" || sk <= q.To)
}
