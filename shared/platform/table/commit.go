package table

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Commit makes a change as one transaction. The SDK gives it a client token,
// so a retry after a lost reply is not a second write. A change of one blind
// put or one delete, which say the same thing each time, needs no transaction.
func (t *Table) Commit(ctx context.Context, c record.Change) error {
	switch {
	case c.Len() == 0:
		return nil
	case c.Len() == 1 && len(c.Puts) == 1 && c.Puts[0].Blind:
		_, err := t.API.PutItem(ctx, &dynamodb.PutItemInput{TableName: &t.Name, Item: encode(c.Puts[0].Item, 1)})
		return wrap(err)
	case c.Len() == 1 && len(c.Deletes) == 1:
		_, err := t.API.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &t.Name, Key: keyOf(c.Deletes[0])})
		return wrap(err)
	case c.Len() > record.MaxOperations:
		return fmt.Errorf("a change of %d items: one transaction holds %d", c.Len(), record.MaxOperations)
	}
	var items []types.TransactWriteItem
	for _, put := range c.Puts {
		items = append(items, types.TransactWriteItem{Put: t.put(put)})
	}
	for _, add := range c.Adds {
		items = append(items, types.TransactWriteItem{Update: t.add(add)})
	}
	for _, k := range c.Deletes {
		items = append(items, types.TransactWriteItem{Delete: t.remove(k)})
	}
	// Two transactions that touch one item at once, be it only a counter, make
	// one of them fail. Nothing was decided on what the other changed, so the
	// same change is tried again; its conditions are judged anew.
	for try := 0; ; try++ {
		_, err := t.API.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
		if !collided(err) || try == maxCollisions || !pause(ctx, try) {
			return wrap(err)
		}
	}
}

// maxCollisions is how often a transaction that met another one is tried again.
const maxCollisions = 6

// collided says that a transaction failed because it met another one and for no
// other reason.
func collided(err error) bool {
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		return false
	}
	met := false
	for _, reason := range cancelled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "TransactionConflict":
			met = true
		case "None", "":
		default:
			return false
		}
	}
	return met
}

// pause waits before another try, longer each time and never twice the same; it
// returns false when the request's time is up first.
func pause(ctx context.Context, try int) bool {
	timer := time.NewTimer(time.Duration(rand.Int64N(int64(10*time.Millisecond) << try)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (t *Table) put(put record.Put) *types.Put {
	out := &types.Put{TableName: &t.Name, Item: encode(put.Item, put.Was+1)}
	switch {
	case put.Blind:
	case put.Was == 0:
		out.ConditionExpression = aws.String("attribute_not_exists(#pk)")
		out.ExpressionAttributeNames = map[string]string{"#pk": attrPK}
	default:
		out.ConditionExpression = aws.String("#version = :was")
		out.ExpressionAttributeNames = map[string]string{"#version": attrVersion}
		out.ExpressionAttributeValues = map[string]types.AttributeValue{":was": number(put.Was)}
	}
	return out
}

func (t *Table) add(add record.Add) *types.Update {
	out := &types.Update{
		TableName: &t.Name, Key: keyOf(add.Key),
		ExpressionAttributeNames: map[string]string{}, ExpressionAttributeValues: map[string]types.AttributeValue{},
	}
	placeholders := map[string]string{} // of counters, one each
	name := func(counter string) string {
		p, known := placeholders[counter]
		if !known {
			p = fmt.Sprintf("#n%d", len(placeholders))
			placeholders[counter], out.ExpressionAttributeNames[p] = p, numPrefix+counter
		}
		return p
	}
	value := func(n *big.Int) string {
		v := fmt.Sprintf(":n%d", len(out.ExpressionAttributeValues))
		out.ExpressionAttributeValues[v] = &types.AttributeValueMemberN{Value: n.String()}
		return v
	}
	var deltas, drops, bounds []string
	for _, counter := range slices.Sorted(maps.Keys(add.Deltas)) {
		deltas = append(deltas, name(counter)+" "+value(add.Deltas[counter]))
	}
	for _, counter := range add.Drop {
		drops = append(drops, name(counter))
	}
	for _, counter := range slices.Sorted(maps.Keys(add.Most)) {
		n, most := name(counter), add.Most[counter]
		bound := n + " <= " + value(most)
		if most.Sign() >= 0 { // a counter that is not there is zero
			bound = "(attribute_not_exists(" + n + ") OR " + bound + ")"
		}
		bounds = append(bounds, bound)
	}
	update := "ADD " + strings.Join(deltas, ", ")
	if drops != nil {
		update += " REMOVE " + strings.Join(drops, ", ")
	}
	out.UpdateExpression = &update
	if bounds != nil {
		out.ConditionExpression = aws.String(strings.Join(bounds, " AND "))
	}
	return out
}

func (t *Table) remove(k key.Key) *types.Delete {
	return &types.Delete{TableName: &t.Name, Key: keyOf(k)}
}

// wrap tells a condition that did not hold, and a transaction that met another
// one, from a table that could not be asked. Both mean: read again and decide
// anew.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		for _, reason := range cancelled.CancellationReasons {
			switch aws.ToString(reason.Code) {
			case "ConditionalCheckFailed", "TransactionConflict":
				return fmt.Errorf("%w: %s", record.ErrConflict, aws.ToString(reason.Code))
			}
		}
	}
	var condition *types.ConditionalCheckFailedException
	var conflict *types.TransactionConflictException
	if errors.As(err, &condition) || errors.As(err, &conflict) {
		return fmt.Errorf("%w: %v", record.ErrConflict, err)
	}
	return unavailable("write", err)
}
