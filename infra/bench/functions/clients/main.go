// Command clients is a floor of the benchmarks: a function that has the AWS
// clients ours has, made the same way, and nothing else. An event of its own
// form tells it which operation to do how often, and it answers with the time of
// the median one. A request from the gateway has it make both calls of a read
// and answer a constant.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	bus "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/robotmoney/mcp/shared/platform/awshttp"
)

// order is the event.
type order struct {
	Times int
	Get   *struct{ Table, PK, SK string }
	Put   *struct{ Bus, Source, Type, Detail string }
}

type handler struct {
	db     *dynamodb.Client
	events *eventbridge.Client
	both   order  // what a request from the gateway has it do
	answer []byte // and what it then answers
}

func (h handler) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	var o order
	if err := json.Unmarshal(event, &o); err != nil {
		return nil, err
	}
	if o.Times == 0 {
		if err := h.do(ctx, order{Get: h.both.Get}); err != nil {
			return nil, err
		}
		return h.answer, h.do(ctx, order{Put: h.both.Put})
	}
	times := make([]time.Duration, o.Times)
	for i := range times {
		began := time.Now()
		if err := h.do(ctx, o); err != nil {
			return nil, err
		}
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	return json.Marshal(times[len(times)/2].Nanoseconds())
}

func (h handler) do(ctx context.Context, o order) error {
	if o.Get != nil {
		out, err := h.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &o.Get.Table, ConsistentRead: aws.Bool(true), Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: o.Get.PK}, "sk": &types.AttributeValueMemberS{Value: o.Get.SK},
		}})
		if err == nil && len(out.Item) == 0 {
			err = fmt.Errorf("there is no item %s %s", o.Get.PK, o.Get.SK)
		}
		return err
	}
	out, err := h.events.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []bus.PutEventsRequestEntry{{
		EventBusName: &o.Put.Bus, Source: &o.Put.Source, DetailType: &o.Put.Type, Detail: &o.Put.Detail, Time: aws.Time(time.Now()),
	}}})
	if err == nil && out.FailedEntryCount > 0 {
		err = fmt.Errorf("the bus refused the event: %s", aws.ToString(out.Entries[0].ErrorMessage))
	}
	return err
}

func main() {
	var both order
	if text := os.Getenv("BENCH_ORDER"); text != "" {
		if err := json.Unmarshal([]byte(text), &both); err != nil {
			log.Fatal(err)
		}
	}
	answer, err := json.Marshal(map[string]any{
		"statusCode": 200, "headers": map[string]string{"content-type": "application/json"}, "body": os.Getenv("BENCH_BODY"),
	})
	if err != nil {
		log.Fatal(err)
	}
	config := aws.Config{
		Region: os.Getenv("AWS_REGION"),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY")}, nil
		}),
	}
	client := awshttp.New(20 * time.Second)
	lambda.StartWithOptions(handler{
		dynamodb.NewFromConfig(config, func(o *dynamodb.Options) {
			o.HTTPClient, o.BaseEndpoint = client, endpoint("DYNAMODB_ENDPOINT")
		}),
		eventbridge.NewFromConfig(config, func(o *eventbridge.Options) {
			o.HTTPClient, o.BaseEndpoint = client, endpoint("EVENTS_ENDPOINT")
		}),
		both, answer,
	})
}

func endpoint(name string) *string {
	if url := os.Getenv(name); url != "" {
		return &url
	}
	return nil
}
