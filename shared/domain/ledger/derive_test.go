package ledger_test

import (
	"errors"
	"fmt"
	"math/rand"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// counted wants the total of every filter to be the number of accounts that its
// list visits.
func (b *book) counted(t *testing.T) {
	t.Helper()
	for _, status := range append([]string{""}, ledger.AccountStatuses...) {
		for _, kind := range append([]string{""}, ledger.AccountTypes...) {
			got, _ := b.follow(t, func(w listing.Window) (listing.Page, error) {
				return b.reader.Accounts(t.Context(), b.tenant, status, kind, w)
			}, 7, plenty)
			total, err := b.reader.AccountsTotal(t.Context(), b.tenant, status, kind)
			noError(t, err)
			equal(t, fmt.Sprintf("total of %q %q", status, kind), total, len(got))
		}
	}
}

func TestAccountsTotal(t *testing.T) {
	b, random := newBook(t), rand.New(rand.NewSource(1))
	b.counted(t)
	for range 4 {
		var rows []ledger.Row
		for i := range 30 {
			if random.Intn(3) > 0 {
				rows = append(rows, someAccount(random, i))
			}
		}
		_, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", rows...)
		noError(t, err)
		b.counted(t)
	}
	seen := b.watch()
	_, err := b.reader.AccountsTotal(t.Context(), b.tenant, "active", "")
	noError(t, err)
	equal(t, "queries", seen.queries, 1)
}

// Writers that change the same accounts at once count each change once.
func TestAccountsTotalOfManyWriters(t *testing.T) {
	b := newBook(t)
	var all sync.WaitGroup
	for w := range 5 {
		all.Go(func() {
			random := rand.New(rand.NewSource(int64(w)))
			for range 8 {
				rows := []ledger.Row{someAccount(random, 0), someAccount(random, 1+random.Intn(3)), someAccount(random, 4+w)}
				for tries := 0; ; tries++ {
					_, err := b.writer.Write(t.Context(), b.tenant, actor, "req-1", rows...)
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
	b.counted(t)
	total, err := b.reader.AccountsTotal(t.Context(), b.tenant, "", "")
	noError(t, err)
	if total < 6 || total > 9 {
		t.Errorf("%d accounts of nine", total)
	}
}

func someAccount(random *rand.Rand, i int) *ledger.Account {
	row := account()
	row.ID = fmt.Sprintf("acct_%02d", i)
	row.Status = ledger.AccountStatuses[random.Intn(len(ledger.AccountStatuses))]
	row.AccountType = ledger.AccountTypes[random.Intn(len(ledger.AccountTypes))]
	return row
}
