package table_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// busy is a table whose transactions meet another one so many times. The local
// engine never shows that.
type busy struct {
	table.API
	meets, calls int
	reason       string
}

func (b *busy) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if b.calls++; b.calls > b.meets {
		return &dynamodb.TransactWriteItemsOutput{}, nil
	}
	return nil, &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("None")}, {Code: aws.String(b.reason)}}}
}

func TestTransactionsThatMeet(t *testing.T) {
	for _, c := range []struct {
		name     string
		reason   string
		meets    int
		calls    int
		conflict bool
	}{
		{"once", "TransactionConflict", 1, 2, false},
		{"every time", "TransactionConflict", 100, 7, true},
		{"a condition failed as well", "ConditionalCheckFailed", 1, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := &busy{meets: c.meets, reason: c.reason}
			change := record.Change{Puts: []record.Put{{Item: record.Item{Key: key.Key{PK: "a", SK: "1"}}}, {Item: record.Item{Key: key.Key{PK: "a", SK: "2"}}}}}
			err := (&table.Table{API: api, Name: "t"}).Commit(t.Context(), change)
			if errors.Is(err, record.ErrConflict) != c.conflict || api.calls != c.calls {
				t.Errorf("%d calls and %v, want %d and conflict %v", api.calls, err, c.calls, c.conflict)
			}
		})
	}
}

// A request whose time is up does not wait for another try.
func TestNoTryAfterTheRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	api := &busy{meets: 100, reason: "TransactionConflict"}
	change := record.Change{Puts: []record.Put{{Item: record.Item{Key: key.Key{PK: "a", SK: "1"}}}, {Item: record.Item{Key: key.Key{PK: "a", SK: "2"}}}}}
	if err := (&table.Table{API: api, Name: "t"}).Commit(ctx, change); !errors.Is(err, record.ErrConflict) || api.calls > 2 {
		t.Errorf("%d calls and %v", api.calls, err)
	}
}
