package desk

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/robotmoney/mcp/shared/platform/bus"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// Calls stands before the clients of the table and of the bus, counts what goes
// through and keeps the last of each, for a floor to repeat.
type Calls struct {
	table.API
	Bus bus.API

	mu       sync.Mutex
	counts   Counts
	Batch    *dynamodb.BatchGetItemInput
	Change   *dynamodb.TransactWriteItemsInput
	Entries  *eventbridge.PutEventsInput
	byCaller map[any]int // transactions, by the caller's tag
}

// Counts are calls by what they do. Removals only remove the marks of events the
// bus has taken, after the change is made.
type Counts struct{ Queries, Gets, Batches, Changes, Removals, PutEvents int }

// Reads are all that read.
func (c Counts) Reads() int { return c.Queries + c.Gets + c.Batches }

// String writes the counts as a sentence.
func (c Counts) String() string {
	return fmt.Sprintf("%d Query, %d GetItem, %d BatchGetItem, %d transactions, %d PutEvents, then %d to remove marks", c.Queries, c.Gets, c.Batches, c.Changes, c.PutEvents, c.Removals)
}

// Take returns the counts since the last Take.
func (c *Calls) Take() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := c.counts
	c.counts = Counts{}
	return counts
}

type tag struct{}

// Tagged marks the calls of one caller, so that its transactions can be told
// from those of others.
func Tagged(ctx context.Context, caller any) context.Context {
	return context.WithValue(ctx, tag{}, caller)
}

// Tries is how many transactions that change something a caller has sent.
func (c *Calls) Tries(caller any) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byCaller[caller]
}

func (c *Calls) count(see func(*Counts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	see(&c.counts)
}

// Query counts a query.
func (c *Calls) Query(ctx context.Context, in *dynamodb.QueryInput, more ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	c.count(func(n *Counts) { n.Queries++ })
	return c.API.Query(ctx, in, more...)
}

// GetItem counts a read of one item.
func (c *Calls) GetItem(ctx context.Context, in *dynamodb.GetItemInput, more ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	c.count(func(n *Counts) { n.Gets++ })
	return c.API.GetItem(ctx, in, more...)
}

// BatchGetItem counts and keeps a batch.
func (c *Calls) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, more ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	c.count(func(n *Counts) { n.Batches, c.Batch = n.Batches+1, in })
	return c.API.BatchGetItem(ctx, in, more...)
}

// DeleteItem counts the removal of a single mark.
func (c *Calls) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, more ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	c.count(func(n *Counts) { n.Removals++ })
	return c.API.DeleteItem(ctx, in, more...)
}

// TransactWriteItems counts a transaction, and keeps one that changes something.
func (c *Calls) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, more ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	removes := !slices.ContainsFunc(in.TransactItems, func(item types.TransactWriteItem) bool { return item.Delete == nil })
	c.count(func(n *Counts) {
		if removes {
			n.Removals++
			return
		}
		n.Changes, c.Change = n.Changes+1, in
		if caller := ctx.Value(tag{}); caller != nil {
			if c.byCaller == nil {
				c.byCaller = map[any]int{}
			}
			c.byCaller[caller]++
		}
	})
	return c.API.TransactWriteItems(ctx, in, more...)
}

// PutEvents counts and keeps a call of the bus.
func (c *Calls) PutEvents(ctx context.Context, in *eventbridge.PutEventsInput, more ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	c.count(func(n *Counts) { n.PutEvents, c.Entries = n.PutEvents+1, in })
	return c.Bus.PutEvents(ctx, in, more...)
}

// Floor makes an operation of the last calls alone: the same batch, a transaction
// of the same items and updates, and the same events, each once. It writes under
// keys of its own, so that it moves nobody's counters, and its items without
// conditions, so that it can be repeated.
func (c *Calls) Floor(ctx context.Context) func() error {
	batch, change, entries := *c.Batch, Aside(c.Change), *c.Entries
	return func() error {
		if _, err := c.API.BatchGetItem(ctx, &batch); err != nil {
			return fmt.Errorf("read: %w", err)
		}
		if _, err := c.API.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: change}); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		if _, err := c.Bus.PutEvents(ctx, &entries); err != nil {
			return fmt.Errorf("put events: %w", err)
		}
		return nil
	}
}

// Aside is a transaction under other keys, its items without conditions. The
// bounds of its counters stay: these begin at zero and are far from them.
func Aside(in *dynamodb.TransactWriteItemsInput) []types.TransactWriteItem {
	moved := func(attributes map[string]types.AttributeValue) map[string]types.AttributeValue {
		out := map[string]types.AttributeValue{}
		for name, value := range attributes {
			if text, isText := value.(*types.AttributeValueMemberS); isText && len(name) >= 2 && name[len(name)-2:] == "pk" {
				value = &types.AttributeValueMemberS{Value: "floor#" + text.Value}
			}
			out[name] = value
		}
		return out
	}
	var items []types.TransactWriteItem
	for _, item := range in.TransactItems {
		switch {
		case item.Put != nil:
			items = append(items, types.TransactWriteItem{Put: &types.Put{TableName: item.Put.TableName, Item: moved(item.Put.Item)}})
		case item.Update != nil:
			update := *item.Update
			update.Key = moved(update.Key)
			items = append(items, types.TransactWriteItem{Update: &update})
		case item.Delete != nil:
			items = append(items, types.TransactWriteItem{Delete: &types.Delete{TableName: item.Delete.TableName, Key: moved(item.Delete.Key)}})
		}
	}
	return items
}
