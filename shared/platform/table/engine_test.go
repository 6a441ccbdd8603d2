package table_test

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// engine holds the table of this package's tests, as the template has it. Tests
// keep apart by their tenants' or partitions' names.
var engine *enginetest.Engine

const name = enginetest.TableName

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { engine = e }))
}

// once makes a client try each call once. It comes first among options: a test
// may want the SDK's own retries.
func once(o *dynamodb.Options) { o.RetryMaxAttempts = 1 }

func client() *dynamodb.Client { return engine.Client(once) }

// open is the table as a function wires it, but for what a test changes.
func open(options ...func(*dynamodb.Options)) *table.Table {
	return engine.Table(append([]func(*dynamodb.Options){once}, options...)...)
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
	return w(req, enginetest.Connections.Do)
}

// through is an option that puts a wire into a client, which retries as the SDK
// does by itself, if faster.
func through(w wire) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.HTTPClient, o.RetryMaxAttempts = w, 3
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 3, time.Millisecond })
	}
}
