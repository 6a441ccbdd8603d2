package rows

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/shared/domain/identity"
)

const (
	// workers make rows while the engine writes others.
	workers = 4
	// perCall is how many items BatchWriteItem takes.
	perCall = 25
)

// Fill stores the first n rows of a tenant. A row that is there is written again
// as it was, so an interrupted fill is simply repeated.
func Fill(ctx context.Context, client *dynamodb.Client, table string, t identity.Tenant, n int, rows Maker) error {
	group, ctx := errgroup.WithContext(ctx)
	for worker := range workers {
		group.Go(func() error {
			b := &batch{client: client, table: table}
			for i := worker; i < n; i += workers {
				items, err := rows(t, i)
				if err != nil {
					return err
				}
				if err := b.add(ctx, items); err != nil {
					return err
				}
			}
			return b.flush(ctx)
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("fill %d rows of %s: %w", n, t, err)
	}
	return nil
}

// batch collects items and writes as many as one call takes.
type batch struct {
	client  *dynamodb.Client
	table   string
	pending []types.WriteRequest
}

func (b *batch) add(ctx context.Context, items []Item) error {
	for _, one := range items {
		b.pending = append(b.pending, types.WriteRequest{PutRequest: &types.PutRequest{Item: one}})
		if len(b.pending) == perCall {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes what is collected, and again what the engine left out.
func (b *batch) flush(ctx context.Context) error {
	for len(b.pending) > 0 {
		out, err := b.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{b.table: b.pending}})
		if err != nil {
			return err
		}
		b.pending = out.UnprocessedItems[b.table]
	}
	b.pending = nil
	return nil
}
