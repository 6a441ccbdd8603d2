package question

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// directory looks names up in the ledger.
type directory struct{ store record.Store }

func (d directory) Accounts(ctx context.Context, asked Asked) ([]ledger.Account, error) {
	return accounts(ctx, d.store, asked.Tenant)
}

func (d directory) Counterparties(ctx context.Context, asked Asked, text string) ([]ledger.Counterparty, error) {
	const enough = 100
	reader := ledger.Reader{Store: d.store}
	page, err := reader.Counterparties(ctx, asked.Tenant, text, "", listing.Window{Limit: enough, Budget: 1 << 20})
	if err != nil {
		return nil, err
	}
	list := make([]ledger.Counterparty, len(page.Rows))
	for i, row := range page.Rows {
		if err := json.Unmarshal(row, &list[i]); err != nil {
			return nil, fmt.Errorf("decode counterparty: %w", err)
		}
	}
	return list, nil
}

// maxCategoryCells bounds what is read to learn the categories: the latest
// months of each currency and direction.
const maxCategoryCells = 120

// Categories are read off the latest monthly rollups: there is no list of them.
func (d directory) Categories(ctx context.Context, asked Asked) ([]Category, error) {
	all, err := accounts(ctx, d.store, asked.Tenant)
	if err != nil {
		return nil, err
	}
	currencies, err := currenciesOf(all)
	if err != nil {
		return nil, err
	}
	found := map[string]Category{}
	for _, c := range currencies {
		for _, direction := range []string{"inflow", "outflow"} {
			page, err := d.store.Query(ctx, record.Query{PK: key.Rollup(asked.Tenant, "month/"+ByCategory, c.String(), direction, "", "").PK, Reverse: true, Limit: maxCategoryCells})
			if err != nil {
				return nil, err
			}
			for _, item := range page.Items {
				_, name := cut(item.Key.SK)
				if n := item.Numbers[ledger.RollupCount]; n == nil || n.Sign() <= 0 || name == nobody {
					continue
				}
				category := found[name]
				category.Name = name
				category.In, category.Out = category.In || direction == "inflow", category.Out || direction == "outflow"
				found[name] = category
			}
		}
	}
	var list []Category
	for _, category := range found {
		list = append(list, category)
	}
	slices.SortFunc(list, func(a, b Category) int { return cmp.Or(strings.Compare(a.Name, b.Name), 0) })
	return list, nil
}
