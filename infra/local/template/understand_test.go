package template_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/template"
)

// asynchronous is a template of everything the real one does not use yet.
const asynchronous = `
Parameters:
  Every: {Type: String, Default: 5 minutes}
  Letters: {Type: String, Default: "yes"}
Conditions:
  Kept: !Equals [!Ref Letters, "yes"]
  Lost: !Not [!Condition Kept]
  Both: !And [!Condition Kept, !Condition Lost]
  Either: !Or [!Condition Lost, !Condition Kept]
Globals:
  Function:
    Runtime: provided.al2023
    Handler: bootstrap
    Architectures: [arm64]
    MemorySize: 256
    Environment: {Variables: {A: global, B: global}}
Resources:
  Bus: {Type: "AWS::Events::EventBus", Properties: {Name: b}}
  Letter: {Type: "AWS::SQS::Queue"}
  Line:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 120
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Letter.Arn, maxReceiveCount: 5}
  ToLine:
    Type: AWS::Events::Rule
    Properties:
      EventBusName: !Ref Bus
      EventPattern: {source: [robotmoney.mcp], detail-type: [{prefix: !Join ["", [agent., mcp]]}], detail: {n: [1, true]}}
      Targets:
        - Id: line
          Arn: !GetAtt Line.Arn
          RetryPolicy: {MaximumRetryAttempts: 7}
          DeadLetterConfig: {Arn: !GetAtt Letter.Arn}
        - {Id: work, Arn: !GetAtt Work.Arn}
  Work:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/job
      Timeout: 60
      Environment:
        Variables:
          B: own
          C: !Sub "${AWS::Region}/${Line.Arn}/${!kept}"
          D: {"Fn::GetAtt": [Line, QueueName]}
          E: !If [Both, a, !If [Either, b, c]]
      EventInvokeConfig:
        MaximumRetryAttempts: 1
        DestinationConfig: {OnFailure: !If [Kept, {Type: SQS, Destination: !GetAtt Letter.Arn}, !Ref "AWS::NoValue"]}
      Events:
        Line: {Type: SQS, Properties: {Queue: !GetAtt Line.Arn, BatchSize: 25, MaximumBatchingWindowInSeconds: 1, FunctionResponseTypes: [ReportBatchItemFailures], ScalingConfig: {MaximumConcurrency: 2}}}
        Often: {Type: Schedule, Properties: {Schedule: !Sub "rate(${Every})", Input: '{"a":1}'}}
        Nightly: {Type: ScheduleV2, Properties: {ScheduleExpression: "cron(0 3 * * ? *)"}}
        Approved: {Type: EventBridgeRule, Properties: {EventBusName: !Ref Bus, Pattern: {source: [x]}, DeadLetterConfig: {Arn: !GetAtt Letter.Arn}}}
`

func TestAsynchronousParts(t *testing.T) {
	got, err := template.Parse([]byte(asynchronous), template.Options{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "queues", got.Queues, []template.Queue{
		{LogicalID: "Letter", VisibilityTimeout: 30 * time.Second},
		{LogicalID: "Line", VisibilityTimeout: 2 * time.Minute, MaxReceiveCount: 5, DeadLetter: "Letter", Reader: &template.Reader{
			Function: "Work", BatchSize: 25, BatchingWindow: time.Second, PartialFailures: true, MaximumConcurrency: 2,
		}},
	})
	equal(t, "rules", got.Rules, []template.Rule{
		{LogicalID: "ToLine", Bus: "Bus", Pattern: json.RawMessage(`{"detail":{"n":[1,true]},"detail-type":[{"prefix":"agent.mcp"}],"source":["robotmoney.mcp"]}`), Targets: []template.Target{
			{Queue: "Line", MaximumRetryAttempts: 7, DeadLetter: "Letter"},
			{Function: "Work", MaximumRetryAttempts: 185},
		}},
		{LogicalID: "WorkApproved", Bus: "Bus", Pattern: json.RawMessage(`{"source":["x"]}`), Targets: []template.Target{
			{Function: "Work", MaximumRetryAttempts: 185, DeadLetter: "Letter"},
		}},
	})
	equal(t, "schedules", got.Schedules, []template.Schedule{
		{LogicalID: "WorkOften", Expression: "rate(5 minutes)", Function: "Work", Input: json.RawMessage(`{"a":1}`)},
		{LogicalID: "WorkNightly", Expression: "cron(0 3 * * ? *)", Function: "Work"},
	})
	equal(t, "functions", got.Functions, []template.Function{{
		LogicalID: "Work", CodeURI: "functions/job", MemoryMB: 256, Timeout: time.Minute, MaximumRetryAttempts: 1, DeadLetter: "Letter",
		Environment: map[string]string{"A": "global", "B": "own", "C": "us-east-1/Line.Arn/${kept}", "D": "Line.QueueName", "E": "b"},
	}})
	if got.API != nil {
		t.Errorf("API %+v out of nothing", got.API)
	}
}

func TestParametersChooseConditions(t *testing.T) {
	got, err := template.Parse([]byte(asynchronous), template.Options{Parameters: map[string]string{"Letters": "no", "AWS::Region": "eu-west-1"}})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "dead letters", got.Functions[0].DeadLetter, "")
	equal(t, "region", got.Functions[0].Environment["C"], "eu-west-1/Line.Arn/${kept}")
}

