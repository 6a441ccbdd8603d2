package enginetest_test

import (
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

var engine *enginetest.Engine

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { engine = e }))
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Every table is the same one, whatever a test changes about its client.
func TestTable(t *testing.T) {
	changed := false
	k := key.Key{PK: t.Name(), SK: "a"}
	noError(t, engine.Table().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: k, Body: []byte("x")}, Blind: true}}}))
	item, found, err := engine.Table(func(*dynamodb.Options) { changed = true }).Get(t.Context(), k)
	noError(t, err)
	if !found || string(item.Body) != "x" || !changed {
		t.Errorf("the item is %+v (found: %t), the client changed: %t", item, found, changed)
	}
}

func TestLayout(t *testing.T) {
	layout, err := enginetest.Layout()
	noError(t, err)
	if len(layout.Indexes) != 3 {
		t.Errorf("the table has %d indexes, want those of record.Item", len(layout.Indexes))
	}
}

// Outside of the repository there is nothing to start: no test may seem to have
// passed.
func TestOutsideOfTheRepository(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := enginetest.Layout(); err == nil {
		t.Error("there is a layout without a template")
	}
	if code := enginetest.Run(nil, func(*enginetest.Engine) { t.Error("there is an engine") }); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}
