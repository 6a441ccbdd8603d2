package ledger

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// derived is what follows from a row and is kept beside it, in the transaction
// that writes it: counters it is counted in, and marks by which it is found.
type derived struct {
	counters deltas
	marks    []record.Item
}

// deltas collects what counters move by, each counter once: a change holds an
// item at most once.
type deltas map[key.Key]map[string]*big.Int

// add moves a counter of an item.
func (d deltas) add(k key.Key, name string, by *big.Int) {
	cell := d[k]
	if cell == nil {
		cell = map[string]*big.Int{}
		d[k] = cell
	}
	if cell[name] == nil {
		cell[name] = new(big.Int)
	}
	cell[name].Add(cell[name], by)
}

// merge adds other to d, or takes it away.
func (d deltas) merge(other deltas, sign int64) {
	for k, cell := range other {
		for name, by := range cell {
			d.add(k, name, new(big.Int).Mul(by, big.NewInt(sign)))
		}
	}
}

// lacks says how many items of other are none of d's.
func (d deltas) lacks(other deltas) int {
	n := 0
	for k := range other {
		if d[k] == nil {
			n++
		}
	}
	return n
}

// derive is nothing for most rows.
func (m *Meta) derive(identity.Tenant) (derived, error) { return derived{}, nil }

// derive counts an account under what accounts are listed by.
func (a *Account) derive(t identity.Tenant) (derived, error) {
	d := derived{counters: deltas{}}
	d.counters.add(key.Count(t, a.kind(), a.Status+"#"+a.AccountType), RollupCount, big.NewInt(1))
	return d, nil
}

// derive marks a counterparty under each part of its names.
func (c *Counterparty) derive(t identity.Tenant) (derived, error) {
	marks, err := c.marks(t)
	return derived{marks: marks}, err
}

// belongs is nothing beside the row itself for most rows.
func (m *Meta) belongs() []string { return nil }

// belongs: a transaction is told of where its account, its counterparty and its
// month are.
func (x *Transaction) belongs() []string {
	places := []string{x.AccountID, x.TransactionDate[:len("2006-01")]}
	if x.CounterpartyID != nil {
		places = append(places, *x.CounterpartyID)
	}
	return places
}

func (o *Obligation) belongs() []string { return []string{o.CounterpartyID} }

func (i *Invoice) belongs() []string { return []string{i.CounterpartyID} }

// former decodes the stored form of a row's entity.
func former(row Row, stored []byte) (Row, error) {
	var old Row
	switch row.(type) {
	case *Account:
		old = &Account{}
	case *Balance:
		old = &Balance{}
	case *Transaction:
		old = &Transaction{}
	case *Counterparty:
		old = &Counterparty{}
	case *Obligation:
		old = &Obligation{}
	case *Invoice:
		old = &Invoice{}
	default:
		return nil, fmt.Errorf("no such row: %T", row)
	}
	if err := json.Unmarshal(stored, old); err != nil {
		return nil, fmt.Errorf("decode row %s: %w", row.meta().ID, err)
	}
	return old, nil
}

// turn is how what is derived changes when a row replaces another (nil: when it
// is new). A mark holds the row, so each is put again.
func turn(t identity.Tenant, before, after Row) (counters deltas, put []record.Item, remove []key.Key, err error) {
	counters = deltas{}
	var had derived
	if before != nil {
		if had, err = before.derive(t); err != nil {
			return nil, nil, nil, err
		}
		counters.merge(had.counters, -1)
	}
	has, err := after.derive(t)
	if err != nil {
		return nil, nil, nil, err
	}
	counters.merge(has.counters, 1)
	for k, cell := range counters {
		if moves(cell) {
			counters.add(k, RollupMoves, big.NewInt(1))
		}
	}
	for _, old := range had.marks {
		if !slices.ContainsFunc(has.marks, func(m record.Item) bool { return m.Key == old.Key }) {
			remove = append(remove, old.Key)
		}
	}
	return counters, has.marks, remove, nil
}

// adds writes the counters that move at all, in the order of their keys.
func (d deltas) adds() []record.Add {
	var adds []record.Add
	for k, cell := range d {
		if moves(cell) {
			adds = append(adds, record.Add{Key: k, Deltas: cell})
		}
	}
	slices.SortFunc(adds, func(a, b record.Add) int { return key.Compare(a.Key, b.Key) })
	return adds
}

// moves says whether any counter of a cell changes.
func moves(cell map[string]*big.Int) bool {
	for _, by := range cell {
		if by.Sign() != 0 {
			return true
		}
	}
	return false
}
