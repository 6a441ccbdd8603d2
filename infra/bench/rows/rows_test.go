package rows_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/infra/bench/rows"
	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/record"
)

var engine *enginetest.Engine

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(e *enginetest.Engine) { engine = e }))
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func tenant(t *testing.T, name string) identity.Tenant {
	t.Helper()
	owner, err := identity.OperatorTenant(name)
	noError(t, err)
	return owner
}

// bus takes every event.
type bus struct{}

func (bus) Publish(context.Context, []audit.Entry) ([]string, error) { return nil, nil }

// write lets the ledger's writer write a row at a time.
func write(t *testing.T, owner identity.Tenant, at string, row ledger.Row) {
	t.Helper()
	now := func() time.Time {
		written, err := time.Parse(audit.TimeForm, at)
		noError(t, err)
		return written
	}
	store := engine.Table()
	trail := &audit.Trail{Bus: bus{}, Store: store, IDs: id.NewSource(time.Now, rand.Reader), Now: now, Log: slog.New(slog.DiscardHandler)}
	_, err := (&ledger.Writer{Store: store, Trail: trail, Now: now}).Write(t.Context(), owner, identity.Actor{Type: "user", ID: "mbr_1"}, "req-1", row)
	noError(t, err)
}

// stored is what the engine has under an item's key.
func stored(t *testing.T, item rows.Item) rows.Item {
	t.Helper()
	out, err := engine.Client().GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(enginetest.TableName), Key: map[string]types.AttributeValue{"pk": item["pk"], "sk": item["sk"]}, ConsistentRead: aws.Bool(true),
	})
	noError(t, err)
	return out.Item
}

// same compares what a maker makes with what the writer stores for the same row.
func same[T any](t *testing.T, owner identity.Tenant, maker rows.Maker, i int, row func(*T) (ledger.Row, ledger.Meta)) {
	t.Helper()
	items, err := maker(owner, i)
	noError(t, err)
	value := new(T)
	noError(t, json.Unmarshal([]byte(items[0]["body"].(*types.AttributeValueMemberS).Value), value))
	written, meta := row(value)
	write(t, owner, meta.UpdatedAt, written)
	for _, item := range items {
		if got := stored(t, item); !reflect.DeepEqual(got, item) {
			t.Errorf("row %d: the writer stores\n%v, not\n%v", i, got, item)
		}
	}
}

func TestItemsAreAsTheWriterStoresThem(t *testing.T) {
	owner := tenant(t, "writer")
	for _, i := range []int{0, 1, 3650, 999_999} {
		same(t, owner, rows.Transaction, i, func(x *ledger.Transaction) (ledger.Row, ledger.Meta) { return x, x.Meta })
	}
	parties := []int{0, 1, 12, 99_999}
	for _, i := range parties {
		same(t, owner, rows.Counterparty, i, func(c *ledger.Counterparty) (ledger.Row, ledger.Meta) { return c, c.Meta })
	}
	marks, err := engine.Table().Query(t.Context(), record.Query{PK: key.Suffix(owner, "", "").PK})
	noError(t, err)
	if got, want := len(marks.Items), rows.Marks*len(parties); got != want {
		t.Errorf("the writer stores %d marks, want %d", got, want)
	}
}

func TestFill(t *testing.T) {
	owner := tenant(t, "filled")
	const n = 60  // more than a call takes of each worker's share
	for range 2 { // the second time nothing changes
		noError(t, rows.Fill(t.Context(), engine.Client(), enginetest.TableName, owner, n, rows.Counterparty))
		reader := &ledger.Reader{Store: engine.Table(), Now: time.Now}
		page, err := reader.Counterparties(t.Context(), owner, "", "", listing.Window{Limit: 2 * n, Budget: 1 << 20})
		noError(t, err)
		found, err := reader.Counterparties(t.Context(), owner, "K", "", listing.Window{Limit: 2 * n, Budget: 1 << 20})
		noError(t, err)
		if len(page.Rows) != n || len(found.Rows) != n {
			t.Errorf("%d rows listed and %d found, want %d", len(page.Rows), len(found.Rows), n)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := rows.Fill(ctx, engine.Client(), enginetest.TableName, owner, n, rows.Transaction); err == nil {
		t.Error("no error of a fill that was stopped")
	}
}
