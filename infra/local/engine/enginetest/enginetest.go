// Package enginetest runs the tests of a package over a real DynamoDB engine
// that holds the table of template.yaml:
//
//	var database *table.Table
//
//	func TestMain(m *testing.M) {
//		os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { database = e.Table() }))
//	}
//
// The tests of a package share the one table, which starts empty, and keep apart
// by the names of their tenants or partitions.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/table"
)

const (
	// TableName is the table's name in the engine.
	TableName = "main"
	// Region is the one clients say they are in; the engine takes any.
	Region = "eu-central-1"
)

// Connections carry the requests of every client. A test that puts a wire of its
// own into a client hands on to them.
var Connections = awshttp.New(20 * time.Second)

// Credentials are some: the engine takes any, but the SDK signs with none.
var Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
})

// Engine is the running engine.
type Engine struct{ endpoint string }

// Client is an SDK client of the engine with the SDK's own retries, but for what
// a test changes.
func (e *Engine) Client(changes ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{Region: Region, BaseEndpoint: &e.endpoint, HTTPClient: Connections, Credentials: Credentials}, changes...)
}

// Table is the table as the functions wire it, but for what a test changes.
func (e *Engine) Table(changes ...func(*dynamodb.Options)) *table.Table {
	return &table.Table{Name: TableName, API: e.Client(changes...)}
}

// Run starts the engine on a file of its own, gives it to use, runs the tests
// and ends it. It returns the code to exit with: 1, with the reason on the
// standard error, where the engine did not start and no test ran. It must be
// called in a folder of the repository, which is where the go command runs
// tests.
func Run(m *testing.M, use func(*Engine)) int {
	code, err := run(m, use)
	if err != nil {
		fmt.Fprintf(os.Stderr, "run tests over the DynamoDB engine: %v\n", err)
		return 1
	}
	return code
}

func run(m *testing.M, use func(*Engine)) (int, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	root, err := repository()
	if err != nil {
		return 0, err
	}
	layout, err := Layout()
	if err != nil {
		return 0, err
	}
	// Where `make run` has the engines too: one download for all.
	binaries, err := engine.Install(ctx, filepath.Join(root, ".local", "npm"))
	if err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp("", "enginetest-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	db, err := engine.DynamoDB(ctx, engine.DynamoDBConfig{
		Binary: binaries.Dynoxide, DBPath: filepath.Join(folder, "db.sqlite"), Tables: map[string]template.Table{TableName: layout},
	})
	if err != nil {
		return 0, err
	}
	use(&Engine{db.Endpoint})
	return m.Run(), db.Close()
}

// Layout is the table that gets deployed, out of template.yaml. It fails where
// the template cannot be read or has another number of tables.
func Layout() (template.Table, error) {
	root, err := repository()
	if err != nil {
		return template.Table{}, err
	}
	// The table depends on none of the parameters, but they have no defaults.
	stack, err := template.Load(filepath.Join(root, "template.yaml"), template.Options{Parameters: map[string]string{
		"Issuer": "-", "JwksUrl": "-", "RpcUrls": "-", "ChainId": "1", "RegistryAddress": "-", "AnchorAddress": "-",
	}})
	if err != nil {
		return template.Table{}, err
	}
	if len(stack.Tables) != 1 {
		return template.Table{}, fmt.Errorf("the template has %d tables, want 1", len(stack.Tables))
	}
	return stack.Tables[0], nil
}

// repository is the folder that holds template.yaml: this one or the nearest
// above.
func repository() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		_, err := os.Stat(filepath.Join(dir, "template.yaml"))
		switch {
		case err == nil:
			return dir, nil
		case !errors.Is(err, os.ErrNotExist):
			return "", fmt.Errorf("find the repository: %w", err)
		case dir == filepath.Dir(dir):
			return "", fmt.Errorf("find the repository: no template.yaml in %s nor above", start)
		}
	}
}
