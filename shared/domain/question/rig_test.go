package question_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/question"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// store is a table in the DynamoDB engine. Tests that write do it under tenants
// of their own.
var store *table.Table

// trail tells nobody: the tests look at answers.
var trail *audit.Trail

// now is the clock of the engine under test, long after the books closed.
var now = func() time.Time { return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC) }

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) {
		store = e.Table()
		trail = &audit.Trail{Bus: silent{}, Store: store, IDs: id.NewSource(time.Now, rand.Reader), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	}))
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
