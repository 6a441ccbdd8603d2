package rollups

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// stream reads a range of a partition item by item, a page at a time.
type stream struct {
	store record.Store
	query record.Query
	items []record.Item
	ended bool
}

// head is the next item, nil at the end.
func (s *stream) head(ctx context.Context) (*record.Item, error) {
	for len(s.items) == 0 && !s.ended {
		page, err := s.store.Query(ctx, s.query)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.query.PK, err)
		}
		s.items, s.query.After, s.ended = page.Items, page.Next, page.Next == nil
	}
	if len(s.items) == 0 {
		return nil, nil
	}
	return &s.items[0], nil
}

// next takes the next item, nil at the end.
func (s *stream) next(ctx context.Context) (*record.Item, error) {
	item, err := s.head(ctx)
	if item != nil {
		s.items = s.items[1:]
	}
	return item, err
}

// month is the month an item of the stream belongs to: all of them are in the
// order of their dates.
func (s *stream) month(item *record.Item) string {
	sk := item.Key.SK
	if s.query.Index > 0 {
		sk = item.Index[s.query.Index-1].SK
	}
	return sk[:min(len(sk), len("2006-01"))]
}

// take takes the items of a month off the stream.
func (s *stream) take(ctx context.Context, month string) ([]record.Item, error) {
	var items []record.Item
	for {
		item, err := s.head(ctx)
		if err != nil || item == nil || s.month(item) != month {
			return items, err
		}
		items = append(items, *item)
		s.items = s.items[1:]
	}
}

// month is a month of a tenant's: what its rows come to, and what its rollups say.
type month struct {
	name         string // YYYY-MM
	transactions int
	want, have   figures
	currencies   []string // of the rows in it and of all rollups
}

// walk is a way through a tenant's months, in their order. It holds no more than
// one of them.
type walk struct {
	book       *Book
	tenant     identity.Tenant
	rows       *stream
	rollups    []*stream
	currencies []string
}

func (b *Book) walk(ctx context.Context, t identity.Tenant) (*walk, error) {
	w := &walk{book: b, tenant: t, rows: &stream{store: b.Store, query: transactions(t, "")}}
	w.rollups = []*stream{{store: b.Store, query: record.Query{PK: key.RollupMonths(t)}}}
	known, err := b.currencies(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, currency := range known {
		w.meet(currency)
	}
	return w, nil
}

// transactions is where a tenant's transactions are found; an empty month is all.
func transactions(t identity.Tenant, month string) record.Query {
	q := record.Query{Index: 1, PK: key.LedgerList(t, id.Transaction, "", "").PK}
	if month != "" {
		q.Prefix = month + "-"
	}
	return q
}

// meet adds the rollups of a currency to the way. One that only a row names is met
// late; its rollups of months that are behind then have no rows, for there was
// none in them.
func (w *walk) meet(currency string) {
	if slices.Contains(w.currencies, currency) {
		return
	}
	w.currencies = append(w.currencies, currency)
	for _, pk := range partitions(w.tenant, currency) {
		w.rollups = append(w.rollups, &stream{store: w.book.Store, query: record.Query{PK: pk}})
	}
}

// next reads the next month, nil at the end.
func (w *walk) next(ctx context.Context) (*month, error) {
	name, err := w.first(ctx)
	if err != nil || name == "" {
		return nil, err
	}
	m := &month{name: name, want: figures{}, have: figures{}}
	rows, err := w.rows.take(ctx, name)
	if err != nil {
		return nil, err
	}
	currencies, err := m.count(w.tenant, rows)
	if err != nil {
		return nil, err
	}
	for _, currency := range currencies {
		w.meet(currency)
	}
	m.currencies = slices.Clone(w.currencies)
	for _, s := range w.rollups {
		items, err := s.take(ctx, name)
		if err != nil {
			return nil, err
		}
		m.have.put(items)
	}
	return m, w.book.owned(ctx, w.tenant, m.want, m.have)
}

// first is the earliest month that anything on the way is of.
func (w *walk) first(ctx context.Context) (string, error) {
	earliest := ""
	for _, s := range append([]*stream{w.rows}, w.rollups...) {
		item, err := s.head(ctx)
		if err != nil {
			return "", err
		}
		if item == nil {
			continue
		}
		if name := s.month(item); earliest == "" || name < earliest {
			earliest = name
		}
	}
	return earliest, nil
}

// count adds rows up and names their currencies.
func (m *month) count(t identity.Tenant, rows []record.Item) (currencies []string, err error) {
	for _, item := range rows {
		var x ledger.Transaction
		if err := json.Unmarshal(item.Body, &x); err != nil {
			return nil, fmt.Errorf("decode transaction: %w", err)
		}
		if err := m.want.add(t, x); err != nil {
			return nil, err
		}
		if !slices.Contains(currencies, x.Currency) {
			currencies = append(currencies, x.Currency)
		}
	}
	m.transactions += len(rows)
	return currencies, nil
}

func (f figures) put(items []record.Item) {
	for _, item := range items {
		f[item.Key] = item.Numbers
	}
}

// owned reads the months of the counterparties in a month.
func (b *Book) owned(ctx context.Context, t identity.Tenant, want, have figures) error {
	keys := append(own(t, want), own(t, have)...)
	if len(keys) == 0 {
		return nil
	}
	found, err := b.Store.GetMany(ctx, keys)
	if err != nil {
		return fmt.Errorf("read the months of counterparties: %w", err)
	}
	for k, item := range found {
		have[k] = item.Numbers
	}
	return nil
}

// still reads one month so that its rollups are at least as old as its rows: a
// rollup that has the same moves afterwards had exactly these rows.
func (b *Book) still(ctx context.Context, t identity.Tenant, was *month) (*month, error) {
	m := &month{name: was.name, want: figures{}, have: figures{}, currencies: was.currencies}
	if err := b.have(ctx, t, m, was.want); err != nil {
		return nil, err
	}
	if b.Settle != nil {
		if err := b.Settle(ctx); err != nil {
			return nil, err
		}
	}
	rows := &stream{store: b.Store, query: transactions(t, m.name)}
	items, err := rows.take(ctx, m.name)
	if err != nil {
		return nil, err
	}
	currencies, err := m.count(t, items)
	for _, currency := range currencies {
		if !slices.Contains(m.currencies, currency) {
			m.currencies = append(slices.Clip(m.currencies), currency)
		}
	}
	return m, err
}

// have reads the rollups of one month, those of the counterparties in rows too.
func (b *Book) have(ctx context.Context, t identity.Tenant, m *month, rows figures) error {
	all := []record.Query{{PK: key.RollupMonths(t), Prefix: m.name}}
	for _, currency := range m.currencies {
		for _, pk := range partitions(t, currency) {
			all = append(all, record.Query{PK: pk, Prefix: m.name})
		}
	}
	for _, query := range all {
		s := &stream{store: b.Store, query: query}
		items, err := s.take(ctx, m.name)
		if err != nil {
			return err
		}
		m.have.put(items)
	}
	return b.owned(ctx, t, rows, m.have)
}
