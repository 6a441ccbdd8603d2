// Package bus is the EventBridge bus behind audit.Bus.
package bus

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/robotmoney/mcp/shared/domain/audit"
)

// API is the part of the EventBridge client that is used.
type API interface {
	PutEvents(context.Context, *eventbridge.PutEventsInput, ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error)
}

// Bus puts events on one bus.
type Bus struct {
	API  API
	Name string
}

var _ audit.Bus = (*Bus)(nil)

// Publish puts up to ten entries on the bus and returns the ids of those it
// did not take: a call can succeed as a whole and fail entry by entry.
func (b *Bus) Publish(ctx context.Context, entries []audit.Entry) ([]string, error) {
	in := &eventbridge.PutEventsInput{}
	for _, entry := range entries {
		in.Entries = append(in.Entries, types.PutEventsRequestEntry{
			EventBusName: &b.Name, Source: aws.String(audit.Source), DetailType: aws.String(entry.Type),
			Detail: aws.String(string(entry.Detail)), Time: aws.Time(entry.At),
		})
	}
	out, err := b.API.PutEvents(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("put %d events: %w", len(entries), err)
	}
	if len(out.Entries) != len(entries) {
		return nil, fmt.Errorf("put %d events: the bus answered for %d", len(entries), len(out.Entries))
	}
	var refused []string
	for i, result := range out.Entries {
		if result.ErrorCode != nil || aws.ToString(result.EventId) == "" {
			refused = append(refused, entries[i].ID)
		}
	}
	return refused, nil
}
