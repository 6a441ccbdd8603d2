package stackfile

import (
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/bus"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// Database is a client of the stack's table engine, made as a function makes its
// own.
func (s Stack) Database() *dynamodb.Client {
	return dynamodb.NewFromConfig(AWS(), func(o *dynamodb.Options) {
		o.HTTPClient, o.BaseEndpoint = awshttp.New(time.Minute), aws.String(s.DynamoDBEndpoint)
	})
}

// Store is the stack's table.
func (s Stack) Store() *table.Table { return &table.Table{Name: s.Table, API: s.Database()} }

// Publisher is the stack's bus, to publish on.
func (s Stack) Publisher() *bus.Bus {
	return &bus.Bus{Name: s.Bus, API: eventbridge.NewFromConfig(AWS(), func(o *eventbridge.Options) {
		o.HTTPClient, o.BaseEndpoint = awshttp.New(time.Minute), aws.String(s.EventsEndpoint)
	})}
}

// Trail writes to the stack's table and bus, as a function does. What it would
// warn of is an error of the call as well.
func (s Stack) Trail() *audit.Trail {
	return &audit.Trail{Bus: s.Publisher(), Store: s.Store(), IDs: id.NewSource(time.Now, rand.Reader), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
}
