// Command consumer is a function that reads a queue and a schedule, for the
// tests of the stack. A message that holds "stubborn" fails whenever it comes,
// one that holds "shy" the first time; what it took it prints.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func main() { lambda.Start(take) }

// take answers a batch as a reader of a queue does, and fails on the tick of a
// schedule.
func take(_ context.Context, payload json.RawMessage) (events.SQSEventResponse, error) {
	var batch events.SQSEvent
	if err := json.Unmarshal(payload, &batch); err != nil {
		return events.SQSEventResponse{}, err
	}
	if len(batch.Records) == 0 {
		return events.SQSEventResponse{}, errors.New("a tick that goes wrong")
	}
	var failed events.SQSEventResponse
	for _, record := range batch.Records {
		first := record.Attributes["ApproximateReceiveCount"] == "1"
		if strings.Contains(record.Body, "stubborn") || first && strings.Contains(record.Body, "shy") {
			failed.BatchItemFailures = append(failed.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: record.MessageId})
			continue
		}
		fmt.Println("took", record.Body)
	}
	return failed, nil
}
