package ledger_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// told are the ids of rows that events have told of, in order.
func (e *events) told(t *testing.T) []string {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	var rows []string
	for _, entry := range e.entries {
		var cloud struct{ Data audit.Event }
		noError(t, json.Unmarshal(entry.Detail, &cloud))
		equal(t, "action", cloud.Data.Action, ledger.ActionChanged)
		equal(t, "layer", cloud.Data.Layer, audit.LayerLedger)
		equal(t, "actor", cloud.Data.Actor, actor)
		for _, row := range cloud.Data.Outputs["rows"].([]any) {
			rows = append(rows, row.(string))
		}
	}
	return rows
}

// row reads a row back.
func (b *book) row(t *testing.T, kind id.Prefix, name string, out any) {
	t.Helper()
	body, err := b.reader.Row(t.Context(), b.tenant, kind, name)
	noError(t, err)
	noError(t, json.Unmarshal(body, out))
}

func TestNewChangedSame(t *testing.T) {
	b := newBook(t)
	first, second := account(), account()
	second.ID = "acct_2"
	b.write(t, ledger.Written{New: 2}, first, second)
	equal(t, "told", strings.Join(b.bus.told(t), " "), "acct_8231 acct_2")
	commits := b.store.commits

	b.now = noon.Add(time.Hour)
	b.write(t, ledger.Written{Same: 2}, account(), second)
	equal(t, "commits of nothing new", b.store.commits, commits)
	changed := account()
	changed.Name = "Renamed"
	b.write(t, ledger.Written{Changed: 1, Same: 1, New: 1}, changed, second, counterparty())
	equal(t, "told", strings.Join(b.bus.told(t)[2:], " "), "acct_8231 cp_aws")

	var got ledger.Account
	b.row(t, id.Account, "acct_8231", &got)
	equal(t, "name", got.Name, "Renamed")
	equal(t, "tenant", got.TenantID, b.tenant.String())
	equal(t, "created", got.CreatedAt, "2025-09-30T12:00:00.000Z")
	equal(t, "updated", got.UpdatedAt, "2025-09-30T13:00:00.000Z")
	b.row(t, id.Account, "acct_2", &got)
	equal(t, "updated, the same", got.UpdatedAt, "2025-09-30T12:00:00.000Z")

	back := account()
	b.write(t, ledger.Written{Changed: 1}, back)
	b.row(t, id.Account, "acct_8231", &got)
	equal(t, "name", got.Name, "Operating")
}

// An imported row keeps the time it was made at, whatever later copies say.
func TestCreationTime(t *testing.T) {
	b, row := newBook(t), account()
	row.CreatedAt = "2024-01-01T00:00:00.000Z"
	b.write(t, ledger.Written{New: 1}, row)
	again := account()
	again.CreatedAt = "2025-01-01T00:00:00.000Z"
	b.write(t, ledger.Written{Same: 1}, again)
	var got ledger.Account
	b.row(t, id.Account, "acct_8231", &got)
	equal(t, "created", got.CreatedAt, "2024-01-01T00:00:00.000Z")
}

// Nothing in a row says whose it is: the tenant of the call does.
func TestTenantOfTheCall(t *testing.T) {
	b, other := newBook(t), newBook(t)
	row := account()
	row.TenantID = other.tenant.String()
	b.write(t, ledger.Written{New: 1}, row)
	_, err := other.reader.Row(t.Context(), other.tenant, id.Account, "acct_8231")
	fails(t, err, fault.LedgerRowNotFound)
	var got ledger.Account
	b.row(t, id.Account, "acct_8231", &got)
	equal(t, "tenant", got.TenantID, b.tenant.String())
}

// many are n transactions, each on a day of its own.
func many(n int) []ledger.Row {
	var rows []ledger.Row
	for i := range n {
		x := transaction()
		x.ID, x.Allocations = fmt.Sprintf("tx_%03d", i), nil
		x.TransactionDate = noon.AddDate(0, 0, -i).Format(time.DateOnly)
		x.CounterpartyID, x.Category = ptr(fmt.Sprintf("cp_%d", i)), ptr(fmt.Sprint(i))
		rows = append(rows, x)
	}
	return rows
}

// Many rows are split over transactions that DynamoDB takes, in their order.
func TestManyRows(t *testing.T) {
	b := newBook(t)
	b.write(t, ledger.Written{New: 120}, many(120)...)
	if b.store.most > record.MaxOperations {
		t.Errorf("a transaction of %d operations", b.store.most)
	}
	told := b.bus.told(t)
	equal(t, "told", len(told), 120)
	for i, row := range told {
		equal(t, "told in order", row, fmt.Sprintf("tx_%03d", i))
	}
	b.sums(t)
	again := many(121)
	again[60].(*ledger.Transaction).Amount = "1.00"
	b.write(t, ledger.Written{New: 1, Changed: 1, Same: 119}, again...)
	b.sums(t)
}

