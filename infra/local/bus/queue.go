package bus

import (
	"context"
	"crypto/md5" //nolint:gosec // SQS states a message's MD5; nothing relies on it
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/robotmoney/mcp/infra/local/lambda"
)

// Queue is an SQS standard queue with the function that consumes it.
type Queue struct {
	Name string
	// VisibilityTimeout hides a message that is being delivered; zero means
	// 30 s. Shorter than the function's timeout is refused, as on AWS.
	VisibilityTimeout time.Duration
	// MaxReceiveCount of the redrive policy; after that many deliveries a
	// message is given up. Zero means never.
	MaxReceiveCount int
	// DeadLetters names the queue of the redrive policy, for what is given up.
	DeadLetters string
	// Backoff before a failed message is delivered again, doubled for each
	// further time and never longer than VisibilityTimeout. Zero leaves it
	// hidden for the whole of that, as SQS does.
	Backoff time.Duration
	// Function gets the batches.
	Function Invoker
	// BatchSize is 1 to 10,000; zero means 10. Above 10 a window is needed.
	BatchSize int
	// BatchingWindow is how long to wait for a batch to fill, at most 5 min.
	BatchingWindow time.Duration
	// ReportBatchItemFailures lets the function name the messages that failed;
	// without it a batch succeeds or fails as a whole.
	ReportBatchItemFailures bool
	// Concurrency is how many batches run at once; zero means 2, the least
	// that AWS can be limited to.
	Concurrency int
}

func (q Queue) withDefaults() (Queue, error) {
	if q.VisibilityTimeout == 0 {
		q.VisibilityTimeout = 30 * time.Second
	}
	if q.BatchSize == 0 {
		q.BatchSize = 10
	}
	if q.Concurrency == 0 {
		q.Concurrency = 2
	}
	fail := func(format string, a ...any) (Queue, error) {
		return q, fmt.Errorf("bus: queue %s: %w", q.Name, fmt.Errorf(format, a...))
	}
	if q.Name == "" || q.Function == nil {
		return fail("a name and a function are needed")
	}
	if q.BatchSize < 1 || q.BatchSize > 10_000 || q.BatchingWindow < 0 || q.BatchingWindow > 5*time.Minute {
		return fail("batch size %d, window %s: want 1 to 10000 and at most 5 min", q.BatchSize, q.BatchingWindow)
	}
	if q.BatchSize > 10 && q.BatchingWindow < time.Second {
		return fail("a batch size above 10 needs a batching window of at least 1 s")
	}
	if f, ok := q.Function.(interface{ Function() lambda.Function }); ok && f.Function().Timeout > q.VisibilityTimeout {
		return fail("visibility timeout %s is less than the function's timeout %s", q.VisibilityTimeout, f.Function().Timeout)
	}
	return q, nil
}

func (b *Bus) queueLine(q Queue) (*line, error) {
	q, err := q.withDefaults()
	if err != nil {
		return nil, err
	}
	arn := fmt.Sprintf("arn:aws:sqs:%s:%s:%s", b.config.Region, b.config.AccountID, q.Name)
	l := &line{
		name: q.Name, letters: q.DeadLetters, batch: q.BatchSize, window: q.BatchingWindow, workers: q.Concurrency, most: q.MaxReceiveCount,
		hide: func(int) time.Duration { return q.VisibilityTimeout },
		bury: b.bury, pending: &b.pending,
	}
	l.send = func(ctx context.Context, batch []*message) map[string]failure {
		failed, err := consume(ctx, q, batch, sqsEvent(batch, arn, b.config.Region))
		if err != nil {
			b.config.Log.Warn("batch failed", "queue", q.Name, "messages", len(batch), "error", err)
		}
		for _, m := range batch {
			if f, bad := failed[m.id]; bad && q.Backoff > 0 {
				f.retry = min(q.Backoff<<min(m.attempts-1, 10), q.VisibilityTimeout)
				failed[m.id] = f
			}
		}
		return failed
	}
	return l, nil
}

// consume hands a batch to the function and reads which messages failed. A
// failed one stays hidden until its visibility timeout is over.
func consume(ctx context.Context, q Queue, batch []*message, event events.SQSEvent) (map[string]failure, error) {
	all := func(err error) (map[string]failure, error) {
		failed := make(map[string]failure, len(batch))
		for _, m := range batch {
			failed[m.id] = failure{reason: err.Error()}
		}
		return failed, err
	}
	payload, err := json.Marshal(event)
	if err != nil {
		return all(fmt.Errorf("write the batch: %w", err))
	}
	result, err := q.Function.Invoke(ctx, payload)
	if err != nil {
		return all(fmt.Errorf("invoke: %w", err))
	}
	if result.FunctionError != "" {
		return all(fmt.Errorf("function error: %.500s", result.Payload))
	}
	if !q.ReportBatchItemFailures {
		return nil, nil
	}
	failed, err := partial(result.Payload, batch)
	if err != nil {
		return all(err)
	}
	return failed, nil
}

// partial reads {"batchItemFailures":[{"itemIdentifier":ID}]}. Nothing at all
// means that all went well; a response that names no known message is taken as
// a failure of the whole batch, since it cannot be told what it meant.
func partial(response []byte, batch []*message) (map[string]failure, error) {
	if len(response) == 0 {
		return nil, nil
	}
	var report *struct {
		Failures []struct {
			ID *string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(response, &report); err != nil {
		return nil, fmt.Errorf("read the function's report: %w", err)
	}
	failed := map[string]failure{}
	if report == nil {
		return failed, nil
	}
	known := map[string]bool{}
	for _, m := range batch {
		known[m.id] = true
	}
	for _, f := range report.Failures {
		if f.ID == nil || !known[*f.ID] {
			return nil, errors.New("the function's report names a message that is not in the batch")
		}
		failed[*f.ID] = failure{reason: "reported by the function"}
	}
	return failed, nil
}

func sqsEvent(batch []*message, arn, region string) events.SQSEvent {
	var event events.SQSEvent
	for _, m := range batch {
		sum := md5.Sum(m.body) //nolint:gosec // see the import
		event.Records = append(event.Records, events.SQSMessage{
			MessageId:     m.id,
			ReceiptHandle: m.id + "#" + strconv.Itoa(m.attempts),
			Body:          string(m.body),
			Md5OfBody:     hex.EncodeToString(sum[:]),
			Attributes: map[string]string{
				"ApproximateReceiveCount":          strconv.Itoa(m.attempts),
				"SentTimestamp":                    strconv.FormatInt(m.added.UnixMilli(), 10),
				"SenderId":                         "events.amazonaws.com",
				"ApproximateFirstReceiveTimestamp": strconv.FormatInt(m.first.UnixMilli(), 10),
			},
			MessageAttributes: map[string]events.SQSMessageAttribute{},
			EventSourceARN:    arn,
			EventSource:       "aws:sqs",
			AWSRegion:         region,
		})
	}
	return event
}
