package stack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	local "github.com/robotmoney/mcp/infra/local/bus"
	"github.com/robotmoney/mcp/infra/local/lambda"
	"github.com/robotmoney/mcp/infra/local/stack"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/domain/audit"
)

// consumer is what a function with a queue, a rule and schedules adds to a
// template.
const consumer = `
  ConsumerLetters: {Type: AWS::SQS::Queue}
  ConsumerQueue:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 60
      RedrivePolicy: {deadLetterTargetArn: !GetAtt ConsumerLetters.Arn, maxReceiveCount: 2}
  ConsumerRule:
    Type: AWS::Events::Rule
    Properties:
      EventBusName: !Ref Bus
      EventPattern: {source: [robotmoney.mcp], detail-type: [for.the.consumer]}
      Targets: [{Id: queue, Arn: !GetAtt ConsumerQueue.Arn}]
  ConsumerFunction:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: infra/local/stack/testdata/consumer
      MemorySize: 128
      Timeout: 10
      EventInvokeConfig:
        MaximumRetryAttempts: 1
        DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt ConsumerLetters.Arn}}
      Events:
        Queue: {Type: SQS, Properties: {Queue: !GetAtt ConsumerQueue.Arn, BatchSize: 5, MaximumBatchingWindowInSeconds: 1, FunctionResponseTypes: [ReportBatchItemFailures], ScalingConfig: {MaximumConcurrency: 3}}}
        Daily: {Type: Schedule, Properties: {Schedule: rate(1 day), Input: '{"tick":1}'}}
        Alarm: {Type: EventBridgeRule, Properties: {EventBusName: !Ref Bus, Pattern: {detail-type: [alarm]}, RetryPolicy: {MaximumRetryAttempts: 9}}}
`

// nobody is a function that is not there.
type nobody string

func (nobody) Invoke(context.Context, []byte) (lambda.Result, error) { return lambda.Result{}, nil }