func TestRefusedBeforeAnythingIsWritten(t *testing.T) {
	for name, spoil := range map[string]func(rows []ledger.Row) []ledger.Row{
		"the last is malformed": func(rows []ledger.Row) []ledger.Row {
			rows[len(rows)-1].(*ledger.Transaction).Amount = "-1"
			return rows
		},
		"the last is the first again":  func(rows []ledger.Row) []ledger.Row { return append(rows, many(1)[0]) },
		"two balances of one instant":  func(rows []ledger.Row) []ledger.Row { return append(rows, balance(), balance()) },
		"a row of another kind's name": func(rows []ledger.Row) []ledger.Row { return append(rows, &ledger.Account{Meta: meta("tx_1")}) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			got, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", spoil(many(30))...)
			fails(t, err, fault.InvalidArgument)
			equal(t, "written", got, ledger.Written{})
			equal(t, "commits", b.store.commits, 0)
			equal(t, "told", len(b.bus.told(t)), 0)
		})
	}
	b := newBook(t)
	b.write(t, ledger.Written{}) // no rows at all
	equal(t, "commits", b.store.commits, 0)
}

// The connection breaks when the table has made a write and its reply is on its
// way. Nothing is counted twice: the SDK's retry is the same write by its token,
// and a caller's retry finds the rows there.
func TestLostReply(t *testing.T) {
	t.Run("the SDK writes again", func(t *testing.T) {
		lost := &loses{}
		b := newBook(t, func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = lost, retrying(3) })
		lost.n.Store(2)
		b.write(t, ledger.Written{New: 20}, many(20)...)
		b.sums(t)
		lost.n.Store(1)
		changed := many(20)
		changed[3].(*ledger.Transaction).Amount = "7.00"
		b.write(t, ledger.Written{Changed: 1, Same: 19}, changed...)
		b.sums(t)
	})
	t.Run("the caller writes again", func(t *testing.T) {
		lost := &loses{}
		b := newBook(t, func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = lost, retrying(1) })
		lost.n.Store(1)
		_, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", many(5)...)
		fails(t, err, fault.DependencyUnavailable)
		b.sums(t)
		b.write(t, ledger.Written{Same: 5}, many(5)...)
		b.sums(t)
		// The event of the write is in the outbox: the sweep finds it.
		left := 0
		for shard := range key.OutboxShards {
			page, err := b.store.Query(t.Context(), record.Query{PK: key.OutboxPartition(shard)})
			noError(t, err)
			for _, item := range page.Items {
				if strings.Contains(string(item.Body), b.tenant.String()) {
					left++
				}
			}
		}
		equal(t, "events in the outbox", left, 1)
	})
}

func retrying(attempts int) aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = attempts, time.Millisecond })
}

// TestWritersAtOnce: several writers of the same rows each win or decide anew,
// and the rollups are the sum of what lies there in the end.
func TestWritersAtOnce(t *testing.T) {
	b := newBook(t)
	const writers, rounds, rows = 6, 8, 6
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for round := range rounds {
				batch := many(rows)
				for i, row := range batch {
					x := row.(*ledger.Transaction)
					x.Amount = fmt.Sprintf("%d.%02d", w+1, round)
					x.TransactionDate, x.Category = "2025-09-01", ptr(fmt.Sprint((w+i)%3))
				}
				for tries := 0; ; tries++ {
					_, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", batch...)
					if errors.Is(err, record.ErrConflict) && tries < 100 {
						continue
					}
					if err != nil {
						t.Error(err)
					}
					break
				}
			}
		})
	}
	all.Wait()
	b.sums(t)
	equal(t, "rows", len(b.stored(t)), rows)
}

// left is what the last event says that rows have left.
func (b *book) left(t *testing.T) string {
	t.Helper()
	b.bus.mu.Lock()
	defer b.bus.mu.Unlock()
	var cloud struct{ Data audit.Event }
	noError(t, json.Unmarshal(b.bus.entries[len(b.bus.entries)-1].Detail, &cloud))
	return fmt.Sprint(cloud.Data.Outputs["touched"])
}

// What a row belonged to before a change cannot be read from the row any more: the
// event names it, and nothing else.
func TestWhatRowsLeave(t *testing.T) {
	b := newBook(t)
	b.write(t, ledger.Written{New: 3}, transaction(), obligation(), invoice())
	equal(t, "left by new rows", b.left(t), "<nil>")
	for _, step := range []struct {
		row   func() ledger.Row
		field string
		value any
		want  string
	}{
		{func() ledger.Row { return transaction() }, "Description", "another", "<nil>"},
		{func() ledger.Row { return transaction() }, "AccountID", "acct_2", "[acct_8231]"},
		{func() ledger.Row { return transaction() }, "TransactionDate", "2025-10-01", "[acct_2 2025-09]"},
		{func() ledger.Row { return transaction() }, "CounterpartyID", nil, "[2025-10 cp_aws]"},
		{func() ledger.Row { return obligation() }, "CounterpartyID", "cp_2", "[cp_aws]"},
		{func() ledger.Row { return invoice() }, "CounterpartyID", "cp_2", "[cp_aws]"},
		{func() ledger.Row { return counterparty() }, "Name", "another", "<nil>"},
	} {
		row := step.row()
		set(t, row, step.field, step.value)
		_, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", row)
		noError(t, err)
		equal(t, step.field, b.left(t), step.want)
	}
}
