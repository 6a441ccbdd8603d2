package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// place is where a mark lies.
type place struct {
	key    key.Key
	of     string
	window bool
}

// marksOf are the places where payments that must not be made twice meet: what is
// owed, what it rests on, and the same amount to the same payee. An account and a
// counterparty are evidence as often as one likes.
func marksOf(t identity.Tenant, p payments.Payment) []place {
	var names []string
	for _, linked := range []*string{p.ObligationID, p.InvoiceID} {
		if linked != nil {
			names = append(names, *linked)
		}
	}
	for _, name := range p.EvidenceIDs {
		if prefix, ok := payments.EvidenceKind(name); ok && prefix != id.Account && prefix != id.Counterparty {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var places []place
	for _, name := range slices.Compact(names) {
		places = append(places, place{key.Spent(t, name), name, false})
	}
	same := p.Amount + " " + p.Currency + " " + p.Direction() + " " + p.DestinationCounterpartyID
	return append(places, place{key.Paid(t, p.DestinationCounterpartyID, p.Direction(), p.Amount, p.Currency), same, true})
}

// mark writes the marks of an execution where none counts. The condition is that
// each lies as the gate saw it: of two executions that race for one, one fails.
func mark(v View, execution string) ([]record.Put, error) {
	var puts []record.Put
	for _, place := range marksOf(v.Tenant, *v.Case.Payment) {
		body, err := json.Marshal(Mark{place.of, execution, v.Now.UTC().Format(time.RFC3339Nano), place.window})
		if err != nil {
			return nil, fmt.Errorf("encode a mark: %w", err)
		}
		item := record.Item{Key: place.key, Body: body}
		if place.window {
			item.Expires = v.Now.Add(2 * window) // cleaning up only: the time is in the mark
		}
		puts = append(puts, record.Put{Item: item, Was: v.marks[place.key].Version})
	}
	return puts, nil
}

// left are the marks of an execution that are still its own.
func (e *Executor) left(ctx context.Context, t identity.Tenant, r Record) ([]key.Key, error) {
	var keys, own []key.Key
	for _, place := range marksOf(t, r.Order.Payment) {
		keys = append(keys, place.key)
	}
	items, err := e.Store.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		var left *Mark
		if err := decode(items, k, &left); err != nil {
			return nil, err
		}
		if left != nil && left.ExecutionID == r.ID {
			own = append(own, k)
		}
	}
	return own, nil
}
