// Package template reads template.yaml, so that what runs on this machine is
// what gets deployed: the tables, functions, buses, rules, queues and the
// gateway are stated there and nowhere else.
//
// It understands what the project uses of CloudFormation and SAM and refuses
// everything else by resource and property: a property that was silently
// skipped would make the local stack differ from the deployed one.
package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"go.yaml.in/yaml/v3"
)

// Template is what a template says of the things that exist on this machine
// too. Resources appear in the order of the file; fields that name another
// resource hold its logical id.
type Template struct {
	Tables    []Table
	Functions []Function
	Buses     []Bus
	Buckets   []Bucket
	Rules     []Rule
	Schedules []Schedule
	Queues    []Queue
	API       *API // nil when there is none
}

// Table is a DynamoDB table.
type Table struct {
	LogicalID string
	Name      string // TableName; empty where CloudFormation chooses one
	Key       Key
	Indexes   []Index
	TTL       string // the attribute that holds the expiry, empty for none
}

// Key is the partition and the sort key of a table or an index.
type Key struct {
	Partition Attribute
	Sort      Attribute // zero when there is none
}

// Attribute is a key attribute; Type is S, N or B.
type Attribute struct{ Name, Type string }

// Index is a global secondary index. It projects all attributes: nothing else
// is understood.
type Index struct {
	Name string
	Key  Key
}

// Function is a Lambda function in Go.
type Function struct {
	LogicalID string
	CodeURI   string // relative to the template, such as functions/mcp
	MemoryMB  int
	Timeout   time.Duration
	// ReservedConcurrency is how many invocations may run at one time; 0 is no
	// limit.
	ReservedConcurrency int
	// Environment has the values with every reference resolved.
	Environment map[string]string
	// MaximumRetryAttempts of an asynchronous invocation that failed, 0 to 2.
	MaximumRetryAttempts int
	// DeadLetter is the queue for events that failed for good, empty for none.
	DeadLetter string
}

// Bus is an EventBridge bus.
type Bus struct {
	LogicalID string
	Name      string
}

// Bucket is an S3 bucket.
type Bucket struct {
	LogicalID string
	Name      string // BucketName; empty where CloudFormation chooses one
}

// Rule sends the events of a bus that match a pattern to its targets.
type Rule struct {
	LogicalID string
	Bus       string
	Pattern   json.RawMessage
	Targets   []Target
}

// Target is where a rule sends events: either Function or Queue is set.
type Target struct {
	Function, Queue string
	// MaximumRetryAttempts of the delivery, 185 where the template has none.
	MaximumRetryAttempts int
	// DeadLetter is the queue for what could not be delivered, empty for none.
	DeadLetter string
}

// Schedule calls a function at times.
type Schedule struct {
	LogicalID  string
	Expression string // rate(...) or cron(...), as in the template
	Function   string
	Input      json.RawMessage // nil for the usual scheduled event
}

// Queue is an SQS queue and, where a function reads it, how.
type Queue struct {
	LogicalID         string
	VisibilityTimeout time.Duration // 30 s where the template has none
	MaxReceiveCount   int           // deliveries before DeadLetter; 0 for no end
	DeadLetter        string
	Reader            *Reader // nil when no function reads it
}

// Reader is a function that takes a queue's messages in batches.
type Reader struct {
	Function       string
	BatchSize      int // 10 where the template has none
	BatchingWindow time.Duration
	// PartialFailures says that the function names the messages that failed.
	PartialFailures bool
	// MaximumConcurrency of the batches in work, 0 for no limit.
	MaximumConcurrency int
}

// API is an API Gateway HTTP API without CORS of its own.
type API struct {
	LogicalID  string
	Stage      string
	Routes     []Route
	BurstLimit int     // requests at once over all routes; 0 for no limit
	RateLimit  float64 // requests a second over all routes; 0 for no limit
}

// Route is one route of an API and the function behind it.
type Route struct {
	Key      string // such as $default
	Function string
	Timeout  time.Duration
	// ResponseMapping is the response parameter mapping by status, destination
	// to source, both as in the template: 401 to overwrite:header.A to
	// $response.header.B.
	ResponseMapping map[int]map[string]string
}

// Reference is what !Ref and !GetAtt say of a resource.
type Reference struct {
	Resource  string // logical id
	Attribute string // empty for !Ref
}

// Resolver gives the value of a reference to a resource.
type Resolver func(Reference) (string, error)

// Logical resolves a reference to its own text, RESOURCE or RESOURCE.ATTRIBUTE.
func Logical(r Reference) (string, error) {
	if r.Attribute == "" {
		return r.Resource, nil
	}
	return r.Resource + "." + r.Attribute, nil
}

// Options say what a template leaves open.
type Options struct {
	// Parameters by name, also pseudo parameters such as AWS::Region. Defaults
	// of the template fill in the rest. Patterns and allowed values are not
	// judged: they fence what is deployed, and a local issuer has no https.
	Parameters map[string]string
	// Resolve gives the value of references to resources; nil is Logical.
	Resolve Resolver
}

// Load reads the template in a file.
func Load(path string, o Options) (*Template, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	t, err := Parse(raw, o)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", path, err)
	}
	return t, nil
}

// Parse reads a template. The error joins all that is wrong with it, each with
// the resource, the property and the line.
func Parse(raw []byte, o Options) (*Template, error) {
	var file document
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("parse YAML: %w", err)
	}
	s, err := newScope(file, o)
	if err != nil {
		return nil, err
	}
	r := reader{scope: s, globals: file.Globals}
	r.read(file.Resources)
	if err := errors.Join(s.problems...); err != nil {
		return nil, err
	}
	return &r.Template, nil
}

// document is the top of a template. Outputs and descriptions have no meaning
// on this machine.
type document struct {
	Parameters map[string]struct {
		Default yaml.Node `yaml:"Default"`
	} `yaml:"Parameters"`
	Conditions map[string]yaml.Node `yaml:"Conditions"`
	Globals    map[string]yaml.Node `yaml:"Globals"`
	Resources  yaml.Node            `yaml:"Resources"`
}
