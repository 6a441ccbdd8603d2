package table_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
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
	binaries, err := engine.Install(ctx, "/tmp/dt/npm")
	if err != nil {
		return 0, err
	}
	db, err := engine.DynamoDB(ctx, binaries, "", os.Stderr)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	url = db.URL
	stack, err := template.Load(root+"template.yaml", template.Options{Parameters: map[string]string{
		"Issuer": "http://127.0.0.1/", "JwksUrl": "http://127.0.0.1/jwks.json", "RpcUrls": "http://127.0.0.1/", "ChainId": "31337",
		"RegistryAddress": "0x0000000000000000000000000000000000000001", "AnchorAddress": "0x0000000000000000000000000000000000000002",
	}})
	if err != nil {
		return 0, err
	}
	if err := engine.CreateTable(ctx, engine.Client(url), name, stack.Tables[0]); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// open is the table as a function wires it, but for what a test changes.
func open(options ...func(*dynamodb.Options)) *table.Table {
	return &table.Table{Name: name, API: engine.Client(url, options...)}
}

// wire is the HTTP layer of the SDK. A test puts its own between the two: it may
// answer itself, or hand on and lose the answer.
type wire func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error)

// Do sends a request.
func (w wire) Do(req *http.Request) (*http.Response, error) {
	return w(req, awshttp.New(0).Do)
}

// through is an option that puts a wire into a client, which retries as the SDK
// does by itself.
func through(w wire) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.HTTPClient = w
		o.RetryMaxAttempts = 3
		o.Retryer = nil
		o.RetryMode = aws.RetryModeStandard
	}
}