// Each case changes one thing of a template that is well understood; the error
// must name the place.
func TestWhatIsNotUnderstood(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"type", "Type: AWS::Events::Rule", "Type: AWS::SNS::Topic", `ToLine.Type (line 26): "AWS::SNS::Topic" is not understood`},
		{"no type", "    Type: AWS::Events::Rule\n", "", "ToLine.Type (line 26): missing"},
		{"property", "VisibilityTimeout: 120", "FifoQueue: true", "Line.FifoQueue (line 23): this property is not understood here"},
		{"property of the resource", "    Type: AWS::Events::Rule\n", "    Type: AWS::Events::Rule\n    Condition: Kept\n", "ToLine.Condition"},
		{"nested property", "RetryPolicy: {Max", "RetryPolicy: {Jitter: 1, Max", "ToLine.Targets[0].RetryPolicy.Jitter"},
		{"number", "VisibilityTimeout: 120", "VisibilityTimeout: soon", `Line.VisibilityTimeout (line 23): "soon" is no whole number from 0 to 43200`},
		{"fraction", "VisibilityTimeout: 120", "VisibilityTimeout: 1.5", "Line.VisibilityTimeout"},
		{"out of range", "BatchSize: 25", "BatchSize: 10001", "Work.Events.Line.BatchSize"},
		{"missing", "      Timeout: 60\n", "", "Work.Timeout (line 39): missing"},
		{"missing memory", "    MemorySize: 256\n", "", "Work.MemorySize"},
		{"missing bus", "Properties: {EventBusName: !Ref Bus, ", "Properties: {", "Work.Events.Approved.EventBusName"},
		{"missing pattern", "Pattern: {source: [x]}, ", "", "Work.Events.Approved.Pattern"},
		{"unknown reference", "EventBusName: !Ref Bus\n", "EventBusName: !Ref Buss\n", "ToLine.EventBusName (line 28): Buss is neither a parameter nor a resource"},
		{"wrong kind of resource", "EventBusName: !Ref Bus\n", "EventBusName: !Ref Line\n", `"Line" names no resource of the type AWS::Events::EventBus`},
		{"constant for a reference", "Arn: !GetAtt Work.Arn", "Arn: arn:aws:lambda:x", "ToLine.Targets[1].Arn"},
		{"function", `B: own`, `B: !Select [0, [a]]`, "Work.Environment.Variables.B (line 43): Fn::Select is not understood"},
		{"join", `!Join ["", [agent., mcp]]`, `!Join [agent.]`, "ToLine.EventPattern (line 29): Fn::Join: want"},
		{"sub", "rate(${Every})", "rate(${Every)", "${ without }"},
		{"getatt", "[Line, QueueName]", "[Line]", "want RESOURCE.ATTRIBUTE"},
		{"condition", "!If [Both", "!If [Bath", "there is no condition Bath"},
		{"circle", `Kept: !Equals [!Ref Letters, "yes"]`, "Kept: !Condition Lost", "depends on itself"},
		{"no condition", `Kept: !Equals [!Ref Letters, "yes"]`, "Kept: yes", "condition Kept: want Condition, Fn::Equals"},
		{"required parameter", ", Default: 5 minutes", "", "Work.Events.Often.Schedule (line 52): parameter Every has no default and was not given"},
		{"runtime", "Runtime: provided.al2023", "Runtime: python3.13", "Work.Runtime"},
		{"architecture", "Architectures: [arm64]", "Architectures: [x86_64]", "Work.Architectures[0]"},
		{"event", "Type: ScheduleV2", "Type: Kafka", `Work.Events.Nightly.Type`},
		{"schedule that is off", "Schedule: !Sub", "Enabled: false, Schedule: !Sub", `Work.Events.Often.Enabled`},
		{"input", `'{"a":1}'`, `'{"a":1'`, `Work.Events.Often.Input`},
		{"redrive", ", maxReceiveCount: 5", "", "Line.RedrivePolicy"},
		{"two readers", "Often: {Type: Schedule, Properties: {Schedule: !Sub \"rate(${Every})\", Input: '{\"a\":1}'}}", "Often: {Type: SQS, Properties: {Queue: !GetAtt Line.Arn}}", "queue Line already has a reader"},
		{"stated twice", "      Timeout: 60\n", "      Timeout: 60\n      Timeout: 61\n", "Work.Timeout (line 41): stated twice"},
		{"no mapping", "Environment:\n        Variables:\n          B: own", "Environment:\n        Other:\n          B: own", "Work.Environment.Other"},
		{"alias", "EventPattern: {source: [robotmoney.mcp],", "EventPattern: &p {source: *p,", "YAML alias *p: CloudFormation takes none"},
		{"list for text", "CodeUri: functions/job", "CodeUri: [functions/job]", "Work.CodeUri (line 39): want a text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(asynchronous, c.from, c.to, 1)
			if text == asynchronous {
				t.Fatalf("the template has no %q", c.from)
			}
			refused(t, text, template.Options{}, c.want)
		})
	}
}