// understood is a template of a bus and the consumer, with a text replaced.
func understood(t *testing.T, from, to string) *template.Template {
	t.Helper()
	text := "Globals: {Function: {Runtime: provided.al2023, Handler: bootstrap}}\nResources:\n  Bus: {Type: AWS::Events::EventBus, Properties: {Name: b}}" + consumer
	if !strings.Contains(text, from) {
		t.Fatalf("the template has no %q", from)
	}
	got, err := template.Parse([]byte(strings.Replace(text, from, to, 1)), template.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wire(t *template.Template) (local.Config, error) {
	return stack.Wiring(t, func(logicalID string) local.Invoker { return nobody(logicalID) })
}

func TestWiring(t *testing.T) {
	got, err := wire(understood(t, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	f := nobody("ConsumerFunction")
	want := local.Config{
		Queues: []local.Queue{{
			Name: "ConsumerQueue", Function: f, VisibilityTimeout: time.Minute, MaxReceiveCount: 2, DeadLetters: "ConsumerLetters",
			Backoff: time.Second, BatchSize: 5, BatchingWindow: time.Second, ReportBatchItemFailures: true, Concurrency: 3,
		}},
		Rules: []local.Rule{
			{Name: "ConsumerRule", Pattern: []byte(`{"detail-type":["for.the.consumer"],"source":["robotmoney.mcp"]}`), Targets: []local.Target{
				{Name: "ConsumerRule/ConsumerQueue", Queue: "ConsumerQueue", Backoff: time.Second},
			}},
			{Name: "ConsumerFunctionAlarm", Pattern: []byte(`{"detail-type":["alarm"]}`), Targets: []local.Target{
				{Name: "ConsumerFunctionAlarm/ConsumerFunction", Function: f, MaximumRetryAttempts: 1, DeadLetters: "ConsumerLetters", Backoff: time.Second},
			}},
		},
		Schedules: []local.Schedule{{
			Name: "ConsumerFunctionDaily", Expression: "rate(1 day)", Input: []byte(`{"tick":1}`), Function: f,
			MaximumRetryAttempts: 1, DeadLetters: "ConsumerLetters", Backoff: time.Second,
		}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("wiring\n%+v, want\n%+v", got, want)
	}
}

// What would not work here as on AWS is refused, and not left out.
func TestWiringThatIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"a second bus":                {"  ConsumerLetters:", "  Other: {Type: AWS::Events::EventBus, Properties: {Name: o}}\n  ConsumerLetters:", "2 buses"},
		"dead letters that are read":  {"Queue: !GetAtt ConsumerQueue.Arn", "Queue: !GetAtt ConsumerLetters.Arn", "ConsumerLetters holds the dead letters"},
		"a rule to an unread queue":   {"  ConsumerQueue:\n", "  Unread: {Type: AWS::SQS::Queue}\n  ConsumerQueue:\n", ""},
		"a schedule at a time of day": {"Schedule: rate(1 day)", `Schedule: "cron(0 3 * * ? *)"`, "cron(0 3 * * ? *)"},
	} {
		t.Run(name, func(t *testing.T) {
			parsed := understood(t, c.from, c.to)
			if c.want == "" {
				parsed.Rules[0].Targets[0].Queue, c.want = "Unread", "needs a function or a known queue"
			}
			config, err := wire(parsed)
			if err == nil {
				config.Name, config.EventsFile = "b", filepath.Join(t.TempDir(), "events")
				_, err = local.New(t.Context(), config)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// withConsumer starts a stack of the real template and the consumer.
func withConsumer(t *testing.T, folder string, fresh bool) *stack.Stack {
	t.Helper()
	repo, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	real, err := os.ReadFile(filepath.Join(repo, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "template.yaml")
	// The journal is for events of ours: what the test publishes is none, and its
	// queue would try each ten times.
	text := strings.Replace(string(real), "prefix: robotmoney.", "prefix: nobody.", 1)
	text = strings.Replace(text, "\nOutputs:\n", consumer+"\nOutputs:\n", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := stack.Start(t.Context(), stack.Options{Repo: repo, Folder: folder, Template: path, Fresh: fresh})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// publish puts an event of each text on a stack's bus.
func publish(t *testing.T, s *stack.Stack, texts ...string) {
	t.Helper()
	events := s.File().Publisher()
	for _, text := range texts {
		entry := audit.Entry{ID: text, Type: "for.the.consumer", At: time.Now(), Detail: fmt.Appendf(nil, `{"text":%q}`, text)}
		if refused, err := events.Publish(t.Context(), []audit.Entry{entry}); err != nil || len(refused) > 0 {
			t.Fatalf("refused %v, %v", refused, err)
		}
	}
}

// settled waits until nothing is under way.
func settled(t *testing.T, s *stack.Stack) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Settled(ctx); err != nil {
		t.Fatal(err)
	}
}

// letters are the lines of the consumer's dead-letter file: whence, after how
// many attempts, and of what.
func letters(t *testing.T, folder string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, ".local", "log", "dlq-ConsumerLetters.jsonl"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var l struct {
			From, Reason string
			Attempts     int
			Body         struct {
				Detail struct{ Text string }
				Tick   int
			}
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Reason == "" {
			t.Fatalf("%v: %s", err, line)
		}
		found = append(found, fmt.Sprintf("%s %d %s%d", l.From, l.Attempts, l.Body.Detail.Text, l.Body.Tick))
	}
	return found
}

// A function that is new in the template works without another word: its queue
// is filled by its rule and read in batches, what fails comes again and then
// goes to the dead letters, and its schedule runs.
func TestANewFunction(t *testing.T) {
	folder := t.TempDir()
	s := withConsumer(t, folder, false)
	if live, _ := s.Function("ConsumerFunction").Processes(); live != 0 {
		t.Errorf("%d processes before the first event", live)
	}
	publish(t, s, "plain", "shy", "stubborn")
	settled(t, s)
	log, err := os.ReadFile(filepath.Join(folder, ".local", "log", "consumer.log"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"plain": 1, "shy": 1, "stubborn": 0} {
		if n := strings.Count(string(log), `{"text":"`+text+`"}`); n != want {
			t.Errorf("%s was taken %d times, want %d", text, n, want)
		}
	}
	dead := []string{"ConsumerQueue 2 stubborn0"}
	equalLetters(t, letters(t, folder), dead)

	// At once, with its error and without retries or dead letters.
	if err := s.Fire("consumer"); err == nil || !strings.Contains(err.Error(), "a tick that goes wrong") {
		t.Errorf("fired: %v", err)
	}
	equalLetters(t, letters(t, folder), dead)
	// As the schedule does.
	if err := s.Bus().Fire("ConsumerFunctionDaily"); err != nil {
		t.Error(err)
	}
	settled(t, s)
	dead = append(dead, "ConsumerFunctionDaily 2 1")
	equalLetters(t, letters(t, folder), dead)
	if err := s.Fire("nobody"); err == nil {
		t.Error("fired a schedule that is not there")
	}

	// They are state: who starts over starts without.
	s.Close()
	withConsumer(t, folder, true).Close()
	equalLetters(t, letters(t, folder), nil)
}

func equalLetters(t *testing.T, got, want []string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("dead letters %q, want %q", got, want)
	}
}
