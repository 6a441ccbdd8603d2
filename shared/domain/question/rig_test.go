package question_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/template"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/question"
	"github.com/robotmoney/mcp/shared/platform/awshttp"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// root is the repository's, seen from this package.
const root = "../../../"

// store is a table in the DynamoDB engine. Tests that write do it under tenants
// of their own.
var store *table.Table

// trail tells nobody: the tests look at answers.
var trail *audit.Trail

// now is the clock of the engine under test, long after the books closed.
var now = func() time.Time { return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC) }

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
	folder, err := os.MkdirTemp("", "question-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	db, err := engine.DynamoDB(ctx, engine.DynamoDBConfig{
		Binary: binaries.Dynoxide, DBPath: filepath.Join(folder, "db.sqlite"), Tables: map[string]template.Table{"main": stack.Tables[0]},
	})
	if err != nil {
		return 0, err
	}
	store = &table.Table{Name: "main", API: dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", BaseEndpoint: &db.Endpoint, HTTPClient: awshttp.New(20 * time.Second),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})}
	trail = &audit.Trail{Bus: silent{}, Store: store, IDs: id.NewSource(time.Now, rand.Reader), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	return m.Run(), db.Close()
}

// seed writes the demo's books when the first test needs them: the fuzz target's
// processes do not.
var seed = sync.OnceValue(func() error {
	for _, tenant := range []string{demo.Acme, demo.Globex} {
		if err := write(context.Background(), tenant, demo.Data(tenant).All()...); err != nil {
			return err
		}
	}
	return nil
})

// silent is a bus that takes everything.
type silent struct{}

func (silent) Publish(context.Context, []audit.Entry) ([]string, error) { return nil, nil }

// write gives rows to the ledger's one writer.
func write(ctx context.Context, tenant string, rows ...ledger.Row) error {
	t, err := identity.OperatorTenant(tenant)
	if err != nil {
		return err
	}
	writer := ledger.Writer{Store: store, Trail: trail, Now: now}
	_, err = writer.Write(ctx, t, identity.Actor{Type: "operator", ID: "test"}, "test", rows...)
	return err
}

// closing is the last moment of the books.
const closing = "2025-09-30T23:59:59Z"

func at(t *testing.T, text string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, text)
	check(t, err)
	return moment
}

func ask(t *testing.T, tenant, text, asOf string) question.Answer {
	t.Helper()
	check(t, seed())
	answer, err := question.NewEngine(store, now).Ask(t.Context(), owner(t, tenant), question.Ask{Text: text, AsOf: at(t, asOf), Depth: 3})
	check(t, err)
	return answer
}

func owner(t testing.TB, tenant string) identity.Tenant {
	t.Helper()
	o, err := identity.OperatorTenant(tenant)
	check(t, err)
	return o
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