func refused(t *testing.T, text string, o template.Options, want string) {
	t.Helper()
	_, err := template.Parse([]byte(text), o)
	if err == nil {
		t.Fatal("no error")
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
}

func TestOptionsThatDoNotFit(t *testing.T) {
	refused(t, asynchronous, template.Options{Parameters: map[string]string{"Evry": "1"}}, "parameter Evry was given")
	refused(t, asynchronous, template.Options{Parameters: map[string]string{"AWS::NoValue": "1"}}, "parameter AWS::NoValue was given")
	refused(t, asynchronous, template.Options{Resolve: func(template.Reference) (string, error) { return "", errors.New("no such thing") }},
		"resolve Line.Arn: no such thing")
	refused(t, ":\n\t-", template.Options{}, "parse YAML")
	if _, err := template.Load("none.yaml", template.Options{}); err == nil {
		t.Error("a missing file is no error")
	}
}

// All problems are told at once, so that a template is mended in one go.
func TestEveryProblemIsTold(t *testing.T) {
	text := strings.NewReplacer("VisibilityTimeout: 120", "VisibilityTimeout: soon", "BatchSize: 25", "BatchSize: many").Replace(asynchronous)
	refused(t, text, template.Options{}, "Line.VisibilityTimeout")
	refused(t, text, template.Options{}, "Work.Events.Line.BatchSize")
}

const tableTemplate = `
Resources:
  T:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}, {AttributeName: n, AttributeType: N}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      GlobalSecondaryIndexes:
        - {IndexName: g, KeySchema: [{AttributeName: n, KeyType: HASH}], Projection: {ProjectionType: ALL}}
`

func TestTables(t *testing.T) {
	got, err := template.Parse([]byte(tableTemplate), template.Options{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "tables", got.Tables, []template.Table{{
		LogicalID: "T",
		Key:       template.Key{Partition: template.Attribute{Name: "pk", Type: "S"}},
		Indexes:   []template.Index{{Name: "g", Key: template.Key{Partition: template.Attribute{Name: "n", Type: "N"}}}},
	}})
	for _, c := range []struct{ from, to, want string }{
		{"PAY_PER_REQUEST", "PROVISIONED", "T.BillingMode"},
		{"AttributeType: N", "AttributeType: L", "T.AttributeDefinitions[1].AttributeType"},
		{"ProjectionType: ALL", "ProjectionType: KEYS_ONLY", "T.GlobalSecondaryIndexes[0].Projection.ProjectionType"},
		{"KeyType: HASH", "KeyType: RANGE", "T.KeySchema[0].KeyType"},
		{"KeySchema: [{AttributeName: pk, KeyType: HASH}]", "KeySchema: []", "T.KeySchema (line 6): want one or two keys"},
		{"{AttributeName: n, KeyType", "{AttributeName: m, KeyType", `attribute "m" is not in AttributeDefinitions`},
	} {
		refused(t, strings.Replace(tableTemplate, c.from, c.to, 1), template.Options{}, c.want)
	}
}

const apiTemplate = `
Resources:
  Work:
    Type: AWS::Serverless::Function
    Properties: {CodeUri: f, Runtime: provided.al2023, Handler: bootstrap, Timeout: 3, MemorySize: 128}
  Api: {Type: AWS::ApiGatewayV2::Api, Properties: {ProtocolType: HTTP}}
  Behind:
    Type: AWS::ApiGatewayV2::Integration
    Properties:
      ApiId: !Ref Api
      IntegrationType: AWS_PROXY
      IntegrationUri: !GetAtt Work.Arn
      PayloadFormatVersion: "2.0"
      ResponseParameters: {"401": {ResponseParameters: [{Destination: a, Source: b}]}}
  Route: {Type: AWS::ApiGatewayV2::Route, Properties: {ApiId: !Ref Api, RouteKey: $default, Target: !Sub "integrations/${Behind}"}}
  Stage:
    Type: AWS::ApiGatewayV2::Stage
    Properties: {ApiId: !Ref Api, StageName: $default, DefaultRouteSettings: {ThrottlingRateLimit: 0.5}}
`

func TestAPI(t *testing.T) {
	got, err := template.Parse([]byte(apiTemplate), template.Options{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "API", got.API, &template.API{
		LogicalID: "Api",
		Stage:     "$default",
		Routes: []template.Route{{
			Key: "$default", Function: "Work", Timeout: 30 * time.Second,
			ResponseMapping: map[int]map[string]string{401: {"a": "b"}},
		}},
		RateLimit: 0.5,
	})
	for _, c := range []struct{ from, to, want string }{
		{"ProtocolType: HTTP", "ProtocolType: HTTP, CorsConfiguration: {}", "Api.CorsConfiguration"},
		{"ProtocolType: HTTP", "ProtocolType: WEBSOCKET", "Api.ProtocolType"},
		{"  Route:", "  Api2: {Type: AWS::ApiGatewayV2::Api, Properties: {ProtocolType: HTTP}}\n  Route:", "Api2 (line 15): a second API"},
		{"AWS_PROXY", "HTTP_PROXY", "Behind.IntegrationType"},
		{`"2.0"`, `"1.0"`, "Behind.PayloadFormatVersion"},
		{`"401"`, `"4xx"`, "Behind.ResponseParameters.4xx"},
		{"Source: b}", "Source: b}, {Destination: a, Source: c}", "a is mapped twice for 401"},
		{"integrations/", "integration/", "Route.Target"},
		{"${Behind}", "${Work}", "Route.Target"},
		{"0.5", "none", "Stage.DefaultRouteSettings.ThrottlingRateLimit"},
		{"0.5", "NaN", "Stage.DefaultRouteSettings.ThrottlingRateLimit"},
	} {
		refused(t, strings.Replace(apiTemplate, c.from, c.to, 1), template.Options{}, c.want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(asynchronous)
	f.Add(tableTemplate)
	f.Add(apiTemplate)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := template.Parse([]byte(text), template.Options{})
		if (got == nil) == (err == nil) {
			t.Errorf("template %v, error %v", got, err)
		}
	})
}
