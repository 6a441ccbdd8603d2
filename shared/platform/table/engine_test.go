package table_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// root is the repository's, seen from this package.
const root = "../../../"

// url is where the DynamoDB engine of this package's tests listens, and name the
// table as the template has it. Tests share the table and keep apart by their
// tenants' or partitions' names.
var url string

const name = "main"

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	binaries, err := engine.Install(ctx, root+".local/npm")
	if err != nil {
		return 0, err
	}
	stack, err := template.Load(root+"template.yaml", template.Options{Parameters: map[string]string{
		"Issuer": "http://127.0.0.1/", "JwksUrl": "http://127.0.0.1/jwks.json", "RpcUrls": "http://127.0.0.1/", "ChainId": "31337",
		"RegistryAddress": "0x0000000000000000000000000000000000000001", "AnchorAddress": "0x0000000000000000000000000000000000000002",
	}})
	if err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp("", "table-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	db, err := engine.DynamoDB(ctx, engine.DynamoDBConfig{
		Binary: binaries.Dynoxide, DBPath: filepath.Join(folder, "db.sqlite"), Tables: map[string]template.Table{name: stack.Tables[0]},
	})
	if err != nil {
		return 0, err
	}
	url = db.Endpoint
	return m.Run(), db.Close()
}

// client is the SDK's client of the engine. It tries each call once, unless a
// test wants the SDK's own retries.
func client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", BaseEndpoint: &url, HTTPClient: connections, RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	}, options...)
}

var connections = awshttp.New(20 * time.Second)

// open is the table as a function wires it, but for what a test changes.
func open(options ...func(*dynamodb.Options)) *table.Table {
	return &table.Table{Name: name, API: client(options...)}
}

// partition is one of the test's own: its name, and a number so that it may run
// several times.
func partition(t *testing.T) string {
	n, known := partitions.Load(t)
	if !known {
		n = runs.Add(1)
		partitions.Store(t, n)
	}
	return fmt.Sprintf("%s-%d", t.Name(), n)
}

var (
	partitions sync.Map // *testing.T to its number
	runs       atomic.Int64
)

// wire is the HTTP layer of the SDK. A test puts its own between the two: it may
// answer itself, or hand on and lose the answer.
type wire func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error)

// Do sends a request.
func (w wire) Do(req *http.Request) (*http.Response, error) {
	return w(req, connections.Do)
}

// through is an option that puts a wire into a client, which retries as the SDK
// does by itself, if faster.
func through(w wire) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.HTTPClient, o.RetryMaxAttempts = w, 3
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 3, time.Millisecond })
	}
}
